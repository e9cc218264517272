#!/usr/bin/env python3
"""tests/limit: what eats memory or time is ended, whichever process it is, and has failed."""
import os
import pathlib
import subprocess
import sys
import time
import unittest

LIMIT = pathlib.Path(__file__).resolve().parent / "limit"
EAT = "import time\nkept = b'x' * (%d << 20)\nprint('full', flush=True)\ntime.sleep(60)"
GENTLE = "kept = bytearray(40 << 20)"


def run(script, megabytes=200, seconds=30, interpreter=(sys.executable, "-c")):
    environment = {"LIMIT_MB": str(megabytes), "LIMIT_SECONDS": str(seconds), "PATH": "/usr/bin:/bin"}
    begin = time.monotonic()
    result = subprocess.run([LIMIT, *interpreter, script], capture_output=True, text=True,
                            env=environment, timeout=50, check=False)
    return result, time.monotonic() - begin


class Limit(unittest.TestCase):
    @unittest.skipUnless("MESON_TEST_ITERATION" in os.environ, "for the test run as a whole")
    def test_this_test_is_limited(self):
        command = pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_bytes().split(b"\0")
        self.assertIn(os.fsencode(LIMIT), command)

    def test_memory(self):
        result, seconds = run(EAT % 400)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "uses [0-9]+ MB of memory, more than 200")
        self.assertLess(seconds, 20)

    def test_memory_of_descendants(self):
        """Of several together, out of sight of the command, which would call it a skip."""
        eater = f"{sys.executable} -c \"{EAT % 120}\""
        result, _ = run(f"setsid {eater} & {eater} & {eater}; exit 77", interpreter=("sh", "-c"))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("of memory", result.stderr)

    def test_shared_memory_counts_once(self):
        script = ("import mmap, os, time\nshared = mmap.mmap(-1, 120 << 20)\n"
                  "shared.write(b'x' * (120 << 20))\n"
                  "for _ in range(4): os.fork()\n"
                  "assert shared[1] == 120\nsum(shared[::4096]); time.sleep(1)")
        result, _ = run(script, megabytes=600)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_address_space_is_free(self):
        """As sanitizers reserve it."""
        result, _ = run("import mmap, time\nkept = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE "
                        "| mmap.MAP_ANONYMOUS | 0x4000)\ntime.sleep(0.5)")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_time(self):
        result, seconds = run("sleep 100 & sleep 100", seconds=1, interpreter=("sh", "-c"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("longer than 1 s", result.stderr)
        self.assertLess(seconds, 20)

    def test_exit_codes(self):
        for code in (0, 1, 77, 99):
            self.assertEqual(run(f"raise SystemExit({code})")[0].returncode, code)
        self.assertEqual(run("kill -9 $$", interpreter=("sh", "-c"))[0].returncode, 128 + 9)
        self.assertEqual(run(GENTLE)[0].returncode, 0)

    def test_nothing_is_left(self):
        result, _ = run("setsid sleep 1000 >&- 2>&- & echo $!", interpreter=("sh", "-c"))
        self.assertFalse(pathlib.Path(f"/proc/{result.stdout.strip()}").exists())

    def test_ended_from_outside(self):
        """As meson does when a test takes too long."""
        process = subprocess.Popen([LIMIT, "sh", "-c", "setsid sleep 1000 & echo $!; wait"],
                                   stdout=subprocess.PIPE, text=True)
        child = process.stdout.readline().strip()
        process.terminate()
        self.assertNotEqual(process.wait(timeout=20), 0)
        process.stdout.close()
        self.assertFalse(pathlib.Path(f"/proc/{child}").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
