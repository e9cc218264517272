#!/usr/bin/env python3
"""A table of command lines: exit code, key words of the message, and where output goes."""
import os
import tempfile
import unittest

from harness import SMALL, pmulab

M = ("-M", SMALL)
TRUE = ("--", "true")
NO_EVENT = "cbo.NO_SUCH_EVENT"

# (arguments, exit code, words on standard output, words on standard error)
# No words: nothing may be there.
LINES = [
    # Groups and as many events as one likes
    (["stat", *M, "-e", "{cbo.CLOCKTICKS,ha.CLOCKTICKS}", *TRUE], 0, [], ["cbo.CLOCKTICKS", "ha."]),
    (["stat", *M, "-e", "{cbo.CLOCKTICKS", *TRUE], 2, [], ["{cbo.CLOCKTICKS", "does not end with"]),
    (["stat", *M, "-e", "{}", *TRUE], 2, [], ["a list without a name"]),
    (["stat", *M, "-e", "", *TRUE], 2, [], ["a list without a name"]),
    (["stat", *M, "-e", ",", *TRUE], 2, [], ["a list without a name"]),
    (["stat", *M, "-m", "", *TRUE], 2, [], ["a list without a name"]),
    (["stat", "-e", "", *TRUE], 2, [], ["a list without a name"]),
    (["stat", *M, "-e", "{cbo.TOR_INSERTS.OPCODE:opc=DRd,cbo.TOR_INSERTS.OPCODE:opc=RFO}", *TRUE],
     2, [], ["different values of opc"]),
    (["stat", *M, "--why", "-e", "cbo.TOR_INSERTS.OPCODE:opc=DRd,cbo.TOR_INSERTS.OPCODE:opc=RFO",
      *TRUE], 0, [], ["PMU 1:", "different values of opc"]),
    (["stat", "--dry-run", "--pmu", "xeon-e5v4", "-e",
      "cbo.TOR_INSERTS.OPCODE:opc=DRd,cbo.TOR_INSERTS.OPCODE:opc=RFO"], 1, [],
     ["different values of opc", "separate runs"]),
    # Wrong use of stat
    (["stat", *M], 2, [], ["PROGRAM is missing"]),
    (["stat", *M, "-e", NO_EVENT, *TRUE], 2, [], ["NO_SUCH_EVENT"]),
    (["stat", "-M", "no-such-machine", *TRUE], 2, [], ["no machine", "valid:", SMALL]),
    (["stat", *M, "-m", "NO_SUCH_METRIC", *TRUE], 2, [], ["no metric"]),
    (["stat", *M, "--format", "xml", *TRUE], 2, [], ["no format", "table", "json", "csv"]),
    (["stat", *M, "--", "/no/such/program"], 127, [], ["/no/such/program"]),
    (["stat", *M, "--", "/etc/passwd"], 126, [], ["/etc/passwd"]),
    (["stat", "--feed", "qemu", *TRUE], 0, [], ["this computer"]),
    (["stat", "--feed", "valgrind", *TRUE], 2, [], ["--feed needs -M"]),
    (["stat", "--deterministic", *TRUE], 2, [], ["--deterministic needs -M"]),
]


class Lines(unittest.TestCase):
    def check(self, stream, words, text):
        if not words:
            self.assertEqual(text, "", stream)
        for word in words:
            self.assertIn(word, text, stream)

    def test_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments, code, out, err in LINES:
                with self.subTest(line=" ".join(arguments)):
                    run = pmulab(*arguments, cwd=folder)
                    self.assertEqual(run.returncode, code, run.stderr)
                    self.check("standard output", out, run.stdout)
                    self.check("standard error", err, run.stderr)
                    self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
