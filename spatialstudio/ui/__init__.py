"""The window. Qt lives here only.

Qt for Python would read the source of every module that is imported after it, to see which of them
speak of Qt; only its own ``from __feature__ import`` needs that. Python's import is put back, so
that the window opens sooner.
"""

import builtins

import PySide6.QtCore  # noqa: F401  # it must have put itself before Python's import by now

PYTHONS_OWN = "__orig_import__"
"""Where Qt for Python leaves the import that it stands before."""

builtins.__import__ = getattr(builtins, PYTHONS_OWN, builtins.__import__)
