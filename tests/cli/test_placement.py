#!/usr/bin/env python3
"""CPUs, memory and clocks of a program on a machine: those that it sees, and those that it uses."""
import subprocess
import time
import unittest

from harness import LARGE, SMALL, Guests, OnValgrind, pmulab, stat, total

INSTRUCTIONS, READS = "xeon-e5v4/core.INST_RETIRED.ANY", "imc.CAS_COUNT.RD"
CORES = 22  # of a socket of the large machine
PAGES = 1000
# One line of code, one line of each page.
TOUCHES = f"""
        .globl _start
        .balign 4096
_start: lea pages(%rip), %rsi
        mov ${PAGES}, %ecx
1:      mov (%rsi), %rax
        add $4096, %rsi
        dec %ecx
        jnz 1b
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
        .balign 4096
pages:  .skip 4096 * {PAGES}
"""
# A line of each page is read twice, after a call again, at what may be another address.
MOVES = f"""
        .globl _start
        .balign 4096
_start: mov $2, %ebp
        lea pages(%rip), %rbx
2:      mov %rbx, %rsi
        mov ${PAGES}, %ecx
1:      mov (%rsi), %rax
        add $4096, %rsi
        dec %ecx
        jnz 1b
        dec %ebp
        jz 3f
        mov %rbx, %rdi
        mov ${4096 * PAGES}, %esi
        mov ${4096 * (PAGES + 1)}, %edx
        mov $3, %r10d                   # may move, and to there
        mov $0x10000000, %r8d
        mov ${{number}}, %eax
        syscall
        mov ${{address}}, %rbx
        jmp 2b
3:      mov (%rsi), %rdx                # what it has grown by
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
        .balign 4096
pages:  .skip 4096 * {PAGES + 1}
"""
GETPID, MREMAP = 39, 25
# What it sees, a line each: CPUs, CPU; the same after it has chosen CPU 30; of a thread that is made
# for CPU 41, and of the set that a child of that inherits; then what a CPU is that is not there.
ASKS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(void)
{
	unsigned cpu, node;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || getcpu(&cpu, &node))
		exit(1);
	printf("%d %d %u %u\n", CPU_COUNT(&set), sched_getcpu(), cpu, node);
	fflush(stdout);
}

static void *run(void *arg)
{
	tell();
	if (!fork()) {
		tell();
		_exit(0);
	}
	wait(NULL);
	return arg;
}

static void choose(cpu_set_t *set, int cpu)
{
	CPU_ZERO(set);
	CPU_SET(cpu, set);
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	cpu_set_t set;

	tell();
	choose(&set, 30);
	if (sched_setaffinity(0, sizeof(set), &set) || !CPU_ISSET(30, &set))
		return 1;
	tell();
	choose(&set, 41);
	pthread_attr_init(&attributes);
	if (pthread_attr_setaffinity_np(&attributes, sizeof(set), &set) ||
	    pthread_create(&thread, &attributes, run, NULL) || pthread_join(thread, NULL))
		return 1;
	choose(&set, 50);
	if (sched_setaffinity(0, sizeof(set), &set))
		puts(errno == EINVAL ? "refused" : "failed");
	return 0;
}
"""
# The CPU of a thread that another one sets while it executes, and that sleeps next, until the other
# has executed for longer than any core may be ahead of one that others wait for.
MOVED = r"""
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int thread, moved, over;

static void *run(void *arg)
{
	thread = (int)syscall(SYS_gettid);
	while (!moved)
		continue;
	while (!over)
		syscall(SYS_futex, &over, FUTEX_WAIT, 0, NULL, NULL, 0);
	printf("%d\n", sched_getcpu());
	return arg;
}

int main(void)
{
	pthread_t other;
	cpu_set_t set;

	pthread_create(&other, NULL, run, NULL);
	while (!thread)
		continue;
	CPU_ZERO(&set);
	CPU_SET(41, &set);
	sched_setaffinity(thread, sizeof(set), &set);
	moved = 1;
	for (volatile int i = 0; i < 1000000; i++)
		continue;
	over = 1;
	syscall(SYS_futex, &over, FUTEX_WAKE, 1, NULL, NULL, 0);
	pthread_join(other, NULL);
	return 0;
}
"""

# More threads than Valgrind has by default, all at once.
MANY = r"""
#include <pthread.h>
#include <stdio.h>

#define THREADS 600

static pthread_barrier_t barrier;

static void *run(void *arg)
{
	pthread_barrier_wait(&barrier);
	return arg;
}

int main(void)
{
	static pthread_t threads[THREADS];
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 1 << 16);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &attributes, run, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("all");
	return 0;
}
"""


class Placement(Guests):
    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, suffix, source, *options in (
                ("touches", ".S", TOUCHES, "-nostdlib", "-static"),
                ("stays", ".S", MOVES.format(number=GETPID, address="pages"), "-nostdlib", "-static"),
                ("moves", ".S", MOVES.format(number=MREMAP, address="0x10000000"), "-nostdlib",
                 "-static"),
                ("asks", ".c", ASKS, "-O1", "-pthread"), ("moved", ".c", MOVED, "-O1", "-pthread"),
                ("many", ".c", MANY, "-O1", "-pthread")):
            (cls.path / (name + suffix)).write_text(source, encoding="utf-8")
            subprocess.run(["gcc", *options, "-o", cls.path / name, cls.path / (name + suffix)],
                           check=True)

    def reads(self, *options, program="touches"):
        report = stat(self.untranslated(LARGE), [READS], self.path / program,
                      options=("--prefetchers", "none", *options, *self.options))
        return [total(report, READS, socket=socket) for socket in (0, 1)]

    def test_memory(self):
        """The page of code is the first; first touch, bound, in turns."""
        self.assertEqual(self.reads(), [1 + PAGES, 0])
        self.assertEqual(self.reads("--pin", CORES), [0, 1 + PAGES])
        self.assertEqual(self.reads("--membind", 1), [0, 1 + PAGES])
        self.assertEqual(self.reads("--membind", "0-1", "--pin", CORES), [0, 1 + PAGES])
        self.assertEqual(self.reads("--interleave", "0,1"), [1 + PAGES // 2, PAGES // 2])

    def test_moved_pages(self):
        """mremap() moves no data: lines of the caches are found at the new address."""
        code = 2  # lines
        for program in ("stays", "moves"):
            self.assertEqual(self.reads(program=program), [code + PAGES + 1, 0], program)

    def cores(self, options, *command):
        report = stat(LARGE, [INSTRUCTIONS], *command, options=(*options, *self.options))
        return {CORES * c["socket"] + c["instance"] for c in report["counts"] if c["count"]}

    def test_pinned(self):
        program = self.path / "touches"
        self.assertEqual(self.cores((), program), {0})
        self.assertEqual(self.cores(("--pin", "5"), program), {5})
        self.assertEqual(self.cores(("--pin", "7,5"), program), {5})
        self.assertEqual(self.cores(("--pin", "3"), "taskset", "-c", "40-41", program), {3, 40})
        self.assertEqual(self.cores(("--pin", "3"), "sh", "-c", "$0; :", program), {3})

    def test_counted_cpus(self):
        """What runs on core 1 of socket 1 is all on CPU 23, and nothing of it on others."""
        event = "core.INST_RETIRED.ANY"
        def counts(cpus):
            report = stat(LARGE, [event], "/bin/true", options=(*self.options, "-C", cpus, "--pin", "23"))
            return {(c["socket"], c["instance"]): c["count"] for c in report["counts"]}
        whole = counts("0-43")
        self.assertEqual(len(whole), 44)
        self.assertEqual({key for key, count in whole.items() if count}, {(1, 1)})
        self.assertEqual(counts("23"), {(1, 1): whole[1, 1]})
        self.assertEqual(counts("0,22"), {(0, 0): 0, (1, 0): 0})

    def test_seen(self):
        for options, first in (((), "44 0 0 0"), (("--pin", "23-24"), "2 23 23 1")):
            result = pmulab("stat", "-M", LARGE, "-e", INSTRUCTIONS, *options, *self.options, "--",
                            self.path / "asks")
            self.assertEqual(result.stdout.splitlines(),
                             [first, "1 30 30 1", "1 41 41 1", "1 41 41 1", "refused"], result.stderr)

    def test_moved(self):
        result = pmulab("stat", "-M", LARGE, "-e", INSTRUCTIONS, *self.options, "--",
                        self.path / "moved")
        self.assertEqual(result.stdout, "41\n", result.stderr)

    def test_many_threads(self):
        result = pmulab("stat", "-M", SMALL, "-e", INSTRUCTIONS, *self.options, "--",
                        self.path / "many")
        self.assertEqual((result.returncode, result.stdout), (0, "all\n"), result.stderr)


class Valgrind(OnValgrind, Placement):
    pass


CLOCK = r"""
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* On the computer, which has been on for longer, it ends at once. @return seconds of time() */
static long long sleep_until(long long ns)
{
	const struct timespec end = {ns / 1000000000, ns % 1000000000};
	const time_t begin = time(NULL);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
	return time(NULL) - begin;
}

/*
 * Nanoseconds of a loop and of a sleep, how far the clocks of the day are apart, in us, the day,
 * and seconds until 10 s after power on.
 */
int main(void)
{
	long long start = now(CLOCK_MONOTONIC), looped, slept;
	struct timeval day;
	long i = 4400000;

	__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(i));
	looped = now(CLOCK_MONOTONIC);
	usleep(50000);
	slept = now(CLOCK_MONOTONIC);
	gettimeofday(&day, NULL);
	printf("%lld %lld %lld %lld", looped - start, slept - looped,
	       now(CLOCK_REALTIME) / 1000 - (day.tv_sec * 1000000LL + day.tv_usec),
	       (long long)day.tv_sec);
	printf(" %lld\n", sleep_until(10000000000));
	return 0;
}
"""
# Nanoseconds of a loop, and of the sleeps of a thread beside it.
BESIDE = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long long slept;

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void *sleeps(void *unused)
{
	const long long start = now();

	for (int i = 0; i < 4; i++)
		usleep(1000);
	slept = now() - start;
	return unused;
}

int main(void)
{
	long long start, looped;
	pthread_t thread;
	long i = 7000000;

	start = now();
	pthread_create(&thread, NULL, sleeps, NULL);
	__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(i));
	looped = now() - start;
	pthread_join(thread, NULL);
	printf("%lld %lld\n", looped, slept);
	return 0;
}
"""
# Cycles of a loop by the time stamp counter, its frequency in MHz, and what Linux keeps beside it.
STAMPS = r"""
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

int main(void)
{
	const unsigned long long start = __rdtsc();
	unsigned long long end;
	struct timespec time;
	unsigned cpu;
	long i = 4400000;

	__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(i));
	end = __rdtscp(&cpu);
	clock_gettime(CLOCK_MONOTONIC, &time);
	printf("%llu %.0f %u %u\n", end - start,
	       end * 1e3 / (time.tv_sec * 1e9 + time.tv_nsec), cpu >> 12, cpu & 0xFFF);
	return 0;
}
"""

# Processor time in ns by its clocks: of the process, of its first thread, and of another one.
CPU_TIMES = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void loop(long i)
{
	__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(i));
}

static long long now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long usage(int whose)
{
	struct rusage usage;

	getrusage(whose, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL;
}

static void *run(void *unused)
{
	loop(8800000);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	clockid_t clock_of_thread;
	struct tms times_of;

	if (argc < 2) {
		loop(4400000);
		execl(argv[0], argv[0], "again", NULL);
	}
	usleep(50000);
	printf("%lld ", now(CLOCK_PROCESS_CPUTIME_ID));
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, run, NULL);
	pthread_barrier_wait(&barrier);
	pthread_getcpuclockid(thread, &clock_of_thread);
	printf("%lld %lld ", now(clock_of_thread), now(CLOCK_PROCESS_CPUTIME_ID));
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	printf("%lld %lld ", now(CLOCK_THREAD_CPUTIME_ID), usage(RUSAGE_THREAD));
	loop(88000000);
	times(&times_of);
	printf("%lld %lld ", clock() * 1000LL, usage(RUSAGE_SELF));
	printf("%lld\n", (times_of.tms_utime + times_of.tms_stime) * 10000000LL);
	return 0;
}
"""


# A child with a child of its own, one that executes a program, whose parent looks at it first without
# waiting for it; and two that are killed, with a child, and with a thread that has ended: the second
# when it has become another program.
CHILD_TIMES = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

static void *loop(void *unused)
{
	long i = 17600000;

	__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(i));
	return unused;
}

static long long ns(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000LL +
	       (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000LL;
}

static void show_children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%lld ", ns(&usage));
}

static void wait_for(pid_t child)
{
	struct rusage usage;

	wait4(child, NULL, 0, &usage);
	printf("%lld ", ns(&usage));
}

static void wait_to_be_killed(int told)
{
	if (write(told, "", 1) == 1)
		pause();
}

int main(int argc, char **argv)
{
	struct rusage usage;
	struct tms times_of;
	pthread_t thread;
	siginfo_t info;
	pid_t child;
	char byte;
	int ends[2];

	if (argc > 2)
		wait_to_be_killed(atoi(argv[2]));
	if (argc > 1) {
		loop(NULL);
		return 0;
	}
	if (!(child = fork())) {
		loop(NULL);
		if (!fork()) {
			loop(NULL);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	wait_for(child);
	if (!(child = fork())) {
		pthread_create(&thread, NULL, loop, NULL);
		pthread_join(thread, NULL);
		execl(argv[0], argv[0], "again", NULL);
	}
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	show_children();
	syscall(247 /* waitid */, P_PID, child, &info, WEXITED, &usage);
	printf("%lld ", ns(&usage));
	if (pipe(ends))
		return 1;
	for (int executes = 0; executes < 2; executes++) {
		if (!(child = fork())) {
			char told[16];

			loop(NULL);
			pthread_create(&thread, NULL, loop, NULL);
			pthread_join(thread, NULL);
			if (!fork()) {
				loop(NULL);
				_exit(0);
			}
			wait(NULL);
			sprintf(told, "%d", ends[1]);
			if (executes)
				execl(argv[0], argv[0], "waits", told, NULL);
			wait_to_be_killed(ends[1]);
		}
		if (read(ends[0], &byte, 1) != 1 || kill(child, SIGKILL))
			return 1;
		wait_for(child);
	}
	show_children();
	times(&times_of);
	printf("%lld\n", (times_of.tms_cutime + times_of.tms_cstime) * 10000000LL);
	return 0;
}
"""


class Clock(Guests):
    options = ()

    def run_timed(self, text, machine, *options):
        """What a program prints, as numbers."""
        source = self.path / "clock.c"
        source.write_text(text, encoding="utf-8")
        subprocess.run(["gcc", "-O1", "-pthread", "-o", self.path / "clock", source], check=True)
        result = pmulab("stat", "-M", machine, "--clock", "machine", *self.options, *options,
                        "--", self.path / "clock")
        return map(int, result.stdout.split())

    def test_machine(self):
        """A cycle an iteration, which counts down, at 3.5 GHz; what is around them is little."""
        before = time.time()
        looped, slept, apart, day, seconds = self.run_timed(CLOCK, SMALL)
        expected = 4400000 / 3.5
        self.assertTrue(expected <= looped <= 1.01 * expected, (looped, expected))
        self.assertTrue(50_000_000 <= slept <= 50_100_000, slept)
        self.assertTrue(0 <= apart <= 10, apart)
        self.assertTrue(int(before) <= day <= time.time() + 1, day)
        self.assertIn(seconds, (9, 10))

    def test_sleep_beside_others(self):
        """
        A thread that sleeps takes no other with it: 0.1 ms is for what it does. When the computer wakes
        it, it may be late.
        """
        looped, slept = self.run_timed(BESIDE, SMALL, "--pin", "0")
        self.assertTrue(0 <= looped - 7000000 / 3.5 <= 100_000, looped)
        self.assertGreaterEqual(slept, 4_000_000)

    def test_cpu_times(self):
        """
        What a thread has executed for, before its process became another program too: the loops', and
        not 200 us for what is around them.
        """
        first, all_of_it = (4400000 / 3.5, (4400000 + 8800000 + 88000000) / 3.5)
        *times, ticks = self.run_timed(CPU_TIMES, SMALL)
        for shown, expected in zip(times, (first, 2 * first, 3 * first, first, first, all_of_it,
                                           all_of_it), strict=True):
            self.assertTrue(expected - 1000 <= shown <= expected + 200_000, (times, expected))
        self.assertEqual(ticks, 20_000_000)

    def test_times_of_children(self):
        """
        Those of a child that has been waited for, and of its own: the loops', and not 200 us a child for
        what is around them. Of the last number there are four.
        """
        loop = 17600000 / 3.5
        *times, ticks = self.run_timed(CHILD_TIMES, SMALL)
        for shown, loops, children in zip(times, (2, 2, 2, 3, 3, 10), (1, 1, 1, 1, 1, 4), strict=True):
            self.assertTrue(0 <= shown - loops * loop + 1000 <= children * 200_000, (times, loop))
        self.assertEqual(ticks, 50_000_000)

    def test_refused(self):
        for arguments in (("--clock", "machine"), ("-M", SMALL, "--clock", "sun")):
            self.assertEqual(pmulab("stat", *arguments, *self.options, "--", "true").returncode, 2)


class ClockOnValgrind(OnValgrind, Clock):
    def test_time_stamps(self):
        """2.2 GHz, on the second CPU of the second socket."""
        cycles, mhz, node, cpu = self.run_timed(STAMPS, LARGE, "--pin", str(CORES + 1))
        self.assertTrue(4_400_000 <= cycles <= 1.01 * 4_400_000, cycles)
        self.assertTrue(2190 <= mhz <= 2200, mhz)
        self.assertEqual((node, cpu), (1, CORES + 1))


class Refused(unittest.TestCase):
    def test_lists(self):
        for option, wrong in (("--pin", "4"), ("--pin", ""), ("--pin", "1-"), ("--pin", "2-1"),
                              ("--pin", "0,,1"), ("--pin", "-1"), ("--pin", "0x1"),
                              ("--membind", "1"), ("--interleave", "0;1")):
            result = pmulab("stat", "-M", SMALL, option, wrong, "--", "true")
            self.assertEqual(result.returncode, 2, (option, wrong, result.stderr))
            self.assertIn("valid: numbers from 0", result.stderr)

    def test_without_machine(self):
        self.assertEqual(pmulab("stat", "--pin", "0", "--", "true").returncode, 2)
        self.assertEqual(pmulab("stat", "-M", SMALL, "--membind", "0", "--interleave", "0", "--",
                                "true").returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
