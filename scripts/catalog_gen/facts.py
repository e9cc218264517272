"""Tables of the manuals that describe the hardware and none of its registers."""
from .c_text import NO_ENTRIES, array, c_string


COLUMNS_MAX = 16  # CLI_FACT_COLUMNS of src/cli/list.h


def check_facts(findings, box):
    names = set()
    for facts in box["facts"]:
        place = f"{box['box']}.{facts['name']}"
        if facts["name"].lower() in names:
            findings.add(place, "stands there twice")
        names.add(facts["name"].lower())
        if not facts["columns"] or not facts["rows"]:
            findings.add(place, "has no columns or no rows")
        if len(facts["columns"]) > COLUMNS_MAX:
            findings.add(place, f"{len(facts['columns'])} columns, {COLUMNS_MAX} at most")
        for row in facts["rows"]:
            if len(row) != len(facts["columns"]):
                findings.add(place, f"{len(row)} cells for {len(facts['columns'])} columns")


def check_words(findings, box):
    """What the manuals say of events and unit masks beside their encoding."""
    for event in box["events"]:
        place = f"{box['box']}.{event['name']}"
        names = {u["name"] for u in event["umasks"]}
        for umask in event["umasks"]:
            for name in umask.get("sum", []):
                if name not in names or name == umask["name"]:
                    findings.add(f"{place}.{umask['name']}", f"sum of unknown unit mask {name}")
    for modifier in box["modifiers"]:
        if modifier.get("threshold", "reach") not in ("reach", "exceed"):
            findings.add(f"{box['box']}.{modifier['name']}",
                         f"unknown threshold \"{modifier['threshold']}\"")


def texts(name, words):
    if not words:
        return NO_ENTRIES
    print(f"static const char *const {name}[] = {{{', '.join(map(c_string, words))}}};")
    return name


def print_facts(prefix, box):
    rows = []
    for n, facts in enumerate(box["facts"]):
        cells = [cell for row in facts["rows"] for cell in row]
        rows.append({"name": c_string(facts["name"]), "title": c_string(facts["title"]),
                     "source": c_string(facts["source"]),
                     "columns": texts(f"{prefix}_fact_columns_{n}", facts["columns"]),
                     "column_count": len(facts["columns"]),
                     "cells": texts(f"{prefix}_fact_cells_{n}", cells),
                     "row_count": len(facts["rows"])})
    return array("pmu_facts", f"{prefix}_facts", rows)
