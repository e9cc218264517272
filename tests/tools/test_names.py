#!/usr/bin/env python3
"""Names that pmulab prints for LIKWID, against those that the installed library holds."""
import ctypes.util
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

PMULAB = os.environ["PMULAB"]
FOLDERS = [pathlib.Path(f) for f in ("/usr/lib/x86_64-linux-gnu", "/usr/lib", "/usr/local/lib")]


def names(pmu):
    found = json.loads(subprocess.run(
        [PMULAB, "list", "--as", "likwid", "--pmu", pmu, "--format", "json"], check=True,
        capture_output=True, text=True).stdout)
    return [(row["box"], *row["name"].split(":")[:2]) for row in found if row["name"]]


class Likwid(unittest.TestCase):
    LIBRARY = b""

    def test_names(self):
        """Each event and each counter stands there."""
        words = set(re.findall(rb"\0([A-Z][A-Z0-9_]+)(?=\0)", self.LIBRARY))
        ends = set()  # as the linker keeps what is the end of a longer one
        for pmu, least in (("xeon-e5v4", 1100), ("xeon-e5", 380), ("nehalem", 325)):
            found = names(pmu)
            self.assertGreaterEqual(len(found), least)
            for box, event, counter in found:
                # Of cores LIKWID follows other documents too.
                if box != "core" and event.encode() not in words:
                    ends.add(event.encode())
                ends.add(counter.encode())
            core = [event for box, event, _ in found if box == "core"]
            known = [event for event in core if event.encode() in words]
            self.assertGreaterEqual(10 * len(known), 9 * len(core), pmu)
        for end in ends:
            self.assertTrue(end + b"\0" in self.LIBRARY, end)


if __name__ == "__main__":
    SONAME = ctypes.util.find_library("likwid")
    FOUND = [f / SONAME for f in FOLDERS if (f / SONAME).exists()] if SONAME else []
    if not FOUND:
        print("skipped: LIKWID is not installed")
        sys.exit(77)
    Likwid.LIBRARY = FOUND[0].read_bytes()
    unittest.main()
