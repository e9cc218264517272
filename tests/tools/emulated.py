"""What the tests of other people's tools share: an emulated machine, tools in it, programs on it."""
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from harness import HERE as CLI, PMULAB, SMALL, Folder, pmulab  # noqa: E402

STATISTICS = os.environ["STATISTICS"]
LINES = 1 << 18  # of an array of the kernels: 16 MB, more than all caches
CODE_LINES = 64  # of a kernel without C library, at most
NAMES = itertools.count()

# Where Debian has tools for root.
os.environ["PATH"] += ":/usr/sbin:/sbin"


def skip_without(*tools):
    """Ends the test program as skipped where a tool or what emulate needs is missing."""
    for tool in (*tools, "qemu-x86_64", "gcc"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            sys.exit(77)
    probe = pmulab("emulate", "-M", SMALL, "--", "true")
    if probe.returncode and "device files need" in probe.stderr:
        print(f"skipped: {probe.stderr}")
        sys.exit(77)


class Machine:
    """An emulated machine for as long as the block lasts. Its prefetchers are off, and its pages are
    found without walks: closed forms of programs are those of their own accesses."""

    def __init__(self, *options, machine=SMALL):
        self.name = f"test-{os.getpid()}-{next(NAMES)}"
        self.folder = tempfile.TemporaryDirectory()
        plain = pathlib.Path(self.folder.name) / "plain.json"
        plain.write_text(json.dumps({"base": machine, "name": f"plain-{machine}", "prefetchers": 0,
                                     "translation": "none"}),
                         encoding="utf-8")
        self.command = [PMULAB, "emulate", "-M", plain, "--name", self.name, *options, "--", "cat"]

    def __enter__(self):
        # cat answers when the machine is there and ends with its input.
        self.owner = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.owner.stdin.write(b"\n")
        self.owner.stdin.flush()
        assert self.owner.stdout.readline() == b"\n"
        return self

    def __exit__(self, *_):
        self.owner.stdin.close()
        self.owner.wait(timeout=60)
        self.owner.stdout.close()
        self.folder.cleanup()

    def program(self, path):
        """The command that runs a program on the machine."""
        return [PMULAB, "emulate", "--attach", self.name, "--", str(path)]

    def run(self, path):
        subprocess.run(self.program(path), check=True, timeout=300)

    def tool(self, *command):
        """Runs a tool that sees the machine; what it prints."""
        result = subprocess.run(
            [PMULAB, "emulate", "--attach", self.name, "--tool", "--", *map(str, command)],
            capture_output=True, text=True, errors="replace", timeout=300, check=False)
        assert result.returncode == 0, (command, result.returncode, result.stdout, result.stderr)
        return result.stdout

    def script(self, *commands):
        """Runs commands of a shell one after the other; the words that they print."""
        return self.tool("sh", "-ec", "\n".join(commands)).split()

    def statistics(self):
        return json.loads(subprocess.run([STATISTICS, self.name], capture_output=True, text=True,
                                         check=True).stdout)


class Tools(Folder):
    """Test cases with kernels of known traffic (tests/cli/kernels.c)."""

    @classmethod
    def kernel(cls, kind, rounds=1):
        program = cls.path / f"{kind}{rounds}"
        if not program.exists():
            subprocess.run(["gcc", "-O2", "-static", "-nostdlib", "-ffreestanding",
                            f"-DKERNEL={kind}", f"-DLINES={LINES}", f"-DROUNDS={rounds}",
                            "-o", program, CLI / "kernels.c"], check=True)
        return program

    def near(self, found, expected):
        """Equal but for lines of code, each fetched once or a few times."""
        self.assertGreaterEqual(found, expected)
        self.assertLessEqual(found, expected + CODE_LINES)
