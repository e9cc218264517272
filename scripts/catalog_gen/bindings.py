"""Bindings: how the signals of an emulated machine reach a PMU's boxes, and which of them an event
takes. Read and checked; catalog/FORMAT.md describes the language of rows."""
import re
from pathlib import Path

from .read import entry, load, read_pmu
from .schema import number

ATTRIBUTES = ("request", "message", "state", "node", "thread", "address", "rank", "bank", "unit")
# What a row of alternatives may compare: the others only narrow.
OF_ALTERNATIVES = {"request", "message", "state", "rank", "bank", "unit"}
ALTERNATIVES_MAX = 6  # PMON_ALTERNATIVES of src/pmon/state.h
VALUES_MAX = 32  # bits of struct pmu_row_term.values
PATTERN = re.compile(r"b[01x]{8}")
ROW_KINDS = {"any", "all", "none"}
WORDS_OF = {"request": "requests", "message": "messages", "state": "states"}
# Attributes of signals that terms of this one need.
NEEDED = {"thread": "core", "unit": None}
EVERY = "b" + 8 * "x"


class Row:
    """One row: the unit masks it is for, its kind, one of these qualifiers (none: whatever they
    are), and terms, which are dictionaries as struct pmu_row_term."""

    def __init__(self, pattern, kind):
        self.pattern, self.kind, self.qualifiers, self.terms = pattern, kind, [], []
        bits = pattern[1:]
        self.value = int(bits.replace("x", "0"), 2)
        self.care = int(bits.replace("0", "1").replace("x", "0"), 2)

    def fits(self, umask):
        return umask & self.care == self.value

    def key(self):
        return (self.value, self.care, self.kind, tuple(self.qualifiers),
                str([sorted(term.items(), key=str) for term in self.terms]))

    def same_choice(self):
        """Equal for rows that ask for the same, whatever their unit masks."""
        return (tuple(self.qualifiers),
                str([sorted(term.items(), key=str) for term in self.terms]))


# Reading

def read_encodings(findings, place, given):
    encodings = {}
    for name, encoding in given.items():
        read = isinstance(encoding, dict) and entry(findings, f"{place}.{name}", "encoding",
                                                    encoding)
        if read:
            encodings[name] = read
        elif not isinstance(encoding, dict):
            findings.add(f"{place}.{name}", "is no entry")
    return encodings


def read_bindings(findings, path):
    none = {"units": {}, "filters": {}, "selectors": {}}
    if not path.exists():
        return none
    given = load(findings, path, dict)
    bindings = given and entry(findings, "bindings", "bindings", given)
    if not bindings:
        return none
    filters = {}
    for box, encodings in bindings.get("filters", {}).items():
        if isinstance(encodings, dict):
            filters[box] = read_encodings(findings, box, encodings)
        else:
            findings.add(box, "filters are no entry")
    return {**none, **bindings, "filters": filters, "file": findings.file}


def read_bound_pmu(findings, folder):
    """A PMU with what its boxes have of its bindings."""
    pmu = read_pmu(findings, folder)
    if pmu:
        pmu["bindings"] = bindings = read_bindings(findings, Path(folder) / "bindings.json")
        for box in pmu["boxes"]:
            box["units"] = set()
            box["encodings"] = bindings["filters"].get(box["box"], {})
            box["selectors"] = bindings["selectors"]
    return pmu


# Units and filters

def unit_box(pmu, text):
    """The box and the instance (None: one for each unit) that a unit's text names; None."""
    match = re.fullmatch(r"([A-Za-z][A-Za-z0-9_]*?)([0-9]*)", text)
    for box in pmu["boxes"] if match else []:
        if box["box"] == match[1]:
            return box, int(match[2]) if match[2] else None
    return None


def check_units(findings, pmu, vocabulary):
    for unit, text in pmu["bindings"]["units"].items():
        found = unit_box(pmu, text)
        if unit not in vocabulary.units:
            findings.add("units", f"unknown unit \"{unit}\"")
        elif not found:
            findings.add("units", f"no box {text}")
        elif found[1] is not None and found[1] >= len(found[0]["instances"]):
            findings.add("units", f"{text}: there are {len(found[0]['instances'])} instances")
        else:
            found[0]["units"].add(unit)


def check_words(findings, place, words, vocabulary, attribute):
    if attribute not in WORDS_OF:
        findings.add(place, f"values of {attribute} have no names")
        return
    known = getattr(vocabulary, WORDS_OF[attribute])
    for word in words:
        if word not in known:
            findings.add(place, f"unknown {attribute} \"{word}\"")


def check_encoding(findings, place, encoding, vocabulary):
    attribute = encoding["attribute"]
    if attribute not in ATTRIBUTES:
        findings.add(place, f"unknown attribute \"{attribute}\"")
        return
    if "codes" in encoding:
        check_words(findings, place, encoding["codes"], vocabulary, attribute)
    elif attribute in WORDS_OF:
        findings.add(place, f"a {attribute} without codes")
    if attribute == "thread" and not encoding.get("threads"):
        findings.add(place, "a thread without the number of threads a core has")
    if "none" in encoding and not re.fullmatch(r"b[01x]{1,8}", encoding["none"]):
        findings.add(place, f"none \"{encoding['none']}\" is not made of 0, 1 and x")
    if attribute == "address" and not {"bit", "from"} <= encoding.keys():
        findings.add(place, "an address without bit and from")


def check_filters(findings, pmu, vocabulary):
    boxes = {box["box"]: box for box in pmu["boxes"]}
    for name, encodings in pmu["bindings"]["filters"].items():
        if name not in boxes:
            findings.add(name, "filters of a box that is not there")
            continue
        modifiers = {m["name"] for m in boxes[name]["modifiers"] if "register" in m}
        for field, encoding in encodings.items():
            if field not in modifiers:
                findings.add(f"{name}.{field}", "is no filter of the box")
            check_encoding(findings, f"{name}.{field}", encoding, vocabulary)
            for value in encoding.get("codes", {}).values():
                if not 0 <= number(value) < 0xffff:
                    findings.add(f"{name}.{field}", f"code {number(value):#x} is too large")


def check_bindings(findings, pmu, vocabulary):
    file, findings.file = findings.file, pmu["bindings"].get("file", findings.file)
    check_units(findings, pmu, vocabulary)
    check_filters(findings, pmu, vocabulary)
    findings.file = file


# Rows

def number_set(text):
    """Numbers named by "0-3" or "0,2"; None."""
    numbers = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", part)
        if not match:
            return None
        numbers |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    return numbers if numbers and max(numbers) < VALUES_MAX else None


def pattern_number(pattern):
    """(lowest bit, bits) of the number that the x of a pattern form; None."""
    match = re.fullmatch(r"[01]*(x+)([01]*)", pattern[1:])
    return (len(match[2]), len(match[1])) if match else None


def values_term(findings, place, row, attribute, text, vocabulary):
    if attribute in WORDS_OF:
        words = text.split(",")
        check_words(findings, place, words, vocabulary, attribute)
        known = getattr(vocabulary, WORDS_OF[attribute])
        numbers = {vocabulary.number(WORDS_OF[attribute], w) for w in words if w in known}
    elif text == "x":
        place_of = pattern_number(row.pattern)
        if not place_of:
            findings.add(place, f"{row.pattern} has no number of x")
            return None
        return {"attribute": attribute, "kind": "pattern", "lo": place_of[0], "bits": place_of[1]}
    else:
        numbers = number_set(text)
    if not numbers:
        findings.add(place, f"{attribute}={text}: no values below {VALUES_MAX}")
        return None
    return {"attribute": attribute, "kind": "values", "values": sum(1 << n for n in numbers)}


def read_term(findings, place, row, text, box, vocabulary):
    field = re.fullmatch(r"\$(\w+)(?:=(\d+))?", text)
    values = re.fullmatch(r"(\w+)=(\S+)", text)
    if field:
        known = {m["name"] for m in box["modifiers"] if "register" in m}
        if field[1] not in known:
            findings.add(place, f"no filter {field[1]} of {box['box']}")
        elif field[2]:
            return {"attribute": "unit", "kind": "is", "field": field[1], "values": int(field[2])}
        elif field[1] not in box["encodings"]:
            findings.add(place, f"no encoding of {box['box']}.{field[1]}")
        else:
            return {"attribute": box["encodings"][field[1]]["attribute"], "kind": "field",
                    "field": field[1]}
        return None
    if values and values[1] in ATTRIBUTES and values[1] not in ("thread", "address"):
        return values_term(findings, place, row, values[1], values[2], vocabulary)
    if values:
        findings.add(place, f"unknown attribute \"{values[1]}\"")
    elif text != "*":
        row.qualifiers = text.split("|")
    return None


def read_row(findings, place, text, box, vocabulary):
    words = text.split()
    if len(words) < 2 or not PATTERN.fullmatch(words[0]) or words[1] not in ROW_KINDS or \
            (words[1] == "none") != (len(words) == 2):
        findings.add(place, f"row \"{text}\" is no PATTERN any|all TERM... or PATTERN none")
        return None
    row = Row(words[0], words[1])
    if sum(not re.search(r"[$=*]", word) for word in words[2:]) > 1:
        findings.add(place, f"row \"{text}\": qualifiers stand in one word, a|b")
    for word in words[2:]:
        term = read_term(findings, place, row, word, box, vocabulary)
        if term:
            row.terms.append(term)
    attributes = {t["attribute"] for t in row.terms if t["kind"] != "is"}
    if row.kind == "any" and attributes - OF_ALTERNATIVES:
        findings.add(place, f"row \"{text}\": "
                            f"{', '.join(sorted(attributes - OF_ALTERNATIVES))} can only narrow")
    return row


def check_row(findings, place, row, signal):
    for name in row.qualifiers:
        if name not in signal["qualifiers"]:
            findings.add(place, f"signal {signal['name']} has no qualifier {name}")
    for term in row.terms:
        needed = NEEDED.get(term["attribute"], term["attribute"])
        if needed and needed not in signal["attributes"]:
            findings.add(place, f"signal {signal['name']} has no {needed}")


def check_alternatives(findings, place, rows):
    for umask in range(256):
        chosen = {row.same_choice() for row in rows
                  if row.kind == "any" and row.fits(umask) and
                  any(term["kind"] != "is" for term in row.terms)}
        if len(chosen) > ALTERNATIVES_MAX:
            findings.add(place, f"unit mask {umask:#x} has {len(chosen)} alternatives, "
                                f"{ALTERNATIVES_MAX} at most")
            return
    several = [row for row in rows if row.kind == "all" and len(row.qualifiers) > 1]
    if len(several) > 1:
        findings.add(place, "more than one row narrows to several qualifiers")


def read_event_rows(findings, place, box, event, vocabulary):
    """The rows of an event, its own or a selector's; [] where its unit mask selects nothing."""
    select = event.get("select", "all")
    if isinstance(select, str) and select not in ("all", "umask"):
        if select not in box["selectors"]:
            findings.add(place, f"unknown select \"{select}\"")
            return []
        select = box["selectors"][select]
    texts = select if isinstance(select, list) else []
    if "where" in event:
        texts = [f"{EVERY} all {event['where']}", *texts]
    rows = [read_row(findings, place, text, box, vocabulary) for text in texts]
    return [row for row in rows if row]


def check_event_rows(findings, place, box, event, signal, vocabulary):
    event["rows"] = rows = read_event_rows(findings, place, box, event, vocabulary)
    if not rows or not signal:
        if rows:
            findings.add(place, "rows without a signal")
        return
    for row in rows:
        check_row(findings, place, row, signal)
    check_alternatives(findings, place, rows)
    for u in event["umasks"]:
        if not PATTERN.fullmatch(u.get("bits", "")):
            continue  # found elsewhere
        value = int(u["bits"][1:].replace("x", "0"), 2)
        if "model" not in u and not u.get("narrows") and \
                not any(row.kind != "all" and row.fits(value) for row in rows):
            findings.add(f"{place}.{u['name']}", "no row fits it")
