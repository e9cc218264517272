#!/usr/bin/env python3
"""Disturbs a command wherever it can be disturbed, and looks at what it leaves.

usage: faults.py calls|kills|signals|descriptors|limits SCENE [--all] [--only CALL:SITE]
                 [--seed N]

calls: each system call that our own code makes fails once, by call site; with --all by each error
that it can give, at the first and the last time that the site is passed.
kills: as each of these calls is made, SIGKILL or SIGTERM comes; with --all each signal that ends a
program, to the process that makes the call and to the command.
signals: each of the 64 comes to the command while the program runs.
descriptors: standard input, output and error are closed, in each combination.
limits: of descriptors, memory, file size, stack and processes, in steps.

With --seed call sites come in another order, and fail at any time that they are passed.
"""
import argparse
import itertools
import os
import pathlib
import random
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from judge import Outcome, judge_closed, judge_failure, judge_kill, judge_lack
from scenes import PMULAB, SCENES

INJECT = os.environ["INJECT"]
ENDING = ("HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
          "PIPE", "ALRM", "TERM", "XCPU", "XFSZ", "VTALRM", "PROF", "IO", "PWR", "SYS")


# Nobody's number, nor that of another scene, whose processes would count too.
USER = 0x1000000 + int(os.environ.get("FAULTS_APART", 0))
FAILURES_MAX = 20  # a run that finds so many need not go on


class TooMany(Exception):
    pass


class Site:
    def __init__(self, line):
        name, self.program, argument, times, errors, *frames = line.split()
        self.name, self.call = name, name.split(":")[0]
        self.argument, self.times = int(argument), int(times)
        self.errors, self.frames = errors.split(","), frames
        self.talks = self.call in ("write", "writev") and self.argument in (1, 2)

    def where(self):
        """The innermost functions of ours."""
        modules = {}
        for frame in self.frames:
            module, offset = frame.split("+")
            modules.setdefault(module, []).append(offset)
        names = []
        for path in map(pathlib.Path, self.modules):
            if path.name in modules:
                lines = subprocess.run(["addr2line", "-fe", path, *modules[path.name]],
                                       capture_output=True, text=True, check=False).stdout
                names += lines.splitlines()[::2]
        return " < ".join(names[:6])


class Runner:
    def __init__(self, scene, everything, seed):
        self.scene, self.everything = scene, everything
        self.random = random.Random(seed) if seed is not None else None
        self.failed = self.done = 0

    def run(self, *options, argv=None):
        scene, result = self.scene, self.scene.path / "result"
        scene.before()
        own = [word for module in scene.modules for word in ("--own", os.path.realpath(module))]
        hold = ["--hold", scene.hardware_program] if scene.hardware_program else []
        command = [INJECT, *own, *hold, "--seconds", str(scene.seconds), "--result", str(result), *options,
                   "--", *(argv or scene.argv)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=scene.seconds + 30, check=False,
                              cwd=scene.path)
        if done.returncode:
            sys.exit(f"inject: {done.returncode}: {done.stderr}")
        return Outcome(result.read_text(encoding="utf-8"), done.stdout, done.stderr, scene.report())

    def look(self):
        """The undisturbed run: what it says, and the call sites that it passes."""
        path = self.scene.path / "sites"
        self.reference = self.run("--list", str(path))
        if self.reference.lost or self.scene.changed():
            sys.exit(f"undisturbed: {self.reference} {self.reference.lost} {self.scene.changed()}")
        Site.modules = self.scene.modules
        self.sites = [Site(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if self.random:
            self.random.shuffle(self.sites)

    def times(self, site):
        """Which of the times that a site is passed are tried."""
        if self.random:
            return [self.random.randint(1, site.times)]
        return sorted({1, site.times} if self.everything else {1})

    def tell(self, options, outcome, found, site=None):
        self.done += 1
        if not found:
            return
        self.failed += 1
        where = f"  ({site.program}: {site.where()})" if site else ""
        print(f"FAILED {' '.join(options)}{where}")
        print(f"    {outcome}")
        for line in found:
            print(f"    {line}")
        sys.stdout.flush()
        if self.failed == FAILURES_MAX and not self.everything:
            raise TooMany

    def fail(self, site, error, nth):
        options = ["--at", site.name, "--nth", str(nth), "--error", error]
        outcome = self.run(*options)
        found = judge_failure(outcome, self.reference, error, site.talks)
        changed = [line for line in self.scene.changed()
                   if not (line.startswith("journals") and "journal" in str(outcome.messages))]
        self.tell(options, outcome, found + changed, site)

    def kill(self, site, name, to_main):
        number = int(getattr(signal, "SIG" + name))
        nth = self.times(site)[0]
        options = ["--at", site.name, "--nth", str(nth), "--signal", str(number),
                   *(["--main"] if to_main else [])]
        outcome = self.run(*options)
        found = judge_kill(outcome, self.reference, number)
        if name == "KILL":
            self.scene.recover()
        self.tell(options, outcome, found + self.scene.changed(), site)

    def signal(self, number):
        options = ["--on-exec", self.scene.program, "--signal", str(number)]
        outcome = self.run(*options)
        found = judge_kill(outcome, self.reference, number)
        if outcome.times < 1:
            found.append("the signal was not sent")
        if number == signal.SIGKILL:
            self.scene.recover()
        self.tell(options, outcome, found + self.scene.changed())

    def lack(self, *options, may_die=()):
        """Something is missing from the beginning; so much perhaps that no program starts."""
        outcome = self.run(*options)
        found = judge_lack(outcome, self.reference, may_die)
        if outcome.status:
            self.scene.recover()
        if found and self.run(*options, argv=[PMULAB, "--version"]).status != 0:
            found = outcome.lost
        self.tell(options, outcome, found + self.scene.changed())

    def close(self, descriptors):
        options = [word for fd in descriptors for word in ("--close", str(fd))]
        outcome = self.run(*options)
        found = judge_closed(outcome, self.reference, descriptors, self.scene.speaks_on)
        self.tell(options, outcome, found + self.scene.changed())

    def close_inside(self, descriptors):
        self.scene.close_inside(descriptors)
        outcome = self.run()
        found = judge_closed(outcome, self.reference, descriptors, self.scene.speaks_on)
        self.tell(["closed inside:", *map(str, descriptors)], outcome, found + self.scene.changed())


def calls(runner, everything):
    for site in runner.sites:
        for error in site.errors if everything else site.errors[:1]:
            for nth in runner.times(site):
                runner.fail(site, error, nth)


def kills(runner, everything):
    for site in runner.sites:
        for name in ENDING if everything else ("KILL", "TERM"):
            for to_main in (True, False) if everything else (False,):
                runner.kill(site, name, to_main)


def signals(runner, everything):
    del everything
    for number in range(1, 65):
        runner.signal(number)


def descriptors(runner, everything):
    del everything
    for count in range(4):
        for closed in itertools.combinations(range(3), count):
            runner.close(closed)
            if hasattr(runner.scene, "close_inside"):
                runner.close_inside(closed)
                runner.scene.close_inside(())


def steps(first, last, everything):
    """Each half as much again as the one before; by hand in far smaller steps."""
    value = first
    while value < last:
        yield value
        value += max(4096, value // (32 if everything else 2) & ~4095)


def limits(runner, everything):
    for number in range(21):
        runner.lack("--limit", f"nofile={number}")
    for resource in ("as", "data"):
        for size in steps(1 << 20, 1 << 29, everything):
            runner.lack("--limit", f"{resource}={size}")
    for size in (0, 1, 100, 4096, 0x3800, 0x7008, 0x7020, 0x8000):
        runner.lack("--limit", f"fsize={size}")
    # Nobody can say anything without a stack; registers are none the worse for it.
    for size in steps(4096, 1 << 22, everything):
        runner.lack("--limit", f"stack={size}", may_die=(signal.SIGSEGV, signal.SIGKILL))
    if runner.scene.plain:
        limit_processes(runner)


def limit_processes(runner):
    """Root has no such limit, so that the command is another user's: one that has no others."""
    user = ["--user", str(USER)]
    runner.scene.give_to(USER)
    if runner.run(*user, argv=[PMULAB, "--version"]).status != 0:
        print(f"user {USER} may not execute {PMULAB}: limits of processes are not tried")
        return
    runner.reference = runner.run(*user)
    for number in range(13):
        runner.lack("--limit", f"nproc={number}", *user)
    journals = list((runner.scene.path / "runtime" / "pmulab").glob("*"))
    if journals:
        runner.tell(user, runner.reference, [f"journals left: {journals}"])


KINDS = {"calls": calls, "kills": kills, "signals": signals, "descriptors": descriptors,
         "limits": limits}


def set_apart():
    """Namespaces of its own: what is left there is of this run, and goes with it."""
    if os.geteuid() != 0:
        print("needs root: namespaces of its own, device files")
        sys.exit(77)
    os.environ["FAULTS_APART"] = str(os.getpid())
    # The checkout stays where it is, also in /tmp.
    script = "mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /run && mkdir /run/tmp && " \
             "mount --bind /tmp /run/tmp && mount -t tmpfs tmpfs /tmp && " \
             'case $CHECKOUT in /tmp/*) mkdir -p "$CHECKOUT" && ' \
             'mount --bind "/run$CHECKOUT" "$CHECKOUT";; esac && ' \
             'umount /run/tmp && rmdir /run/tmp && exec "$@"'
    os.environ["CHECKOUT"] = str(pathlib.Path(__file__).resolve().parents[2])
    os.execvp("unshare", ["unshare", "--mount", "--net", "--ipc", "--pid", "--fork", "--mount-proc",
                          "--kill-child", "sh", "-c", script, "sh", sys.executable, __file__,
                          *sys.argv[1:]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("scene", choices=SCENES)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    if "FAULTS_APART" not in os.environ:
        set_apart()
    scene = SCENES[arguments.scene]()
    if arguments.kind == "signals":
        scene.linger()
    try:
        runner = Runner(scene, arguments.all, arguments.seed)
        runner.look()
        runner.sites = [s for s in runner.sites if s.name.startswith(arguments.only)]
        KINDS[arguments.kind](runner, arguments.all)
    except TooMany:
        print("too many failures: the rest is not run")
    finally:
        scene.close()
    print(f"{len(runner.sites)} call sites, {runner.done} cases, {runner.failed} failed")
    return 1 if runner.failed or not runner.done else 0


if __name__ == "__main__":
    sys.exit(main())
