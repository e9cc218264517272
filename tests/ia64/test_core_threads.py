#!/usr/bin/env python3
"""Counts of cores whose threads meet: lines that one takes from the other, and waiting."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import test_uncore

CORE_MHZ = 1733  # machines/parts/itanium-9350
SNOOP = 30  # fabric cycles of 1200 MHz: machines/uarch/itanium-9300.json

# The second thread does BODY; the first one waits for it, in a line of code that holds a word too.
PROGRAM = """
	.text
	.global _start
	.proc _start
_start:
	alloc r33=ar.pfs,0,8,6,0
	mov r15=1151			// mmap(0, 0x40000, read and write, private and anonymous, -1, 0)
	mov r40=0
	movl r41=0x40000
	mov r42=3
	mov r43=0x22
	mov r44=-1
	mov r45=0;;
	break.i 0x100000;;
	mov r41=r8			// clone2(VM FS FILES SIGHAND THREAD SYSVSEM, stack, size, 0, 0, 0)
	movl r40=0x50f00
	movl r42=0x40000
	mov r43=0
	mov r44=0
	mov r45=0
	mov r15=1213;;
	break.i 0x100000;;
	cmp.eq p8,p9=0,r8
	movl r20=flag
	movl r21=word
	movl r22=time
	mov r25=1;;
(p8)	br.cond.sptk second
	br.sptk wait
	.align 128
wait:
	ld4.acq r27=[r20];;
	cmp4.eq p6,p7=r25,r27
(p7)	br.cond.spnt wait;;
	br.sptk done
	.align 16
word:	.skip 16
	.align 128
done:
	mov r15=1236			// exit_group
	mov r40=0;;
	break.i 0x100000;;
	.align 128
second:
{body}
	;;
	st4.rel [r20]=r25
	mov r15=1025
	mov r40=0;;
	break.i 0x100000;;
	.endp _start
	.section .data
	.align 128
flag:	.skip 128
time:	data8 0, {number}
"""
# Writes next to the waiting thread's code, and lets it come back there before the next time.
STORES = """
	mov r28={number}-1;;
again:
	st4 [r21]=r25
	mov r29=3000;;
	mov ar.lc=r29;;
1:	br.cloop.sptk 1b;;
	cmp.ne p6,p7=0,r28
	add r28=-1,r28;;
(p6)	br.cond.sptk again;;
"""
SLEEP = "	mov r15=1168; mov r40=r22; mov r41=0;; break.i 0x100000;;"


@unittest.skipUnless(shutil.which("ia64-linux-gnu-as") and shutil.which("ia64-linux-gnu-ld"),
                     "no assembler")
class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def count(self, program, events, **values):
        source, binary = self.folder / "program.s", self.folder / "program"
        source.write_text(program.format(**values), encoding="utf-8")
        subprocess.run(["ia64-linux-gnu-as", "-x", "-o", f"{binary}.o", source], check=True)
        subprocess.run(["ia64-linux-gnu-ld", "-static", "-N", "--no-warn-rwx-segments", "-o", binary,
                        f"{binary}.o"], check=True)
        counts = {}
        for event in events:  # most share six counters
            counts.update(test_uncore.stat("itanium-9300-1s", [str(binary)], [event]))
        return counts

    def test_line_of_code(self):
        """Each store takes the line from the other's L2I; its fetch gets it back from the L2D that
        wrote it, by way of memory."""
        wanted = {"L2I_SNOOP_HITS": 1, "L1I_SNOOP": 2, "ER_SNP_INV.ALL": 1, "ER_SNP_CODE.ALL": 1,
                  "ER_SNP_CODE.HITM": 1, "ER_SNP_CODE.IMPWB": 1, "ER_SNP_ALL.IMPWB": 1,
                  "ER_SNP_DATA.IMPWB": 0, "L2D_STORE_HIT_SHARED.ANY": 1,
                  "ER_SNOOPQ_LIVE_LO": 2 * (SNOOP * CORE_MHZ // 1200)}
        few, many = (self.count(PROGRAM.replace("{body}", STORES), wanted, number=n)
                     for n in (20, 60))
        for event, count in wanted.items():
            self.assertEqual(many[event] - few[event], 40 * count, event)

    def test_line_of_data(self):
        """As test_uncore's: the line is read from who wrote it, and then taken from who reads it."""
        wanted = {"ER_SNP_DATA.IMPWB": 2, "ER_SNP_ALL.IMPWB": 2, "ER_SNP_CODE.IMPWB": 0,
                  "L1I_SNOOP": 4, "L2I_SNOOP_HITS": 0}
        few, many = (self.count(test_uncore.PING_PONG, wanted, turns=t) for t in (500, 2500))
        for event, count in wanted.items():
            self.assertAlmostEqual(many[event] - few[event], 2000 * count,
                                   delta=test_uncore.ENDS * 2 * (count != 0), msg=event)

    def test_sleep(self):
        """A sleeping thread's core is halted, and counts no other cycles."""
        events = ["CPU_OP_CYCLES_HALTED", "CPU_OP_CYCLES.ALL"]
        few, many = (self.count(PROGRAM.replace("{body}", SLEEP), events, number=n)
                     for n in (1000000, 3000000))
        core = 0, 1  # socket, instance
        self.assertEqual(many[(events[0], *core)] - few[(events[0], *core)], 2000 * CORE_MHZ)
        self.assertEqual(many[(events[1], *core)], few[(events[1], *core)])
        self.assertEqual(many[(events[0], 0, 0)], 0)


if __name__ == "__main__":
    unittest.main()
