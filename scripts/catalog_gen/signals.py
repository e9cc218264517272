"""Signals: read, checked, printed for src/catalog/signal.h."""
import re

from .c_text import c_name, c_string
from .read import entry, load

KINDS = {"pulse", "span", "level", "tally"}
FIELDS = {"address", "opcode", "state", "nid", "tid", "rank", "bank"}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
FACETS_MAX = 32  # bits of struct signal.facets


def check_signal(findings, signal):
    place = signal["name"]
    for name in (signal["name"], *signal["facets"]):
        if not NAME.fullmatch(name):
            findings.add(place, f"\"{name}\" cannot be the name of a signal or facet")
    if signal["kind"] not in KINDS:
        findings.add(place, f"unknown kind \"{signal['kind']}\"")
    for field in signal["fields"]:
        if field not in FIELDS:
            findings.add(place, f"unknown field \"{field}\"")
    if len(signal["facets"]) > FACETS_MAX:
        findings.add(place, f"{len(signal['facets'])} facets, {FACETS_MAX} at most")
    if signal.get("default", None) not in [None, *signal["facets"]]:
        findings.add(place, f"default \"{signal['default']}\" is no facet")


def constants(signal):
    """The C names that stand for a signal and its facets."""
    name = c_name(signal["name"])
    return [f"SIGNAL_{name}", *(f"FACET_{name}_{c_name(facet)}" for facet in signal["facets"])]


def read_signals(findings, path):
    """All signals by name, in the order of the file."""
    signals = [s for s in (entry(findings, given.get("name"), "signal", given)
                           if isinstance(given, dict) else findings.add("signal", "is no entry")
                           for given in load(findings, path, list) or []) if s]
    taken = {"SIGNAL_NONE": "none", "SIGNAL_COUNT": "count"}
    for signal in signals:
        check_signal(findings, signal)
        for constant in constants(signal):
            if constant in taken:
                findings.add(signal["name"], f"{constant} is also a constant of {taken[constant]}")
            taken[constant] = signal["name"]
    return {s["name"]: s for s in signals}


def print_ids(signals):
    print("/* Generated from signals.json. */\n#ifndef CATALOG_SIGNAL_IDS_H\n"
          "#define CATALOG_SIGNAL_IDS_H\n")
    print("enum pmu_signal_id {\n\tSIGNAL_NONE,")
    for s in signals.values():
        print(f"\t{constants(s)[0]},")
    print("\tSIGNAL_COUNT,\n};\n")
    for s in signals.values():
        for bit, facet in enumerate(constants(s)[1:]):
            print(f"#define {facet} (1u << {bit})")
    print("\n#endif")


def print_table(signals):
    print('/* Generated from signals.json. */\n#include "catalog/signal.h"\n')
    for s in signals.values():
        if s["facets"]:
            names = ", ".join(c_string(f) for f in s["facets"])
            print(f"static const char *const facets_{c_name(s['name']).lower()}[] = {{{names}}};")
    print("\nconst struct signal_desc signal_table[] = {")
    print('\t[SIGNAL_NONE] = {.name = "none", .box = ""},')
    for s in signals.values():
        facets = f"facets_{c_name(s['name']).lower()}" if s["facets"] else "0"
        default = f"1u << {s['facets'].index(s['default'])}" if "default" in s else "0"
        print(f"\t[{constants(s)[0]}] = {{.name = {c_string(s['name'])}, "
              f".box = {c_string(s['box'])}, .kind = SIGNAL_{s['kind'].upper()}, "
              f".facet_count = {len(s['facets'])}, .default_facet = {default}, "
              f".facets = {facets}}},")
    print("};")
