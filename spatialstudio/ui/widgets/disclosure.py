"""A title that expands and collapses the content below it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import at_left, column, tool_button

LEAST_EM = 6
"""Minimum width of the title in a narrow dock."""


class Disclosure(QWidget):
    """Shows or hides its content when the title is pressed.

    Args:
        title: Text of the title.
        content: The collapsible widget.
        name: Longer accessible name; empty where the title is enough.
    """

    def __init__(self, title: str, content: QWidget, name: str = "") -> None:
        super().__init__()
        self._content = content
        self._title = tool_button(title, kind="disclosure", name=name or title)
        self._title.setMinimumWidth(em(LEAST_EM))
        self._title.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._title.setCheckable(True)
        self._title.toggled.connect(self._disclose)
        column(at_left(self._title), content, within=self, gap=0.2)
        self._disclose(False)

    @property
    def is_open(self) -> bool:
        """Whether the content is visible."""
        return self._title.isChecked()

    def show_open(self, is_open: bool) -> None:
        """Expand or collapse the content."""
        self._title.setChecked(is_open)

    def _disclose(self, shown: bool) -> None:
        self._content.setVisible(shown)
        arrow = Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow
        self._title.setArrowType(arrow)
