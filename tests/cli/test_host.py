#!/usr/bin/env python3
"""Real registers, on made trees of files that stand in for a computer; then on the emulated one."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

from harness import LARGE, PMULAB, SMALL, pmulab, pmulab_json
from host_tree import GLOBAL_CTL, Tree
from processes import wait_until

PYTHON = sys.executable
PLAIN = os.environ["PMULAB_PLAIN"]  # without sanitizers: it runs under the emulator
HERE = pathlib.Path(__file__).resolve().parent

# 334291-001 table 2-13: CBo n begins at 0xE00 + 16 n; controls at 1 to 4, filters 5 and 6, counters
# at 8 to 11. Table 2-112: an iMC counter 0 is at 0xA0, its control at 0xD8.
C0_CTL0, C0_CTL1, C0_FILTER0, C0_CTR0 = 0xE01, 0xE02, 0xE05, 0xE08
C0_BOX_CTL = 0xE00
VICTIMS = 0x400137  # en, umask M_STATE, event 0x37


class Trees(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def program(self, text=""):
        """A program that plays the hardware's part while it is counted."""
        path = self.root / "program.py"
        head = f"import sys\nsys.path.insert(0, {str(HERE)!r})\nfrom host_tree import *\n" \
               f"tree = Tree.__new__(Tree)\ntree.path = pathlib.Path({str(self.root)!r})\n" \
               "tree.clear_status()\n"
        path.write_text(head + textwrap.dedent(text), encoding="utf-8")
        return [PYTHON, str(path)]

    def stat(self, events, *command, options=(), **run):
        return pmulab("stat", "--root", self.root, "-e", events, "--format", "json", *options, "--",
                      *command, **run)

    def report(self, events, *command, options=()):
        result = self.stat(events, *command, options=options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stderr)


class Discovery(Trees):
    def boxes(self, **tree):
        Tree(self.root, **tree)
        report = pmulab_json("machines", "--host", "--root", self.root)
        return report, [{b["box"]: b for b in s["boxes"]} for s in report["sockets"]]

    def test_what_is_there(self):
        report, sockets = self.boxes()
        self.assertEqual((report["family"], report["model"], report["stepping"]), (6, 79, 1))
        self.assertEqual(report["pmus"], ["xeon-e5v4"])
        self.assertEqual([s["cpus"] for s in report["sockets"]], [[0, 2, 4], [1, 3, 5]])
        self.assertEqual([s["pci_bus"] for s in report["sockets"]], ["0000:7f", "0000:ff"])
        # The map may have gaps (section 1.6's own example).
        self.assertEqual(sockets[0]["cbo"]["found"], list(range(22)))
        self.assertEqual(sockets[1]["cbo"]["found"], [0, 1, 2, 3, 8, 9, 10, 11])
        self.assertIn("CAPID5", sockets[1]["cbo"]["missing"][0]["why"])
        for socket in sockets:
            self.assertEqual(socket["ha"]["found"], [0, 1])
            self.assertEqual(socket["imc"]["found"], [0, 1, 2, 3])
            self.assertEqual(socket["sbo"]["found"], [0, 1, 2, 3])
            # It stands on the bus of the PCIe ports.
            self.assertEqual(socket["irp"]["found"], [0])
            self.assertEqual(socket["qpi"]["found"], [])
            self.assertEqual({m["instance"] for m in socket["qpi"]["missing"]}, {0, 1, 2})

    def test_part_without_sbo(self):
        """CAPID4 bits 7:6 = 0: no SBo, although registers at their addresses answer."""
        _, sockets = self.boxes(capid4=(0x00, 0x40))
        self.assertEqual(sockets[0]["sbo"]["found"], [])
        self.assertIn("CAPID4", sockets[0]["sbo"]["missing"][0]["why"])
        self.assertEqual(sockets[1]["sbo"]["found"], [0, 1, 2, 3])

    def test_hidden_function(self):
        tree = Tree(self.root)
        tree.hide(1, (18, 5))
        report = pmulab_json("machines", "--host", "--root", self.root)
        boxes = {b["box"]: b for b in report["sockets"][1]["boxes"]}
        self.assertEqual(boxes["ha"]["found"], [0])
        self.assertIn("0000:ff:12.5", boxes["ha"]["missing"][0]["why"])
        table = pmulab("machines", "--host", "--root", self.root).stdout
        self.assertRegex(table, r"\n +1 +ha +1 of 2 +0 +ha1: .*hides")

    def test_hidden_bus(self):
        tree = Tree(self.root)
        tree.hide(1, (16, 5))
        report = pmulab_json("machines", "--host", "--root", self.root)
        self.assertIn("no PCI bus", report["problem"])
        self.assertIn("socket 1", report["problem"])

    def test_other_processor(self):
        """Family 6 model 85: another uncore."""
        Tree(self.root, model=85)
        report = pmulab_json("machines", "--host", "--root", self.root)
        self.assertEqual(report["pmus"], [])
        result = pmulab("machines", "--host", "--root", self.root, "--format", "csv")
        self.assertEqual((result.returncode, result.stdout), (0, "SOCKET,BOX,FOUND,WHICH,WHAT IS MISSING\n"))
        self.assertIn("no PMU of the catalog", result.stderr)
        result = self.stat("imc.CAS_COUNT.RD", "true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("family 6 model 85", result.stderr)

    def test_capture(self):
        """What a tree that was captured holds is what the computer held."""
        tree = Tree(self.root / "a")
        tree.set_msr(1, 0xE18, 0x123456789ABC)
        tree.set_msr(0, 0xE01, VICTIMS)
        tree.hide(0, (18, 5))
        copy = self.root / "b"
        result = pmulab("machines", "--host", "--root", tree.path, "--capture", copy)
        self.assertEqual(result.returncode, 0, result.stderr)
        captured = Tree.__new__(Tree)
        captured.path = copy
        self.assertEqual(captured.msr(1, 0xE18), 0x123456789ABC)
        self.assertEqual(captured.msr(0, 0xE01), VICTIMS)
        self.assertEqual(captured.config(1, (30, 3), 0x98), 0x000F0F)
        self.assertEqual(pmulab_json("machines", "--host", "--root", copy),
                         pmulab_json("machines", "--host", "--root", tree.path))


class Measuring(Trees):
    def test_counted_late(self):
        Tree(self.root)
        program = self.program("import time; time.sleep(2); tree.clear_status()")
        result = self.stat("imc1.CAS_COUNT.RD", *program, options=["-D", "100", "-m", "S=SECONDS"])
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stderr)
        self.assertGreaterEqual(report["counted_from"], 0.1)
        self.assertAlmostEqual(report["metrics"][0]["value"],
                               report["seconds"] - report["counted_from"], places=12)

    def test_counts_of_a_program(self):
        """The program finds its counters programmed, and what it leaves in them is reported."""
        tree = Tree(self.root)
        report = self.report("cbo.LLC_VICTIMS.M_STATE,imc1.CAS_COUNT.RD", *self.program("""
            for cpu in (0, 1):
                assert tree.msr(cpu, 0xE01) == 0x400137
                assert tree.msr(cpu, 0x700) == 1 << 29
            assert tree.msr(2, 0xE01) == 0
            assert tree.config(0, (20, 1), 0xD8) == 0x400304
            tree.set_msr(0, 0xE08, 1111)
            tree.set_msr(1, 0xE08, 2222)
            tree.set_msr(1, 0xEB8, (1 << 48) - 1)
            tree.set_config(1, (20, 1), 0xA0, 0x89ABCDEF)
            tree.set_config(1, (20, 1), 0xA4, 0x1234)
            """))
        counts = {(c["box"], c["socket"], c["instance"]): c["count"] for c in report["counts"]}
        self.assertEqual(counts.pop(("cbo", 0, 0)), 1111)
        self.assertEqual(counts.pop(("cbo", 1, 0)), 2222)
        self.assertEqual(counts.pop(("cbo", 1, 11)), 2**48 - 1)
        self.assertEqual(counts.pop(("imc", 1, 1)), 0x123489ABCDEF)
        self.assertEqual(set(counts.values()), {0})
        self.assertEqual(len(counts), 22 + 8 - 3 + 1)
        self.assertIn("/dev/cpu/N/msr", report["way"])
        self.assertEqual(tree.msr(0, C0_CTL0), 0)
        self.assertEqual(tree.msr(1, C0_CTL0), 0)
        self.assertEqual(tree.config(1, (20, 1), 0xD8), 0)

    # One value of the opcode filter for each box: tables 2-19 and 2-20.
    OPCODES = {"cbo0.TOR_INSERTS.OPCODE:opc=DRd": 0x182, "cbo0.TOR_INSERTS.OPCODE:opc=RFO": 0x180}

    def test_a_run_for_each_group(self):
        """Each run finds its own filter; what it leaves in the counter tells which it was."""
        tree = Tree(self.root)
        events = ",".join([*self.OPCODES, "imc1.CAS_COUNT.RD"])
        program = self.program(f"""
            with open({str(self.root / 'runs')!r}, 'a') as file:
                file.write('x')
            opcode = tree.msr(0, 0xE06) >> 20 & 0x1FF
            assert tree.msr(0, 0xE01) == 0x400135 and tree.msr(0, 0xE02) == 0
            tree.set_msr(0, 0xE08, opcode)
            tree.set_config(1, (20, 1), 0xA0, opcode)
            sys.exit(opcode & 2)
            """)
        for where in (["--format", "csv"], ["-I", "1", "--format", "jsonl"], ["-D", "1"],
                      ["-r", "2"]):
            refused = self.stat(events, *program, options=where)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("--repeat-groups", refused.stderr)
            self.assertIn("groups take turns", refused.stderr)
            self.assertFalse((self.root / "runs").exists())
        result = self.stat(events, *program, options=["--repeat-groups"])
        self.assertEqual(result.returncode, 2, result.stderr)
        report = json.loads(result.stderr)
        self.assertEqual((self.root / "runs").read_text(), "xx")
        self.assertEqual((report["groups"], report["exit"]), (2, 2))
        counts = {c["event"]: c["count"] for c in report["counts"]
                  if c["socket"] == (c["box"] == "imc")}
        self.assertEqual(counts, {**self.OPCODES, "imc1.CAS_COUNT.RD": 0x182})
        self.assertEqual(tree.msr(0, C0_CTL0), 0)
        self.assertEqual(tree.msr(0, 0xE06), 0)

    def test_groups_stay_together(self):
        """{DRd,RFO} can be in no group; {DRd,CAS} and {RFO,CAS} share an event: they are one."""
        Tree(self.root)
        drd, rfo = self.OPCODES
        for events in (f"{{{drd},{rfo}}}",
                       f"{{{drd},imc.CAS_COUNT.RD}},{{{rfo},imc.CAS_COUNT.RD}}"):
            for options in (["--repeat-groups"], ["--multiplex", "5"], []):
                result = self.stat(events, "true", options=options)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn("different values of opc", result.stderr)
        for events, cas in ((f"{{{drd},imc.CAS_COUNT.RD}},{rfo}", "0"),
                            (f"{drd},{{{rfo},imc.CAS_COUNT.RD}}", "1")):
            result = pmulab("stat", "--root", self.root, "--why", "--repeat-groups", "-e", events,
                            "--", *self.program())
            rows = [line.split() for line in result.stderr.split("PMU  COUNTER")[1].splitlines()]
            group = {row[2]: row[0] for row in rows if len(row) == 3}
            self.assertEqual((group[drd], group[rfo], group["imc.CAS_COUNT.RD"]), ("0", "1", cas))

    def test_some_cpus(self):
        """CPUs 1 and 5 are cores 0 and 2 of socket 1: nothing of socket 0, or of CPU 3, is touched."""
        tree = Tree(self.root)
        report = self.report("cbo0.LLC_VICTIMS.M_STATE,core.LONGEST_LAT_CACHE.MISS", *self.program("""
            assert tree.msr(1, 0xE01) == 0x400137
            assert tree.msr(1, 0x700) == 1 << 29
            assert tree.msr(0, 0xE01) == tree.msr(0, 0x700) == 0
            assert [bool(tree.msr(cpu, 0x186)) for cpu in range(6)] == [0, 1, 0, 0, 0, 1], "cores"
            tree.set_msr(0, 0xE08, 5)
            tree.set_msr(1, 0xE08, 7)
            tree.set_msr(5, 0xC1, 11)
            """), options=["-C", "5,1"])
        counts = {(c["box"], c["socket"], c["instance"]): c["count"] for c in report["counts"]}
        self.assertEqual(counts, {("cbo", 1, 0): 7, ("core", 1, 0): 0, ("core", 1, 2): 11})
        self.assertEqual(report["cpus"], "5,1")
        result = self.stat("ubox.clock", "true", options=["-C", "6"])
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no CPU 6", result.stderr)
        table = pmulab("stat", "--root", self.root, "-C", "1", "-e", "ha.CLOCKTICKS", "--",
                       *self.program())
        self.assertRegex(table.stderr, r"\n +0 {12,}0  ha\.CLOCKTICKS")

    def waiting(self, text):
        """A process that plays the hardware once its counter is programmed."""
        return subprocess.Popen(self.program(f"""
            import time
            while tree.msr(0, 0xE01) != 0x400137 or tree.msr(1, 0x700) != 1 << 29:
                time.sleep(0.01)
            tree.clear_status()
            {text}
            """))

    def test_until_a_process_ends(self):
        tree = Tree(self.root)
        with self.waiting("tree.set_msr(1, 0xE08, 4711)") as process:
            result = pmulab("stat", "--root", self.root, "-e", "cbo0.LLC_VICTIMS.M_STATE",
                            "--format", "json", "-p", process.pid)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stderr)
        self.assertEqual((report["process"], report["ran"], report["command"]),
                         (process.pid, True, []))
        self.assertEqual(sum(c["count"] for c in report["counts"]), 4711)
        self.assertEqual(tree.msr(0, C0_CTL0), 0)
        gone = pmulab("stat", "--root", self.root, "-e", "cbo0.LLC_VICTIMS.M_STATE", "-p",
                      process.pid)
        self.assertEqual(gone.returncode, 2)
        self.assertIn(f"there is no process {process.pid}", gone.stderr)

    def test_until_it_is_ended(self):
        """Without a program: Ctrl-C, or the time is over; the registers are given back."""
        tree = Tree(self.root)
        with self.waiting("") as player, subprocess.Popen(
                [PMULAB, "stat", "--root", self.root, "-C", "0,1", "-e", "cbo0.LLC_VICTIMS.M_STATE"],
                stderr=subprocess.PIPE, text=True) as process:
            player.wait(50)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=50)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("CPUs 0,1 on ", errors)
        self.assertEqual(tree.msr(0, C0_CTL0), 0)
        with self.waiting("") as player:
            result = pmulab("stat", "--root", self.root, "-a", "-e", "cbo0.LLC_VICTIMS.M_STATE",
                            "--timeout", "1500")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ended after 1500 ms", result.stderr)

    def test_accesses_of_all_groups(self):
        Tree(self.root)
        result = pmulab("stat", "--root", self.root, "--dry-run", "--repeat-groups", "--format",
                        "json", "-e", ",".join(self.OPCODES))
        self.assertEqual(result.returncode, 0, result.stderr)
        values = [a["value"] >> 20 & 0x1FF for a in json.loads(result.stdout)
                  if a["register"] == "Cn_MSR_PMON_BOX_FILTER1" and a["value"]]
        self.assertEqual(values, [0x182, 0x182, 0x180, 0x180])  # of both sockets

    def test_exit_code(self):
        Tree(self.root)
        for text, code in (("sys.exit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 137)):
            result = self.stat("ubox.clock", *self.program(text))
            self.assertEqual(result.returncode, code, result.stderr)
        result = self.stat("ubox.clock", self.root / "nothing")
        self.assertEqual(result.returncode, 127)
        self.assertEqual(Tree.msr(self_tree(self.root), 0, 0x703), 0)

    def test_dry_run_touches_nothing(self):
        tree = Tree(self.root)
        before = {p: p.read_bytes() for p in self.root.rglob("*") if p.is_file()}
        result = pmulab("stat", "--root", self.root, "--dry-run", "-e", "cbo3.LLC_VICTIMS.M_STATE",
                        "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        accesses = json.loads(result.stdout)
        self.assertEqual({a["socket"] for a in accesses}, {0, 1})
        self.assertIn({"write": True, "socket": 1, "core": 0, "box": "cbo", "instance": 3,
                       "register": "Cn_MSR_PMON_CTL0", "space": "msr", "address": 0xE31,
                       "width": 32, "value": VICTIMS}, accesses)
        self.assertTrue(all(a["value"] is None for a in accesses if not a["write"]))
        self.assertEqual({p: p.read_bytes() for p in before}, before)
        self.assertEqual(tree.msr(0, 0xE31), 0)

    def test_dry_run_anywhere(self):
        """On any computer, for the machine named, or the PMU of the first event."""
        Tree(self.root, model=85)
        for options, sockets in (([], {0}), (["-M", LARGE], {0, 1}), (["--pmu", "xeon-e5v4"], {0})):
            result = pmulab("stat", "--root", self.root, "--dry-run", *options, "--format", "json",
                            "-e", "ha0.CLOCKTICKS:edge_det=1:thresh=1,cbo0.LLC_VICTIMS.M_STATE")
            self.assertEqual(result.returncode, 0, result.stderr)
            written = [a for a in json.loads(result.stdout) if a["value"] == VICTIMS]
            self.assertEqual({(a["address"], a["socket"]) for a in written},
                             {(C0_CTL0, s) for s in sockets})

    def test_register_trace_replayed(self):
        Tree(self.root)
        trace = self.root / "trace"
        first = self.report("cbo1.LLC_VICTIMS.M_STATE",
                            *self.program("tree.set_msr(1, 0xE18, 4711)"),
                            options=["--trace-registers", trace])
        result = pmulab("stat", "--replay", trace, "-e", "cbo1.LLC_VICTIMS.M_STATE",
                        "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["counts"], first["counts"])
        self.assertIn(4711, [c["count"] for c in first["counts"]])
        other = pmulab("stat", "--replay", trace, "-e", "cbo1.LLC_VICTIMS.E_STATE")
        self.assertEqual(other.returncode, 1)
        self.assertEqual(other.stderr.count("\n"), 1, other.stderr)


def self_tree(path):
    tree = Tree.__new__(Tree)
    tree.path = pathlib.Path(path)
    return tree


class Others(Trees):
    def test_in_use(self):
        """Somebody's counter: named, and left as it is; or taken by force and given back."""
        tree = Tree(self.root)
        tree.set_msr(1, C0_CTL1, 0x400334)
        tree.set_msr(1, 0xE09, 77)
        result = self.stat("cbo0.LLC_VICTIMS.M_STATE", "touch", self.root / "ran")
        self.assertEqual(result.returncode, 1)
        self.assertIn("Cn_MSR_PMON_CTL1 of cbo0 on socket 1 = 0x400334", result.stderr)
        self.assertIn("--force", result.stderr)
        self.assertFalse((self.root / "ran").exists())
        self.assertEqual(tree.msr(0, GLOBAL_CTL), 0)
        self.assertEqual(tree.msr(1, C0_BOX_CTL), 0)
        forced = self.stat("cbo0.LLC_VICTIMS.M_STATE", *self.program(), options=["--force"])
        self.assertEqual(forced.returncode, 0, forced.stderr)
        self.assertEqual(tree.msr(1, C0_CTL1), 0x400334)
        self.assertEqual(tree.msr(1, 0xE09), 77)
        self.assertEqual(tree.msr(1, C0_CTL0), 0)

    def test_watchdog_is_named(self):
        tree = Tree(self.root)
        tree.write("proc/sys/kernel/nmi_watchdog", "1\n")
        tree.set_msr(0, C0_CTL0, 0x400000)
        result = self.stat("cbo0.LLC_VICTIMS.M_STATE", "true")
        self.assertIn("nmi_watchdog=0", result.stderr)

    def test_changed_while_counting(self):
        tree = Tree(self.root)
        result = self.stat("cbo0.LLC_VICTIMS.M_STATE",
                           *self.program("tree.set_msr(1, 0xE01, 0x400237)"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("from 0x400137 to 0x400237", result.stderr)
        self.assertIn("socket 1", result.stderr)
        self.assertEqual(tree.msr(0, C0_CTL0), 0)

    def test_signals(self):
        """Whatever ends the measurement, what was found is there again."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number), tempfile.TemporaryDirectory() as folder:
                tree = Tree(folder)
                tree.set_msr(0, C0_CTL0, 0x137)
                tree.set_msr(0, C0_FILTER0, 0x20000)
                process = subprocess.Popen(
                    [PMULAB, "stat", "--root", folder, "-e", "cbo0.LLC_LOOKUP.ANY:state=any", "--",
                     "sleep", "120"], stderr=subprocess.PIPE, text=True)
                wait_until(lambda: tree.msr(1, GLOBAL_CTL) == 1 << 29)
                tree.clear_status()
                self.assertEqual(tree.msr(0, C0_CTL0), 0x401134)
                process.send_signal(number)
                _, errors = process.communicate(timeout=50)
                self.assertEqual(process.returncode, 128 + number, errors)
                self.assertEqual(tree.msr(0, C0_CTL0), 0x137)
                self.assertEqual(tree.msr(0, C0_FILTER0), 0x20000)


class Failures(Trees):
    """One clear message, exit code 1, and what can be restored is."""

    def failed(self, events, *command, says):
        result = self.stat(events, *command)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertNotIn("Sanitizer", result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
        return result

    def test_no_module(self):
        tree = Tree(self.root)
        for cpu in range(6):
            tree.msr_path(cpu).unlink()
        result = self.failed("cbo0.LLC_VICTIMS.M_STATE", "true", says=["modprobe msr"])
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_device_that_fails(self):
        tree = Tree(self.root)
        tree.msr_path(1).unlink()
        os.mkfifo(tree.msr_path(1))
        self.failed("cbo0.LLC_VICTIMS.M_STATE", "true", says=["cpu/1/msr", "cannot be read"])
        self.assertEqual(tree.msr(0, C0_CTL0), 0)

    def test_register_that_faults(self):
        """The file of socket 1 ends before its CBos, as a fault in the processor would look."""
        tree = Tree(self.root)
        os.truncate(tree.msr_path(1), 8 * 0x730)
        self.failed("cbo0.LLC_VICTIMS.M_STATE", "true", says=["cpu/1/msr", "0xE08"])
        self.assertEqual(tree.msr(0, C0_CTL0), 0)

    def test_function_that_vanishes(self):
        """Counting goes on elsewhere; the socket that is left is restored."""
        tree = Tree(self.root)
        tree.set_config(0, (18, 1), 0xD8, 0x137)
        self.failed("ha.CLOCKTICKS", *self.program("""
            assert tree.config(0, (18, 1), 0xD8) == 0x400000
            tree.hide(1, (18, 5))
            tree.hide(1, (18, 1))
            """), says=["0000:ff:12.1"])
        self.assertEqual(tree.config(0, (18, 1), 0xD8), 0x137)

    def test_read_only(self):
        if os.geteuid() == 0:
            self.as_nobody()
        else:
            self.refused({})

    def as_nobody(self):
        os.chmod(self.root, 0o755)
        self.refused({"user": 65534, "group": 65534, "extra_groups": []})

    def refused(self, identity):
        tree = Tree(self.root)
        for cpu in range(6):
            os.chmod(tree.msr_path(cpu), 0o444)
        try:
            result = self.stat("cbo0.LLC_VICTIMS.M_STATE", "true", **identity)
        except PermissionError as error:
            self.skipTest(f"the build folder is closed to others: {error}")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(tree.msr(0, C0_CTL0), 0)
        self.assertIn("run pmulab as root", result.stderr)


def why_not_emulated():
    if os.geteuid() != 0:
        return "needs root"
    if not os.path.exists("/dev/fuse"):
        return "needs /dev/fuse"
    return None if shutil.which("qemu-x86_64") else "needs qemu-user"


NOT_EMULATED = why_not_emulated()


@unittest.skipIf(NOT_EMULATED, NOT_EMULATED)
class Emulated(unittest.TestCase):
    """The emulated machine's device files stand in the place of the computer's."""

    UNCORE = ["cbo.LLC_LOOKUP.ANY:state=any", "cbo.LLC_VICTIMS.M_STATE", "cbo.TOR_OCCUPANCY.ALL",
              "ha.REQUESTS.READS", "ha.REQUESTS.WRITES", "imc.CAS_COUNT.RD", "imc.CAS_COUNT.WR",
              "imc.clock", "ubox.clock", "sbo.CLOCKTICKS", "core.INST_RETIRED.ANY"]

    def counts(self, command, path):
        # The program's environment is part of what it does.
        result = subprocess.run(["env", "-i", *command], capture_output=True, text=True,
                                timeout=300, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        return report, {(c["event"], c["socket"], c["instance"]): c["count"]
                        for c in report["counts"]}

    def same_counts(self, machine):
        """In process and through the devices: the same to the last count."""
        program = ["/bin/ls", "/"]
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            stat = ["stat", "-e", ",".join(self.UNCORE), "--format", "json", "-o", file.name]
            _, inside = self.counts([PMULAB, *stat, "-M", machine, "--", *program], file.name)
            name = f"test-host-{os.getpid()}"
            report, through = self.counts(
                [PMULAB, "emulate", "-M", machine, "--name", name, "--clock", "machine", "--",
                 PLAIN, *stat, "--", "/usr/bin/env", "-i",
                 PMULAB, "emulate", "--attach", name, "--", *program], file.name)
        self.assertEqual(report["machine"], "this computer")
        self.assertIn("/dev/cpu/N/msr", report["way"])
        self.assertEqual(through, inside)
        for event in ("ha.REQUESTS.READS", "imc.clock"):
            self.assertGreater(sum(n for (e, _, _), n in inside.items() if e == event), 0)

    def test_one_socket(self):
        self.same_counts(SMALL)

    def test_a_run_for_each_group(self):
        """What the first run counts is what a run for its events alone counts."""
        first, second = (f"cbo.TOR_INSERTS.MISS_OPCODE:opc={opcode}" for opcode in ("DRd", "RFO"))
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            def count(events, *options):
                name = f"test-host-{os.getpid()}"
                return self.counts(
                    [PMULAB, "emulate", "-M", SMALL, "--name", name, "--clock", "machine", "--",
                     PLAIN, "stat", *options, "-e", events, "--format", "json", "-o", file.name,
                     "--", "/usr/bin/env", "-i", PMULAB, "emulate", "--attach", name, "--",
                     "/bin/ls", "/"], file.name)
            _, alone = count(first)
            report, both = count(f"{first},{second}", "--repeat-groups")
        self.assertEqual(report["groups"], 2)
        self.assertEqual({k: v for k, v in both.items() if k[0] == first}, alone)
        rest = sum(v for k, v in both.items() if k[0] == second)
        self.assertGreater(rest, 0)
        self.assertNotEqual(rest, sum(alone.values()))

    def test_turns(self):
        """Clocks go on with the time: what a group counts in its turns tells the whole."""
        groups = "{cbo0.CLOCKTICKS,cbo0.TOR_INSERTS.OPCODE:opc=DRd}," \
                 "{ha0.CLOCKTICKS,cbo0.TOR_INSERTS.OPCODE:opc=RFO}"
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            def count(*options):
                report, counts = self.counts(
                    [PMULAB, "emulate", "-M", SMALL, "--", PLAIN, "stat", *options, "--format",
                     "json", "-o", file.name, "--", "sleep", "1.5"], file.name)
                return report, {event: n for (event, _, _), n in counts.items()}
            for options in (["--multiplex", "20"], []):
                self.check_turns(*count(*options, "-e", groups))
            # What fits takes no turns.
            report, counts = count("-e", groups.split("},")[0] + ",ha0.CLOCKTICKS}")
        self.assertNotIn("multiplexed", report)
        self.assertNotIn("groups", report)
        for box in ("cbo", "ha"):
            self.assertAlmostEqual(counts[f"{box}0.CLOCKTICKS"] / (2.8e9 * report["seconds"]), 1,
                                   delta=0.2)

    def check_turns(self, report, counts):
        self.assertEqual(report["groups"], 2)
        rows = {row["event"]: row for row in report["multiplexed"]}
        self.assertEqual(set(rows), set(counts))
        shares = [rows[f"{box}0.CLOCKTICKS"]["share"] for box in ("cbo", "ha")]
        self.assertLessEqual(sum(shares), 1)
        for share, box in zip(shares, ("cbo", "ha")):
            event = f"{box}0.CLOCKTICKS"
            self.assertTrue(0 < share < 1, shares)
            self.assertIsNone(rows[event]["count"])
            # The uncore's clock, and what a busy computer takes between two looks at its clock.
            self.assertAlmostEqual(counts[event] / (2.8e9 * report["seconds"]), 1, delta=0.2)
            self.assertAlmostEqual(rows[event]["estimate"], counts[event], delta=1)

    def test_two_sockets(self):
        self.same_counts(LARGE)

    def test_host_report(self):
        """The machine as machines/ describes it, found through its registers."""
        result = pmulab("emulate", "-M", LARGE, "--", PLAIN, "machines", "--host", "--format",
                        "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual((report["family"], report["model"]), (6, 79))
        self.assertEqual(report["pmus"], ["xeon-e5v4"])
        self.assertEqual(len(report["sockets"]), 2)
        for socket in report["sockets"]:
            boxes = {b["box"]: b["found"] for b in socket["boxes"]}
            self.assertEqual(boxes["cbo"], list(range(22)))
            self.assertEqual(boxes["ha"], [0, 1])
            self.assertEqual(len(boxes["sbo"]), 4)
            self.assertEqual(len(boxes["qpi"]), 2)


if __name__ == "__main__":
    unittest.main()
