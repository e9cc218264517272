"""What the tests of the command share: running it, and guests compiled for the occasion."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PMULAB = os.environ["PMULAB"]
# Journals of the tests are none of this computer's.
RUNTIME = tempfile.TemporaryDirectory()
os.environ["PMULAB_RUNTIME_DIR"] = RUNTIME.name + "/pmulab"
# A guest would write to all that it allocates.
os.environ.pop("MALLOC_PERTURB_", None)
HERE = pathlib.Path(__file__).resolve().parent
SMALL, LARGE = "xeon-e5v4-4c", "xeon-e5-2699v4-2s"


# What is printed depends on it.
os.environ["LC_ALL"] = "C.UTF-8"


def pmulab(*arguments, **options):
    options = {"capture_output": True, "text": True, "errors": "replace", "timeout": 300,
               "check": False, **options}
    return subprocess.run([PMULAB, *map(str, arguments)], **options)


def pmulab_json(*arguments):
    result = pmulab(*arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def stat(machine, events, *command, metrics=(), exit_code=0, options=()):
    """Runs a program on a machine and returns the report."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        arguments = ["stat", "-M", machine, *options, "--format", "json", "-o", file.name]
        if events:
            arguments += ["-e", ",".join(events)]
        if metrics:
            arguments += ["-m", ",".join(metrics)]
        result = pmulab(*arguments, "--", *command)
        assert result.returncode == exit_code, (result.returncode, result.stderr)
        return json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))


def total(report, event, **where):
    """Sum of an event's counts; the event as it is printed, or the beginning of it."""
    counts = [c["count"] for c in report["counts"]
              if c["event"].startswith(event) and all(c[k] == v for k, v in where.items())]
    assert counts, (event, {c["event"] for c in report["counts"]})
    return sum(counts)


class Folder(unittest.TestCase):
    """Test cases with a folder of their own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def untranslated(cls, base):
        """Such a machine without page walks, which would read memory too."""
        path = cls.path / "untranslated.json"
        path.write_text(json.dumps({"base": base, "name": "untranslated", "translation": "none"}),
                        encoding="utf-8")
        return str(path)


class OnValgrind:
    """Mixed into test cases: the same under the other emulator."""

    options = ("--feed", "valgrind")

    @classmethod
    def setUpClass(cls):
        if not shutil.which("valgrind"):
            raise unittest.SkipTest("no valgrind")
        super().setUpClass()


class Guests(Folder):
    """Test cases with a folder of compiled guest programs."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("qemu-x86_64"):
            sys.exit(77)
        super().setUpClass()

    @classmethod
    def build(cls, source, *options):
        program = cls.path / pathlib.Path(source).stem
        subprocess.run(["gcc", "-O1", "-static", "-o", program, HERE / source, *options], check=True)
        return str(program)
