"""What tests of counts on the Itanium machines share: assembled programs, and their counts."""
import csv
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from assembled import assemble

PMULAB = os.environ["PMULAB"]

# The begin of a program that makes a second thread: p8 is true in that one, p9 in the first.
TWO_THREADS = """
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
"""

# Two threads that hand a line to and fro: each waits until the other has written to it. BODY is done
# by who has it; the one with p9 is first in each turn. r29 is the address of lines, r21 of one line.
ENDS = 6  # the host decides whether the second thread begins before or after the first one writes
PING_PONG = TWO_THREADS + """	movl r20=flag
	movl r21=word
	movl r29=data
	movl r24={turns}-1;;
	mov ar.lc=r24
	cmp.eq p10,p11=r0,r0
(p8)	mov r26=1			// what a thread waits for, and what it writes
(p8)	mov r25=0
(p9)	mov r26=0
(p9)	mov r25=1;;
again:
	ld4.acq r27=[r20];;
	cmp4.eq p6,p7=r26,r27
(p7)	br.cond.spnt again;;
	{body}
	st4.rel [r20]=r25
	br.cloop.sptk again;;
(p8)	br.cond.sptk done
last:
	ld4.acq r27=[r20];;
	cmp4.eq p6,p7=r26,r27
(p7)	br.cond.spnt last;;
done:
(p8)	mov r15=1025;;			// exit, exit_group
(p9)	mov r15=1236
	mov r40=0;;
	break.i 0x100000;;
	.endp _start
	.section .bss
	.align 128
flag:	.skip 128
word:	.skip 128
data:	.skip 128*2500
"""

def stat(machine, program, events):
    """{(event, socket, instance): count}; the event alone for the sum."""
    run = subprocess.run([PMULAB, "stat", "-M", machine, "--format", "csv", "-e",
                          ",".join(events), "--", *program],
                         check=False, capture_output=True, text=True)
    if run.returncode:
        raise AssertionError(f"{program}: {run.returncode}: {run.stderr}")
    counts = {}
    rows = [row for row in csv.DictReader(run.stderr.splitlines()) if row["box"]]
    given = dict(zip(dict.fromkeys(row["event"] for row in rows), events))  # printed in full
    for row in rows:
        if row["model"] == "absent" or not row["count"]:
            raise AssertionError(f"{row['event']} is not modelled")
        event = given[row["event"]]
        counts[event, int(row["socket"]), int(row["instance"])] = int(row["count"])
        counts[event] = counts.get(event, 0) + int(row["count"])
    return counts


@unittest.skipUnless(shutil.which("ia64-linux-gnu-as") and shutil.which("ia64-linux-gnu-ld"),
                     "no assembler")
class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.built = 0

    def assemble(self, text, *options):
        """The command that runs it."""
        self.built += 1
        return [assemble(self.folder, str(self.built), text, *options)]
