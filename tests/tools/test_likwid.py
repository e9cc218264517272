#!/usr/bin/env python3
"""likwid-perfctr on the emulated machine: what it reads beside a program equals what the machine
did. What it does not is its own doing and stands in docs/peers.md; the tests hold both."""
import re
import subprocess
import unittest

from emulated import CODE_LINES, LINES, SMALL, Machine, Tools, pmulab, skip_without
from harness import LARGE, stat, total

TURNS = 1000
COUNT = re.compile(r"^(\w+),([A-Z]+)(\d*)((?:C\d|FIX\d?)?)((?::\w+=\w+)*),(\d+|-)", re.M)


def counts(text):
    """[(event, box with its number, counter, count)] of likwid-perfctr -O."""
    found = []
    for event, box, number, counter, _, count in COUNT.findall(text):
        if count != "-":
            found.append((event, box + number, counter, int(count)))
    assert found, text
    return found


def summed(found):
    sums = {}
    for event, _, _, count in found:
        sums[event] = sums.get(event, 0) + count
    return sums


class Measuring(Tools):
    @classmethod
    def measure(cls, events, kind="copy", rounds=1, options=(), machine=SMALL):
        """Counts, and the statistics about the program that ran beside."""
        with Machine(*options, machine=machine) as machine:
            text = machine.tool("likwid-perfctr", "-M", 0, "-C", 0, "-O", "-g", events,
                                *machine.program(cls.kernel(kind, rounds)))
            return counts(text), machine.statistics()


class Likwid(Measuring):
    def check_core(self, sums, stats):
        self.assertEqual(sums["INSTR_RETIRED_ANY"], stats["instructions"])
        # The machine's core runs at the frequency of its TSC.
        self.assertEqual(sums["CPU_CLK_UNHALTED_CORE"], stats["cycles"])
        self.assertEqual(sums["CPU_CLK_UNHALTED_REF"], stats["cycles"])

    def test_mem(self):
        found, stats = self.measure("MEM")
        sums = summed(found)
        self.check_core(sums, stats)
        self.assertEqual(sums["CAS_COUNT_RD"], stats["cas_reads"])
        self.assertEqual(sums["CAS_COUNT_WR"], stats["cas_writes"])
        # Written are four arrays before the loop and one in it, a quarter of each by a channel. Read
        # are those, for ownership, one in the loop, and one before and behind it.
        self.assertEqual([count for event, _, _, count in found if event == "CAS_COUNT_WR"],
                         [5 * LINES // 4] * 4)
        self.near(sums["CAS_COUNT_RD"] + stats["wpq_read_hits"], 8 * LINES)

    def test_home_agent(self):
        for group, reads, writes in (("HA", "IMC_READS_NORMAL", "IMC_WRITES_ALL"),
                                     ("NUMA", "REQUESTS_READS_LOCAL", "REQUESTS_WRITES_LOCAL")):
            with self.subTest(group=group):
                found, stats = self.measure(group)
                sums = summed(found)
                self.check_core(sums, stats)
                self.assertEqual(sums[reads], stats["home_reads"])
                self.assertEqual(sums[writes], stats["home_writes"])
                self.assertEqual(sums[writes], 5 * LINES)
                for event in sums.keys() - {reads, writes}:
                    if event.startswith(("BYPASS", "REQUESTS")):
                        self.assertEqual(sums[event], 0, event)

    def test_caches(self):
        """The uncore's part of the group; the core's events in it are not modelled."""
        found, stats = self.measure("CACHES", kind="load")
        sums = summed(found)
        self.check_core(sums, stats)
        self.assertEqual(sums["LLC_VICTIMS_M"], 4 * LINES)
        self.near(sums["LLC_LOOKUP_DATA_READ"], 3 * LINES)
        self.assertEqual(sums["CAS_COUNT_RD"], stats["cas_reads"])
        self.assertEqual(sums["CAS_COUNT_WR"], stats["cas_writes"])

    def test_branches(self):
        found, stats = self.measure("BRANCH")
        sums = summed(found)
        self.check_core(sums, stats)
        self.assertEqual(sums["BR_INST_RETIRED_ALL_BRANCHES"], stats["branches"])

    def test_core_events(self):
        found, stats = self.measure(
            "LONGEST_LAT_CACHE_REFERENCE:PMC0,LONGEST_LAT_CACHE_MISS:PMC1,"
            "BR_INST_RETIRED_ALL_BRANCHES:PMC2,INSTR_RETIRED_ANY_P:PMC3")
        sums = summed(found)
        self.assertEqual(sums["LONGEST_LAT_CACHE_REFERENCE"], stats["l2_misses"])
        self.assertEqual(sums["LONGEST_LAT_CACHE_MISS"], stats["llc_misses"])
        self.assertEqual(sums["BR_INST_RETIRED_ALL_BRANCHES"], stats["branches"])

    def test_cbo_events(self):
        events = ",".join(f"TOR_OCCUPANCY_ALL:CBOX{i}C0,TOR_INSERTS_ALL:CBOX{i}C1,"
                          f"LLC_VICTIMS_M:CBOX{i}C2,LLC_LOOKUP_ANY:CBOX{i}C3" for i in range(4))
        found, stats = self.measure(events)
        sums = summed(found)
        self.assertEqual(sums["TOR_OCCUPANCY_ALL"], stats["tor_cycles"])
        self.assertEqual(sums["TOR_INSERTS_ALL"], stats["llc_lookups"] + stats["llc_victims"])
        self.assertEqual(sums["LLC_VICTIMS_M"], 5 * LINES)
        self.assertEqual(sums["LLC_LOOKUP_ANY"], stats["llc_lookups"])

    def test_home_agent_events(self):
        found, stats = self.measure(
            "REQUESTS_READS:BBOX0C0,REQUESTS_WRITES:BBOX0C1,IMC_READS_NORMAL:BBOX0C2,"
            "IMC_WRITES_ALL:BBOX0C3")
        sums = summed(found)
        self.assertEqual(sums["REQUESTS_READS"], stats["home_reads"])
        self.assertEqual(sums["REQUESTS_WRITES"], stats["home_writes"])
        self.assertEqual(sums["IMC_READS_NORMAL"], stats["home_reads"])
        self.assertEqual(sums["IMC_WRITES_ALL"], stats["home_writes"])

    def test_floating_point(self):
        """Groups FLOPS: each turn has some of each width and precision."""
        source, program = self.path / "floats.S", self.path / "floats"
        source.write_text(f"""
	.globl _start
_start:	mov ${TURNS},%ecx
1:	.rept 3; addsd %xmm0,%xmm0; .endr
	.rept 5; mulpd %xmm0,%xmm0; .endr
	.rept 7; vfmadd231pd %ymm0,%ymm0,%ymm0; .endr
	.rept 11; divss %xmm0,%xmm0; .endr
	.rept 13; haddps %xmm0,%xmm0; .endr
	.rept 17; vrcpps %ymm0,%ymm0; .endr
	movapd %xmm0,%xmm1
	dec %ecx
	jnz 1b
	mov $60,%eax
	xor %edi,%edi
	syscall
""", encoding="utf-8")
        subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, source], check=True)
        expected = {"SCALAR_DOUBLE": 3, "128B_PACKED_DOUBLE": 5, "256B_PACKED_DOUBLE": 14,
                    "SCALAR_SINGLE": 11, "128B_PACKED_SINGLE": 13, "256B_PACKED_SINGLE": 17}
        for group, events in (("FLOPS_DP", 3), ("FLOPS_SP", 3), ("FLOPS_AVX", 2)):
            with Machine() as machine:
                sums = summed(counts(machine.tool("likwid-perfctr", "-M", 0, "-C", 0, "-O", "-g", group,
                                                  *machine.program(program))))
                self.check_core(sums, machine.statistics())
            found = {event.removeprefix("FP_ARITH_INST_RETIRED_"): count for event, count in sums.items()
                     if event.startswith("FP_ARITH")}
            self.assertEqual(len(found), events)
            self.assertEqual(found, {name: TURNS * expected[name] for name in found})

    def test_caches_of_a_core(self):
        """Groups L2, L3 and DATA, of a program without splits and locked accesses."""
        sums, stats = {}, {}
        for group in "L2", "L3", "DATA":
            found, stats = self.measure(group)
            sums.update(summed(found))
        self.assertEqual(sums["L2_LINES_IN_ALL"], stats["l2_misses"])
        self.assertEqual(sums["L1D_REPLACEMENT"], stats["l1d_misses"])
        self.assertEqual(sums["ICACHE_MISSES"], stats["l1i_misses"])
        self.assertEqual(sums["MEM_UOPS_RETIRED_LOADS_ALL"], stats["loads"])
        self.assertEqual(sums["MEM_UOPS_RETIRED_STORES_ALL"], stats["stores"])
        self.assertGreater(sums["L2_TRANS_L1D_WB"], LINES)
        self.assertGreater(sums["L2_TRANS_L2_WB"], LINES)

    def test_thresholds(self):
        """Options of a counter; and the group of cycles in which loads are awaited."""
        event = "UOPS_EXECUTED_THREAD:PMC"
        with Machine() as machine:
            text = machine.tool("likwid-perfctr", "-M", 0, "-C", 0, "-O", "-g",
                                f"{event}0,{event}1:THRESHOLD=1,{event}2:THRESHOLD=1:INVERT,"
                                f"{event}3:THRESHOLD=1:EDGEDETECT", *machine.program("sort"), __file__)
        found = {counter: int(count) for counter, count in re.findall(r"^\w+,(\w+)[^,\n]*,(\d+)", text, re.M)}
        self.assertEqual(found["PMC1"] + found["PMC2"], found["FIXC1"])
        self.assertLess(found["PMC1"], found["PMC0"])
        self.assertTrue(100 < found["PMC3"] < found["PMC1"])
        sums = summed(self.measure("CYCLE_ACTIVITY")[0])
        self.assertGreater(sums["CYCLE_ACTIVITY_CYCLES_L1D_PENDING"], LINES)
        self.assertGreaterEqual(sums["CYCLE_ACTIVITY_CYCLES_L1D_PENDING"], sums["CYCLE_ACTIVITY_CYCLES_L2_PENDING"])
        self.assertGreater(sums["CPU_CLK_UNHALTED_CORE"], sums["CYCLE_ACTIVITY_CYCLES_L1D_PENDING"])

    def test_clock_of_every_box(self):
        """While time stands still but for the program, each box's clock counts its cycles: as many
        as stat counts, whose program is the same."""
        uncore = ["CBOX_CLOCKTICKS:CBOX0C0", "CBOX_CLOCKTICKS:CBOX3C1", "SBOX_CLOCKTICKS:SBOX0C0",
                  "SBOX_CLOCKTICKS:SBOX1C3", "BBOX_CLOCKTICKS:BBOX0C2", "PBOX_CLOCKTICKS:PBOX0",
                  "RBOX_CLOCKTICK:RBOX0C0", "RBOX_CLOCKTICK:RBOX1C2", "UNCORE_CLOCK:UBOXFIX"]
        found, stats = self.measure(",".join([*uncore, "DRAM_CLOCKTICKS:MBOX0FIX"]),
                                    options=("--clock", "machine"))
        report = stat(self.untranslated(SMALL), ["ubox.clock", "imc.clock"], self.kernel("copy"),
                      options=["--prefetchers", "none"])
        clocks = {f"{event}:{box}{counter}": count for event, box, counter, count in found}
        for event in uncore:
            self.assertEqual(clocks[event], total(report, "ubox.clock"), event)
        self.assertEqual(clocks["DRAM_CLOCKTICKS:MBOX0FIX"], total(report, "imc.clock", instance=0))
        self.assertEqual(report["instructions"], stats["instructions"])

    def test_same_as_stat(self):
        """The same program in the same time: the same counts to the last digit, by box."""
        found, _ = self.measure("MEM", options=("--clock", "machine"))
        report = stat(self.untranslated(SMALL), ["imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR"], self.kernel("copy"),
                      options=["--prefetchers", "none"])
        for event, name in (("CAS_COUNT_RD", "imc.CAS_COUNT.RD"), ("CAS_COUNT_WR", "imc.CAS_COUNT.WR")):
            for channel in range(4):
                theirs = [count for e, box, _, count in found if (e, box) == (event, f"MBOX{channel}")]
                self.assertEqual(theirs, [total(report, name, instance=channel)])
        self.assertEqual(summed(found)["INSTR_RETIRED_ANY"], report["instructions"])
        self.assertEqual(summed(found)["CPU_CLK_UNHALTED_CORE"], report["cycles"])

    def test_offcore_responses(self):
        """pmulab takes LIKWID's own words for the event, its match registers too."""
        events = ["OFFCORE_RESPONSE_0_OPTIONS:PMC0:MATCH0=0x1:MATCH1=0x60400", "OFFCORE_RESPONSE_1_DMND_RFO_ANY:PMC1"]
        found, _ = self.measure(",".join(events), options=("--clock", "machine"))
        report = stat(self.untranslated(SMALL), events, self.kernel("copy"), options=["--prefetchers", "none"])
        reads, owns = (total(report, f"xeon-e5v4/core.OFFCORE_RESPONSE_{n}") for n in (0, 1))
        self.assertEqual([count for event, _, _, count in found if event.startswith("OFFCORE_RESPONSE")],
                         [reads, owns])
        # As in test_mem().
        self.near(reads, 3 * LINES)
        self.assertEqual(owns, 5 * LINES)

    def test_two_sockets(self):
        """The program runs on the first; its channels count what stat counts there."""
        with Machine("--clock", "machine", machine=LARGE) as machine:
            found = counts(machine.tool("likwid-perfctr", "-M", 0, "-c", "0,22", "-O", "-g", "MEM",
                                        *machine.program(self.kernel("copy"))))
            stats = machine.statistics()
        report = stat(self.untranslated(LARGE), ["imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR"], self.kernel("copy"),
                      options=["--prefetchers", "none"])
        theirs = {(event, box): count for event, box, _, count in found if box.startswith("MBOX")}
        self.assertEqual(theirs, {
            (event, f"MBOX{channel}"): total(report, name, socket=0, instance=channel)
            for event, name in (("CAS_COUNT_RD", "imc.CAS_COUNT.RD"), ("CAS_COUNT_WR", "imc.CAS_COUNT.WR"))
            for channel in (0, 1, 4, 5)})
        self.assertEqual(sum(theirs.values()), stats["cas_reads"] + stats["cas_writes"])

    def test_not_modelled(self):
        """What reads 0 because the machine does not model it is said to be so."""
        for group, absent in (("QPI", "qpi.RxL_FLITS_G0.DATA"),
                              ("UOPS", "core.UOPS_ISSUED.FLAGS_MERGE"), ("CYCLE_ACTIVITY", None),
                              ("L3", None), ("CLOCK", None), ("FLOPS_DP", None),
                              ("FLOPS_SP", None), ("FLOPS_AVX", None)):
            result = pmulab("emulate", "-M", SMALL, "--", "likwid-perfctr", "-M", "0", "-C", "0", "-g",
                            group, "true")
            self.assertEqual(result.returncode, 0, result.stderr)
            if absent:
                self.assertRegex(result.stderr, f"{re.escape(absent)}.* is not modelled")
            else:
                self.assertNotIn("not modelled", result.stderr)


class E5(Measuring):
    """Xeon E5-2600: its own groups and events, which LIKWID chooses by CPUID."""

    def groups(self, events, kind):
        found, stats = self.measure(events, kind=kind, machine="xeon-e5-2680-2s")
        return found, summed(found), stats

    def test_mem(self):
        found, sums, stats = self.groups("MEM", "copy")
        self.assertEqual(sums["INSTR_RETIRED_ANY"], stats["instructions"])
        self.assertEqual(sums["CPU_CLK_UNHALTED_CORE"], stats["cycles"])
        self.assertEqual(sums["CAS_COUNT_RD"], stats["cas_reads"])
        self.assertEqual(sums["CAS_COUNT_WR"], stats["cas_writes"])
        # Lines lie on the four channels in turn; those of code are few.
        reads = [count for event, _, _, count in found if event == "CAS_COUNT_RD"]
        self.assertEqual(len(reads), 4)
        self.assertLess(max(reads) - min(reads), CODE_LINES)

    def test_caches(self):
        found, sums, stats = self.groups("CACHES", "load")
        self.assertEqual({box for event, box, _, _ in found if event == "LLC_VICTIMS_M_STATE"},
                         {f"CBOX{n}" for n in range(8)})
        self.assertEqual(sums["LLC_VICTIMS_M_STATE"], 4 * LINES)
        self.assertEqual(sums["CAS_COUNT_RD"], stats["cas_reads"])
        self.assertEqual(sums["CAS_COUNT_WR"], stats["cas_writes"])
        self.near(sums["LLC_LOOKUP_DATA_READ"], 3 * LINES)


class Nehalem(Measuring):
    """Xeon 5500: one box for the whole uncore."""

    def groups(self, events, kind="copy"):
        found, stats = self.measure(events, kind=kind, machine="xeon-x5570-2s")
        sums = summed(found)
        self.assertEqual(sums["INSTR_RETIRED_ANY"], stats["instructions"])
        self.assertEqual(sums["CPU_CLK_UNHALTED_CORE"], stats["cycles"])
        self.assertEqual(sums["CPU_CLK_UNHALTED_REF"], stats["cycles"])
        return sums, stats

    def test_mem(self):
        sums, stats = self.groups("MEM")
        self.assertEqual(sums["UNC_QMC_NORMAL_READS_ANY"], stats["home_reads"])
        self.assertEqual(sums["UNC_QMC_WRITES_FULL_ANY"], stats["home_writes"])
        self.assertEqual(sums["UNC_QMC_WRITES_FULL_ANY"], 5 * LINES)
        self.assertEqual(sums["UNC_QHL_REQUESTS_REMOTE_READS"], 0)
        self.assertEqual(sums["UNC_QHL_REQUESTS_REMOTE_WRITES"], 0)

    def test_cores(self):
        events = {"L1D_REPL": "l1d_misses", "BR_INST_RETIRED_ALL_BRANCHES": "branches",
                  "MEM_INST_RETIRED_LOADS": "loads", "L2_LINES_IN_ANY": "l2_misses"}
        sums, stats = self.groups(",".join(f"{event}:PMC{n}" for n, event in enumerate(events)))
        for event, statistic in events.items():
            self.assertEqual(sums[event], stats[statistic], event)
        sums, stats = self.groups("DATA")
        self.assertEqual(sums["MEM_INST_RETIRED_LOADS"], stats["loads"])
        self.assertEqual(sums["MEM_INST_RETIRED_STORES"], stats["stores"])

    def test_responses(self):
        """LIKWID writes MATCH1 a bit lower than it says: what counts as LOCAL_DRAM is REMOTE_DRAM."""
        counted = {}
        for match in 0x40, 0x80:
            found, stats = self.measure(f"OFFCORE_RESPONSE_0_OPTIONS:PMC0:MATCH0=0x1:MATCH1={match:#x}",
                                        kind="load", machine="xeon-x5570-2s")
            counted[match] = summed(found)["OFFCORE_RESPONSE_0_OPTIONS"]
        self.assertEqual(counted[0x40], 0)
        self.near(counted[0x80], 3 * LINES)

    def test_uncore(self):
        events = {"UNC_L3_MISS_READ": "llc_misses", "UNC_L3_LINES_OUT_ANY": "llc_victims",
                  "UNC_QMC_NORMAL_READS_ANY": "home_reads", "UNC_GQ_ALLOC_READ_TRACKER": "l2_misses"}
        found, stats = self.measure(",".join(f"{event}:UPMC{n}" for n, event in enumerate(events)),
                                    machine="xeon-x5570-2s")
        sums = summed(found)
        for event, statistic in events.items():
            self.assertEqual(sums[event], stats[statistic], event)


class Accesses(Measuring):
    """Accesses to registers for the same counts, from the first write to the last count read. The
    time stamp counter and what identifies the processor are left out; so is what comes behind:
    pmulab restores registers, LIKWID resets them. pmulab looks round before its first write, and
    reads controls and the socket's status again, for changes by others: these are left out too."""
    EVENTS = ("core0.INST_RETIRED.ANY", "core0.CPU_CLK_UNHALTED.THREAD",
              "core0.CPU_CLK_UNHALTED.REF_TSC", "imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR")
    OTHERS = {"IA32_TIME_STAMP_COUNTER", "MSR_TURBO_RATIO_LIMIT", "MSR_PLATFORM_INFO", "-"}

    LOOKS = re.compile(r"_CTL\d$|_CTR_CTRL$|^U_MSR_PMON_GLOBAL_STATUS$")

    def accesses(self, path, looks=None):
        found = [line.split() for line in path.read_text().splitlines()[1:]]
        found = [access for access in found if access[-1] not in self.OTHERS]
        first = next(i for i, access in enumerate(found) if access[0] == "write")
        counts = [i for i, access in enumerate(found)
                  if access[0] == "read" and re.search(r"_CTR\d$", access[-1])]
        return sum(access[0] == "write" or not (looks and looks.search(access[-1]))
                   for access in found[first:counts[-1] + 1])

    def test_fewer(self):
        ours, theirs = self.path / "ours", self.path / "theirs"
        run = pmulab("stat", "-M", SMALL, "-e", ",".join(self.EVENTS), "--trace-registers", ours,
                     "--", "true")
        self.assertEqual(run.returncode, 0, run.stderr)
        run = pmulab("emulate", "-M", SMALL, "--trace-registers", theirs, "--", "likwid-perfctr",
                     "-M", "0", "-C", "0", "-g", "MEM", "true")
        self.assertEqual(run.returncode, 0, run.stderr)
        print(f"accesses: pmulab {self.accesses(ours)}, {self.accesses(ours, self.LOOKS)} without "
              f"looks for others; LIKWID {self.accesses(theirs)}")
        self.assertLessEqual(2 * self.accesses(ours, self.LOOKS), self.accesses(theirs))


class OfItsOwn(Measuring):
    """What LIKWID 5.2.2 does with registers so that counts are wrong: docs/peers.md."""

    STALE = 1000000

    def test_counts_what_others_left(self):
        """Counters are not reset before they count, but for the upper half of the first channel's."""
        with Machine() as machine:
            machine.script(*(f"setpci -s ff:{channel} a0.l={self.STALE:x} a4.l=1"
                             for channel in ("14.0", "14.1")),
                           f"wrmsr 0xe08 {self.STALE:#x}")
            found = counts(machine.tool(
                "likwid-perfctr", "-M", 0, "-C", 0, "-O", "-g",
                "CAS_COUNT_WR:MBOX0C0,CAS_COUNT_WR:MBOX1C0,LLC_VICTIMS_M:CBOX0C0",
                *machine.program(self.kernel("load"))))
        by_box = {box: count for _, box, _, count in found}
        self.assertEqual(by_box["MBOX0"], LINES + self.STALE)
        self.assertEqual(by_box["MBOX1"], LINES + self.STALE + (1 << 32))
        self.assertEqual(by_box["CBOX0"], LINES + self.STALE)

    def test_filters_of_a_box(self):
        """The event that is set up last decides on the filter of all."""
        lookup = "LLC_LOOKUP_DATA_READ:CBOX0C1:STATE=0x1"
        alone, _ = self.measure(lookup, kind="load")
        spoilt, _ = self.measure(lookup + ",LLC_VICTIMS_M:CBOX0C2", kind="load")
        self.near(summed(alone)["LLC_LOOKUP_DATA_READ"], 3 * LINES // 4)
        self.assertEqual(summed(spoilt)["LLC_LOOKUP_DATA_READ"], 0)
        self.assertEqual(summed(spoilt)["LLC_VICTIMS_M"], LINES)
        two, _ = self.measure("TOR_INSERTS_MISS_OPCODE:CBOX0C1:OPCODE=0x182,"
                              "TOR_INSERTS_MISS_OPCODE:CBOX0C2:OPCODE=0x180", kind="load")
        # 0x180, RFO: what is written at the beginning; of data reads it was three quarters.
        self.assertEqual([count for event, _, _, count in two if event.startswith("TOR")], [LINES] * 2)

    def test_leaves_the_uncore_frozen(self):
        """A counter that only its own box freezes and unfreezes does not count after LIKWID."""
        count = "wrmsr 0xe00 0x30103\nwrmsr 0xe01 0x400137\nwrmsr 0xe00 0x30000"
        with Machine() as machine:
            found = []
            for _ in range(2):
                machine.script(count)
                machine.run(self.kernel("load", 0))
                found.append(int(*machine.script("rdmsr -u 0xe08")))
                machine.tool("likwid-perfctr", "-M", 0, "-C", 0, "-g", "CLOCK", "true")
        self.assertEqual(found, [LINES, 0])


if __name__ == "__main__":
    skip_without("likwid-perfctr")
    unittest.main()
