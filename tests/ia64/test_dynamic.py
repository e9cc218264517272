#!/usr/bin/env python3
"""Dynamic programs: their linker and files come from a root."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PMULAB = os.environ["PMULAB"]
RUN = os.environ["PMULAB_IA64_RUN"]
PROGRAMS = pathlib.Path(__file__).parent / "programs"


@unittest.skipUnless(shutil.which("ia64-linux-gnu-as"), "without the assembler")
class Dynamic(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = self.folder / "root"
        (self.root / "lib").mkdir(parents=True)
        (self.root / "marker").write_text("from the root\n", encoding="utf-8")
        self.link("linker", self.root / "lib/ld-test.so", "--no-dynamic-linker")
        self.program = self.folder / "linked"
        self.link("linked", self.program, "-dynamic-linker", "/lib/ld-test.so")

    def link(self, name, to, *options):
        subprocess.run(["ia64-linux-gnu-as", "-x", "-o", f"{to}.o", PROGRAMS / f"{name}.s"],
                       check=True)
        subprocess.run(["ia64-linux-gnu-ld", "-pie", *options, "-o", to, f"{to}.o"], check=True)

    def run_program(self, *command, root):
        environment = {key: value for key, value in os.environ.items()
                       if key != "PMULAB_IA64_ROOT"}
        if root:
            environment["PMULAB_IA64_ROOT"] = str(root)
        return subprocess.run([*command, self.program], check=False, capture_output=True,
                              text=True, env=environment)

    def test_root(self):
        for command in ([RUN], [PMULAB, "stat", "-M", "itanium-9300-1s", "-e",
                                "IA64_INST_RETIRED", "--"]):
            run = self.run_program(*command, root=self.root)
            self.assertEqual(run.stdout, "from the root\nmain\n", run.stderr)
            self.assertEqual(run.returncode, 5)

    def test_option(self):
        run = self.run_program(RUN, "--root", self.root, root=None)
        self.assertEqual((run.stdout, run.returncode), ("from the root\nmain\n", 5), run.stderr)
        for command, *options in (("stat", "-e", "IA64_INST_RETIRED"), ("analyze",),
                                  ("record", "-e", "IA64_INST_RETIRED", "-o", self.folder / "samples")):
            with self.subTest(command=command):
                run = self.run_program(PMULAB, command, "-M", "itanium-9300-1s", "--root", self.root,
                                       *options, "--", root=self.folder)
                self.assertEqual((run.stdout, run.returncode), ("from the root\nmain\n", 5),
                                 run.stderr)

    def test_counts(self):
        counts = self.folder / "counts"
        run = self.run_program(RUN, "--count", counts, root=self.root)
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertTrue(counts.read_text(encoding="ascii"))
        run = self.run_program(RUN, "--count", "/dev/full", root=self.root)
        self.assertEqual(run.returncode, 1)
        self.assertIn("pmulab-ia64: cannot write /dev/full", run.stderr)
        with open("/dev/full", "w", encoding="ascii") as full:
            run = subprocess.run([RUN, "--help"], check=False, stdout=full)
        self.assertEqual(run.returncode, 1)

    def test_no_root(self):
        for root in (None, self.folder):
            run = self.run_program(RUN, root=root)
            self.assertEqual(run.returncode, 126)
            self.assertIn("PMULAB_IA64_ROOT", run.stderr)

    def test_no_file(self):
        """The linker finds no /marker."""
        (self.root / "marker").unlink()
        self.assertEqual(self.run_program(RUN, root=self.root).returncode, 3)


unittest.main()
