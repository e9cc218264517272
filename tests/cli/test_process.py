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
import time
import unittest

from harness import PMULAB, pmulab
from processes import wait_until

SOFTWARE = ["TASK-CLOCK", "CONTEXT-SWITCHES", "CPU-MIGRATIONS", "PAGE-FAULTS"]
HARDWARE = ["CYCLES", "INSTRUCTIONS", "BRANCHES", "BRANCH-MISSES", "CACHE-REFERENCES",
            "CACHE-MISSES"]
PAGES = 20000
TOUCH = [sys.executable, "-c",
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
        few = self.report(sys.executable, "-c", "", events=["PAGE-FAULTS"])["counts"][0]["count"]
        many = self.report(*TOUCH, events=["PAGE-FAULTS"])["counts"][0]["count"]
        self.assertGreaterEqual(many - few, PAGES)
        self.assertLess(many - few, PAGES + PAGES // 2)  # modules that are loaded fault too

    # A thread of a process that runs already touches pages when it is told to.
    TOUCH_LATER = [sys.executable, "-c",
                   "import mmap, sys, threading\n"
                   f"m = mmap.mmap(-1, {PAGES * 4096})\n"
                   "if hasattr(m, 'madvise'): m.madvise(15)\n"
                   "def touch():\n"
                   "  sys.stdin.readline()\n"
                   f"  for i in range({PAGES}): m[i * 4096] = 1\n"
                   "thread = threading.Thread(target=touch); thread.start()\n"
                   "print('ready', flush=True); thread.join()\n"]

    @staticmethod
    def counts_already(pid):
        """Counters are open, and what it waits for has been let go."""
        try:
            files = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        except FileNotFoundError:
            return False
        return any("perf_event" in f for f in files) and not any("eventfd" in f for f in files)

    def test_process_that_runs_already(self):
        with subprocess.Popen(self.TOUCH_LATER, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as touch:
            touch.stdout.readline()
            with subprocess.Popen([PMULAB, "stat", "-p", str(touch.pid), "-e", "PAGE-FAULTS",
                                   "--format", "json"], stderr=subprocess.PIPE, text=True) as stat:
                wait_until(lambda: self.counts_already(stat.pid))
                touch.communicate("go\n", timeout=50)
                report = json.loads(stat.communicate(timeout=50)[1])
        self.assertEqual((stat.returncode, report["process"]), (0, touch.pid))
        self.assertGreaterEqual(report["counts"][0]["count"], PAGES)
        self.assertLess(report["counts"][0]["count"], PAGES + PAGES // 2)

    @unittest.skipUnless(os.geteuid() == 0, "only root counts whole CPUs")
    def test_cpus(self):
        """Each is counted all the time, once, whatever runs there."""
        cpu = min(os.sched_getaffinity(0))
        for list_, cpus in ((f"{cpu}", 1), (f"{cpu},{cpu}-{cpu}", 1), (None, os.cpu_count())):
            where = ["-C", list_] if list_ else ["-a"]
            result = pmulab("stat", *where, "-e", "TASK-CLOCK", "--format", "json", "--", "sleep",
                            "0.2")
            self.assertEqual(result.returncode, 0, result.stderr)
            report = json.loads(result.stderr)
            whole = cpus * report["seconds"] * 1e9
            self.assertAlmostEqual(report["counts"][0]["count"] / whole, 1, delta=0.2)
        result = pmulab("stat", "-C", "1000", "--", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no CPU 1000", result.stderr)

    def test_until_the_time_is_over(self):
        result = pmulab("stat", "-p", os.getpid(), "-e", "TASK-CLOCK", "--timeout", "200")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"process {os.getpid()} on this computer", result.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_process_of_another_user(self):
        result = self.as_nobody("stat", "-p", str(os.getpid()), "-e", "PAGE-FAULTS")
        self.assertEqual(result.returncode, 1)
        self.assertIn("another user's", result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_intervals(self):
        """They add up to the count of the whole; what nothing counts has no count in any."""
        events = ["PAGE-FAULTS", "CYCLES"]
        command = ["stat", "-I", "50", "-e", ",".join(events)]
        result = pmulab(*command, "--format", "jsonl", "--", *TOUCH)
        *intervals, report = map(json.loads, result.stderr.splitlines())
        self.assertGreater(len(intervals), 1)
        for number, event in enumerate(report["counts"]):
            counts = [i["counts"][number] for i in intervals]
            self.assertEqual({c["event"] for c in counts}, {events[number]})
            if event["state"] == "counted" and event["running"] == 1:
                self.assertEqual(sum(c["count"] for c in counts), event["count"])
            elif event["state"] != "counted":
                self.assertEqual({c["count"] for c in counts}, {None})
        self.assertAlmostEqual(sum(i["interval"] for i in intervals), intervals[-1]["seconds"])
        result = pmulab(*command, "-x", ";", "--", *TOUCH)
        rows = [line.split(";") for line in result.stderr.split("\n\n")[0].splitlines()[1:]]
        self.assertGreaterEqual(sum(int(n) for _, e, n in rows if e == "PAGE-FAULTS"), PAGES)
        table = pmulab(*command, "--", "sleep", "0.1").stderr
        self.assertRegex(table, r"^ +0\.\d{9} +\d+  PAGE-FAULTS\n")

    def test_delay(self):
        """A child that ran already then is counted from then on, as what has been forked since."""
        second = time.monotonic() + 5
        text = f"import time\n{TOUCH[2]}\ntime.sleep({second} - time.monotonic())\n{TOUCH[2]}\n"
        result = pmulab("stat", "-D", "3000", "-e", "PAGE-FAULTS", "--format", "json", "--", "sh",
                        "-c", '"$@"; exit 3', "sh", sys.executable, "-c", text)
        self.assertEqual(result.returncode, 3, result.stderr)
        count = json.loads(result.stderr)["counts"][0]["count"]
        self.assertGreaterEqual(count, PAGES)
        self.assertLess(count, PAGES + PAGES // 2)
        result = pmulab("stat", "-D", "60000", "-e", "PAGE-FAULTS", "--", "true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("ended before the delay of 60000 ms", result.stderr)

    def test_means(self):
        """Of one, two and three times as many pages: the deviation is that of 1, 2, 3."""
        with tempfile.TemporaryDirectory() as folder:
            text = ("import mmap, pathlib\n"
                    f"path = pathlib.Path({folder!r}, 'runs')\n"
                    "runs = len(path.read_text()) % 3 + 1 if path.exists() else 1\n"
                    "with path.open('a') as file: file.write('x')\n"
                    f"m = mmap.mmap(-1, {PAGES * 4096} * runs)\n"
                    "if hasattr(m, 'madvise'): m.madvise(15)\n"
                    f"for i in range({PAGES} * runs): m[i * 4096] = 1\n")
            command = ["stat", "-r", "3", "-e", "PAGE-FAULTS"]
            program = ["--", sys.executable, "-c", text]
            report = json.loads(pmulab(*command, "--format", "json", *program).stderr)
            rows = csv.DictReader(io.StringIO(pmulab(*command, "-x", ",", *program).stderr))
            table = pmulab(*command, *program).stderr
            self.assertEqual((pathlib.Path(folder) / "runs").read_text(), 9 * "x")
        runs = report["runs"]
        self.assertEqual((runs["count"], runs["events"][0]["name"]), (3, "PAGE-FAULTS"))
        for found in [runs["events"][0], *rows]:
            self.assertAlmostEqual(float(found["deviation"]) / PAGES, 1, delta=0.02)
            self.assertTrue(2 * PAGES <= float(found["mean"]) < 2.5 * PAGES, found)
        self.assertGreater(runs["seconds"]["mean"], 0)
        self.assertIn("means of 3 runs", table)
        self.assertRegex(table, r"PAGE-FAULTS  \(\+- \d\d\.\d\d %\)")

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
