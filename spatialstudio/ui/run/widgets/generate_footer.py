"""The footer of the settings: estimate, Generate with its variants, Cancel."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.builders import (
    ThemedIcon,
    column,
    grow,
    push_button,
    row,
    space,
    tool_button,
)
from spatialstudio.ui.widgets.texts import (
    TextLabel,
    Tone,
    plain_tip,
    tr,
)


class FixedWidthButton(QPushButton):
    """Shows one of several texts at the width of the widest.

    Args:
        texts: All texts it may show, starting with the first.
    """

    def __init__(self, *texts: str) -> None:
        super().__init__(texts[0])
        self._texts = texts

    def sizeHint(self) -> QSize:
        advance = self.fontMetrics().horizontalAdvance
        room = max(map(advance, self._texts)) - advance(self.text())
        return super().sizeHint() + QSize(max(room, 0), 0)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class GenerateFooter(QWidget):
    """Shows the estimate of a run, and starts or stops it.

    Emits ``generate_picked``, ``cancel_picked`` and ``offer_picked`` on user action only.

    Args:
        theme: Colours and icons.
        variants: Other ways to generate, in a menu next to the button.
    """

    generate_picked = Signal()
    cancel_picked = Signal()
    offer_picked = Signal()

    def __init__(self, theme: Theme, variants: tuple[QAction, ...]) -> None:
        super().__init__()
        self._estimate = TextLabel(tone=Tone.MUTED, small=True)
        self._estimate.setToolTip(
            tr("Total time, largest memory and guidance of the pictures to generate")
        )
        self._estimate.setAccessibleName(tr("Estimate"))
        self._offer = push_button("", self.offer_picked, kind="quiet")
        self._generate = FixedWidthButton(tr("Generate"), tr("Add to queue"))
        self._generate.setProperty("kind", "primary")
        self._generate.clicked.connect(self.generate_picked)
        name = tr("More ways to generate")
        more = tool_button(name=name, tip=name, icon_em=0.9)
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(more)
        menu.addActions(variants)
        more.setMenu(menu)
        ThemedIcon(more, theme, "chevron-neutral")
        self._cancel = FixedWidthButton(tr("Cancel"), tr("Cancelling…"))
        self._cancel.clicked.connect(self.cancel_picked)
        buttons = row(grow(self._generate), more, space(0.2), self._cancel, gap=0.3)
        edges = (0.9, 0.5, 0.9, 0.8)
        column(self._estimate, self._offer, buttons, within=self, gap=0.45, edges=edges)
        self.show_estimate("")
        self.show_running(False)

    def show_tips(self, generate: str, cancel: str) -> None:
        """Set the tooltips of both buttons, with their shortcuts."""
        self._generate.setToolTip(plain_tip(generate))
        self._cancel.setToolTip(plain_tip(cancel))

    def show_estimate(self, text: str, offer: str = "") -> None:
        """Show the estimate of the run, with an offer to reduce a high cost."""
        self._estimate.show_text(text)
        self._offer.setText(offer)
        self._offer.setVisible(bool(offer))

    def show_running(self, running: bool) -> None:
        """Show whether a run can be cancelled, and that pictures can be queued behind it."""
        self._cancel.setEnabled(running)
        self._cancel.setText(tr("Cancel"))
        self._generate.setText(tr("Add to queue") if running else tr("Generate"))

    def show_cancelling(self) -> None:
        """Show that cancelling is in progress."""
        self._cancel.setText(tr("Cancelling…"))
