"""What must hold of a catalog that the generator accepts, found out on a way of its own.

Reads the JSON values, not what the generator made of them, and shares no code with it.
"""
import re

TERMS = {"INSTANCES", "SAMPLE_INTERVAL", "TOTAL_INTERVAL", "TSC_SPEED", "CPU_SPEED", "UNCORE_FREQUENCY",
         "GB_CONVERSION", "TOTAL_PROC_CYC", "TOTAL_CORE_CYCLES", "QPI_LINKS", "IMC_CHANNELS",
         "INST_RETIRED", "ALL", "with", "my_node", "other_nodes"}
WORD = re.compile(r"0[xX][0-9A-Fa-f]+|\d+|[A-Za-z_][A-Za-z0-9_]*")


def integer(value):
    return value if isinstance(value, int) else int(value, 0)


def bits(field):
    high, _, low = str(field["bits"]).partition(":")
    return set(range(int(low or high), int(high) + 1))


def numbered(register, i):
    return register["name"].replace("{i}", str(integer(register.get("first", 0)) + i))


def rows(box):
    """(name, register, number in its row, where a row begins) of every register."""
    for register in box["registers"]:
        if "count" not in register:
            yield register["name"], register, 0
        else:
            for i in range(integer(register["count"])):
                yield numbered(register, i), register, i


def bases(box):
    instances = box["instances"]
    if isinstance(instances, dict):
        return [integer(instances["base"]) + i * integer(instances["stride"])
                for i in range(integer(instances["count"]))]
    return [integer(i["base"]) if "base" in i else
            integer(i["device"]) * 0x8000 + integer(i["function"]) * 0x1000 for i in instances]


def address(register, i, base, instance):
    start = register["offsets"][instance] if "offsets" in register else register["offset"]
    return base + integer(start) + i * integer(register.get("stride", 0))


def field_faults(box):
    for register in box["registers"]:
        width = integer(register["width"])
        seen = set()
        for field in register["fields"]:
            mine = bits(field)
            if not mine or mine & seen or max(mine) >= width:
                yield f"{register['name']}.{field['name']} overlaps, is empty or outside"
            seen |= mine
            for key in ("reset", "enabled"):
                if not 0 <= integer(field.get(key, 0)) < 1 << len(mine):
                    yield f"{register['name']}.{field['name']}: {key} does not fit"
        if len(seen) != width:
            yield f"{register['name']} has bits without a field"


def address_faults(pmu, boxes):
    taken = {}
    for box in boxes:
        for instance, base in enumerate(bases(box)):
            for name, register, i in rows(box):
                if register.get("overlay"):
                    continue
                space = register.get("space", box["space"])
                shared = "offsets" in register or box.get("scope") == "core"
                owner = (box["box"], name, None if shared else instance)
                first = address(register, i, base, instance)
                count = integer(register["width"]) // 8 if space in ("pci", "mmio") else 1
                for at in range(first, first + count):
                    if taken.setdefault((space, at), owner) != owner:
                        yield f"{pmu['name']}: {owner} and {taken[space, at]} at {at:#x}"
                if not 0 <= first < 1 << 32:
                    yield f"{owner} at {first:#x}"


def code_width(box):
    for register in box["registers"]:
        if register["role"] == "counter_ctl":
            for field in register["fields"]:
                if field.get("role") == "ev_sel":
                    return len(bits(field))
            for field in register["fields"]:
                if field["name"].lower() == "ev_sel":
                    return len(bits(field))
    return 16


def settings_of(entry):
    return [(s["register"], s["field"], s.get("bits"), str(s["value"]))
            for s in entry.get("settings", [])]


def event_faults(box):
    taken, names, masks = {}, {}, set()
    for event in box.get("events", []):
        event = {**box.get("defaults", {}), **event}
        name, code = event["name"], integer(event["code"])
        selects = (code, bool(event.get("ext")), str(settings_of(event)),
                   str([settings_of(u) for u in event.get("umasks", [])]))
        other = taken.setdefault(selects, name)
        if other != name and event.get("alias") != other:
            yield f"{name} is selected as {other} is"
        counted = (code, str(event.get("counters")), event.get("signal"))
        if counted in names.setdefault(name.lower(), []):
            yield f"{name} stands there twice with code {code:#x}, the same counters and signal"
        names[name.lower()].append(counted)
        if code >> code_width(box):
            yield f"{name}: code {code:#x} is too wide"
        if not event.get("source"):
            yield f"{name} has no source"
        for umask in event.get("umasks", []):
            mask = (name.lower(), umask["name"].lower())
            if mask in masks:
                yield f"{name} has unit mask {umask['name']} twice"
            masks.add(mask)
        for umask in event.get("umasks", []):
            if not re.fullmatch("b[01x]{8}", umask.get("bits", "b00000000")):
                yield f"{name}.{umask['name']}: {umask['bits']}"
        counters = str(event["counters"]).replace("-", ",").split(",")
        if max(int(c) for c in counters if c.strip()) >= integer(box.get("counters", 0)):
            yield f"{name} on counters that are not there"


def known_words(boxes):
    """All words that may stand in an equation, in lower case; patterns for RANKx and the like."""
    words = {t.lower() for t in TERMS}
    for box in boxes:
        words.add(box["box"].lower())
        for name, register, _ in rows(box):
            words.add(name.lower())
            parts = name.lower().split("_")
            words |= {"_".join(parts[n:-1]) for n in range(len(parts))}
            words |= set(register.get("event", "").lower().split("."))
            words |= {f["name"].lower() for f in register["fields"]}
        for entry in [*box.get("events", []), *box.get("metrics", []), *box.get("modifiers", [])]:
            words |= {entry.get("name", "").lower(), entry.get("field", "").lower()}
            words |= {w for u in entry.get("umasks", []) for w in u["name"].lower().split(".")}
            words |= {w for u in entry.get("unresolved", []) for w in u.lower().split(".")}
        for mnemonics in box.get("mnemonics", {}).values():
            words |= {w for m in mnemonics for w in m["name"].lower().split(".")}
    return words


def metric_faults(boxes):
    words = known_words(boxes)
    for box in boxes:
        for metric in box.get("metrics", []):
            for word in WORD.findall(metric["equation"]):
                stem = re.escape(word[:-1].lower())
                if not (word[0].isdigit() or word.lower() in words or word[-1].islower() and
                        any(re.fullmatch(stem + r"\d+", known) for known in words)):
                    yield f"{metric['name']}: {word} is nothing"


def source_faults(box):
    for entry in [box, *box["registers"], *box.get("events", []), *box.get("metrics", [])]:
        entry = {**box.get("defaults", {}), **entry} if "code" in entry else entry
        if not entry.get("source"):
            yield f"{entry.get('name', box['box'])} has no source"


def pmu_faults(pmu, boxes):
    found = [*address_faults(pmu, boxes), *metric_faults(boxes)]
    for box in boxes:
        found += [f"{box['box']}: {fault}" for fault in
                  [*field_faults(box), *event_faults(box), *source_faults(box)]]
    return found


def table_faults(boxes, tables):
    """As many events, unit masks and registers in the tables as in the files."""
    found = []
    for kind, count in (
            ("register", sum(1 for box in boxes for _ in rows(box))),
            ("event", sum(len(box.get("events", [])) for box in boxes)),
            ("umask", sum(len(e.get("umasks", box.get("defaults", {}).get("umasks", [])))
                          for box in boxes for e in box.get("events", []))),
            ("metric", sum(len(box.get("metrics", [])) for box in boxes))):
        printed = 0
        for array in re.findall(rf"struct pmu_{kind} \w+\[\] = {{\n(.*?)\n}};", tables, re.S):
            printed += array.count("\n") + 1
        if printed != count:
            found.append(f"{printed} rows of pmu_{kind}, {count} in the files")
    return found
