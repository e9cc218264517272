"""Reads catalog/PMU/*.json into plain values: numbers as int, counter arrays expanded.

What cannot be read is a finding; checking what was read is check.py's.
"""
import json
import re
from pathlib import Path

COUNTER_ROLES = ("counter", "counter_ctl", "fixed_counter")

# Keys of each kind of entry: those that must be there, those that may.
KEYS = {
    "pmu": ({"name", "title", "source", "boxes"}, {"window"}),
    "window": ({"own", "first", "size"}, set()),
    "box": ({"box", "title", "source", "space", "instances", "registers"},
            {"clock", "counters", "counter_width", "quirks", "defaults", "modifiers", "mnemonics",
             "events", "metrics", "settings", "copies"}),
    "row of instances": ({"count", "base", "stride"}, {"status"}),
    "instance": ({"device", "function", "device_id"}, {"label", "status"}),
    "instance with base": ({"base"}, {"label", "status", "control"}),
    "register": ({"name", "role", "width", "source", "fields"},
                 {"offset", "offsets", "space", "count", "stride", "first", "index", "overlay",
                  "event"}),
    "field": ({"name", "bits", "access"}, {"reset", "must", "role", "enabled", "desc"}),
    "setting": ({"register", "field", "value"}, set()),
    "modifier": ({"field"}, {"register", "name", "counters", "set", "any_of", "needs"}),
    "mnemonic": ({"name", "value"}, {"desc"}),
    "event": ({"name", "code", "counters", "max_increment", "model", "desc", "source"},
              {"ext", "combine", "umasks", "filters", "model_note", "signal", "measure", "select",
               "select_arg", "facets", "umask", "attributes", "settings", "alias"}),
    "unit mask": ({"name"}, {"bits", "alone", "group", "needs", "filters", "settings", "given",
                             "model", "desc", "source"}),
    "metric": ({"name", "equation", "unit", "desc", "source"}, {"unresolved"}),
}
NUMBERS = {"base", "stride", "count", "device", "function", "device_id", "counters",
           "counter_width", "offset", "width", "reset", "must", "value", "code", "max_increment",
           "select_arg", "umask", "index", "first", "own", "size", "enabled", "control", "copies"}
# "counters" of a box is a number, else a list; the value of a setting may be the event's code or a
# copy.
NOT_NUMBERS = {"event": {"counters"}, "modifier": {"counters"}, "setting": {"value"}}


class Findings(list):
    """Lines of the form PLACE: what is wrong."""

    def add(self, place, text):
        self.append(f"{place}: {text}")


def number(value):
    return int(value, 0) if isinstance(value, str) else value


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def entry(findings, place, kind, given):
    """A copy of @given with its numbers read, or None where a needed key is missing."""
    needed, allowed = KEYS[kind]
    for key in given.keys() - needed - allowed:
        findings.add(place, f"unknown key \"{key}\" in {kind}")
    missing = [key for key in sorted(needed) if given.get(key) in (None, "")]
    for key in missing:
        findings.add(place, f"{kind} without {key}")
    result = dict(given)
    for key in (given.keys() & NUMBERS) - NOT_NUMBERS.get(kind, set()):
        try:
            result[key] = number(given[key])
        except ValueError:
            findings.add(place, f"{key} \"{given[key]}\" is no number")
            missing.append(key)
    return None if missing else result


def bit_range(text):
    match = re.fullmatch(r"(\d+)(?::(\d+))?", str(text))
    if not match:
        return None
    high = int(match[1])
    return high, int(match[2]) if match[2] else high


def counter_list(text):
    """Counters named by "0-3" or "0,2", or None."""
    counters = set()
    for part in str(text).split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if match:
            counters |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
        elif part.strip():
            return None
    return counters


def read_fields(findings, place, given):
    fields = []
    for f in given:
        field = entry(findings, f"{place}.{f.get('name')}", "field", f)
        if not field:
            continue
        bits = bit_range(field["bits"])
        if not bits:
            findings.add(f"{place}.{field['name']}", f"bits \"{field['bits']}\" are no HIGH:LOW")
            continue
        field["hi"], field["lo"] = bits
        fields.append(field)
    return fields


def read_offsets(findings, place, register):
    """The offset, or one for each instance; both keys are there afterwards."""
    try:
        offsets = [number(o) for o in register.get("offsets", [])]
    except ValueError:
        offsets = []
    if ("offset" in register) == bool(offsets):
        findings.add(place, "register needs an offset, or offsets that are numbers")
    register["offsets"] = offsets
    register.setdefault("offset", 0)


def read_registers(findings, place, given):
    registers = []
    for r in given:
        where = f"{place}.{r.get('name')}"
        register = entry(findings, where, "register", r)
        if not register:
            continue
        read_offsets(findings, where, register)
        register["fields"] = read_fields(findings, where, register["fields"])
        if "count" not in register:
            registers.append({"index": 0, **register})
            continue
        if "{i}" not in register["name"] or "stride" not in register:
            findings.add(where, "a row of registers needs {i} in its name and a stride")
            continue
        for i in range(register["count"]):
            number_in_name = str(register.get("first", 0) + i)
            registers.append({**register,
                              "name": register["name"].replace("{i}", number_in_name),
                              "offset": register["offset"] + i * register["stride"],
                              "offsets": [o + i * register["stride"]
                                          for o in register["offsets"]],
                              "index": i if register["role"] in COUNTER_ROLES else 0})
    return registers


def read_instances(findings, place, space, given):
    if isinstance(given, dict):
        row = entry(findings, place, "row of instances", given)
        if not row:
            return []
        status = row.get("status", [])
        if status and len(status) != row["count"]:
            findings.add(place, f"{len(status)} status fields for {row['count']} instances")
            return []
        return [{"base": row["base"] + i * row["stride"], "device_id": 0, "label": "",
                 "status": status[i] if status else None} for i in range(row["count"])]
    instances = []
    for i in given:
        if "base" in i:
            instance = entry(findings, place, "instance with base", i)
            if instance:
                instances.append({"device_id": 0, "label": "", "status": None, **instance})
            continue
        instance = entry(findings, place, "instance", i)
        if instance:
            instances.append({"base": instance["device"] << 15 | instance["function"] << 12,
                              "device_id": instance["device_id"],
                              "label": instance.get("label", ""),
                              "status": instance.get("status")})
    if space != "pci" and any("device" in i for i in given):
        findings.add(place, f"devices and functions in {space} space")
    return instances


def read_settings(findings, place, owner):
    return [s for s in (entry(findings, place, "setting", g) for g in owner.get("settings", []))
            if s]


def read_event(findings, place, defaults, given):
    event = entry(findings, place, "event", {**defaults, **given})
    if not event:
        return None
    event["counter_set"] = counter_list(event["counters"])
    event["settings"] = read_settings(findings, place, event)
    umasks = []
    for u in event.get("umasks", []):
        umask = entry(findings, f"{place}.{u.get('name')}", "unit mask", u)
        if umask:
            umask["settings"] = read_settings(findings, f"{place}.{u['name']}", umask)
            umask["given"] = {name: number(value)
                              for name, value in umask.get("given", {}).items()}
            umasks.append(umask)
    event["umasks"] = umasks
    return event


def read_modifiers(findings, place, given):
    modifiers = []
    for m in given:
        modifier = entry(findings, f"{place}.{m.get('field')}", "modifier", m)
        if modifier:
            counters = counter_list(modifier.get("counters", ""))
            if counters is None:
                findings.add(place, f"counters \"{modifier['counters']}\" are no list such as 0-3")
            modifiers.append({"name": modifier["field"], **modifier,
                              "counter_set": counters or set()})
    return modifiers


def read_mnemonics(findings, place, given):
    """By the name of a modifier or field; "a,b" gives both the same mnemonics."""
    mnemonics = {}
    for names, rows in given.items():
        read = [m for m in (entry(findings, f"{place}.{names}", "mnemonic", r) for r in rows) if m]
        for name in names.split(","):
            mnemonics[name] = read
    return mnemonics


def expand_settings(findings, box, common):
    """Replaces the settings of events and unit masks by (register, field, value, copy)."""
    for event in box["events"]:
        event["presets"] = presets(findings, box, event, common + event["settings"])
        for n, umask in enumerate(event["umasks"]):
            umask["presets"] = presets(findings, box, event, umask["settings"])
            if "bits" not in umask:
                umask["value"] = n


def presets(findings, box, event, settings):
    """One for each copy where {s} is in the names, or the value is 1<<s; else one for all."""
    result = []
    for s in settings:
        each = "{s}" in s["register"] + s["field"] or s["value"] == "1<<s"
        for copy in range(box.get("copies", 1)) if each else [None]:
            known = {"code": event["code"], "1<<s": 1 << (copy or 0)}
            try:
                value = known[s["value"]] if s["value"] in known else number(s["value"])
            except ValueError:
                findings.add(f"{box['box']}.{event['name']}",
                             f"setting \"{s['value']}\" is no number")
                continue
            result.append({"register": s["register"].replace("{s}", str(copy)),
                           "field": s["field"].replace("{s}", str(copy)),
                           "value": value, "copy": copy})
    return result


def read_box(findings, path):
    place = path.stem
    box = entry(findings, place, "box", load(path))
    if not box:
        return None
    box["registers"] = read_registers(findings, place, box["registers"])
    box["instances"] = read_instances(findings, place, box["space"], box["instances"])
    box["modifiers"] = read_modifiers(findings, place, box.get("modifiers", []))
    box["mnemonics"] = read_mnemonics(findings, place, box.get("mnemonics", {}))
    defaults = box.get("defaults", {})
    box["events"] = [e for e in (read_event(findings, f"{place}.{g.get('name')}", defaults, g)
                                 for g in box.get("events", [])) if e]
    box["metrics"] = [m for m in (entry(findings, f"{place}.{g.get('name')}", "metric", g)
                                  for g in box.get("metrics", [])) if m]
    expand_settings(findings, box, read_settings(findings, place, box))
    box.setdefault("counters", 0)
    box.setdefault("counter_width", 0)
    return box


def read_pmu(findings, folder):
    folder = Path(folder)
    pmu = entry(findings, folder.name, "pmu", load(folder / "pmu.json"))
    if not pmu:
        return None
    pmu["window"] = entry(findings, folder.name, "window",
                          pmu.get("window", {"own": 0, "first": 0, "size": 0}))
    names = pmu["boxes"]
    pmu["boxes"] = []
    for name in names:
        path = folder / f"{name}.json"
        if not path.exists():
            findings.add(folder.name, f"no file {path.name} for box {name}")
            continue
        box = read_box(findings, path)
        if not box:
            continue
        if box["box"] != name:
            findings.add(name, f"box is named \"{box['box']}\"")
        pmu["boxes"].append(box)
    return pmu
