"""Finds the data that is shipped with the program; every layer asks here."""

from pathlib import Path


def resources_folder() -> Path:
    """Return the shipped data: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent / "resources"
