#!/usr/bin/env python3
"""msr-tools and pciutils on the emulated machine: counters programmed by hand, in the order of
334291-001 §2.1.2, read what the machine did. Addresses and fields are those of its tables."""
import re
import unittest

from emulated import LINES, Machine, Tools, pmulab, skip_without
from harness import LARGE, SMALL

# A CBo's registers, from its first one (tables 1-2, 2-7).
CBO_FIRST, CBO_STRIDE, CBOS = 0xE00, 0x10, 4
BOX_CTL, CTL0, FILTER0, CTR0 = 0x0, 0x1, 0x5, 0x8
ALL_STATES = 0x1F << 17  # FILTER0.state, table 2-16
# Box control of CBo and iMC (tables 2-9, 2-113): 17:16 written as 1, frz, rst_ctrs, rst_ctrl.
RESET, FREEZE, UNFREEZE = 0x30103, 0x30100, 0x30000
EN = 1 << 22
# The memory channels' functions (table 1-3) by their config offsets (table 2-112).
CHANNELS = ("14.0", "14.1", "15.0", "15.1")
MC_BOX_CTL, MC_CTL0, MC_CTR0, MC_FIXED_CTL, MC_FIXED_CTR = 0xF4, 0xD8, 0xA0, 0xF0, 0xD0
GLOBAL_CTL, FREEZE_ALL, UNFREEZE_ALL = 0x700, 1 << 31, 1 << 29

# Functions of the uncore's PMU and their device IDs (table 1-3): those of both machines, and of
# memory controllers with four channels behind one home agent, with two behind each of two.
DEVICES = {
    "05.6": 0x6F39, "08.2": 0x6F32, "09.2": 0x6F33, "08.6": 0x6F86, "09.6": 0x6F96, "08.0": 0x6F80,
    "10.1": 0x6F34, "0b.1": 0x6F36, "0b.2": 0x6F37, "12.1": 0x6F30, "14.0": 0x6FB0, "14.1": 0x6FB1,
}
FOUR_CHANNELS = {"15.0": 0x6FB4, "15.1": 0x6FB5}
TWO_AGENTS = {"12.5": 0x6F38, "17.0": 0x6FD0, "17.1": 0x6FD1}


def control(event, umask):
    return EN | umask << 8 | event


def wrmsr(address, value):
    return f"wrmsr {address:#x} {value:#x}"


def rdmsr(address, cpu=0):
    return f"rdmsr -u -p {cpu} {address:#x}"


def setpci(function, *settings):
    """Reads or writes dwords."""
    words = [f"{offset:x}.l" if value is None else f"{offset:x}.l={value:x}"
             for offset, value in settings]
    return f"setpci -s ff:{function} {' '.join(words)}"


def cbos():
    return range(CBO_FIRST, CBO_FIRST + CBOS * CBO_STRIDE, CBO_STRIDE)


def start_cbos(machine, controls, states=ALL_STATES):
    for first in cbos():
        machine.script(wrmsr(first + BOX_CTL, RESET), wrmsr(first + FILTER0, states),
                       *(wrmsr(first + CTL0 + i, value) for i, value in enumerate(controls)),
                       wrmsr(first + BOX_CTL, UNFREEZE))


def read_cbos(machine, counters):
    """[[count of each counter] for each CBo]"""
    return [[int(word) for word in machine.script(
        wrmsr(first + BOX_CTL, FREEZE), *(rdmsr(first + CTR0 + i) for i in range(counters)))]
            for first in cbos()]


def pci_counters(machine, function, offsets):
    """Counters of two dwords each."""
    words = [int(word, 16) for word in machine.script(setpci(
        function, *((at, None) for offset in offsets for at in (offset, offset + 4))))]
    return [high << 32 | low for low, high in zip(words[::2], words[1::2])]


class Msr(Tools):
    def test_cbo(self):
        """TOR_OCCUPANCY.ALL, TOR_INSERTS.ALL, LLC_VICTIMS of all states, LLC_LOOKUP.ANY."""
        with Machine() as machine:
            start_cbos(machine, [control(0x36, 0x08), control(0x35, 0x08), control(0x37, 0x0F),
                                 control(0x34, 0x11)])
            machine.run(self.kernel("copy"))
            occupancy, inserts, victims, lookups = map(sum, zip(*read_cbos(machine, 4)))
            stats = machine.statistics()
        self.assertEqual(occupancy, stats["tor_cycles"])
        self.assertEqual(inserts, stats["llc_lookups"] + stats["llc_victims"])
        self.assertEqual(victims, stats["llc_victims"])
        self.assertEqual(lookups, stats["llc_lookups"])

    def test_each_slice_has_its_share(self):
        """Each four consecutive lines lie in four slices: data reads that miss, by a kernel and
        its twin."""
        counts = []
        for rounds in (1, 0):
            with Machine("--clock", "machine") as machine:
                start_cbos(machine, [control(0x34, 0x03)], states=1 << 17)
                machine.run(self.kernel("load", rounds))
                counts.append([found[0] for found in read_cbos(machine, 1)])
        self.assertEqual([more - less for more, less in zip(*counts)], [LINES // CBOS] * CBOS)

    def test_global_freeze(self):
        """The same by the UBox's freeze of all boxes; then nothing counts any more."""
        with Machine() as machine:
            machine.script(wrmsr(GLOBAL_CTL, FREEZE_ALL),
                           *(wrmsr(first + CTL0, control(0x35, 0x08)) for first in cbos()),
                           wrmsr(GLOBAL_CTL, UNFREEZE_ALL))
            machine.run(self.kernel("load", 0))
            machine.script(wrmsr(GLOBAL_CTL, FREEZE_ALL))
            stats = machine.statistics()
            machine.run(self.kernel("load", 0))
            found = map(int, machine.script(*(rdmsr(first + CTR0) for first in cbos())))
        self.assertEqual(sum(found), stats["llc_lookups"] + stats["llc_victims"])

    def test_core(self):
        """Architectural counters (325384): fixed ones; instructions, branches, LLC misses."""
        events = (0x00C0, 0x00C4, 0x412E, 0x4F2E)
        with Machine() as machine:
            machine.script(wrmsr(0x38D, 0x222),
                           *(wrmsr(0x186 + i, EN | 1 << 16 | event)
                             for i, event in enumerate(events)), wrmsr(0x38F, 0x70000000F))
            machine.run(self.kernel("triad"))
            stats = machine.statistics()
            fixed = [int(word) for word in machine.script(
                wrmsr(0x38F, 0), *(rdmsr(0x309 + i) for i in range(3)))]
            general = [int(word) for word in machine.script(*(rdmsr(0xC1 + i) for i in range(4)))]
            other, = machine.script(rdmsr(0x309, cpu=1))
        self.assertEqual(fixed[:2], [stats["instructions"], stats["cycles"]])
        self.assertEqual(general, [stats["instructions"], stats["branches"], stats["llc_misses"],
                                   stats["l2_misses"]])
        self.assertEqual(other, "0")

    def test_prefetchers(self):
        """MSR_MISC_FEATURE_CONTROL of the core that runs: off, each line that a kernel reads and its
        twin does not is asked for; on, most come before."""
        def misses():
            machine.run(self.kernel("load", 0))
            before = machine.statistics()["l2_misses"]
            machine.run(self.kernel("load"))
            after = machine.statistics()["l2_misses"]
            machine.run(self.kernel("load", 0))
            return 2 * after - before - machine.statistics()["l2_misses"]

        with Machine("--clock", "machine") as machine:
            said = machine.script("wrmsr -p 0 0x1a4 0xf", "wrmsr -p 3 0x1a4 0x5", rdmsr(0x1A4, 3),
                                  rdmsr(0x1A4), "wrmsr -p 0 0x1a4 0x10 2>/dev/null || echo refused",
                                  rdmsr(0x1A4))
            self.assertEqual(said, ["5", "15", "refused", "15"])
            self.near(misses(), LINES)
            machine.script("wrmsr -p 0 0x1a4 0")
            self.assertLess(misses(), LINES // 8)


class Recorded(Tools):
    def test_each_access_is_a_line(self):
        """In the form of src/bus/register_trace.h; of PCI only registers, as headers are read for anything."""
        record = self.path / "record"
        result = pmulab("emulate", "-M", SMALL, "--trace-registers", record, "--", "sh", "-c",
                        "wrmsr -p 2 0xe01 0x400334; rdmsr 0xe01; rdmsr 0x12345; "
                        "setpci -s ff:14.0 d8.l=400304 2c.w; setpci -s ff:14.0 d8.l")
        self.assertEqual(result.stdout.split(), ["400334", "0000", "00400304"])
        self.assertEqual(record.read_text(encoding="utf-8").splitlines(), [
            "pmulab-register-trace 2 xeon-e5v4 sockets=1 emulated=1",
            "write 0 2 msr 0xe01 64 0x400334 0 Cn_MSR_PMON_CTL0",
            "read 0 0 msr 0xe01 64 0x400334 0 Cn_MSR_PMON_CTL0",
            "read 0 0 msr 0x12345 64 0x0 -3 -",
            "write 0 0 pci 0xa00d8 32 0x400304 0 MC_CHy_PCI_PMON_CTL0",
            "read 0 0 pci 0xa00d8 32 0x400304 0 MC_CHy_PCI_PMON_CTL0",
        ])

    def test_wrong_use(self):
        self.assertEqual(pmulab("emulate", "--attach", "x", "--trace-registers", "y", "--", "true").returncode, 2)
        result = pmulab("emulate", "-M", SMALL, "--trace-registers", "/no/such/folder/x", "--", "true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/no/such/folder/x", result.stderr)


class Pci(Tools):
    def test_counter_that_stands_still(self):
        """334291-001 table 1-3: LINK_IDLE of port 0 is C8 of D8:F2, LINK_LLR D0."""
        for offset, told in (("c8", True), ("d0", False)):
            result = pmulab("emulate", "-M", SMALL, "--", "setpci", "-s", "ff:08.2", f"{offset}.l")
            self.assertEqual((result.returncode, result.stdout), (0, "00000000\n"))
            self.assertEqual("Q_Py_PCI_PMON_LINK_IDLE is not modelled" in result.stderr, told)

    def test_memory_channels(self):
        """CAS_COUNT.RD, CAS_COUNT.WR, WPQ_READ_HIT, ACT_COUNT of reads and writes."""
        controls = [control(0x04, 0x03), control(0x04, 0x0C), control(0x23, 0), control(0x01, 0x0B)]
        with Machine() as machine:
            for channel in CHANNELS:
                machine.script(setpci(
                    channel, (MC_BOX_CTL, RESET),
                    *((MC_CTL0 + 4 * i, value) for i, value in enumerate(controls)),
                    (MC_FIXED_CTL, EN), (MC_BOX_CTL, UNFREEZE)))
            machine.run(self.kernel("store"))
            found, clocks = [], []
            for channel in CHANNELS:
                machine.script(setpci(channel, (MC_BOX_CTL, FREEZE)))
                *counts, clock = pci_counters(
                    machine, channel, (*(MC_CTR0 + 8 * i for i in range(4)), MC_FIXED_CTR))
                found.append(counts)
                clocks.append(clock)
            stats = machine.statistics()
        reads, writes, hits, activates = map(sum, zip(*found))
        self.assertEqual([reads, writes, hits],
                         [stats["cas_reads"], stats["cas_writes"], stats["wpq_read_hits"]])
        # Four arrays are written at the beginning and one again, a quarter of each by a channel.
        self.assertEqual([counts[1] for counts in found], [5 * LINES // len(CHANNELS)] * 4)
        # Read: six by RFO or DRd at the beginning and in between, one in the end.
        self.near(reads + hits, 7 * LINES)
        self.assertLess(activates, reads + writes)
        # DRAM runs 1200 cycles while a core runs 3500, and on while the registers are read.
        for cycles in clocks:
            self.assertGreater(cycles, stats["cycles"] * 1200 // 3500)

    def listed(self, machine):
        pattern = re.compile(r"([0-9a-f]{2}):([0-9a-f]{2}\.[0-7]) [0-9a-f]{4}: 8086:([0-9a-f]{4})")
        return {(int(bus, 16), function): int(device, 16) for bus, function, device in
                pattern.findall(machine.tool("lspci", "-n"))}

    def check_listed(self, machine, devices, buses, absent):
        with Machine(machine=machine) as emulated:
            found = self.listed(emulated)
        for function, device in devices.items():
            # A socket's first devices stand on its I/O bus.
            for bus in buses["io" if function == "05.6" else "uncore"]:
                self.assertEqual(found.get((bus, function)), device, function)
        listed = {function for _, function in found}
        self.assertFalse(listed & absent.keys())

    def test_lspci(self):
        self.check_listed(SMALL, {**DEVICES, **FOUR_CHANNELS}, {"io": [0x00], "uncore": [0xFF]},
                          TWO_AGENTS)

    def test_lspci_two_sockets(self):
        self.check_listed(LARGE, {**DEVICES, **TWO_AGENTS},
                          {"io": [0x00, 0x80], "uncore": [0x7F, 0xFF]}, FOUR_CHANNELS)



if __name__ == "__main__":
    skip_without("rdmsr", "wrmsr", "setpci", "lspci")
    unittest.main()
