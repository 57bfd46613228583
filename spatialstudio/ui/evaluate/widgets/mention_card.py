"""A verdict on a count or colour as a card, and the DA-score with its assertions."""

from collections.abc import Iterator

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QShowEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from spatialstudio.domain.assertion import DaScore, YesNoChances
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Instance, MentionVerdict
from spatialstudio.ui.evaluate.widgets.verdict_card import ShareBar, outcome_heading
from spatialstudio.ui.theme.theme import LARGE, Theme, em, font, restyle
from spatialstudio.ui.widgets.builders import (
    Part,
    at_left,
    column,
    flow,
    grid,
    tool_button,
)
from spatialstudio.ui.widgets.painting import PaintedWidget, draw_rounded
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone, plain_tip, tr

SWATCH_EM = 1.1


@frozen(kw_only=False)
class JudgedMention:
    """Content of a card.

    Attributes:
        about: The object and its requirement: "bird: count, three".
        verdict: The checker's answer.
        explanation: The verdict in sentences with its values.
        run: Label of the picture: "Guided", "Baseline"; empty when there is only one.
    """

    about: str
    verdict: MentionVerdict
    explanation: str
    run: str = ""


class Swatch(PaintedWidget):
    """Shows the measured colour of an instance."""

    def __init__(self, theme: Theme, instance: Instance) -> None:
        term = instance.colours[0].term if instance.colours else ""
        policy = QSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        name = tr("measured colour: {term}").format(term=tr(term))
        super().__init__(theme, accessibleName=name, toolTip=name, sizePolicy=policy)
        self._rgb = instance.rgb or (0, 0, 0)

    def sizeHint(self) -> QSize:
        return QSize(em(SWATCH_EM), em(SWATCH_EM))

    def draw(self, painter: QPainter) -> None:
        """Draw the colour with an outline."""
        area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        outline = QPen(self._theme.colour("line"), 1)
        draw_rounded(painter, area, QColor(*self._rgb), outline)


class MentionCard(QFrame):
    """Shows one verdict on a count or colour; another verdict needs a new card.

    Emits ``evidence_picked`` with the verdict to highlight its instances, None to clear them, on
    user action only.

    Args:
        theme: Colours and icons.
        judged: Content of the card.
        brief: Leaves out the measured values.

    Attributes:
        is_brief: Whether the measured values are left out.
    """

    evidence_picked = Signal(object)

    def __init__(self, theme: Theme, judged: JudgedMention, *, brief: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self._judged = judged
        self.is_brief = brief
        verdict = judged.verdict
        self.setProperty("kind", "card")
        self.setAccessibleName(
            tr("{run} verdict on {relation}: {outcome}")
            .format(run=judged.run, relation=judged.about, outcome=verdict.outcome.value)
            .strip()
        )
        self._show = tool_button(tr("Show instances"), kind="ground")
        self._show.setCheckable(True)
        self._show.toggled.connect(self._pick)
        about = TextLabel(": ".join(filter(None, (judged.run, judged.about))), Tone.MUTED)
        column(
            outcome_heading(theme, verdict.outcome, font(LARGE, bold=True), about, gap=0.6),
            TextLabel(judged.explanation),
            *(() if brief else self._details()),
            within=self,
            gap=0.45,
            edges=(0.8, 0.7, 0.8, 0.8),
        )

    @property
    def content(self) -> tuple[JudgedMention, bool]:
        """The content, and whether it is shown in brief."""
        return self._judged, self.is_brief

    def show_lit(self, lit: object) -> None:
        """Show whether this verdict's instances are highlighted."""
        is_lit = lit == self._judged.verdict
        with QSignalBlocker(self._show):
            self._show.setChecked(is_lit)
        restyle(self, "kind", "picked" if is_lit else "card")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._judged.verdict.instances:
            self._show.toggle()
        super().mousePressEvent(event)

    def _details(self) -> Iterator[Part]:
        verdict = self._judged.verdict
        coloured = [each for each in verdict.instances if each.rgb is not None]
        if coloured:
            swatches = flow(*(Swatch(self._theme, each) for each in coloured), gap=0.3)
            yield swatches
        if verdict.instances:
            yield at_left(self._show)
        if verdict.doubt is None:
            share = f"{verdict.confidence:.2f}"
            yield TextLabel(tr("Confidence {share}").format(share=share), Tone.MUTED)

    def _pick(self, lit: bool) -> None:
        self.evidence_picked.emit(self._judged.verdict if lit else None)


class AssertionScores(QWidget):
    """Shows the assertions of a DA-score as bars, created when first shown."""

    def __init__(self, theme: Theme, score: DaScore) -> None:
        super().__init__()
        self._theme = theme
        self._score = score
        self._grid = grid(self, (0.6, 0.1))

    @property
    def texts(self) -> tuple[str, ...]:
        """The assertions in order."""
        return tuple(each.assertion.text for each in self._score.scores)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._grid.count():
            return
        for place, each in enumerate(self._score.scores):
            text, chance = each.assertion.text, each.probability_yes
            self._grid.addWidget(TextLabel(text), 2 * place, 0, 1, 2)
            if chance is None:
                self._grid.addWidget(TextLabel(tr(each.note), Tone.MUTED), 2 * place + 1, 0, 1, 2)
                continue
            self._grid.addWidget(ShareBar(self._theme, chance, text), 2 * place + 1, 0)
            share = PlainLabel(f"{chance:.2f}")
            if each.chances is not None:
                share.setToolTip(plain_tip(_logs(each.chances)))
            self._grid.addWidget(share, 2 * place + 1, 1)


def _logs(chances: YesNoChances) -> str:
    words = tr("Log-probability of yes {yes}, of no {no}")
    return words.format(yes=f"{chances.log_yes:.2f}", no=f"{chances.log_no:.2f}")
