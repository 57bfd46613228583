"""A verdict on one relation as a card with its checks, or as a small tile."""

from collections.abc import Iterator
from enum import Enum
from functools import partial

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFont, QIcon, QMouseEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QStyle,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import RelationId
from spatialstudio.domain.verdict import AbstentionReason, Outcome, Verdict
from spatialstudio.ui.theme.theme import (
    LARGE,
    SMALL,
    Theme,
    em,
    font,
    restyle,
)
from spatialstudio.ui.widgets.builders import (
    SPACE,
    Part,
    at_left,
    at_top,
    column,
    flow,
    grid,
    grow,
    push_button,
    row,
)
from spatialstudio.ui.widgets.disclosure import Disclosure
from spatialstudio.ui.widgets.outcome_mark import LOOKS, OutcomeMark
from spatialstudio.ui.widgets.painting import PaintedWidget, draw_rounded
from spatialstudio.ui.widgets.roving_focus import ALONG_THE_LINE, RovingFocus
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    TextLabel,
    Tone,
    plain_tip,
    tr,
)

LEAST_EM = 6


class CheckState(Enum):
    """Result of a check; the value is its label for screen readers."""

    HELD = "held"
    BROKEN = "decided the verdict"
    FAILED = "failed"
    NOT_CHECKED = "undecided"


ICONS = {
    CheckState.HELD: ("tick", "muted"),
    CheckState.BROKEN: ("warning", "unsure"),
    CheckState.FAILED: ("close", "bad"),
    CheckState.NOT_CHECKED: ("help", "muted"),
}
"""Icon and colour; a tick appears only for criteria that are met."""
KINDS = {CheckState.BROKEN: "reason", CheckState.FAILED: "failed"}
"""Style of the checks that decided the verdict."""


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
        self.setProperty("kind", KINDS.get(check.state, "ground"))
        self.setText(check.text)
        self.setFont(font(SMALL, bold=check.state in KINDS))
        self.setCheckable(True)
        self.setIconSize(QSize(em(0.8), em(0.8)))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        state = tr(check.state.value)
        self.setAccessibleName(f"{check.text}: {state}")
        action = tr("Click to highlight the evidence in the picture.")
        self.setToolTip(plain_tip(f"{check.text}\n{check.tip}\n{action}"))
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
        name, role = ICONS[self.check.state]
        icon = self._theme.icon(name, role)
        if self.check.state in KINDS:
            pressed = self._theme.icon(name, "raised").pixmap(self.iconSize())
            icon.addPixmap(pressed, QIcon.Mode.Normal, QIcon.State.On)
        self.setIcon(icon)


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


class ShareBar(PaintedWidget):
    """Shows a fraction in [0, 1] as a thin bar."""

    def __init__(self, theme: Theme, share: float, name: str) -> None:
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        super().__init__(theme, accessibleName=f"{name}: {share:.2f}", sizePolicy=policy)
        self._share = share

    def sizeHint(self) -> QSize:
        return QSize(em(5), em())

    def draw(self, painter: QPainter) -> None:
        """Draw the groove and the filled part."""
        height = em(BAR_EM)
        groove = QRectF(0, (self.height() - height) / 2, self.width(), height)
        draw_rounded(painter, groove, self._theme.colour("line"))
        groove.setWidth(groove.width() * self._share)
        draw_rounded(painter, groove, self._theme.colour("muted"))


class VerdictNumbers(QWidget):
    """Shows the components of a confidence as bars, created when first shown."""

    def __init__(self, theme: Theme, verdict: Verdict) -> None:
        super().__init__()
        self._theme = theme
        self._verdict = verdict
        self._grid = grid(self, (0.6, 0.1))

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

    Attributes:
        is_brief: Whether checks and values are left out.
    """

    picked = Signal()
    ground_picked = Signal(object)
    threshold_requested = Signal()

    def __init__(self, theme: Theme, judged: JudgedRelation, *, brief: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self._judged = judged
        self.is_brief = brief
        self._chips: tuple[CheckChip, ...] = ()
        verdict = judged.verdict
        self.setProperty("kind", "card")
        self.setAccessibleName(
            tr("{run} verdict on {relation}: {outcome}")
            .format(run=judged.run, relation=judged.relation, outcome=verdict.outcome.value)
            .strip()
        )
        column(
            *(self._heading(), TextLabel(judged.explanation)),
            *(() if brief else self._details()),
            within=self,
            gap=0.45,
            edges=(0.8, 0.7, 0.8, 0.8),
        )

    @property
    def content(self) -> tuple[JudgedRelation, bool]:
        """The content, and whether it is shown in brief."""
        return self._judged, self.is_brief

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
        restyle(self, "kind", "picked" if picked else "card")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.picked.emit()
        super().mousePressEvent(event)

    def _details(self) -> Iterator[Part]:
        judged = self._judged
        if judged.threshold:
            yield at_left(push_button(judged.threshold, self._request_threshold))
        if judged.checks:
            yield self._check_chips()
        if judged.adjusted:
            yield TextLabel(judged.adjusted, Tone.MUTED)
        confidence = tr("Confidence {share}").format(share=f"{judged.verdict.confidence:.2f}")
        yield Disclosure(confidence, VerdictNumbers(self._theme, judged.verdict))

    def _check_chips(self) -> QWidget:
        self._chips = tuple(CheckChip(self._theme, check) for check in self._judged.checks)
        for chip in self._chips:
            chip.toggled.connect(partial(self._pick_ground, chip.check.reason))
        chips = flow(*self._chips, gap=0.3)
        RovingFocus(chips, ALONG_THE_LINE).lead(self._chips)
        return chips

    def _request_threshold(self) -> None:
        self.picked.emit()
        self.threshold_requested.emit()

    def _pick_ground(self, reason: AbstentionReason, lit: bool) -> None:
        self.picked.emit()
        self.ground_picked.emit(reason if lit else None)

    def _heading(self) -> QHBoxLayout:
        about = ": ".join(filter(None, (self._judged.run, self._judged.relation)))
        label, outcome = TextLabel(about, Tone.MUTED), self._judged.verdict.outcome
        return outcome_heading(self._theme, outcome, font(LARGE, bold=True), label, gap=0.6)


@frozen(kw_only=False)
class BriefVerdict:
    """Content of a tile.

    Attributes:
        title: Origin of the verdict.
        outcome: The outcome.
        remark: A short additional note.
        is_new: Whether it differs from the verdict it is compared with.
    """

    title: str
    outcome: Outcome
    remark: str
    is_new: bool = False


class VerdictTile(QFrame):
    """Shows one verdict; another verdict needs a new tile. Emits nothing.

    Args:
        theme: Colours and icons.
        brief: Content of the tile.
    """

    def __init__(self, theme: Theme, brief: BriefVerdict) -> None:
        super().__init__()
        self.setProperty("kind", "picked" if brief.is_new else "card")
        self.setAccessibleName(f"{brief.title}: {brief.outcome.value}, {brief.remark}")
        title = TextLabel(brief.title, Tone.MUTED, small=True)
        remark = TextLabel(brief.remark, Tone.MUTED, small=True)
        said = outcome_heading(theme, brief.outcome, font(bold=True), remark, gap=0.4)
        column(title, said, SPACE, within=self, gap=0.15, edges=(0.5, 0.35, 0.5, 0.45))


def outcome_heading(
    theme: Theme, outcome: Outcome, letters: QFont, below: QWidget, gap: float
) -> QHBoxLayout:
    """Return the mark and the word of an outcome, with a label below the word."""
    word = PlainLabel(outcome.value)
    word.setFont(letters)
    word.setProperty("tone", LOOKS[outcome].role)
    words = column(word, below, gap=0)
    return row(at_top(OutcomeMark(theme, outcome)), grow(words), gap=gap)
