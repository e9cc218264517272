"""What a catalog must hold to be true to itself. Each function adds its findings."""
import fnmatch
import re

from .bindings import check_bindings, check_event_rows
from .equation import check_metrics
from .read import bit_range
from .facts import check_facts, check_words
from .instances import check_instance_names
from .limits import check_limits
from .roles import STATUS_ROLES, check_roles, roles_in
from .signals import CLOCKS

ROLES = {"counter", "counter_ctl", "fixed_counter", "fixed_ctl", "box_ctl", "box_status", "filter",
         "global_ctl", "global_status", "global_config", "discovery", "free_counter", "select",
         "sub_counter", "match", "capture_ctl", "capture", "global_clear", "sampling", "counter_alias",
         "prefetch_ctl"}
SPACES = {"msr", "pci", "mmio", "pmc", "pmd", "ibr", "dbr"}
TOOLS = ("perf", "likwid", "libpfm4", "pcm")
SPACES_OF_BYTES = {"pci", "mmio"}
ACCESSES = {"RO", "RW", "RW-V", "RWS", "WO", "RW1C", "RV", "IG"}
MODELS = {"exact", "approximate", "never", "absent"}
UNMODELLED = {"never", "absent"}
MEASURES = {"clock", "count", "occupancy", "nonempty", "counter0", "watermark"}
MEASURES_OF_SIGNALS = {"count", "occupancy", "nonempty", "watermark"}
COMBINES = {"or", "one", "group"}
QUIRKS = {"control_twice", "rst_stays", "occ_controls", "sign_extends", "faults", "freeze_pulses"}
SCOPES = {"socket", "core"}
STEPS = ("freeze", "reset", "clear_overflow", "filters", "counters", "controls", "clear_global",
         "unfreeze_boxes", "unfreeze")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
UMASK_NAME = re.compile(r"[A-Za-z0-9_]*[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
PMU_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
MNEMONIC = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
RESERVED_NAMES = {"rsv", "ig"}
# Registers that hold what events are matched against, beside those of counters.
FILTER_ROLES = {"filter", "match", "capture_ctl", "box_ctl"}
MODIFIERS_MAX = 64  # bits of struct pmu_modifier.mode_group


def value_count(field):
    """How many values a field has; one whose bits are turned round has been found elsewhere."""
    return 1 << max(field["hi"] - field["lo"] + 1, 0)


def duplicates(names):
    """Names that stand there more than once, without regard to case."""
    seen = set()
    for name in names:
        key = name.lower()
        if key in seen:
            yield name
        seen.add(key)


def check_unique(findings, place, what, names):
    for name in duplicates(names):
        findings.add(place, f"{what} {name} stands there twice")


def check_name(findings, place, what, name, pattern=NAME):
    if not pattern.fullmatch(name):
        findings.add(place, f"\"{name}\" cannot be the name of a {what}")


def check_choice(findings, place, what, value, choices):
    if value not in choices:
        findings.add(place, f"unknown {what} \"{value}\"")


# Registers

def check_fields(findings, place, register):
    width = register["width"]
    covered = 0
    expected = width - 1
    for f in register["fields"]:
        where = f"{place}.{f['name']}"
        check_choice(findings, where, "access", f["access"], ACCESSES)
        if f["lo"] > f["hi"] or f["hi"] >= width:
            findings.add(where, f"bits {f['bits']} are outside of {width} bits")
            continue
        mask = (1 << f["hi"] + 1) - (1 << f["lo"])
        if covered & mask:
            findings.add(where, f"bits {f['bits']} overlap another field")
        elif f["hi"] > expected:
            findings.add(where, "fields do not stand from the top bit down")
        covered |= mask
        expected = f["lo"] - 1
        reset = f.get("reset", 0)
        if not 0 <= reset < value_count(f):
            findings.add(where, f"reset {reset:#x} does not fit bits {f['bits']}")
        if not 0 <= f.get("enabled", 0) < value_count(f):
            findings.add(where, f"enabled {f['enabled']:#x} does not fit bits {f['bits']}")
        if f.get("must", 0) not in (0, 1):
            findings.add(where, "must is neither 0 nor 1")
    missing = [bit for bit in range(width) if not covered >> bit & 1]
    if missing:
        findings.add(place, "bits without a field: " + ", ".join(map(str, missing)))
    check_unique(findings, place, "field",
                 [f["name"] for f in register["fields"] if f["name"] not in RESERVED_NAMES])


def names_of_events(box):
    for event in box["events"]:
        yield event["name"]
        yield from (f"{event['name']}.{u['name']}" for u in event["umasks"])
    yield from (r.get("event", "clock") for r in box["registers"] if r["role"] == "fixed_counter")


def check_renames(findings, box):
    for row in box.get("renames", []):
        if len(row) != 3 or row[0] not in TOOLS:
            findings.add(box["box"], f"rename {row} is not [tool, name here, name there]")
        elif row[1].count("*") > 1 or (row[2] and row[1].count("*") != row[2].count("*")):
            findings.add(box["box"], f"rename {row} has not one * in both names, or none")
        elif not fnmatch.filter(names_of_events(box), row[1].partition(":")[0]):
            findings.add(box["box"], f"rename {row} is of no event")
        else:
            check_rename_fields(findings, box, row)


def check_rename_fields(findings, box, row):
    """A tool's name may be that of an event whose fields are set: EVENT:field=value."""
    modifiers = {m["name"] for m in box["modifiers"]}
    for field in row[1].split(":")[1:]:
        name, _, value = field.partition("=")
        if name not in modifiers or not re.fullmatch(r"0x[0-9a-f]+", value):
            findings.add(box["box"], f"rename {row}: {field} is not FIELD=0x..., with a field of the box")


def check_kernel_events(findings, box):
    """Terms name the code of an event; of a fixed counter the kernel's is 0xff."""
    codes = {e["code"] | bool(e.get("ext")) << 8 for e in box["events"]}
    for row in box.get("kernel_events", []):
        term = re.match(r"event=(0x[0-9a-f]+)(,umask=0x[0-9a-f]{2})?$", row[1]) if len(row) > 1 else None
        if len(row) not in (2, 4) or "kernel" not in box:
            findings.add(box["box"], f"kernel event {row} is not [name, terms] or [.., scale, unit]")
        elif not term or int(term[1], 0) not in codes | {0xff}:
            findings.add(box["box"], f"kernel event {row} is of no event")


def check_registers(findings, box):
    place = box["box"]
    check_unique(findings, place, "register", [r["name"] for r in box["registers"]])
    for r in box["registers"]:
        where = f"{place}.{r['name']}"
        check_choice(findings, where, "role", r["role"], ROLES)
        if r["width"] not in (32, 64):
            findings.add(where, f"width {r['width']} is neither 32 nor 64")
        else:
            check_fields(findings, where, r)
        check_choice(findings, where, "space", r.get("space", box["space"]), SPACES)
        if r["offsets"] and len(r["offsets"]) != len(box["instances"]):
            findings.add(where, f"{len(r['offsets'])} offsets for {len(box['instances'])} "
                                "instances")
    roles = ["counter"]
    if not selected_by_fields(box):
        roles.append("counter_ctl")
    for role in roles:
        have = sorted(r["index"] for r in box["registers"] if r["role"] == role)
        if have != list(range(box["counters"])):
            findings.add(place, f"{len(have)} registers of role {role} for {box['counters']} "
                                "counters")
    fixed = sorted(r["index"] for r in box["registers"] if r["role"] == "fixed_counter")
    if fixed != list(range(len(fixed))):
        findings.add(place, f"fixed counters are numbered {fixed}")
    if sum(r["role"] == "fixed_ctl" for r in box["registers"]) > 1:
        findings.add(place, "more than one fixed_ctl")


def selected_by_fields(box):
    """Whether one register selects the events of all counters: none has a control of its own."""
    return any(r["role"] == "select" for r in box["registers"])


def space_of(box, register):
    return register.get("space", box["space"])


def address_of(register, instance, number):
    offsets = register["offsets"]
    if not offsets:
        return instance["base"] + register["offset"]
    return instance["base"] + (offsets[number] if number < len(offsets) else 0)


def occupied(box, register, first):
    """Addresses that a register takes: one number, or its bytes."""
    in_bytes = space_of(box, register) in SPACES_OF_BYTES
    return range(first, first + (register["width"] // 8 if in_bytes else 1))


def check_addresses(findings, pmu):
    """No address has two registers, but instances may share one, as those of each core do, and
    layouts lie over others."""
    taken = {}
    for box in pmu["boxes"]:
        for n, instance in enumerate(box["instances"]):
            for register in box["registers"]:
                if register.get("overlay"):
                    continue
                shared = register["offsets"] or box.get("scope") == "core"
                name = f"{box['box']}{'' if shared else n}.{register['name']}"
                first = address_of(register, instance, n)
                others = {taken.setdefault((space_of(box, register), address), name)
                          for address in occupied(box, register, first)} - {name}
                if others:
                    findings.add(name, f"address {first:#x} is also that of "
                                       + ", ".join(sorted(others)))


def check_status_fields(findings, pmu):
    known = {f["name"] for box in pmu["boxes"] for r in box["registers"]
             if r["role"] in STATUS_ROLES for f in r["fields"]}
    for box in pmu["boxes"]:
        for instance in box["instances"]:
            if instance["status"] is not None and instance["status"] not in known:
                findings.add(box["box"], f"no global status field {instance['status']}")


# What a user may set

def field_of(registers, name):
    for register in registers:
        for f in register["fields"]:
            if f["name"].lower() == name.lower():
                return f
    return None


def part_of(field, bits):
    """The field, or those bits that are meant instead: a part of it, or its neighbours too."""
    found = bit_range(bits) if field and bits else None
    return {**field, "bits": bits, "hi": found[0], "lo": found[1]} if found else field


def modifier_field(box, modifier):
    if "register" in modifier:
        name = modifier["register"].replace("{s}", "0")
        registers = [r for r in box["registers"]
                     if r["name"] == name and r["role"] in FILTER_ROLES]
    else:
        registers = [r for r in box["registers"] if r["role"] == "counter_ctl"]
    return part_of(field_of(registers, modifier["field"]), modifier.get("bits"))


def is_filter(modifier):
    """Whether only events that list it look at it."""
    return bool({"register", "attributes", "unless"} & modifier.keys())


def filter_names(box):
    return {m["name"] for m in box["modifiers"] if is_filter(m)}


def check_modifier(findings, box, modifier):
    place = f"{box['box']}.{modifier['name']}"
    field = modifier_field(box, modifier)
    if not field:
        where = f"filter register {modifier['register']}" if "register" in modifier \
            else "counter control"
        findings.add(box["box"], f"modifier {modifier['field']} is no field of the {where}")
        return
    if "bits" in modifier and not bit_range(modifier["bits"]) or \
            not 0 <= field["lo"] <= field["hi"] < 64:
        findings.add(place, f"bits \"{modifier.get('bits', field['bits'])}\" are no HIGH:LOW")
    if "{s}" in modifier.get("register", ""):
        names = [r["name"] for r in box["registers"]]
        first = names.index(modifier["register"].replace("{s}", "0"))
        copies = [modifier["register"].replace("{s}", str(c)) for c in range(box.get("copies", 1))]
        if names[first:first + len(copies)] != copies:
            findings.add(place, "registers of the copies do not follow each other")
    check_fixed_fields(findings, place, box, modifier["fixed_fields"])


def check_classes(findings, box, modifier):
    """Each value has a class that the other modifier has a name for."""
    place = f"{box['box']}.{modifier['name']}"
    if not any(m["name"] == modifier["class"] for m in box["modifiers"]):
        findings.add(place, f"class {modifier['class']} is no modifier")
    classes = {m["name"] for m in box["mnemonics"].get(modifier["class"], [])}
    for m in box["mnemonics"].get(modifier["name"], []):
        if m.get("class") not in classes:
            findings.add(place, f"{m['name']} has no class that {modifier['class']} can take")


def check_modifiers(findings, box):
    place = box["box"]
    check_unique(findings, place, "modifier", [m["name"] for m in box["modifiers"]])
    if len(box["modifiers"]) > MODIFIERS_MAX:
        findings.add(place, f"more than {MODIFIERS_MAX} modifiers")
    for m in box["modifiers"]:
        check_modifier(findings, box, m)
        if "needs" in m and not any(o["name"] == m["needs"] for o in box["modifiers"]):
            findings.add(place, f"modifier {m['name']} needs {m['needs']}, which is none")
        if "absent" in m:
            check_choice(findings, f"{place}.{m['name']}", "absent", m["absent"], {"set", "clear"})
        if "class" in m:
            check_classes(findings, box, m)
    for field, mnemonics in box["mnemonics"].items():
        where = f"{place}.{field}"
        found = next((modifier_field(box, m) for m in box["modifiers"]
                      if m["name"].lower() == field.lower()), None)
        found = found or field_of(box["registers"], field)
        check_unique(findings, where, "mnemonic", [m["name"] for m in mnemonics])
        if not found:
            findings.add(where, "mnemonics for a field that is not there")
            continue
        for m in mnemonics:
            if not MNEMONIC.fullmatch(m["name"]):
                findings.add(where, f"\"{m['name']}\" cannot be the name of a mnemonic")
            if not 0 <= m["value"] < value_count(found):
                findings.add(where, f"{m['name']} = {m['value']:#x} does not fit {found['bits']}")


# Events

def check_filters(findings, place, box, names):
    for name in names:
        if name not in filter_names(box):
            findings.add(place, f"unknown filter {name}")


def check_fixed_fields(findings, place, box, settings):
    """Settings lie in registers other than counter controls, and fit their fields."""
    for s in settings:
        registers = [r for r in box["registers"]
                     if r["name"] == s["register"] and r["role"] != "counter_ctl"]
        whole = field_of(registers, s["field"])
        f = part_of(whole, s["bits"])
        if not f:
            findings.add(place, f"setting {s['register']}.{s['field']} is no field of the box")
        elif not whole["lo"] <= f["lo"] <= f["hi"] <= whole["hi"]:
            findings.add(place, f"bits {s['bits']} are not in {s['field']}")
        elif not 0 <= s["value"] < value_count(f):
            findings.add(place, f"setting {s['value']:#x} does not fit {s['field']}")


def check_implied(findings, place, box, given):
    for name, value in given.items():
        modifier = next((m for m in box["modifiers"] if m["name"] == name), None)
        field = modifier and modifier_field(box, modifier)
        if not field:
            findings.add(place, f"gives {name}, which is no modifier")
        elif not 0 <= value < value_count(field):
            findings.add(place, f"{name} = {value:#x} does not fit {field['bits']}")


def check_umasks(findings, place, box, event):
    check_unique(findings, place, "unit mask", [u["name"] for u in event["umasks"]])
    for u in event["umasks"]:
        where = f"{place}.{u['name']}"
        check_name(findings, where, "unit mask", u["name"], UMASK_NAME)
        check_filters(findings, where, box, u.get("filters", []) + u.get("uses", []))
        check_fixed_fields(findings, where, box, u["fixed_fields"])
        check_implied(findings, where, box, u["implied"])
        if u.get("model", "absent") not in UNMODELLED or u.get("model") == event["model"] or \
                "model" in u and event["model"] == "never":
            findings.add(where, "the model of a unit mask is \"never\", or \"absent\" in an event "
                                "that has one")
        if u.get("model") == "never" and event.get("combine") != "one":
            findings.add(where, "what cannot happen needs combine \"one\"")
        if "value" in u:
            if not u["fixed_fields"] or event.get("combine") != "one":
                findings.add(where, "a unit mask without bits needs settings and combine \"one\"")
        elif not re.fullmatch(r"b[01x]+", u["bits"]):
            findings.add(where, f"bits \"{u['bits']}\" are not made of 0, 1 and x")
        elif len(u["bits"]) != 9:
            findings.add(where, f"bits \"{u['bits']}\" are {len(u['bits']) - 1}, not 8")


def check_groups(findings, place, event):
    groups = {u.get("group") for u in event["umasks"]}
    if event.get("combine") == "group" and None in groups:
        findings.add(place, "a unit mask without a group")
    for u in event["umasks"]:
        if "needs" in u and u["needs"] not in groups - {u.get("group")}:
            findings.add(f"{place}.{u['name']}", f"needs \"{u['needs']}\", no other group")


def check_signal(findings, place, box, name, vocabulary):
    signal = vocabulary.signals.get(name)
    if not signal:
        findings.add(place, f"unknown signal \"{name}\"")
    elif signal["unit"] not in box["units"]:
        findings.add(place, f"signal {name} is of a {signal['unit']}, which {box['box']} is not")
    return signal


def check_cycles(findings, place, box, given, vocabulary):
    """A signal that tells cycles, and its qualifiers."""
    if not given:
        return
    signal = check_signal(findings, place, box, given[0], vocabulary)
    if signal and signal["kind"] not in ("cycles", "accumulator"):
        findings.add(place, f"signal {given[0]} does not tell cycles")
    for qualifier in given[1:]:
        if signal and qualifier not in signal["qualifiers"]:
            findings.add(place, f"its signal has no qualifier \"{qualifier}\"")


def check_umask_signals(findings, place, box, event, vocabulary):
    """With select "umask", and only with it, each unit mask has a signal, or is absent."""
    own = event.get("select") == "umask"
    if own and "signal" in event:
        findings.add(place, "signals of the event and of its unit masks")
    for u in event["umasks"]:
        where = f"{place}.{u['name']}"
        if own != ("signal" in u) and not (own and ("model" in u or ("cycles" in u and u["implied"]))):
            findings.add(where, "signal and select \"umask\" of a unit mask need each other")
        check_cycles(findings, where, box, own and u.get("cycles"), vocabulary)
        signal = "signal" in u and check_signal(findings, where, box, u["signal"], vocabulary)
        for qualifier in u.get("qualifiers", []):
            if not signal or qualifier not in signal["qualifiers"]:
                findings.add(where, f"its signal has no qualifier \"{qualifier}\"")


def check_selects(findings, place, field, signal):
    """Each list of what the bits of a field let pass is a first bit and qualifiers of the signal from there."""
    if ("selects" in field) != ("signal" in field) or ("any" in field and "selects" not in field):
        findings.add(place, "signal and selects need each other, and any needs them")
    last = field["hi"] - field["lo"]
    if "any" in field and field["any"] > last:
        findings.add(place, f"any {field['any']} is outside of the field")
    for first, *names in field.get("selects", []):
        if not first.isdecimal() or int(first) + len(names) - 1 > last:
            findings.add(place, f"selects from bit {first} on are outside of the field")
        for name in (n for either in names for n in either.split("|")):
            if name != "-" and not (signal and name in signal["qualifiers"]):
                findings.add(place, f"its signal has no qualifier \"{name}\"")


def check_register_signals(findings, box, vocabulary):
    for r in box["registers"]:
        for f in r["fields"]:
            where = f"{box['box']}.{r['name']}.{f['name']}"
            signal = "signal" in f and check_signal(findings, where, box, f["signal"], vocabulary)
            check_selects(findings, where, f, signal)
        where = f"{box['box']}.{r['name']}"
        if "model_note" in r and (r["role"] != "free_counter" or "signal" in r):
            findings.add(where, "a model_note is for a free_counter that no machine models")
        if "signal" not in r:
            continue
        if r["role"] not in ("fixed_counter", "free_counter", "sampling"):
            findings.add(where, f"a {r['role']} adds up no signal")
        signal = check_signal(findings, where, box, r["signal"], vocabulary)
        if signal and signal["kind"] != "accumulator":
            findings.add(where, f"signal {signal['name']} is no accumulator")


def check_model(findings, place, box, event, vocabulary):
    check_choice(findings, place, "model", event["model"], MODELS)
    kind = {"approximate": "an approximate event", "never": "an event that cannot happen",
            "absent": "an absent event"}.get(event["model"])
    if (event["model"] in ("approximate", "never") or
            any(u.get("model") == "never" for u in event["umasks"])) and not event.get("model_note"):
        findings.add(place, f"{kind or 'an exact event'} without model_note")
    if event["model"] in UNMODELLED:
        for key in ("signal", "measure", "select", "where"):
            if key in event:
                findings.add(place, f"{kind} with {key}")
        return
    check_choice(findings, place, "measure", event.get("measure"), MEASURES)
    signal = None
    if "signal" in event:
        signal = check_signal(findings, place, box, event["signal"], vocabulary)
    elif event.get("measure") in MEASURES_OF_SIGNALS and event.get("select") != "umask":
        findings.add(place, f"a modelled event ({event['measure']}) without a signal")
    if signal and signal["kind"] in ("pulse", "accumulator") and \
            event.get("measure") in ("occupancy", "nonempty"):
        findings.add(place, f"{event['measure']} of a {signal['kind']}")
    if signal and event.get("measure") == "watermark" and signal["kind"] != "level":
        findings.add(place, f"watermark of a {signal['kind']}")
    if event["umasks"] and event.get("select", "all") == "all" and signal:
        findings.add(place, "select \"all\" ignores the unit masks")
    check_event_rows(findings, place, box, event, signal, vocabulary)
    check_umask_signals(findings, place, box, event, vocabulary)


def check_banks(findings, box):
    place = box["box"]
    controls = [r for r in box["registers"] if r["role"] == "counter_ctl"]
    if box["banks"] and len(box["instances"]) != 1 and box.get("scope") != "core":
        findings.add(place, "banks of counters in a box with several instances")
    for bank in box["banks"]:
        if bank["lead"] not in bank["counter_set"]:
            findings.add(place, f"lead {bank['lead']} of {bank['group']} is not in its bank")
        if any(c >= box["counters"] for c in bank["counter_set"]):
            findings.add(place, f"bank {bank['counters']} of {box['counters']} counters")
        for name in bank.get("shared", []):
            if not field_of(controls, name):
                findings.add(place, f"the counter control has no field {name}")


def check_set(findings, place, box, event):
    """The banks of its group can have it on their leads."""
    leads = {b["lead"] for b in box["banks"] if b["group"] == event["set_group"]}
    if event["set_group"] and (not leads or leads - (event["counter_set"] or set())):
        findings.add(place, f"no bank of {event['set_group']} has a lead that can count it")


def check_event(findings, box, event, vocabulary):
    place = f"{box['box']}.{event['name']}"
    check_name(findings, place, "event", event["name"])
    if event["counter_set"] is None:
        findings.add(place, f"counters \"{event['counters']}\" are no list such as 0-3")
    elif not event["counter_set"]:
        findings.add(place, "no counter can count it")
    elif max(event["counter_set"]) >= box["counters"]:
        findings.add(place, f"counters {event['counters']} of {box['counters']}")
    check_fixed_fields(findings, place, box, event["fixed_fields"])
    ev_sel = next((roles_in(r).get(("event_select", 0)) for r in box["registers"]
                   if r["role"] == "counter_ctl"), None)
    if selected_by_fields(box):
        if not event["fixed_fields"]:
            findings.add(place, "no settings select it")
    elif not ev_sel:
        findings.add(place, "the counter control has no field ev_sel")
    elif not 0 <= event["code"] < value_count(ev_sel):
        findings.add(place, f"code {event['code']:#x} does not fit ev_sel")
    if not 0 <= event["max_increment"] < 1 << 16:
        findings.add(place, f"max_increment {event['max_increment']}")
    if not 0 <= event.get("umask", 0) < 1 << 8 or "umask" in event and event["umasks"]:
        findings.add(place, f"umask {event['umask']:#x} is too large, or beside unit masks")
    check_choice(findings, place, "combine", event.get("combine", "or"), COMBINES)
    check_filters(findings, place, box, event.get("filters", []))
    for name in event.get("needs", []):
        if name not in event.get("filters", []):
            findings.add(place, f"needs {name}, which is no filter of it")
    for attribute in event.get("attributes", []):
        if "," in attribute:
            findings.add(place, f"attribute \"{attribute}\" has the comma that parts them")
    check_umasks(findings, place, box, event)
    check_set(findings, place, box, event)
    check_groups(findings, place, event)
    check_model(findings, place, box, event, vocabulary)


def check_same_names(findings, box):
    """Events of one name stand together, differ in codes, counters or signals, and share no unit mask."""
    names = [e["name"].lower() for e in box["events"]]
    for n, name in enumerate(names):
        if name in names[:n] and name != names[n - 1]:
            findings.add(f"{box['box']}.{name}", "events of one name do not stand together")
    for name in set(duplicates(names)):
        same = [e for e in box["events"] if e["name"].lower() == name]
        check_unique(findings, f"{box['box']}.{name}", "unit mask",
                     [u["name"] for e in same for u in e["umasks"]])
        if not all(e["umasks"] for e in same) or \
                len({(e["code"], e["counters"], e.get("signal")) for e in same}) < len(same):
            findings.add(box["box"], f"event {same[-1]['name']} stands there twice")


def check_events(findings, box, vocabulary):
    place = box["box"]
    check_same_names(findings, box)
    codes = {}
    for e in box["events"]:
        selecting = (e["code"], bool(e.get("ext")),
                     str(e["fixed_fields"] + [p for u in e["umasks"] for p in u["fixed_fields"]]))
        other = codes.setdefault(selecting, e["name"])
        if other != e["name"] and other != e.get("alias"):
            findings.add(f"{place}.{e['name']}", f"code {e['code']:#x} is also that of {other}")
        check_event(findings, box, e, vocabulary)


def check_box(findings, box, vocabulary):
    place = box["box"]
    check_name(findings, place, "box", place)
    if place[-1].isdigit():
        findings.add(place, "the name of a box ends in a digit, as if it were an instance")
    check_choice(findings, place, "space", box["space"], SPACES)
    check_choice(findings, place, "clock", box["clock"], CLOCKS)
    check_choice(findings, place, "scope", box.get("scope", "socket"), SCOPES)
    for quirk in box.get("quirks", []):
        check_choice(findings, place, "quirk", quirk, QUIRKS)
    if not box["instances"]:
        findings.add(place, "no instances")
    check_registers(findings, box)
    check_renames(findings, box)
    check_kernel_events(findings, box)
    check_roles(findings, box)
    check_register_signals(findings, box, vocabulary)
    check_modifiers(findings, box)
    check_banks(findings, box)
    check_events(findings, box, vocabulary)
    check_unique(findings, place, "metric", [m["name"] for m in box["metrics"]])


def check_sequence(findings, pmu):
    """What starts counting: nothing counts while it is made, and everything does at the end."""
    steps = pmu["sequence"]["steps"]
    check_unique(findings, pmu["name"], "step", steps)
    for step in steps:
        check_choice(findings, pmu["name"], "step", step, STEPS)
    if [step for step in steps[:2] if step != "reset"][:1] != ["freeze"] or steps[-1:] != ["unfreeze"]:
        findings.add(pmu["name"], "a sequence begins with freeze, or a reset before it, and ends with unfreeze")


def check_pmu(findings, pmu, vocabulary):
    boxes = [box["box"] for box in pmu["boxes"]]
    findings.file = pmu["file"]
    check_name(findings, pmu["name"], "PMU", pmu["name"], PMU_NAME)
    if not boxes:
        findings.add(pmu["name"], "no boxes")
    check_unique(findings, pmu["name"], "box", boxes)
    check_sequence(findings, pmu)
    check_addresses(findings, pmu)
    check_status_fields(findings, pmu)
    check_bindings(findings, pmu, vocabulary)
    for box in pmu["boxes"]:
        findings.file = box["file"]
        check_box(findings, box, vocabulary)
        check_limits(findings, box)
        check_instance_names(findings, box)
        check_facts(findings, box)
        check_words(findings, box)
        for event in box["events"]:
            if event["name"].lower() in boxes:
                findings.add(f"{box['box']}.{event['name']}", "the name is also that of a box")
    check_metrics(findings, pmu)
