#!/usr/bin/env python3
"""Reads a manual again and compares it with the catalog, table by table.

usage: reader.py MODULE --pmulab PROGRAM [--update | --list]

MODULE is a file beside this one that knows one manual:

    DOCUMENT  the number under which golden.csv and docs/errata.md know it
    MANUAL    the name of its text
    read(text)   what is printed: a list of Table
    ours(data)   what pmulab has: {(subject, what): {row: {column: value}}}

Both sides name rows and columns alike; values are compared as text. Subject is what the rows
belong to (a box, an event, a register), what is their kind (events, umasks, fields). A table that
cannot be read is there without rows and says why. Several tables may have one subject and kind;
each of our rows has to be printed in one of them.

Without the manuals, our rows are counted and their values summed against golden.csv. With them,
each difference has to stand in differences.csv and name an entry of docs/errata.md. The manuals
are in the folder PMULAB_MANUALS, else in shared/manuals beside the checkout.

--update  writes this manual's lines of golden.csv, if nothing is undecided
--list    prints undecided differences as lines of differences.csv, their entry still to be named
"""
import argparse
import csv
import importlib
import json
import os
import re
import subprocess
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ in the checkout
HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
GOLDEN = HERE / "golden.csv"
GOLDEN_COLUMNS = ["document", "table", "subject", "what", "read", "agree", "explained", "ours",
                  "values", "irregular"]
DIFFERENCES = HERE / "differences.csv"
DIFFERENCE_COLUMNS = ["document", "table", "subject", "row", "column", "printed", "ours", "errata"]
UNPRINTED = "-"  # the table of rows that stand in no table
PRESENT = "present"  # the value of a row that the other side lacks


@dataclass
class Table:
    table: str  # "2-14", or its section, "§2.3.4"
    subject: str
    what: str
    rows: dict = field(default_factory=dict)
    irregular: str = ""


class Data:
    """What pmulab knows: as the program prints it, and the catalog's files for what it does not."""

    def __init__(self, program):
        self.program = program

    def listed(self, what, pmu, wanted=lambda box: True):
        """events, registers, metrics or boxes of a PMU's boxes that are wanted."""
        command = [self.program, "list", what, "--pmu", pmu, "--format", "json"]
        out = subprocess.run(command, capture_output=True, text=True)
        if out.returncode:
            sys.exit(f"{' '.join(command)}: {out.stderr.strip()}")
        return [entry for entry in json.loads(out.stdout) if wanted(entry["box"])]

    @staticmethod
    def files(pmu):
        """{box: its file} as JSON."""
        folder = CHECKOUT / "catalog" / pmu
        boxes = (json.loads(f.read_text()) for f in sorted(folder.glob("*.json"))
                 if f.name not in ("pmu.json", "bindings.json"))
        return {box["box"]: box for box in boxes}


def number(text):
    """A catalog's number: JSON's own, or a string in hexadecimal."""
    return text if isinstance(text, int) else int(text, 0)


def bare_equation(text):
    """Without blanks, and without the brackets of an equation that has just one pair, around it."""
    return re.sub(r"^\(([^()]*)\)$", r"\1", "".join(text.split()))


def manual_of(module):
    """The text of the manual, or None."""
    folder = Path(os.environ.get("PMULAB_MANUALS") or CHECKOUT.parent / "shared" / "manuals")
    path = folder / module.MANUAL
    return path.read_text(errors="replace") if path.is_file() else None


def lines_of(path, columns):
    if not path.exists():
        return []
    with path.open(newline="") as f:
        rows = csv.DictReader(f)
        if rows.fieldnames != columns:
            sys.exit(f"{path.name}: the columns are {rows.fieldnames}, not {columns}")
        return list(rows)


def write_lines(path, columns, lines):
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, columns, lineterminator="\n")
        out.writeheader()
        out.writerows(lines)


def row_differences(printed, ours):
    """[(column, printed, ours)] of one row; a row that we lack differs as a whole."""
    if ours is None:
        return [("", PRESENT, "")]
    return [(column, str(value), str(ours.get(column, "")))
            for column, value in printed.items() if str(value) != str(ours.get(column, ""))]


def compare(tables, ours):
    """{(table, subject, what): {row: differences}}, our rows that are in no table included."""
    results, seen = {}, {key: set() for key in ours}
    for t in tables:
        mine = ours.get((t.subject, t.what), {})
        results[t.table, t.subject, t.what] = {
            row: row_differences(columns, mine.get(row)) for row, columns in t.rows.items()}
        seen.setdefault((t.subject, t.what), set()).update(t.rows)
    for (subject, what), rows in ours.items():
        rest = [row for row in rows if row not in seen[subject, what]]
        if rest:
            results[UNPRINTED, subject, what] = {row: [("", "", PRESENT)] for row in rest}
    return results


def values_sum(rows):
    """Changes when any value does; rows in any order."""
    text = json.dumps({row: {c: str(v) for c, v in columns.items()}
                       for row, columns in rows.items()}, sort_keys=True)
    return f"{zlib.crc32(text.encode()):08x}"


def golden_lines(module, tables, results, ours):
    why = {(t.table, t.subject, t.what): t.irregular for t in tables}
    lines = []
    for (table, subject, what), rows in results.items():
        mine = ours.get((subject, what), {})
        printed = {} if table == UNPRINTED else rows
        lines.append({
            "document": module.DOCUMENT, "table": table, "subject": subject, "what": what,
            "read": len(printed), "agree": sum(not d for d in printed.values()),
            "explained": sum(bool(d) for d in rows.values()), "ours": len(mine),
            "values": values_sum(mine), "irregular": why.get((table, subject, what), "")})
    return lines


def check_ours(module, ours, golden):
    """Our rows against golden.csv: as many as there were, with the values that they had."""
    faults = []
    for line in golden:
        rows = ours.get((line["subject"], line["what"]), {})
        name = f"{line['subject']}: {line['what']} (table {line['table']})"
        if len(rows) != int(line["ours"]):
            faults.append(f"{name}: {len(rows)} of ours, {line['ours']} in golden.csv")
        elif values_sum(rows) != line["values"]:
            faults.append(f"{name}: values are not those that were compared with the manual")
    known = {(line["subject"], line["what"]) for line in golden}
    faults += [f"{subject}: {what}: not in golden.csv"
               for subject, what in ours if (subject, what) not in known]
    return faults


def errata_of(document):
    """{heading: texts of the entries that have it} in the document's part of docs/errata.md."""
    entries = {}
    text = (CHECKOUT / "docs" / "errata.md").read_text()
    for part in re.split(r"^# ", text, flags=re.M)[1:]:
        if document not in part.split("\n")[0]:
            continue
        for entry in re.split(r"^\d+\. (?=\*\*)", part, flags=re.M)[1:]:
            heading = " ".join(re.match(r"\*\*(.+?)\*\*", entry, re.S).group(1).split())
            entries.setdefault(heading.removesuffix("."), []).append(" ".join(entry.split()))
    return entries


def check_decisions(module, decisions):
    """Each names an entry of the errata, or several with "; " between."""
    entries = errata_of(module.DOCUMENT)
    return [f"differences.csv: {line['subject']} {line['row']}: docs/errata.md has no entry "
            f"\"{heading}\" for {module.DOCUMENT}"
            for line in decisions for heading in line["errata"].split("; ")
            if heading not in entries]


def check_manual(module, results, decisions):
    """Each difference is decided, and each decision is of a difference. Undecided ones second."""
    open_decisions = {tuple(line[c] for c in DIFFERENCE_COLUMNS[:-1]) for line in decisions}
    found, undecided = set(), []
    for (table, subject, _), rows in results.items():
        for row, differences in rows.items():
            for column, printed, mine in differences:
                one = (module.DOCUMENT, table, subject, row, column, printed, mine)
                found.add(one)
                if one not in open_decisions:
                    undecided.append(one)
    faults = [f"table {table}: {subject}: {row}: {column or 'row'}: "
              f"printed {printed or 'nothing'}, ours {mine or 'nothing'}"
              for _, table, subject, row, column, printed, mine in undecided]
    faults += [f"differences.csv: no such difference any more: {', '.join(one)}"
               for one in sorted(open_decisions - found)]
    return faults, undecided


def check_golden(lines, golden):
    """What was read now against what golden.csv says."""
    def keyed(some):
        return {(g["table"], g["subject"], g["what"]): g for g in some}
    now, then = keyed(lines), keyed(golden)
    faults = [f"table {key[0]}: {key[1]}: {key[2]}: in golden.csv, not read"
              for key in then if key not in now]
    for key, line in now.items():
        name = f"table {key[0]}: {key[1]}: {key[2]}"
        if key not in then:
            faults.append(f"{name}: read, not in golden.csv")
            continue
        faults += [f"{name}: {column} {line[column]}, golden.csv {then[key][column]}"
                   for column in ("read", "agree", "explained", "irregular")
                   if str(line[column]) != then[key][column]]
    return faults


def update(module, lines):
    kept = [g for g in lines_of(GOLDEN, GOLDEN_COLUMNS) if g["document"] != module.DOCUMENT]
    write_lines(GOLDEN, GOLDEN_COLUMNS, kept + lines)


def report(lines):
    def total(column):
        return sum(line[column] for line in lines)
    irregular = [line for line in lines if line["irregular"]]
    unprinted = sum(line["explained"] for line in lines if line["table"] == UNPRINTED)
    print(f"{len({line['table'] for line in lines if line['read']})} tables and lists, "
          f"{total('read')} rows: {total('agree')} agree, {total('explained') - unprinted} differ; "
          f"{unprinted} of our rows are in none")
    for line in irregular:
        print(f"not read: table {line['table']}: {line['irregular']}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].removeprefix("usage: "))
    parser.add_argument("module")
    parser.add_argument("--pmulab", required=True)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--update", action="store_true")
    how.add_argument("--list", action="store_true")
    args = parser.parse_args()

    module = importlib.import_module(args.module)
    golden = [g for g in lines_of(GOLDEN, GOLDEN_COLUMNS) if g["document"] == module.DOCUMENT]
    decisions = [d for d in lines_of(DIFFERENCES, DIFFERENCE_COLUMNS)
                 if d["document"] == module.DOCUMENT]
    ours = module.ours(Data(args.pmulab))
    faults = check_decisions(module, decisions)
    text = manual_of(module)
    if text is None:
        if args.update or args.list:
            sys.exit(f"no {module.MANUAL}: set PMULAB_MANUALS")
        print(f"no {module.MANUAL} here: our own rows only, against golden.csv")
        faults += check_ours(module, ours, golden)
    else:
        tables = module.read(text)
        results = compare(tables, ours)
        lines = golden_lines(module, tables, results, ours)
        report(lines)
        wrong, undecided = check_manual(module, results, decisions)
        faults += wrong
        if args.list:
            csv.writer(sys.stdout, lineterminator="\n").writerows(undecided)
            return 0
        if not args.update:
            faults += check_golden(lines, golden) + check_ours(module, ours, golden)
        elif not faults:
            update(module, lines)
    for fault in faults:
        print(fault)
    print(f"{module.DOCUMENT}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    # Modules import Table and others from here: they have to be the same.
    sys.modules["reader"] = sys.modules["__main__"]
    sys.exit(main())
