"""Something that is shown when it is asked for: a line to press, and content under it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from spatialstudio.ui.theme.metrics import em

LEAST_EM = 6
"""Of the title, where a dock is too narrow for its words."""


class Disclosure(QWidget):
    """Shows content under its title, once the title is pressed.

    Args:
        title: On the line.
        content: Under it.
        name: Says more than the title to screen readers; empty where the title is enough.
    """

    def __init__(self, title: str, content: QWidget, name: str = "") -> None:
        super().__init__()
        self._content = content
        self._title = QToolButton()
        self._title.setText(title)
        self._title.setMinimumWidth(em(LEAST_EM))
        self._title.setAccessibleName(name or title)
        self._title.setProperty("kind", "disclosure")
        self._title.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._title.setCheckable(True)
        self._title.toggled.connect(self._disclose)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.2))
        column.addWidget(self._title, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(content)
        self._disclose(False)

    @property
    def is_open(self) -> bool:
        """Whether the content is in sight."""
        return self._title.isChecked()

    def show_open(self, is_open: bool) -> None:
        """Show the content, or the title alone."""
        self._title.setChecked(is_open)

    def _disclose(self, shown: bool) -> None:
        self._content.setVisible(shown)
        arrow = Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow
        self._title.setArrowType(arrow)
