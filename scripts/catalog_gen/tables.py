"""Prints checked PMUs as the constant tables of src/catalog/tables.h."""
from .addresses import print_addresses
from .binding_tables import print_encoding, print_rows, print_units
from .c_text import NO_ENTRIES, array, c_name, c_string, text_list
from .check import field_of, is_filter, modifier_field, part_of
from .facts import print_facts
from .index import print_index
from .instances import print_instance_index, print_names
from .read import RULES
from .record_tables import print_records
from .roles import SELECTORS, STATUS_ROLES, roles_in

ACCESS = {"RO": "RO", "RW": "RW", "RW-V": "RWV", "RWS": "RWS", "WO": "WO", "RW1C": "RW1C",
          "RV": "RV", "IG": "IG"}
MUST = {None: "NOTHING", 0: "WRITE_0", 1: "WRITE_1"}
# What never happens is counted exactly.
EVENT_MODELS = {"exact": "EXACT", "approximate": "APPROXIMATE", "never": "EXACT", "absent": "ABSENT"}
MODIFIER_MODELS = {None: "MODELLED", "set": "ABSENT_SET", "clear": "ABSENT_CLEAR"}


def access_of(fields):
    """The weakest access that covers all fields; reserved and ignored ones ask for nothing."""
    used = {f["access"] for f in fields} - {"RV", "IG"}
    if len(used) == 1:
        return used.pop()
    return "RW" if used else "RV"


def reset_of(fields):
    return sum(f.get("reset", 0) << f["lo"] for f in fields)


def enabled_of(fields):
    return sum(f.get("enabled", 0) << f["lo"] for f in fields)


def ones_of(fields):
    return sum((1 << f["hi"] + 1) - (1 << f["lo"]) for f in fields if f.get("must") == 1)


def umask_bits(bits):
    """(value, care) of a pattern such as b0000x011."""
    digits = bits[1:]
    value = digits.replace("x", "0")
    care = digits.replace("0", "1").replace("x", "0")
    return int(value, 2), int(care, 2)


def print_selects(prefix, field):
    """What the bits let pass: a row of qualifiers for each list."""
    rows = []
    for n, (first, *names) in enumerate(field.get("selects", [])):
        bits = ", ".join("0" if name == "-" else
                         " | ".join(f"QUALIFIER_{c_name(field['signal'])}_{c_name(either)}"
                                    for either in name.split("|"))
                         for name in names)
        print(f"static const uint32_t {prefix}_{n}[] = {{{bits}}};")
        rows.append({"first": first, "count": len(names), "qualifiers": f"{prefix}_{n}"})
    return array("pmu_select", prefix, rows)


def print_fields(prefix, register):
    selects = [print_selects(f"{prefix}_selects_{n}", f) for n, f in enumerate(register["fields"])]
    return array("pmu_field", prefix, [
        {"name": c_string(f["name"]), "hi": f["hi"], "lo": f["lo"],
         "access": f"PMU_ACCESS_{ACCESS[f['access']]}", "must": f"PMU_MUST_{MUST[f.get('must')]}",
         "reset": f"{f.get('reset', 0):#x}", "enabled": f"{f.get('enabled', 0):#x}",
         "role": f"PMU_FIELD_{f['role'].upper()}", "counter": f["counter"],
         "selects": rows, "select_count": len(f.get("selects", [])),
         "any": f"{1 << f['any'] if 'any' in f else 0:#x}",
         "desc": c_string(f.get("desc", ""))}
        for f, rows in zip(register["fields"], selects)])


def print_offsets(name, offsets):
    if not offsets:
        return NO_ENTRIES
    print(f"static const uint16_t {name}[] = {{{', '.join(f'{o:#x}' for o in offsets)}}};")
    return name


def print_registers(prefix, box):
    rows, printed = [], {}
    for n, r in enumerate(box["registers"]):
        # Registers of one row share their list of fields.
        key = id(r["fields"])
        if key not in printed:
            printed[key] = print_fields(f"{prefix}_fields_{len(printed)}", r)
        r["array"] = printed[key]
        rows.append({"name": c_string(r["name"]), "names": print_names(prefix, n, box, r),
                     "role": f"PMU_ROLE_{r['role'].upper()}",
                     "index": r["index"], "width": r["width"],
                     "access": f"PMU_ACCESS_{ACCESS[access_of(r['fields'])]}",
                     "space": f"PMU_SPACE_{r.get('space', box['space']).upper()}",
                     "offset": f"{r['offset']:#x}",
                     "offsets": print_offsets(f"{prefix}_offsets_{n}", r["offsets"]),
                     "reset": f"{reset_of(r['fields']):#x}",
                     "enabled": f"{enabled_of(r['fields']):#x}",
                     "ones": f"{ones_of(r['fields']):#x}",
                     "fields": printed[key], "field_count": len(r["fields"]),
                     "event": c_string(r.get("event", "")),
                     "signal": f"SIGNAL_{c_name(r.get('signal', 'none'))}",
                     "perf": c_string(r.get("perf", "")),
                     "model_note": c_string(r.get("model_note", "")),
                     "source": c_string(r["source"])})
    return array("pmu_register", f"{prefix}_registers", rows)


def status_mask(statuses, name, suffix=""):
    """The bit of the global status registers that an instance's overflows set."""
    found = name and (field_of(statuses, name + suffix) or field_of(statuses, name))
    return (1 << found["hi"] + 1) - (1 << found["lo"]) if found else 0


def print_instances(prefix, pmu, box):
    statuses = [r for b in pmu["boxes"] for r in b["registers"] if r["role"] in STATUS_ROLES]
    return array("pmu_instance", f"{prefix}_instances", [
        {"base": f"{i['base']:#x}", "device_id": f"{i['device_id']:#x}",
         "label": c_string(i["label"]), "status": c_string(i["status"]),
         "overflow": f"{status_mask(statuses, i['status']):#x}",
         "fixed_overflow": f"{status_mask(statuses, i['status'], '_fixed'):#x}",
         "control": f"{i.get('control', 0):#x}", "first_counter": i.get("first_counter", 0)}
        for i in box["instances"]])


def selector(box):
    """The fields of the counter controls, all alike, that say what is counted."""
    control = next((r for r in box["registers"] if r["role"] == "counter_ctl"), None)
    words = []
    for what, role in SELECTORS.items():
        field = control and roles_in(control).get((role, 0))
        if field:
            words.append(f".{what} = &{control['array']}[{control['fields'].index(field)}]")
    return f"{{{', '.join(words)}}}" if words else "{0}"


def number_of(entries, name):
    return next(n for n, entry in enumerate(entries) if entry["name"] == name)


def modifier_bits(box, names):
    """Bit n: modifier n of the box is among them."""
    return f"{sum(1 << number_of(box['modifiers'], name) for name in names):#x}"


def is_enable_bit(modifier, filter_):
    """Whether the modifier is the control bit that makes a counter look at the filter."""
    return "register" in filter_ and "register" not in modifier and \
        modifier["name"].lower() == f"{filter_['name']}_en".lower()


def modifier_pointer(prefix, box, wanted):
    """The first modifier for which wanted() is true, as C has it."""
    number = next((n for n, other in enumerate(box["modifiers"]) if wanted(other)), None)
    return "NULL" if number is None else f"&{prefix}_modifiers[{number}]"


def mode_group_of(box, modifier):
    """Bit n: modifier n of the box has the same any_of."""
    return sum(1 << n for n, other in enumerate(box["modifiers"])
               if modifier.get("any_of") and other.get("any_of") == modifier["any_of"])


def modifier_row(prefix, box, modifier, encoding):
    registers, name = box["registers"], modifier.get("register", "").replace("{s}", "0")
    field = modifier_field(box, modifier)
    own = modifier["name"] if modifier["name"] != modifier["field"] else field["name"]
    fixed_fields = print_fixed_fields(prefix, f"{prefix}_fixed_fields_of_{modifier['name']}", box,
                                      modifier["fixed_fields"])
    return {"name": c_string(own),
            "reg": f"&{prefix}_registers[{number_of(registers, name)}]" if name else "NULL",
            "hi": field["hi"], "lo": field["lo"], "role": f"PMU_FIELD_{field['role'].upper()}",
            "number": box["modifiers"].index(modifier),
            "shared": str(bool(name)).lower(),
            "copied": str("{s}" in modifier.get("register", "")).lower(),
            "filter": str(is_filter(modifier)).lower(),
            "counters": f"{sum(1 << i for i in modifier['counter_set']):#x}",
            "enabled": "0x0" if name else f"{field.get('enabled', 0):#x}",
            "set": str(bool(modifier.get("set"))).lower(),
            "any_of": c_string(modifier.get("any_of", "")),
            "mode_group": f"{mode_group_of(box, modifier):#x}",
            "needs": c_string(modifier.get("needs", "")),
            "enable_bit": modifier_pointer(prefix, box, lambda o: is_enable_bit(o, modifier)),
            "enables": modifier_pointer(prefix, box, lambda o: is_enable_bit(modifier, o)),
             "class_field": f"&{prefix}_modifiers["
                           f"{number_of(box['modifiers'], modifier['class'])}]"
            if "class" in modifier else "NULL",
            "encoding": encoding,
            "fixed_fields": fixed_fields, "fixed_field_count": len(modifier["fixed_fields"]),
            "model": f"PMU_MODIFIER_{MODIFIER_MODELS[modifier.get('absent')]}",
            "threshold": f"PMU_THRESHOLD_{modifier.get('threshold', 'none').upper()}"}


def print_fixed_fields(prefix, name, box, fixed_fields):
    rows = []
    for p in fixed_fields:
        number = number_of(box["registers"], p["register"])
        field = part_of(field_of([box["registers"][number]], p["field"]), p["bits"])
        hi, lo, value = field["hi"], field["lo"], p["value"]
        if p["one_bit"]:  # the other bits are those of other copies
            hi = lo = lo + p["copy"]
            value = 1
        rows.append({"reg": f"&{prefix}_registers[{number}]", "hi": hi, "lo": lo,
                     "copy": "PMU_COPY_ALL" if p["copy"] is None else p["copy"],
                     "value": f"{value:#x}"})
    return array("pmu_fixed_field", name, rows)


def print_mnemonics(prefix, box):
    return array("pmu_mnemonic", f"{prefix}_mnemonics", [
        {"field": c_string(field), "name": c_string(m["name"]),
         "class_name": c_string(m["class"]) if "class" in m else "NULL",
         "value": f"{m['value']:#x}",
         "desc": c_string(m.get("desc", ""))}
        for field, mnemonics in box["mnemonics"].items() for m in mnemonics])


def print_umasks(prefix, box, event):
    rows = []
    own = event["array"]
    for n, u in enumerate(event["umasks"]):
        implied = array("pmu_implied", f"{own}_implied_{n}", [
            {"modifier": f"&{prefix}_modifiers[{number_of(box['modifiers'], name)}]",
             "value": f"{setting:#x}"}
            for name, setting in u["implied"].items()])
        value, care = umask_bits(u["bits"]) if "bits" in u else (u["value"], 0xff)
        fixed_fields = print_fixed_fields(prefix, f"{own}_fixed_fields_{n}", box, u["fixed_fields"])
        rows.append({"name": c_string(u["name"]), "value": f"{value:#04x}", "care": f"{care:#04x}",
                     "narrows": str(bool(u.get("narrows"))).lower(),
                     "alone": str(bool(u.get("alone"))).lower(),
                     "absent": str(u.get("model") == "absent").lower(),
                     "never": str(u.get("model") == "never" or event["model"] == "never").lower(),
                     "signal": f"SIGNAL_{c_name(u.get('signal', 'none'))}",
                     "qualifiers": " | ".join(
                         f"QUALIFIER_{c_name(u['signal'])}_{c_name(q)}"
                         for q in u.get("qualifiers", [])) or "0",
                     "cycles": f"SIGNAL_{c_name(u.get('cycles', ['none'])[0])}",
                     "cycles_qualifiers": " | ".join(
                         f"QUALIFIER_{c_name(u['cycles'][0])}_{c_name(q)}"
                         for q in u.get("cycles", [])[1:]) or "0",
                     "group": c_string(u.get("group", "")), "needs": c_string(u.get("needs", "")),
                     "filters": modifier_bits(box, u.get("filters", [])),
                     "uses": modifier_bits(box, u.get("uses", [])),
                     "implied": implied, "implied_count": len(u["implied"]),
                     "fixed_fields": fixed_fields, "fixed_field_count": len(u["fixed_fields"]),
                     "sum": text_list(f"{own}_sum_{n}", u.get("sum", [])),
                     "desc": c_string(u.get("desc", "")),
                     "source": c_string(u.get("source", event["source"]))})
    return array("pmu_umask", f"{own}_umasks", rows)


def event_row(prefix, box, event, umasks, rows):
    row = {"name": c_string(event["name"]), "title": c_string(event.get("title", "")),
           "category": c_string(event.get("category", "")), "code": f"{event['code']:#x}",
           "ext": str(bool(event.get("ext"))).lower(), "max_increment": event["max_increment"],
           "counters": f"{sum(1 << i for i in event['counter_set']):#x}",
           "umask": f"{event.get('umask', 0):#x}",
           "umasks": umasks, "umask_count": len(event["umasks"]),
           "umask_index": print_index(f"{event['array']}_umasks",
                                      [u["name"] for u in event["umasks"]]),
           "combine": f"PMU_COMBINE_{event.get('combine', 'or').upper()}",
           "model": f"PMU_MODEL_{EVENT_MODELS[event['model']]}",
           "measure": f"PMU_MEASURE_{event.get('measure', 'none').upper()}",
           "per": event.get("per", 1),
           "rows": rows[0], "row_count": rows[1], "by_umask":
               str(event.get("select") == "umask").lower(),
           "signal": f"SIGNAL_{c_name(event.get('signal', 'none'))}"}
    fixed_fields = print_fixed_fields(prefix, f"{event['array']}_fixed_fields", box, event["fixed_fields"])
    attributes = text_list(f"{event['array']}_attributes", event.get("attributes", []))
    row.update({"needs": modifier_bits(box, event.get("needs", [])),
                "filters": modifier_bits(box, event.get("filters", [])),
                "set_group": c_string(event["set_group"]), "set": event["set_number"],
                "attributes": attributes,
                "fixed_fields": fixed_fields, "fixed_field_count": len(event["fixed_fields"]),
                "copies": box.get("copies", 0),
                "model_note": c_string(event.get("model_note", "")),
                "desc": c_string(event["desc"]), "source": c_string(event["source"])})
    return row


def print_events(prefix, box):
    for n, event in enumerate(box["events"]):
        event["array"] = f"{prefix}_event{n}"  # a name may have several codes
    umasks = [print_umasks(prefix, box, e) for e in box["events"]]
    rows = print_rows(prefix, box)
    return array("pmu_event", f"{prefix}_events",
                 [event_row(prefix, box, e, u, r)
                  for e, u, r in zip(box["events"], umasks, rows)])


def print_metrics(prefix, box):
    return array("pmu_metric", f"{prefix}_metrics", [
        {key: c_string(m[key]) for key in ("name", "equation", "unit", "desc", "source")} |
        {"unresolved": c_string(", ".join(m.get("unresolved", []))),
         "several_sockets": c_string(m.get("several_sockets", ""))} for m in box["metrics"]])


def print_banks(prefix, box):
    controls = [r for r in box["registers"] if r["role"] == "counter_ctl"]
    rows = []
    for bank in box["banks"]:
        fields = [field_of(controls, name) for name in bank.get("shared", [])]
        shared = sum((1 << f["hi"] + 1) - (1 << f["lo"]) for f in fields)
        rows.append({"group": c_string(bank["group"]), "lead": bank["lead"],
                     "counters": f"{sum(1 << c for c in bank['counter_set']):#x}",
                     "shared": f"{shared:#x}"})
    return array("pmu_bank", f"{prefix}_banks", rows)


def names_index(prefix, box, what):
    return print_index(f"{prefix}_{what}", [entry["name"] for entry in box[what]])


def print_modifiers(prefix, box, vocabulary):
    encodings = [print_encoding(prefix, box, m, vocabulary) for m in box["modifiers"]]
    return array("pmu_modifier", f"{prefix}_modifiers",
                 [modifier_row(prefix, box, m, e) for m, e in zip(box["modifiers"], encodings)])


def names_of(box):
    rows = ", ".join(f".{tool} = {c_string(name)}" for tool, name in box.get("names", {}).items()
                     if tool != "source")
    return f"{{{rows or '0'}}}"


def print_renames(prefix, box):
    return array("pmu_rename", f"{prefix}_renames", [
        {"tool": f"PMU_TOOL_{tool.upper()}", "ours": c_string(ours), "theirs": c_string(theirs)}
        for tool, ours, theirs in box.get("renames", [])])


def print_kernel_events(prefix, box):
    return array("pmu_kernel_event", f"{prefix}_kernel_events", [
        {key: c_string(text) for key, text in zip(("name", "terms", "scale", "unit"),
                                                  [*row, "", ""])}
        for row in box.get("kernel_events", [])])


def box_row(prefix, pmu, box, vocabulary):
    return {"pmu": c_string(pmu["name"]), "name": c_string(box["box"]),
            "title": c_string(box["title"]), "source": c_string(box["source"]),
            "kernel": c_string(box["kernel"]) if "kernel" in box else "NULL",
            "names": names_of(box), "renames": print_renames(prefix, box),
            "rename_count": len(box.get("renames", [])),
            "kernel_events": print_kernel_events(prefix, box),
            "kernel_event_count": len(box.get("kernel_events", [])),
            "space": f"PMU_SPACE_{box['space'].upper()}",
            "clock": f"PMU_CLOCK_{box['clock'].upper()}",
            "scope": f"PMU_SCOPE_{box.get('scope', 'socket').upper()}",
            "quirks": " | ".join(f"PMU_QUIRK_{q.upper()}" for q in box.get("quirks", [])) or "0",
            "counter_count": box["counters"], "counter_width": box["counter_width"],
            "fixed_count": sum(r["role"] == "fixed_counter" for r in box["registers"]),
            "instances": print_instances(prefix, pmu, box), "instance_count": len(box["instances"]),
            "registers": print_registers(prefix, box),
            "register_count": len(box["registers"]),
            "register_index": names_index(prefix, box, "registers"), "selector": selector(box),
            "modifiers": print_modifiers(prefix, box, vocabulary),
            "modifier_count": len(box["modifiers"]),
            "modifier_index": names_index(prefix, box, "modifiers"),
            "mnemonics": print_mnemonics(prefix, box),
            "mnemonic_count": sum(map(len, box["mnemonics"].values())),
            "events": print_events(prefix, box), "event_count": len(box["events"]),
            "event_index": names_index(prefix, box, "events"),
            "banks": print_banks(prefix, box), "bank_count": len(box["banks"]),
            "metrics": print_metrics(prefix, box), "metric_count": len(box["metrics"]),
            "metric_index": names_index(prefix, box, "metrics"),
            "records": print_records(prefix, box), "record_count": len(box["records"]),
            "facts": print_facts(prefix, box), "fact_count": len(box["facts"]),
            "instance_index": print_instance_index(prefix, box)}


def print_cpus(name, pmu):
    return array("pmu_cpu", name, [
        {"family": cpu["family"], "model": cpu["model"], "source": c_string(cpu["source"])}
        for cpu in pmu["cpus"]])


def print_steps(name, pmu):
    steps = ", ".join(f"PMU_STEP_{step.upper()}" for step in pmu["sequence"]["steps"])
    print(f"static const uint8_t {name}[] = {{{steps}}};")
    return name


def rules_of(pmu):
    return "{" + ", ".join(f".{rule} = {c_string(pmu['rules'].get(rule, ''))}"
                           for rule in RULES) + "}"


def print_tables(pmus, vocabulary):
    print('/* Generated from catalog/. */\n'
          '#include "catalog/address.h"\n#include "catalog/binding.h"\n#include "catalog/tables.h"\n'
          '#include "catalog/hwrec.h"\n')
    rows = [box_row(f"pmu{p}_{n}_{box['box']}", pmu, box, vocabulary)
            for p, pmu in enumerate(pmus) for n, box in enumerate(pmu["boxes"])]
    array("pmu_box", "boxes", rows)
    indexes = [print_index(f"pmu{p}", [box["box"] for box in pmu["boxes"]])
               for p, pmu in enumerate(pmus)]
    cpus = [print_cpus(f"pmu{p}_cpus", pmu) for p, pmu in enumerate(pmus)]
    units = [print_units(f"pmu{p}_units", pmu, vocabulary) for p, pmu in enumerate(pmus)]
    steps = [print_steps(f"pmu{p}_steps", pmu) for p, pmu in enumerate(pmus)]
    addresses = [print_addresses(f"pmu{p}_addresses", pmu) for p, pmu in enumerate(pmus)]
    print("const struct pmu_pmu pmu_table[] = {")
    first = 0
    for pmu, index, pmu_cpus, pmu_steps, pmu_units, pmu_addresses in zip(
            pmus, indexes, cpus, steps, units, addresses):
        window = ", ".join(f"{pmu['window'][key]:#x}" for key in ("own", "first", "size"))
        print(f"\t{{{c_string(pmu['name'])}, {c_string(pmu['title'])}, {c_string(pmu['source'])}, "
              f"&boxes[{first}], {len(pmu['boxes'])}, {index}, "
              f"{{{window}}}, {pmu_cpus}, {len(pmu['cpus'])}, {pmu_steps}, "
              f"{len(pmu['sequence']['steps'])}, "
              f"{str(bool(pmu.get('qualified'))).lower()}, {pmu_units}, {rules_of(pmu)}, "
              f"{pmu_addresses}}},")
        first += len(pmu["boxes"])
    print("};\nconst size_t pmu_table_count = sizeof(pmu_table) / sizeof(pmu_table[0]);\n")
    pmu_index = print_index("pmus", [pmu["name"] for pmu in pmus])
    print(f"const struct pmu_index pmu_table_index = {pmu_index};")
