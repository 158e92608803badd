"""How much more work a longer input takes: what the tests ask instead of how many seconds it took."""

import gc
import math
import time
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

LINEAR = 2**1.5
"""Times the work for twice the input, at most: half way from n to n², which take two and four times.

What costs n·log n takes 2.2 times; a larger input that no longer fits the processor's cache took up to 2.7.
"""
STEP = 4
"""One size is so many times the one before: linear and quadratic work are four and sixteen times as much then."""
ROUNDS = 40
"""At most: two are enough where nothing else runs, and what is truly too much work is so in all of them."""
TIMED = 1e-4
"""Seconds below which a time says more about the machine than about the work; shorter ones count as this."""


def lengthened(before: str, unit: str, after: str = "") -> Callable[[int], str]:
    """Texts of one shape and any length."""
    return lambda size: before + unit * (size // len(unit)) + after


def growth(work: Callable[[T], object], make: Callable[[int], T], most: int) -> float:
    """Times the work for twice the input, where it is worst between a sixteenth of `most` and `most`.

    Work is the CPU time of this thread. Other processes can only add to it, so the least of several rounds counts, and
    rounds go on while they could still bring the growth below `LINEAR`.
    """
    inputs = [make(most // STEP**power) for power in (2, 1, 0)]
    least = [math.inf] * len(inputs)
    worst = math.inf
    for number in range(ROUNDS):
        least = [min(known, _spent(work, value)) for known, value in zip(least, inputs, strict=True)]
        worst = max(after / before for before, after in pairwise(least)) ** (1 / math.log2(STEP))
        if number and worst <= LINEAR:
            break
    return worst


def _spent(work: Callable[[T], object], value: T) -> float:
    # A longer input sets off the collector, which walks all that earlier tests left behind: `timeit` turns it off, too.
    collects = gc.isenabled()
    gc.disable()
    try:
        began = time.thread_time()
        work(value)
        return max(time.thread_time() - began, TIMED)
    finally:
        if collects:
            gc.enable()
