#!/usr/bin/env python3
"""pmulab decode of records and whole dumps, as a user and a program meet them."""
import csv
import io
import json
import struct
import tempfile
import unittest

from harness import pmulab, pmulab_json

FIELD_KEYS = {"name", "value", "unit", "meaning", "least", "documented"}
RECORD_KEYS = {"pmu", "box", "instance", "record", "kind", "captured", "fields", "entries", "notes"}

# 253669 §18.8.1.1: 22 words; §18.8.1.2: address, source and latency are the last three.
PEBS_BYTES = 0xB0
NAMES = ["rflags", "rip", "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10",
         "r11", "r12", "r13", "r14", "r15", "global_status", "data_address", "data_source",
         "latency"]


def pebs_record(number, source=10, latency=321):
    words = [number << 8 | i for i in range(22)]
    words[18], words[20], words[21] = 1 << 3, source, latency  # counter 3 overflowed
    return words


def fields(record):
    return {f["name"]: f["value"] for f in record["fields"]}


def branches(tos, count=16):
    """A branch stack: the youngest goes from 0x1000, the one before from 0x1100..."""
    pairs = [f"0x1c9={tos}"]
    for age in range(count):
        number = (tos - age) % 16
        pairs += [f"0x{0x680 + number:x}=0x{0x1000 + age * 0x100 | (age == 1) << 63:x}",
                  f"MSR_LASTBRANCH_{number}_TO_IP=0x{0x2000 + age * 0x100:x}"]
    return pairs


class Decode(unittest.TestCase):
    def refused(self, *arguments, code=2, says=(), **options):
        result = pmulab("decode", *arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        for text in says:
            self.assertIn(text, result.stderr)
        self.assertNotIn("Sanitizer", result.stderr)
        return result


class Memory(Decode):
    def file(self, data):
        file = tempfile.NamedTemporaryFile(suffix=".pebs")
        self.addCleanup(file.close)
        file.write(data)
        file.flush()
        return file.name

    def test_many_records(self):
        count = 100
        data = b"".join(struct.pack("<22Q", *pebs_record(n, n % 16)) for n in range(count))
        records = pmulab_json("decode", "--hwrec", "pebs", self.file(data))
        self.assertEqual(len(records), count)
        for n, record in enumerate(records):
            words = pebs_record(n, n % 16)
            self.assertEqual(set(record), RECORD_KEYS | {"offset"})
            self.assertEqual(record["offset"], n * PEBS_BYTES)
            self.assertTrue(all(set(f) == FIELD_KEYS for f in record["fields"]))
            self.assertEqual([f["name"] for f in record["fields"]], NAMES)
            values = fields(record)
            for i, name in enumerate(NAMES[:20]):
                self.assertEqual(int(values[name], 16), words[i])
            self.assertEqual((values["data_source"], values["latency"]), (n % 16, 321))
            self.assertEqual(record["fields"][18]["meaning"], "ovf_pmc3")
        self.assertEqual(records[10]["fields"][20]["meaning"], "LOCAL_DRAM_S")

    def test_standard_input_and_words(self):
        data = struct.pack("<22Q", *pebs_record(7))
        piped = pmulab("decode", "--hwrec", "pebs", "--format", "json", "-", input=data,
                       text=False, errors=None)
        self.assertEqual(piped.returncode, 0)
        words = [hex(w) for w in pebs_record(7)]
        self.assertEqual(json.loads(piped.stdout), pmulab_json("decode", "--hwrec", "pebs", *words))

    def test_truncated(self):
        """What is whole is decoded; the rest is an error with its offset and size."""
        data = struct.pack("<44Q", *pebs_record(1), *pebs_record(2)) + b"x" * 12
        for record_format in ("table", "json", "csv"):
            with self.subTest(format=record_format):
                result = pmulab("decode", "--hwrec", "pebs", "--format", record_format,
                                self.file(data))
                self.assertEqual(result.returncode, 1)
                self.assertIn("offset 0x160", result.stderr)
                self.assertIn("12 bytes of the 176", result.stderr)
                self.assertIn("0x211", result.stdout)  # r15 of the second
        self.assertEqual(pmulab_json("decode", "--hwrec", "pebs", self.file(b"")), [])

    def test_data_source(self):
        record, = pmulab_json("decode", "--pmu", "nehalem", "--hwrec", "data-source", "0x5")
        self.assertEqual(record["fields"][0]["meaning"], "L3_OTHER_CORE_HIT")
        table = pmulab("decode", "--pmu", "nehalem", "--hwrec", "data-source", "0x5").stdout
        self.assertIn("L3_OTHER_CORE_HIT", table)

    def test_refusals(self):
        self.refused("--hwrec", "pebs", *["0x1"] * 21, says=["22 words", "21 given"])
        self.refused("--hwrec", "data-source", "0x5", "five", says=["five"])
        self.refused("--hwrec", "pebs", "/no/such/file", code=1, says=["/no/such/file"])
        self.refused("--hwrec", "pebs", says=["file"])
        self.refused("--hwrec", "pebs", "--kind", "tlb", "0x1", says=["no kinds"])
        self.refused("--hwrec", "pebbs", "0x1", says=["did you mean pebs?"])
        self.refused("--pmu", "xeon-e5v4", "--hwrec", "pebs", "0x1", says=["valid: lbr"])
        self.refused("--hwrec", "lbr", *branches(3), says=["xeon-e5v4", "xeon-e5", "nehalem"])


class Registers(Decode):
    def test_branch_stack(self):
        for pmu in "nehalem", "xeon-e5", "xeon-e5v4":
            self.check_branch_stack(pmu)

    def check_branch_stack(self, pmu):
        record = pmulab_json("decode", "--pmu", pmu, "--hwrec", "lbr", *branches(3))
        self.assertEqual(set(record), RECORD_KEYS)
        self.assertEqual([e["entry"] for e in record["entries"]],
                         [str((3 - age) % 16) for age in range(16)])
        for age, entry in enumerate(record["entries"]):
            self.assertEqual(set(entry), {"entry", "kind", "fields"})
            self.assertEqual(fields(entry), {"from": hex(0x1000 + age * 0x100).upper()
                                             .replace("X", "x"),
                                             "to": hex(0x2000 + age * 0x100).upper()
                                             .replace("X", "x"),
                                             "mispredicted": age == 1})
        lines = pmulab("decode", "--pmu", pmu, "--hwrec", "lbr", *branches(3)).stdout.splitlines()
        self.assertEqual(lines[1].split(), ["AGE", "ENTRY", "KIND", "from", "to", "mispredicted"])
        self.assertEqual(lines[2].split(), ["0", "3", "branch", "0x1000", "0x2000", "no"])
        self.assertEqual(lines[3].split(), ["1", "2", "branch", "0x1100", "0x2100", "yes"])

    def test_kinds(self):
        pmd = ["pmd32=0x1000", "pmd33=0xc000", "pmd36=0x2008"]
        reported = pmulab_json("decode", "--hwrec", "ear-d", *pmd, "pmc40=0x80")
        asked = pmulab_json("decode", "--hwrec", "ear-d", "--kind", "TLB", *pmd)
        self.assertEqual(reported, asked)
        self.assertEqual(fields(reported), {"data_address": "0x1000", "outcome": 3,
                                        "instruction_address": "0x2000", "slot": 0})
        self.refused("--hwrec", "ear-d", *pmd, says=["PMC40", "cache, tlb, alat"])
        self.refused("--hwrec", "ear-d", "--kind", "cache", *pmd, "pmc40=0x80",
                     says=["PMC40.mode is 1"])
        self.refused("--hwrec", "ear-d", "--kind", "tlb", "pmd32=1", says=["PMD33, PMD36"])
        self.refused("--hwrec", "ear-d", *pmd, "pmd34=1", says=["PMD34", "not part"])
        self.refused("--hwrec", "ear-d", *pmd, "pmd32=2", says=["PMD32", "twice"])
        self.refused("--hwrec", "ear-d", "pmd32", says=["value"])
        self.refused("--hwrec", "etb", "pmd38=1", "pmd39=0", "pmd48=1", "pmc42=0x400",
                     says=["PMC42.mode is 4"])
        self.refused("--hwrec", "qear", "cpe0.CPE_CSR_QEAR_DAT0=1", "cpe1.CPE_CSR_QEAR_DAT1=1",
                     says=["0 and 1"])

    def test_undocumented_values(self):
        """Reported, and marked: class 3 of a QEAR does not happen (323602-001 table 5-7)."""
        values = ["CPE_CSR_QEAR_DAT0=0x40", f"CPE_CSR_QEAR_DAT1={3 << 18}", "CPE_CSR_QEAR_CTL=1"]
        record = pmulab_json("decode", "--hwrec", "qear", *values)
        self.assertFalse(next(f for f in record["fields"] if f["name"] == "class")["documented"])
        table = pmulab("decode", "--hwrec", "qear", *values).stdout
        self.assertIn("not documented", table)


class Dumps(Decode):
    DUMP = """# a frozen monitor
PMC0 0x11
PMC40  0x2020003
PMD32  0xe000000000001238
PMD33: 0x4025
PMD36 = 0x400000000001234d

PMC42 0x2c00   # IP-EAR
PMD38 1
PMD39 0x4
PMD48 0x5000000000077717
"""

    def dump(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".dump")
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        return file.name

    def test_whole_dump(self):
        report = pmulab_json("decode", "--pmu", "itanium-9300", "--registers", self.dump(self.DUMP))
        self.assertEqual(set(report), {"registers", "records"})
        self.assertEqual([r["register"] for r in report["registers"]],
                         ["PMC0", "PMC40", "PMD32", "PMD33", "PMD36", "PMC42", "PMD38",
                          "PMD39_IPEAR", "PMD48_IPEAR"])
        pmd32 = report["registers"][2]
        self.assertEqual(set(pmd32), {"pmu", "box", "instance", "register", "name", "value", "hex", "event",
                                      "counters", "fields"})
        self.assertEqual(set(pmd32["fields"][0]), {"name", "hi", "lo", "meaning", "value", "hex"})
        self.assertEqual(pmd32["hex"], "0xE000000000001238")
        self.assertEqual(pmd32["value"], 0xE000000000001238)
        ear, ip = report["records"]
        self.assertEqual((ear["record"], ear["kind"], fields(ear)["latency"]), ("ear-d", "cache", 37))
        # 323602-001 tables 3-30, 3-32: cycles 5 + (1 << 4), IP bits 63:12 0x777, 11:4 0x17
        self.assertEqual(ip["record"], "ip-ear")
        self.assertEqual(fields(ip)["delay"], 5)
        self.assertEqual(fields(ip["entries"][0]), {"ip": "0x777170", "cycles": 21,
                                                    "before_last": 0, "flushed": False})
        result = pmulab("decode", "--pmu", "itanium-9300", "--registers", "-", input=self.DUMP)
        self.assertEqual(result.returncode, 0)
        self.assertIn("itanium-9300/core.PMD33 = 0x4025", result.stdout)
        self.assertIn("0x4000000000012350", result.stdout)

    def test_csv(self):
        result = pmulab("decode", "--registers", self.dump(self.DUMP), "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertEqual(list(rows[0]), ["PMU", "BOX", "NAME", "ENTRY", "KIND", "FIELD", "VALUE",
                                         "MEANING"])
        self.assertTrue(all(None not in row for row in rows))
        found = {(r["NAME"], r["ENTRY"], r["FIELD"]): r["VALUE"] for r in rows}
        self.assertEqual(found["PMC42", "", "delay"], "0x5")
        self.assertEqual(found["ip-ear", "PMD48", "cycles"], "21")
        self.assertEqual(found["ear-d", "", "latency"], "37")

    def test_incomplete_records(self):
        """Said, while the registers are explained."""
        path = self.dump("PMD32 1\n")
        report = pmulab_json("decode", "--registers", path)
        self.assertEqual([r["register"] for r in report["registers"]], ["PMD32"])
        self.assertIn("PMC40", report["records"][0]["error"])
        self.assertIn("PMC40", pmulab("decode", "--registers", path).stdout)

    def test_instances_apart(self):
        text = "".join(f"cpe{n}.CPE_CSR_QEAR_DAT0 0x40\n0x{0x8108 + n * 0x1000:x} {n}\n"
                       f"cpe{n}.CPE_CSR_QEAR_CTL {n << 17 | 1}\n" for n in range(4))
        report = pmulab_json("decode", "--pmu", "itanium-9300", "--registers",
                             self.dump(text))
        self.assertEqual([(r["instance"], fields(r)["latency"], fields(r)["address"])
                          for r in report["records"]],
                         [(n, n, f"0x{n << 32 | 0x40:X}") for n in range(4)])

    def test_registers_on_the_command_line(self):
        report = pmulab_json("decode", "0xE32=0x00400335", "0xE36=0x18200000")
        self.assertIn("TOR_INSERTS.MISS_OPCODE", report["registers"][0]["event"])
        self.assertEqual(report["records"], [])

    def test_names_of_values(self):
        """334291-001 tables 2-18, 2-20, §1.6; the guide's request and response types (table 9);
        323602-001 tables 3-5 and 5-33."""
        for register, value, name, meaning in (
                ("xeon-e5v4/cbo3.Cn_MSR_PMON_BOX_FILTER1", "0x18200001", "opc", "DRd"),
                ("xeon-e5v4/cbo.Cn_MSR_PMON_BOX_FILTER1", "0x00000001", "opc", None),
                ("xeon-e5v4/cbo.Cn_MSR_PMON_BOX_FILTER0", "0x00180000", "state", "E+M"),
                ("xeon-e5v4/cbo.Cn_MSR_PMON_BOX_FILTER0", "0x00000000", "state", None),
                ("xeon-e5v4/CAPID4", "0x80", "sbo_qpi", "sbo4.qpi3"),
                ("nehalem/MSR_OFFCORE_RSP_0", "0x6033", "request", "DATA_IN"),
                ("nehalem/MSR_OFFCORE_RSP_0", "0x6033", "response", "ANY_DRAM"),
                ("itanium-9300/PMC4", "0x4200DF0F", "MESI", "M"),
                ("itanium-9300/rbox3.R_CSR_Pn_MATCH_LSB_1", "0x1C00", "MC", "DRS")):
            with self.subTest(register=register, field=name):
                decoded = pmulab_json("decode", register, value)
                field, = (f for f in decoded["fields"] if f["name"] == name)
                self.assertEqual(set(field), {"name", "hi", "lo", "meaning", "value", "hex"})
                self.assertEqual(field["meaning"], meaning)
        table = pmulab("decode", "0xE36", "0x18200000").stdout
        self.assertIn("xeon-e5v4/cbo3.C3_MSR_PMON_BOX_FILTER1", table)
        self.assertIn(" DRd: ", table)

    def test_refusals(self):
        path = self.dump("PMC0 1\n\nPMD320 1\n")
        self.refused("--registers", path, says=[f"{path}:3:", "did you mean PMD32?"])
        self.refused("--registers", self.dump("PMD32 0010\n"), says=["0x"])
        self.refused("--registers", self.dump("# nothing\n"), says=["no registers"])
        self.refused("--registers", "/no/such/file", code=1, says=["/no/such/file"])
        self.refused("--registers", path, "--hwrec", "etb", says=["exclude"])
        self.refused("--kind", "tlb", "PMD32", "1", says=["--hwrec"])


class Catalog(unittest.TestCase):
    def test_list_and_show(self):
        records = pmulab_json("list", "records")
        self.assertEqual({r["name"] for r in records},
                         {"pebs", "data-source", "lbr", "ear-i", "ear-d", "etb", "ip-ear", "qear"})
        self.assertEqual(set(records[0]),
                         {"pmu", "box", "name", "title", "bytes", "entries", "kinds", "source"})
        sizes = {r["name"]: (r["bytes"], r["entries"]) for r in records}
        self.assertEqual((sizes["pebs"], sizes["lbr"], sizes["etb"]),
                         ((PEBS_BYTES, 0), (0, 16), (0, 16)))
        for record in records:
            shown = pmulab("show", f"{record['box']}.{record['name']}").stdout
            self.assertIn(record["source"], shown)
        self.assertIn("PMD36", pmulab("show", "ear-d").stdout)


class Encodings(unittest.TestCase):
    """What encode prints is understood by decode, in each of its forms."""
    EVENTS = (
        # Written twice: 334291-001 §2.4.2.2; PCI addresses; filters; thresholds
        "xeon-e5v4/sbo.RING_AD_USED.UP", "xeon-e5v4/r2pcie.CLOCKTICKS",
        "xeon-e5v4/r3qpi.CLOCKTICKS:thresh=1:edge_det", "xeon-e5v4/ha.CLOCKTICKS",
        "xeon-e5v4/cbo.TOR_INSERTS.MISS_OPCODE:opc=DRd",
        "xeon-e5v4/cbo.LLC_LOOKUP.DATA_READ:state=E+M:tid=0x5",
        "xeon-e5v4/ha.ADDR_OPC_MATCH.FILT:opc=HOM0.NonSnpRd:lo_addr=0x40:hi_addr=0x1",
        # What a register beside the control tells: the guide's table 4, MSRs 0x3F6, 0x301, 0x396
        "nehalem/core.MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_1024",
        "nehalem/uncore.UNC_GQ_SNOOP.GOTO_I_HIT_E",
        "nehalem/uncore.UNC_ADDR_OPCODE_MATCH.LOCAL.RSPFWDI",
        # Itanium 9300: selected by fields of other registers alone
        "bbox.B_CYCLES", "bbox.IOB_INSERTS.IN_PKTS.RSNID", "rbox.FLITS_SENT",
        "rbox.NEW_PACKETS_RECV.VN1.SNP", "zbox.CYCLES", "zbox.PLD_DRAM_EV.DRAM_CMD.RAS",
    )

    def decoded(self, event, form):
        """The event that decode finds in the writes, each as @form writes its register."""
        pmu = event.partition("/")[0] if "/" in event else "itanium-9300"
        report = pmulab_json("encode", "--pmu", pmu, event)
        rows = list(csv.DictReader(io.StringIO(
            pmulab("encode", "--pmu", pmu, event, "--format", "csv").stdout)))
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            for write, row in zip(report["writes"], rows):
                print(form(write, row), write["value"], file=file)
            file.flush()
            found = pmulab_json("decode", "--pmu", pmu, "--registers", file.name)
        return report["event"], {c["event"] for r in found["registers"] for c in r["counters"]}

    def check(self, form):
        for event in self.EVENTS:
            with self.subTest(event=event):
                name, found = self.decoded(event, form)
                self.assertIn(name, found)
                self.assertEqual(name.split("/")[-1].lower(), event.split("/")[-1].lower())

    def test_by_name(self):
        self.check(lambda write, row: write["register"])

    def test_by_address(self):
        self.check(lambda write, row: row["ADDRESS"])

    def test_by_number(self):
        self.check(lambda write, row: f"{write['space']} {write['address']}")

    def test_arguments(self):
        shown = pmulab("decode", "--pmu", "xeon-e5v4", "pci D18:F1:0xD8", "0x400000").stdout
        self.assertEqual(shown.splitlines()[0],
                         "xeon-e5v4/ha.HA0_PCI_PMON_CTL0 = 0x400000  ha.CLOCKTICKS")
        for words in (("pci", "D18:F1:0xD8"), ("D18:F1:0xD8",)):
            again = pmulab("decode", "--pmu", "xeon-e5v4", *words, "0x400000").stdout
            self.assertEqual(again, shown)
        for wrong in ("pci D32:F1:0xD8", "pci D18:F8:0xD8", "pci D18:F1:0x1000", "pci D18:F1"):
            run = pmulab("decode", "--pmu", "xeon-e5v4", wrong, "1")
            self.assertEqual(run.returncode, 2, wrong)

    def test_names_of_the_instance(self):
        """323602-001 table 5-24: counters 8 to 15 are those of ports 5 to 10."""
        for box, counter, names in (
                ("rbox4", 1, ["R_CSR_P04_IPERF1", "R_CSR_PERF_CNT_CTRL_1"]),
                ("rbox6", 9, ["R_CSR_P06_IPERF1", "R_CSR_PERF_CNT_CTRL_9"])):
            report = pmulab_json("encode", "--counter", counter, f"{box}.FLITS_SENT")
            self.assertEqual([w["register"] for w in report["writes"]], names)
            found = pmulab_json("decode", "--pmu", "itanium-9300",
                                f"{box}.{names[1]}", report["writes"][1]["value"])
            self.assertEqual((found["name"], found["instance"]), (names[1], int(box[4:])))

    def test_fixed_counters(self):
        """325384, IA32_FIXED_CTR_CTRL: four bits a counter, os, usr, any, int; 334291-001
        table 2-9: en is bit 22."""
        found = pmulab_json("decode", "xeon-e5v4/core.IA32_FIXED_CTR_CTRL", "0xD3")
        self.assertEqual([c["event"] for c in found["counters"]],
                         ["xeon-e5v4/core.INST_RETIRED.ANY",
                          "xeon-e5v4/core.CPU_CLK_UNHALTED.THREAD:any:int:os", ""])
        self.assertIn("is off", found["counters"][2]["problem"])
        shown = pmulab("decode", "xeon-e5v4/core.IA32_FIXED_CTR_CTRL", "0xD3").stdout
        self.assertIn("\nfixed counter 0: xeon-e5v4/core.INST_RETIRED.ANY\n", shown)
        for value, event in (("0x500000", "ubox.clock"), ("0x100000", "")):
            found = pmulab_json("decode", "xeon-e5v4/ubox.U_MSR_PMON_UCLK_FIXED_CTL", value)
            self.assertEqual(found["event"], event)

    def test_what_is_missing_is_named(self):
        for pmu, register, value, missing in (
                ("nehalem", "IA32_PERFEVTSEL0", 0x43100B, "MSR_PEBS_LD_LAT"),
                ("nehalem", "MSR_UNCORE_PERFEVTSEL0", 0x40080C, "MSR_GQ_SNOOP_MESF"),
                ("itanium-9300", "R_CSR_PERF_CNT_CTRL_0", 0x400000, "R_CSR_Pn_IPERF0")):
            register = pmulab_json("decode", "--pmu", pmu, register, value)
            self.assertEqual(register["event"], "")
            self.assertIn(missing, register["counters"][0]["problem"])


if __name__ == "__main__":
    unittest.main()
