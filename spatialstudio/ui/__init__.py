"""The window; the only package that imports Qt.

Qt for Python wraps Python's import to inspect the source of every module imported later, which only
its ``from __feature__ import`` needs. The original import is restored, so that the window opens
sooner.
"""

import builtins

import PySide6.QtCore  # noqa: F401  # wraps the import; must run first

PYTHONS_OWN = "__orig_import__"
"""Name under which Qt for Python stores the original import."""

builtins.__import__ = getattr(builtins, PYTHONS_OWN, builtins.__import__)
