"""Whether a run that was disturbed ended as it must."""
import errno
import os
import re
import signal

MESSAGE = re.compile(r"^pmulab( [a-z]+)?: ")
# What the kernel's loader of programs and the emulator say, where even they do not get far.
OTHERS = re.compile(r"error while loading shared libraries|^qemu|^/usr/bin/qemu|^libgcc_s|"
                    r"^mmap( stack)?: |GLib-ERROR")
# Tools may say why before they end.
REMARK = re.compile(r"^pmulab( [a-z]+)?: (warning: |--force takes them)|^libnuma: |"
                    r"^/dev/cpu/0/msr: ")

# What is not there, or there already, can be the user's mistake: exit code 2 is right.
ABSENT = ("ENOENT", "EEXIST", "EADDRINUSE", "ECONNREFUSED")


def form(line):
    """A line of a report without its numbers, which differ from run to run."""
    return re.sub(r"[0-9][0-9.,]*", "N", line)


class Outcome:
    """Of one run, from what inject wrote and what the run printed."""

    def __init__(self, result, stdout, stderr, report):
        fields = [line.split(" ", 1) for line in result.splitlines()]
        values = dict(fields)
        self.status = int(values["exit"]) if "exit" in values else None
        self.signal = int(values["signal"]) if "signal" in values else None
        self.times = int(values.get("times", 0))
        self.lost = [f"{key}: {value}" for key, value in fields
                     if key in ("hung", "left", "unkillable")]
        self.stdout, self.report = stdout, report
        self.messages = [line for line in stderr.splitlines() if line.strip()]
        self.forms = {form(line) for line in self.messages}

    def __repr__(self):
        end = f"exit {self.status}" if self.signal is None else f"signal {self.signal}"
        return f"{end}, {self.messages}"


def own_messages(outcome, reference):
    """Lines that an undisturbed run has not, less remarks."""
    return [line for line in outcome.messages
            if form(line) not in reference.forms and not REMARK.match(line)]


def judge_failure(outcome, reference, error, silent):
    """After one call failed: done as if nothing had been, or one message and exit code 1.

    silent: what failed was the writing of the message itself."""
    found = list(outcome.lost)
    messages = own_messages(outcome, reference)
    found += [f"no message of ours: {line}" for line in messages if not MESSAGE.match(line)]
    if outcome.signal is not None:
        return [*found, f"ended by {signal.Signals(outcome.signal).name}"]
    if outcome.status == reference.status:
        if outcome.report != reference.report or outcome.stdout != reference.stdout:
            found.append("exit code as if done, with another report")
        if messages and not outcome.status:
            found.append(f"done, and yet: {messages}")
        return found
    absent = outcome.status == 2 and error in ABSENT
    if outcome.status not in (1, 126, 127) and not absent:
        found.append(f"exit code {outcome.status}, not 1")
    if len(messages) != 1 and not silent:
        found.append(f"{len(messages)} messages, not 1: {messages}")
    for line in messages:
        names = [n for n in errno.errorcode.values() if os.strerror(getattr(errno, n)) in line]
        # What a server could not do reaches its clients as the end of the connection.
        if names and not {error, "ECONNABORTED", "ENOTCONN"} & set(names) and len(messages) == 1:
            found.append(f"the message says {names[0]}, the call said {error}: {line}")
    return found


def judge_kill(outcome, reference, number):
    """After a signal: gone by it, or done before it came."""
    found = list(outcome.lost)
    found += [f"no message of ours: {line}" for line in own_messages(outcome, reference)
              if not MESSAGE.match(line)]
    if outcome.signal is not None:
        if outcome.signal != number:
            found.append(f"ended by signal {outcome.signal}, not {number}")
        return found
    if outcome.status == reference.status:
        if outcome.report != reference.report:
            found.append("exit code as if done, with another report")
    elif outcome.status not in (1, 128 + number):
        found.append(f"exit code {outcome.status}, neither 1 nor {128 + number}")
    return found


def judge_lack(outcome, reference, may_die):
    """Of descriptors, memory and the like: done all the same, or a message, whoever's."""
    found = list(outcome.lost)
    if outcome.signal is not None:
        if outcome.signal not in may_die:
            found.append(f"ended by {signal.Signals(outcome.signal).name}")
        return found
    messages = own_messages(outcome, reference)
    ours = [line for line in messages if MESSAGE.match(line)]
    others = [line for line in messages if OTHERS.search(line)]
    found += [f"neither ours nor the loader's: {line}" for line in messages
              if line not in ours and line not in others]
    if outcome.status == reference.status:
        if outcome.report != reference.report or outcome.stdout != reference.stdout:
            found.append("exit code as if done, with another report")
        if messages and not outcome.status:
            found.append(f"done, and yet: {messages}")
        return found
    died = re.search("ended by signal ([0-9]+) before it began", " ".join(ours))
    if outcome.status not in (1, 126, 127) and not (died and outcome.status == 128 + int(died[1])):
        found.append(f"exit code {outcome.status}")
    if len(ours) != 1 and not others:
        found.append(f"{len(ours)} messages, not 1: {messages}")
    return found


def judge_closed(outcome, reference, descriptors, speaks_on):
    """Without standard input, output or error everything is done as with them, less what it says."""
    found = list(outcome.lost)
    if outcome.signal is not None:
        return [*found, f"ended by {signal.Signals(outcome.signal).name}"]
    if outcome.report != reference.report:
        found.append(f"another report: {outcome.report}")
    # What cannot be written is a failure.
    expected = 1 if speaks_on in descriptors else reference.status
    if outcome.status != expected:
        found.append(f"exit code {outcome.status}, not {expected}")
    if speaks_on not in descriptors and 2 not in descriptors:
        found += [f"says: {line}" for line in own_messages(outcome, reference)]
    return found
