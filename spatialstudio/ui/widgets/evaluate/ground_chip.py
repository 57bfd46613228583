"""One ground of a verdict as a chip: what was checked, with its number, and whether it held."""

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QToolButton

from spatialstudio.domain.verdict import AbstentionReason
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import SMALL, em, font
from spatialstudio.ui.theme.theme import Theme


class GroundState(Enum):
    """What came of a check; the value is its word for screen readers."""

    HELD = "held"
    BROKEN = "decided the verdict"


@dataclass(frozen=True, slots=True)
class Ground:
    """One check behind a verdict.

    Attributes:
        reason: The reason to abstain that was looked for.
        text: The check with its number.
        tip: What was checked, in a sentence.
        state: What came of it.
    """

    reason: AbstentionReason
    text: str
    tip: str
    state: GroundState


class GroundChip(QToolButton):
    """Shows a ground; pressed while its evidence is lit.

    Args:
        theme: The look.
        ground: What to say.
    """

    def __init__(self, theme: Theme, ground: Ground) -> None:
        super().__init__()
        self._theme = theme
        self.ground = ground
        is_broken = ground.state is GroundState.BROKEN
        self.setProperty("kind", "reason" if is_broken else "ground")
        self.setText(ground.text)
        self.setFont(font(SMALL, bold=is_broken))
        self.setCheckable(True)
        self.setIconSize(QSize(em(0.8), em(0.8)))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        state = tr(ground.state.value)
        self.setAccessibleName(f"{ground.text}: {state}")
        self.setToolTip(f"{ground.tip}\n{tr('Click to see it on the picture.')}")
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        is_broken = self.ground.state is GroundState.BROKEN
        name, role = ("warning", "unsure") if is_broken else ("tick", "muted")
        icon = self._theme.icon(name, role)
        if is_broken:
            pressed = self._theme.icon(name, "raised").pixmap(self.iconSize())
            icon.addPixmap(pressed, QIcon.Mode.Normal, QIcon.State.On)
        self.setIcon(icon)
