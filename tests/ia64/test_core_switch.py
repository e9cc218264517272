#!/usr/bin/env python3
"""Two threads on one core: what changes them, what that costs, and whose counts are whose."""
import unittest

from core_programs import Case, stat

# machines/uarch/itanium-9300.json, machines/parts/itanium-9350.json
SWITCH, QUANTUM, CORE_MHZ = 15, 16384, 1733
MACHINE = "itanium-9300-1s"
FIRST, SECOND = (0, 0), (0, 4)  # socket, instance: the threads of core 0

# Four threads besides the first one. Three end at once; the fourth comes to core 0 and does SECOND
# while the first one does FIRST. Which of them ends first does not matter.
PROGRAM = """
	.text
	.global _start
	.proc _start
_start:
	alloc r33=ar.pfs,0,8,6,0
	mov r34=4
	mov r15=1151			// mmap(0, 0x100000, read and write, private and anonymous, -1, 0)
	mov r40=0
	movl r41=0x100000
	mov r42=3
	mov r43=0x22
	mov r44=-1
	mov r45=0;;
	break.i 0x100000;;
	mov r35=r8;;
create:
	mov r41=r35			// clone2(VM FS FILES SIGHAND THREAD SYSVSEM, stack, size, 0, 0, 0)
	movl r40=0x50f00
	movl r42=0x20000
	mov r43=0
	mov r44=0
	mov r45=0
	mov r15=1213;;
	break.i 0x100000;;
	cmp.eq p8,p9=0,r8
	cmp.eq p10,p11=1,r34
	movl r20=flag
	mov r25=1;;
(p8)	br.cond.sptk child
	movl r26=0x20000
	add r34=-1,r34;;
	add r35=r26,r35
	cmp.ne p6,p7=0,r34;;
(p6)	br.cond.sptk create
	br.sptk first
	.align 128
child:
(p10)	br.cond.sptk second
leave:
	mov r15=1025
	mov r40=0;;
	break.i 0x100000;;
	.align 128
first:
	{first}
	;;
	movl r20=flag;;
	ld4.acq r27=[r20];;
	cmp4.eq p6,p7=r25,r27
(p6)	br.cond.sptk done
	mov r15=1230			// futex(flag, FUTEX_WAIT_PRIVATE, 0, 0)
	mov r40=r20
	mov r41=128
	mov r42=0
	mov r43=0;;
	break.i 0x100000;;
done:
	mov r15=1236			// exit_group
	mov r40=0;;
	break.i 0x100000;;
	.align 128
second:
	{second}
	;;
	movl r20=flag;;
	st4.rel [r20]=r25
	mov r15=1230			// futex(flag, FUTEX_WAKE_PRIVATE, 1)
	mov r40=r20
	mov r41=129
	mov r42=1;;
	break.i 0x100000;;
	br.sptk leave
	.endp _start
	.section .data
	.align 128
flag:	.skip 128
time:	data8 0, 100000
	.section .bss
	.align 16384
data:	.skip 33554432+1048576
"""
# Four cycles.
SPIN = """
	movl r29={turns}-1;;
	mov ar.lc=r29;;
	.align 64
1:	add r30=1,r30;; add r30=1,r30;; add r30=1,r30;; br.cloop.sptk 1b;;
"""
# A line of memory, waited for.
READ = """
	movl r14=data+{offset}
	movl r31=4096
	movl r29={turns}-1;;
	mov ar.lc=r29;;
	.align 64
1:	ld8 r16=[r14]; add r14=r31,r14;; add r17=r16,r0;; br.cloop.sptk 1b;;
"""
# Lines of memory, so many at once, and then all are waited for.
def reads_at_once(count, offset):
    loads = "".join(f"\t{{{{ .mmi; ld8 r{50 + n}=[r14],128; ld8 r{51 + n}=[r15],128; nop.i 0;; }}}}\n"
                    for n in range(0, count, 2))
    return f"""
	alloc r36=ar.pfs,0,30,6,0
	movl r14=data+{offset}
	movl r15=data+{offset}+8388608
	movl r29={{turns}}-1;;
	mov ar.lc=r29;;
	.align 64
1:
{loads}
	{"".join(f"add r49=r{50 + n},r49;; " for n in range(count))}
	br.cloop.sptk 1b;;
	mov ar.pfs=r36
	alloc r36=ar.pfs,0,8,6,0;;
"""


# Semaphores on lines of memory, each of which waits for the one before; the last one is waited for.
def semaphores(count, offset):
    return f"""
	movl r14=data+{offset}
	movl r19=data+{offset}
	movl r20=4096*{count}
	movl r21=0xffffff		// of 16 MB
	mov r18=0
	movl r31=4096
	movl r29={{turns}}-1;;
	mov ar.lc=r29;;
	.align 64
1:
	{"xchg8 r16=[r14],r0; add r14=r31,r14;; " * count}
	add r18=r20,r18;;
	and r18=r21,r18;;
	add r17=r16,r0
	add r14=r19,r18;;
	br.cloop.sptk 1b;;
"""


PAUSE = """
	movl r29={turns}-1;;
	mov ar.lc=r29;;
	.align 64
1:	{hint} 0;; br.cloop.sptk 1b;;
"""
# What the thread read in advance is stored to, or not.
ADVANCE = """
	movl r14=data
	movl r29={turns}-1;;
	mov ar.lc=r29;;
	.align 64
1:	ld8.a r16=[r14];; hint.m 0;; br.cloop.sptk 1b;;
"""
STORE = """
	movl r14=data+{offset}
	movl r29={turns}-1;;
	mov ar.lc=r29;;
	.align 64
1:	add r30=1,r30;; st8 [r14]=r30;; br.cloop.sptk 1b;;
"""
SLEEP = """
	mov r36={turns};;
1:	mov r15=1168			// nanosleep
	movl r40=time
	mov r41=0;;
	break.i 0x100000;;
	add r36=-1,r36;;
	cmp.ne p6,p7=0,r36;;
(p6)	br.cond.sptk 1b;;
"""
CAUSES = ("L3MISS", "TIMER", "HINT", "LP_EXE_STALL", "L2RTRN", "ALAT")
# Of every run: one set of counters takes them.
CHANGES = [*(f"THREAD_SWITCH_EVENTS.{name}" for name in ("ALL", "MISSED", *CAUSES)),
           *(f"THREAD_SWITCH_GATED.{name}" for name in ("ALL", "PIPE", "FWDPRO")),
           *(f"THREAD_SWITCH_CYCLE.{name}" for name in ("ALL_GATED", "ANYSTALL", "TOTAL"))]



class Test(Case):
    def count(self, first, second, events):
        command = self.assemble(PROGRAM.replace("{first}", first).replace("{second}", second),
                                "-N", "--no-warn-rwx-segments")
        counts = stat(MACHINE, command, CHANGES)
        self.laws(counts)
        events = [event for event in events if event not in CHANGES]
        while events:
            counts.update(stat(MACHINE, command, events[:4]))
            events = events[4:]
        return counts

    def laws(self, n):
        """Of each run: every change costs the same, whatever it is held back by; causes add up."""
        for thread in FIRST, SECOND:
            def of(event, thread=thread):
                return n[(event, *thread)]
            self.assertEqual(of("THREAD_SWITCH_EVENTS.ALL"),
                             sum(of(f"THREAD_SWITCH_EVENTS.{cause}") for cause in CAUSES))
            self.assertEqual(of("THREAD_SWITCH_GATED.ALL"),
                             of("THREAD_SWITCH_GATED.PIPE") + of("THREAD_SWITCH_GATED.FWDPRO"))
            drained, rest = divmod(of("THREAD_SWITCH_CYCLE.TOTAL") -
                                   of("THREAD_SWITCH_CYCLE.ALL_GATED") -
                                   of("THREAD_SWITCH_CYCLE.ANYSTALL"), SWITCH)
            self.assertEqual(rest, 0)
            idle = of("THREAD_SWITCH_EVENTS.ALL") - drained  # nothing ran that had to be drained
            self.assertGreaterEqual(idle, 0)
            self.assertLessEqual(idle, of("THREAD_SWITCH_EVENTS.LP_EXE_STALL"))

    def more(self, kernels, turns, wanted, **values):
        """What more turns add, by thread."""
        few, many = (self.count(*(k.format(turns=t, **values) for k in kernels), wanted)
                     for t in turns)
        for n, thread in enumerate((FIRST, SECOND)):
            for event, counts in wanted.items():
                key = (event, *thread)
                self.assertEqual(many[key] - few[key], counts[n], key)

    def test_timer(self):
        """Each has its time, and the other one's is its background. The last change of a run is not
        by the timer, so what is compared are whole turns of both."""
        m = 4
        spins = QUANTUM * 2, QUANTUM * (2 + m)
        self.more((SPIN, SPIN), spins, {
            "THREAD_SWITCH_EVENTS.TIMER": (4 * m, 4 * m), "THREAD_SWITCH_EVENTS.ALL": (4 * m, 4 * m),
            "THREAD_SWITCH_CYCLE.TOTAL": (4 * m * SWITCH,) * 2,
            "BE_FLUSH_BUBBLE.XPN": (4 * m * SWITCH,) * 2, "BE_FLUSH_BUBBLE.BRU": (0, 0),
            "CPU_OP_CYCLES.ALL": (4 * m * (QUANTUM + SWITCH),) * 2,
            "CYCLES_IN_BGND_WITH_URG.LE7": (4 * m * (QUANTUM + SWITCH),) * 2,
            "CYCLES_IN_BGND_WITH_URG.EQ0": (0, 0), "THREAD_SWITCH_STALL.GTE_64": (0, 0),
            "CPU_OP_CYCLES_HALTED": (0, 0), "THREAD_SWITCH_EVENTS.MISSED": (0, 0)})

    def test_twin(self):
        """The same work, with nobody beside."""
        self.more((SPIN, ""), (QUANTUM * 2, QUANTUM * 6), {
            event: (0, 0) for event in (*CHANGES, "CYCLES_IN_BGND_WITH_URG.LE7",
                                        "THREAD_SWITCH_STALL.GTE_4")})

    def test_lines(self):
        """Each waits for a line in the foreground, and in the background for the next one: as soon
        as one has come its thread is the more urgent one."""
        kernels = READ.replace("{offset}", "0"), READ.replace("{offset}", "16777216")
        self.more(kernels, (500, 1500), {
            "THREAD_SWITCH_EVENTS.L2RTRN": (1000, 1000), "THREAD_SWITCH_EVENTS.MISSED": (1000, 1000),
            "THREAD_SWITCH_EVENTS.L3MISS": (0, 0), "THREAD_SWITCH_EVENTS.HINT": (0, 0),
            "THREAD_SWITCH_STALL.GTE_16": (1000, 1000), "THREAD_SWITCH_STALL.GTE_512": (0, 0),
            "CYCLES_IN_BGND_WITH_URG.LE3": (0, 0),
            "BE_FLUSH_BUBBLE.XPN": (1000 * SWITCH,) * 2})

    def test_miss(self):
        """Only one reads: each miss gives the foreground away. Its line makes it no more urgent than
        the other one, so that it gets the foreground back by the timer."""
        self.more((READ.replace("{offset}", "0"), SPIN.replace("{turns}", "200000")), (10, 30), {
            "THREAD_SWITCH_EVENTS.L3MISS": (20, 0), "THREAD_SWITCH_EVENTS.TIMER": (0, 20),
            "THREAD_SWITCH_EVENTS.ALL": (20, 20), "THREAD_SWITCH_EVENTS.MISSED": (0, 20),
            "THREAD_SWITCH_STALL.GTE_4": (0, 0)})

    def test_urgency(self):
        """In the background a thread that waits for n lines at most has urgency 5 - n, or 0, and more."""
        events = [f"CYCLES_IN_BGND_WITH_URG.{name}"
                  for name in ("EQ0", "LE1", "LE2", "LE3", "LE4", "LE5", "LE6", "LE7")]
        for lines, least in (2, 3), (4, 1), (6, 0):
            counts = self.count(*(reads_at_once(lines, offset).format(turns=100)
                                  for offset in (0, 16777216)), events)
            for thread in FIRST, SECOND:
                found = [counts[(event, *thread)] for event in events]
                self.assertEqual(found, sorted(found))
                self.assertEqual(found[:least], [0] * least)
                self.assertGreater(found[least], 0)
        # A thread that wakes has 6 until it has the foreground, one that the timer sent away 7.
        counts = self.count(SPIN.format(turns=QUANTUM * 100), SLEEP.format(turns=6), events)
        self.assertGreater(counts[(events[6], *SECOND)], counts[(events[5], *SECOND)])
        self.assertGreater(counts[(events[7], *FIRST)], counts[(events[6], *FIRST)])

    def test_stalls(self):
        """A thread whose n semaphores take 300 cycles each at most stalls no longer, and at least for
        part of that: the other one's last line comes meanwhile, or the timer."""
        lengths = [1 << n for n in range(2, 13)]
        for count, reached, never in ((1, 32, 512), (2, 256, 1024), (4, 512, 2048), (8, 1024, 4096),
                                      (16, 2048, None)):
            counts = self.count(*(semaphores(count, offset).format(turns=100)
                                  for offset in (0, 16777216)),
                                [f"THREAD_SWITCH_STALL.GTE_{length}" for length in lengths])
            for thread in FIRST, SECOND:
                found = {length: counts[(f"THREAD_SWITCH_STALL.GTE_{length}", *thread)]
                         for length in lengths}
                self.assertEqual(list(found.values()), sorted(found.values(), reverse=True))
                self.assertLessEqual(found[4], counts[("THREAD_SWITCH_EVENTS.ALL", *thread)])
                self.assertGreater(found[reached], 0)
                if never:
                    self.assertEqual(found[never], 0)
        # One that wakes now and then has the foreground at once, wherever the other one is in its wait.
        counts = self.count(semaphores(16, 0).format(turns=8000), SLEEP.format(turns=200),
                            ["THREAD_SWITCH_STALL.GTE_4096"])
        self.assertGreater(counts[("THREAD_SWITCH_STALL.GTE_4096", *FIRST)], 0)
        self.assertEqual(counts[("THREAD_SWITCH_STALL.GTE_4096", *SECOND)], 0)

    def test_hint(self):
        self.more((PAUSE, PAUSE), (1000, 3000), {
            "THREAD_SWITCH_EVENTS.HINT": (2000, 2000), "THREAD_SWITCH_EVENTS.ALL": (2000, 2000)},
            hint="hint.m")
        self.more((PAUSE, PAUSE), (1000, 3000), {"THREAD_SWITCH_EVENTS.HINT": (0, 0)}, hint="nop.m")

    def test_unfinished(self):
        """A change waits for a move from ar.fpsr, which takes ten cycles, or for a line of the L2D,
        which takes five, or for both together; not for ar.lc, a line of the L1D or of memory."""
        for body, moves, data in (("mov r30=ar40", 9, 0), ("ldf8 f6=[r14]", 0, 4),
                                  ("mov r30=ar40; ldf8 f6=[r14]", 9, 4), ("mov.i r30=ar.lc", 0, 0),
                                  ("ld8 r30=[r14]", 0, 0), ("add r14=r31,r14;; ldf8 f6=[r14]", 0, 0),
                                  ("ldf8 f6=[r14];; add r30=1,r30;; add r30=1,r30", 0, 2)):
            kernel = PAUSE.replace("{hint} 0", f"{body}; hint.m 0").replace(
                "movl r29", "movl r14=data; movl r31=4096; movl r29")
            self.more((kernel, PAUSE.replace("{hint}", "hint.m")), (1000, 3000), {
                "THREAD_SWITCH_EVENTS.HINT": (2000, 2000),
                "THREAD_SWITCH_CYCLE.CRAB": (2000 * moves, 0),
                "THREAD_SWITCH_CYCLE.L2D": (2000 * data, 0),
                "THREAD_SWITCH_CYCLE.ANYSTALL": (2000 * max(moves, data), 0),
                "BE_FLUSH_BUBBLE.XPN": (2000 * (max(moves, data) + SWITCH), 2000 * SWITCH)})

    def test_alat(self):
        """The second one pauses, and waits for a store to what it read in advance: each store of the
        first one gives it the foreground. One of bytes behind does not, nor a pause without that. The
        first one spins until the second is there, which has more turns than it."""
        first = SPIN.replace("{turns}", str(QUANTUM)) + STORE
        second = ADVANCE.replace("{turns}", "10000")
        self.more((first, second), (1000, 3000), {
            "THREAD_SWITCH_EVENTS.ALAT": (2000, 0), "THREAD_SWITCH_EVENTS.HINT": (0, 2000),
            "THREAD_SWITCH_EVENTS.ALL": (2000, 2000), "THREAD_SWITCH_EVENTS.TIMER": (0, 0)},
            offset=0)
        for other, offset in (second, 8), (PAUSE.replace("{turns}", "10000"), 0):
            self.more((first, other), (1000, 3000), {"THREAD_SWITCH_EVENTS.ALAT": (0, 0)},
                      offset=offset, hint="hint.m")

    def test_halt(self):
        """A thread that sleeps gives the foreground away, and waits for it when it wakes. The
        pipeline is drained before it is halted."""
        self.more((SPIN.replace("{turns}", str(QUANTUM * 100)), SLEEP), (2, 6), {
            "THREAD_SWITCH_EVENTS.LP_EXE_STALL": (0, 4),
            "CPU_OP_CYCLES_HALTED": (0, 4 * (100 * CORE_MHZ - SWITCH))})

    def test_both(self):
        """With .all, a counter of one thread takes what both do."""
        events = ("IA64_INST_RETIRED.THIS", "CPU_OP_CYCLES.ALL", "L2D_REFERENCES.ALL")
        kernels = SPIN.format(turns=100000), READ.format(turns=500, offset=0)
        own, both = (self.count(*kernels, [e + suffix for e in events])
                     for suffix in ("", ":all=1"))
        for event in events:
            one, other = (own[(event, *thread)] for thread in (FIRST, SECOND))
            self.assertGreater(other, 0)
            self.assertEqual(both[(f"{event}:all=1", *FIRST)], one + other)


if __name__ == "__main__":
    unittest.main()
