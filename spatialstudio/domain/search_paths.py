"""Removal of the current folder from the search paths of modules and programs.

Python searches the current folder first when it is started with ``-m`` or ``-c``, and an empty
entry of PATH or PYTHONPATH means the current folder. A module or program in a folder of
downloaded files would then shadow a library.
"""

import os
import sys

# NOTE: Only modules that Python loads before it searches the current folder; not even __future__.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

STANDARD_LIBRARY = os.path.dirname(os.__file__)
PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder that contains the package: site-packages, or the checkout."""


def leave_out_current_folder() -> None:
    """Remove the current folder from the search paths of this process and of its children.

    If the current folder is the checkout, the package stays importable with the lowest priority.
    """
    entries = sys.path
    own = entries.index(STANDARD_LIBRARY) if STANDARD_LIBRARY in entries else len(entries)
    kept = [entry for entry in entries[:own] if not _is_current(entry)] + entries[own:]
    sys.path[:] = kept if PACKAGE_PARENT in kept else [*kept, PACKAGE_PARENT]
    set_variables(safe_variables(os.environ))


def without_current_folder(environment: "Mapping[str, str]") -> dict[str, str]:
    """Return an environment in which a child process does not search the current folder."""
    changed = {**environment, **safe_variables(environment)}
    return {name: value for name, value in changed.items() if value is not None}


def safe_variables(environment: "Mapping[str, str]") -> dict[str, str | None]:
    """Return the variables that keep a child process from searching the current folder.

    Args:
        environment: The current environment; absolute entries of PATH and LD_LIBRARY_PATH are
            kept, and all entries of PYTHONPATH except the current folder.

    Returns:
        Values by name; None removes the variable.
    """
    safe: dict[str, str | None] = {"PYTHONSAFEPATH": "1"}
    if os.name == "nt":
        safe["NODEFAULTCURRENTDIRECTORYINEXEPATH"] = "1"
    without_entries = {"PATH": None if os.name == "nt" else os.defpath, "LD_LIBRARY_PATH": None}
    for name in without_entries.keys() & environment.keys():
        kept = [entry for entry in environment[name].split(os.pathsep) if _is_absolute(entry)]
        safe[name] = os.pathsep.join(kept) or without_entries[name]
    if "PYTHONPATH" in environment:
        modules = environment["PYTHONPATH"].split(os.pathsep)
        safe["PYTHONPATH"] = os.pathsep.join(e for e in modules if not _is_current(e)) or None
    return safe


def set_variables(values: "Mapping[str, str | None]") -> dict[str, str | None]:
    """Set environment variables of this process; return the previous values. None removes one."""
    before = {name: os.environ.get(name) for name in values}
    for name, value in values.items():
        if value is not None:
            os.environ[name] = value
        elif name in os.environ:
            del os.environ[name]
    return before


def _is_absolute(entry: str) -> bool:
    return os.path.isabs(entry.strip('"'))  # Windows allows quotes


def _is_current(entry: str) -> bool:
    """Return True if an entry is relative or is the current folder."""
    if not os.path.isabs(entry):
        return True
    try:
        return os.path.samefile(entry, os.getcwd())
    except OSError:  # one of the folders does not exist
        return False
