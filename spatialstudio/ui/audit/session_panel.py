"""The open session: rater, progress, pace; and the stored sessions."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from spatialstudio.application.audit.analysis import AuditAnalysed, AuditAnalysing
from spatialstudio.application.audit.desk import AuditChanged, AuditDesk
from spatialstudio.application.audit.sessions import Progress
from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.audit_session import SessionState
from spatialstudio.domain.errors import StudioError
from spatialstudio.ui.audit import commands
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import action_button, clear, column, flow, push_button
from spatialstudio.ui.widgets.fact_list import FactList
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone, tr

MOST_LISTED = 8
MINUTE = 60
DELAY_MS = 40
BUTTONS = (
    *(commands.NEW, commands.OPEN, commands.END, commands.CLOSE),
    *(commands.ADD_LABELS, commands.ADJUDICATE),
    *(commands.EXPORT_LABELS, commands.EXPORT_SAMPLE),
)
BREAK = "You have voted for 25 minutes. Take a short break."


class SessionPanel(Panel):
    """Shows how far the session is, and offers stored sessions to continue."""

    title = "Session"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._desk = context.studio.storage.audit_desk
        self._facts = FactList()
        self._bar = QProgressBar()
        self._bar.setAccessibleName(tr("Progress of the session"))
        self._bar.setTextVisible(False)
        self._break = TextLabel(
            tr("You have voted for 25 minutes. Take a short break."), Tone.WARNING
        )
        self._rested = push_button(tr("I took a break"), self._rest)
        self._analysing = AnalysisProgress(self._desk)
        actions = context.actions
        self._buttons = {each: action_button(actions[each], kind="quiet") for each in BUTTONS}
        self._list_title = PlainLabel(tr("Stored sessions"), tone=Tone.HEADING)
        self._list = QWidget()
        self._rows = column(within=self._list, gap=0.2)
        column(
            *(
                self._facts,
                self._bar,
                self._break,
                self._rested,
                self._analysing,
                flow(*self._buttons.values(), gap=0.3),
            ),
            *(self._list_title, self._list),
            within=self,
            gap=0.5,
        )
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._follow)
        for each in BUTTONS:  # the voting screen, which binds them, may be built later
            actions[each].enabledChanged.connect(lambda _is_on: self._timer.start())
        self._follow()

    def handle(self, event: object) -> None:
        """Follow the votes."""
        self._analysing.follow(event)
        if isinstance(event, AuditChanged | AuditAnalysed):
            self._timer.start()  # a progress bar paints at once; the picture goes first

    def showEvent(self, event: QShowEvent) -> None:
        """List the stored sessions."""
        super().showEvent(event)
        self._show_list()

    def _follow(self) -> None:
        self._show(self._desk.present().state)

    def _show(self, state: SessionState | None) -> None:
        voting = self._desk.voting
        for command, button in self._buttons.items():
            button.setVisible(self._context.actions[command].isEnabled())
        for part in (self._facts, self._bar):
            part.setVisible(state is not None)
        progress = voting.progress if voting is not None else None
        is_due = progress is not None and progress.needs_break and progress.done < progress.total
        self._break.setVisible(is_due)
        self._rested.setVisible(is_due)
        if state is None or progress is None:
            self._show_list()
            return
        self._bar.setMaximum(progress.total)
        self._bar.setValue(progress.done)
        self._facts.show_facts(_facts_of(state, progress))
        self._list_title.hide()
        self._list.hide()

    def _show_list(self) -> None:
        if self._desk.voting is not None or not self.isVisible():
            return
        clear(self._rows)
        found = self._desk.sessions.list()[:MOST_LISTED]
        self._list_title.setVisible(bool(found))
        self._list.setVisible(bool(found))
        for path, state in found:
            words = tr("{rater}, {day}: {done} of {total}")
            if state.session.is_adjudication:
                words = tr("{rater}, {day}, adjudication: {done} of {total}")
            text = words.format(
                rater=state.session.rater,
                day=state.session.created[:10],
                done=len(state.votes),
                total=len(state.session.showings),
            )
            self._rows.addWidget(push_button(text, partial(self._open, path), kind="link"))

    def _open(self, path: Path) -> None:
        try:
            self._desk.open(path)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Opening the session")))

    def _rest(self) -> None:
        if self._desk.voting is not None:
            self._desk.voting.take_break()
            self._show(self._desk.present().state)


class AnalysisProgress(QWidget):
    """Shows how far the analysis is, with a button that cancels it or starts it again.

    Args:
        desk: The audit of the window.
    """

    def __init__(self, desk: AuditDesk) -> None:
        super().__init__()
        self._desk = desk
        self._bar = QProgressBar()
        self._bar.setAccessibleName(tr("Progress of the analysis"))
        self._bar.setTextVisible(False)
        self._words = TextLabel(tone=Tone.MUTED, small=True)
        self._cancel = push_button(tr("Cancel the analysis"), desk.cancel_analysis, kind="quiet")
        self.again = push_button(tr("Analyse again"), desk.analyse_votes)
        self.again.setObjectName("analyse_again")
        column(
            self._words, self._bar, flow(self._cancel, self.again, gap=0.3), within=self, gap=0.3
        )
        self.hide()

    def follow(self, event: object) -> None:
        """Show the progress, and why an analysis did not end."""
        is_running = isinstance(event, AuditAnalysing) and self._desk.is_analysis_wanted
        if isinstance(event, AuditAnalysing) and is_running:
            words = tr("Analysing the votes: part {part} of {total}…")
            self._words.setText(words.format(part=event.done + 1, total=event.total))
            self._bar.setMaximum(event.total)
            self._bar.setValue(event.done)
        elif isinstance(event, AuditAnalysed):
            problem = tr("The analysis was cancelled.") if event.is_cancelled else ""
            self._words.setText(event.problem.message if event.problem else problem)
        else:
            return
        self._bar.setVisible(is_running)
        self._cancel.setVisible(is_running)
        self.again.setVisible(not is_running)
        self.setVisible(bool(self._words.text()))


def _facts_of(state: SessionState, progress: Progress) -> tuple[tuple[str, str], ...]:
    """Return rater, progress and pace in words."""
    session = state.session
    facts = [
        (tr("Rater"), session.rater),
        *([(tr("Task"), tr("adjudication"))] if session.is_adjudication else []),
        (tr("Votes"), tr("{done} of {total}").format(done=progress.done, total=progress.total)),
    ]
    if progress.skipped:
        facts.append((tr("Skipped"), str(progress.skipped)))
    if progress.seconds_per_vote is not None and progress.seconds_left is not None:
        pace = tr("{seconds} s a picture").format(seconds=f"{progress.seconds_per_vote:.1f}")
        facts.append((tr("Pace"), pace))
        if progress.done < progress.total:
            minutes = max(1, round(progress.seconds_left / MINUTE))
            facts.append((tr("Left"), tr("about {minutes} min").format(minutes=minutes)))
    facts.append((tr("Seed"), str(session.seed)))
    if session.population:
        facts.append((tr("Pictures"), session.population))
    return tuple(facts)
