#!/usr/bin/env python3
"""Events of the uncore of Xeon 5500, of programs whose counts are known by construction."""
import unittest

from core_kernels import Kernels
from harness import pmulab, stat, total

# A line after the other, of 16 MB: twice what the LLC has.
NEXT = """
	add $64,%rbx
	cmp %rsi,%rbx
	cmovae %rdi,%rbx
"""
BEFORE = "mov $data,%edi; mov %rdi,%rbx; mov $data+16777216,%esi"
# Both numbers of turns go through all of it, and end in the same place.
LINES = 16777216 // 64
TURNS = 2 * LINES, 3 * LINES
# The LLC's sets are filled twice a time round. The core reads the line with its loop again then, as
# the LLC, which never sees it used, gives it up.
READ = 1 + 2 / LINES


class Uncore(Kernels):
    BASE, PMU = "xeon-x5570-2s", "nehalem"

    def counts(self, program, events, options, **keys):
        """Of each event what socket 0 and socket 1 count."""
        report = stat(self.machine(translation="none", **keys), events, program, options=options)
        return {event: [total(report, f"uncore.{event}", socket=socket) for socket in (0, 1)]
                for event in events}

    def lines(self, expected, access, options=()):
        """What a turn adds on each socket."""
        few, many = (self.counts(self.assemble(turns, access + NEXT, BEFORE), list(expected), options)
                     for turns in TURNS)
        for event, wanted in expected.items():
            found = [(b - a) / LINES for a, b in zip(few[event], many[event])]
            self.assertEqual(found, wanted, event)

    def test_reads(self):
        """Lines of this socket's memory, which are never modified: the other socket has none."""
        load = "mov (%rbx),%eax"
        self.lines({"UNC_LLC_MISS.READ": [READ, 0], "UNC_LLC_HITS.READ": [0, 0],
                    "UNC_LLC_LINES_IN.E_STATE": [1, 0], "UNC_LLC_LINES_IN.F_STATE": [READ - 1, 0],
                    "UNC_LLC_LINES_OUT.E_STATE": [1, 0], "UNC_GQ_ALLOC.RT": [READ, 0],
                    "UNC_GQ_ALLOC.PPT": [0, READ], "UNC_LLC_MISS.PROBE": [0, READ]}, load)
        self.lines({"UNC_QHL_REQUESTS.LOCAL_READS": [READ, 0],
                    "UNC_QHL_REQUESTS.LOCAL_WRITES": [0, 0], "UNC_GQ_ALLOC.WT": [0, 0],
                    "UNC_SNP_RESP_TO_REMOTE_HOME.I_STATE": [0, READ],
                    "UNC_SNP_RESP_TO_LOCAL_HOME.I_STATE": [0, 0],
                    "UNC_IMC_NORMAL_READS.ANY": [READ, 0], "UNC_IMC_WRITES.FULL.ANY": [0, 0],
                    "UNC_GQ_TRACKER_OCCUP.RT_TO_LLC_RESP": [18 * READ, 0]}, load)

    def test_reads_of_the_other_socket(self):
        self.lines({"UNC_LLC_MISS.READ": [READ, 0], "UNC_QHL_REQUESTS.REMOTE_READS": [0, READ],
                    "UNC_QHL_REQUESTS.LOCAL_READS": [0, 0], "UNC_IMC_NORMAL_READS.ANY": [0, READ],
                    "UNC_SNP_RESP_TO_LOCAL_HOME.I_STATE": [0, READ],
                    "UNC_SNP_RESP_TO_REMOTE_HOME.I_STATE": [0, 0]},
                   "mov (%rbx),%eax", ("--membind", "1"))

    def test_writes(self):
        """Each line is read to be owned, comes back from the core, and goes to memory at last."""
        self.lines({"UNC_LLC_MISS.READ": [READ, 0], "UNC_LLC_HITS.WRITE": [1, 0],
                    "UNC_LLC_MISS.WRITE": [0, 0], "UNC_LLC_LINES_OUT.M_STATE": [1, 0],
                    "UNC_GQ_ALLOC.WT": [1, 0], "UNC_QHL_REQUESTS.LOCAL_WRITES": [1, 0],
                    "UNC_IMC_WRITES.FULL.ANY": [1, 0], "UNC_IMC_WRITES.PARTIAL.ANY": [0, 0]},
                   "mov %eax,(%rbx)")

    def test_streaming_stores(self):
        """Whole lines are written past the caches, and asked for without data; parts are parts."""
        whole = "".join(f"movntps %xmm0,{offset}(%rbx)\n" for offset in range(0, 64, 16))
        for access, full in (whole, 1), ("movnti %eax,(%rbx)", 0):
            self.lines({"UNC_LLC_MISS.READ": [0, 0], "UNC_LLC_MISS.WRITE": [1, 0],
                        "UNC_QHL_REQUESTS.LOCAL_READS": [1, 0],
                        "UNC_IMC_NORMAL_READS.ANY": [0, 0],
                        "UNC_IMC_WRITES.FULL.ANY": [full, 0],
                        "UNC_IMC_WRITES.PARTIAL.ANY": [1 - full, 0]}, access)

    def test_channels(self):
        """Lines of a page go to three channels in turn."""
        program = self.assemble(TURNS[1], "mov (%rbx),%eax" + NEXT, BEFORE)
        events = [f"UNC_IMC_NORMAL_READS.CH{n}" for n in range(3)] + \
            [f"UNC_DRAM_READ_CAS.CH{n}" for n in range(3)] + ["UNC_IMC_NORMAL_READS.ANY"]
        counts = {event: socket0 for event, (socket0, _) in
                  self.counts(program, events, ()).items()}
        reads = [counts[event] for event in events[:3]]
        self.assertEqual(sum(reads), counts["UNC_IMC_NORMAL_READS.ANY"])
        self.assertEqual(reads, [counts[event] for event in events[3:6]])
        for count in reads:
            self.assertAlmostEqual(count / sum(reads), 1 / 3, delta=0.001)

    def test_metrics(self):
        """Of one core a hit takes no more than the look-up, and a miss the rest; 18 is the machine's."""
        program = self.assemble(TURNS[0], "mov (%rbx),%eax" + NEXT, BEFORE)
        report = stat(self.machine(translation="none"), [], program,
                      metrics=["L3_RESPONSE_LATENCY", "MISS_TO_FILL_LATENCY", "TOTAL_READ_PERIOD",
                               "READ_BANDWIDTH"])
        values = {m["name"]: m["value"] for m in report["metrics"]}
        periods = {c["event"].split(".")[-1]: c["count"] for c in report["counts"]
                   if "TRACKER_OCCUP" in c["event"] and c["socket"] == 0}
        self.assertEqual(values["L3_RESPONSE_LATENCY"], 18)
        self.assertEqual(periods["RT"], periods["RT_TO_LLC_RESP"] + periods["RT_LLC_MISS"])
        reads = total(report, "uncore.UNC_IMC_NORMAL_READS.ANY")
        cycles = total(report, "uncore.clock", socket=0)
        self.assertAlmostEqual(values["READ_BANDWIDTH"], 64 * reads * 2660 / cycles, places=6)

    def test_not_modelled(self):
        """What the machine has not is said to be so."""
        shown = pmulab("stat", "-M", "xeon-x5570-2s", "-e",
                       "UNC_GQ_DATA.FROM_IMC,UNC_GQ_CYCLES_FULL.READ_TRACKER,"
                       "UNC_QHL_REQUESTS.IOH_READS,UNC_IMC_HIGH_PRIORITY_READS.ANY", "--", "true")
        rows = shown.stdout + shown.stderr
        for event in ("UNC_GQ_DATA.FROM_IMC", "UNC_GQ_CYCLES_FULL.READ_TRACKER",
                      "UNC_QHL_REQUESTS.IOH_READS"):
            self.assertRegex(rows, rf"not modelled.*uncore\.{event}")
        self.assertRegex(rows, r"\n +0 +0 +0  uncore\.UNC_IMC_HIGH_PRIORITY_READS\.ANY")


if __name__ == "__main__":
    unittest.main()
