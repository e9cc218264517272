#!/usr/bin/env python3
"""Trees, devices, names and recordings as an enemy or a broken computer would make them."""
import json
import os
import shutil
import subprocess
import unittest

from harness import PMULAB, SMALL, pmulab
from host_tree import IMC, Tree
from test_host import Trees

EVENT = "cbo0.LLC_LOOKUP.ANY:state=any"
HEAD = "pmulab-recording 2 xeon-e5v4 sockets={} emulated=0\n"


class Files(Trees):
    """Files of the kernel that are not what they should be."""

    def refused(self, *says):
        """One message in a short time, and nothing measured."""
        result = self.stat(EVENT, "touch", self.root / "ran", timeout=30)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
        self.assertFalse((self.root / "ran").exists())

    def test_fifo(self):
        tree = Tree(self.root)
        (tree.path / "proc/cpuinfo").unlink()
        os.mkfifo(tree.path / "proc/cpuinfo")
        self.refused("cpuinfo", "it is no plain file")

    def test_folder(self):
        tree = Tree(self.root)
        (tree.path / "proc/cpuinfo").unlink()
        (tree.path / "proc/cpuinfo").mkdir()
        self.refused("cpuinfo", "it is no plain file")

    def test_huge(self):
        tree = Tree(self.root)
        with open(tree.path / "proc/cpuinfo", "r+b") as file:
            file.truncate(1 << 40)
        self.refused("cpuinfo", "too large")

    def test_small_files_that_block(self):
        """What is only looked at beside the registers is as good as not there."""
        tree = Tree(self.root)
        for name in ("sys/kernel/security/lockdown", "proc/sys/kernel/nmi_watchdog"):
            path = tree.path / name
            path.parent.mkdir(parents=True)
            os.mkfifo(path)
        tree.set_msr(0, 0xE01, 0x400000)
        result = self.stat(EVENT, "true", timeout=30)
        self.assertIn("somebody else's counters are enabled", result.stderr)


@unittest.skipUnless(shutil.which("strace"), "needs strace")
class Failing(Trees):
    """System calls on one file that fail, once or always."""

    def inject(self, path, fault, *arguments):
        command = ["strace", "-f", "-o", "/dev/null", "-P", path, "-e", f"inject={fault}",
                   PMULAB, *map(str, arguments)]
        # Looking for leaks traces the process too, and only one may.
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
        return subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=120, check=False, env=environment)

    def measure(self, path, fault, events=EVENT):
        return self.inject(path, fault, "stat", "--root", self.root, "-e", events, "--format",
                           "json", "--", *self.program())

    def test_processors_that_cannot_be_read(self):
        """Not those that could be read before the error."""
        tree = Tree(self.root)
        path = tree.path / "proc/cpuinfo"
        path.write_text(path.read_text(encoding="utf-8") * 20, encoding="utf-8")
        result = self.inject(path, "read:error=EIO:when=2", "machines", "--host", "--root",
                             self.root)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("cpuinfo: Input/output error", result.stderr)

    def test_register_that_fails_once(self):
        tree = Tree(self.root)
        boxes = []
        for when in range(1, 12):
            result = self.inject(tree.msr_path(1), f"pread64:error=EIO:when={when}", "machines",
                                 "--host", "--root", self.root, "--format", "json")
            self.assertEqual(result.returncode, 0, result.stderr)
            report = json.loads(result.stdout)
            self.assertIsNone(report["problem"])
            boxes.append([(b["box"], b["found"]) for b in report["sockets"][1]["boxes"]])
        self.assertEqual(boxes, [boxes[0]] * len(boxes))

    def test_register_that_fails(self):
        """Of one processor only: it is named, and no box of it is left out."""
        tree = Tree(self.root)
        result = self.measure(tree.msr_path(1), "pread64:error=EIO", "ubox.clock")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("cpu/1/msr", result.stderr)
        self.assertIn("other processors answer", result.stderr)

    def test_interrupted(self):
        tree = Tree(self.root)
        for call in ("pread64", "pwrite64"):
            for path in (tree.msr_path(0), tree.config_path(0, next(iter(IMC)))):
                result = self.measure(path, f"{call}:error=EINTR:when=1+2",
                                      f"imc.CAS_COUNT.RD,{EVENT}")
                self.assertEqual(result.returncode, 0, (call, result.stderr))

    def test_write_of_a_function(self):
        """The error is the kernel's, not a matter of rights."""
        tree = Tree(self.root)
        function = next(iter(IMC))
        result = self.measure(tree.config_path(0, function), "pwrite64:error=EIO",
                              "imc.CAS_COUNT.RD")
        self.assertEqual(result.returncode, 1)
        self.assertIn("Input/output error", result.stderr)
        self.assertNotIn("root", result.stderr.replace(str(self.root), ""))

    def test_restoring_write_that_fails_once(self):
        """Each of the writes in turn, and the one after it: what stays as it should not is told."""
        tree = Tree(self.root)
        for path, call in ((tree.msr_path(1), "pwrite64"),
                           (tree.config_path(1, next(iter(IMC))), "pwrite64")):
            for when in range(2, 33, 2):
                tree.set_msr(1, 0xE01, 0x137)
                tree.set_config(1, next(iter(IMC)), 0xD8, 0x304)
                self.measure(path, f"{call}:error=EIO:when={when}",
                             f"imc.CAS_COUNT.RD,{EVENT}")
                self.assertEqual(tree.msr(1, 0xE01), 0x137, (path, when))
                self.assertEqual(tree.config(1, next(iter(IMC)), 0xD8), 0x304, (path, when))


class Forcing(Trees):
    def test_recommended_where_it_helps(self):
        tree = Tree(self.root)
        tree.set_msr(1, 0xE01, 0x400334)
        self.assertIn("--force", self.stat(EVENT, "true").stderr)
        tree.set_msr(1, 0xE01, 0)
        changing = self.program("tree.set_msr(1, 0xE01, 0x400237)")
        self.assertNotIn("--force", self.stat(EVENT, *changing).stderr)


class Texts(Trees):
    def test_escapes(self):
        """A terminal is shown them."""
        tree = Tree(self.root)
        path = tree.path / "proc/cpuinfo"
        text = path.read_text(encoding="utf-8").replace("Intel(R)", "\x1b]0;owned\x07\x9b31m\x7fIntel")
        path.write_text(text, encoding="utf-8")
        shown = pmulab("machines", "--host", "--root", self.root)
        self.assertEqual(shown.returncode, 0)
        self.assertIn("\\x1B]0;owned\\x07\\xC2\\x9B31m\\x7FIntel", shown.stdout)
        for name in ("\x1b[31mred", "\x9b31m"):
            for result in (pmulab("show", name), pmulab("stat", "-M", name, "--", "true"),
                           pmulab("emulate", "--attach", name, "--", "true"),
                           pmulab(name)):
                self.assertNotIn("\x1b", result.stderr)
                self.assertNotIn("\x9b", result.stderr)

    def test_arguments_that_are_not_utf8(self):
        arguments = [b"\xff\xfe", b"caf\xc3\xa9", b"\xed\xa0\x80", b"\xc3"]
        for options in (["-M", SMALL, "-e", "imc.clock"], []):
            result = subprocess.run([PMULAB, "stat", *options, "--format", "json", "--",
                                     "/bin/true", *arguments], capture_output=True, check=False,
                                    timeout=60)
            report = json.loads(result.stderr)
            self.assertEqual(report["command"], ["/bin/true", "\ufffd\ufffd", "caf\u00e9",
                                                 "\ufffd\ufffd\ufffd", "\ufffd"])
            self.assertEqual([bytes.fromhex(text) for text in report["command_hex"]],
                             [b"/bin/true", *arguments])
        plain = subprocess.run([PMULAB, "stat", "--format", "json", "--", "/bin/true", "\u00e9"],
                               capture_output=True, check=False, timeout=60)
        self.assertNotIn("command_hex", json.loads(plain.stderr))


class Recordings(Trees):
    def test_sockets(self):
        """More than there can be: one message, no memory."""
        path = self.root / "recording"
        for sockets in ("0", "65", "70000", "4000000000", "-1"):
            path.write_text(HEAD.format(sockets), encoding="utf-8")
            result = pmulab("stat", "--replay", path, "-e", EVENT, timeout=30)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        path.write_text(HEAD.format(64), encoding="utf-8")
        self.assertIn("ends before line 2",
                      pmulab("stat", "--replay", path, "-e", EVENT, timeout=30).stderr)


class NotRun(Trees):
    """A program that never ran has no counts, not even 0."""

    def not_run(self, code, *arguments, **run):
        for form in ("json", "table", "csv"):
            path = self.root / f"report.{form}"
            result = pmulab("stat", "--format", form, "-o", path, *arguments, **run)
            self.assertEqual(result.returncode, code, result.stderr)
            if form != "json":
                self.assertEqual(path.read_text(encoding="utf-8"), "")
                continue
            report = json.loads(path.read_text(encoding="utf-8"))
            self.assertIs(report["ran"], False)
            self.assertIsNone(report["exit"])
            self.assertIsNone(report["seconds"])
            self.assertEqual((report["counts"], report["metrics"]), ([], []))

    def test_on_this_computer(self):
        tree = Tree(self.root)
        (self.root / "text").write_text("\x7fELF", encoding="utf-8")
        (self.root / "text").chmod(0o644)
        self.not_run(127, "--root", self.root, "-e", EVENT, "--", self.root / "nothing")
        self.not_run(126, "--root", self.root, "-e", EVENT, "--", self.root / "text")
        self.assertEqual(tree.msr(0, 0xE01), 0)

    def test_on_a_machine(self):
        self.not_run(126, "-M", SMALL, "-m", "MEM_BW_READS", "--", "/bin/true",
                     env={**os.environ, "PMULAB_PLUGIN": "/nothing"})

    def test_ran(self):
        Tree(self.root)
        report = self.report(EVENT, *self.program())
        self.assertIs(report["ran"], True)
        self.assertEqual(report["exit"], 0)


if __name__ == "__main__":
    unittest.main()
