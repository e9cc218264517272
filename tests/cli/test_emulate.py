#!/usr/bin/env python3
"""Tools on an emulated machine: device files, attached programs, and what is left after failures."""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness import LARGE, PMULAB, SMALL, Guests, pmulab
from processes import children_of, lives, wait_until

# 334291-001 tables 2-9, 2-117, 2-115: CBo counters, iMC channels of the small machine.
CBO_CTR0, CBO_STRIDE = 0xE08, 0x10
CHANNELS = ["ff:14.0", "ff:14.1", "ff:15.0", "ff:15.1"]
BOX_CTL, CTL0, CTR0, FIXED_CTL, FIXED_CTR = "f4", "d8", "a0", "f0", "d0"
CAS_COUNT_RD, CAS_COUNT_WR = 0x00400304, 0x00400C04
DCLK_HZ = 1_200_000_000
LINES = 1 << 18
HOLD = os.environ["HOLD"]


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def check_place():
    if os.geteuid() != 0:
        skip("device files need root")
    if not os.path.exists("/dev/fuse"):
        skip("there is no /dev/fuse")
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode:
        skip("mount namespaces are not allowed here")
    for tool in ["rdmsr", "wrmsr", "lspci", "setpci", "nsenter", "qemu-x86_64"]:
        if not shutil.which(tool):
            skip(f"{tool} is not installed")


def emulate(*arguments, machine=SMALL, **options):
    return pmulab("emulate", "-M", machine, *arguments, **options)


def shell(script, **options):
    """Output of a shell on a machine of its own: what it starts sees the machine's files."""
    result = emulate("--", "sh", "-ec", script, **options)
    assert result.returncode == 0, (script, result.returncode, result.stderr)
    return result.stdout


def mounts():
    return pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8")


def runs_pmulab(pid):
    try:
        return os.path.samefile(f"/proc/{pid}/exe", PMULAB)
    except FileNotFoundError:  # it ends
        return False


def tool_of(pid):
    """The child that has become the emulator; another one serves the files."""
    return next((child for child in children_of(pid) if not runs_pmulab(child)), None)


def server_of(pid):
    return next(child for child in children_of(pid) if runs_pmulab(child))


class Machine:
    """A machine with a name that lives as long as its tool, which waits for the end of its input."""
    number = 0

    def __init__(self, *options, command="emulate", machine=SMALL):
        Machine.number += 1
        self.name = f"test-{os.getpid()}-{Machine.number}"
        self.process = subprocess.Popen(
            [PMULAB, command, "-M", machine, "--name", self.name, *options, "--", "cat"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: tool_of(self.process.pid))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=20)
        self.process.stderr.close()

    def attach(self, *arguments, **options):
        return pmulab("emulate", "--attach", self.name, *arguments, **options)

    def start(self, *arguments, **options):
        return subprocess.Popen([PMULAB, "emulate", "--attach", self.name, *map(str, arguments)],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)

    def inside(self, *command, **options):
        """A program of the host with the machine's files."""
        options = {"capture_output": True, "text": True, "timeout": 60, "check": True, **options}
        return subprocess.run(["nsenter", f"--mount=/proc/{self.process.pid}/ns/mnt", *command],
                              **options)

    def start_inside(self, *command, **options):
        return subprocess.Popen(["nsenter", f"--mount=/proc/{self.process.pid}/ns/mnt", *command],
                                **options)

    def setpci(self, *what):
        return self.inside("setpci", *what).stdout.split()

    def counter(self, slot, offset):
        low, high = self.setpci("-s", slot, f"{int(offset, 16):x}.l", f"{int(offset, 16) + 4:x}.l")
        return int(high, 16) << 32 | int(low, 16)


class Files(unittest.TestCase):
    def test_msr(self):
        self.assertEqual(shell(f"wrmsr -p 1 {CBO_CTR0} 0x123456789abc; rdmsr -p 3 {CBO_CTR0}"),
                         "123456789abc\n")
        self.assertEqual(shell("rdmsr -a 0xe08").split(), ["0"] * 4)

    def test_tool_under_the_emulator(self):
        self.assertEqual(emulate("--", "rdmsr", "-p", "0", "0xe08").stdout, "0\n")

    def test_unknown_msr_is_an_io_error(self):
        result = emulate("--", "rdmsr", "0x12345")
        self.assertEqual(result.returncode, 4)
        self.assertIn("cannot read MSR 0x00012345", result.stderr)

    def test_pci(self):
        self.assertEqual(shell("lspci -n -s ff:12.1"), "ff:12.1 1101: 8086:6f30 (rev 01)\n")
        self.assertEqual(shell("lspci -n -s ff:12.5"), "")
        self.assertEqual(shell("lspci -A linux-proc -n -s ff:12.1"),
                         "ff:12.1 1101: 8086:6f30 (rev 01)\n")
        self.assertEqual(shell(f"setpci -s ff:14.0 {CTL0}.l=400304; setpci -s ff:14.0 {CTL0}.l"),
                         "00400304\n")

    def test_processors(self):
        text = emulate("--", "sh", "-ec", "getconf _NPROCESSORS_CONF; grep -c ^processor "
                       "/proc/cpuinfo; lscpu -p=CPU,SOCKET,NODE | tail -1; ls /dev/cpu | wc -l",
                       machine=LARGE).stdout
        self.assertEqual(text.split(), ["44", "44", "43,1,1", "44"])

    def test_allowed(self):
        """hwloc leaves out what the process may not use, and names the devices of a PCI bus."""
        lines = emulate("--", "grep", "_allowed_list", "/proc/self/status",
                        machine=LARGE).stdout.splitlines()
        self.assertEqual(lines, ["Cpus_allowed_list:\t0-43", "Mems_allowed_list:\t0-1"])
        lines = emulate("--", "timeout", "60", "lstopo-no-graphics", "--only", "pu",
                        machine=LARGE).stdout.splitlines()
        self.assertEqual(lines, [f"PU L#{cpu} (P#{cpu})" for cpu in range(44)])
        for path in ("/sys/fs/cgroup/cpuset/cpuset.effective_cpus",
                     "/sys/fs/cgroup/cpuset.cpus.effective"):
            if os.path.exists(path):
                self.assertEqual(emulate("--", "cat", path, machine=LARGE).stdout, "0-43\n")

    def test_devices_of_the_host_are_not_there(self):
        places = [place for place in ("/sys/block", "/sys/class/block", "/sys/class/net")
                  if os.path.exists(place)]
        self.assertEqual(emulate("--", "find", *places, "-mindepth", "1").stdout, "")
        # What remains in the files of the kernel is the heading of the first.
        self.assertEqual(emulate("--", "cat", "/proc/partitions", "/proc/diskstats").stdout.split(),
                         ["major", "minor", "#blocks", "name"])

        for path in ("/proc/net/dev", "/proc/self/net/dev", "/proc/thread-self/net/dev"):
            lines = emulate("--", "sh", "-c", f"cd /proc; cat {path}").stdout.splitlines()
            self.assertEqual([line.split(":")[0].strip() for line in lines[2:]], ["lo"], path)
            self.assertEqual(lines[1].split("|")[0].strip(), "face")

    def test_memory(self):
        """64 GB a socket, as its nodes say."""
        lines = emulate("--", "sh", "-c", "cat /proc/meminfo; grep -h MemTotal "
                        "/sys/devices/system/node/node*/meminfo", machine=LARGE).stdout.splitlines()
        words = [line.split() for line in lines]
        self.assertEqual(words[0], ["MemTotal:", str(2 * 64 << 20), "kB"])
        self.assertEqual(sum(int(word[3]) for word in words if word[0] == "Node"), 2 * 64 << 20)
        self.assertIn(["SwapTotal:", "0", "kB"], words)

    def test_watchdog_of_the_host_is_out_of_reach(self):
        result = emulate("--", "sh", "-c", "cat /proc/sys/kernel/nmi_watchdog; "
                         "echo 1 >/proc/sys/kernel/nmi_watchdog")
        if os.path.exists("/proc/sys/kernel/nmi_watchdog"):
            self.assertEqual(result.stdout, "0\n")
            self.assertNotEqual(result.returncode, 0)

    def test_a_computer_without_the_places(self):
        """No /dev/cpu and no PCI: as in a container or on another kind of computer."""
        script = ("mount -t tmpfs none /proc/bus && mount -t tmpfs none /dev/cpu && "
                  "mount -t tmpfs none /mnt && mkdir /mnt/dev && touch /mnt/dev/null /mnt/dev/fuse "
                  "&& mount --bind /dev/null /mnt/dev/null && mount --bind /dev/fuse /mnt/dev/fuse "
                  "&& mount --rbind /mnt/dev /dev && ! test -e /dev/cpu && exec \"$@\"")
        result = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", PMULAB, "emulate", "-M", SMALL, "--",
             "sh", "-ec", "rdmsr 0xe08; lspci -A linux-proc -n -s ff:12.1; echo x >/dev/null"],
            capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, "0\nff:12.1 1101: 8086:6f30 (rev 01)\n")

    def test_nothing_is_seen_outside(self):
        before = mounts()
        with Machine() as machine:
            self.assertIn(" /dev/cpu fuse.pmulab ", machine.inside("cat", "/proc/mounts").stdout)
            self.assertEqual(mounts(), before)
        self.assertEqual(mounts(), before)

    def test_shared_mounts_are_not_passed_on(self):
        """Where the computer's mounts propagate, as systemd sets them up."""
        script = "export OUTER=$$; \"$@\"; exit $?"
        result = subprocess.run(
            ["unshare", "--mount", "--propagation", "shared", "sh", "-c", script, "sh", PMULAB,
             "emulate", "-M", SMALL, "--", "sh", "-c", "cat /proc/$OUTER/mounts"],
            capture_output=True, text=True, check=False, timeout=60)
        self.assertIn(" / ", result.stdout)
        self.assertNotIn("pmulab", result.stdout)


class Runs(unittest.TestCase):
    def test_exit_code_and_streams_are_the_tools(self):
        result = emulate("--", "sh", "-c", "cat; echo err >&2; exit 5", input="in\n")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (5, "in\n", "err\n"))

    def test_signals_are_passed_on(self):
        with Machine() as machine:
            machine.process.send_signal(signal.SIGTERM)
            self.assertEqual(machine.process.wait(timeout=20), 128 + signal.SIGTERM)

    def test_missing_tool(self):
        self.assertEqual(emulate("--", "no-such-tool").returncode, 127)

    def test_wrong_use(self):
        for arguments, word in [(["emulate"], "-M"), (["emulate", "-M", SMALL], "TOOL"),
                                (["emulate", "-M", "x", "--", "true"], SMALL),
                                (["emulate", "--attach", "a", "-M", SMALL, "--", "true"], "-M"),
                                (["emulate", "-M", SMALL, "--clock", "x", "--", "true"], "wall"),
                                (["emulate", "-M", SMALL, "--name", "a b", "--", "true"], "name"),
                                (["lint", "-M", SMALL], "TOOL")]:
            result = pmulab(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(word, result.stderr)

    def test_without_fuse(self):
        result = subprocess.run(
            ["unshare", "--mount", "sh", "-c", "mount --bind /dev/null /dev/fuse && chmod 0 "
             "/dev/fuse 2>/dev/null; mount -t tmpfs none /dev && exec \"$@\"", "sh", PMULAB,
             "emulate", "-M", SMALL, "--", "true"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("modprobe fuse", result.stderr)

    def test_few_descriptors(self):
        """Whichever is the one too many: a message that does not mislead, nothing aborts or hangs."""
        codes, messages = set(), ""
        for limit in range(4, 24):
            result = emulate("--name", f"few-{os.getpid()}", "--", "true", timeout=60,
                             preexec_fn=lambda n=limit: resource.setrlimit(
                                 resource.RLIMIT_NOFILE, (n, n)))
            codes.add(result.returncode)
            messages += result.stderr
            if result.returncode:
                self.assertIn("pmulab emulate: ", result.stderr, limit)
            self.assertNotIn("modprobe", result.stderr)
        self.assertLessEqual(codes, {0, 1, 126, 127}, messages)
        self.assertLessEqual({0, 1}, codes)
        self.assertIn("cannot open /dev/fuse: Too many open files", messages)

    def test_no_thread_is_cancelled(self):
        """That loads libgcc_s when it is done, and aborts where it cannot."""
        symbols = subprocess.run(["nm", "-D", "--undefined-only", os.environ["PMULAB_PLAIN"]],
                                 capture_output=True, text=True, check=True).stdout
        self.assertIn("pthread_create", symbols)
        self.assertNotIn("pthread_cancel", symbols)
        self.assertNotIn("pthread_exit", symbols)

    def test_names_are_text(self):
        """No other user's terminal gets what is in a name."""
        result = emulate("--name", "\x1b]0;x\x07", "--", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn("\\x1B]0;x\\x07", result.stderr)
        self.assertNotRegex(result.stderr, r"[\x1b\x07]")

    def test_without_root(self):
        result = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", PMULAB, "emulate",
                                 "-M", SMALL, "--", "true"], capture_output=True, text=True,
                                check=False)
        if "Permission denied" in result.stderr and "pmulab" not in result.stderr.split(":")[0] or \
                "not in this program's folder" in result.stderr:
            self.skipTest("others may not reach the program where it stands")
        self.assertEqual(result.returncode, 1)
        self.assertIn("root", result.stderr)


class Processors(Guests):
    def test_cpuid_is_that_of_each_cpu(self):
        program = self.build("cpuid.c")
        program = str(self.path / "cpuid-dynamic")
        subprocess.run(["gcc", "-O1", "-o", program,
                        pathlib.Path(__file__).resolve().parent / "cpuid.c"], check=True)
        lines = emulate("--", program, 0, 3, 4).stdout.splitlines()
        # APIC ids leave room for a second thread; 4 is not there.
        self.assertEqual(lines[:3], ["0 8 4 0", "6 8 4 3", "no"])
        # A TSC of 3.5 GHz, between two readings of a clock that lie between those of the TSC and two
        # that lie outside of them.
        ticks, inner_ns, outer_ns = map(int, lines[3].split())
        self.assertGreaterEqual(ticks, inner_ns * 7 // 2)
        self.assertLessEqual(ticks, -(-outer_ns * 7 // 2))
        lines = emulate("--", program, 21, 22, 43, machine=LARGE).stdout.splitlines()
        self.assertEqual(lines[:3], ["42 8 22 21", "64 8 22 22", "106 8 22 43"])

    def compiled(self, name, *options):
        program = str(self.path / name)
        subprocess.run(["gcc", "-O1", "-o", program, *options,
                        pathlib.Path(__file__).resolve().parent / "cpuid.c"], check=True)
        return program

    def test_cpuid_behind_wrappers(self):
        """What a tool executes sees the machine as the tool does, whatever becomes of the environment
        and of signals on the way."""
        program = self.compiled("cpuid-dynamic")
        script = self.path / "script"
        script.write_text(f"#!/bin/sh\n{program} 3\n", encoding="utf-8")
        script.chmod(0o755)
        spawning = f"import subprocess; subprocess.run(['{program}', '3'], check=True)"
        for wrapped in (["timeout", "60", program, 3], ["env", "-i", program, 3], [script],
                        ["sh", "-c", f"{program} 3; true"], ["env", "-i", "sh", "-c", script],
                        ["bash", "-c", f"{program} 3 | cat"],
                        ["bash", "-c", f"trap '' ILL; exec {program} 3"],
                        ["/usr/bin/python3", "-c", spawning]):
            result = emulate("--", *wrapped)
            self.assertEqual(result.stdout.split("\n")[0], "6 8 4 3", (wrapped, result.stderr))
            self.assertEqual(result.stderr, "", wrapped)

    def test_affinity_is_handed_on(self):
        result = emulate("--", "taskset", "-c", "17,30", "sh", "-c", "nproc",
                         machine=LARGE)
        self.assertEqual(result.stdout.split("\n")[0], "2")

    def test_statically_linked(self):
        """Nothing can answer for the machine in such a tool: that is said."""
        program = self.compiled("cpuid-static", "-static")
        for wrapped in ([program], ["timeout", "60", program]):
            result = emulate("--", *wrapped)
            self.assertEqual(result.returncode, 0)
            self.assertIn(f"{program} ran 1 times and did not see the machine's CPUID (statically "
                          "linked)", result.stderr)


class Time(unittest.TestCase):
    def fixed_counter(self, machine):
        return machine.counter("ff:14.0", FIXED_CTR)

    def test_wall_clock(self):
        with Machine() as machine:
            machine.setpci("-s", "ff:14.0", f"{FIXED_CTL}.l=400000")
            before, first = time.monotonic(), self.fixed_counter(machine)
            begin = time.monotonic()
            time.sleep(0.2)
            slept = time.monotonic() - begin
            second, after = self.fixed_counter(machine), time.monotonic()
            self.assertGreaterEqual(second - first, DCLK_HZ * slept)
            self.assertLessEqual(second - first, DCLK_HZ * (after - before))

    def test_machine_clock(self):
        with Machine("--clock", "machine") as machine:
            machine.setpci("-s", "ff:14.0", f"{FIXED_CTL}.l=400000")
            first = self.fixed_counter(machine)
            time.sleep(0.2)
            self.assertEqual(self.fixed_counter(machine), first)
            self.assertEqual(machine.attach("--", "true").returncode, 0)
            self.assertGreater(self.fixed_counter(machine), first)


class Attached(Guests):
    def kernel(self, rounds, kind="load"):
        program = self.build("kernels.c", "-O2", "-nostdlib", "-ffreestanding", f"-DKERNEL={kind}",
                             f"-DLINES={LINES}", f"-DROUNDS={rounds}")
        kept = f"{program}-{kind}-{rounds}"
        os.rename(program, kept)
        return kept

    def reads(self, machine):
        return sum(machine.counter(slot, CTR0) for slot in CHANNELS)

    def count_reads(self, machine):
        for slot in CHANNELS:
            machine.setpci("-s", slot, f"{CTL0}.l={CAS_COUNT_RD:x}")

    def test_program_feeds_the_machine(self):
        """What the loop reads beyond its twin: each line once, and the lines of its own code."""
        counts = []
        for rounds in (0, 1):
            with Machine("--clock", "machine", machine=self.untranslated(SMALL)) as machine:
                self.count_reads(machine)
                self.assertEqual(machine.attach("--", self.kernel(rounds)).returncode, 0)
                counts.append(self.reads(machine))
        self.assertGreaterEqual(counts[1] - counts[0], LINES)
        self.assertLess(counts[1] - counts[0], LINES + 16)

    def test_writes_arrive_in_memory(self):
        """All of them, when the program has ended: none waits in a queue."""
        counts = []
        for rounds in (0, 1):
            with Machine("--clock", "machine") as machine:
                for slot in CHANNELS:
                    machine.setpci("-s", slot, f"{CTL0}.l={CAS_COUNT_WR:x}")
                self.assertEqual(machine.attach("--", self.kernel(rounds, "store")).returncode, 0)
                counts.append(sum(machine.counter(slot, CTR0) for slot in CHANNELS))
        self.assertEqual(counts[1] - counts[0], LINES)

    def test_tools_do_not_feed(self):
        with Machine() as machine:
            self.count_reads(machine)
            result = machine.attach("--tool", "--", self.kernel(1))
            self.assertEqual(result.returncode, 0)
            self.assertEqual(self.reads(machine), 0)
            result = machine.attach("--tool", "--", "rdmsr", "0xe08")
            self.assertEqual(result.stdout, "0\n")

    def test_tool_measures_what_it_starts(self):
        name = f"test-{os.getpid()}-own"
        script = (f"for s in {' '.join(CHANNELS)}; do setpci -s $s {CTL0}.l={CAS_COUNT_RD:x}; done; "
                  f"{PMULAB} emulate --attach {name} -- {self.kernel(1)}; "
                  f"for s in {' '.join(CHANNELS)}; do setpci -s $s {CTR0}.l; done")
        result = emulate("--name", name, "--", "sh", "-ec", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(sum(int(word, 16) for word in result.stdout.split()), LINES)

    def test_several_at_once(self):
        program = self.kernel(1)
        with Machine() as machine:
            self.count_reads(machine)
            running = [machine.start("--", program) for _ in range(3)]
            while any(process.poll() is None for process in running):
                machine.inside("rdmsr", "0xe08")
            for process in running:
                self.assertEqual(process.returncode, 0, process.communicate()[1])
                process.stderr.close()
            # Each has pages of its own; each reads its array and the one that flushes, twice.
            self.assertGreater(self.reads(machine), 3 * 3 * LINES)

    def test_exit_code(self):
        with Machine() as machine:
            self.assertEqual(machine.attach("--", "sh", "-c", "exit 7").returncode, 7)
            self.assertEqual(machine.attach("--", "no-such-program").returncode, 127)

    def test_working_folder_stays(self):
        with Machine() as machine:
            self.assertEqual(machine.attach("--tool", "--", "pwd", cwd=self.path).stdout,
                             f"{self.path}\n")

    def test_names(self):
        with Machine() as machine:
            result = emulate("--name", machine.name, "--", "true")
            self.assertEqual(result.returncode, 2)
            self.assertIn("already", result.stderr)
            result = pmulab("emulate", "--attach", "nobody", "--", "true")
            self.assertEqual(result.returncode, 2)
            self.assertIn(machine.name, result.stderr)

    def test_other_pid_namespaces(self):
        with Machine() as machine:
            for attach in (["unshare", "--pid", "--fork"], []):
                result = subprocess.run([*attach, PMULAB, "emulate", "--attach", machine.name,
                                         "--", "true"], capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 1 if attach else 0, result.stderr)
                self.assertEqual("PID namespace" in result.stderr, bool(attach))

    def test_killed_program_leaves_a_machine(self):
        """Killed in the middle of its accesses, five times; then one runs to its end."""
        program = self.kernel(200)
        with Machine() as machine:
            self.count_reads(machine)
            for _ in range(5):
                before = self.reads(machine)
                running = machine.start("--", program)
                wait_until(lambda: self.reads(machine) > before + 10000)
                guest = children_of(running.pid)[0]
                os.kill(guest, signal.SIGKILL)
                self.assertEqual(running.wait(timeout=20), 128 + signal.SIGKILL)
                running.stderr.close()
                self.assertFalse(lives(guest))
            # Time goes on, though the killed ones never said that they left.
            machine.setpci("-s", "ff:14.0", f"{FIXED_CTL}.l=400000")
            first = machine.counter("ff:14.0", FIXED_CTR)
            time.sleep(0.1)
            self.assertGreater(machine.counter("ff:14.0", FIXED_CTR), first + DCLK_HZ // 100)
            before = self.reads(machine)
            self.assertEqual(machine.attach("--", self.kernel(1)).returncode, 0)
            self.assertGreater(self.reads(machine), before + LINES)

    def test_killed_attacher_takes_its_program_along(self):
        program = self.kernel(2000)
        with Machine() as machine:
            running = machine.start("--", program)
            wait_until(lambda: children_of(running.pid))
            guest = children_of(running.pid)[0]
            running.kill()
            running.wait()
            running.stderr.close()
            wait_until(lambda: not lives(guest))
            self.assertEqual(machine.attach("--", "true").returncode, 0)


    def read_beside(self, machine, *where):
        """rdmsr's result while another program is stopped, and after it ended."""
        holder = subprocess.Popen([HOLD, machine.name, *where])
        self.assertTrue(os.WIFSTOPPED(os.waitpid(holder.pid, os.WUNTRACED)[1]))
        beside = machine.inside("rdmsr", "0xe08", check=False, timeout=30)
        os.kill(holder.pid, signal.SIGCONT)
        self.assertEqual(holder.wait(timeout=60), 0)
        return beside, machine.inside("rdmsr", "0xe08", check=False)

    def test_stopped_in_an_access(self):
        """It keeps the machine: reads fail after a while. Elsewhere it is in nobody's way."""
        with Machine("--clock", "machine") as machine:
            machine.inside("wrmsr", "0xe08", "7")
            beside, after = self.read_beside(machine)
            # 127: rdmsr's for an error that it does not know, here EBUSY.
            self.assertEqual(beside.returncode, 127, beside.stderr)
            self.assertIn("busy", beside.stderr)
            self.assertEqual((after.returncode, after.stdout), (0, "7\n"))
            beside, after = self.read_beside(machine, "after")
            self.assertEqual((beside.returncode, beside.stdout), (0, "7\n"))
            self.assertEqual((after.returncode, after.stdout), (0, "7\n"))

    def test_stopped_program_loses_nothing(self):
        """Wherever it is stopped, it goes on counting."""
        program = self.kernel(2000)
        with Machine() as machine:
            self.count_reads(machine)
            running = machine.start("--", program)
            wait_until(lambda: tool_of(running.pid))
            guest = tool_of(running.pid)
            wait_until(lambda: self.reads(machine) > 10000)
            for _ in range(5):
                os.kill(guest, signal.SIGSTOP)
                result = machine.inside("rdmsr", "0xe08", check=False, timeout=30)
                self.assertIn(result.returncode, (0, 127))
                self.assertEqual("busy" in result.stderr, result.returncode == 127)
                os.kill(guest, signal.SIGCONT)
                before = self.reads(machine)
                wait_until(lambda: self.reads(machine) > before)
            running.kill()
            running.wait()
            running.stderr.close()


class Failures(Guests):
    def test_folders_at_any_position(self):
        """A folder's position is whatever lseek() sets it to; SYS_getdents64 is 217."""
        script = ("import ctypes, os\n"
                  "folder = os.open('/dev/cpu', os.O_RDONLY)\n"
                  "os.lseek(folder, 1 << 40, os.SEEK_SET)\n"
                  "print(ctypes.CDLL(None).syscall(217, folder, bytes(4096), 4096))\n")
        with Machine() as machine:
            self.assertEqual(machine.inside(sys.executable, "-c", script).stdout, "0\n")
            self.assertEqual(machine.inside("ls", "/dev/cpu").stdout.split(), ["0", "1", "2", "3"])

    def ended(self, kill):
        """What is left when a process of a machine in use is killed: an attacher's message."""
        before = mounts()
        program = self.build("kernels.c", "-O2", "-nostdlib", "-ffreestanding", "-DKERNEL=load",
                             f"-DLINES={LINES}", "-DROUNDS=2000")
        with Machine() as machine:
            tool = tool_of(machine.process.pid)
            running = machine.start("--", program)
            wait_until(lambda: tool_of(running.pid))
            guest = tool_of(running.pid)
            reader = machine.start_inside(
                sys.executable, "-c", "import os\nfd = os.open('/dev/cpu/0/msr', os.O_RDWR)\n"
                "os.pread(fd, 8, 0xE08)\nprint(flush=True)\nwhile True: os.pread(fd, 8, 0xE08)",
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.assertEqual(reader.stdout.readline(), b"\n")
            kill(machine.process)
            code = machine.process.wait(timeout=20)
            message = machine.process.stderr.read()
            wait_until(lambda: not lives(tool) and not lives(guest))
            self.assertEqual(running.wait(timeout=20), 1)
            self.assertIn(b"the machine has ended", running.communicate()[1])
            # Who entered the namespace by other means gets an error, or is ended, as it comes.
            self.assertIn(reader.wait(timeout=20), [1, -signal.SIGKILL])
            reader.stdout.close()
            self.assertEqual(mounts(), before)
            result = pmulab("emulate", "--attach", machine.name, "--", "true")
            self.assertEqual(result.returncode, 2)
        return code, message

    def test_killed_command_leaves_nothing(self):
        self.assertEqual(self.ended(lambda process: process.kill())[0], -signal.SIGKILL)

    def test_killed_server_leaves_nothing(self):
        """The process that serves the files: the command ends the tool, and says what happened."""
        code, message = self.ended(
            lambda process: os.kill(server_of(process.pid), signal.SIGKILL))
        self.assertEqual(code, 1)
        self.assertIn("was ended by signal 9", message)

    def test_nothing_runs_on_without_its_machine(self):
        """What a tool leaves running has no machine any more when the tool ends."""
        result = emulate("--", "sh", "-c", "setsid sleep 1000 >&- 2>&- & echo $!; exit 3")
        self.assertEqual(result.returncode, 3)
        self.assertFalse(lives(int(result.stdout)))

    def test_descriptors(self):
        """The tool, a program and what they start find the descriptors that pmulab was given."""
        listing = ["sh", "-c", "ls /proc/$$/fd; ls /proc/self/fd"]
        with Machine() as machine:
            for result in (emulate("--", *listing), machine.attach("--", *listing),
                           machine.attach("--tool", "--", *listing),
                           pmulab("stat", "-M", SMALL, "--", *listing)):
                # 3 is the folder that ls reads.
                self.assertEqual(result.stdout.split(), ["0", "1", "2", "0", "1", "2", "3"])

    def test_clients_killed_while_they_write(self):
        script = ("import os, sys\nfd = os.open('/dev/cpu/%s/msr' % sys.argv[1], os.O_RDWR)\n"
                  "n = 0\nwhile True:\n  n += 1\n"
                  f"  os.pwrite(fd, (n % 2**48).to_bytes(8, 'little'), {CBO_CTR0})")
        with Machine() as machine:
            for round_ in range(20):
                clients = [machine.start_inside(sys.executable, "-c", script, str(cpu))
                           for cpu in range(4)]
                time.sleep(0.1 + round_ * 0.001)
                for client in clients:
                    client.kill()
                for client in clients:
                    client.wait(timeout=20)
                machine.inside("wrmsr", "-p", "0", hex(CBO_CTR0), hex(round_))
                self.assertEqual(int(machine.inside("rdmsr", hex(CBO_CTR0)).stdout, 16), round_)

    def test_no_write_is_lost(self):
        """Eight processes, 1,250 writes each, every one read back from a register of its own."""
        script = ("import os, sys\ncpu, address = int(sys.argv[1]), int(sys.argv[2])\n"
                  "fd = os.open('/dev/cpu/%d/msr' % cpu, os.O_RDWR)\n"
                  "for n in range(1, 1251):\n"
                  "  value = (n * 0x10001 + address).to_bytes(8, 'little')\n"
                  "  os.pwrite(fd, value, address)\n"
                  "  if os.pread(fd, 8, address) != value: sys.exit('lost')")
        registers = [CBO_CTR0 + CBO_STRIDE * (i // 4) + i % 4 for i in range(8)]
        with Machine() as machine:
            clients = [machine.start_inside(sys.executable, "-c", script, str(i % 4), str(address))
                       for i, address in enumerate(registers)]
            for client in clients:
                self.assertEqual(client.wait(timeout=120), 0)
            for address in registers:
                self.assertEqual(int(machine.inside("rdmsr", hex(address)).stdout, 16),
                                 1250 * 0x10001 + address)


class Lint(unittest.TestCase):
    def test_broken_rules(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            result = pmulab("lint", "-M", SMALL, "--format", "json", "-o", file.name, "--", "sh",
                            "-c", "wrmsr -p 1 0xe00 3; wrmsr -p 2 0xe00 3; wrmsr 0x12345 7")
            report = json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))
        self.assertEqual(result.returncode, 3, result.stderr)
        box_ctl, unknown = report["findings"]
        self.assertEqual(box_ctl, {
            "register": "Cn_MSR_PMON_BOX_CTL", "box": "cbo", "instance": 0, "socket": 0,
            "value": "0x3", "times": 2, "rule": box_ctl["rule"], "source": box_ctl["source"]})
        self.assertIn("reserved", box_ctl["rule"])
        self.assertIn("334291-001", box_ctl["source"])
        self.assertEqual((unknown["register"], unknown["value"], unknown["times"]),
                         ("MSR 0x12345", "0x7", 1))
        self.assertEqual((report["machine"], report["times"], report["complete"]),
                         (SMALL, 3, True))

    def test_clean(self):
        result = pmulab("lint", "-M", SMALL, "--", "sh", "-c", "wrmsr 0xe00 0x30003; rdmsr 0xe08")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("broke no rule", result.stderr)
        self.assertEqual(result.stdout, "0\n")

    def test_tool_that_fails(self):
        self.assertEqual(pmulab("lint", "-M", SMALL, "--", "false").returncode, 1)
        self.assertEqual(pmulab("lint", "-M", SMALL, "--", "no-such-tool").returncode, 127)

    def test_output_that_cannot_be_written(self):
        """The tool does not even run: its findings would be lost."""
        result = pmulab("lint", "-M", SMALL, "-o", "/nonexistent/report", "--", "echo", "ran")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("/nonexistent/report", result.stderr)

    def test_standard_output(self):
        result = pmulab("lint", "-M", SMALL, "-o", "-", "--", "true")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("broke no rule", result.stdout)

    def test_output_that_is_full(self):
        result = pmulab("lint", "-M", SMALL, "-o", "/dev/full", "--", "true")
        self.assertEqual((result.returncode, result.stderr),
                         (1, "pmulab lint: cannot write /dev/full: No space left on device\n"))
        with open("/dev/full", "w", encoding="ascii") as full:
            result = pmulab("lint", "-M", SMALL, "--", "true", capture_output=False, stderr=full)
        self.assertEqual(result.returncode, 1)

    def test_table(self):
        result = pmulab("lint", "-M", SMALL, "--", "setpci", "-s", "ff:14.0", "f4.l=0")
        self.assertEqual(result.returncode, 3)
        self.assertIn("imc0", result.stderr)
        self.assertIn("MC_CHy_PCI_PMON_BOX_CTL", result.stderr)
        self.assertIn("1 finding, 1 time\n", result.stderr)


if __name__ == "__main__":
    check_place()
    unittest.main(verbosity=2)
