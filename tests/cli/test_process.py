#!/usr/bin/env python3
"""`stat` without a machine: the kernel counts what the program itself does."""
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from harness import PMULAB, pmulab

SOFTWARE = ["TASK-CLOCK", "CONTEXT-SWITCHES", "CPU-MIGRATIONS", "PAGE-FAULTS"]
HARDWARE = ["CYCLES", "INSTRUCTIONS", "BRANCHES", "BRANCH-MISSES", "CACHE-REFERENCES",
            "CACHE-MISSES"]
PAGES = 20000
TOUCH = ["python3", "-c",
         "import mmap\n"
         f"m = mmap.mmap(-1, {PAGES * 4096})\n"
         "if hasattr(m, 'madvise'): m.madvise(15)\n"  # MADV_NOHUGEPAGE
         f"for i in range({PAGES}): m[i * 4096] = 1"]


class Process(unittest.TestCase):
    def report(self, *command, events=()):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            result = pmulab("stat", *(["-e", ",".join(events)] if events else []), "--format",
                            "json", "-o", file.name, "--", *command)
            self.assertEqual(result.returncode, 0, result.stderr)
            return json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))

    def as_nobody(self, *arguments):
        level = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
        if level != 2:
            self.skipTest(f"perf_event_paranoid is {level}")
        try:
            return pmulab(*arguments, user=65534, cwd="/")
        except PermissionError:
            return self.skipTest(f"others cannot reach {PMULAB}")

    def test_what_any_computer_counts(self):
        report = self.report("true")
        self.assertEqual([c["event"] for c in report["counts"]], SOFTWARE + HARDWARE)
        for count in report["counts"]:
            if count["event"] in SOFTWARE:
                self.assertEqual(count["state"], "counted", count)
            if count["state"] != "counted":
                self.assertIsNone(count["count"])
        self.assertEqual([c["unit"] for c in report["counts"][:2]], ["ns", ""])

    def test_page_faults_of_the_program(self):
        few = self.report("python3", "-c", "", events=["PAGE-FAULTS"])["counts"][0]["count"]
        many = self.report(*TOUCH, events=["PAGE-FAULTS"])["counts"][0]["count"]
        self.assertGreaterEqual(many - few, PAGES)
        self.assertLess(many - few, PAGES + PAGES // 2)  # modules that are loaded fault too

    def test_missing_hardware_is_said_in_words(self):
        result = pmulab("stat", "-e", "CYCLES", "--", "true")
        self.assertEqual(result.returncode, 0, result.stderr)
        if "not counted" in result.stderr:
            self.assertIn("nothing on this computer counts these events", result.stderr)

    def test_csv(self):
        result = pmulab("stat", "--format", "csv", "-e", "PAGE-FAULTS", "--", "true")
        rows = list(csv.DictReader(io.StringIO(result.stderr)))
        self.assertEqual([(r["event"], r["state"], r["running"]) for r in rows],
                         [("PAGE-FAULTS", "counted", "1.000000")])

    def test_exit_codes_are_the_programs(self):
        self.assertEqual(pmulab("stat", "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(pmulab("stat", "--", "sh", "-c", "kill -9 $$").returncode, 137)
        self.assertEqual(pmulab("stat", "--", "/nonexistent").returncode, 127)

    def test_exit_code_where_children_are_ignored(self):
        """SIGCHLD stays ignored in what is started: the kernel then keeps no exit codes."""
        result = pmulab("stat", "-e", "PAGE-FAULTS", "--", "sh", "-c", "exit 7",
                        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(result.returncode, 7, result.stderr)

    def test_unknown_names(self):
        result = pmulab("stat", "-e", "PAGE-FAULTZ", "--", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean PAGE-FAULTS", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_catalog_names_are_not_the_kernels(self):
        result = pmulab("stat", "-e", "imc.CAS_COUNT.RDX", "--", "true")
        self.assertNotEqual(result.returncode, 0)
        self.assertNotIn("libpfm4", result.stderr)

    def test_signals_reach_the_program(self):
        trap = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"
        with subprocess.Popen([PMULAB, "stat", "-e", "PAGE-FAULTS", "--", "sh", "-c", trap],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=20), 5)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_without_rights(self):
        result = self.as_nobody("stat", "--format", "json", "-e", "PAGE-FAULTS", "--", "true")
        self.assertEqual(result.returncode, 0, result.stderr)
        count = json.loads(result.stderr)["counts"][0]
        self.assertEqual((count["state"], count["user_only"]), ("counted", True))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_what_only_the_kernel_does_is_not_zero_without_rights(self):
        command = ["stat", "-e", "CONTEXT-SWITCHES,CPU-MIGRATIONS,TASK-CLOCK", "--", "sleep", "0.01"]
        report = self.as_nobody(*command[:1], "--format", "json", *command[1:])
        counts = json.loads(report.stderr)["counts"]
        self.assertEqual([(c["state"], c["count"]) for c in counts[:2]], [("refused", None)] * 2)
        self.assertEqual((counts[2]["state"], counts[2]["user_only"]), ("counted", False))
        table = self.as_nobody(*command).stderr
        self.assertEqual(table.count("not counted"), 2, table)
        self.assertIn("perf_event_paranoid=1", table)


if __name__ == "__main__":
    sys.exit(unittest.main())
