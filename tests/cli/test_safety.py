#!/usr/bin/env python3
"""Whatever happens to a measurement, the registers of the computer are left as they were."""
import fcntl
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import PMULAB, SMALL, pmulab
from host_tree import GLOBAL_CTL, Tree
from processes import wait_until
from test_host import NOT_EMULATED, PLAIN, Trees

EVENT = "cbo0.LLC_LOOKUP.ANY:state=any"
C0_CTL0, C0_FILTER0 = 0xE01, 0xE05
FROZEN_BY_US = 1 << 29  # unfrz_all, as it is last written (334291-001 table 2-2)
PROGRAMMED = 0x401134
FAULTS = [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE,
          signal.SIGSYS, signal.SIGTRAP]
HARMLESS = [signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGCONT, signal.SIGTSTP,
            signal.SIGTTIN, signal.SIGTTOU, signal.SIGURG, signal.SIGWINCH, 32, 33]


def is_held(journal):
    with open(journal, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def closing(*descriptors):
    """A shell's redirections that close them."""
    return "".join(f" {n}>&-" for n in descriptors)


def find_guardian(pid):
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        name, rest = text.split("(", 1)[1].rsplit(")", 1)
        if name == "pmulab-guardian" and int(rest.split()[1]) == pid:
            return int(path.parent.name)
    return None


def guardian_of(pid):
    return wait_until(lambda: find_guardian(pid))


class Safety(Trees):
    def setUp(self):
        super().setUp()
        self.runtime = self.root / "runtime"
        self.environment = {**os.environ, "PMULAB_RUNTIME_DIR": str(self.runtime)}

    def tree(self):
        """Registers that somebody has left, none of them counting."""
        tree = Tree(self.root)
        tree.set_msr(0, C0_CTL0, 0x137)
        tree.set_msr(0, C0_FILTER0, 0x20000)
        tree.set_msr(1, C0_CTL0, 0x237)
        return tree

    def assert_as_found(self, tree):
        self.assertEqual([tree.msr(0, C0_CTL0), tree.msr(0, C0_FILTER0), tree.msr(1, C0_CTL0)],
                         [0x137, 0x20000, 0x237])
        # Let go on again, on both sockets.
        self.assertEqual([tree.msr(cpu, GLOBAL_CTL) for cpu in (0, 1)], [FROZEN_BY_US] * 2)

    def as_found(self, tree):
        return tree.msr(1, C0_CTL0) == 0x237 and tree.msr(1, GLOBAL_CTL) == FROZEN_BY_US \
            and tree.msr(0, C0_CTL0) == 0x137

    def start(self, tree, *command, options=(), event=EVENT, programmed=PROGRAMMED, **run):
        """A measurement whose program runs, and whose counters do."""
        run = {"stderr": subprocess.PIPE, **run}
        process = subprocess.Popen(
            [PMULAB, "stat", "--root", tree.path, "-e", event, *options, "--",
             *(command or ("sleep", "120"))], env=self.environment, **run)
        self.addCleanup(lambda: process.stderr and process.stderr.close())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: tree.msr(1, GLOBAL_CTL) == FROZEN_BY_US)
        tree.clear_status()
        self.assertEqual(tree.msr(0, C0_CTL0), programmed)
        return process

    def journals(self):
        return sorted(self.runtime.iterdir()) if self.runtime.exists() else []

    def restore(self, *options):
        return pmulab("restore", *options, env=self.environment)


class Descriptors(Safety):
    def test_closed_ones(self):
        """No register's file gets the number of standard error; nothing of a report goes there."""
        tree = self.tree()
        counters = self.root / "program"
        shutil.copy("/bin/true", counters)
        for count in range(4):
            for closed in itertools.combinations((0, 1, 2), count):
                with self.subTest(closed=closed):
                    tree.clear_status()
                    before = {p: p.read_bytes()[:64]
                              for p in self.root.rglob("*") if p.name in ("config", "msr")}
                    line = f'exec "$0" stat --root {self.root} -e imc.CAS_COUNT.RD,{EVENT} -- ' \
                           f'{counters}{closing(*closed)}'
                    subprocess.run(["/bin/sh", "-c", line, PMULAB], env=self.environment,
                                   capture_output=True, timeout=60, check=False)
                    after = {p: p.read_bytes()[:64] for p in before}
                    self.assertEqual(after, before)
                    self.assert_as_found(tree)

    def test_report_that_nobody_gets(self):
        """It is lost, and that is a failure; the machine does not get it in its memory."""
        line = f'exec "$0" stat -M {SMALL} -e imc.CAS_COUNT.RD -- /bin/true 2>&-'
        result = subprocess.run(["/bin/sh", "-c", line, PMULAB], capture_output=True, timeout=60,
                                check=False)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, b"")

    @unittest.skipIf(NOT_EMULATED, NOT_EMULATED)
    def test_under_lint(self):
        """No rule of the manual is broken, whatever is closed."""
        for closed in ((2,), (1, 2), (0, 1, 2)):
            line = f'exec "$0" stat -e imc.CAS_COUNT.RD -- /bin/true{closing(*closed)}'
            result = pmulab("lint", "-M", SMALL, "--format", "json", "-o", self.root / "lint.json",
                            "--", "/bin/sh", "-c", line, PLAIN, env=self.environment)
            report = json.loads((self.root / "lint.json").read_text(encoding="utf-8"))
            self.assertEqual(report["findings"], [], (closed, result.stderr))

    def test_what_the_program_inherits(self):
        """What pmulab was given, and none of what it opened itself."""
        tree = self.tree()
        given, other = os.pipe()
        os.set_inheritable(given, True)
        self.addCleanup(os.close, given)
        self.addCleanup(os.close, other)
        program = self.program("""
            for n in os.listdir('/proc/self/fd'):
                try: print(n, os.readlink('/proc/self/fd/' + n))
                except OSError: pass
            """)
        for options in (["--root", self.root, "-e", f"imc.CAS_COUNT.RD,{EVENT}"], []):
            tree.clear_status()
            result = pmulab("stat", *options, "--", *program, env=self.environment,
                            pass_fds=[given])
            self.assertEqual(result.returncode, 0, result.stderr)
            names = dict(line.split(" ", 1) for line in result.stdout.splitlines())
            self.assertIn("pipe:", names.pop(str(given)))
            others = [name for n, name in names.items()
                      if int(n) > 2 and not re.fullmatch(r"/proc/\d+/fd", name)]
            self.assertEqual(others, [])


class Signals(Safety):
    def test_passed_on(self):
        """The program ends by each of them, and the measurement after it."""
        tree = self.tree()
        for number in range(1, 65):
            if number in HARMLESS or number in FAULTS:
                continue
            with self.subTest(signal=number):
                tree.set_msr(1, GLOBAL_CTL, 0)
                process = self.start(tree)
                process.send_signal(number)
                _, errors = process.communicate(timeout=50)
                self.assertEqual(process.returncode, 128 + number, errors)
                self.assert_as_found(tree)
                self.assertEqual(self.journals(), [])

    def test_faults(self):
        """The process ends by its fault, and not before registers are restored."""
        tree = self.tree()
        for number in FAULTS:
            with self.subTest(signal=number):
                tree.set_msr(1, GLOBAL_CTL, 0)
                process = self.start(tree)
                process.send_signal(number)
                process.wait(timeout=50)
                self.assert_as_found(tree)
                process.communicate(timeout=50)
                if b"Sanitizer" not in (process.stderr.read() if not process.stderr.closed else b""):
                    self.assertIn(process.returncode, (-number, 1))
                self.assertEqual(self.journals(), [])

    def test_killed(self):
        """The guardian restores, and the program is gone too."""
        tree = self.tree()
        process = self.start(tree)
        process.kill()
        process.wait(timeout=50)
        wait_until(lambda: self.as_found(tree) and not self.journals(), 10)
        self.assert_as_found(tree)
        process.communicate(timeout=10)  # nobody holds its standard error any more

    def test_killed_group(self):
        tree = self.tree()
        process = self.start(tree, start_new_session=True)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=50)
        wait_until(lambda: self.as_found(tree) and not self.journals(), 10)

    def test_guardian_that_is_killed(self):
        tree = self.tree()
        process = self.start(tree, "cat", stdin=subprocess.PIPE)
        os.kill(guardian_of(process.pid), signal.SIGKILL)
        _, errors = process.communicate(timeout=50)
        self.assertEqual(process.returncode, 0, errors)
        self.assert_as_found(tree)
        self.assertEqual(self.journals(), [])

    def test_standard_error_that_nobody_reads(self):
        """With nothing left to read, and with a pipe that is full: restored before it is said."""
        tree = self.tree()
        process = self.start(tree, "cat", stdin=subprocess.PIPE)
        process.stderr.close()
        process.stdin.close()
        process.wait(timeout=50)
        self.assert_as_found(tree)
        tree.set_msr(1, GLOBAL_CTL, 0)
        read, write = os.pipe()
        os.set_blocking(write, False)
        try:
            while True:
                os.write(write, bytes(4096))
        except BlockingIOError:
            os.set_blocking(write, True)
        process = self.start(tree, *self.program("tree.set_msr(1, 0xE01, 0x400237)"), stderr=write)
        wait_until(lambda: self.as_found(tree), 30)
        os.close(read)
        os.close(write)
        process.wait(timeout=50)
        self.assert_as_found(tree)

    def test_register_trace_that_nobody_reads(self):
        tree = self.tree()
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        process = self.start(tree, "cat", options=["--trace-registers", fifo], stdin=subprocess.PIPE)
        os.close(reader)
        _, errors = process.communicate(timeout=50)
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn(b"cannot write the register trace", errors)
        self.assert_as_found(tree)


@unittest.skipUnless(shutil.which("strace"), "needs strace")
class Moments(Safety):
    """The process ends at its nth write to a register, for each n; its guardian does not."""

    def end_at(self, tree, path, when, number):
        tree.set_msr(1, GLOBAL_CTL, 0)
        result = subprocess.run(
            ["strace", "-o", "/dev/null", "-P", path, "-e",
             f"inject=pwrite64:signal={number}:when={when}", PMULAB, "stat", "--root", self.root,
             "-e", f"imc.CAS_COUNT.RD,{EVENT}", "--", *self.program()], capture_output=True,
            text=True, timeout=60, check=False,
            env={**self.environment, "ASAN_OPTIONS": "detect_leaks=0"})
        wait_until(lambda: not self.journals(), 10)
        self.assert_as_found(tree)
        self.assertEqual(tree.config(1, (20, 0), 0xD8), 0x304)
        return result

    def test_no_guardian(self):
        """Nothing is written without one."""
        tree = self.tree()
        before = tree.msr_path(0).read_bytes(), tree.msr_path(1).read_bytes()
        for call, when in (("clone", 2), ("pipe2", 2), ("pipe2", 3)):
            result = subprocess.run(
                ["strace", "-o", "/dev/null", "-e", f"inject={call}:error=EAGAIN:when={when}",
                 PMULAB, "stat", "--root", self.root, "-e", EVENT, "--", "touch",
                 self.root / "ran"], capture_output=True, text=True, timeout=60, check=False,
                env={**self.environment, "ASAN_OPTIONS": "detect_leaks=0"})
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn("Resource temporarily unavailable", result.stderr)
            self.assertEqual((tree.msr_path(0).read_bytes(), tree.msr_path(1).read_bytes()),
                             before)
            self.assertEqual(self.journals(), [])
            self.assertFalse((self.root / "ran").exists())

    def test_group(self):
        """The guardian leaves the group before a register is written, however late it comes to it."""
        self.tree()
        log = self.root / "log"
        result = subprocess.run(
            ["strace", "-f", "-o", log, "-e", "trace=setsid,pwrite64", "-e",
             "inject=setsid:delay_enter=300000", PMULAB, "stat", "--root", self.root, "-e", EVENT,
             "--", *self.program()], capture_output=True, text=True, timeout=60, check=False,
            env={**self.environment, "ASAN_OPTIONS": "detect_leaks=0"})
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = log.read_text(encoding="utf-8").splitlines()
        left = [n for n, line in enumerate(calls) if re.search(r"setsid(\(| resumed).* = [1-9]", line)]
        written = [n for n, line in enumerate(calls) if "pwrite64(" in line]
        self.assertEqual(len(left), 1, calls)
        self.assertGreater(len(written), 0)
        self.assertLess(left[0], written[0])

    def test_each_write(self):
        tree = self.tree()
        tree.set_config(1, (20, 0), 0xD8, 0x304)
        ended = 0
        for path in (tree.msr_path(1), tree.config_path(1, (20, 0))):
            for when in range(1, 30):
                for number in ("KILL", "SEGV", "TERM") if when % 5 == 0 else ("KILL",):
                    with self.subTest(path=path.parent.name, when=when, signal=number):
                        ended += self.end_at(tree, path, when, number).returncode != 0
        self.assertGreater(ended, 30)


class Journals(Safety):
    def kill(self, process):
        """Its journal is nobody's any more; whom a signal ends may have to wait for a processor."""
        os.kill(guardian_of(process.pid), signal.SIGKILL)
        process.kill()
        process.wait(timeout=50)
        wait_until(lambda: not any(is_held(path) for path in self.journals()
                                   if path.name.startswith(f"{process.pid}-")))

    def killed(self, tree):
        """A measurement of which nothing is left but its journal."""
        journals = len(self.journals())
        process = self.start(tree)
        self.kill(process)
        self.assertEqual(tree.msr(0, C0_CTL0), PROGRAMMED)
        self.assertEqual(len(self.journals()), journals + 1)
        return process.pid

    def test_several_computers(self):
        """Each gets back its own, also where another's registers are gone."""
        trees = []
        for name in ("a", "b", "c"):
            self.root = pathlib.Path(self.folder.name) / name
            trees.append(self.tree())
        pids = [self.killed(tree) for tree in trees]
        shutil.rmtree(trees[1].path)
        result = self.restore()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertEqual({int(pid) for pid in re.findall("process ([0-9]+)", result.stdout)},
                         {pids[0], pids[2]})
        self.assert_as_found(trees[0])
        self.assert_as_found(trees[2])
        self.assertEqual([int(path.name.partition("-")[0]) for path in self.journals()], [pids[1]])

    def test_one_on_top_of_another(self):
        """The later found what the earlier wrote: its journal comes first, whatever its name is."""
        for names in (("1-1", "1-2"), ("1-2", "1-1")):
            with self.subTest(names=names):
                self.root = pathlib.Path(self.folder.name) / names[0]
                tree = self.tree()
                first = self.start(tree)
                earlier = self.journals()[0]
                tree.set_msr(1, GLOBAL_CTL, 0)
                second = self.start(tree, event="cbo0.LLC_VICTIMS.M_STATE", programmed=0x400137,
                                    options=["--force"])
                later, = set(self.journals()) - {earlier}
                self.kill(first)
                self.kill(second)
                earlier.rename(self.runtime / names[0])
                later.rename(self.runtime / names[1])
                result = self.restore()
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(re.findall("process ([0-9]+)", result.stdout),
                                 [str(second.pid), str(first.pid)])
                self.assert_as_found(tree)
                self.assertEqual(self.journals(), [])

    def test_all_killed(self):
        tree = self.tree()
        pid = self.killed(tree)
        result = self.stat(EVENT, "touch", self.root / "ran", env=self.environment)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"process {pid} was killed", result.stderr)
        self.assertIn("pmulab restore", result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertFalse((self.root / "ran").exists())
        shown = self.restore("--dry-run")
        self.assertEqual(shown.returncode, 1)
        self.assertIn("Cn_MSR_PMON_CTL0 msr 0xE01 = 0x137", shown.stdout)
        self.assertEqual(tree.msr(0, C0_CTL0), PROGRAMMED)
        result = self.restore()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"process {pid}", result.stdout)
        self.assert_as_found(tree)
        self.assertEqual(self.journals(), [])
        self.assertEqual(self.restore().stdout, "there is nothing to restore\n")
        result = self.stat(EVENT, *self.program(), env=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_of_other_registers(self):
        """One computer's journal says nothing about another's."""
        tree = self.tree()
        self.killed(tree)
        with tempfile.TemporaryDirectory() as folder:
            Tree(folder)
            result = pmulab("stat", "--root", folder, "-e", EVENT, "--", "touch",
                            self.root / "ran", env=self.environment)
            self.assertNotIn("was killed", result.stderr)
            self.assertTrue((self.root / "ran").exists())
        # The same name, but another file: what an emulated machine's are to the computer's.
        copy = tree.msr_path(0).read_bytes()
        os.rename(tree.msr_path(0), self.root / "old")
        tree.msr_path(0).write_bytes(copy)
        result = self.restore()
        self.assertEqual(result.returncode, 1)
        self.assertIn("not there any more", result.stderr)
        self.assertEqual(tree.msr(0, C0_CTL0), PROGRAMMED)
        self.assertEqual(len(self.journals()), 1)
        self.assertEqual(self.restore("--forget").returncode, 1)
        self.assertEqual(self.journals(), [])
        self.assertEqual(tree.msr(0, C0_CTL0), PROGRAMMED)

    def test_restoring_that_failed(self):
        """What one run cannot restore, a later one can: the function is back."""
        tree = self.tree()
        config = tree.config_path(1, (18, 1))
        before = bytearray(config.read_bytes())
        before[0xD8:0xDA] = b"\x37\x01"
        config.write_bytes(before)
        result = self.stat("ha.CLOCKTICKS", *self.program("tree.hide(1, (18, 1))"),
                           env=self.environment)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(self.journals()), 1)
        result = self.stat(EVENT, "true", env=self.environment)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "process [0-9]+ could not restore registers: pmulab restore")
        self.assertEqual(self.restore().returncode, 1)
        self.assertEqual(len(self.journals()), 1)
        config.parent.mkdir()
        config.write_bytes(bytes(before[:0xD8]) + bytes(len(before) - 0xD8))
        result = self.restore()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(tree.config(1, (18, 1), 0xD8), 0x137)
        self.assertEqual(self.journals(), [])

    def test_owner_that_lives(self):
        tree = self.tree()
        process = self.start(tree)
        self.assertEqual(len(self.journals()), 1)
        self.assertEqual(self.restore().stdout, "there is nothing to restore\n")
        self.assertEqual(tree.msr(0, C0_CTL0), PROGRAMMED)
        self.assertEqual(len(self.journals()), 1)
        process.terminate()
        process.wait(timeout=50)

    def test_before_the_last_boot(self):
        tree = self.tree()
        self.killed(tree)
        journal = self.journals()[0]
        text = journal.read_text(encoding="utf-8")
        journal.write_text(re.sub("boot .*", "boot 0-0", text), encoding="utf-8")
        self.assertEqual(self.restore().stdout, "there is nothing to restore\n")
        self.assertEqual(self.journals(), [])
        self.assertEqual(tree.msr(0, C0_CTL0), PROGRAMMED)

    def test_hostile(self):
        """Nothing of a text is written that is not as pmulab would have written it."""
        tree = self.tree()
        self.killed(tree)
        journal = self.journals()[0]
        text = journal.read_text(encoding="utf-8")
        write = re.search("write .* Cn_MSR_PMON_CTL0\n", text).group()
        count = int(re.search(r"end (\d+)\n", text).group(1))
        hostile = {
            "empty": "",
            "cut": text[:len(text) // 2],
            "without its end": text.replace(f"end {count}\n", ""),
            "more behind it": text + "x\n",
            "miscounted": text.replace(f"end {count}", f"end {count + 1}"),
            "another version": text.replace("journal 1", "journal 2"),
            "no PMU": text.replace("xeon-e5v4\n", "xeon-e9\n"),
            "a read": text.replace(write, write.replace("write", "read")),
            "time stamp counter": text.replace(
                write, "write 0 0 msr 0x10 64 0x0 0 IA32_TIME_STAMP_COUNTER\n"),
            "another register's name": text.replace(write, write.replace("CTL0", "CTL1")),
            "no register": text.replace(write, write.replace("0xe01", "0xc0000080")),
            "a value too wide": text.replace(write, re.sub("0x137|0x237", "0x" + "f" * 16, write)),
            "no such socket": text.replace(write, re.sub("write [01]", "write 70000", write)),
            "a relative root": text.replace("root /", "root "),
            "a long root": re.sub("root .*", "root /" + "a" * 5000, text),
            "zeros": text + "\0" * 100,
            "a long line": text.replace(write, write[:-1] + "A" * 100000 + "\n"),
            "a negative result": text.replace(write, write.replace(" 0 Cn", " -1 Cn")),
        }
        before = tree.msr_path(0).read_bytes(), tree.msr_path(1).read_bytes()
        for name, content in hostile.items():
            with self.subTest(name):
                self.assertNotEqual(content, text)
                journal.write_text(content, encoding="utf-8")
                result = self.restore()
                self.assertEqual(result.returncode, 1, result.stdout)
                self.assertNotIn("Sanitizer", result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertEqual((tree.msr_path(0).read_bytes(), tree.msr_path(1).read_bytes()),
                                 before)
        journal.write_text(text, encoding="utf-8")
        journal.chmod(0o666)
        self.assertIn("others may have written it", self.restore().stderr)
        journal.chmod(0o600)
        os.link(journal, self.root / "second")
        self.assertIn("others may have written it", self.restore().stderr)
        (self.root / "second").unlink()
        self.runtime.chmod(0o777)
        self.assertIn("others may write", self.restore().stderr)
        self.runtime.chmod(0o700)
        if os.geteuid() == 0:
            os.chown(journal, 65534, 65534)
            self.assertIn("others may have written it", self.restore().stderr)
            os.chown(journal, 0, 0)
        self.assertEqual((tree.msr_path(0).read_bytes(), tree.msr_path(1).read_bytes()), before)
        self.assertEqual(self.restore().returncode, 0)
        self.assert_as_found(tree)

    def test_folder_of_another_kind(self):
        """Without a journal it measures, and says what is missing."""
        self.tree()
        self.runtime.write_text("", encoding="utf-8")
        result = self.stat(EVENT, *self.program(), env=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("warning: "), 1, result.stderr)


if __name__ == "__main__":
    unittest.main()
