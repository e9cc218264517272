#!/usr/bin/env python3
"""`pmulab stat` on a machine with IA-64 cores: what programs do, and what is counted of them."""
import csv
import json
import os
import subprocess
import unittest

from assembled import Assembled, skip_without_assembler

PMULAB = os.environ["PMULAB"]
MACHINE = "itanium-9300-1s"

START = """
	.text
	.global _start
	.proc _start
_start:
	alloc r32=ar.pfs,0,8,8,0
"""
# Out registers are r40 to r47.
EXIT = """
	mov r15=1025
	mov r40={}
	;;
	break.i 0x100000
	;;
	.endp _start
"""
# A child spins; its parent waits for it.
FORK = START + """
	mov r15=1128
	mov r40=17
	mov r41=0
	mov r42=0
	mov r43=0
	mov r44=0
	;;
	break.i 0x100000
	;;
	cmp.eq p6,p7=-1,r10
	cmp.eq p8,p9=r0,r8
(p6)	br.cond.sptk failed
(p8)	br.cond.sptk child
	;;
	mov r15=1126
	mov r40=r8
	mov r41=0
	mov r42=0
	mov r43=0
	;;
	break.i 0x100000
	;;
""" + EXIT.format(0).replace("\t.endp _start\n", "") + """
child:
	movl r14=20000
	;;
	mov ar.lc=r14
	;;
again:
	br.cloop.sptk again
	;;
""" + EXIT.format(0).replace("\t.endp _start\n", "") + "failed:\n" + EXIT.format(9)
# Exits with the number of open descriptors of 3 to 60, found by writing nothing to them.
DESCRIPTORS = START + """
	mov r33=3
	mov r34=0
	;;
again:
	mov r15=1027
	mov r40=r33
	mov r41=0
	mov r42=0
	;;
	break.i 0x100000
	;;
	cmp.eq p6,p7=r0,r10
	add r33=1,r33
	;;
(p6)	add r34=1,r34
	cmp.lt p8,p9=r33,r35
	cmp.gt p10,p11=60,r33
	;;
(p10)	br.cond.sptk again
	;;
	mov r15=1025
	mov r40=r34
	;;
	break.i 0x100000
	;;
	.endp _start
"""


# Bundles of all kinds, with stops in them, dependences and a long instruction.
MIXED = START + """
	mov r14=1000
	;;
	mov ar.lc=r14
	;;
again:
	{ .mii; add r16=1,r17; shl r18=r24,3; add r19=2,r0;; }
	{ .mmi; add r20=r18,r19;; nop.m 0; shl r21=r20,2 }
	{ .mlx; add r17=1,r17; movl r22=0x123456789abcdef;; }
	{ .mfi; add r23=r22,r21; nop.f 0; cmp.eq p6,p7=r22,r0;; }
	{ .mib
	(p7) add r24=1,r24
	nop.i 0
	br.cloop.sptk again;; }
""" + EXIT.format(0)


# Reads all its counters before and after a loop. Exits with 0 if they grew by as many instructions as
# there are from the first reading of each to the second.
READ_ALL = "".join(f"""
	{{{{ .mii; add r15={n},r0; nop.i 0; nop.i 0;; }}}}
	{{{{ .mii; mov r16=pmd[r15]; nop.i 0; nop.i 0;; }}}}
	{{{{ .mii; {{0}} r33=r33,r16; nop.i 0; nop.i 0;; }}}}
""" for n in range(4, 16))
READ_INSTRUCTIONS = 9 * 12 + 3 + 3 * 1000
READS = START + f"""
	mov r33=0
	mov r34=999
	movl r35={READ_INSTRUCTIONS};;
{READ_ALL.format("sub")}
	{{ .mii; nop.m 0; mov ar.lc=r34; nop.i 0;; }}
again:
	{{ .mib; add r17=1,r0; nop.i 0; br.cloop.sptk again;; }}
{READ_ALL.format("add")}
	cmp.ne p6,p7=r33,r35
	mov r36=0;;
(p6)	mov r36=1
	;;
""" + EXIT.format("r36")


class Stat(Assembled):
    def stat(self, program, *options, exit_code=0):
        """The report, and what was said on standard error."""
        output = self.path / "report.json"
        run = subprocess.run([PMULAB, "stat", "-M", MACHINE, "--format", "json", "-o", output,
                              *options, "--", *program], check=False, capture_output=True, text=True)
        self.assertEqual(run.returncode, exit_code, run.stderr)
        text = output.read_text(encoding="utf-8") if output.exists() else ""
        output.unlink(missing_ok=True)
        return json.loads(text or "null"), run.stderr

    def counts(self, report):
        """Of all cores together."""
        counts = {}
        for c in report["counts"]:
            event = c["event"].split("/core.")[1]
            known = c["count"] is not None
            counts[event] = counts.get(event, 0) + c["count"] if known else None
        return counts

    def test_exit_code_and_metric(self):
        program = self.build("seven", START + EXIT.format(7))
        report, _ = self.stat([program], "-m", "IA64_IPC", exit_code=7)
        counts = self.counts(report)
        # alloc, two moves, break, and what fills their bundles.
        self.assertTrue(4 <= counts["IA64_INST_RETIRED.THIS"] <= 12, counts)
        self.assertEqual(counts["IA64_INST_RETIRED.THIS"], report["instructions"])
        self.assertEqual(counts["CPU_OP_CYCLES.ALL"], report["cycles"])
        self.assertAlmostEqual(report["metrics"][0]["value"],
                               report["instructions"] / report["cycles"])
        self.assertAlmostEqual(report["seconds"], report["cycles"] / 1733e6)

    def test_signal(self):
        program = self.build("ill", START + "\tbreak.i 0\n\t;;\n" + EXIT.format(0))
        report, _ = self.stat([program], "-e", "IA64_INST_RETIRED.THIS", exit_code=128 + 4)
        self.assertTrue(report["ran"])
        self.assertGreater(self.counts(report)["IA64_INST_RETIRED.THIS"], 0)

    def test_forked_process_is_not_counted(self):
        program = self.build("fork", FORK)
        report, _ = self.stat([program], "-e", "IA64_INST_RETIRED.THIS")
        self.assertLess(self.counts(report)["IA64_INST_RETIRED.THIS"], 100)
        run = subprocess.run([PMULAB, "stat", "-M", MACHINE, "--", program], check=True,
                             capture_output=True, text=True)
        self.assertIn("1 more threads or processes ran and are not counted", run.stderr)

    def test_no_descriptor_is_left_to_the_program(self):
        self.stat([self.build("descriptors", DESCRIPTORS)])

    def test_refusals(self):
        self.assertIn("not for IA-64", self.stat(["/bin/true"], exit_code=126)[1])
        self.assertIn("not found", self.stat(["no-such-program"], exit_code=127)[1])
        program = self.build("zero", START + EXIT.format(0))
        self.assertIn("Valgrind", self.stat([program], "--feed", "valgrind", exit_code=126)[1])
        run = subprocess.run([PMULAB, "stat", "-M", "xeon-e5v4-4c", "--", program], check=False,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 126, run.stderr)
        self.assertIn("not for x86-64", run.stderr)

    def test_a_program_reads_its_counters(self):
        """323602-001 §3.3.2. Where nothing counts it reads 0."""
        program = self.build("reads", READS)
        report, _ = self.stat([program], "-e", "IA64_INST_RETIRED.THIS")
        self.assertGreater(self.counts(report)["IA64_INST_RETIRED.THIS"], READ_INSTRUCTIONS)
        self.stat([program], "-e", "bbox.IMT_ALLOC", exit_code=1)

    def test_marking_changes_no_count(self):
        """Instructions are issued a few at a time, or one by one where something marks them."""
        program = self.build("mixed", MIXED)
        events = ["CPU_OP_CYCLES.ALL", "IA64_INST_RETIRED.THIS", "NOPS_RETIRED", "DISP_STALLED",
                  "INST_DISPERSED", "SYLL_NOT_DISPERSED.ALL", "SYLL_NOT_DISPERSED.MLX"]
        few, _ = self.stat([program], "-e", ",".join(events))
        marked, _ = self.stat([program], "-e",
                              ",".join([*events, "IA64_TAGGED_INST_RETIRED.IBRP1_OPCM1"]))
        marked = self.counts(marked)
        self.assertEqual(marked.pop("IA64_TAGGED_INST_RETIRED.IBRP1_OPCM1"),
                         marked["IA64_INST_RETIRED.THIS"])
        self.assertEqual(self.counts(few), marked)

    def test_more_code_than_is_kept(self):
        """1,200,000 instructions without a branch: decoded code is dropped on the way."""
        nops = "\t.rept {}\n\t{{ .mii; nop.m 0; nop.i 0; nop.i 0 }}\n\t.endr\n\t;;\n"
        counts = []
        for bundles in 1, 400001:
            program = self.build("nops", START + nops.format(bundles) + EXIT.format(0))
            report, _ = self.stat([program], "-e", "NOPS_RETIRED,IA64_INST_RETIRED.THIS")
            counts.append(self.counts(report))
        for event in counts[0]:
            self.assertEqual(counts[1][event] - counts[0][event], 1200000, event)

    def test_list_of_a_machine(self):
        run = subprocess.run([PMULAB, "list", "-M", MACHINE, "--format", "csv"], check=True,
                             capture_output=True, text=True)
        pmus = {row["PMU"] for row in csv.DictReader(run.stdout.splitlines())}
        self.assertEqual(pmus, {"itanium-9300"})

    def test_absent_event(self):
        program = self.build("zero", START + EXIT.format(0))
        report, said = self.stat([program], "-e", "TAGGED_L2D_RETURN_PORT")
        self.assertIn("not modelled", said)
        self.assertIsNone(self.counts(report)["TAGGED_L2D_RETURN_PORT"])

    def test_what_cannot_happen(self):
        program = self.build("zero", START + EXIT.format(0))
        report, said = self.stat([program], "-e", "UC_LOADS_RETIRED")
        self.assertNotIn("not modelled", said)
        self.assertEqual(self.counts(report)["UC_LOADS_RETIRED"], 0)
        self.assertEqual({count["model"] for count in report["counts"]}, {"exact"})

    def test_sets_exclude_each_other(self):
        """On one PMU; a machine takes a second one."""
        program = self.build("mixed", MIXED)
        _, said = self.stat([program], "-e", "{L1D_READS_SET0,LOADS_RETIRED}", exit_code=2)
        self.assertIn("L1D", said)
        self.check_together(program, ["L1D_READS_SET0", "LOADS_RETIRED"])

    def check_together(self, program, events):
        """Events that are counted in one run have the counts that each has in a run of its own."""
        together, _ = self.stat([program], "-e", ",".join(events))
        alone = []
        for event in events:
            alone += self.stat([program], "-e", event)[0]["counts"]
        self.assertEqual([c["count"] for c in together["counts"]], [c["count"] for c in alone])
        return together

    def test_more_events_than_counters(self):
        program = self.build("mixed", MIXED)
        events = ["CPU_OP_CYCLES.ALL", "BACK_END_BUBBLE.ALL", "BACK_END_BUBBLE.FE", "BE_FLUSH_BUBBLE.ALL",
                  "BE_EXE_BUBBLE.ALL", "BE_L1D_FPU_BUBBLE.ALL", "BE_RSE_BUBBLE.ALL", "INST_DISPERSED",
                  "SYLL_NOT_DISPERSED.ALL", "SYLL_OVERCOUNT.ALL", "DISP_STALLED", "NOPS_RETIRED",
                  "IA64_INST_RETIRED.THIS", "L3_MISSES", "L2I_READS.ALL.ALL", "L1I_READS",
                  "INST_DISPERSED:threshold=3", "NOPS_RETIRED:threshold=1"]
        report = self.check_together(program, events)
        cycles, bubbles, fe, *causes = list(self.counts(report).values())[:7]
        self.assertEqual(bubbles, fe + sum(causes))
        self.assertEqual(cycles, report["cycles"])

    def test_more_events_of_the_uncore_than_counters(self):
        program = self.build("mixed", MIXED)
        self.check_together(program, [f"bbox0.{event}" for event in (
            "IMT_ALLOC", "IMT_NOT_EMPTY", "ARB_Q0_INSERTS.COHQ", "ARB_Q0_INSERTS.BRAQ",
            "ARB_Q0_REMOVE.COHQ", "ARB_Q0_REMOVE.BRAQ", "BZ_ACK_ALL", "B_CYCLES")])

    def test_one_run_matches_in_one_way(self):
        program = self.build("mixed", MIXED)
        some = [f"{event}:IBRP0=0x4000000000000000:IBRP0_mask=0"
                for event in ("L3_MISSES", "IA64_INST_RETIRED.THIS")]
        other = "L3_MISSES:IBRP0=0x2000000000000000:IBRP0_mask=0"
        self.check_together(program, some)
        _, said = self.stat([program], "-e", f"{some[0]},{other}", exit_code=2)
        self.assertIn("one run matches instructions in one way only", said)


if __name__ == "__main__":
    skip_without_assembler()
    unittest.main()
