"""Reads catalog/PMU/*.json into plain values: numbers as int, counter arrays expanded.

What cannot be read is a finding; checking what was read is check.py's.
"""
import json
import re
from pathlib import Path

from .roles import give_instances, give_roles
from .schema import NAME_MAX, fault, kind_of, number

PLACE_MAX, TEXT_MAX = 100, 300  # characters of a finding
QUOTED_MAX = 60  # characters of a value in it
FILE_MAX = 4 << 20  # bytes
BOX_FILE = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,{NAME_MAX - 1}}}")
COUNTER_ROLES = ("counter", "counter_alias", "counter_ctl", "fixed_counter")

RULES = ("running", "overflow", "halves", "absent", "sets", "captures", "trace", "filter_after",
         "global_freeze")
# Keys of each kind of entry: those that must be there, those that may.
KEYS = {
    "rules": (set(), set(RULES)),
    "pmu": ({"name", "title", "source", "boxes", "sequence"}, 
            {"cpus", "qualified", "window", "rules"}),
    "sequence": ({"source", "steps"}, set()),
    "cpu": ({"family", "model", "source"}, set()),
    "window": ({"own", "first", "size"}, set()),
    "box": ({"box", "title", "source", "space", "clock", "instances", "registers"},
            {"counters", "counter_width", "quirks", "defaults", "modifiers", "mnemonics",
             "events", "metrics", "settings", "copies", "banks", "kernel", "kernel_events",
             "names", "renames", "records", "scope",
              "instance_names", "facts"}),
    "row of instances": ({"count", "base", "stride"}, {"status"}),
    "instance": ({"device", "function", "device_id"}, {"label", "status"}),
    "instance with base": ({"base"}, {"label", "status", "control", "first_counter"}),
    "register": ({"name", "role", "width", "source", "fields"},
                 {"offset", "offsets", "space", "count", "stride", "first", "index", "overlay",
                  "event", "signal", "instance_names", "perf", "model_note"}),
    "field": ({"name", "bits", "access"},
              {"reset", "must", "role", "counter", "enabled", "desc", "signal", "selects", "any"}),
    "setting": ({"register", "field", "value"}, {"bits"}),
    "modifier": ({"field"}, {"register", "name", "bits", "counters", "set", "any_of", "needs",
                             "attributes", "unless", "settings", "absent", "threshold",
                             "class"}),
    "mnemonic": ({"name", "value"}, {"class", "desc"}),
    "event": ({"name", "code", "counters", "max_increment", "model", "desc", "source"},
              {"ext", "combine", "umasks", "filters", "model_note", "signal", "measure", "select",
               "where", "per", "umask", "attributes", "settings", "alias", "set", "needs", "title",
                "category"}),
    "unit mask": ({"name"}, {"bits", "alone", "group", "needs", "filters", "uses", "settings",
                             "implied", "model", "signal", "qualifiers", "cycles", "narrows", "sum", "desc", "source"}),
    "instance names": ({"placeholder", "names"}, set()),
    "facts": ({"name", "title", "source", "columns", "rows"}, set()),
    "names": ({"source"}, {"intel", "perf", "likwid", "likwid_fixed", "libpfm4", "pcm"}),
    "bank": ({"group", "lead", "counters"}, {"shared"}),
    "metric": ({"name", "equation", "unit", "desc", "source"},
               {"unresolved", "several_sockets"}),
    "record": ({"name", "title", "source", "fields"},
               {"size", "when", "when_enabled", "kinds", "ring", "notes", "optional"}),
    "kind": ({"name", "desc"}, {"when", "captured", "youngest"}),
    "record field": ({"name", "value", "desc"},
                     {"type", "unit", "kinds", "of", "sign", "when", "least", "mnemonics",
                      "listed", "like", "role"}),
    "ring": ({"count", "first", "entry", "kinds", "fields"}, {"next", "last", "filled"}),
    "note": ({"when", "desc"}, {"kinds"}),
    "signals": ({"units", "states", "requests", "signals"}, {"messages"}),
    "word": ({"name", "desc"}, set()),
    "unit": ({"name", "clock", "desc"}, set()),
    "signal": ({"name", "unit", "kind", "qualifiers", "attributes", "desc"},
               {"default", "never", "several_sockets", "tlbs", "large_pages",
                "several_sockets_states", "requests", "states", "messages", "uarch", "rate", "timed"}),
    "bindings": ({"source"}, {"units", "filters", "selectors"}),
    "encoding": ({"attribute"},
                 {"codes", "set", "empty", "threads", "none", "bit", "from", "mask", "desc", "source"}),
}


class Findings(list):
    """Lines of the form FILE: PLACE: what is wrong."""

    file = "catalog"  # that is read or checked

    def add(self, place, text):
        self.append(f"{self.file}: {shown(str(place), PLACE_MAX)}: {shown(text, TEXT_MAX)}")


def shown(text, length):
    """Text for a line: cut, and of what cannot be printed, the code."""
    cut = text[:length] + ("..." if len(text) > length else "")
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)


def once(pairs):
    """The pairs as an entry; no key may stand there twice."""
    found = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"key \"{key}\" stands there twice")
        found[key] = value
    return found


def refuse_constant(text):
    raise ValueError(f"{text} is no number")


def load(findings, path, what):
    """The list or dict, as @what is, that a file holds; None, with a finding, where it does not."""
    findings.file = f"{path.parent.name}/{path.name}"
    try:
        if path.stat().st_size > FILE_MAX:
            raise ValueError(f"has more than {FILE_MAX} bytes")
        with open(path, encoding="utf-8") as file:
            value = json.load(file, object_pairs_hook=once, parse_constant=refuse_constant)
    except OSError as reason:
        findings.add("file", reason.strerror)
    except RecursionError:
        findings.add("file", "nested too deeply")
    except ValueError as reason:
        findings.add("file", str(reason))
    else:
        if isinstance(value, what):
            return value
        findings.add("file", f"holds no {'list' if what is list else 'entry'}")
    return None


def is_blank(value):
    return isinstance(value, str) and not value.strip()


def entry(findings, place, kind, given):
    """A copy of @given with its numbers read, or None where a needed key is missing."""
    needed, allowed = KEYS[kind]
    for key in sorted(given.keys() - needed - allowed):
        findings.add(place, f"unknown key \"{key}\" in {kind}")
    missing = [key for key in sorted(needed | (given.keys() & {"source"}))
               if given.get(key) is None or is_blank(given[key])]
    for key in missing:
        findings.add(place, f"{kind} without {key}")
    result = dict(given)
    for key in sorted((given.keys() & (needed | allowed)) - set(missing)):
        wrong = fault(kind, key, given[key])
        if wrong:
            findings.add(place, f"{key} {quoted(given[key])} {wrong}")
            missing.append(key)
        elif kind_of(kind, key) == "number":
            result[key] = number(given[key])
    return None if missing else result


def quoted(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return f"\"{text[:QUOTED_MAX]}{'...' if len(text) > QUOTED_MAX else ''}\""


def bit_range(text):
    match = re.fullmatch(r"([0-9]{1,3})(?::([0-9]{1,3}))?", str(text))
    if not match:
        return None
    high = int(match[1])
    return high, int(match[2]) if match[2] else high


def counter_list(text):
    """Counters named by "0-3" or "0,2", or None."""
    counters = set()
    for part in str(text).split(","):
        match = re.fullmatch(r"([0-9]{1,3})(?:-([0-9]{1,3}))?", part.strip())
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
    offsets = [number(o) for o in register.get("offsets", [])]
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
                              "number": register.get("first", 0) + i,
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


def read_set(findings, place, given):
    """("L1D", 3) of "L1D 3"; ("", 0) of None."""
    match = re.fullmatch(r"(\w+) ([0-9]{1,2})", given or " 0")
    if given and not match:
        findings.add(place, f"set \"{given}\" is no GROUP NUMBER")
    return (match[1], int(match[2])) if match else ("", 0)


def read_banks(findings, place, given):
    banks = [b for b in (entry(findings, place, "bank", g) for g in given) if b]
    for bank in banks:
        bank["counter_set"] = counter_list(bank["counters"]) or set()
    return banks


def read_event(findings, place, defaults, given):
    event = entry(findings, place, "event", {**defaults, **given})
    if not event:
        return None
    event["counter_set"] = counter_list(event["counters"])
    event["settings"] = read_settings(findings, place, event)
    event["set_group"], event["set_number"] = read_set(findings, place, event.get("set"))
    umasks = []
    for u in event.get("umasks", []):
        umask = entry(findings, f"{place}.{u.get('name')}", "unit mask", u)
        if umask:
            umask["settings"] = read_settings(findings, f"{place}.{u['name']}", umask)
            umask["implied"] = {name: number(value)
                                for name, value in umask.get("implied", {}).items()}
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
                              "settings": read_settings(findings, place, modifier),
                              "counter_set": counters or set()})
    return modifiers


def is_for(modifier, event):
    """Whether the event looks at a modifier that goes by attributes."""
    attributes = set(event.get("attributes", []))
    return ("attributes" not in modifier or attributes & set(modifier["attributes"])) and \
        not attributes & set(modifier.get("unless", []))


def add_filters(box):
    """Events list the modifiers that their attributes give them."""
    chosen = [m for m in box["modifiers"] if "attributes" in m or "unless" in m]
    for event in box["events"] if chosen else []:
        event["filters"] = event.get("filters", []) + [m["name"] for m in chosen
                                                       if is_for(m, event)]


def read_mnemonics(findings, place, given):
    """By the name of a modifier or field; "a,b" gives both the same mnemonics."""
    mnemonics = {}
    for names, rows in given.items():
        read = [m for m in (entry(findings, f"{place}.{names}", "mnemonic", r) for r in rows) if m]
        for name in names.split(","):
            mnemonics[name] = read
    return mnemonics


def expand_settings(findings, box, common):
    """Replaces settings, wherever they stand, by (register, field, value, copy)."""
    for modifier in box["modifiers"]:
        modifier["fixed_fields"] = fixed_fields(findings, box, {"name": modifier["name"], "code": None},
                                      modifier["settings"])
    for event in box["events"]:
        event["fixed_fields"] = fixed_fields(findings, box, event, common + event["settings"])
        for n, umask in enumerate(event["umasks"]):
            umask["fixed_fields"] = fixed_fields(findings, box, event, umask["settings"])
            if "bits" not in umask:
                umask["value"] = n


def fixed_fields(findings, box, event, settings):
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
                           "value": value, "copy": copy, "bits": s.get("bits"),
                           "one_bit": s["value"] == "1<<s"})
    return result


def read_box(findings, path):
    place = path.stem
    given = load(findings, path, dict)
    box = given and entry(findings, place, "box", given)
    if not box:
        return None
    box["file"] = findings.file
    box["registers"] = read_registers(findings, place, box["registers"])
    box["instances"] = read_instances(findings, place, box["space"], box["instances"])
    box["modifiers"] = read_modifiers(findings, place, box.get("modifiers", []))
    box["banks"] = read_banks(findings, place, box.get("banks", []))
    box["mnemonics"] = read_mnemonics(findings, place, box.get("mnemonics", {}))
    defaults = box.get("defaults", {})
    box["events"] = [e for e in (read_event(findings, f"{place}.{g.get('name')}", defaults, g)
                                 for g in box.get("events", [])) if e]
    box["metrics"] = [m for m in (entry(findings, f"{place}.{g.get('name')}", "metric", g)
                                  for g in box.get("metrics", [])) if m]
    box["facts"] = [f for f in (entry(findings, f"{place}.{g.get('name')}", "facts", g)
                                for g in box.get("facts", [])) if f]
    if "names" in box:
        box["names"] = entry(findings, place, "names", box["names"])
    if "instance_names" in box:
        box["instance_names"] = entry(findings, place, "instance names", box["instance_names"])
    give_roles(box)
    add_filters(box)
    expand_settings(findings, box, read_settings(findings, place, box))
    box.setdefault("counters", 0)
    box.setdefault("counter_width", 0)
    return box


def read_pmu(findings, folder):
    folder = Path(folder)
    given = load(findings, folder / "pmu.json", dict)
    pmu = given and entry(findings, folder.name, "pmu", given)
    if not pmu:
        return None
    pmu["file"] = findings.file
    pmu["window"] = entry(findings, folder.name, "window",
                          pmu.get("window", {"own": 0, "first": 0, "size": 0}))
    pmu["sequence"] = entry(findings, folder.name, "sequence", pmu["sequence"]) or {"steps": []}
    pmu["rules"] = entry(findings, folder.name, "rules", pmu.get("rules", {}))
    pmu["cpus"] = [c for c in (entry(findings, folder.name, "cpu", cpu)
                               for cpu in pmu.get("cpus", [])) if c]
    names = pmu["boxes"]
    pmu["boxes"] = []
    for name in names:
        path = folder / f"{name}.json"
        findings.file = pmu["file"]
        if not BOX_FILE.fullmatch(name) or not path.exists():
            findings.add(folder.name, f"no file {name}.json for box {name}")
            continue
        box = read_box(findings, path)
        if not box:
            continue
        if box["box"] != name:
            findings.add(name, f"box is named \"{box['box']}\"")
        pmu["boxes"].append(box)
    give_instances(pmu["boxes"])
    return pmu
