"""Emulated machines: read, checked against the PMU that they have, printed for pmulab/machine.h."""
from .c_text import c_string
from .check import PMU_NAME
from .read import entry, load, read_pmu
from .schema import number

TEXTS = ("name", "title", "pmu", "events", "source", "processor", "qemu_cpu")
CACHES = ("l1i", "l1d", "l2", "llc")
LISTS = {"instances": ("pmu_part", "parts", "part"), "straps": ("pmu_strap", "straps", "strap")}


def find(entries, key, name):
    return next((e for e in entries if e[key].lower() == name.lower()), None)


def check_events(findings, machine, pmu):
    for text in machine["events"].split(","):
        box_name, _, event_name = text.partition(".")
        box = find(pmu["boxes"], "box", box_name)
        event_name = event_name.partition(":")[0].partition(".")[0]
        if not box or not find(box["events"], "name", event_name):
            findings.add(machine["name"], f"no event {text} in {pmu['name']}")


def check_parts(findings, machine, pmu):
    for name, bits in machine["instances"].items():
        box = find(pmu["boxes"], "box", name)
        if not box:
            findings.add(machine["name"], f"no box {name} in {pmu['name']}")
        elif not 0 < number(bits) < 1 << len(box["instances"]):
            findings.add(machine["name"], f"instances {bits} of {name}, which has "
                                          f"{len(box['instances'])}")


def check_straps(findings, machine, pmu):
    for name, value in machine["straps"].items():
        register = next((r for box in pmu["boxes"] for r in box["registers"] if r["name"] == name),
                        None)
        if not register:
            findings.add(machine["name"], f"no register {name} in {pmu['name']}")
        elif number(value) >= 1 << register["width"]:
            findings.add(machine["name"], f"{name} = {value} does not fit {register['width']} bits")


def read_machine(findings, folder, path):
    given = load(findings, path, dict)
    machine = given and entry(findings, given.get("name"), "machine", given)
    if not machine:
        return None
    file = findings.file
    if not PMU_NAME.fullmatch(machine["name"]):
        findings.add(machine["name"], "cannot be the name of a machine")
    for key in CACHES:
        machine[key] = entry(findings, f"{machine['name']}.{key}", "cache", machine[key])
    if (not PMU_NAME.fullmatch(machine["pmu"]) or
            not (folder / machine["pmu"] / "pmu.json").exists()):
        findings.add(machine["name"], f"no PMU {machine['pmu']}")
        return None
    pmu = read_pmu(findings, folder / machine["pmu"])
    findings.file = file
    if pmu:
        check_events(findings, machine, pmu)
        check_parts(findings, machine, pmu)
        check_straps(findings, machine, pmu)
    return machine


def read_machines(findings, folder, paths):
    machines = [m for m in (read_machine(findings, folder, path) for path in paths) if m]
    names = [m["name"].lower() for m in machines]
    for name in {name for name in names if names.count(name) > 1}:
        findings.add(name, "two machines of one name")
    return machines


def value_of(i, key, value):
    if key in TEXTS:
        return f".{key} = {c_string(value)}"
    if key in CACHES:
        return f".{key} = {{{', '.join(f'.{k} = {v}' for k, v in value.items())}}}"
    if key in LISTS:
        _, name, member = LISTS[key]
        return f".{name} = {name}_{i}, .{member}_count = {len(value)}"
    return f".{key} = {value}"


def print_machines(machines):
    print('/* Generated from machines/. */\n#include "catalog/tables.h"\n')
    for i, m in enumerate(machines):
        for key, (struct, name, _) in LISTS.items():
            rows = ", ".join(f"{{{c_string(k)}, {number(v):#x}}}" for k, v in m[key].items())
            print(f"static const struct {struct} {name}_{i}[] = {{{rows}}};")
    print("const struct pmu_machine machine_table[] = {")
    for i, m in enumerate(machines):
        print("\t{")
        for key, value in m.items():
            print(f"\t\t{value_of(i, key, value)},")
        print("\t},")
    print("};")
    print("const size_t machine_table_count = sizeof(machine_table) / sizeof(machine_table[0]);")
