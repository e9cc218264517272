"""Prints records as the constant tables of src/catalog/hwrec.h."""
from .c_text import array, c_string


def c_register(prefix, number_of_register):
    if number_of_register is None:
        return "NULL"
    return f"&{prefix}_registers[{number_of_register}]"


def c_part(prefix, part):
    if not part:
        return "{0}"
    return (f"{{{c_register(prefix, part['reg'])}, {part['offset']:#x}, {part['hi']}, "
            f"{part['lo']}, {part['shift']}, {str(part['optional']).lower()}}}")


class Printer:
    """Prints one record; each table has a number of its own."""

    def __init__(self, prefix, box, record):
        self.prefix = prefix
        self.box = box
        self.name = f"{prefix}_record_{record['name'].replace('-', '_')}"
        self.tables = 0

    def array(self, kind, rows):
        self.tables += 1
        return array(kind, f"{self.name}_{self.tables}", rows)

    def parts(self, parts):
        if not parts:
            return "NULL"
        self.tables += 1
        name = f"{self.name}_{self.tables}"
        rows = ",\n\t".join(c_part(self.prefix, p) for p in parts)
        print(f"static const struct pmu_hwrec_part {name}[] = {{\n\t{rows},\n}};\n")
        return name

    def conditions(self, conditions):
        name = self.array("pmu_hwrec_condition", [
            {"part": c_part(self.prefix, c["part"]), "values": f"{c['values']:#x}"}
            for c in conditions["all"]])
        return f"{{{name}, {conditions['count']}}}"

    def kinds(self, kinds):
        return self.array("pmu_hwrec_kind", [
            {"name": c_string(k["name"]), "desc": c_string(k["desc"]),
             "when": self.conditions(k["when"]), "captured": self.conditions(k["captured"]),
             "youngest": str(bool(k.get("youngest"))).lower(), "empty": str(k["empty"]).lower()}
            for k in kinds])

    def field(self, f):
        mnemonics = self.array("pmu_mnemonic", [
            {"field": c_string(f["name"]), "name": c_string(m["name"]),
             "value": f"{m['value']:#x}", "desc": c_string(m.get("desc", ""))} for m in f["rows"]])
        like = next((n for n, r in enumerate(self.box["registers"]) if r["name"] == f.get("like")),
                    None)
        return {"name": c_string(f["name"]), "unit": c_string(f.get("unit", "")),
                "desc": c_string(f["desc"]), "type": f"PMU_HWREC_{f['type'].upper()}",
                "of": f"PMU_HWREC_OF_{f['of'].upper()}",
                "role": f"PMU_HWREC_ROLE_{f['role'].upper()}", "sign": f.get("sign", 0),
                "listed": str(bool(f.get("listed"))).lower(), "kinds": f"{f['kind_bits']:#x}",
                "parts": self.parts(f["parts"]), "part_count": f["part_count"],
                "when": self.conditions(f["when"]), "least": self.conditions(f["least"]),
                "mnemonics": mnemonics, "mnemonic_count": len(f["rows"]),
                "like": c_register(self.prefix, like)}

    def fields(self, fields):
        return self.array("pmu_hwrec_field", [self.field(f) for f in fields])

    def ring(self, ring):
        if not ring:
            return "{0}"
        names = f"{self.name}_names"
        print(f"static const char *const {names}[] = "
              f"{{{', '.join(c_string(n) for n in ring['names'])}}};\n")
        row = {"count": ring["count"], "names": names,
               "has_last": str(bool(ring["last"])).lower(),
               "kinds": self.kinds(ring["kinds"]), "kind_count": len(ring["kinds"]),
               "fields": self.fields(ring["fields"]), "field_count": len(ring["fields"])}
        row.update({key: c_part(self.prefix, ring[key]) for key in ("next", "last", "filled")})
        return "{" + ", ".join(f".{key} = {value}" for key, value in row.items()) + "}"

    def notes(self, notes):
        return self.array("pmu_hwrec_note", [
            {"kinds": f"{n['kind_bits']:#x}", "when": self.conditions(n["when"]),
             "desc": c_string(n["desc"])} for n in notes])


def record_row(prefix, box, record):
    printer = Printer(prefix, box, record)
    return {"name": c_string(record["name"]), "title": c_string(record["title"]),
            "source": c_string(record["source"]), "size": record["size"],
            "when": printer.conditions(record["when"]),
            "enabled": printer.conditions(record["when_enabled"]),
            "kinds": printer.kinds(record["kinds"]), "kind_count": len(record["kinds"]),
            "fields": printer.fields(record["fields"]), "field_count": len(record["fields"]),
            "ring": printer.ring(record["ring"]),
            "notes": printer.notes(record["notes"]), "note_count": len(record["notes"])}


def print_records(prefix, box):
    return array("pmu_hwrec", f"{prefix}_records",
                 [record_row(prefix, box, r) for r in box["records"]])
