#!/usr/bin/env python3
"""Programs that never run, and folders whose names mean something to the emulator or the loader."""
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import unittest

from harness import PMULAB, SMALL, Guests, pmulab

PLUGIN = pathlib.Path(os.environ["PLUGIN"])
GUEST = pathlib.Path(os.environ["GUEST"])
STAT = ["stat", "-M", SMALL, "-e", "imc.CAS_COUNT.RD"]
# Takes a list apart, an option, a list of libraries (twice), a variable of the loader, an option.
FOLDER = "a,b c:d$ORIGIN=e,,f"


def is_root():
    return os.geteuid() == 0 and os.path.exists("/dev/fuse")


class NeverRan(Guests):
    def check(self, result, *words):
        """No report, not even of zeros, and an exit code that a shell has for it."""
        self.assertEqual(result.returncode, 126, result.stderr)
        for word in ("never began to run", *words):
            self.assertIn(word, result.stderr)
        self.assertNotIn("CAS_COUNT", result.stderr + result.stdout)

    def without_plugin(self, *arguments):
        return pmulab(*arguments, env={**os.environ, "PMULAB_PLUGIN": "/nonexistent/plugin"})

    def unloadable(self):
        """A program whose interpreter is not there: the emulator finds that out."""
        source = self.path / "dynamic.c"
        source.write_text("int main(void) { return 0; }", encoding="utf-8")
        program = self.path / "dynamic"
        subprocess.run(["gcc", "-o", program, source, "-Wl,--dynamic-linker=/nonexistent/loader"],
                       check=True)
        return program

    def test_stat(self):
        self.check(self.without_plugin(*STAT, "--", "true"), "true", "qemu-x86_64")
        self.check(self.without_plugin(*STAT, "--format", "json", "--", "true"))
        self.check(pmulab(*STAT, "--", self.unloadable()), "dynamic")

    def test_address_space(self):
        """A segment at an address that no program can have."""
        program = self.path / "high"
        header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 1 << 62, 64, 0,
                             0, 64, 56, 1, 0, 0, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 1 << 62, 1 << 62, 120, 120, 4096)
        program.write_bytes(header + segment)
        program.chmod(0o755)
        self.check(pmulab(*STAT, "--", program), "high")

    def test_descriptors(self):
        """With few it counts, or it says why not: never a report of zeros."""
        ran = set()
        for limit in range(4, 24):
            result = pmulab(*STAT, "--format", "json", "--", "true", preexec_fn=lambda n=limit:
                            resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
            ran.add(result.returncode == 0)
            if result.returncode:
                self.assertIn(result.returncode, (1, 126, 127), result.stderr)
                self.assertNotIn("CAS_COUNT", result.stderr)
                self.assertIn("pmulab stat: ", result.stderr)
            else:
                self.assertNotIn('"count": 0', result.stderr)
        self.assertEqual(ran, {False, True})

    @unittest.skipUnless(is_root(), "device files need root and /dev/fuse")
    def test_tools(self):
        for command in ("emulate", "lint"):
            self.check(self.without_plugin(command, "-M", SMALL, "--", "true"), "true")
            result = pmulab(command, "-M", SMALL, "--", self.unloadable())
            self.check(result)
            self.assertNotIn("broke no rule", result.stderr)

    @unittest.skipUnless(is_root(), "device files need root and /dev/fuse")
    def test_attached(self):
        """Also where another program has run on the machine before."""
        name = f"run-{os.getpid()}"
        inner = f"{PMULAB} emulate --attach {name} -- true && PMULAB_PLUGIN=/nonexistent " \
                f"{PMULAB} emulate --attach {name} -- true"
        result = pmulab("emulate", "-M", SMALL, "--name", name, "--", "sh", "-c", inner)
        self.check(result)

    def test_killed_before(self):
        """The emulator, as soon as it is there: a signal is no missing program."""
        script = self.path / "qemu" / "qemu-x86_64"
        script.parent.mkdir()
        script.write_text("#!/bin/sh\nkill -9 $$\n", encoding="utf-8")
        script.chmod(0o755)
        result = pmulab(*STAT, "--", "true",
                        env={**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}"})
        self.assertEqual(result.returncode, 128 + 9)
        self.assertIn("before it began to run", result.stderr)
        self.assertNotIn("CAS_COUNT", result.stderr)


class Folders(Guests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.strange = cls.path / FOLDER
        cls.strange.mkdir()
        for library in (PLUGIN, GUEST):
            shutil.copy(library, cls.strange)

    def test_plugin(self):
        result = pmulab(*STAT, "--", "true",
                        env={**os.environ, "PMULAB_PLUGIN": str(self.strange / PLUGIN.name)})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"\n *[1-9][0-9,]*  imc.CAS_COUNT.RD")
        result = pmulab(*STAT, "--", "sh", "-c", "ls /proc/$$/fd",
                        env={**os.environ, "PMULAB_PLUGIN": str(self.strange / PLUGIN.name)})
        self.assertEqual(result.stdout.split(), ["0", "1", "2"])

    def test_program(self):
        program = self.strange / "program"
        shutil.copy("/bin/true", program)
        result = pmulab(*STAT, "--", program)
        self.assertEqual(result.returncode, 0, result.stderr)

    @unittest.skipUnless(is_root(), "device files need root and /dev/fuse")
    def test_guest(self):
        """A tool is answered by the machine: one socket of four cores, not the computer's."""
        program = self.path / "cpuid"
        subprocess.run(["gcc", "-O1", "-o", program,
                        pathlib.Path(__file__).resolve().parent / "cpuid.c"], check=True)
        environment = {**os.environ, "PMULAB_GUEST": str(self.strange / GUEST.name)}
        result = pmulab("emulate", "-M", SMALL, "--", program, 0, 3, 4, env=environment)
        self.assertEqual(result.stdout.splitlines()[:3], ["0 8 4 0", "6 8 4 3", "no"],
                         result.stderr)
        result = pmulab("emulate", "-M", SMALL, "--", "sh", "-c", "ls /proc/$$/fd; echo $LD_PRELOAD",
                        env=environment)
        self.assertEqual((result.stdout.split(), result.stderr), (["0", "1", "2"], ""))

    @unittest.skipUnless(is_root(), "device files need root and /dev/fuse")
    def test_no_guest(self):
        """The loader would only warn, and the tool find another processor."""
        for wrong in ("/nonexistent/guest", PMULAB, PLUGIN, "/dev/null", "/", __file__):
            result = pmulab("emulate", "-M", SMALL, "--", "echo", "ran",
                            env={**os.environ, "PMULAB_GUEST": str(wrong)})
            self.assertEqual((result.returncode, result.stdout), (1, ""), wrong)
            self.assertIn("cannot load", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)


CANCELS = r"""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ready[2];

static void clean(void *arg)
{
	puts(arg);
}

static void *sleep_for_ever(void *arg)
{
	pthread_cleanup_push(clean, arg);
	if (write(ready[1], "", 1) == 1)
		for (;;)
			pause();
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	void *result;
	char byte;

	if (pipe(ready) || pthread_create(&thread, NULL, sleep_for_ever, "cleaned up") ||
	    read(ready[0], &byte, 1) != 1 || pthread_cancel(thread) || pthread_join(thread, &result))
		return 1;
	return result != PTHREAD_CANCELED;
}
"""


class Cancelled(Guests):
    """pthread_cancel(), whose handler keeps SSE registers on the stack and unwinds it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.path / "cancels.c").write_text(CANCELS, encoding="utf-8")
        cls.program = cls.path / "cancels"
        subprocess.run(["gcc", "-O1", "-pthread", "-o", cls.program, cls.path / "cancels.c"],
                       check=True)

    def check(self, *command):
        result = pmulab(*command, "--", self.program)
        self.assertEqual((result.returncode, result.stdout), (0, "cleaned up\n"), result.stderr)

    def test_program(self):
        self.check(*STAT)

    @unittest.skipUnless(is_root(), "device files need root and /dev/fuse")
    def test_tool(self):
        self.check("emulate", "-M", SMALL)


if __name__ == "__main__":
    unittest.main(verbosity=2)
