"""Prints checked PMUs as the constant tables of src/catalog/tables.h."""
import json
import re

ACCESS = {"RO": "RO", "RW": "RW", "RW-V": "RWV", "RWS": "RWS", "WO": "WO", "RW1C": "RW1C",
          "RV": "RV", "IG": "IG"}
MUST = {None: "NOTHING", 0: "WRITE_0", 1: "WRITE_1"}
NO_ENTRIES = "NULL"


def c_name(text):
    return re.sub(r"[^A-Za-z0-9]", "_", text).upper()


def c_string(text):
    return "NULL" if text is None else json.dumps(text, ensure_ascii=False)


def access_of(fields):
    """The weakest access that covers all fields; reserved and ignored ones ask for nothing."""
    used = {f["access"] for f in fields} - {"RV", "IG"}
    if len(used) == 1:
        return used.pop()
    return "RW" if used else "RV"


def enabled_value(field):
    """What the field of a control is where its counter counts: en needs no word."""
    return field.get("enabled", 1 if field["name"] == "en" else 0)


def reset_of(fields):
    return sum(f.get("reset", 0) << f["lo"] for f in fields)


def umask_bits(bits):
    """(value, care) of a pattern such as b0000x011."""
    digits = bits[1:]
    value = digits.replace("x", "0")
    care = digits.replace("0", "1").replace("x", "0")
    return int(value, 2), int(care, 2)


def array(kind, name, rows):
    """Prints an array and returns what to call it; nothing is printed for no rows."""
    if not rows:
        return NO_ENTRIES
    print(f"static const struct {kind} {name}[] = {{")
    for row in rows:
        print(f"\t{{{', '.join(f'.{key} = {value}' for key, value in row.items())}}},")
    print("};\n")
    return name


def print_fields(prefix, register):
    return array("pmu_field", prefix, [
        {"name": c_string(f["name"]), "hi": f["hi"], "lo": f["lo"],
         "access": f"PMU_ACCESS_{ACCESS[f['access']]}", "must": f"PMU_MUST_{MUST[f.get('must')]}",
         "reset": f"{f.get('reset', 0):#x}", "enabled": f"{enabled_value(f):#x}",
         "role": c_string(f.get("role")), "desc": c_string(f.get("desc", ""))}
        for f in register["fields"]])


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
        rows.append({"name": c_string(r["name"]), "role": f"PMU_ROLE_{r['role'].upper()}",
                     "index": r["index"], "width": r["width"],
                     "access": f"PMU_ACCESS_{ACCESS[access_of(r['fields'])]}",
                     "space": f"PMU_SPACE_{r.get('space', box['space']).upper()}",
                     "offset": f"{r['offset']:#x}",
                     "offsets": print_offsets(f"{prefix}_offsets_{n}", r["offsets"]),
                     "reset": f"{reset_of(r['fields']):#x}",
                     "fields": printed[key], "field_count": len(r["fields"]),
                     "event": c_string(r.get("event", "")), "source": c_string(r["source"])})
    return array("pmu_register", f"{prefix}_registers", rows)


def print_instances(prefix, box):
    return array("pmu_instance", f"{prefix}_instances", [
        {"base": f"{i['base']:#x}", "device_id": f"{i['device_id']:#x}",
         "label": c_string(i["label"]), "status": c_string(i["status"]),
         "control": f"{i.get('control', 0):#x}"}
        for i in box["instances"]])


def modifier_row(modifier, registers):
    name = modifier.get("register")
    fields = next(r["fields"] for r in registers
                  if (r["name"] == name if name else r["role"] == "counter_ctl"))
    field = next(f for f in fields if f["name"].lower() == modifier["field"].lower())
    own = modifier["name"] if modifier["name"] != modifier["field"] else field["name"]
    return {"name": c_string(own), "reg": c_string(name), "hi": field["hi"],
            "lo": field["lo"], "shared": str(bool(name)).lower(),
            "counters": f"{sum(1 << i for i in modifier['counter_set']):#x}",
            "enabled": "0x0" if name else f"{enabled_value(field):#x}",
            "set": str(bool(modifier.get("set"))).lower(),
            "any_of": c_string(modifier.get("any_of", "")),
            "needs": c_string(modifier.get("needs", ""))}


def print_presets(name, box, presets):
    rows = []
    for p in presets:
        fields = next(r["fields"] for r in box["registers"] if r["name"] == p["register"])
        field = next(f for f in fields if f["name"].lower() == p["field"].lower())
        rows.append({"reg": c_string(p["register"]), "hi": field["hi"], "lo": field["lo"],
                     "copy": "PMU_COPY_ALL" if p["copy"] is None else p["copy"],
                     "value": f"{p['value']:#x}"})
    return array("pmu_preset", name, rows)


def print_mnemonics(prefix, box):
    return array("pmu_mnemonic", f"{prefix}_mnemonics", [
        {"field": c_string(field), "name": c_string(m["name"]), "value": f"{m['value']:#x}",
         "desc": c_string(m.get("desc", ""))}
        for field, mnemonics in box["mnemonics"].items() for m in mnemonics])


def print_umasks(prefix, box, event):
    rows = []
    prefix = f"{prefix}_{event['code']:x}"  # a name may have several codes
    for n, u in enumerate(event["umasks"]):
        given = array("pmu_given", f"{prefix}_given_{event['name']}_{n}", [
            {"modifier": c_string(name), "value": f"{setting:#x}"}
            for name, setting in u["given"].items()])
        value, care = umask_bits(u["bits"]) if "bits" in u else (u["value"], 0xff)
        presets = print_presets(f"{prefix}_presets_{event['name']}_{n}", box, u["presets"])
        rows.append({"name": c_string(u["name"]), "value": f"{value:#04x}", "care": f"{care:#04x}",
                     "alone": str(bool(u.get("alone"))).lower(),
                     "absent": str("model" in u).lower(),
                     "group": c_string(u.get("group", "")), "needs": c_string(u.get("needs", "")),
                     "filters": c_string(",".join(u.get("filters", []))),
                     "given": given, "given_count": len(u["given"]),
                     "presets": presets, "preset_count": len(u["presets"]),
                     "desc": c_string(u.get("desc", "")),
                     "source": c_string(u.get("source", event["source"]))})
    return array("pmu_umask", f"{prefix}_umasks_{event['name']}", rows)


def facet_bits(event):
    words = []
    for names in event.get("facets", []):
        bits = [f"FACET_{c_name(event['signal'])}_{c_name(name)}" for name in names]
        words.append(" | ".join(bits) or "0")
    return f"{{{', '.join(words)}}}" if words else "{0}"


def event_row(prefix, box, event, umasks):
    row = {"name": c_string(event["name"]), "code": f"{event['code']:#x}",
           "ext": str(bool(event.get("ext"))).lower(), "max_increment": event["max_increment"],
           "counters": f"{sum(1 << i for i in event['counter_set']):#x}",
           "umask": f"{event.get('umask', 0):#x}",
           "umasks": umasks, "umask_count": len(event["umasks"]),
           "combine": f"PMU_COMBINE_{event.get('combine', 'or').upper()}",
           "model": f"PMU_MODEL_{event['model'].upper()}",
           "measure": f"PMU_MEASURE_{event.get('measure', 'none').upper()}",
           "select": f"PMU_SELECT_{event.get('select', 'all').upper()}",
           "select_arg": f"{event.get('select_arg', 0):#x}",
           "signal": f"SIGNAL_{c_name(event.get('signal', 'none'))}"}
    if "facets" in event:
        row["facets"] = facet_bits(event)
    presets = print_presets(f"{prefix}_presets_{event['code']:x}_{event['name']}", box,
                            event["presets"])
    row.update({"filters": c_string(",".join(event.get("filters", []))),
                "attributes": c_string(",".join(event.get("attributes", []))),
                "presets": presets, "preset_count": len(event["presets"]),
                "copies": box.get("copies", 0),
                "model_note": c_string(event.get("model_note", "")),
                "desc": c_string(event["desc"]), "source": c_string(event["source"])})
    return row


def print_events(prefix, box):
    umasks = [print_umasks(prefix, box, e) for e in box["events"]]
    return array("pmu_event", f"{prefix}_events",
                 [event_row(prefix, box, e, u) for e, u in zip(box["events"], umasks)])


def print_metrics(prefix, box):
    return array("pmu_metric", f"{prefix}_metrics", [
        {key: c_string(m[key]) for key in ("name", "equation", "unit", "desc", "source")}
        for m in box["metrics"]])


def box_row(prefix, pmu, box):
    modifiers = [modifier_row(m, box["registers"]) for m in box["modifiers"]]
    return {"pmu": c_string(pmu["name"]), "name": c_string(box["box"]),
            "title": c_string(box["title"]), "source": c_string(box["source"]),
            "space": f"PMU_SPACE_{box['space'].upper()}",
            "clock": f"PMU_CLOCK_{box.get('clock', 'uclk').upper()}",
            "quirks": " | ".join(f"PMU_QUIRK_{q.upper()}" for q in box.get("quirks", [])) or "0",
            "counter_count": box["counters"], "counter_width": box["counter_width"],
            "fixed_count": sum(r["role"] == "fixed_counter" for r in box["registers"]),
            "instances": print_instances(prefix, box), "instance_count": len(box["instances"]),
            "registers": print_registers(prefix, box),
            "register_count": len(box["registers"]),
            "modifiers": array("pmu_modifier", f"{prefix}_modifiers", modifiers),
            "modifier_count": len(modifiers),
            "mnemonics": print_mnemonics(prefix, box),
            "mnemonic_count": sum(map(len, box["mnemonics"].values())),
            "events": print_events(prefix, box), "event_count": len(box["events"]),
            "metrics": print_metrics(prefix, box), "metric_count": len(box["metrics"])}


def name_hash(name):
    """FNV-1a of the name in lower case, as name_hash() in src/base/name.c."""
    value = 2166136261
    for byte in name.lower().encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def print_event_index(pmus):
    """Every event of every box, in the order in which src/catalog/find.c searches."""
    index = []
    box_number = 0
    for p, pmu in enumerate(pmus):
        for box in pmu["boxes"]:
            prefix = f"pmu{p}_{box['box']}"
            index += [(name_hash(e["name"]), box_number, f"&{prefix}_events[{n}]")
                      for n, e in enumerate(box["events"])]
            box_number += 1
    print("const struct event_index event_index[] = {")
    for value, box, event in sorted(index):
        print(f"\t{{{value:#010x}, &boxes[{box}], {event}}},")
    print("};")
    print("const size_t event_index_count = sizeof(event_index) / sizeof(event_index[0]);")


def print_tables(pmus):
    print('/* Generated from catalog/. */\n'
          '#include "catalog/signal.h"\n#include "catalog/tables.h"\n')
    rows = [box_row(f"pmu{p}_{box['box']}", pmu, box)
            for p, pmu in enumerate(pmus) for box in pmu["boxes"]]
    array("pmu_box", "boxes", rows)
    print("const struct pmu_pmu pmu_table[] = {")
    first = 0
    for pmu in pmus:
        window = ", ".join(f"{pmu['window'][key]:#x}" for key in ("own", "first", "size"))
        print(f"\t{{{c_string(pmu['name'])}, {c_string(pmu['title'])}, {c_string(pmu['source'])}, "
              f"&boxes[{first}], {len(pmu['boxes'])}, "
              f"{{{window}}}}},")
        first += len(pmu["boxes"])
    print("};\nconst size_t pmu_table_count = sizeof(pmu_table) / sizeof(pmu_table[0]);\n")
    print_event_index(pmus)
