#!/usr/bin/env python3
"""`pmulab record` and `report`: samples of programs whose misses, branches and cycles are known."""
import csv
import json
import os
import shutil
import subprocess
import unittest

from assembled import Assembled, skip_without_assembler

PMULAB = os.environ["PMULAB"]
MACHINE = "itanium-9300-1s"
TURNS = 100000
STRIDE = 128

# One load a turn, each of a line of its own; then one branch back.
WALK = f"""
	.text
	.global _start#
	.proc _start#
_start:
	alloc r32=ar.pfs,0,8,8,0
	movl r14=data#
	movl r33={TURNS}-1;;
	mov ar.lc=r33;;
call:	br.call.sptk.many b0=walk#;;
back:
	{{end}}
	.endp _start#
	.align 64
	.proc walk#
walk:
	{{{{ .mii; ld8 r16=[r14],{STRIDE}; nop.i 0; nop.i 0;; }}}}
	{{{{ .mib; add r17=r16,r0; nop.i 0; br.cloop.sptk.few walk;; }}}}
	br.ret.sptk.many b0;;
	.endp walk#
	.section .bss
	.align 16384
data:	.skip {TURNS * STRIDE}
	.type data#,@object
	.size data#,{TURNS * STRIDE}
"""
EXIT = """
	mov r15=1025
	mov r40=7;;
	break.i 0x100000;;
"""
# kill(getpid(), SIGKILL)
KILLED = """
	mov r15=1041;;
	break.i 0x100000;;
	mov r40=r8
	mov r41=9
	mov r15=1053;;
	break.i 0x100000;;
"""
# Closes descriptors 0 to 60 before the walk, which it then does.
CLOSES = """
	.text
	.global _start#
	.proc _start#
_start:
	alloc r32=ar.pfs,0,8,8,0
	mov r33=0;;
again:
	mov r15=1029
	mov r40=r33;;
	break.i 0x100000;;
	add r33=1,r33;;
	cmp.gt p6,p7=60,r33
(p6)	br.cond.sptk again
	br.cond.sptk begin#;;
	.endp _start#
""" + WALK.replace("_start", "begin")


def symbols(binary):
    """{name: address}"""
    lines = subprocess.run(["ia64-linux-gnu-nm", binary], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {name: int(address, 16) for address, _, name in (line.split() for line in lines)}


class Samples(Assembled):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.walk = cls.build("walk", WALK.format(end=EXIT))
        cls.symbols = symbols(cls.walk)

    def record(self, program, *options, status=7, machine=MACHINE):
        run = subprocess.run([PMULAB, "record", "-M", machine, "-o", "samples", *options, "--",
                              program], check=False, capture_output=True, text=True, cwd=self.path)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def report(self, by, name="samples"):
        """The rows of the report, by event."""
        run = subprocess.run([PMULAB, "report", "-i", name, "--by", by, "--format", "json"],
                             check=False, capture_output=True, text=True, cwd=self.path)
        self.assertEqual(run.returncode, 0, run.stderr)
        return {e["event"].split(".", 1)[1]: e for e in json.loads(run.stdout)["events"]}

    def refused(self, what, *argv, status=2):
        run = subprocess.run([PMULAB, *argv], check=False, capture_output=True, text=True,
                             cwd=self.path)
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertIn(what, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def stat(self, program, event):
        run = subprocess.run([PMULAB, "stat", "-M", MACHINE, "-e", event, "--format", "csv", "--",
                              program], check=False, capture_output=True, text=True)
        return sum(int(row["count"]) for row in csv.DictReader(run.stderr.splitlines())
                   if row["box"])

    def test_every_miss_is_sampled(self):
        """100,000 overflows, each with the address that missed: none lost, none twice."""
        self.assertIn(f"{TURNS} samples", self.record(self.walk, "-e", "DATA_EAR_EVENTS", "-c", "1"))
        event = self.report("data")["DATA_EAR_EVENTS"]
        self.assertEqual((event["samples"], event["count"]), (TURNS, TURNS))
        data = self.symbols["data"]
        self.assertEqual(sorted(row["key"] for row in event["rows"]),
                         [data + STRIDE * i for i in range(TURNS)])
        self.assertEqual({row["samples"] for row in event["rows"]}, {1})
        self.assertEqual({row["function"] for row in event["rows"]}, {"data"})

    def test_the_instruction_is_the_load(self):
        self.record(self.walk, "-e", "DATA_EAR_EVENTS", "-c", "10")
        event = self.report("ip")["DATA_EAR_EVENTS"]
        self.assertEqual([(r["key"], r["samples"], r["count"]) for r in event["rows"]],
                         [(self.symbols["walk"], TURNS // 10, TURNS)])
        [row] = self.report("line")["DATA_EAR_EVENTS"]["rows"]
        lines = WALK.format(end=EXIT).splitlines()
        self.assertIn("ld8", lines[row["line"] - 1])
        self.assertTrue(row["file"].endswith("walk.s"))
        [row] = self.report("function")["DATA_EAR_EVENTS"]["rows"]
        self.assertEqual(row["function"], "walk")

    def test_latencies_are_those_of_memory(self):
        self.record(self.walk, "-e", "DATA_EAR_EVENTS", "-c", "1")
        rows = self.report("latency")["DATA_EAR_EVENTS"]["rows"]
        self.assertEqual([(r["key"], r["samples"]) for r in rows], [(256, TURNS)])
        run = subprocess.run([PMULAB, "report", "-i", "samples", "--by", "latency", "--format", "csv"],
                             check=True, capture_output=True, text=True, cwd=self.path)
        for row in rows + list(csv.DictReader(run.stdout.splitlines())):
            self.assertEqual((int(row["latencies"]), int(row["saturated"])), (TURNS, 0))
            # What test_perf_reads_it says of each.
            self.assertTrue(259 <= float(row["latency"]) <= 280 + 190, row)
        self.assertIn(" 0 samples", self.record(self.walk, "-e", "DATA_EAR_EVENTS:DEAR=0x1000",
                                                "-c", "1"))  # of 1024 cycles or more
        [event] = self.report("latency").values()
        self.assertEqual(event["rows"], [])

    def test_branches(self):
        self.record(self.walk, "-e", "ETB_EVENT", "-c", "8")
        event = self.report("branch")["ETB_EVENT"]
        walk = self.symbols["walk"]
        # Of source and target each; what comes after the last sample is a branch out, and back.
        self.assertEqual(event["samples"], (TURNS + 2) // 8)
        self.assertEqual({(r["key"], r["to"], r["samples"], r["mispredicted"])
                          for r in event["rows"]},
                         {(self.symbols["call"], walk, 1, 0), (walk + 16, walk, TURNS - 1, 0)})

    def test_captures_are_of_one_period(self):
        """What was captured before the sample before is gone."""
        self.record(self.walk, "-e", "ETB_EVENT", "-c", "4")
        event = self.report("branch")["ETB_EVENT"]
        self.assertEqual(event["samples"], (TURNS + 2) // 4)
        self.assertEqual(sum(r["samples"] for r in event["rows"]), event["samples"] * 4)

    def test_where_branches_lead(self):
        """An interrupt in a branch's cycle comes where the branch goes to."""
        self.record(self.walk, "-e", "BR_MISPRED_DETAIL.ALL.ALL_PRED", "-c", "1")
        rows = self.report("ip")["BR_MISPRED_DETAIL.ALL.ALL_PRED"]["rows"]
        walk = self.symbols["walk"]
        self.assertEqual({(r["key"], r["samples"]) for r in rows},
                         {(walk, TURNS), (walk + 32, 1), (self.symbols["back"], 1)})

    def test_periods_are_the_count(self):
        for name, period in (("CPU_OP_CYCLES.ALL", 997), ("IA64_INST_RETIRED.THIS", 1),
                             ("IA64_INST_RETIRED.THIS", 1000), ("L1D_READS_SET1", 3)):
            with self.subTest(event=name, period=period):
                self.record(self.walk, "-e", name, "-c", str(period))
                count = self.report("function")[name]["count"]
                self.assertEqual(count, self.stat(self.walk, name) // period * period)

    def test_two_events_have_their_own_periods(self):
        self.record(self.walk, "-e", "DATA_EAR_EVENTS,IA64_INST_RETIRED.THIS", "-c", "100")
        found = self.report("function")
        self.assertEqual(found["DATA_EAR_EVENTS"]["samples"], TURNS // 100)
        count = found["IA64_INST_RETIRED.THIS"]["count"]
        self.assertEqual(count, self.stat(self.walk, "IA64_INST_RETIRED.THIS") // 100 * 100)

    def test_what_retired(self):
        """A cycle for each of the loop's two bundles, and the load's latency before the second."""
        self.record(self.walk, "-e", "IA64_INST_RETIRED.THIS:IPEAR=0", "-c", "48")
        rows = {r["key"]: r for r in self.report("retired")["IA64_INST_RETIRED.THIS:IPEAR=0x0"]
                ["rows"]}
        walk = self.symbols["walk"]
        self.assertAlmostEqual(rows[walk]["samples"], TURNS, delta=32)
        self.assertAlmostEqual(rows[walk + 16]["samples"], TURNS, delta=32)
        self.assertEqual(rows[walk + 16]["saturated"], rows[walk + 16]["samples"])
        self.assertEqual(rows[walk + 16]["cycles"], 63 * rows[walk + 16]["samples"])

    def test_requests_of_the_core(self):
        """Each line is asked for once, and the QEAR of the core's CPE has the request."""
        event = "CPE_CPP_MISC.CEAR"
        self.assertIn(f"{TURNS} samples", self.record(self.walk, "-e", event, "-c", "1",
                                                      "--requests", "op=2,opmsk=0,mc=1"))
        found = self.report("data")[event]
        data = self.symbols["data"] % 2**50  # the register has as many bits of it
        self.assertEqual(sorted(row["key"] for row in found["rows"]),
                         [data + STRIDE * i for i in range(TURNS)])
        # As long as the load takes, but for the levels that it has been through before.
        [row] = self.report("latency")[event]["rows"]
        self.assertEqual((row["key"], row["samples"]), (256, TURNS))
        rows = self.report("ip")[event]["rows"]
        self.assertEqual([(r["key"], r["samples"]) for r in rows], [(self.symbols["walk"] + 16, TURNS)])

    def test_requests_beside_other_records(self):
        """A second socket's CPEs too; an event that captures nothing has no data address of theirs."""
        self.record(self.walk, "-e", "CPE_CPP_MISC.CEAR,IA64_INST_RETIRED.THIS,DATA_EAR_EVENTS", "-c",
                    "100", "--requests", "op=2,opmsk=0", "--requests", "mc=1", machine="itanium-9300-2s")
        found = self.report("data")
        self.assertEqual(found["CPE_CPP_MISC.CEAR"]["count"], TURNS)
        self.assertEqual(len(found["CPE_CPP_MISC.CEAR"]["rows"]), TURNS // 100)
        self.assertEqual(len(found["DATA_EAR_EVENTS"]["rows"]), TURNS // 100)
        self.assertEqual(found["IA64_INST_RETIRED.THIS"]["rows"], [])

    def test_requests_that_are_not_captured(self):
        """Of ownership there is none; a threshold that none reaches."""
        for fields in "op=4,opmsk=0,mc=1", "thresh=3,op=2,opmsk=0,mc=1":
            with self.subTest(fields=fields):
                self.assertIn(" 0 samples", self.record(self.walk, "-e", "CPE_CPP_MISC.CEAR", "-c", "1",
                                                        "--requests", fields))
        for fields, what in (("colour=1", 'CPE_CSR_QEAR_CTL has no field "colour"'),
                             ("cnt=1", 'no field "cnt"'), ("op", "op: not FIELD=NUMBER"),
                             ("op=16", "op=16: op has 4 bits")):
            self.refused(what, "record", "-M", MACHINE, "-e", "CPE_CPP_MISC.CEAR", "--requests", fields,
                         "--", self.walk)
        self.refused("no event counts requests", "record", "-M", MACHINE, "-e", "DATA_EAR_EVENTS",
                     "--requests", "op=2", "--", self.walk, status=1)

    def test_killed_programs_keep_their_samples(self):
        program = self.build("killed", WALK.format(end=KILLED))
        self.assertIn(f"{TURNS} samples",
                      self.record(program, "-e", "DATA_EAR_EVENTS", "-c", "1", status=137))
        self.assertEqual(self.report("function")["DATA_EAR_EVENTS"]["samples"], TURNS)

    def test_programs_cannot_close_the_file(self):
        program = self.build("closes", CLOSES.format(end=EXIT))
        self.record(program, "-e", "DATA_EAR_EVENTS", "-c", "1")
        self.assertEqual(self.report("function")["DATA_EAR_EVENTS"]["samples"], TURNS)

    @unittest.skipUnless(shutil.which("perf"), "Linux's perf is not here")
    def test_perf_reads_it(self):
        self.record(self.walk, "-e", "DATA_EAR_EVENTS", "-c", "10")
        run = subprocess.run(["perf", "script", "-i", "samples", "-F", "ip,sym,addr,weight,period"],
                             check=True, capture_output=True, text=True, cwd=self.path,
                             env={**os.environ, "HOME": str(self.path)})
        found = [line.split() for line in run.stdout.splitlines() if line.strip()]
        data, walk = self.symbols["data"], self.symbols["walk"]
        self.assertEqual([(int(p), int(a, 16), int(i, 16), s) for p, a, _, i, s in found],
                         [(10, data + STRIDE * (10 * n + 9), walk, "walk")
                          for n in range(TURNS // 10)])
        # An open row of memory saves 15 of its cycles, a refresh takes 132: 21 and 190 of the core's.
        weights = {int(w) for _, _, w, _, _ in found}
        self.assertLessEqual({259, 280}, weights)
        self.assertLessEqual(max(weights), 280 + 190)
        self.assertEqual(min(weights), 259)
        self.record(self.walk, "-e", "ETB_EVENT", "-c", "8")
        run = subprocess.run(["perf", "script", "-i", "samples", "-F", "brstack"], check=True,
                             capture_output=True, text=True, cwd=self.path,
                             env={**os.environ, "HOME": str(self.path)})
        last = run.stdout.split()[-1]
        self.assertEqual(last.split("/")[:3], [hex(walk + 16), hex(walk), "P"])

    def test_refusals(self):
        walk = str(self.walk)
        self.refused("IA-64 cores only", "record", "-M", "xeon-e5v4-4c", "-e",
                     "cbo.LLC_LOOKUP.ANY", "--", walk, status=1)
        self.refused("only counters of cores", "record", "-M", MACHINE, "-e", "bbox.IMT_ALLOC",
                     "--", walk, status=1)
        self.refused("not modelled", "record", "-M", MACHINE, "-e", "TAGGED_L2D_RETURN_PORT", "--", walk,
                     status=1)
        self.refused("-c takes a number", "record", "-M", MACHINE, "-e", "NOPS_RETIRED", "-c", "0",
                     "--", walk)
        self.refused("a period is 1 to", "record", "-M", MACHINE, "-e", "NOPS_RETIRED", "-c",
                     "2147483649", "--", walk)
        self.refused("cannot write", "record", "-M", MACHINE, "-e", "NOPS_RETIRED", "-o",
                     "no/folder", "--", walk, status=1)
        self.refused("given twice", "record", "-M", MACHINE, "-e", "NOPS_RETIRED,NOPS_RETIRED",
                     "--", walk)
        self.refused("--by", "report", "--by", "colour")
        self.refused("cannot read", "report", "-i", "nowhere", status=1)
        (self.path / "text").write_text("a text that is no recording" * 10, encoding="utf-8")
        self.refused("pmulab record has not written it", "report", "-i", "text")
        self.record(self.walk, "-e", "DATA_EAR_EVENTS", "-c", "100")
        whole = (self.path / "samples").read_bytes()
        (self.path / "part").write_bytes(whole[:len(whole) // 2])
        self.refused("ends too early", "report", "-i", "part")


if __name__ == "__main__":
    skip_without_assembler("ia64-linux-gnu-nm")
    unittest.main()
