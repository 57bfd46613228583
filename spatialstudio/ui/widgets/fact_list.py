"""A list of names and values, one per line."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from spatialstudio.ui.widgets.builders import grid
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone


@contextmanager
def hidden_label(widget: QWidget) -> Iterator[None]:
    """Hide a widget while its parts change, without a visible flicker."""
    was_seen = widget.isVisible()
    if was_seen:
        widget.hide()
    try:
        yield
    finally:
        if was_seen:
            widget.show()


class FactList(QWidget):
    """Shows facts; the values can be selected and copied."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = grid(self, (0.8, 0.2))
        self._facts: tuple[tuple[str, str], ...] = ()
        self._lines: list[tuple[QLabel, TextLabel]] = []

    def show_facts(self, facts: tuple[tuple[str, str], ...]) -> None:
        """Show these names and values in order; existing lines are reused."""
        if facts == self._facts:
            return
        self._facts = facts
        with hidden_label(self):
            while len(self._lines) < len(facts):
                self._add_line()
            for place, line in enumerate(self._lines):
                is_used = place < len(facts)
                for label, text in zip(line, facts[place] if is_used else ("", ""), strict=True):
                    label.setText(text)
                    label.setVisible(is_used)

    def _add_line(self) -> None:
        name, value = PlainLabel(tone=Tone.MUTED), TextLabel()
        self._grid.addWidget(name, len(self._lines), 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, len(self._lines), 1)
        self._lines.append((name, value))
