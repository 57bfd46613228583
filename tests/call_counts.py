"""Counts function calls: a measure of work that is the same on a busy machine."""

import sys


def calls_of(work):
    """Return how many functions are called while ``work`` runs, those written in C included."""
    count = 0

    def observe(frame, event, argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(observe)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
