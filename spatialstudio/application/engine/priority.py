"""Lets the engine give way: the window answers the hand first, models take what that leaves."""

import os
import sys

NICENESS = 10
"""Added to that of the program: from there on, up to 19, a process goes last."""


def give_way() -> None:
    """Let other programs go before this process and the threads that it starts from now on.

    On a processor that is free nothing is lost.
    """
    if sys.platform == "win32":
        import ctypes

        kernel, below_normal = ctypes.windll.kernel32, 0x4000
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), below_normal)
    else:
        os.nice(NICENESS)
