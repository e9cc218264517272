#!/usr/bin/env python3
"""Holds the page of the catalog to what is: its table to what the program says and to what the
JSON files hold, counted here on a way of its own; its examples to what they print.

usage: counts.py PMULAB              compares
       counts.py PMULAB --update     writes table and examples anew
"""
import json
import pathlib
import shlex
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "catalog.md"
BEGIN, END = "<!-- counts -->\n", "<!-- /counts -->\n"
COLUMNS = ("instances", "counters", "events", "umasks", "registers", "fields", "metrics")
HEADINGS = ("PMU", "box", "instances", "counters", "events", "unit masks", "registers", "fields",
            "metrics")
PROMPT = "    $ pmulab "


def run(program, arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def counts_of_program(program):
    return {(box["pmu"], box["box"]): tuple(box[column] for column in COLUMNS)
            for box in json.loads(run(program, ["list", "--count", "--format", "json"]))}


def counts_of_file(path):
    box = json.loads(path.read_text(encoding="utf-8"))
    instances, registers = box["instances"], box["registers"]
    rows = [(int(str(r.get("count", 1)), 0), len(r["fields"])) for r in registers]
    return (instances["count"] if isinstance(instances, dict) else len(instances),
            box.get("counters", 0), len(box.get("events", [])),
            sum(len(event.get("umasks", [])) for event in box.get("events", [])),
            sum(count for count, _ in rows), sum(count * fields for count, fields in rows),
            len(box.get("metrics", [])))


def counts_of_files():
    return {(folder.name, path.stem): counts_of_file(path)
            for folder in (TOP / "catalog").iterdir() if (folder / "pmu.json").exists()
            for path in folder.glob("*.json") if path.name not in ("pmu.json", "bindings.json")}


def table(counts):
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|---|" + "--:|" * len(COLUMNS)]
    lines += ["| " + " | ".join([*box, *map(str, row)]) + " |" for box, row in counts.items()]
    sums = [str(sum(column)) for column in zip(*counts.values())]
    lines.append("| " + " | ".join(["all", "", *sums]) + " |")
    return "\n".join(lines) + "\n"


def with_outputs(program, text):
    """The page with each example's output put in its place."""
    lines, out = text.split("\n"), []
    skipping = False
    for line in lines:
        if line.startswith(PROMPT):
            arguments = shlex.split(line[len(PROMPT):])
            out += [line, *(f"    {shown}".rstrip() for shown in
                            run(program, arguments).rstrip("\n").split("\n"))]
            skipping = True
        elif not (skipping and line.startswith("    ")):
            skipping = False
            out.append(line)
    return "\n".join(out)


def compare(what, first, second):
    """Prints what differs. @return whether something does."""
    differences = [f"{'/'.join(key)}: {first.get(key)} and {second.get(key)}"
                   for key in sorted(first.keys() | second.keys())
                   if first.get(key) != second.get(key)]
    for line in differences:
        print(f"{what}: {line}")
    return bool(differences)


def main():
    program = sys.argv[1]
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    shown, after = rest.split(END)
    counts = counts_of_program(program)
    due = with_outputs(program, before) + BEGIN + table(counts) + END + after
    failed = compare("program and files", counts, counts_of_files())
    if "--update" in sys.argv[2:]:
        PAGE.write_text(due, encoding="utf-8")
    elif page != due:
        failed = True
        for written, right in zip(page.split("\n"), due.split("\n")):
            if written != right:
                print(f"docs/catalog.md has   {written}\nbut should have       {right}")
                break
        print("make counts brings it up to date")
    if not counts or not shown and "--update" not in sys.argv[2:]:
        failed = True
    sys.exit(failed)


main()
