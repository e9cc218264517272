#!/usr/bin/env python3
"""The command as a user meets it: JSON keys that others read, refusals, exit codes."""
import json
import os
import signal
import subprocess
import tempfile
import unittest

from harness import LARGE, PMULAB, SMALL, Guests, pmulab, pmulab_json, stat, total
from processes import children_of, lives, wait_until


def shared_memory(process):
    """What a measurement has made there; others use /dev/shm as well."""
    return {name for name in os.listdir("/dev/shm") if f"-{process.pid}-" in name}


class Machines(unittest.TestCase):
    def test_json(self):
        """Two Xeon E5-2699 v4 of 22 cores, 64 GB each, and one E5-2680 v4 of 14 (Intel ARK)."""
        machines = {m["name"]: m for m in pmulab_json("machines")}
        two, one = machines["xeon-e5-2699v4-2s"], machines["xeon-e5-2680v4-1s"]
        self.assertEqual((two["sockets"], two["cores"], two["slices"], two["channels"]), (2, 22, 22, 4))
        self.assertEqual((one["sockets"], one["cores"]), (1, 14))
        self.assertEqual(two["memory_bytes"], 64 << 30)
        self.assertEqual(two["pmu"], "xeon-e5v4")


class DryRuns(unittest.TestCase):
    def accesses(self, pmu, event):
        run = pmulab("stat", "--dry-run", "--pmu", pmu, "-e", event, "--format", "json")
        return [(a["register"], a["value"]) for a in json.loads(run.stdout) if a["write"]]

    def test_box_by_box(self):
        """Without a freeze of the socket: frz is bit 8, and bit 16 enables it (327043-001 table
        2-9); DATA_READ 34/03."""
        control, freeze = "Cn_MSR_PMON_BOX_CTL", 0x10100
        self.assertEqual(self.accesses("xeon-e5", "cbo0.LLC_LOOKUP.DATA_READ:state=M")[:7], [
            (control, freeze), (control, 3), (control, freeze),
            ("Cn_MSR_PMON_BOX_FILTER", 1 << 21), ("Cn_MSR_PMON_CTL0", 0x400334),
            (control, 0), (control, freeze)])

    def test_boxes_of_the_machine(self):
        """It has four memory channels of the eight, and no second home agent."""
        run = pmulab("stat", "--dry-run", "-M", SMALL, "-e", "imc.CAS_COUNT.RD,ha.CLOCKTICKS",
                     "--format", "json")
        written = {(a["box"], a["instance"]) for a in json.loads(run.stdout) if a["write"]}
        self.assertEqual({w for w in written if w[0] in ("imc", "ha")},
                         {("imc", 0), ("imc", 1), ("imc", 2), ("imc", 3), ("ha", 0)})

    def test_nodes(self):
        """nid is bits 15:0 of the second filter, a bit a node (334291-001 table 2-19). Node n of
        this machine is socket n."""
        for nid, values in (("my_node", [1, 2]), ("other_nodes", [2, 1]), ("0x2", [2, 2])):
            with self.subTest(nid=nid):
                run = pmulab("stat", "--dry-run", "-M", LARGE, "-e",
                             f"cbo0.TOR_INSERTS.NID_ALL:nid={nid}", "--format", "json")
                written = {a["socket"]: a["value"] for a in json.loads(run.stdout)
                           if a["write"] and a["register"] == "Cn_MSR_PMON_BOX_FILTER1"
                           and a["value"]}
                self.assertEqual([written[socket] & 0xFFFF for socket in (0, 1)], values)

    def test_counters_without_a_reset(self):
        self.assertIn(("MC_CHy_PCI_PMON_CTR0", 0), self.accesses("xeon-e5", "imc0.CAS_COUNT.RD"))

    def starts(self, pmu, event, writes):
        """The session begins with these writes."""
        self.assertEqual(self.accesses(pmu, event)[:len(writes)], writes)

    def test_itanium(self):
        """323602-001 §5.4.2, §5.4.4: frozen by the D-Box, where 0 becomes 1; its freeze is bit 6
        and unfreeze bit 7. Core: PMC0.fr, table 3-7."""
        d_box = "DBX_CSR_MISC"
        freeze, unfreeze = [(d_box, 0), (d_box, 0x40)], [(d_box, 0), (d_box, 0x80)]
        # §5.7.3.1; overflow bits are cleared by writing 1, bits 7:0 of the count with cnt_lo_we
        self.starts("itanium-9300", "zbox0.PLD_DRAM_EV.DRAM_CMD.RAS", freeze + [
            ("Z_CSR_PMU_CNT_STATUS", 0x1f), ("Z_CSR_PLD_PMU", 0x200), ("Z_CSR_PMU_CNT_0", 0),
            ("Z_CSR_PMU_CNT_CTL_0", 0x800000), ("Z_CSR_PMU_CNT_CTL_0", 0xa1)] + unfreeze)
        # Table 5-10: frz 32 and reset 0; CTL3 right after CTL2; a CTL0 without frz would unfreeze
        self.starts("itanium-9300", "bbox1.IOB_INSERTS.SNOOPS", freeze + [
            ("B_CSR_PERF_CTL0", 0x100000001), ("B_CSR_PERF_CTL2", 0x10000),
            ("B_CSR_PERF_CTL3", 0xfffffffd), ("B_CSR_PERF_CTL1", 0x17),
            ("B_CSR_PERF_CTL0", 0x100000002)] + unfreeze)
        # Table 5-26: clr 10; two ports of the right half share its counters
        self.starts("itanium-9300", "rbox5.FLITS_SENT,rbox7.FLITS_SENT", freeze + [
            ("R_CSR_PERF_GBLCFG", 0x400), ("R_CSR_Pn_IPERF0", 0x80000000),
            ("R_CSR_PERF_CNT_CTRL_0", 0x400000), ("R_CSR_Pn_IPERF1", 0x80000000),
            ("R_CSR_PERF_CNT_CTRL_1", 0x510000)] + unfreeze)
        # Tables 3-4, 3-7; nothing that it looks at is restricted: 3-9, 3-10, 3-12, 3-13
        self.starts("itanium-9300", "core0.L3_MISSES", [
            ("PMC0", 1), ("PMC32", 0x030f01ffffffffff), ("PMC36", 0), ("PMC38", 0xdb6),
            ("PMC41", 0x2078fefefefe), ("PMD4", 0), ("PMC4", 0x7a00dc0f), ("PMC0", 0)])

    def test_a_box_that_nothing_freezes(self):
        """Its counters are enabled last, and disabled to stop: en is bit 22."""
        control = "U_MSR_PMON_UCLK_FIXED_CTL"
        self.starts("xeon-e5", "ubox.clock", [
            (control, 0), ("U_MSR_PMON_UCLK_FIXED_CTR", 0), (control, 0x400000), (control, 0)])

    def test_shared_counters_are_too_few(self):
        run = pmulab("stat", "--dry-run", "--pmu", "itanium-9300", "-e",
                     "rbox.FLITS_SENT,rbox.FLITS_RCVD")
        self.assertEqual(run.returncode, 1)
        for word in ("rbox", "8 counters", "FLITS_RCVD", "separate runs"):
            self.assertIn(word, run.stderr)


class LongNames(unittest.TestCase):
    """An event whose name has more than 255 characters, from all that a packet match takes."""
    FIELDS = {f"rx_{what}_{field}": "0x1" for what in ("match", "mask")
              for field in ("vnw", "opc", "mc", "dnid", "rnid_4", "rds", "rnid_3_0")}
    FIELDS.update(thresh=1, edge_det=1)

    def setUp(self):
        self.event = "qpi.CTO_COUNT" + "".join(f":{f}={v}" for f, v in self.FIELDS.items())
        self.assertGreater(len(self.event), 255)

    def test_encode(self):
        report = pmulab_json("encode", "--pmu", "xeon-e5v4", self.event)
        printed = report["event"]
        self.assertEqual({f.split("=")[0] for f in printed.split(":")[1:]}, set(self.FIELDS))
        self.assertEqual(pmulab_json("encode", "--pmu", "xeon-e5v4", printed), report)
        table = pmulab("encode", "--pmu", "xeon-e5v4", self.event, "--format", "csv").stdout
        self.assertEqual({line.split(",")[0] for line in table.splitlines()[1:]}, {printed})

    def test_stat(self):
        report = stat("xeon-e5v4-4c", [self.event], "/bin/true")
        printed = {count["event"] for count in report["counts"]}
        self.assertEqual(len(printed), 1)
        self.assertEqual({f.split("=")[0] for f in printed.pop().split(":")[1:]}, set(self.FIELDS))


class Lists(unittest.TestCase):
    def test_device_ids(self):
        """Vendor in the lower half, the function's own device id in the upper one."""
        rows = [r for r in pmulab_json("list", "registers", "--pmu", "xeon-e5v4", "--box", "ha")
                if r["name"] == "HAn_PCI_ID"]
        self.assertEqual([r["reset"] for r in rows], [0x6F308086, 0x6F388086])
        self.assertEqual([f["reset"] for f in rows[1]["fields"]], [0x6F38, 0x8086])
        text = pmulab("show", "xeon-e5v4/ha.HAn_PCI_ID").stdout
        self.assertIn("HA1, HA1_PCI_ID: pci D18:F5:0x00, reset 0x6F388086", text)

    def test_counter_that_stands_still(self):
        """334291-001 §2.9.2.4: LINK_IDLE counts idle cycles at all times; no machine has idle flits."""
        self.assertIn("\n  model        absent: ",
                      pmulab("show", "xeon-e5v4/qpi.Q_Py_PCI_PMON_LINK_IDLE").stdout)
        self.assertNotIn("\n  model ",
                         pmulab("show", "xeon-e5v4/qpi.Q_Py_PCI_PMON_LINK_LLR").stdout)

    def test_json_keys(self):
        """The keys that were promised, no more and no less."""
        keys = {
            "events": {"pmu", "box", "event", "title", "category", "code", "ext", "counters", "max_increment", "umasks",
                       "filters", "model", "model_note", "desc", "source"},
            "registers": {"pmu", "box", "instance", "name", "space", "address", "width", "access",
                          "reset", "fields"},
            "metrics": {"pmu", "box", "name", "equation", "unit", "desc", "source"},
            "encodings": {"pmu", "box", "event", "code", "ext", "umask", "value", "care", "alone",
                          "group", "implied", "sum", "sets", "set", "attributes", "model",
                          "desc"},
            "facts": {"pmu", "box", "name", "title", "rows", "source"},
            "settings": {"pmu", "box", "setting", "register", "hi", "lo", "set", "values"},
        }
        for subject, wanted in keys.items():
            with self.subTest(subject=subject):
                entries = pmulab_json("list", subject)
                self.assertTrue(entries)
                for entry in entries:
                    self.assertEqual(set(entry), wanted)
        umask = next(e for e in pmulab_json("list", "events") if e["umasks"])["umasks"][0]
        self.assertEqual(set(umask), {"name", "value", "desc", "model"})
        field = pmulab_json("list", "registers")[0]["fields"][0]
        self.assertEqual(set(field), {"name", "hi", "lo", "access", "reset"})

    def test_what_manuals_tell(self):
        """334291-001 §2.3.6, table 2-164; the guide's table 2 and text; 323602-001 tables 2-7, 4-78."""
        events = {(e["pmu"], e["event"]): e for e in pmulab_json("list", "events")}
        tor = events["xeon-e5v4", "TOR_INSERTS"]
        self.assertEqual((tor["title"], tor["category"]), ("TOR Inserts", "TOR"))
        self.assertIn("title        TOR Inserts\n  category     TOR\n",
                      pmulab("show", "xeon-e5v4/TOR_INSERTS").stdout)
        titled = [e for e in events.values() if e["title"]]
        self.assertEqual({e["pmu"] for e in titled},
                         {"xeon-e5v4", "itanium-9300"})
        facts = {(f["pmu"], f["box"], f["name"]): f["rows"] for f in pmulab_json("list", "facts")}
        queues = {r["queue"]: r for r in facts["nehalem", "uncore", "QUEUES"]}
        self.assertEqual([queues[f"GQ {q} tracker"]["entries with two sockets"]
                          for q in ("read", "write", "peer probe")], ["32", "16", "12"])
        self.assertEqual(queues["QHL local"]["entries with two sockets"], "24")
        self.assertIn({"data from": "memory of the other socket", "latency": "100 ns"},
                      facts["nehalem", "core", "LATENCIES"])
        cases = facts["xeon-e5v4", "pcu", "CONFIGURATIONS"]
        self.assertEqual([c["CTL0.ev_sel"] for c in cases], [""] + 5 * ["0x80"])
        self.assertEqual([c["FILTER"] for c in cases], 5 * ["0x00"] + ["0x14"])
        caches = {r["cache"]: r for r in facts["itanium-9300", "core", "CACHES"]}
        self.assertEqual((caches["L3"]["size"], caches["L3"]["ways"]), ("6 MB", "12"))
        shown = pmulab("show", "itanium-9300/core.CACHES").stdout
        self.assertIn("323602-001 table 2-7", shown)
        self.assertIn("32 OzQ, 16 fills", shown)
        self.assertIn("= CACHEABLE_DREADS + CACHEABLE_IFETCHES",
                      pmulab("show", "itanium-9300/core.ER_READS").stdout)

    def test_names_in_an_instance(self):
        """334291-001 table 2-13; 323602-001 table 5-24, where ports 5 to 10 have counters 8 to 15."""
        for name, address in (("C23_MSR_PMON_CTL0", "msr 0xF71"),
                              ("R_CSR_P10_IPERF1", "mmio 0x7A88"),
                              ("R_CSR_P06_ARB_PERF1", "mmio 0x4498")):
            self.assertIn(f"{name}: {address}\n", pmulab("show", name).stdout)
        for name, register, instance in (
                ("C23_MSR_PMON_CTL0", "Cn_MSR_PMON_CTL0", 23),
                ("cbo23.C23_MSR_PMON_CTL0", "Cn_MSR_PMON_CTL0", 23),
                ("R_CSR_P10_IPERF1", "R_CSR_Pn_IPERF1", 10),
                ("R_CSR_PERF_CNT_CTRL_15", "R_CSR_PERF_CNT_CTRL_7", 5),
                ("MC1_CH2_PCI_PMON_CTL3", "MC_CHy_PCI_PMON_CTL3", 6)):
            pmu = "itanium-9300" if "R_CSR" in name else "xeon-e5v4"
            found = pmulab_json("decode", "--pmu", pmu, name, 0)
            self.assertEqual((found["register"], found["instance"]), (register, instance), name)
        self.assertEqual(pmulab("decode", "--pmu", "xeon-e5v4", "cbo3.C23_MSR_PMON_CTL0",
                                "0").returncode, 2)
        self.assertEqual(pmulab("decode", "--pmu", "xeon-e5v4", "C24_MSR_PMON_CTL0",
                                "0").returncode, 2)

    def test_thresholds_that_are_never_met(self):
        """334291-001 §2.3.4: TOR_OCCUPANCY adds 20 at most, CLOCKTICKS 1; §2.2.2.2: a threshold is
        met by increments that reach it, with invert by those below. 323602-001 §4.16: ER_READS
        adds 1 at most, ER_SNOOPQ_LIVE_LO 7; table 3-5: increments have to exceed a threshold."""
        for event, valid in (("xeon-e5v4/cbo.TOR_OCCUPANCY.ALL:thresh=20", None),
                             ("xeon-e5v4/cbo.TOR_OCCUPANCY.ALL:thresh=21", "nothing; valid: 0 to 20"),
                             ("xeon-e5v4/cbo.CLOCKTICKS:thresh=2:edge", "nothing; valid: 0 to 1"),
                             ("xeon-e5v4/cbo.CLOCKTICKS:thresh=1:inv", None),
                             ("xeon-e5v4/cbo.CLOCKTICKS:thresh=2:inv", "every cycle; valid: 0 to 1"),
                             ("itanium-9300/core.ER_READS.ALL:threshold=1", "nothing; valid: 0\n"),
                             ("itanium-9300/core.ER_SNOOPQ_LIVE_LO:threshold=6", None),
                             ("itanium-9300/core.ER_SNOOPQ_LIVE_LO:threshold=7", "valid: 0 to 6")):
            run = pmulab("encode", event)
            self.assertEqual(run.returncode, 2 if valid else 0, run.stderr)
            self.assertIn(valid or "", run.stderr, event)
        run = pmulab("stat", "-M", "xeon-e5v4-4c", "-e", "cbo.CLOCKTICKS:thresh=2", "true")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("is never met", run.stderr)

    def test_show_says_what_settings_need(self):
        """253669 §18.2.1.1: inv and edge act on a comparison; 323602-001 §4.8.4: PMC4 leads."""
        core = pmulab("show", "--pmu", "nehalem", "core").stdout
        for text in ("inv, needs cmask", 'os, one of "ring"', "request in MSR_OFFCORE_RSP_0, a set"):
            self.assertIn(text, core)
        core = pmulab("show", "--pmu", "itanium-9300", "core").stdout
        self.assertIn("all, of counters 0-5 only", core)
        self.assertIn("L2D: counters 0-1,4 count events of one set, which is that of counter 0", core)

    def test_show_says_what_a_match_sets(self):
        """323602-001 table 5-34: the mask goes with the match; §3.2.3.1: OPCM0 needs ig_ad = 0."""
        rbox = pmulab("show", "--pmu", "itanium-9300", "rbox").stdout
        self.assertIn("RDS in R_CSR_Pn_MATCH_MSB_0 or that of the counter's copy, "
                      "sets R_CSR_Pn_MASK_MSB_0[19:16]=0xF", rbox)
        core = pmulab("show", "--pmu", "itanium-9300", "core").stdout
        self.assertIn("PMC32[57:57]=0x0", core)

    def test_show_of_one_pmu(self):
        """A name as encode and decode print it."""
        for name, first in (("xeon-e5/cbo.LLC_LOOKUP", "event xeon-e5/cbo.LLC_LOOKUP"),
                            ("nehalem/IA32_PMC0", "register nehalem/core.IA32_PMC0"),
                            ("nehalem/uncore", "box nehalem/uncore")):
            shown = pmulab("show", name).stdout.splitlines()
            self.assertEqual(shown[0], first)
            self.assertFalse([line for line in shown[1:] if not line.startswith("  ")])

    def test_narrowing(self):
        boxes = {e["box"] for e in pmulab_json("list", "events", "--pmu", "xeon-e5v4", "--box", "ha")}
        self.assertEqual(boxes, {"ha"})

    def test_documented_addresses(self):
        """334291-001 table 2-13 and table 1-3."""
        registers = {(r["box"], r["instance"], r["name"]): r["address"]
                     for r in pmulab_json("list", "registers")}
        cbo = {name: a for (box, i, name), a in registers.items() if box == "cbo" and i == 17}
        self.assertIn(0xF11, cbo.values())
        self.assertIn(0xF1B, cbo.values())
        imc = [a for (box, i, _), a in registers.items() if box == "imc" and i == 5]
        self.assertIn(23 << 15 | 1 << 12 | 0xD8, imc)

    def test_events_of_sets_alone(self):
        """323602-001 §4.8.2, §4.8.4: PMC5 has to hold an L1D event, PMC4 or PMC6 one of L2D."""
        for event, register in (("L1D_READS_SET0", "PMC5"), ("L2D_REFERENCES.READS", "PMC4"),
                                ("BE_EXE_BUBBLE.ALL", "PMC4")):
            encoded = pmulab("encode", "--pmu", "itanium-9300", event).stdout
            self.assertIn(f" {register}\n", encoded)

    def test_encode_and_decode(self):
        """Worked out by hand: opc 28:20, en 22, umask 15:8 (334291-001 tables 2-16 and 2-19)."""
        encoded = pmulab_json("encode", "--counter", "1", "cbo3.TOR_INSERTS.MISS_OPCODE:opc=DRd")
        self.assertEqual(set(encoded), {"event", "writes"})
        self.assertEqual([(w["space"], w["address"], w["value"]) for w in encoded["writes"]],
                         [("msr", 0xE36, 0x182 << 20), ("msr", 0xE32, 1 << 22 | 0x03 << 8 | 0x35)])
        self.assertEqual(set(encoded["writes"][0]), {"space", "address", "value", "register"})
        decoded = pmulab_json("decode", "0xE32", "0x00400335")
        self.assertIn("TOR_INSERTS.MISS_OPCODE", decoded["event"])


class Refusals(unittest.TestCase):
    """One clear message that says what is valid, exit code 2."""

    def refused(self, *arguments, code=2, says=()):
        result = pmulab(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        for text in says:
            self.assertIn(text.lower(), result.stderr.lower())
        self.assertNotIn("Sanitizer", result.stderr)

    def test_encode_several(self):
        """A counter each, and one value of what they share: opc 28:20, nid 15:0, TOR_OCCUPANCY on
        counter 0 only (334291-001 tables 2-19, 2-21)."""
        encoded = pmulab_json("encode", "cbo.TOR_INSERTS.OPCODE:opc=DRd",
                              "cbo.TOR_OCCUPANCY.NID_ALL:nid=1")
        self.assertEqual([[(w["address"], w["value"]) for w in e["writes"]] for e in encoded],
                         [[(0xe06, 0x18200001), (0xe02, 0x400135)],
                          [(0xe06, 0x18200001), (0xe01, 0x404836)]])
        self.refused("encode", "cbo.TOR_INSERTS.OPCODE:opc=DRd", "cbo.TOR_INSERTS.OPCODE:opc=RFO",
                     says=["opc=RFO", "opc=DRd", "values of opc", "Cn_MSR_PMON_BOX_FILTER1"])
        self.refused("encode", "--counter", "1", "cbo.CLOCKTICKS", "cbo.LLC_VICTIMS.M_STATE",
                     says=["both", "counter 1"])

    def test_counters_of_the_router(self):
        """Counter 9 is the second of the ports 5 to 10 (323602-001 table 5-24)."""
        for counter in ("9", "1"):
            encoded = pmulab_json("encode", "--pmu", "itanium-9300", "--counter", counter,
                                  "rbox5.FLITS_SENT")
            self.assertEqual([(w["address"], w["value"]) for w in encoded["writes"]],
                             [(0x7588, 0x80000000), (0x4e98, 0x410000)])
        self.refused("encode", "--pmu", "itanium-9300", "--counter", "8",
                     "rbox0.FLITS_SENT", says=["counter 8"])

    def test_names(self):
        self.refused("lst", says=["list"])
        self.refused("stat", "-M", "xeon-e5v4-4d", "--", "true", says=["xeon-e5v4-4c"])
        self.refused("encode", "cbo.LLC_LOKUP.ANY:state=any", says=["LLC_LOOKUP"])
        self.refused("encode", "cbo.LLC_LOOKUP.DATA_REED:state=any", says=["DATA_READ"])
        self.refused("list", "--pmu", "xeon-e5v5", says=["xeon-e5v4"])
        self.refused("show", "xeon-e5v5/cbo.LLC_LOOKUP", says=["xeon-e5v4"])
        self.refused("show", "--pmu", "nehalem", "xeon-e5v4/CAPID4", says=["not belong to nehalem"])
        self.refused("list", "--format", "xml", says=["json"])

    def test_options(self):
        self.refused("stat", "--bogus", "--", "true", says=["pmulab stat: ", "--bogus"])
        self.refused("emulate", "--attach", says=["pmulab emulate: ", "--attach"])
        self.refused("stat", "--replay", "file", "-e", "imc.CAS_COUNT.RD", "--", "true",
                     says=["runs no PROGRAM"])

    def test_what_cannot_count(self):
        self.refused("encode", "cbo.TOR_INSERTS.OPCODE+WB:opc=DRd", says=["TOR_INSERTS"])
        self.refused("encode", "cbo.TOR_INSERTS.OPCODE", says=["opc"])
        self.refused("encode", "cbo.CLOCKTICKS:thresh=256", says=["thresh", "255"])
        self.refused("encode", "cbo.CLOCKTICKS:edge_det", says=["thresh"])
        self.refused("encode", "--counter", "1", "cbo.TOR_OCCUPANCY.ALL", says=["counter"])

    def test_what_excludes_each_other(self):
        """One PMU cannot count them; several on one machine can."""
        for events, word in (("TOR_INSERTS.OPCODE:opc=DRd,cbo.TOR_INSERTS.OPCODE:opc=RFO", "opc"),
                             ("TOR_OCCUPANCY.ALL,cbo.RxR_OCCUPANCY.IRQ", "counter")):
            self.refused("stat", "-M", SMALL, "-e", "{cbo." + events + "}", "--", "true", says=[word])
            self.refused("stat", "-M", SMALL, "--dry-run", "-e", "cbo." + events, code=1, says=[word])

    def test_programs(self):
        self.refused("stat", "-M", SMALL, "--", "/no/such/program", code=127, says=["not found"])
        self.refused("stat", "-M", SMALL, "--", "no-such-program", code=127, says=["not found"])
        self.refused("stat", "-M", SMALL, "--", "/etc/passwd", code=126, says=["executable"])
        with tempfile.NamedTemporaryFile("wb", delete=False) as file:
            head = bytearray(64)  # an ELF header for AArch64
            head[:6] = b"\x7fELF\x02\x01"
            head[16:20] = b"\x02\x00\xb7\x00"
            file.write(head)
        os.chmod(file.name, 0o755)
        self.refused("stat", "-M", SMALL, "--", file.name, code=126, says=["x86-64"])
        os.unlink(file.name)


class Programs(Guests):
    def test_report_keys(self):
        report = stat(SMALL, ["imc.CAS_COUNT.RD"], "/bin/true", metrics=["MEM_BW_READS"])
        self.assertEqual(set(report), {"machine", "way", "command", "ran", "exit", "seconds",
                                       "instructions", "cycles", "counts", "metrics", "not_emulated"})
        self.assertEqual(set(report["counts"][0]),
                         {"event", "pmu", "box", "socket", "instance", "count", "model"})
        self.assertEqual(set(report["metrics"][0]), {"name", "box", "value", "unit", "shown_value",
                                                     "shown_unit", "unknown_because"})
        self.assertEqual(report["metrics"][0]["value"], 64 * total(report, "imc.CAS_COUNT"))

    def test_twice_the_same(self):
        events = ["cbo.LLC_LOOKUP.ANY:state=any", "cbo.TOR_OCCUPANCY.ALL", "cbo.LLC_VICTIMS.M_STATE",
                  "ha.TRACKER_OCCUPANCY.READS_LOCAL", "imc.CAS_COUNT.RD", "imc.ACT_COUNT.RD",
                  "imc.RPQ_CYCLES_NE"]
        reports = [stat(LARGE, events, "/bin/ls", "/usr/include") for _ in range(2)]
        self.assertEqual(reports[0], reports[1])

    def test_conservation_in_real_programs(self):
        """
        What misses the LLC goes to a home agent, which reads memory or its write queue, or which only
        lets the line be owned.
        """
        threads = self.build("threads.c", "-pthread")
        misses, victims = "cbo.LLC_LOOKUP.READ:state=I", "cbo.LLC_VICTIMS.M_STATE"
        reads, writes = "ha.REQUESTS.READS", "ha.REQUESTS.WRITES"
        cas_reads, cas_writes = "imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR"
        read_hits, write_hits = "imc.WPQ_READ_HIT", "imc.WPQ_WRITE_HIT"
        events = [misses, victims, "cbo.TOR_INSERTS.WB", reads, writes, "ha.IMC_WRITES.ALL",
                  cas_reads, cas_writes, read_hits, write_hits]
        owns = {SMALL: ["ha.REQUESTS.INVITOE_LOCAL"],
                LARGE: ["ha.REQUESTS.INVITOE_LOCAL", "ha.REQUESTS.INVITOE_REMOTE"]}
        for machine in (SMALL, LARGE):
            for command in (["/bin/ls", "-l", "/usr/bin"], ["/usr/bin/sort", "/etc/passwd"],
                            ["/usr/bin/xz", "-1", "-c", "/bin/bash"], [threads, "4"]):
                with self.subTest(machine=machine, command=command):
                    report = stat(machine, events + owns[machine], *command)
                    count = {event: total(report, event) for event in events}
                    owned = sum(total(report, event) for event in owns[machine])
                    self.assertGreater(count[misses], 1000)
                    self.assertEqual(count[misses], count[reads] + owned)
                    self.assertEqual(count[reads], count[cas_reads] + count[read_hits])
                    self.assertEqual(count[victims], count[writes])
                    self.assertEqual(count["ha.IMC_WRITES.ALL"],
                                     count[cas_writes] + count[write_hits])

    def test_output_and_exit_code_pass_through(self):
        result = pmulab("stat", "-M", SMALL, "-o", "/dev/null", "--", "/bin/sh", "-c",
                        "read line; echo got $line; echo two >&2; exit 7", input="one\n")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (7, "got one\n", "two\n"))
        result = pmulab("stat", "-M", SMALL, "-o", "/dev/null", "--", "/bin/sh", "-c", "kill -SEGV $$")
        self.assertEqual(result.returncode, 128 + signal.SIGSEGV)

    def test_script(self):
        script = self.path / "script"
        script.write_text("#!/bin/sh -e\necho $0 $1\n", encoding="ascii")
        script.chmod(0o755)
        result = pmulab("stat", "-M", SMALL, "-o", "/dev/null", "--", script, "argument")
        self.assertEqual((result.returncode, result.stdout), (0, f"{script} argument\n"))

    def test_absent_events_are_never_zero(self):
        result = pmulab("stat", "-M", SMALL, "-e", "cbo.RING_AD_USED.ALL", "--", "/bin/true")
        self.assertEqual(result.returncode, 0)
        self.assertIn("not modelled", result.stderr)
        report = stat(SMALL, ["cbo.RING_AD_USED.ALL"], "/bin/true")
        self.assertTrue(all(c["count"] is None and c["model"] == "absent" for c in report["counts"]))
        # A unit mask of which nothing is produced, of an event that is modelled.
        report = stat(SMALL, ["cbo.LLC_VICTIMS.MISS", "imc.PRE_COUNT.PAGE_MISS"], "/bin/true")
        self.assertEqual({(c["box"], c["count"] is None) for c in report["counts"]},
                         {("cbo", True), ("imc", False)})

    @staticmethod
    def started():
        """A measurement whose program runs, until it reads something or is ended."""
        process = subprocess.Popen(
            [PMULAB, "stat", "-M", SMALL, "-o", "/dev/null", "--", "/bin/sh", "-c",
             "read cpus </sys/devices/system/cpu/online; echo ready; read word"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout.readline() == b"ready\n"
        return process

    def test_signals_reach_the_program(self):
        with self.started() as process:
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(30), 128 + signal.SIGTERM)

    def test_nothing_stays_when_it_is_killed(self):
        with self.started() as process:
            children = children_of(process.pid)
            self.assertEqual(len(shared_memory(process)), 1)  # the files that the shell has read
            process.kill()
            process.wait(30)
        self.assertTrue(children)
        wait_until(lambda: not any(map(lives, children)))
        wait_until(lambda: not shared_memory(process))

    def test_csv(self):
        with tempfile.NamedTemporaryFile("r", suffix=".csv") as file:
            pmulab("stat", "-M", SMALL, "-e", "imc.CAS_COUNT.RD", "--format", "csv", "-o", file.name,
                   "--", "/bin/true")
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "event,pmu,box,socket,instance,count,model")
        self.assertEqual(len(lines), 1 + 4 + 2)  # four channels, exit code and seconds
        self.assertEqual(lines[5], "exit,xeon-e5v4,,,,0,")
        self.assertRegex(lines[6], r"^seconds,xeon-e5v4,,,,0\.[0-9]+,s$")

    def test_threads(self):
        threads = self.build("threads.c", "-pthread")
        report = stat(SMALL, ["imc.CAS_COUNT.RD", "cbo.LLC_LOOKUP.READ:state=any"], threads, "6")
        self.assertEqual(report["exit"], 0)
        self.assertGreater(total(report, "cbo.LLC_LOOKUP.READ"), 6 * 8192)


if __name__ == "__main__":
    unittest.main()
