"""Location of the data files shipped with the program."""

from pathlib import Path


def resources_folder() -> Path:
    """Return the folder of shipped data: in an installed package, next to it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent / "resources"
