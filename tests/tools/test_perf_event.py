#!/usr/bin/env python3
"""perf_event on the emulated machine: what perf stat and PAPI count equals what the machine did."""
import re
import unittest

from emulated import CODE_LINES, LINES, Machine, Tools, pmulab, skip_without
from harness import LARGE, SMALL, pmulab_json, stat, total

# 334291-001 tables 2-118 and 2-27: CAS_COUNT.RD and WR, TOR_INSERTS.OPCODE.
READS, WRITES = "event=0x4,umask=0x3", "event=0x4,umask=0xc"
TOR_RFO = "event=0x35,umask=0x1,filter_opc=0x180"
# Of a process: PAPI's counters of its first thread, around a command.
PAPI = """
import ctypes, subprocess, sys
papi = ctypes.CDLL("libpapi.so.7.0")
names, command = sys.argv[1].split(","), sys.argv[2:]
version, events = 7 << 24, ctypes.c_int(-1)
def check(code):
    assert code >= 0, code
check(papi.PAPI_library_init(version))
check(papi.PAPI_create_eventset(ctypes.byref(events)))
for name in names:
    check(papi.PAPI_add_named_event(events, name.encode()))
counts = (ctypes.c_longlong * len(names))()
check(papi.PAPI_start(events))
subprocess.run(command, check=True)
check(papi.PAPI_stop(events, counts))
print(*counts)
"""


class Perf(Tools):
    def perf(self, machine, *arguments):
        """[(columns before the count, count or None, event)] of perf stat -x,"""
        output = self.path / "counts"
        machine.tool("perf", "stat", "-x,", "-o", output, *arguments)
        rows = []
        for line in output.read_text(encoding="utf-8").splitlines():
            found = re.match(r"((?:[^,]*,)*?)(\d+|<not \w+>),[^,]*,([a-zA-Z][^,]*(?:/[^/]*/)?),",
                             line)
            if found:
                count = int(found[2]) if found[2].isdigit() else None
                rows.append((found[1], count, found[3]))
        self.assertTrue(rows)
        return rows

    def counts(self, machine, *arguments):
        return {event: count for _, count, event in self.perf(machine, *arguments)}

    def test_counts(self):
        """All at once, in the whole machine."""
        with Machine() as machine:
            found = self.counts(machine, "-a", "-e", "instructions,cycles,cache-misses,"
                                "cache-references,branches,r412e,cpu/event=0xc0/,"
                                "UNC_M_CAS_COUNT.RD,UNC_M_CAS_COUNT.WR,LLC-prefetches",
                                *machine.program(self.kernel("copy")))
            stats = machine.statistics()
        self.assertEqual(found, {
            "instructions": stats["instructions"], "cycles": stats["cycles"],
            "cache-misses": stats["llc_misses"], "cache-references": stats["l2_misses"],
            "branches": stats["branches"], "r412e": stats["llc_misses"],
            "cpu/event=0xc0/": stats["instructions"], "UNC_M_CAS_COUNT.RD": stats["cas_reads"],
            "UNC_M_CAS_COUNT.WR": stats["cas_writes"], "LLC-prefetches": None})

    def test_boxes(self):
        """One by one, and a filter."""
        with Machine() as machine:
            rows = self.perf(machine, "-a", *(
                word for i in range(4) for word in ("-e", f"uncore_imc_{i}/{WRITES}/")),
                "-e", f"uncore_cbox_2/{TOR_RFO}/", *machine.program(self.kernel("store")))
        # Four arrays are written at the beginning and one again, a quarter by each.
        self.assertEqual([count for _, count, _ in rows], [5 * LINES // 4] * 5)

    def test_names_of_the_kernel(self):
        """As sysfs names them, scaled: 64 bytes a line, in MiB (Linux: uncore_snbep.c)."""
        with Machine() as machine:
            folder = "/sys/bus/event_source/devices/uncore_imc_0/events"
            names = machine.script(f"cat {folder}/cas_count_write {folder}/cas_count_write.unit")
            output = self.path / "counts"
            machine.tool("perf", "stat", "-x,", "-o", output, "-a", "-e", "uncore_imc/cas_count_read/,"
                         "uncore_imc_1/cas_count_write/", *machine.program(self.kernel("copy")))
            stats = machine.statistics()
        self.assertEqual(names, [WRITES.replace("=0x4", "=0x04").replace("0xc", "0x0c"), "MiB"])
        rows = [line.split(",")[:3] for line in output.read_text(encoding="utf-8").splitlines()
                if "uncore" in line]
        reads, writes = stats["cas_reads"] / 2**14, stats["cas_writes"] / 2**14
        self.assertEqual(rows, [[f"{reads:.2f}", "MiB", "uncore_imc/cas_count_read/"],
                                [f"{writes / 4:.2f}", "MiB", "uncore_imc_1/cas_count_write/"]])

    def test_caches(self):
        """Generic names, by the events that the kernel takes for them on this processor."""
        events = {"L1-dcache-loads": "core.MEM_UOPS_RETIRED.ALL_LOADS",
                  "L1-dcache-load-misses": "core.L1D.REPLACEMENT",
                  "L1-icache-load-misses": "core.ICACHE.MISSES",
                  "LLC-loads": "core.OFFCORE_RESPONSE_0:request=DEMAND_DATA_RD:response=ANY_RESPONSE",
                  "LLC-load-misses": "core.OFFCORE_RESPONSE_1:request_1=DEMAND_DATA_RD:response_1=0x1fbc00",
                  "LLC-stores": "core.OFFCORE_RESPONSE_0:request=DEMAND_RFO:response=ANY_RESPONSE",
                  "node-loads": "core.OFFCORE_RESPONSE_0:request=DEMAND_DATA_RD:response=0x1f8400",
                  "branch-loads": "core.BR_INST_RETIRED.ALL_BRANCHES"}
        with Machine("--clock", "machine") as machine:
            found = self.counts(machine, "-a", "-e", ",".join(events),
                                *machine.program(self.kernel("copy")))
            missing = self.counts(machine, "-a", "-e", "LLC-prefetches,L1-dcache-store-misses", "true")
        report = stat(self.untranslated(SMALL), list(events.values()), self.kernel("copy"),
                      options=["--prefetchers", "none"])
        self.assertEqual(found, {name: total(report, "xeon-e5v4/" + event)
                                 for name, event in events.items()})
        # An array that is read, from memory: each line once.
        self.assertGreaterEqual(found["LLC-load-misses"], LINES)
        self.assertGreaterEqual(found["LLC-loads"], found["LLC-load-misses"])
        # All of the memory is of one socket.
        self.assertEqual(found["node-loads"], found["LLC-load-misses"])
        self.assertEqual(set(missing.values()), {None})

    def same_as_stat(self, machine, events):
        """What perf counts by its names, and stat by ours, of a program that reads and writes."""
        with Machine("--clock", "machine", machine=machine) as emulated:
            rows = self.perf(emulated, "-a", *(word for name in events for word in ("-e", name)),
                             *emulated.program(self.kernel("copy")))
        report = stat(self.untranslated(machine), list(events.values()), self.kernel("copy"),
                      options=["--prefetchers", "none"])
        counts = [count for _, count, _ in rows]
        self.assertEqual(counts, [total(report, event) for event in events.values()])
        return counts

    def test_offcore(self):
        """The filter register of a core's event, by perf's list and by its bits."""
        data, stores = self.same_as_stat(SMALL, {
            "offcore_response.all_data_rd.llc_miss.local_dram":
                "xeon-e5v4/core.OFFCORE_RESPONSE_0:request=ALL_DATA_RD:response=LLC_MISS_LOCAL_DRAM",
            "cpu/event=0xbb,umask=0x1,offcore_rsp=0x10002/":
                "xeon-e5v4/core.OFFCORE_RESPONSE_1:request_1=DEMAND_RFO:response_1=ANY_RESPONSE"})
        self.assertGreaterEqual(data, LINES)
        self.assertGreaterEqual(stores, LINES)

    def test_many_filters(self):
        """Of one event on four PMUs, each with two registers for it; what needs none counts too."""
        names = ["instructions", *(f"offcore_response.{name}" for name in (
            "all_data_rd.llc_miss.local_dram", "all_data_rd.llc_miss.any_response",
            "all_rfo.llc_miss.local_dram", "all_code_rd.llc_miss.local_dram",
            "demand_rfo.llc_hit.any_response", "all_requests.llc_hit.any_response",
            "all_reads.llc_miss.any_response", "all_reads.llc_miss.local_dram"))]
        counts = self.same_as_stat(SMALL, {
            name: pmulab_json("encode", "--pmu", "xeon-e5v4", name)["event"] for name in names})
        self.assertGreater(min(counts[:4]), 0)

    def test_offcore_names(self):
        """The events of perf's lists mean to stat what perf makes of them."""
        for machine, pmu, least in ((SMALL, "xeon-e5v4", 30), ("xeon-e5-2680-2s", "xeon-e5", 60),
                                    ("xeon-x5570-2s", "nehalem", 200)):
            with Machine(machine=machine) as emulated:
                names = re.findall(r"^ +(offcore_response\.\S+)", emulated.tool("perf", "list"), re.M)
                verbose = emulated.tool("sh", "-c", f"perf stat -vv -C 0 -e {','.join(names)} true 2>&1")
            self.assertGreaterEqual(len(names), least)
            for name, value in zip(names, re.findall(r"config1 } +(0x\w+)", verbose), strict=True):
                plan = pmulab_json("encode", "--pmu", pmu, name)
                self.assertIn(int(value, 16), [write["value"] for write in plan["writes"]], name)

    def test_caches_of_sandy_bridge(self):
        """Linux, arch/x86/events/intel/core.c: snb_hw_cache_extra_regs."""
        zero, one = ("xeon-e5/core.OFFCORE_RESPONSE_0:request={}:response={}",
                     "xeon-e5/core.OFFCORE_RESPONSE_1:request_1={}:response_1={}")
        reads, owns = "DEMAND_DATA_RD+PF_LLC_DATA_RD", "DEMAND_RFO+PF_LLC_RFO"
        loads, _, _, _, nodes, remote = self.same_as_stat("xeon-e5-2680-2s", {
            "LLC-loads": zero.format(reads, "ANY_RESPONSE"),
            "LLC-load-misses": one.format(reads, "0x3fffc0"),
            "LLC-store-misses": one.format(owns, "0x3fffc0"),
            "LLC-prefetches": zero.format("PF_L2_DATA_RD+PF_L2_RFO", "ANY_RESPONSE"),
            "node-loads": zero.format(reads, "0x1fffc0"),
            "node-load-misses": one.format(reads, "0x1fff80")})
        self.assertGreaterEqual(loads, nodes)
        self.assertGreaterEqual(nodes, LINES)
        self.assertLess(remote, LINES)

    def test_thresholds(self):
        """Raw terms: cycles with and without requests on their way are all cycles."""
        terms = {"sum": "", "some": ",cmask=1", "none": ",cmask=1,inv=1", "begins": ",cmask=1,edge=1",
                 "two": ",cmask=2"}
        events = [f"cpu/event=0x60,umask=0x8,name={name}{term}/" for name, term in terms.items()]
        with Machine() as machine:
            found = self.counts(machine, "-C", 0, "-e", ",".join([*events, "cpu-cycles"]),
                                *machine.program(self.kernel("copy")))
        # Each is rounded by itself.
        self.assertAlmostEqual(found["some"] + found["none"], found["cpu-cycles"], delta=1)
        self.assertTrue(0 < found["begins"] < found["some"])
        self.assertTrue(0 < found["two"] < found["some"] < found["sum"])
        self.assertLessEqual(found["some"] + found["two"], found["sum"])

    def test_group_of_a_task(self):
        with Machine() as machine:
            found = self.counts(machine, "-e", "{instructions,cycles},branches",
                                *machine.program(self.kernel("load")))
            stats = machine.statistics()
        self.assertEqual(found, {name: stats[name] for name in found})

    def test_each_cpu(self):
        with Machine() as machine:
            rows = self.perf(machine, "-a", "-A", "-e", "instructions",
                             *machine.program(self.kernel("load", 0)))
            stats = machine.statistics()
        self.assertEqual([(cpu, count) for cpu, count, _ in rows],
                         [("CPU0,", stats["instructions"]), ("CPU1,", 0), ("CPU2,", 0), ("CPU3,", 0)])

    def test_each_socket(self):
        with Machine("--clock", "machine", machine=LARGE) as machine:
            rows = self.perf(machine, "-a", "--per-socket", "-e", f"uncore_imc/{READS}/",
                             *machine.program(self.kernel("copy")))
        report = stat(self.untranslated(LARGE), ["imc.CAS_COUNT.RD"], self.kernel("copy"),
                      options=["--prefetchers", "none"])
        self.assertEqual([(place.split(",")[0], count) for place, count, _ in rows], [
            (f"S{socket}", total(report, "imc.CAS_COUNT.RD", socket=socket)) for socket in (0, 1)])

    def test_intervals(self):
        with Machine() as machine:
            rows = self.perf(machine, "-a", "-I", 100, "-e", "UNC_M_CAS_COUNT.RD",
                             *machine.program(self.kernel("copy", 2)))
            stats = machine.statistics()
        self.assertGreater(len(rows), 2)
        self.assertEqual(sum(count for _, count, _ in rows), stats["cas_reads"])

    def test_registers_stay(self):
        """The machine's own counters are left to who uses registers."""
        with Machine() as machine:
            before = machine.script("wrmsr 0xe01 0x400334", "wrmsr 0x186 0x4300c0")
            self.counts(machine, "-a", "-e", f"instructions,uncore_cbox_0/{TOR_RFO}/", "true")
            after = machine.script("rdmsr 0xe01", "rdmsr 0x186", "rdmsr 0x38f", "rdmsr 0xe00")
        self.assertEqual(before + after, ["400334", "4300c0", "0", "0"])

    def test_without_sampling(self):
        result = pmulab("emulate", "-M", SMALL, "--", "perf", "record", "-o", self.path / "data",
                        "true")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("Try 'perf stat'", result.stderr)

    def test_list(self):
        """perf chooses its names by CPUID, and by what PMUs there are."""
        with Machine() as machine:
            text = machine.tool("perf", "list", "--no-desc")
        for name in ("unc_m_cas_count.rd", "unc_c_tor_inserts.opcode", "l2_rqsts.miss",
                     "instructions"):
            self.assertIn(name, text)

    def test_papi(self):
        names = {"PAPI_TOT_INS": "instructions", "PAPI_TOT_CYC": "cycles",
                 "PAPI_BR_INS": "branches", "PAPI_L3_TCM": "llc_misses"}
        script = self.path / "papi.py"
        script.write_text(PAPI, encoding="utf-8")
        with Machine() as machine:
            text = machine.tool("/usr/bin/python3", script, ",".join(names),
                                *machine.program(self.kernel("copy")))
            stats = machine.statistics()
        self.assertEqual(text.split(), [str(stats[name]) for name in names.values()])

    def test_papi_uncore(self):
        """Its component finds the kernel's PMUs, and counts one by libpfm4's names."""
        script = self.path / "papi.py"
        script.write_text(PAPI, encoding="utf-8")
        # Four channels take lines in turns.
        names = ["bdx_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=0", "bdx_unc_imc3::UNC_M_CAS_COUNT:WR:cpu=0"]
        with Machine() as machine:
            listed = machine.tool("papi_native_avail")
            text = machine.tool("/usr/bin/python3", script, ",".join(names),
                                *machine.program(self.kernel("copy")))
            stats = machine.statistics()
        for name in ("bdx_unc_cbo3::UNC_C_TOR_INSERTS", "bdx_unc_imc0::UNC_M_CAS_COUNT"):
            self.assertIn(name, listed)
        self.assertNotIn("bdx_unc_cbo4::", listed)
        counts = [int(word) for word in text.split()]
        self.assertEqual(counts[1], stats["cas_writes"] // 4)
        # The lines of code are on some of the channels.
        self.assertAlmostEqual(counts[0], stats["cas_reads"] / 4, delta=CODE_LINES)


if __name__ == "__main__":
    skip_without("perf", "papi_avail", "rdmsr")
    unittest.main()
