"""One relation's verdict: mark, outcome, explanation, checks and confidence components."""

from functools import partial

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import RelationId
from spatialstudio.domain.verdict import AbstentionReason, Verdict
from spatialstudio.ui.evaluate.widgets.check_chip import CheckChip, VerdictCheck
from spatialstudio.ui.theme.metrics import (
    LARGE,
    em,
    font,
)
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.disclosure import Disclosure
from spatialstudio.ui.widgets.flow_layout import FlowLayout
from spatialstudio.ui.widgets.outcome_mark import LOOKS, OutcomeMark
from spatialstudio.ui.widgets.roving_focus import ALONG_THE_LINE, RovingFocus
from spatialstudio.ui.widgets.text_label import (
    PlainLabel,
    TextLabel,
    Tone,
)
from spatialstudio.ui.widgets.texts import tr

BAR_EM = 0.32


@frozen(kw_only=False)
class JudgedRelation:
    """Content of a card.

    Attributes:
        relation: As text.
        verdict: The checker's answer.
        explanation: The verdict in one sentence with its values.
        run: Label of the picture: "Guided", "Baseline", "Seed 8"; empty when there is only one.
        checks: In the checker's order; the evidence of each can be highlighted.
        threshold: A suggested threshold change, such as "Lower the threshold to 0.31"; may be
            empty.
        adjusted: Description of the user's adjusted verdict; empty if there is none.
    """

    relation: str
    verdict: Verdict
    explanation: str
    run: str = ""
    checks: tuple[VerdictCheck, ...] = ()
    threshold: str = ""
    adjusted: str = ""


class ShareBar(QWidget):
    """Shows a fraction in [0, 1] as a thin bar."""

    def __init__(self, theme: Theme, share: float, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._share = share
        self.setAccessibleName(f"{name}: {share:.2f}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(em(5), em())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        height = em(BAR_EM)
        groove = QRectF(0, (self.height() - height) / 2, self.width(), height)
        painter.setBrush(self._theme.colour("line"))
        painter.drawRoundedRect(groove, height / 2, height / 2)
        groove.setWidth(groove.width() * self._share)
        painter.setBrush(self._theme.colour("muted"))
        painter.drawRoundedRect(groove, height / 2, height / 2)
        painter.end()


class VerdictNumbers(QWidget):
    """Shows the components of a confidence as bars, created when first shown."""

    def __init__(self, theme: Theme, verdict: Verdict) -> None:
        super().__init__()
        self._theme = theme
        self._verdict = verdict
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(em(0.6))
        self._grid.setVerticalSpacing(em(0.1))
        self._grid.setColumnStretch(1, 1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._grid.count():
            return
        parts, measured = self._verdict.components, self._verdict.measurement
        self._add("detection", parts.detection)
        self._add("geometry", parts.geometry)
        self._add("stability", parts.stability)
        self._add("agreement", parts.agreement)
        if measured is not None:
            self._add("PSE", measured.pse, is_part=False)

    def _add(self, name: str, share: float, *, is_part: bool = True) -> None:
        label, number = PlainLabel(name), PlainLabel(f"{share:.2f}")
        label.setIndent(em(0.6) if is_part else 0)
        for text in (label, number):
            text.setProperty("tone", "muted" if is_part else "heading")
        place = self._grid.rowCount()  # 1 for an empty grid
        self._grid.addWidget(label, place, 0)
        self._grid.addWidget(ShareBar(self._theme, share, name), place, 1)
        self._grid.addWidget(number, place, 2)


class VerdictCard(QFrame):
    """Shows one verdict and lets the user highlight its evidence; another verdict needs a new card.

    The checks are one tab stop; arrow keys move between them.

    Emits ``picked`` when the card is clicked, ``ground_picked`` with a reason to highlight, None to
    clear the highlight, and ``threshold_requested``, on user action only.

    Args:
        theme: Colours and icons.
        judged: Content of the card.
        brief: Leaves out checks and values.
    """

    picked = Signal()
    ground_picked = Signal(object)
    threshold_requested = Signal()

    def __init__(self, theme: Theme, judged: JudgedRelation, *, brief: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self._judged = judged
        self._is_brief = brief
        self._chips: tuple[CheckChip, ...] = ()
        verdict = judged.verdict
        self.setProperty("kind", "card")
        self.setAccessibleName(
            tr("{run} verdict on {relation}: {outcome}")
            .format(run=judged.run, relation=judged.relation, outcome=verdict.outcome.value)
            .strip()
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(em(0.8), em(0.7), em(0.8), em(0.8))
        column.setSpacing(em(0.45))
        column.addLayout(self._heading())
        column.addWidget(TextLabel(judged.explanation))
        if not brief:
            self._add_details(column)

    @property
    def content(self) -> tuple[JudgedRelation, bool]:
        """The content, and whether it is shown in brief."""
        return self._judged, self._is_brief

    @property
    def is_brief(self) -> bool:
        """Whether checks and values are left out."""
        return self._is_brief

    @property
    def relation_id(self) -> RelationId:
        """Id of the relation."""
        return self._judged.verdict.relation_id

    def show_lit(self, reason: AbstentionReason | None) -> None:
        """Show which check's evidence is highlighted; None for none."""
        for chip in self._chips:
            with QSignalBlocker(chip):
                chip.setChecked(chip.check.reason is reason)

    def show_picked(self, picked: bool) -> None:
        """Show whether this relation is selected."""
        kind = "picked" if picked else "card"
        if self.property("kind") != kind:
            self.setProperty("kind", kind)
            self.style().unpolish(self)
            self.style().polish(self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.picked.emit()
        super().mousePressEvent(event)

    def _add_details(self, column: QVBoxLayout) -> None:
        judged = self._judged
        if judged.threshold:
            button = QPushButton(judged.threshold)
            button.clicked.connect(self._request_threshold)
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        if judged.checks:
            column.addWidget(self._check_chips())
        if judged.adjusted:
            column.addWidget(TextLabel(judged.adjusted, Tone.MUTED))
        confidence = tr("Confidence {share}").format(share=f"{judged.verdict.confidence:.2f}")
        column.addWidget(Disclosure(confidence, VerdictNumbers(self._theme, judged.verdict)))

    def _check_chips(self) -> QWidget:
        self._chips = tuple(CheckChip(self._theme, check) for check in self._judged.checks)
        chips = QWidget()
        lines = FlowLayout(em(0.3))
        chips.setLayout(lines)
        for chip in self._chips:
            reason = chip.check.reason
            chip.toggled.connect(partial(self._pick_ground, reason))
            lines.addWidget(chip)
        RovingFocus(chips, ALONG_THE_LINE).lead(self._chips)
        return chips

    def _request_threshold(self) -> None:
        self.picked.emit()
        self.threshold_requested.emit()

    def _pick_ground(self, reason: AbstentionReason, lit: bool) -> None:
        self.picked.emit()
        self.ground_picked.emit(reason if lit else None)

    def _heading(self) -> QHBoxLayout:
        words = QVBoxLayout()
        words.setSpacing(0)
        outcome = self._judged.verdict.outcome
        word = PlainLabel(outcome.value)
        word.setFont(font(LARGE, bold=True))
        word.setProperty("tone", LOOKS[outcome].role)
        words.addWidget(word)
        about = (
            f"{self._judged.run}: {self._judged.relation}"
            if self._judged.run
            else self._judged.relation
        )
        words.addWidget(TextLabel(about, Tone.MUTED))
        row = QHBoxLayout()
        row.setSpacing(em(0.6))
        row.addWidget(OutcomeMark(self._theme, outcome), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        return row
