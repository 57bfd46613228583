"""The dock of the online choice of the best method (OPSE)."""

from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox

from spatialstudio.application.benchmark.cell_pairs import PASS, PSE, choose_best
from spatialstudio.application.benchmark.choose_method import MethodChoice
from spatialstudio.application.benchmark.monitor import BenchmarkChanged, BenchmarkView
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.benchmark.widgets.race_plot import Race, RacePlot
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.plot_saving import save_plot
from spatialstudio.ui.theme.theme import SMALL, font
from spatialstudio.ui.widgets.builders import column, grow, push_button, row
from spatialstudio.ui.widgets.fields import PLAIN_NUMBER, DecimalBox
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone, tr

LEAST_ERROR, MOST_ERROR, USUAL_ERROR = 0.001, 0.5, 0.05
MOST_FOLLOWED = 5000
"""Scores of a method up to which the choice is repeated as pictures are judged."""


class RacePanel(Panel):
    """Chooses the best method from as few scores as the stated error needs."""

    title = "Choice of the best method"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._view: BenchmarkView | None = context.benchmark.view
        self._made: MethodChoice | None = None
        self._judged = 0
        self._is_choosing = False
        self._value = PASS
        self._values = Segments(
            tr("Score"),
            {
                PASS: (tr("Verdict"), tr("1 for PASS, 0 for others")),
                PSE: (tr("PSE"), tr("Mean PSE of each picture")),
            },
        )
        self._values.show_choice(PASS)
        self._values.choice_picked.connect(self._use_value)
        self._error = DecimalBox(
            minimum=LEAST_ERROR,
            maximum=MOST_ERROR,
            decimals=3,
            singleStep=0.01,
            value=USUAL_ERROR,
            **PLAIN_NUMBER,
        )
        self._error.setAccessibleName(tr("Largest error"))
        self._error.setToolTip(tr("Largest probability of dropping the best method"))
        self._published = QCheckBox(tr("Published procedure"))
        self._published.setToolTip(
            tr("Replay the procedure of the PoS paper: pulls of 5 scores, no stopping rule")
        )
        self._published.toggled.connect(lambda _on: self._choose_again())
        self._result = TextLabel()
        self._choose = push_button(tr("Choose"), self.choose, kind="primary")
        self.plot = RacePlot(context.theme)
        self.plot.save_asked.connect(partial(save_plot, context.toasts))
        self.plot.hide()
        self._legend = PlainLabel()
        self._legend.setTextFormat(Qt.TextFormat.RichText)  # every name is escaped
        self._legend.setFont(font(SMALL, bold=True))
        self._legend.setWordWrap(True)
        self._legend.hide()
        context.theme.changed.connect(self._show_legend)
        self._clock = VisibleFrameClock(self._follow, self)
        self._lay_out()
        self._show_state()

    def handle(self, event: object) -> None:
        """Follow the open benchmark."""
        if isinstance(event, BenchmarkChanged):
            if self._view is not None and self._view.folder != event.view.folder:
                self._clear()
            self._view = event.view
            self._show_state()
            self._clock.request()

    def choose(self) -> None:
        """Choose in the background from what is judged so far, and again as more is judged."""
        view = self._view
        if view is not None:
            self._judged, self._is_choosing = _judged(view), True
            self._context.reading.read(
                Subject.RACE,
                tr("Choosing the best method"),
                partial(
                    choose_best,
                    view.table,
                    self._value,
                    self._error.value(),
                    is_published=self._published.isChecked(),
                ),
                partial(self._show_race, view.folder),
                self._fail,
            )

    def _lay_out(self) -> None:
        label = PlainLabel(tr("Largest error"), tone=Tone.MUTED)
        label.setBuddy(self._error)
        column(
            self._values,
            row(label, self._error, grow(self._choose), gap=0.5),
            self._published,
            self._result,
            self._legend,
            grow(self.plot),
            within=self,
            gap=0.5,
        )

    def _follow(self) -> None:
        """Choose again if more pictures are judged, while that is quick."""
        made, view = self._made, self._view
        if made is None or view is None or self._is_choosing:
            return
        if made.scores <= MOST_FOLLOWED and _judged(view) != self._judged:
            self.choose()

    def _fail(self, report: ErrorReport) -> None:
        self._clear()
        self._show_state()
        self.problem_met.emit(report)

    def _clear(self) -> None:
        self._made, self._is_choosing = None, False
        self.plot.hide()
        self._legend.hide()

    def _use_value(self, value: str) -> None:
        self._value = value
        self._choose_again()

    def _choose_again(self) -> None:
        """Apply changed settings to a choice that was asked for."""
        if self._made is not None or self._is_choosing:
            self.choose()

    def _show_state(self) -> None:
        has_two = self._view is not None and len(self._view.table.grid.methods) > 1
        self._choose.setEnabled(has_two)
        if self._made is None:
            self._result.setText(
                tr(
                    "Reads the scores of all methods in a random order of prompts and seeds, and "
                    "drops a method as soon as it is behind with certainty (OPSE)."
                )
                if has_two
                else tr("Open a benchmark with two methods to choose between them.")
            )

    def _show_race(self, folder: Path, made: MethodChoice) -> None:
        if self._view is None or self._view.folder != folder:
            return  # of a benchmark that was open before
        self._made, self._is_choosing = made, False
        self._clock.request()
        methods = self._view.table.grid.methods
        words = race_in_words(made, methods)
        self._result.setText(words)
        choice = made.choice
        if made.is_published:  # it has no bounds to draw
            self.plot.hide()
            self._legend.hide()
            return
        self.plot.show_race(
            Race(
                names=made.names,
                pulls=np.asarray(choice.history, np.float64),
                leads=choice.leads,
                radii=choice.radii,
            ),
            words,
        )
        self.plot.show()
        self._show_legend()

    def _show_legend(self) -> None:
        """Name each method in the colour of its curves."""
        entries = self.plot.keys()
        names = (
            f'<span style="color: {each.colour.name()}">{escape(each.name)}</span>'
            for each in entries
        )
        self._legend.setText(" &nbsp; ".join(names))
        self._legend.setVisible(bool(self._legend.text()))


def _judged(view: BenchmarkView) -> int:
    return int(view.table.is_judged.sum())


def race_in_words(made: MethodChoice, methods: Sequence[str]) -> str:
    """Return the result of a choice in sentences; ``methods`` are those of the benchmark."""
    missing = [name for name in methods if name not in made.names]
    left_out = tr(" Left out, with too few scores: {names}.").format(names=", ".join(missing))
    return _result_in_words(made) + (left_out if missing else "")


def _result_in_words(made: MethodChoice) -> str:
    choice = made.choice
    read, whole = sum(choice.pulls), made.scores * len(made.names)
    name = made.names[choice.best]
    if made.is_published:
        pulls = zip(made.names, choice.pulls, strict=True)
        counts = ", ".join(f"{each} {count:,}" for each, count in pulls)
        words = tr("{name} is pulled most. Pulls of 5 scores: {counts}.")
        return words.format(name=name, counts=counts)
    if choice.is_certain:
        words = tr("{name} is the best, after {read} of {whole} scores: {share} % saved.")
        share = f"{100 * (1 - read / whole):.0f}"
        return words.format(name=name, read=f"{read:,}", whole=f"{whole:,}", share=share)
    words = tr("{name} leads, but {whole} scores do not decide with this error.")
    return words.format(name=name, whole=f"{whole:,}")
