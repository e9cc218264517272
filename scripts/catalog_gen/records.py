"""Records of a box: read and checked against its registers.

Parts and conditions are short texts: "PMD36.address<<4", "0xA0[3:0]", "PMC40.mode=2,3". Those of a
ring have {i} for the number of an entry and become one row a entry here, so that no code has to
know how the entries of a register are laid out.
"""
import re

from .read import Findings, bit_range, entry
from .schema import is_unsigned, number

TYPES = {"number", "flag", "address", "word"}
OF = {"entry", "younger", "all_younger"}
# enum pmu_hwrec_role
ROLES = {"none", "instruction", "slot", "data", "latency", "branch_from", "branch_to", "mispredicted",
         "retired", "retired_cycles"}
PART = re.compile(r"([^\s=!<\[]+)(?:\[([0-9:]+)\])?(?:<<([0-9]{1,2}))?")
CONDITION = re.compile(r"([^\s=!<]+)(!?=)([0-9A-Fa-fx,]+)")
RECORD_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
WORD_BYTES = 8
ALL_VALUES = (1 << 64) - 1


class Reader:
    """Reads one record: keeps what its texts refer to."""

    def __init__(self, findings: Findings, box, record):
        self.findings = findings
        self.box = box
        self.record = record
        self.place = f"{box['box']}.{record.get('name')}"

    def refuse(self, text):
        self.findings.add(self.place, text)

    def entry(self, kind, given):
        return entry(self.findings, f"{self.place}.{given.get('name', kind)}", kind, given)

    def in_memory(self, text, bits, size):
        if not is_unsigned(text):
            self.refuse(f"offset {text} is no number")
            return None
        offset = number(text)
        if offset % WORD_BYTES or offset + WORD_BYTES > size:
            self.refuse(f"offset {text} is no word of {size} bytes")
        high, low = (bit_range(bits) if bits else None) or (63, 0)
        return {"reg": None, "offset": offset, "hi": high, "lo": low, "optional": False}

    def in_register(self, text):
        name, _, field_name = text.partition(".")
        registers = self.box["registers"]
        found = next((n for n, r in enumerate(registers) if r["name"] == name), None)
        if found is None:
            self.refuse(f"no register {name}")
            return None
        register = registers[found]
        if register["offsets"]:
            self.refuse(f"{name} has an address of its own in each instance")
        part = {"reg": found, "offset": 0, "hi": register["width"] - 1, "lo": 0,
                "optional": name in self.record.get("optional", [])}
        if field_name:
            field = next((f for f in register["fields"] if f["name"] == field_name), None)
            if not field:
                self.refuse(f"register {name} has no field {field_name}")
                return None
            part.update(hi=field["hi"], lo=field["lo"])
        return part

    def part(self, text):
        match = PART.fullmatch(text)
        if not match:
            self.refuse(f"\"{text}\" is no part")
            return None
        size = self.record["size"]
        if (size > 0) != match[1][0].isdigit() or (match[2] and not size):
            self.refuse(f"\"{text}\" is " + ("not in memory" if size else "no register"))
            return None
        part = (self.in_memory(match[1], match[2], size) if size else self.in_register(match[1]))
        if part:
            part["shift"] = int(match[3] or 0)
            if part["hi"] < part["lo"] or part["hi"] - part["lo"] + part["shift"] > 63:
                self.refuse(f"\"{text}\" does not fit 64 bits")
        return part

    def condition(self, text):
        match = CONDITION.fullmatch(text)
        part = match and self.part(match[1])
        if not part:
            self.refuse(f"\"{text}\" is no condition")
            return None
        texts = match[3].split(",")
        if not all(map(is_unsigned, texts)):
            self.refuse(f"\"{text}\" is held against what is no number")
            return None
        values = [number(value) for value in texts]
        if max(values) > 62:
            self.refuse(f"\"{text}\" is held against more than 62")
            return None
        if max(values) >= 1 << (part["hi"] - part["lo"] + 1):
            self.refuse(f"\"{text}\" can never be")
        bits = sum({1 << value for value in values})
        return {"part": part, "values": bits if match[2] == "=" else ALL_VALUES - bits}

    def rows(self, ring):
        """What {i} stands for; one row without a ring."""
        return [str(ring["first"] + i) for i in range(ring["count"])] if ring else [""]

    def parts(self, texts, ring=None):
        found = [self.part(text.replace("{i}", row)) for row in self.rows(ring) for text in texts]
        return [part for part in found if part]

    def conditions(self, texts, ring=None):
        found = [self.condition(text.replace("{i}", row))
                 for row in self.rows(ring) for text in texts]
        return {"all": [c for c in found if c], "count": len(texts)}

    def kinds(self, given, ring=None):
        kinds = [k for k in (self.entry("kind", g) for g in given) if k]
        for k in kinds:
            k["when"] = self.conditions(k.get("when", []), ring)
            k["captured"] = self.conditions(k.get("captured", []), ring)
            if k["captured"]["count"] and ring:
                self.refuse(f"kind {k['name']} of an entry cannot be captured")
        if len({k["name"] for k in kinds}) < len(kinds):
            self.refuse("two kinds of one name")
        return kinds

    def kind_bits(self, names, kinds):
        if names is None:
            return (1 << len(kinds)) - 1 if kinds else 1
        known = [k["name"] for k in kinds]
        for name in names:
            if name not in known:
                self.refuse(f"no kind {name}")
        return sum(1 << known.index(name) for name in names if name in known)

    def field(self, given, kinds, ring):
        field = self.entry("record field", given)
        if not field:
            return None
        texts = field["value"] if isinstance(field["value"], list) else [field["value"]]
        field.setdefault("type", "number")
        field.setdefault("of", "entry")
        field.setdefault("role", "none")
        if field["role"] not in ROLES:
            self.refuse(f"role {field['role']} of {field['name']} is unknown")
        if field["type"] not in TYPES or field["of"] not in OF:
            self.refuse(f"type {field['type']} or of {field['of']} of {field['name']} is unknown")
        if field["of"] != "entry" and not ring:
            self.refuse(f"{field['name']} is of other entries, but in no ring")
        field["parts"] = self.parts(texts, ring)
        field["part_count"] = len(texts)
        field["when"] = self.conditions(field.get("when", []), ring)
        field["least"] = self.conditions(field.get("least", []), ring)
        field["kind_bits"] = self.kind_bits(field.get("kinds"), kinds)
        if field.get("sign", 1) not in range(1, 64):
            self.refuse(f"sign {field['sign']} of {field['name']} is no bit")
        field["bits"] = max((p["hi"] - p["lo"] + 1 + p["shift"] for p in field["parts"]), default=0)
        if field["type"] == "flag" and field["bits"] != 1:
            self.refuse(f"flag {field['name']} has {field['bits']} bits")
        return field

    def fields(self, given, kinds, ring=None):
        fields = [f for f in (self.field(g, kinds, ring) for g in given) if f]
        for n, f in enumerate(fields):
            for other in fields[:n]:
                if other["name"] == f["name"] and other["kind_bits"] & f["kind_bits"]:
                    self.refuse(f"field {f['name']} stands there twice")
        for bit, k in enumerate(kinds):
            k["empty"] = not any(f["kind_bits"] >> bit & 1 for f in fields)
        return fields

    def ring(self, given):
        ring = self.entry("ring", given)
        if not ring:
            return None
        for key in ("next", "last", "filled"):
            ring[key] = self.part(ring[key]) if key in ring else None
        index = ring["next"] or ring["last"]
        if bool(ring["next"]) == bool(ring["last"]) or bool(ring["next"]) != bool(ring["filled"]):
            self.refuse("a ring has next and filled, or last")
        elif ring["count"] != 1 << (index["hi"] - index["lo"] + 1):
            self.refuse(f"{ring['count']} entries do not fit their index")
        ring["names"] = [ring["entry"].replace("{i}", row) for row in self.rows(ring)]
        ring["kinds"] = self.kinds(ring["kinds"], ring)
        if not ring["kinds"] or ring["kinds"][-1]["when"]["count"] \
                or ring["kinds"][-1].get("youngest"):
            self.refuse("the last kind of an entry is what none of the others is")
        ring["fields"] = self.fields(ring["fields"], ring["kinds"], ring)
        return ring

    def note(self, given, kinds):
        note = self.entry("note", given)
        if note:
            note["when"] = self.conditions(note["when"])
            note["kind_bits"] = self.kind_bits(note.get("kinds"), kinds)
        return note


def read_record(findings, box, given):
    place = f"{box['box']}.{given.get('name')}"
    record = entry(findings, place, "record", given)
    if not record:
        return None
    record.setdefault("size", 0)
    if not RECORD_NAME.fullmatch(record["name"]):
        findings.add(place, "cannot be the name of a record")
    reader = Reader(findings, box, record)
    names = {r["name"] for r in box["registers"]}
    for name in record.get("optional", []):
        if name not in names:
            reader.refuse(f"no register {name}")
    record["when"] = reader.conditions(record.get("when", []))
    record["when_enabled"] = reader.conditions(record.get("when_enabled", []))
    record["kinds"] = reader.kinds(record.get("kinds", []))
    record["fields"] = reader.fields(record["fields"], record["kinds"])
    for k in record["kinds"]:
        k["empty"] = k["empty"] and "ring" not in record
    record["ring"] = reader.ring(record["ring"]) if "ring" in record else None
    record["notes"] = [n for n in (reader.note(g, record["kinds"])
                                   for g in record.get("notes", [])) if n]
    return record


def all_fields(record):
    return record["fields"] + (record["ring"]["fields"] if record["ring"] else [])


def find_mnemonics(findings, place, records, field):
    """The list itself, or that of RECORD.FIELD."""
    given = field.get("mnemonics", [])
    if isinstance(given, str):
        name, _, of = given.partition(".")
        given = next((f.get("mnemonics") for r in records if r["name"] == name
                      for f in all_fields(r) if f["name"] == of), None)
        if not isinstance(given, list):
            findings.add(place, f"no mnemonics {field['mnemonics']}")
            return []
    rows = [m for m in (entry(findings, place, "mnemonic", g) for g in given) if m]
    for m in rows:
        if not 0 <= m["value"] < 1 << field["bits"]:
            findings.add(place, f"{m['name']} = {m['value']:#x} does not fit {field['bits']} bits")
    for key in ("name", "value"):
        if len({m[key] for m in rows}) < len(rows):
            findings.add(place, f"two mnemonics of one {key}")
    return rows


def read_records(findings, box, given):
    records = [r for r in (read_record(findings, box, g) for g in given) if r]
    if len({r["name"] for r in records}) < len(records):
        findings.add(box["box"], "two records of one name")
    for record in records:
        for field in all_fields(record):
            place = f"{box['box']}.{record['name']}.{field['name']}"
            field["rows"] = find_mnemonics(findings, place, records, field)
            like = field.get("like")
            if like and not any(r["name"] == like for r in box["registers"]):
                findings.add(place, f"no register {like}")
    return records
