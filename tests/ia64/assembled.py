"""Programs for IA-64 that tests assemble."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest


def skip_without_assembler(*more):
    """Ends the test program as skipped."""
    if not all(map(shutil.which, ("ia64-linux-gnu-as", "ia64-linux-gnu-ld", *more))):
        sys.exit(77)


def assemble(folder, name, text, *options):
    """@param options of the linker"""
    binary = folder / name
    source = binary.with_suffix(".s")
    source.write_text(text, encoding="utf-8")
    subprocess.run(["ia64-linux-gnu-as", "-g", "-x", "-o", f"{binary}.o", source], check=True)
    subprocess.run(["ia64-linux-gnu-ld", "-static", *options, "-o", binary, f"{binary}.o"],
                   check=True)
    return str(binary)


class Assembled(unittest.TestCase):
    """Test cases with a folder of programs."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def build(cls, name, text):
        return assemble(cls.path, name, text)
