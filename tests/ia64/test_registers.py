#!/usr/bin/env python3
"""Tools on machines with IA-64 cores: register files, and programs that run for a tool."""
import os
import subprocess
import sys
import unittest

from assembled import Assembled, skip_without_assembler

PMULAB, TOOL = os.environ["PMULAB"], os.environ["TOOL"]

# Six instructions a turn.
LOOP = """
	.text
	.global _start
	.proc _start
_start:
	alloc r32=ar.pfs,0,8,8,0
	movl r33={turns}-1;;
	mov ar.lc=r33;;
	.align 32
again:
	{{ .mii; add r16=1,r0; add r17=1,r0; add r18=1,r0 }}
	{{ .mib; nop.m 0; add r19=1,r0; br.cloop.sptk.few again;; }}
	mov r15=1025
	mov r40=7;;
	break.i 0x100000;;
	.endp _start
"""
# What a tool finds, written without a library. 323602-001 table 5-4: B_CSR_PERF_CTL1 of the first B-Box.
FILES = """
import errno, os, sys
def fails(error, act, *arguments):
    try:
        act(*arguments)
    except OSError as found:
        assert found.errno == error, found
    else:
        sys.exit("nothing failed")
def number(text):
    return int.from_bytes(text, "little")
assert sorted(os.listdir("/dev/cpu")) == sorted([str(n) for n in range(16)] + ["run", "watch"])
pmc, other = (os.open(f"/dev/cpu/{n}/pmc", os.O_RDWR) for n in (0, 1))
assert os.pwrite(pmc, (0x1208).to_bytes(8, "little"), 4) == 8
assert number(os.pread(pmc, 8, 4)) == 0x1208
assert number(os.pread(other, 8, 4)) == 0
fails(errno.EINVAL, os.pread, pmc, 4, 4)
fails(errno.EINVAL, os.pwrite, pmc, b"four", 4)
fails(errno.EIO, os.pread, pmc, 8, 1000)
csr = [os.open(f"/dev/cpu/{n}/csr", os.O_RDWR) for n in (0, 7, 8)]
assert os.pwrite(csr[0], (5 << 42).to_bytes(8, "little"), 0xC088) == 8
assert [number(os.pread(file, 8, 0xC088)) for file in csr] == [5 << 42, 5 << 42, 0]
fails(errno.EINVAL, os.pread, csr[0], 4, 0xC088)
fails(errno.EIO, os.pread, csr[0], 8, 0x3)
run = os.open("/dev/cpu/run", os.O_RDWR)
fails(errno.EINVAL, os.write, run, b"nothing")
fails(errno.EINVAL, os.write, run, bytes(8))
fails(errno.EINVAL, os.write, run, b"\\1\\0\\0\\0\\0\\0\\0\\0/bin/true")
fails(errno.EINVAL, os.write, run, b"\\xff\\xff\\xff\\xff\\0\\0\\0\\0/bin/true\\0")
"""


class Registers(Assembled):
    def loop(self, turns):
        return self.build(f"loop{turns}", LOOP.format(turns=turns))

    def emulate(self, *argv, machine="itanium-9300-1s", options=(), status=0):
        run = subprocess.run([PMULAB, "emulate", "-M", machine, *options, "--", *argv], check=False,
                             capture_output=True, text=True, cwd=self.path)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

    def counted(self, turns):
        words = self.emulate(TOOL, self.loop(turns)).stdout.split()
        self.assertEqual(words[:3], ["exit", "code", "7,"])
        return int(words[3]), int(words[5])

    def test_a_tool_counts_what_a_program_does(self):
        few, many = self.counted(1000), self.counted(51000)
        self.assertEqual(many[0] - few[0], 6 * 50000)
        self.assertAlmostEqual(many[1] - few[1], 50000, delta=10)

    def test_it_counts_what_stat_counts(self):
        program = self.loop(1000)
        run = subprocess.run([PMULAB, "stat", "-M", "itanium-9300-1s", "-e",
                              "IA64_INST_RETIRED.THIS", "--format", "csv", "--", program],
                             check=False, capture_output=True, text=True, cwd=self.path)
        self.assertIn(f",{self.counted(1000)[0]},", run.stderr)

    def test_files(self):
        tool = self.path / "files.py"
        tool.write_text(FILES, encoding="utf-8")
        self.emulate(sys.executable, tool, machine="itanium-9300-2s")

    def test_register_trace(self):
        """Each access once, though another process is started in between."""
        self.emulate(TOOL, self.loop(10), options=("--trace-registers", "trace"))
        lines = (self.path / "trace").read_text(encoding="utf-8").splitlines()[1:]
        self.assertEqual(len(lines), 11)
        self.assertEqual(lines[5], "write 0 0 pmc 0x4 64 0x7a000808 0 PMC4")
        self.assertRegex(lines[-2], "^read 0 0 pmd 0x4 64 0x[0-9a-f]+ 0 PMD4$")

    def test_what_cannot_run(self):
        self.assertIn("is not for IA-64", self.emulate(TOOL, "/bin/true", status=1).stderr)
        self.assertIn("not found", self.emulate(TOOL, "no-such-program", status=1).stderr)
        self.assertIn("not found", self.emulate("no-such-tool", status=127).stderr)
        self.assertIn("no name", self.emulate("true", options=("--name", "m"), status=1).stderr)
        run = subprocess.run([TOOL, self.loop(10)], check=False, capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot open /dev/cpu/0/pmc", run.stderr)

    def test_a_tool_that_is_killed_leaves_nothing(self):
        self.emulate("sh", "-c", "kill -9 $$", status=128 + 9)


if __name__ == "__main__":
    skip_without_assembler()
    if os.geteuid() or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        sys.exit(77)
    unittest.main()
