"""Turns catalog/ into constant C tables; refuses data that contradicts itself.

usage: catalog-gen signal-ids   SIGNALS.json            > signal_ids.h
       catalog-gen signal-table SIGNALS.json            > signal_table.c
       catalog-gen boxes        SIGNALS.json PMU...     > pmu_table.c
       catalog-gen groups       PMU/groups/NAME.txt...  > group_table.c

PMU is a folder of catalog/. The format is described in catalog/FORMAT.md. Exit status 1
with one line for each contradiction: FILE: PLACE: what is wrong.
"""
import sys
from pathlib import Path

from .bindings import read_bound_pmu
from .c_text import c_string
from .check import check_pmu, check_unique
from .read import Findings
from .records import read_records
from .signals import print_ids, print_table, read_signals
from .tables import print_tables


def stop_at(findings):
    if findings:
        sys.exit("\n".join(findings))


def signals(path, print_them):
    findings = Findings()
    found = read_signals(findings, Path(path))
    stop_at(findings)
    print_them(found)


def boxes(signals_path, folders):
    findings = Findings()
    known = read_signals(findings, Path(signals_path))
    pmus = [pmu for pmu in (read_bound_pmu(findings, folder) for folder in folders) if pmu]
    stop_at(findings)  # what follows relies on every value being of its kind
    check_unique(findings, "catalog", "PMU", [pmu["name"] for pmu in pmus])
    for pmu in pmus:
        check_pmu(findings, pmu, known)
    stop_at(findings)
    for pmu in pmus:
        for box in pmu["boxes"]:
            findings.file = box["file"]
            box["records"] = read_records(findings, box, box.get("records", []))
    stop_at(findings)
    print_tables(pmus, known)


def texts(kind, paths):
    """The table of groups or methods: PMU, name, title, text."""
    print(f'/* Generated from catalog/. */\n#include "catalog/{kind}.h"\n\n'
          f"const struct pmu_{kind} {kind}_table[] = {{")
    for path in map(Path, paths):
        text = path.read_text(encoding="utf-8")
        if not text.startswith("# ") or not text.endswith("\n"):
            sys.exit(f"{path}: does not begin with # and a title, or end with a line")
        title = text.splitlines()[0][2:]
        print(f"\t{{{c_string(path.parent.parent.name)}, {c_string(path.stem)}, {c_string(title)},")
        for line in text.splitlines():
            print(f"\t {c_string(line)[:-1]}\\n\"")
        print("\t},")
    print(f"}};\nconst size_t {kind}_table_count = "
          f"sizeof({kind}_table) / sizeof({kind}_table[0]);")


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    what, paths = arguments[0], arguments[1:]
    if what == "signal-ids":
        signals(paths[0], print_ids)
    elif what == "signal-table":
        signals(paths[0], print_table)
    elif what == "boxes":
        boxes(paths[0], paths[1:])
    elif what in ("groups", "methods"):
        texts(what[:-1], paths)
    else:
        sys.exit(__doc__)
