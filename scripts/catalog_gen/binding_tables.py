"""Prints bindings as the structs of src/catalog/binding.h."""
from .bindings import WORDS_OF, unit_box
from .c_text import NO_ENTRIES, array, c_name, c_string

NO_CODE = "BINDING_NO_CODE"


def print_codes(name, encoding, vocabulary):
    """The codes of all values of the attribute, in the order of their constants."""
    if "codes" not in encoding:
        return NO_ENTRIES
    words = WORDS_OF[encoding["attribute"]]
    codes = [NO_CODE] * vocabulary.count(words)
    for word, code in encoding["codes"].items():
        codes[vocabulary.number(words, word)] = f"{int(str(code), 0):#x}"
    print(f"static const uint16_t {name}[] = {{{', '.join(codes)}}};")
    return name


def print_encoding(prefix, box, modifier, vocabulary):
    """How the modifier's field says what it is compared with; what to call it."""
    encoding = box["encodings"].get(modifier["name"])
    if not encoding:
        return NO_ENTRIES
    name = f"{prefix}_encoding_{modifier['name']}"
    codes = print_codes(f"{name}_codes", encoding, vocabulary)
    bits = encoding.get("none", "b")[1:]
    print(f"static const struct pmu_encoding {name} = {{.attribute = "
          f"ATTRIBUTE_{encoding['attribute'].upper()}, "
          f".set = {str(bool(encoding.get('set'))).lower()}, "
          f".empty = {str(bool(encoding.get('empty'))).lower()}, .codes = {codes}, "
          f".count = {vocabulary.count(WORDS_OF[encoding['attribute']]) if codes != NO_ENTRIES else 0}, "
          f".threads = {encoding.get('threads', 0)}, "
          f".none_value = {int(bits.replace('x', '0') or '0', 2):#x}, "
          f".none_care = {int(bits.replace('0', '1').replace('x', '0') or '0', 2):#x}, "
          f".bit = {encoding.get('bit', 0)}, .from = {encoding.get('from', 0)}, "
          f".mask = {c_string(encoding['mask']) if 'mask' in encoding else NO_ENTRIES}}};")
    return f"&{name}"


def term_row(prefix, box, term):
    row = {"attribute": f"ATTRIBUTE_{term['attribute'].upper()}",
           "kind": f"TERM_{term['kind'].upper()}"}
    if term["kind"] == "values":
        row["values"] = f"{term['values']:#x}"
    elif term["kind"] == "pattern":
        row.update({"lo": term["lo"], "bits": term["bits"]})
    else:
        number = next(n for n, m in enumerate(box["modifiers"]) if m["name"] == term["field"])
        row["modifier"] = f"&{prefix}_modifiers[{number}]"
        if term["kind"] == "is":
            row["values"] = term["values"]
    return row


def print_event_rows(prefix, name, box, event):
    rows = []
    for n, row in enumerate(row for row in event["rows"] if row.kind != "none"):
        terms = array("pmu_row_term", f"{name}_terms_{n}",
                      [term_row(prefix, box, term) for term in row.terms])
        qualifiers = " | ".join(f"QUALIFIER_{c_name(event['signal'])}_{c_name(q)}"
                                for q in row.qualifiers)
        rows.append({"value": f"{row.value:#04x}", "care": f"{row.care:#04x}",
                     "kind": f"ROW_{row.kind.upper()}", "qualifiers": qualifiers or "0",
                     "terms": terms, "term_count": len(row.terms)})
    return array("pmu_row", name, rows), len(rows)


def print_rows(prefix, box):
    """(name, number) of the rows of each event; events that share a selector share them."""
    printed, found = {}, []
    for event in box["events"]:
        rows = event.get("rows", [])
        key = (event.get("signal"), tuple(row.key() for row in rows))
        if rows and key not in printed:
            printed[key] = print_event_rows(prefix, f"{event['array']}_rows", box, event)
        found.append(printed[key] if rows else (NO_ENTRIES, 0))
    return found


def print_units(name, pmu, vocabulary):
    """For each kind of unit, the box that counts it."""
    if not pmu["bindings"]["units"]:
        return NO_ENTRIES
    rows = []
    for unit in vocabulary.units:
        bound = unit_box(pmu, pmu["bindings"]["units"].get(unit, ""))
        if not bound:
            rows.append({"box": "BINDING_NO_BOX"})
            continue
        number = next(n for n, box in enumerate(pmu["boxes"]) if box is bound[0])
        rows.append({"box": number,
                     "instance": "BINDING_EACH" if bound[1] is None else bound[1]})
    return array("pmu_unit_binding", name, rows)
