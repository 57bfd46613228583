"""A chip for one check of a verdict: name, value and state."""

from enum import Enum

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QPaintEvent
from PySide6.QtWidgets import QStyle, QStyleOptionToolButton, QStylePainter, QToolButton

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import AbstentionReason
from spatialstudio.ui.theme.metrics import (
    SMALL,
    em,
    font,
)
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.text_label import plain_tip
from spatialstudio.ui.widgets.texts import tr

LEAST_EM = 6


class CheckState(Enum):
    """Result of a check; the value is its label for screen readers."""

    HELD = "held"
    BROKEN = "decided the verdict"
    NOT_CHECKED = "undecided"


ICONS = {
    CheckState.HELD: ("tick", "muted"),
    CheckState.BROKEN: ("warning", "unsure"),
    CheckState.NOT_CHECKED: ("help", "muted"),
}
"""Icon and colour; a tick appears only for performed checks."""


@frozen(kw_only=False)
class VerdictCheck:
    """One check of a verdict.

    Attributes:
        reason: The abstention reason it checks for.
        text: The check with its value.
        tip: Description of the check, in a sentence.
        state: Result of the check.
    """

    reason: AbstentionReason
    text: str
    tip: str
    state: CheckState


class CheckChip(QToolButton):
    """Shows a check; pressed while its evidence is highlighted.

    Args:
        theme: Colours and icons.
        check: The check to show.
    """

    def __init__(self, theme: Theme, check: VerdictCheck) -> None:
        super().__init__()
        self._theme = theme
        self.check = check
        is_broken = check.state is CheckState.BROKEN
        self.setProperty("kind", "reason" if is_broken else "ground")
        self.setText(check.text)
        self.setFont(font(SMALL, bold=is_broken))
        self.setCheckable(True)
        self.setIconSize(QSize(em(0.8), em(0.8)))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        state = tr(check.state.value)
        self.setAccessibleName(f"{check.text}: {state}")
        self.setToolTip(plain_tip(f"{check.tip}\n{tr('Click to highlight it on the picture.')}"))
        theme.changed.connect(self._dress)
        self._dress()

    def minimumSizeHint(self) -> QSize:
        """Return a small width, so that it fits a narrow card; the tooltip has the full text."""
        return QSize(em(LEAST_EM), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the chip, its text elided where there is too little room."""
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        if (lacking := self.sizeHint().width() - self.width()) > 0:
            room = max(self.fontMetrics().horizontalAdvance(self.text()) - lacking, 0)
            cut = Qt.TextElideMode.ElideRight
            option.text = self.fontMetrics().elidedText(self.text(), cut, room)
        QStylePainter(self).drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)

    def _dress(self) -> None:
        is_broken = self.check.state is CheckState.BROKEN
        name, role = ICONS[self.check.state]
        icon = self._theme.icon(name, role)
        if is_broken:
            pressed = self._theme.icon(name, "raised").pixmap(self.iconSize())
            icon.addPixmap(pressed, QIcon.Mode.Normal, QIcon.State.On)
        self.setIcon(icon)
