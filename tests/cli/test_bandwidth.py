#!/usr/bin/env python3
"""Threads that read and write memory of their own: how long that takes is the same in each run."""
import contextlib
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

    def test_runs_agree(self):
        """The mean of the threads' times in the longer run only; each has so many MB of its own. Threads of this
        computer that run one after the other ask for lines in another order than those that run at once."""
        for kernel, prefetchers, threads in (("read", "none", 4), ("read", "none", 8), ("read", "all", 4),
                                             ("read", "all", 8), ("write", "none", 8), ("write", "all", 8)):
            times = []
            for number in (None, 1, None, 1, None):
                with processors(number):
                    cycles = [total(stat(LARGE, [CYCLES], self.meeting, kernel, str(threads), str(size),
                                         options=["--prefetchers", prefetchers]), CYCLES)
                              for size in (14, 2)]
                times.append(cycles[0] - cycles[1])
            self.assertLessEqual(max(times) - min(times), 0.02 * max(times),
                                 (kernel, prefetchers, threads, times))


if __name__ == "__main__":
    unittest.main()
