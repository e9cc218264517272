#!/usr/bin/env python3
"""Any process of an emulated machine, killed at any time, its start included, leaves nothing.

KILLS=9000 tests/cli/test_kills.py is for hours by hand; SEED repeats a run.
"""
import ctypes
import os
import pathlib
import random
import shlex
import signal
import subprocess
import tempfile
import time
import unittest

from harness import PMULAB, SMALL
from processes import children_of, threads_of
from test_emulate import check_place, mounts

KILLS = int(os.environ.get("KILLS", "200"))
SEED = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
SECONDS = 30  # for everything to be gone
PR_SET_CHILD_SUBREAPER = 36

# The answers of the serving threads take so long that most kills fall between question and answer.
SLOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>
ssize_t writev(int fd, const struct iovec *parts, int count)
{
	static ssize_t (*real)(int, const struct iovec *, int);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "writev");
	usleep(10000);
	return real(fd, parts, count);
}
"""


def tree_of(pid):
    """The process and its descendants, those that left the tree's shape excepted."""
    found = [pid]
    for child in children_of(pid):
        found += tree_of(child)
    return found


def describe(pid):
    lines = []
    for thread in threads_of(pid):
        for file in ("comm", "stat", "wchan", "stack"):
            try:
                lines.append(pathlib.Path(f"/proc/{pid}/task/{thread}/{file}").read_text(
                    encoding="utf-8").strip())
            except OSError:
                continue
    return f"{pid}: " + " | ".join(lines)


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # What loses its parent becomes a child of this process: so nothing can hide.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        (folder / "slow.c").write_text(SLOW, encoding="utf-8")
        cls.slow = folder / "slow.so"
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", cls.slow, folder / "slow.c"],
                       check=True)
        cls.random = random.Random(SEED)
        cls.number = 0

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def environment(self, slow):
        environment = dict(os.environ)
        if slow:
            # It comes before the sanitizer's library, which is all the same to both.
            options = environment.get("ASAN_OPTIONS", "")
            environment["ASAN_OPTIONS"] = f"{options}:verify_asan_link_order=0".lstrip(":")
            environment["LD_PRELOAD"] = str(self.slow)
        return environment

    def start(self, command, tool, slow):
        Kills.number += 1
        self.name = f"kills-{os.getpid()}-{Kills.number}"
        arguments = [PMULAB, command, "-M", SMALL, "--name", self.name, "--", "sh", "-c",
                     tool.replace("NAME", self.name)]
        return subprocess.Popen(arguments, env=self.environment(slow), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_for_all(self, what):
        """Until this process has no child any more, however the tree fell apart."""
        end = time.monotonic() + SECONDS
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid:
                continue
            if time.monotonic() > end:
                left = tree_of(os.getpid())[1:]
                text = "\n".join(describe(pid) for pid in left)
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                self.fail(f"seed {SEED}: {what}: left over:\n{text}")
            time.sleep(0.002)

    def check_nothing_left(self, before, what):
        self.wait_for_all(what)
        self.assertEqual(mounts(), before, what)
        sockets = pathlib.Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
        self.assertNotIn(f"@pmulab/{self.name}", sockets, what)

    def kill(self, process, victims, index, before, what):
        try:
            os.kill(victims[index], signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
        self.check_nothing_left(before, f"{what}, process {index} of {len(victims)}")
        process.returncode = 0  # it was waited for

    def kill_after(self, case, slow, delay):
        before = mounts()
        process = self.start(*case[:2], slow)
        time.sleep(delay)
        victims = tree_of(process.pid)
        self.kill(process, victims, self.random.randrange(len(victims)), before,
                  f"{case}, {'slow, ' if slow else ''}after {delay:.4f} s")

    def kill_of_all(self, case, slow, index):
        """When the whole tree is there. How long that took."""
        before, begin = mounts(), time.monotonic()
        process = self.start(*case[:2], slow)
        while len(victims := tree_of(process.pid)) < case[2]:
            self.assertLess(time.monotonic(), begin + SECONDS, case)
            time.sleep(0.001)
        seconds = time.monotonic() - begin
        self.kill(process, victims, index, before, f"{case}, whole")
        return seconds

    def test_kills(self):
        attach = f"{shlex.quote(PMULAB)} emulate --attach NAME -- sleep 1000; exit 1"
        native = "sleep 1000; exit 1"
        daemon = "setsid sleep 1000 & wait; exit 1"  # in a session of its own
        # With the number of processes: command, server, tool and what that starts.
        cases = [("emulate", native, 4), ("emulate", attach, 5), ("emulate", daemon, 4),
                 ("lint", native, 4)]
        for slow in (False, True):
            seconds = {case: max(self.kill_of_all(case, slow, index) for index in range(case[2]))
                       for case in cases}
            for _ in range((KILLS - 34) // 2):
                case = self.random.choice(cases)
                self.kill_after(case, slow, self.random.uniform(0, 1.2 * seconds[case]))


if __name__ == "__main__":
    check_place()
    unittest.main(verbosity=2)
