#!/usr/bin/env python3
"""`pmulab analyze`: where the cycles of programs go whose stalls are known by construction."""
import json
import os
import subprocess
import unittest

from assembled import Assembled, skip_without_assembler

PMULAB = os.environ["PMULAB"]
MACHINE = "itanium-9300-1s"
TURNS = 10000

HEAD = f"""
	.text
	.global _start
	.proc _start
_start:
	alloc r32=ar.pfs,0,8,8,0
	movl r14=data
	movl r33={TURNS}-1;;
	mov ar.lc=r33
	mov r15=r14
	mov r18=r0
	movl r19=524288
	movl r20=32*524288-1
	cmp.eq p6,p7=r0,r0;;
	.align 64
again:
"""
TAIL = """
	mov r15=1025
	mov r40=7;;
	break.i 0x100000;;
	.endp _start
	.section .bss
	.align 16384
data:	.skip 16777216
"""
# Two bundles a cycle, nothing to wait for.
FULL = """
	{ .mii; add r16=1,r0; add r17=1,r0; add r18=1,r0 }
	{ .mib; nop.m 0; add r19=1,r0; br.cloop.sptk.few again;; }
"""
# A line of memory a turn, used at once: 280 cycles, of which one is the load's own. The lines are of one
# set of the L3, each in another row of memory than the one before. A turn takes 282 cycles; a refresh, once
# in 13,517, delays its load by at most 190 (132 and 9,360 cycles of memory).
LOADS = """
	{ .mmi; ld8 r16=[r14]; add r18=r19,r18; nop.i 0;; }
	{ .mmi; add r17=r16,r0; and r18=r18,r20; nop.i 0;; }
	{ .mib; add r14=r15,r18; nop.i 0; br.cloop.sptk.few again;; }
"""
LATENCY = 280, 280 + 190 * (282 + 190) / 13517
# A branch that is always taken, and says that it never is: 6 cycles.
WRONG = """
	{ .mib; nop.m 0; nop.i 0
	(p6)	br.cond.spnt.few next;; }
	{ .mib; nop.m 0; nop.i 0; nop.b 0;; }
next:
	{ .mib; nop.m 0; nop.i 0; br.cloop.sptk.few again;; }
"""
# Copies its input to its output, by one system call each, with a turn of a loop for each byte.
COPY = """
	.text
	.global _start
	.proc _start
_start:
	alloc r32=ar.pfs,0,8,8,0
	movl r14=data;;
	mov r15=1026
	mov r40=0
	mov r41=r14
	mov r42=100;;
	break.i 0x100000;;
	mov ar.lc=r8;;
bytes:	br.cloop.sptk.few bytes;;
	mov r15=1027
	mov r40=1
	mov r41=r14
	mov r42=r8;;
	break.i 0x100000;;
""" + TAIL


class Analyze(Assembled):
    def run_it(self, *argv, **options):
        return subprocess.run([PMULAB, "analyze", *argv], check=False, capture_output=True,
                              text=True, cwd=self.path, **options)

    def analyze(self, name, body, *options):
        run = self.run_it("-M", MACHINE, "--format", "json", *options, "--",
                          self.build(name, HEAD + body + TAIL))
        self.assertEqual(run.returncode, 7, run.stderr)
        report = json.loads(run.stderr)
        self.check_sums(report)
        return {line["name"]: line for line in report["tree"] + report["measures"]}

    def between(self, value, bounds):
        self.assertGreaterEqual(value, bounds[0])
        self.assertLessEqual(value, bounds[1])

    def check_sums(self, report):
        """Exact parts add up to the last digit."""
        tree = report["tree"]
        for i, line in enumerate(tree):
            if line["parts"] != "exact":
                continue
            depth, total = line["depth"], 0
            for part in tree[i + 1:]:
                if part["depth"] <= depth:
                    break
                if part["depth"] == depth + 1:
                    total += part["value"] or 0
            self.assertEqual(total + line["rest"], line["value"], line["name"])
            self.assertEqual(line["rest"], 0, line["name"])

    def refused(self, what, *argv, status=2):
        run = self.run_it(*argv)
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertIn(what, run.stderr)

    def test_nothing_to_wait_for(self):
        found = self.analyze("full", FULL)
        self.assertAlmostEqual(found["Retiring"]["value"], TURNS, delta=10)
        self.assertLess(found["Cycles"]["value"] - found["Retiring"]["value"], 2000)
        self.assertAlmostEqual(found["IA64_IPC"]["value"], 6, delta=0.7)

    def test_loads(self):
        found = self.analyze("loads", LOADS)
        self.between(found["Operands"]["value"] / TURNS + 1, LATENCY)
        self.assertEqual(found["General"]["value"], found["Operands"]["value"])
        self.assertEqual(found["General, no load"]["value"], 0)
        self.assertEqual(found["L1D_MISSES_A_READ"]["value"], 1)
        self.between(found["MEM_READ_LATENCY"]["value"], LATENCY)
        self.assertEqual(found["MEM_READ_LATENCY"]["unit"], "cycles")

    def test_mispredictions(self):
        found = self.analyze("wrong", WRONG)
        self.assertEqual(found["Mispredictions"]["value"], 6 * TURNS)
        self.assertEqual(found["Flushes"]["value"],
                         found["Mispredictions"]["value"] + found["Exceptions"]["value"])
        self.assertAlmostEqual(found["MISPREDICTED"]["value"], 0.5, delta=0.001)

    def test_what_is_not_modelled_has_no_value(self):
        method = self.path / "absent.txt"
        method.write_text("# Absent\nAll | overlap | CPU_OP_CYCLES.ALL | cycles\n"
                          "\tPorts | | TAGGED_L2D_RETURN_PORT | not modelled\n",
                          encoding="utf-8")
        run = self.run_it("-M", MACHINE, "-m", "./absent.txt", "--format", "json", "--",
                          self.build("loads", HEAD + LOADS + TAIL))
        ports = json.loads(run.stderr)["tree"][1]
        self.assertIsNone(ports["value"])
        self.assertIsNone(ports["share"])

    def test_rests_are_told(self):
        method = self.path / "mine.txt"
        method.write_text("# Mine\nAll | exact | CPU_OP_CYCLES.ALL | cycles\n"
                          "\tRetiring | | CPU_OP_CYCLES.ALL - BACK_END_BUBBLE.ALL | some\n"
                          "measures HALF[cycles]=CPU_OP_CYCLES.ALL / 2\n", encoding="utf-8")
        program = self.build("loads", HEAD + LOADS + TAIL)
        run = self.run_it("-M", MACHINE, "-m", "./mine.txt", "--format", "json", "--", program)
        report = json.loads(run.stderr)
        cycles, retiring = (line["value"] for line in report["tree"])
        self.assertEqual(report["tree"][0]["rest"], cycles - retiring)
        self.assertEqual(report["measures"][0]["value"], cycles / 2)
        run = self.run_it("-M", MACHINE, "-m", "./mine.txt", "--", program)
        self.assertIn("Other", run.stderr)
        self.assertIn("exit code 7: Mine", run.stderr)

    def test_input_and_output(self):
        program = self.build("copy", COPY)
        run = self.run_it("-M", MACHINE, "--", program, input="some words\n")
        self.assertEqual(run.stdout, "some words\n")
        (self.path / "words").write_text("other words\n", encoding="utf-8")
        with open(self.path / "words", encoding="utf-8") as file:
            run = subprocess.run([PMULAB, "analyze", "-M", MACHINE, "--", program], check=False,
                                 stdin=file, capture_output=True, text=True)
        self.assertEqual(run.stdout, "other words\n")

    def test_output_that_is_full(self):
        program = self.build("full", HEAD + FULL + TAIL)
        with open("/dev/full", "w", encoding="ascii") as full:
            run = subprocess.run([PMULAB, "analyze", "-M", MACHINE, "--", program], check=False,
                                 stderr=full)
        self.assertEqual(run.returncode, 1)
        self.refused("cannot write /dev/full: No space left", "-M", MACHINE, "-o", "/dev/full", "--",
                     program, status=1)

    def test_refusals(self):
        program = self.build("full", HEAD + FULL + TAIL)
        self.refused("no method of analysis", "-M", "xeon-e5-2680-2s", "--", "true")
        self.refused('no method "colour"; valid: CYCLES', "-M", MACHINE, "-m", "colour", "--",
                     program)
        self.refused("program not found", "-M", MACHINE, "--", "nowhere", status=127)
        for text, what in (("# x\nA | exact | CPU_OP_CYCLES.ALL | b\n\t\tB | | NOPS_RETIRED | c\n",
                            "line 3: a tab too many"),
                           ("# x\nA | | CPU_OP_CYCLES.ALL | b\n\tB | | NOPS_RETIRED | c\n",
                            "line 3: it is a part of a line that does not say"),
                           ("# x\nA | some | CPU_OP_CYCLES.ALL | b\n", "line 2: the second column"),
                           ("# x\nA | exact | CPU_OP_CYCLES.ALL\n", "line 2: it is not NAME |"),
                           ("# x\n\nA | | CPU_OP_CYCELS.ALL | b\n", "line 3: "),
                           ("# x\nmeasures IA64_IPS\n", "IA64_IPC"),
                           ("# x\n", "the method has no lines")):
            (self.path / "bad.txt").write_text(text, encoding="utf-8")
            with self.subTest(text=text):
                self.refused(what, "-M", MACHINE, "-m", "./bad.txt", "--", program)


if __name__ == "__main__":
    skip_without_assembler()
    unittest.main()
