"""Changes many parts of a widget at once: Qt lays out the whole window for each one in sight."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtWidgets import QWidget


@contextmanager
def out_of_sight(widget: QWidget) -> Iterator[None]:
    """Take a widget out of sight while its parts are changed; nobody sees it gone."""
    was_seen = widget.isVisible()
    if was_seen:
        widget.hide()
    try:
        yield
    finally:
        if was_seen:
            widget.show()
