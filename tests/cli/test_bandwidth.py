#!/usr/bin/env python3
"""Threads that read and write memory of their own: how long that takes is the same in each run."""
import contextlib
import json
import os
import unittest

from harness import LARGE, Guests, stat, total

CYCLES = "xeon-e5v4/core.CPU_CLK_UNHALTED.THREAD"


@contextlib.contextmanager
def processors(number):
    """So many of this computer's for what is run meanwhile; None: all."""
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_of_them)[:number])
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


class Bandwidth(Guests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.meeting = cls.build("meeting.c", "-pthread")
        cls.large_pages = cls.path / "large-pages.json"
        cls.large_pages.write_text(json.dumps({"base": LARGE, "name": "large-pages", "translation": "none",
                                               "large_pages": "transparent"}), encoding="utf-8")

    def agree(self, machine, kernel, threads, counts, prefetchers):
        """The mean of the threads' times in what the longer run does more."""
        times = []
        for number in (None, 1, None, 1, None):
            with processors(number):
                cycles = [total(stat(machine, [CYCLES], self.meeting, kernel, str(threads), str(count),
                                     options=["--prefetchers", prefetchers]), CYCLES) for count in counts]
            times.append(cycles[0] - cycles[1])
        self.assertLessEqual(max(times) - min(times), 0.02 * max(times),
                             (str(machine), kernel, prefetchers, threads, times))

    def test_runs_agree(self):
        """Each thread has so many MB of its own. Threads of this computer that run one after the other ask for
        lines in another order than those that run at once."""
        for kernel, prefetchers, threads in (("read", "none", 4), ("read", "none", 8), ("read", "all", 4),
                                             ("read", "all", 8), ("write", "none", 8), ("write", "all", 8)):
            self.agree(LARGE, kernel, threads, (14, 2), prefetchers)

    def test_runs_agree_in_large_pages(self):
        """Of arrays that exist already: which of their rows meet in a bank depends on how far threads are apart.
        Where they also walk pages, it depends on how they begin too."""
        self.agree(self.large_pages, "scan", 8, (3, 1), "all")


if __name__ == "__main__":
    unittest.main()
