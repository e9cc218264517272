#!/usr/bin/env python3
"""A program on the library has its registers restored, whatever ends it."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.environ["CLI_TESTS"])
from host_tree import Tree  # noqa: E402 (needs the path)

GUARDED = os.environ["GUARDED"]
BUSY, STATE = 10, 9  # enum pmu_error, without the sign
C0_CTL0 = 0xE01
# 334291-001 tables 2-16 and 2-21: LLC_LOOKUP is 0x34, ANY 0x11; en is bit 22.
FOUND, PROGRAMMED = 0x137, 0x401134


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("it did not happen")
        time.sleep(0.005)


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


class Guarded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.env = {**os.environ, "PMULAB_RUNTIME_DIR": str(self.root / "runtime")}
        self.tree = Tree(self.root)
        self.tree.set_msr(0, C0_CTL0, FOUND)

    def control(self):
        return self.tree.msr(0, C0_CTL0)

    def journals(self):
        folder = self.root / "runtime"
        return list(folder.iterdir()) if folder.exists() else []

    def start(self, mode="count"):
        process = subprocess.Popen([GUARDED, self.root, mode], env=self.env, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "counting\n")
        self.assertEqual(self.control(), PROGRAMMED)
        return process

    def run_mode(self, mode):
        return subprocess.run([GUARDED, self.root, mode], env=self.env, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def end_all(self, process):
        """Kills the guardian first, then the process."""
        for child in children(process.pid):
            os.kill(int(child), signal.SIGKILL)
        process.kill()
        process.wait()

    def test_ends(self):
        result = self.run_mode("count")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual((self.control(), self.journals()), (FOUND, []))

    def test_ended(self):
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
            with self.subTest(signal=number):
                process = self.start()
                process.send_signal(number)
                process.wait()
                wait_until(lambda: self.control() == FOUND and not self.journals())

    def test_no_guardian(self):
        """What the guardian is good for: without it registers stay as they are."""
        process = self.start("unguarded")
        self.assertEqual(children(process.pid), [])
        self.end_all(process)
        self.assertEqual((self.control(), self.journals()), (PROGRAMMED, []))

    def test_both_ended(self):
        process = self.start()
        self.end_all(process)
        self.assertEqual(self.control(), PROGRAMMED)
        listed = self.run_mode("list")
        self.assertEqual(listed.stdout.splitlines()[0], f"{process.pid} killed")
        self.assertIn(f"{C0_CTL0:#x} {FOUND:#x}", listed.stdout.splitlines())
        refused = self.run_mode("count")
        self.assertEqual(refused.returncode, BUSY, refused.stderr)
        self.assertIn(f"process {process.pid} was killed", refused.stderr)
        self.assertEqual(self.run_mode("restore").returncode, 0)
        self.assertEqual((self.control(), self.journals()), (FOUND, []))

    def test_one_at_a_time(self):
        result = self.run_mode("twice")
        self.assertEqual(result.returncode, STATE, result.stderr)
        self.assertEqual((self.control(), self.journals()), (FOUND, []))


unittest.main()
