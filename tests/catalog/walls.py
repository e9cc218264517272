#!/usr/bin/env python3
"""scripts/check-walls finds nothing in this repository, and each violation that is planted in a copy.

usage: walls.py CHECK_WALLS
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
TREES = ("src", "plugin", "include", "catalog", "machines")

# File, what is written behind it, what has to be found; None: it is allowed.
PLANTED = [
    ("src/machine/home.c", "/* 334291-001 table 2-20 */\n", "cites a manual: 334291-001"),
    ("src/machine/home.c", "/* as in table 2-20 */\n", "cites a manual: table 2-20"),
    ("src/machine/slice.h", "enum { RFO };\n", "names an opcode: RFO"),
    ("src/machine/slice.h", "enum { WB_MTO_I };\n", "names an opcode: WB_MTO_I"),
    ("src/machine/slice.c", "static const int drd = 0x182;\n", "holds an opcode: 0x182"),
    ("src/pmon/core.c", "void *f = pmu_find_field(reg, name);\n", "finds by spelling"),
    ("src/pmon/state.h", '#define FIELD "ev_sel"\n', 'spells a name of the catalog: "ev_sel"'),
    ("src/emul/block.c", 'const char *r = "U_MSR_PMON_GLOBAL_CTL";\n',
     "spells a name of the catalog"),
    ("src/session/assign.c", "void *r = pmu_find_register(box, name);\n", "finds by spelling"),
    ("src/bus/perf.c", 'const char *f = "edge_det";\n', 'spells a name of the catalog: "edge_det"'),
    ("src/bus/perf.c", 'const char *f = "edge";\n', None),
    ("src/session/global_enable.c", "static int nehalem;\n", "names a family of processors: nehalem"),
    ("plugin/qemu.c", 'const char *name = "Xeon E5";\n', "names a family of processors: Xeon"),
    ("include/pmulab/bus.h", "#define IS_BROADWELL 1\n", "names a family of processors: BROADWELL"),
    ("src/machine/slice.c", "/* An RFO of the protocol. */\n", None),
    ("src/pmon/core.c", "/* ev_sel */ const char *word = \"none\";\n", None),
    ("src/event/names.c", "/* Itanium has others. */\n", None),
]


def holes(check, root):
    run = subprocess.run([sys.executable, check, root], capture_output=True, text=True, check=False)
    if bool(run.returncode) != bool(run.stdout) or run.stderr:
        sys.exit(f"exit status {run.returncode}:\n{run.stdout}{run.stderr}")
    return run.stdout.splitlines()


def plant(path, text):
    """The number of the line that is written behind the file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines, text]), encoding="utf-8")
    return len(lines) + 1


def main():
    check = sys.argv[1]
    failures = [f"here: {line}" for line in holes(check, TOP)]
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for tree in TREES:
            shutil.copytree(TOP / tree, copy / tree)
        lines = [plant(copy / file, text) for file, text, _ in PLANTED]
        found = holes(check, copy)
        for (file, text, wanted), line in zip(PLANTED, lines):
            here = [hole for hole in found if hole.startswith(f"{file}:{line}: ")]
            if bool(here) != bool(wanted) or wanted and not any(wanted in h for h in here):
                failures.append(f"{file}: {text.strip()}: found {here}")
    print(*failures, f"{len(PLANTED)} planted, {len(failures)} failures", sep="\n")
    sys.exit(bool(failures))


main()
