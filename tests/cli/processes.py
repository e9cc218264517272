"""What the tests look up of processes, and how they wait for something to happen."""
import os
import pathlib
import time


def wait_until(condition, seconds=60):
    """What the condition gives, once that is true; fails after so long. A busy host is no failure."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"it did not happen in {seconds} s"
        time.sleep(0.005)
    return result


def threads_of(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except FileNotFoundError:
        return []


def children_of(pid):
    """Of all its threads."""
    found = []
    for thread in threads_of(pid):
        try:
            text = pathlib.Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="utf-8")
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += map(int, text.split())
    return found


def lives(pid):
    """Whether it is there and has not ended, waited for or not."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.rsplit(")", 1)[1].split()[0] != "Z"
