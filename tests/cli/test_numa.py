#!/usr/bin/env python3
"""Calls about NUMA nodes: pages are where a program asks for them, and it is told where they are.

What is expected of the calls is what their manual pages say (mbind(2), set_mempolicy(2),
get_mempolicy(2), move_pages(2), migrate_pages(2)), of a computer with two nodes."""
import subprocess
import unittest

from harness import LARGE, SMALL, Guests, OnValgrind, pmulab, stat, total

READS = "imc.CAS_COUNT.RD"
PAGES = 1000
DEFAULT, PREFERRED, BIND, INTERLEAVE, LOCAL = range(5)
STRICT, MOVE = 1, 2
# Calls, each word an argument; then a line of each page is read. The second time it is another line.
PROGRAM = f"""
        .globl _start
        .balign 4096
_start: {{calls}}
        mov $60, %eax
        xor %edi, %edi
        syscall
failed: mov $60, %eax
        mov $1, %edi
        syscall
touch:  lea pages(%rip), %rsi
        add %rdi, %rsi
        mov ${PAGES}, %ecx
1:      mov (%rsi), %rax
        add $4096, %rsi
        dec %ecx
        jnz 1b
        jmp *%rbx
        .data
        .balign 4096
nodes:  .quad 1, 2, 3
        .bss
        .balign 4096
pages:  .skip 4096 * {PAGES}
"""
REGISTERS = ("rdi", "rsi", "rdx", "r10", "r8", "r9")


def call(number, *arguments):
    """A system call, which has to return 0; a string is an address."""
    lines = [f"lea {a}(%rip), %{r}" if isinstance(a, str) else f"mov ${a}, %{r}"
             for a, r in zip(arguments, REGISTERS)]
    return "\n".join([*lines, f"mov ${number}, %eax", "syscall", "test %rax, %rax", "jnz failed"])


def mbind(mode, nodes, flags=0):
    return call(237, "pages", 4096 * PAGES, mode, f"nodes + {8 * (nodes - 1)}" if nodes else 0, 64,
                flags)


def set_mempolicy(mode, nodes):
    return call(238, mode, f"nodes + {8 * (nodes - 1)}" if nodes else 0, 64)


def migrate_pages(old, new):
    return call(256, 0, 64, f"nodes + {8 * (old - 1)}", f"nodes + {8 * (new - 1)}")


def touch(line=0):
    """Without a stack, whose page would be one more."""
    return f"mov ${64 * line}, %edi\nlea 9f(%rip), %rbx\njmp touch\n9:"


TELLS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 8

static int error_of(long result)
{
	return result < 0 ? errno : (int)result;
}

static void policy(void *address, unsigned long flags)
{
	unsigned long nodes[16] = {0};
	int mode = -1, error = error_of(syscall(SYS_get_mempolicy, &mode, nodes, 1024, address, flags));

	printf("%d %d %lu\n", error, mode, nodes[0]);
	fflush(stdout);
}

static int node_of(void *address)
{
	int node = -1;

	return syscall(SYS_get_mempolicy, &node, NULL, 0, address, MPOL_F_NODE | MPOL_F_ADDR) ? -errno
											       : node;
}

static int set(int mode, unsigned long nodes)
{
	return error_of(syscall(SYS_set_mempolicy, mode, &nodes, 64));
}

static int set_far(int mode, unsigned long nodes, unsigned long far)
{
	unsigned long all[2] = {nodes, far};

	return error_of(syscall(SYS_set_mempolicy, mode, all, 128));
}

static int bind(void *address, size_t size, int mode, unsigned long nodes, unsigned flags)
{
	return error_of(syscall(SYS_mbind, address, size, mode, &nodes, 64, flags));
}

static int status_of(void *address)
{
	int status = 99;

	return syscall(SYS_move_pages, 0, 1, &address, NULL, &status, 0) ? -errno : status;
}

static int move(void *address, int node, int flags)
{
	int status = 99, error = error_of(syscall(SYS_move_pages, 0, 1, &address, &node, &status, flags));

	return error ? error : status;
}

static char *map(void *where)
{
	return mmap(where, PAGES * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);
}

static void *in_thread(void *arg)
{
	policy(NULL, 0);
	return arg;
}

int main(int argc, char **argv)
{
	char *pages = map(NULL), *moved;
	unsigned long from = 2, to = 1, beyond[17] = {[0] = 2, [16] = 1};
	void *address = pages;
	pthread_t thread;
	int status;

	if (argc > 1) {
		policy(NULL, 0);
		return 0;
	}
	policy(NULL, 0);
	policy(NULL, MPOL_F_MEMS_ALLOWED);
	printf("%d ", status_of(pages));
	pages[0] = 1;
	printf("%d %d\n", status_of(pages), node_of(pages));
	printf("%d ", bind(pages, PAGES * PAGE, MPOL_BIND, 2, 0));
	policy(pages + PAGE, MPOL_F_ADDR);
	printf("%d %d\n", node_of(pages), node_of(pages + PAGE));
	printf("%d ", bind(pages, PAGE, MPOL_BIND, 2, MPOL_MF_STRICT));
	printf("%d ", bind(pages, PAGE, MPOL_BIND, 2, MPOL_MF_STRICT | MPOL_MF_MOVE));
	printf("%d\n", node_of(pages));
	printf("%d ", move(pages, 0, MPOL_MF_MOVE));
	printf("%d\n", status_of(pages));
	/* A part of the range gets another. */
	printf("%d ", bind(pages + 3 * PAGE, PAGE, MPOL_INTERLEAVE, 3, 0));
	policy(pages + 3 * PAGE, MPOL_F_ADDR);
	policy(pages + 4 * PAGE, MPOL_F_ADDR);
	/* It goes along with what is moved. */
	moved = mremap(pages + 4 * PAGE, 4 * PAGE, 2 * PAGES * PAGE, MREMAP_MAYMOVE);
	policy(moved, MPOL_F_ADDR);
	policy(moved + (2 * PAGES - 1) * PAGE, MPOL_F_ADDR);
	/* What is mapped anew has no policy, and is where it is touched. */
	munmap(moved, 2 * PAGES * PAGE);
	pages = map(moved);
	policy(pages, MPOL_F_ADDR);
	pages[PAGE] = 1;
	printf("%d\n", node_of(pages + PAGE));
	printf("%d ", error_of(syscall(SYS_migrate_pages, 0, 64, &to, &from)));
	printf("%d\n", status_of(pages + PAGE));
	printf("%d ", set(MPOL_INTERLEAVE, 3));
	policy(NULL, MPOL_F_NODE);
	pages[2 * PAGE] = 1;
	policy(NULL, MPOL_F_NODE);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", bind(pages + 5 * PAGE, PAGE, MPOL_PREFERRED, 2, 0));
	fflush(stdout);
	if (!fork()) {
		policy(NULL, 0);
		policy(pages + 5 * PAGE, MPOL_F_ADDR);
		execl(argv[0], argv[0], "executed", NULL);
	}
	wait(NULL);
	printf("%d %d %d %d ", set(MPOL_BIND, 4), set(7, 1), set(MPOL_BIND, 0), set(MPOL_DEFAULT, 1));
	printf("%d ", set_far(MPOL_BIND, 0, 64));
	printf("%d ", set_far(MPOL_BIND, 2, 64));
	policy(NULL, 0);
	printf("%d ", set(MPOL_BIND | MPOL_F_RELATIVE_NODES, 8));
	policy(NULL, 0);
	printf("%d ", set(MPOL_PREFERRED, 0));
	policy(NULL, 0);
	printf("%d ", set(MPOL_DEFAULT, 0));
	policy(NULL, 0);
	printf("%d %d ", bind(pages + 1, PAGE, MPOL_BIND, 1, 0), bind(pages, PAGE, MPOL_BIND, 1, 8));
	munmap(pages + PAGE, PAGE);
	printf("%d %d ", bind(pages, PAGES * PAGE, MPOL_BIND, 1, 0), node_of(pages + PAGE));
	printf("%d %d %d\n", status_of(pages + PAGE), move(pages, 2, MPOL_MF_MOVE), move(pages, 0, 8));
	policy(NULL, 8);
	policy(pages, 0);
	/* Flags that exclude each other or a mode, a node beyond all that can be, no such process. */
	printf("%d ", set(MPOL_BIND | MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES, 1));
	printf("%d ", set(MPOL_INTERLEAVE | 1 << 13, 1));
	printf("%d ", error_of(syscall(SYS_set_mempolicy, MPOL_BIND, beyond, 64 * 17 + 1)));
	printf("%d\n", error_of(syscall(SYS_move_pages, 1 << 30, 1, &address, NULL, &status, 0)));
	return 0;
}
"""
TOLD = """\
0 0 0
0 0 3
-2 0 0
0 0 2 2
0 1
5 0 1
0 0
0 0 3 3
0 2 2
0 2 2
0 2 2
0 0 0
0
0 1
0 0 0 3
0 1 3
0 3 3
0
0 3 3
0 1 2
0 3 3
22 22 22 22 22 0 0 2 2
0 0 16386 2
0 0 4 0
0 0 0 0
22 22 14 -14 -14 19 22
22 -1 0
22 -1 0
22 22 22 3
"""


class Numa(Guests):
    options = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.path / "tells.c").write_text(TELLS, encoding="utf-8")
        subprocess.run(["gcc", "-O1", "-pthread", "-o", cls.path / "tells", cls.path / "tells.c"],
                       check=True)

    def reads(self, *calls, options=()):
        """Of the sockets; what is read but pages lies on the first, or where the option says."""
        source, program = self.path / "calls.S", self.path / "calls"
        source.write_text(PROGRAM.format(calls="\n".join(calls)), encoding="ascii")
        subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, source], check=True)
        report = stat(self.untranslated(LARGE), [READS], program,
                      options=("--prefetchers", "none", *options, *self.options))
        return [total(report, READS, socket=socket) for socket in (0, 1)]

    def around(self, *calls):
        """Reads of the program and its data, without those of the pages."""
        return sum(self.reads(*calls)) - PAGES * sum("jmp touch" in text for text in calls)

    def test_ranges(self):
        rest = self.around(mbind(DEFAULT, 0), touch())
        for policy, expected in (((BIND, 2), [0, PAGES]), ((PREFERRED, 2), [0, PAGES]),
                                 ((INTERLEAVE, 3), [PAGES // 2, PAGES // 2]), ((BIND, 3), [PAGES, 0]),
                                 ((LOCAL, 0), [PAGES, 0]), ((DEFAULT, 0), [PAGES, 0])):
            reads = self.reads(mbind(*policy), touch())
            self.assertEqual(reads, [expected[0] + rest, expected[1]], policy)

    def test_threads(self):
        rest = self.around(set_mempolicy(DEFAULT, 0), touch())
        for policy, expected in (((BIND, 2), [0, PAGES]), ((PREFERRED, 2), [0, PAGES]),
                                 ((INTERLEAVE, 3), [PAGES // 2, PAGES // 2]), ((BIND, 3), [PAGES, 0]),
                                 ((PREFERRED, 0), [PAGES, 0])):
            reads = self.reads(set_mempolicy(*policy), touch())
            self.assertEqual(reads, [expected[0] + rest, expected[1]], policy)
        reads = self.reads(set_mempolicy(LOCAL, 0), touch(), options=("--pin", 22))
        self.assertEqual(reads, [0, PAGES + rest])

    def test_both(self):
        """That of the range holds; that of the program holds where the command has another."""
        reads = self.reads(set_mempolicy(BIND, 1), mbind(BIND, 2), touch())
        self.assertEqual(reads[1], PAGES)
        reads = self.reads(mbind(BIND, 1), touch(), options=("--membind", 1))
        self.assertEqual(reads[0], PAGES)

    def test_moved(self):
        """What was read before stays where it was; the other lines of the pages have moved."""
        for calls, expected in (((mbind(BIND, 2, MOVE),), PAGES), ((mbind(BIND, 2),), 0),
                                ((mbind(BIND, 2, MOVE | STRICT), mbind(BIND, 3, MOVE)), PAGES),
                                ((migrate_pages(1, 2),), PAGES)):
            reads = self.reads(touch(), *calls, touch(1))
            rest = 3 if "$256" in calls[0] else 0  # lines of code and data, which move too
            self.assertLessEqual(expected, reads[1], calls)
            self.assertLessEqual(reads[1], expected + rest, calls)

    def test_told(self):
        result = pmulab("stat", "-M", LARGE, "-o", "/dev/null", *self.options, "--",
                        self.path / "tells")
        self.assertEqual(result.stdout, TOLD, result.stderr)

    def test_numactl(self):
        """It sets a policy, and executes the program."""
        for option, expected in (("--membind=1", [False, True]), ("--preferred=1", [False, True]),
                                 ("--membind=0", [True, False]), ("--interleave=all", [True, True])):
            source = pmulab("stat", "-M", LARGE, "-o", "/dev/null", *self.options, "--",
                            "numactl", option, "numactl", "--show").stdout.splitlines()
            nodes = next(line.split()[1:] for line in source if line.startswith(
                "interleavemask" if "interleave" in option else
                "preferred node" if "preferred" in option else "membind"))
            wanted = [str(node) for node in (0, 1) if expected[node]]
            self.assertEqual([word for word in nodes if word != "node:"], wanted, source)
        lines = pmulab("stat", "-M", LARGE, "-o", "/dev/null", *self.options, "--",
                       "numactl", "--hardware").stdout.splitlines()
        self.assertEqual(lines[0], "available: 2 nodes (0-1)")
        self.assertIn("node 1 size: 65536 MB", lines)

    def test_one_node(self):
        result = pmulab("stat", "-M", SMALL, "-o", "/dev/null", *self.options, "--",
                        "numactl", "--membind=1", "true")
        self.assertEqual(result.returncode, 1, result.stderr)


class Valgrind(OnValgrind, Numa):
    pass


if __name__ == "__main__":
    unittest.main(verbosity=2)
