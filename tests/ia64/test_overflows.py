#!/usr/bin/env python3
"""Overflow interrupts of a machine with IA-64 cores, as tools that see its registers have them."""
import json
import os
import re
import subprocess
import sys
import unittest

import test_core_threads
from assembled import Assembled, skip_without_assembler
from test_samples import symbols

PMULAB, SAMPLER = os.environ["PMULAB"], os.environ["SAMPLER"]
BLOCKS, STRIDE = 500, 256

# Each block is in a line of its own and jumps to the next; the last one ends the program in its line.
JUMPS = f"""
	.text
	.align {STRIDE}
	.global _start#
	.proc _start#
_start:
	.rept {BLOCKS - 1}
	{{{{ .mib; nop.m 0; nop.i 0; br.few .+{STRIDE};; }}}}
	.align {STRIDE}
	.endr
	{{{{ .mii; alloc r32=ar.pfs,0,8,8,0; nop.i 0; nop.i 0;; }}}}
	{{{{ .mii; mov r15=1025; mov r40=7; nop.i 0;; }}}}
	{{{{ .mib; break.m 0x100000; nop.i 0; nop.b 0;; }}}}
	.endp _start#
""".format()
# Reads a byte from its standard input, and ends.
WAITS = """
	.text
	.global _start#
	.proc _start#
_start:
	alloc r32=ar.pfs,0,8,8,0
	movl r41=byte#
	mov r15=1026
	mov r40=0
	mov r42=1;;
	break.i 0x100000;;
	mov r15=1025
	mov r40=7;;
	break.i 0x100000;;
	.endp _start#
	.section .bss
byte:	.skip 16
"""
BRANCHES = "	mov r29=3000;; mov ar.lc=r29;; 1: br.cloop.sptk 1b;;"

# A tool that has no library; the layout of messages is src/device/run_file.h.
TOOL = """
import errno, json, os, select, struct, sys, time
MESSAGE = struct.Struct("<4Q2I2i256s")
LEVELS = 1 << 3  # privilege level 3
def event(code, interrupts=True):  # 323602-001 table 3-5
    return 0xF << 27 | 2 << 24 | code << 8 | interrupts << 5 | LEVELS
class Cpu:
    def __init__(self, number):
        self.files = {name: os.open(f"/dev/cpu/{number}/{name}", os.O_RDWR) for name in ("pmc", "pmd")}
    def read(self, name, number):
        return int.from_bytes(os.pread(self.files[name], 8, number), "little")
    def write(self, name, number, value):
        assert os.pwrite(self.files[name], value.to_bytes(8, "little"), number) == 8
    def period(self, events):
        self.write("pmd", 4, (1 << 47) - events)
    def sample(self, code, events):
        self.write("pmc", 0, 1)
        self.write("pmc", 38, 0xDB6)
        self.write("pmc", 41, 0x2078FEFEFEFE)
        self.write("pmc", 37, 2 << 12 | 0x40 << 5 | LEVELS)
        self.write("pmc", 39, 0x3F00 | LEVELS)
        self.write("pmc", 4, event(code))
        self.period(events)
        self.write("pmc", 0, 0)
class Watch:
    def __init__(self, program):
        self.file = os.open("/dev/cpu/watch", os.O_RDWR)
        os.write(self.file, struct.pack("<2I", 1, 0) + program.encode() + b"\\0")
    def waits(self, ms=0):
        poll = select.poll()
        poll.register(self.file, select.POLLIN)
        return bool(poll.poll(ms))
    def message(self):
        assert self.waits(60000)
        keys = ("number", "overflowed", "ip", "time", "cpu", "thread", "error", "exit", "text")
        return dict(zip(keys, MESSAGE.unpack(os.read(self.file, MESSAGE.size))))
    def go_on(self, number):
        os.write(self.file, number.to_bytes(8, "little"))
def fails(error, act, *arguments):
    try:
        act(*arguments)
    except OSError as found:
        assert found.errno == error, found
    else:
        sys.exit(f"{act} did not fail")
program, cpu = sys.argv[1], Cpu(0)
FETCHES, BRANCHES = 0x43, 0x11  # L1I_EAR_EVENTS, ETB_EVENT: table 4-1
"""


class Overflows(Assembled):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jumps = cls.build("jumps", JUMPS)

    def emulate(self, *argv, status=0):
        run = subprocess.run([PMULAB, "emulate", "-M", "itanium-9300-1s", "--", *argv], check=False,
                             capture_output=True, text=True, cwd=self.path)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stdout.splitlines()

    def tool(self, body, program, status=0):
        """What it prints, as JSON."""
        path = self.path / "tool.py"
        path.write_text(TOOL + body, encoding="utf-8")
        return [json.loads(line) for line in self.emulate(sys.executable, path, program, status=status)]

    def test_each_miss_of_code_arrives(self):
        *samples, end = self.emulate(SAMPLER, self.jumps)
        self.assertEqual(end, "exit code 7")
        found = [re.fullmatch(r"thread (\d+) pmds 0x10 ip 0x([0-9a-f]+) line 0x([0-9a-f]+) latency (\d+)",
                              line) for line in samples]
        start = symbols(self.jumps)["_start"]
        self.assertEqual([int(m[3], 16) for m in found], [start + STRIDE * n for n in range(BLOCKS)])
        self.assertEqual(len({m[1] for m in found}), 1)
        self.assertNotEqual(found[0][1], "0")

    def test_captures_are_those_of_the_overflow(self):
        """Eight branches fill the trace buffer: sixteen entries, sources and targets."""
        found = self.tool("""
cpu.sample(BRANCHES, 8)
watch = Watch(program)
while (message := watch.message())["number"]:
    print(json.dumps([cpu.read("pmd", 48 + n) for n in range(16)]))
    cpu.period(8)
    cpu.write("pmc", 0, 0)
    watch.go_on(message["number"])
""", self.jumps)
        start, blocks = symbols(self.jumps)["_start"], range(BLOCKS - 1)
        self.assertEqual(len(found), len(blocks) // 8)
        sources = [[e & ~15 for e in entries if e & 1] for entries in found]
        self.assertEqual(sources, [[start + STRIDE * (8 * n + i) for i in range(8)]
                                   for n in range(len(found))])
        self.assertEqual([[e & ~15 for e in entries if not e & 1] for entries in found],
                         [[address + STRIDE for address in some] for some in sources])

    def test_a_program_that_goes_on_frozen_does_not_interrupt(self):
        [status, count, value] = self.tool("""
cpu.sample(FETCHES, 1)
watch, count = Watch(program), 0
while (message := watch.message())["number"]:
    count += 1
    watch.go_on(message["number"])
print(cpu.read("pmc", 0), count, cpu.read("pmd", 4), sep="\\n")
assert message["exit"] == 7 and not message["error"]
""", self.jumps)
        self.assertEqual((status, count, value), (1 << 4 | 1, 1, 0))

    def test_what_is_refused(self):
        self.tool("""
pipe = os.pipe()
os.dup2(pipe[0], 0)
watch = Watch(program)
assert not watch.waits()
fails(errno.EAGAIN, os.read, watch.file, MESSAGE.size)
fails(errno.EINVAL, os.read, watch.file, MESSAGE.size - 1)
fails(errno.EBUSY, cpu.read, "pmc", 0)
fails(errno.EBUSY, Watch, program)
fails(errno.EINVAL, watch.go_on, 1)
fails(errno.EINVAL, os.write, watch.file, b"nothing")
os.write(pipe[1], b"x")
message = watch.message()
assert (message["number"], message["error"], message["exit"]) == (0, 0, 7)
assert cpu.read("pmc", 0) == 0
fails(errno.EAGAIN, os.read, watch.file, MESSAGE.size)
fails(errno.EINVAL, watch.go_on, 1)
message = Watch("/bin/true").message()
assert message["error"] and b"is not for IA-64" in message["text"]
Cpu(1).sample(FETCHES, 1)
watch = Watch(program)  # on the next CPU
number = watch.message()["number"]
fails(errno.EINVAL, watch.go_on, number + 1)
fails(errno.EBUSY, Watch, program)
watch.go_on(number)
fails(errno.EINVAL, watch.go_on, number)
os.write(pipe[1], b"x")
assert not watch.message()["number"]
""", self.build("waits", WAITS))

    def test_who_closes_the_file_lets_the_program_go_on(self):
        """Its overflows interrupt nobody then; the next program's do."""
        found = self.tool("""
def next_one():  # once the first one has ended
    while True:
        try:
            return Watch(program)
        except OSError as error:
            assert error.errno == errno.EBUSY
            time.sleep(0.01)
for number in (0, 1):
    Cpu(number).sample(FETCHES, 1)
watch = Watch(program)
watch.message()
cpu.period(1)
cpu.write("pmc", 0, 0)
os.close(watch.file)
message = next_one().message()
print(cpu.read("pmc", 0))
print(message["overflowed"] << message["cpu"])
""", self.jumps)
        self.assertEqual(found, [1 << 4 | 1, 1 << 4 << 1])

    def test_a_tool_that_is_killed_leaves_nothing(self):
        self.tool("""
cpu.sample(FETCHES, 1)
watch = Watch(program)
watch.message()
os.kill(os.getpid(), 9)
""", self.jumps, status=128 + 9)

    def test_threads(self):
        """Each has a CPU. The second one branches 3001 times and a few."""
        found = self.tool("""
cpus = [cpu, Cpu(1)]
for each in cpus:
    each.sample(BRANCHES, 100)
watch = Watch(program)
while (message := watch.message())["number"]:
    print(json.dumps([message["cpu"], message["thread"]]))
    at = cpus[message["cpu"]]
    assert at.read("pmc", 0) == message["overflowed"] | 1 == 1 << 4 | 1
    at.period(100)
    at.write("pmc", 0, 0)
    watch.go_on(message["number"])
""", self.build("threads", test_core_threads.PROGRAM.format(body=BRANCHES, number=1)))
        threads = [{thread for cpu, thread in found if cpu == which} for which in (0, 1)]
        self.assertEqual([len(some) for some in threads], [1, 1])
        self.assertNotEqual(*threads)
        self.assertEqual([cpu for cpu, _ in found].count(1), 30)


if __name__ == "__main__":
    skip_without_assembler()
    if os.geteuid() or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        sys.exit(77)
    unittest.main()
