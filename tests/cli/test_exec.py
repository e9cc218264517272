#!/usr/bin/env python3
"""Programs that the measured one executes: counted on the same machine, or named."""
import json
import os
import pathlib
import signal
import subprocess
import unittest

from harness import LARGE, SMALL, Guests, OnValgrind, pmulab, stat, total

INSTRUCTIONS = "xeon-e5v4/core.INST_RETIRED.ANY"
CYCLES = "xeon-e5v4/core.CPU_CLK_UNHALTED.THREAD"
SHORT, LONG = 1000, 21000
# What follows the loop is three instructions, what is before it one.
WORKS = """
        .globl _start
_start: mov ${count}, %ecx
1:      dec %ecx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
"""
# Of the 32-bit interface: exit(7).
FOREIGN = """
        .globl _start
_start: mov $1, %eax
        mov $7, %ebx
        int $0x80
"""
SPAWNS = r"""
#include <spawn.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
	int pid, status;

	(void)argc;
	if (posix_spawn(&pid, argv[1], 0, 0, argv + 1, 0) || waitpid(pid, &status, 0) != pid)
		return 1;
	return status != 0;
}
"""
EXECUTES = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* By a descriptor; with a second argument, that of a copy without a name. */
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	char bytes[65536];

	if (argc > 2) {
		int copy = memfd_create("copy", MFD_CLOEXEC);

		for (long n; (n = read(fd, bytes, sizeof(bytes))) > 0;)
			if (write(copy, bytes, (size_t)n) != n)
				return 1;
		fd = copy;
	}
	fexecve(fd, argv + 1, environ);
	return 1;
}
"""
# A thread that is not the first executes a program, while others are in loops and one sleeps.
AMONG_THREADS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static char **arguments;

static void *loops(void *unused)
{
	for (volatile unsigned i = 0;; i++)
		;
	return unused;
}

static void *executes(void *unused)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	execv(arguments[0], arguments);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	(void)argc;
	arguments = argv + 1;
	for (unsigned i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, loops, 0);
	pthread_create(&threads[3], 0, executes, 0);
	for (;;)
		pause();
}
"""

# Children that end one after the other, while others are in loops and their parent waits.
FORKS = r"""
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	for (unsigned i = 1; i <= 6; i++)
		if (!fork()) {
			for (volatile unsigned j = 0; j < 5000 * i; j++)
				;
			_exit(0);
		}
	while (wait(0) > 0)
		;
	return 0;
}
"""
SPAWNS_AT_ONCE = r"""
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Itself, with what each has to do. */
int main(int argc, char **argv)
{
	char *work[] = {argv[0], "100000", 0};
	const int iterations = argc > 1 ? atoi(argv[1]) : 0;

	for (volatile int i = 0; i < iterations; i++)
		;
	for (int i = 0; argc == 1 && i < 6; i++)
		posix_spawn(&(int){0}, argv[0], 0, 0, work, 0);
	while (wait(0) > 0)
		;
	return 0;
}
"""
# Each thread executes twice what it is told.
THREADS_SPAWN = r"""
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

static void *run(void *words)
{
	char **argv = words;
	int pid, status;

	for (int i = 0; i < 2; i++)
		if (posix_spawn(&pid, argv[0], 0, 0, argv, 0) ||
		    waitpid(pid, &status, 0) != pid || status)
			return words;
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	int failed = argc < 2;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, run, argv + 1);
	for (int i = 0; i < 3; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		failed |= wrong != 0;
	}
	return failed;
}
"""


def build(path, name, source, *options, suffix=".c"):
    file = path / (name + suffix)
    file.write_text(source, encoding="utf-8")
    subprocess.run(["gcc", *options, "-o", path / name, file], check=True)
    return str(path / name)


class Loops(Guests):
    """
    Two programs, wrapped in the same way, differ by what they differ by alone. That the programs are
    counted to the last instruction is tested with the feeds; wrappers are not the same each time:
    shells keep process ids, for one, as text.
    """

    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.short, cls.long = (
            build(cls.path, name, WORKS.format(count=count), "-nostdlib", "-static", suffix=".S")
            for name, count in (("a", SHORT), ("b", LONG)))

    def count(self, *command):
        return total(stat(SMALL, [INSTRUCTIONS], *command, options=self.options), INSTRUCTIONS)

    def check(self, *before, times=1, delta=1000):
        short, long = (self.count(*before, program) for program in (self.short, self.long))
        self.assertAlmostEqual(long - short, times * 2 * (LONG - SHORT), delta=delta)
        self.assertGreater(short, times * (2 * SHORT + 4))


class Wrapped(Loops):
    def test_alone(self):
        self.assertEqual(self.count(self.short), 2 * SHORT + 4)

    def test_wrappers(self):
        self.check("env")
        self.check("env", "nice", "sh", "-c", "exec $0")

    def test_children(self):
        """When the signal of a child's end comes, is the host's affair, and what it interrupts."""
        self.check("sh", "-c", "$0; :")
        self.check("sh", "-c", "for i in 1 2 3; do $0; done", times=3, delta=3000)
        self.check("timeout", "100", delta=5000)

    def test_spawned(self):
        self.check(build(self.path, "spawns", SPAWNS, "-O1"))

    def test_by_descriptor(self):
        self.check(build(self.path, "executes", EXECUTES, "-O1", "-static"))

    def test_among_threads(self):
        """It keeps the thread's place, whether the threads have cores of their own or share them."""
        program = build(self.path, "among-threads", AMONG_THREADS, "-O1", "-pthread")
        shown = ["/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status"]
        for machine in SMALL, LARGE:
            for more in (), ("--deterministic",):
                result = pmulab("stat", "-M", machine, "-o", "/dev/null", *self.options, *more,
                                "--", program, *shown)
                self.assertEqual((result.returncode, result.stdout),
                                 (0, "Cpus_allowed_list:\t1\n"), result.stderr)
            options = (*self.options, "--deterministic")
            first, second = (stat(machine, [INSTRUCTIONS], program, self.short, options=options)
                             for _ in range(2))
            self.assertEqual(first, second)

    def test_spawned_by_threads(self):
        """One that waits until its child executes may keep the others from what they need."""
        program = build(self.path, "threads-spawn", THREADS_SPAWN, "-O1", "-pthread")
        short, long = (self.count(program, work) for work in (self.short, self.long))
        self.assertAlmostEqual(long - short, 6 * 2 * (LONG - SHORT), delta=10000)

    def check_turns(self, *command):
        options = (*self.options, "--deterministic")
        reports = {str(stat(SMALL, [INSTRUCTIONS, CYCLES], *command, options=options))
                   for _ in range(4)}
        self.assertEqual(len(reports), 1, reports)

    def test_children_in_turns(self):
        """The parent goes on as soon as a child has ended, before any other."""
        self.check_turns(build(self.path, "forks", FORKS, "-O1"))

    def test_spawned_in_turns(self):
        """Programs are executed while others run, and their parent waits, as in vfork()."""
        self.check_turns(build(self.path, "spawns-at-once", SPAWNS_AT_ONCE, "-O1"))

    def test_spawned_by_threads_in_turns(self):
        """An emulator may have all threads stand still while one forks."""
        self.check_turns(build(self.path, "threads-spawn", THREADS_SPAWN, "-O1", "-pthread"), self.long)


class Valgrind(OnValgrind, Wrapped):
    pass


class Scripts(Loops):
    def script(self, name, text, mode=0o755):
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return str(path)

    def test_scripts(self):
        """An interpreter is given its path and one argument; text without one is the shell's."""
        for program in self.short, self.long:
            self.script("of-" + pathlib.Path(program).name, f"#! {program}  one argument \n")
        short, long = (self.count("env", self.path / f"of-{name}") for name in "ab")
        self.assertAlmostEqual(long - short, 2 * (LONG - SHORT), delta=1000)
        inner = self.script("inner", '#!/bin/sh -e\necho "$0 $* $-"\n')
        outer = self.script("outer", f"#!{inner} a  b \n")
        plain = self.script("plain", 'echo "plain $0 $*"\n')
        for command, said in (((outer, "c"), f"{inner} a  b {outer} c e\n"),
                              (("env", outer, "c"), f"{inner} a  b {outer} c e\n"),
                              ((plain, "c"), f"plain {plain} c\n"),
                              (("env", plain, "c"), f"plain {plain} c\n")):
            result = pmulab("stat", "-M", SMALL, "-e", INSTRUCTIONS, "--", *command)
            self.assertEqual((result.returncode, result.stdout), (0, said), result.stderr)


class OfBoth(Guests):
    options = ()

    def run_both(self, *command, **options):
        """On the machine and natively, which must say the same."""
        native = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        result = pmulab("stat", "-M", SMALL, *self.options, "-e", INSTRUCTIONS, "-o",
                        self.path / "report", "--", *command, **options)
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (native.returncode, native.stdout, native.stderr))


class AsTheSystem(OfBoth):
    def test_environment(self):
        variables = {"PATH": os.environ["PATH"], "A": "1", "EMPTY": "", "C": "a,b=c", "B": "2"}
        self.run_both("env", env=variables)
        self.run_both("/bin/sh", "-c", "exec env", env=variables)
        self.run_both("sh", "-c", "exec env -i X=1 Y=2 env", env=variables)

    def test_words(self):
        self.run_both("sh", "-c", r'exec sh -c "printf %s\\\\n \"\$0\" \"\$@\"" "" -0 -E a,b " "')
        self.run_both("bash", "-c", 'exec -a name sh -c \'echo "$0"; readlink /proc/$$/fd/0\' ')
        self.run_both("sh", "-c", "exec /proc/self/exe -c 'echo itself'")

    def test_signals(self):
        """What was ignored stays ignored; handlers are gone."""
        result = pmulab("stat", "-M", SMALL, "-e", INSTRUCTIONS, "-o", self.path / "report", "--",
                        "sh", "-c", "trap '' USR1; trap : USR2; exec sh -c 'kill -USR1 $$; echo on; "
                        "kill -USR2 $$; echo no'")
        self.assertEqual((result.returncode, result.stdout), (128 + signal.SIGUSR2, "on\n"))

    def test_descriptors(self):
        self.run_both("sh", "-c", "ls /proc/self/fd")
        self.run_both("bash", "-c", "exec 7</dev/null; ls /proc/self/fd; sh -c 'ls /proc/self/fd'")


class Failures(OfBoth):
    def test_failures(self):
        (self.path / "text").write_text("text", encoding="utf-8")
        (self.path / "script").write_text("#!/no/such/interpreter\n", encoding="utf-8")
        (self.path / "script").chmod(0o755)
        (self.path / "outer").write_text(f"#!{self.path}/script\n", encoding="utf-8")
        (self.path / "outer").chmod(0o755)
        for name in ("/no/such/program", self.path / "text", self.path / "script",
                     self.path / "outer", self.path):
            self.run_both("/usr/bin/env", str(name))


class FailuresOnValgrind(OnValgrind, Failures):
    pass


class Natives(Guests):
    def foreign(self):
        program = build(self.path, "foreign", FOREIGN, "-m32", "-nostdlib", "-static", suffix=".S")
        try:
            if subprocess.run([program], check=False).returncode == 7:
                return program
        except OSError:
            pass
        raise unittest.SkipTest("this computer runs no 32-bit programs")

    def test_foreign(self):
        """Named with how often, in every format; one that could not be executed is not."""
        program = self.foreign()
        line = f"{program}; {program}; /no/such/program; exec {program}"
        command = ["sh", "-c", line]
        report = stat(SMALL, [INSTRUCTIONS], *command, exit_code=7)
        self.assertEqual(report["not_emulated"],
                         [{"program": program, "reason": "not a 64-bit program", "times": 3}])
        arguments = ["stat", "-M", SMALL, "-e", INSTRUCTIONS]
        result = pmulab(*arguments, "--", *command)
        self.assertRegex(result.stderr, rf"\n +3  {program}  \(not a 64-bit program\)\n")
        result = pmulab(*arguments, "--format", "csv", "--", *command)
        self.assertIn(f"{program},,,,,3,outside the machine: not a 64-bit program\n", result.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "gives files away")
    def test_set_uid(self):
        """Who becomes another user by a file's owner is outside; the owner himself does not."""
        program = build(self.path, "rights", WORKS.format(count=SHORT), "-nostdlib", "-static",
                        suffix=".S")
        self.path.chmod(0o755)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        command = ["-M", SMALL, "-e", INSTRUCTIONS]
        line = ["--", "sh", "-c", f"{program}; {program}"]
        why = "runs with rights of its file"
        report = stat(SMALL, [INSTRUCTIONS], *line[1:])
        self.assertEqual(report["not_emulated"], [{"program": program, "reason": why, "times": 2}])
        table = pmulab("stat", *command, *line).stderr
        self.assertRegex(table, rf"outside the machine.*\n\n +2  {program}  \({why}\)\n")
        rows = pmulab("stat", *command, "--format", "csv", *line).stderr
        self.assertIn(f"{program},,,,,2,outside the machine: {why}\n", rows)
        try:
            own = pmulab("stat", *command, "--format", "json", *line, user=65534, cwd="/")
        except PermissionError:
            self.skipTest("others cannot reach pmulab")
        self.assertEqual(own.returncode, 0, own.stderr)
        self.assertEqual(json.loads(own.stderr)["not_emulated"], [])

    def test_without_name(self):
        program = build(self.path, "executes", EXECUTES, "-O1", "-static")
        report = stat(SMALL, [INSTRUCTIONS], program, "/bin/true", "copy")
        self.assertEqual([(p["reason"], p["times"]) for p in report["not_emulated"]],
                         [("a file without a name", 1)])

    def test_none(self):
        self.assertEqual(stat(SMALL, [INSTRUCTIONS], "env", "true")["not_emulated"], [])

    @unittest.skipUnless(os.geteuid() == 0, "becomes another user")
    def test_another_user(self):
        """Who may not open the machine runs without."""
        report = stat(SMALL, [INSTRUCTIONS], "setpriv", "--reuid", "65534", "--clear-groups", "id")
        self.assertEqual(len(report["not_emulated"]), 1, report)


class Builds(Guests):
    def test_make(self):
        """A compiler, its parts and what it builds."""
        (self.path / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
        (self.path / "Makefile").write_text(
            "main: main.o\n\tgcc -o $@ $<\n\t./main\nmain.o: main.c\n\tgcc -O2 -c $<\n",
            encoding="utf-8")
        report = stat(SMALL, [INSTRUCTIONS], "make", "-C", self.path)
        self.assertEqual(report["not_emulated"], [])
        # The parts of a compiler: tens of millions. The driver and make: less than two.
        self.assertGreater(total(report, INSTRUCTIONS), 10_000_000)
        subprocess.run([self.path / "main"], check=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
