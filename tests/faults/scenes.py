"""What is run, on what, and what has to be as it was when it has ended."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from host_tree import Tree
from processes import wait_until

PMULAB, POKE, PLUGIN = (os.environ[n] for n in ("PMULAB", "POKE", "PLUGIN"))
MACHINE = "xeon-e5v4-4c"
NOTHING = "/bin/true"

# 334291-001 tables 2-13, 2-112: CBo 0's control 0 and counter 0, its box control and filter; the
# same of memory channel 0.
CTL0, CTR0, FILTER0, BOX_CTL = 0xE01, 0xE08, 0xE05, 0xE00
GLOBAL_CTL, GLOBAL_STATUS, UBOX_STATUS, CBO_STATUS = 0x700, 0x701, 0x708, 0xE07
CHANNEL, IMC_CTL0, IMC_CTR0, IMC_BOX_CTL, IMC_STATUS = (20, 0), 0xD8, 0xA0, 0xF4, 0xF8
UNFROZEN, MUST = 1 << 29, 0x30000


def lines_with(path, text):
    return [line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()
            if text in line]


class Traces:
    """What a run could leave on the computer, beside its processes."""

    def __init__(self):
        self.before = self.look()

    @staticmethod
    def look():
        return {
            "mounts": lines_with("/proc/self/mountinfo", ""),
            "sockets": [line.split()[-1] for line in lines_with("/proc/net/unix", "@")],
            "segments": os.listdir("/dev/shm"),
            "temporary files": os.listdir("/tmp"),
            "journals": sorted(map(str, pathlib.Path("/run").rglob("*/*"))),
        }

    def left(self):
        """The kernel, and a server that goes on, see later that others have gone; how much later is
        a matter of what else the computer does. What is still there after so long is left."""
        deadline = time.monotonic() + 60
        now = self.look()
        while now != self.before and time.monotonic() < deadline:
            time.sleep(0.02)
            now = self.look()
        return [f"{kind} left: {now[kind]}" for kind in now if now[kind] != self.before[kind]]


class Scene:
    """One command; each case of it runs in the same folder."""

    modules = (PMULAB,)
    seconds = 60  # and it hangs, on a computer however busy
    program = "qemu-x86_64"  # what is executed last of all
    speaks_on = None  # where it cannot be done without that descriptor
    plain = False  # whether it can be done by a user who is not root
    hardware_program = None  # what is measured, if it plays the hardware's part

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="faults-")
        self.path = pathlib.Path(self.folder)
        self.name = f"faults-{os.getpid()}"
        self.report_path = self.path / "report"
        self.set_up()
        self.traces = Traces()
        self.prepare()

    def set_up(self):
        pass

    def prepare(self):
        """Leaves traces for a moment: those of before are taken first."""

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def before(self):
        """Makes everything as it was in the first place."""
        shutil.rmtree("/run/pmulab", ignore_errors=True)
        self.report_path.unlink(missing_ok=True)

    def report(self):
        if not self.report_path.is_file():
            return ""
        return self.normal(self.report_path.read_text(encoding="utf-8", errors="replace"))

    @staticmethod
    def normal(text):
        """Without what differs from run to run."""
        return re.sub(r'"seconds": [0-9.e-]+|^[0-9.]+ s,', "", text, flags=re.M)

    def changed(self):
        """What is not as it was found: a list of lines."""
        return self.traces.left()

    def give_to(self, user):
        """All that the command may write to is theirs: the folder, and one for journals."""
        runtime = self.path / "runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        for path in (self.path, *self.path.rglob("*")):
            os.chown(path, user, user)

    @staticmethod
    def recover():
        """After a kill that nothing can be done against, as it is documented."""
        subprocess.run([PMULAB, "restore"], capture_output=True, check=False, timeout=30)

    def linger(self):
        """The program takes its time: a signal comes before it has done anything."""


class Root(Scene):
    """Counters of a made computer, one of which somebody uses."""

    plain = True
    program = hardware_program = pathlib.Path(POKE).name

    def set_up(self):
        tree = self.tree = Tree(self.path / "tree")
        for cpu in (0, 1):
            tree.set_msr(cpu, GLOBAL_CTL, UNFROZEN)
            tree.set_msr(cpu, BOX_CTL, MUST)
            tree.set_msr(cpu, CTL0, 0x400334)
            for counter in range(4):
                tree.set_msr(cpu, CTR0 + counter, 77 + 10 * counter + cpu)
            tree.set_msr(cpu, FILTER0, 0x20000)
        for package in (0, 1):
            tree.set_config(package, CHANNEL, IMC_BOX_CTL, MUST)
            tree.set_config(package, CHANNEL, IMC_CTL0, 0x400304)
            for counter in range(4):
                tree.set_config(package, CHANNEL, IMC_CTR0 + 8 * counter, 99 + counter)
        self.files = {p: p.read_bytes() for p in tree.path.rglob("*") if p.is_file()}
        self.argv = [PMULAB, "stat", "--root", str(tree.path), "--force", "-o",
                     str(self.report_path), "--format", "json", "-e",
                     "cbo0.LLC_LOOKUP.ANY:state=any,imc0.CAS_COUNT.WR", "--", POKE, *self.hardware()]

    def linger(self):
        self.argv.insert(self.argv.index(POKE) + 1, "wait")

    def hardware(self):
        """Clears status bits that were written as 1 and idle counters, as hardware does, and counts."""
        tree, pokes = self.tree, []
        for cpu in (0, 1):
            cleared = (GLOBAL_STATUS, UBOX_STATUS, *range(CBO_STATUS, 0xF80, 0x10))
            pokes += [f"{tree.msr_path(cpu)}:{8 * n}=0" for n in cleared]
            pokes += [f"{tree.msr_path(cpu)}:{8 * CTR0}={1111 * (cpu + 1)}"]
            pokes += [f"{tree.msr_path(cpu)}:{8 * (CTR0 + n)}=0" for n in (1, 2, 3)]
            path = tree.config_path(cpu, CHANNEL)
            pokes += [f"{path}:{IMC_STATUS}=0", f"{path}:{IMC_CTR0}={3333 * (cpu + 1)}",
                      *(f"{path}:{IMC_CTR0 + 8 * n}=0" for n in (1, 2, 3))]
        return pokes

    def before(self):
        super().before()
        for path, data in self.files.items():
            if path.read_bytes() != data:
                path.write_bytes(data)

    STATUS = {8 * n for n in (GLOBAL_STATUS, UBOX_STATUS, *range(CBO_STATUS, 0xF80, 0x10))}

    def registers(self, path, data):
        """Differences of a file, less status bits, which a plain file keeps when they are cleared."""
        now = path.read_bytes()
        if now == data:
            return
        if len(now) != len(data):
            yield f"{path}: {len(now)} bytes, not {len(data)}"
        is_msr = path.name == "msr"
        for at in range(0, min(len(data), len(now)), 4):
            if data[at:at + 4] == now[at:at + 4]:
                continue
            if at & ~7 not in self.STATUS if is_msr else at != IMC_STATUS:
                name = f"{at // 8:#x}" if is_msr else f"{at:#x}"
                yield (f"{path.relative_to(self.tree.path)} {name}: found {data[at:at + 4].hex()}, "
                       f"left {now[at:at + 4].hex()}")

    def changed(self):
        lines = super().changed()
        for path, data in self.files.items():
            lines += self.registers(path, data)
        return lines


class Stat(Scene):
    plain = True
    modules = (PMULAB, PLUGIN)

    def set_up(self):
        self.argv = [PMULAB, "stat", "-M", MACHINE, "-o", str(self.report_path), "--format", "json",
                     "-e", "imc.CAS_COUNT.RD,cbo.LLC_LOOKUP.ANY:state=any", "--", NOTHING]

    @staticmethod
    def normal(text):
        """The emulator's own addresses are random: counts differ in the last digits."""
        return re.sub(r'("(?:count|seconds|instructions|cycles|[a-z_]+)": )[0-9.e-]+', r"\1N", text)


class Emulate(Scene):
    def set_up(self):
        self.argv = [PMULAB, "emulate", "-M", MACHINE, "--name", self.name, "--trace-registers",
                     str(self.report_path), "--clock", "machine", "--", POKE,
                     f"/dev/cpu/0/msr:{CTL0}=0x400334", f"/dev/cpu/0/msr:{CTL0}"]


class Lint(Scene):
    """A tool that writes a reserved bit, and a register that is not there."""

    def set_up(self):
        self.argv = [PMULAB, "lint", "-M", MACHINE, "-o", str(self.report_path), "--format", "json",
                     "--", POKE, f"/dev/cpu/0/msr:{CTL0}=0x400334",
                     f"/dev/cpu/0/msr:{CTL0}=0x80000000"]


class Machines(Scene):
    plain = True
    program = pathlib.Path(PMULAB).name

    def set_up(self):
        self.tree = Tree(self.path / "tree")
        self.argv = [PMULAB, "machines", "--host", "--root", str(self.tree.path), "--format", "json",
                     "--capture", str(self.path / "copy")]

    def before(self):
        super().before()
        shutil.rmtree(self.path / "copy", ignore_errors=True)

    def report(self):
        copy = self.path / "copy"
        return [(str(p.relative_to(copy)), p.read_bytes()) for p in sorted(copy.rglob("*"))
                if p.is_file()]


class Print(Scene):
    """What goes to standard output."""

    plain = True
    program = pathlib.Path(PMULAB).name
    speaks_on = 1

    def set_up(self):
        self.tree = Tree(self.path / "tree")
        self.argv = [PMULAB, "machines", "--host", "--root", str(self.tree.path)]


class Attach(Scene):
    """The machine that is joined is the same afterwards."""

    modules = (PMULAB, PLUGIN)

    def set_up(self):
        self.server = subprocess.Popen(
            [PMULAB, "emulate", "-M", MACHINE, "--name", self.name, "--clock", "machine", "--",
             "/bin/sleep", "100000"], stdin=subprocess.DEVNULL)
        wait_until(lambda: lines_with("/proc/net/unix", self.name))
        self.argv = [PMULAB, "emulate", "--attach", self.name, "--", NOTHING]

    def prepare(self):
        self.poke(f"/dev/cpu/0/msr:{CTL0}=0x400334")

    def poke(self, *what):
        return subprocess.run([PMULAB, "emulate", "--attach", self.name, "--tool", "--", POKE, *what],
                              capture_output=True, text=True, timeout=30, check=False)

    def changed(self):
        result = self.poke(f"/dev/cpu/0/msr:{CTL0}")
        lines = [] if result.stdout == "0x400334\n" else [f"the machine no longer answers: {result}"]
        return super().changed() + lines

    def close(self):
        self.server.terminate()
        self.server.wait(30)
        super().close()


class UnderLint(Scene):
    """The command as a tool on the emulated machine: whatever it does to registers is seen."""

    program = pathlib.Path(NOTHING).name
    speaks_on = 2  # the tool's report

    @staticmethod
    def normal(text):
        try:
            return json.dumps(json.loads(text)["findings"])
        except ValueError:
            return text  # cut short, which is another report than a whole one

    def set_up(self):
        self.script = self.path / "tool"
        self.argv = [PMULAB, "lint", "-M", MACHINE, "-o", str(self.report_path), "--format", "json",
                     "--", "/bin/sh", str(self.script)]
        self.close_inside([])

    def close_inside(self, descriptors):
        words = ["exec", PMULAB, "stat", "-e", "imc.CAS_COUNT.RD", "--", NOTHING,
                 *(f"{fd}>&-" for fd in descriptors)]
        self.script.write_text(" ".join(words) + "\n", encoding="utf-8")


SCENES = {"root": Root, "stat": Stat, "emulate": Emulate, "lint": Lint, "machines": Machines, "print": Print,
          "attach": Attach, "under-lint": UnderLint}
