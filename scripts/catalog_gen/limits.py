"""What the code that uses the tables relies on, and the files alone would not have to hold to."""
import re

INSTANCES_MAX = 32  # bits of struct pmu_part.instances
MODIFIERS_MAX = 64  # bits of struct pmu_modifier.mode_group
ADDRESS_END = 1 << 32
COUNTED_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def check_names(findings, box):
    place = box["box"]
    names = [("register", r["name"]) for r in box["registers"]]
    names += [("field", f["name"]) for r in box["registers"] for f in r["fields"]]
    names += [("modifier", m["name"]) for m in box["modifiers"]]
    names += [("metric", m["name"]) for m in box["metrics"]]
    for what, name in dict.fromkeys(names):
        if not NAME.fullmatch(name):
            findings.add(place, f"\"{name}\" cannot be the name of a {what}")
    for register in box["registers"]:
        if "event" in register and not COUNTED_NAME.fullmatch(register["event"]):
            findings.add(f"{place}.{register['name']}",
                         f"\"{register['event']}\" cannot be the name of an event")


def check_lists(findings, box):
    """No word of a list stands there twice."""
    entries = [(box["box"], box)]
    for e in box["events"]:
        entries.append((f"{box['box']}.{e['name']}", e))
        entries += [(f"{box['box']}.{e['name']}.{u['name']}", u) for u in e["umasks"]]
    for place, e in entries:
        for key in ("quirks", "filters", "attributes"):
            words = e.get(key, [])
            if len(set(words)) < len(words):
                findings.add(place, f"a word of {key} stands there twice")


def check_fixed_fields(findings, box):
    """No setting of a field beside another one."""
    for e in box["events"]:
        for owner in [e, *e["umasks"]]:
            places = [(p["register"], p["field"].lower(), p["bits"], p["copy"])
                      for p in owner["fixed_fields"]]
            if len(set(places)) < len(places):
                findings.add(f"{box['box']}.{e['name']}", "a setting stands there twice")


def check_controls(findings, box):
    """All counter controls hold the same fields, so that one place serves for all counters."""
    layouts = {str([(f["name"], f["hi"], f["lo"], f.get("role"), f.get("enabled"))
                    for f in r["fields"]])
               for r in box["registers"] if r["role"] == "counter_ctl"}
    if len(layouts) > 1:
        findings.add(box["box"], "counter controls with different fields")


def check_counts(findings, box):
    place = box["box"]
    if len(box["instances"]) > INSTANCES_MAX:
        findings.add(place, f"{len(box['instances'])} instances, {INSTANCES_MAX} at most")
    if len(box["modifiers"]) > MODIFIERS_MAX:
        findings.add(place, f"{len(box['modifiers'])} modifiers, {MODIFIERS_MAX} at most")
    if box["counters"] and not box["counter_width"]:
        findings.add(place, "counters without a width")
    if box.get("copies") == 0:
        findings.add(place, "copies is 0")
    for m in box["modifiers"]:
        if max(m["counter_set"], default=0) >= max(box["counters"], 1):
            findings.add(place, f"modifier {m['name']} of a counter that is not there")


def check_ranges(findings, box):
    for number, instance in enumerate(box["instances"]):
        for r in box["registers"]:
            offset = r["offsets"][number] if number < len(r["offsets"]) else r["offset"]
            if not 0 <= instance["base"] + offset < ADDRESS_END:
                findings.add(f"{box['box']}{number}.{r['name']}",
                             f"address {instance['base'] + offset:#x} is not of 32 bits")
                return


def check_limits(findings, box):
    check_names(findings, box)
    check_lists(findings, box)
    check_fixed_fields(findings, box)
    check_controls(findings, box)
    check_counts(findings, box)
    check_ranges(findings, box)
