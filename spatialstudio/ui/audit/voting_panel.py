"""The voting screen of the audit workspace, and its start and end."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog

from spatialstudio.application.audit.analysis import AuditAnalysed, AuditAnalysis
from spatialstudio.application.audit.desk import AuditChanged, AuditPicked
from spatialstudio.application.audit.sessions import Voting, sentence_of
from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.audit import AuditItem, LabelFormat
from spatialstudio.domain.audit_session import Answer, AuditTask, Preference, SessionState
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.audit import commands
from spatialstudio.ui.audit.start_dialog import StartDialog
from spatialstudio.ui.audit.widgets.vote_view import VoteView
from spatialstudio.ui.framework.actions import ScopedKeys
from spatialstudio.ui.framework.command import Command, Scope
from spatialstudio.ui.framework.confirmation import asked_target, is_confirmed
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.gallery.widgets.empty_gallery import EmptyGallery
from spatialstudio.ui.widgets.builders import column, pages
from spatialstudio.ui.widgets.texts import tr

ANSWERS = {
    commands.VOTE_PASS: Answer(verdict=Outcome.PASS),
    commands.VOTE_FAIL: Answer(verdict=Outcome.FAIL),
    commands.VOTE_UNDECIDABLE: Answer(verdict=Outcome.UNDECIDABLE),
    commands.PREFER_FIRST: Answer(preferred=Preference.FIRST),
    commands.PREFER_SECOND: Answer(preferred=Preference.SECOND),
    commands.PREFER_NEITHER: Answer(preferred=Preference.EQUAL),
}
BUTTONS = {
    AuditTask.VERDICT: (
        commands.VOTE_PASS,
        commands.VOTE_FAIL,
        commands.VOTE_UNDECIDABLE,
        commands.NEXT,
    ),
    AuditTask.SCORE: (commands.NEXT,),
    AuditTask.PREFERENCE: (
        commands.PREFER_FIRST,
        commands.PREFER_SECOND,
        commands.PREFER_NEITHER,
        commands.NEXT,
    ),
}
HOW_TO_VOTE = {
    AuditTask.VERDICT: "No vote yet: P passes, F fails, U is undecidable.",
    AuditTask.PREFERENCE: "No vote yet: 1 prefers the left picture, 2 the right one, 0 neither.",
}
OTHERS = (commands.SKIP, commands.UNDO_VOTE, commands.NOTE, commands.ZOOM)
SESSION_FILES = "Sessions (*.votes)"
LABEL_FILES = "Labels (*.votes *.csv *.json)"
LABEL_ENDINGS = {".csv": LabelFormat.CSV, ".json": LabelFormat.JSON}


class VotingPanel(Panel):
    """Shows one picture after the other, and stores each vote before the next one is shown."""

    title = "Audit"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._desk = context.studio.storage.audit_desk
        self._analysis: AuditAnalysis | None = None
        self._shown: tuple[str, int] | None = None
        actions = context.actions
        buttons = {task: [actions[each] for each in own] for task, own in BUTTONS.items()}
        self.view = VoteView(context.theme, buttons, [actions[each] for each in OTHERS])
        self.view.score.entered.connect(self._enter)
        self._start = EmptyGallery(context.theme)
        self._start.action_picked.connect(self._act_on_empty)
        self._pages = pages(self._start, self.view)
        column(self._pages, within=self)
        ScopedKeys(actions.of_scope(Scope.AUDIT), self)
        self._bind()
        self.setFocusProxy(self.view)
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the session and its analysis."""
        if isinstance(event, AuditChanged):
            self._draw()
        elif isinstance(event, AuditAnalysed):
            self._analysis = self._desk.current(event.analysis)
            self._draw()
        elif isinstance(event, AuditPicked) and self._analysis is not None:
            self._review(self._analysis, event.sample_id)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._draw()

    def open_session(self, path: Path) -> None:
        """Continue a stored session."""
        self._try(tr("Opening the session"), lambda: self._desk.open(path))

    def _bind(self) -> None:
        actions = self._context.actions
        table: dict[Command, Callable[[], object]] = {
            command: partial(self._vote, answer) for command, answer in ANSWERS.items()
        }
        table |= {
            commands.NEW: self._ask_new,
            commands.OPEN: self._ask_open,
            commands.ADD_LABELS: self._ask_labels,
            commands.EXPORT_LABELS: self._ask_export_labels,
            commands.EXPORT_SAMPLE: self._ask_export_sample,
            commands.ADJUDICATE: self._adjudicate,
            commands.END: self._ask_end,
            commands.CLOSE: lambda: self._try(tr("Closing"), self._desk.close_session),
            commands.NEXT: self._enter,
            commands.SKIP: lambda: self._try(tr("Skipping"), self._desk.skip),
            commands.UNDO_VOTE: self._undo,
            commands.REVEAL: self._ask_reveal,
            commands.NOTE: self.view.ask_note,
            commands.ZOOM: self.view.zoom,
        }
        actions.bind_all(table)

    def _vote(self, answer: Answer) -> None:
        voting = self._desk.voting
        if voting is not None and voting.items and answer.task is voting.session.task:
            note = self.view.note.text().strip()
            self._try(tr("Storing the vote"), lambda: self._desk.vote(answer, note))

    def _enter(self) -> None:
        """Store the score, or the vote that was taken back, and go on."""
        voting = self._desk.voting
        if voting is None:
            return
        task, withdrawn = voting.session.task, voting.state.withdrawn
        if task is AuditTask.SCORE:
            self._vote(Answer(score=self.view.score.number.value()))
        elif withdrawn is not None and withdrawn.answer is not None:
            self._vote(withdrawn.answer)
        else:
            self.view.show_state(tr(HOW_TO_VOTE[task]))

    def _undo(self) -> None:
        self._try(tr("Undoing the vote"), self._desk.undo)

    def _try(self, title: str, do: Callable[[], object]) -> None:
        try:
            do()
        except StudioError as error:
            self.problem_met.emit(report_on(error, title))
        self._draw()

    def _draw(self) -> None:
        """Show the current picture at once: the vote before it is on disk."""
        voting = self._desk.voting
        self._enable()
        if voting is None or not voting.items or voting.state.is_open_to_analysis:
            self._show_empty(voting.state if voting else None)
            return
        current = voting.state.current
        shown = (voting.session.id, -1 if current is None else current)
        self._pages.setCurrentWidget(self.view)
        if shown != self._shown or voting.state.entries[-1:] != self._last_entry:
            self._shown, self._last_entry = shown, voting.state.entries[-1:]
            pictures = [self._desk.picture(item) for item in voting.items]
            claim, verdict = sentence_of(voting.items[0]), self._verdict_of(voting)
            self.view.show_vote(voting.session.task, claim, pictures, verdict)
            self._show_withdrawn(voting.state)
            self._desk.read_ahead()

    _last_entry: tuple[object, ...] = ()

    def _show_withdrawn(self, state: SessionState) -> None:
        """Show the vote that undo took back, so that Return can keep it."""
        vote = state.withdrawn
        if vote is None or vote.answer is None:
            return
        self.view.note.setText(vote.note)
        if vote.answer.score is not None:
            self.view.score.show_score(vote.answer.score)
        name = next((each.text for each, answer in ANSWERS.items() if answer == vote.answer), "")
        words = tr("Your vote: {vote}. Return keeps it.").format(vote=tr(name))
        self.view.show_state(words if name else "")

    def _review(self, analysis: AuditAnalysis, sample_id: str) -> None:
        """Show a picture of the finished session with the answers on it."""
        item = analysis.items[sample_id]
        given = [
            tr("{rater}: {verdict}").format(rater=label.rater, verdict=label.verdict.value)
            for label in analysis.labels
            if label.sample_id == sample_id
        ]
        verdict = " · ".join((_checker_words(item), *given))
        self.view.show_review(sentence_of(item), self._desk.picture(item), verdict)
        self._pages.setCurrentWidget(self.view)

    def _verdict_of(self, voting: Voting) -> str:
        """Return the checker's verdict where it is not hidden, or was revealed."""
        if voting.session.is_blind and voting.state.current not in voting.state.revealed:
            return ""
        return _checker_words(voting.items[0])

    def _show_empty(self, state: SessionState | None) -> None:
        self._shown, self._last_entry = None, ()
        if state is None:
            words = tr(
                "Choose pictures of the library or of recorded runs, and vote on them without the "
                "checker's verdicts. Every vote is stored before the next picture is shown."
            )
            self._start.show_words(tr("No audit session"), words, tr("New audit…"))
        else:
            votes = tr("{count} votes are stored.").format(count=len(state.votes))
            words = tr("Agreement, risk and calibration are in the docks.")
            export = self._context.actions[self._export_of(state)].text()
            self._start.show_words(tr("The session is complete"), f"{votes} {words}", export)
        self._pages.setCurrentWidget(self._start)

    def _act_on_empty(self) -> None:
        voting = self._desk.voting
        command = commands.NEW if voting is None else self._export_of(voting.state)
        self._context.actions[command].trigger()

    def _export_of(self, state: SessionState) -> Command:
        """Return what a finished session exports; scores and preferences are no labels."""
        is_verdict = state.session.task is AuditTask.VERDICT
        return commands.EXPORT_LABELS if is_verdict else commands.EXPORT_SAMPLE

    def _enable(self) -> None:
        voting, actions = self._desk.voting, self._context.actions
        is_open = voting is not None
        is_voting = voting is not None and not voting.state.is_open_to_analysis
        task = voting.session.task if voting else None
        asked = BUTTONS[task] if task else ()
        for command in {each for own in BUTTONS.values() for each in own}:
            actions[command].setEnabled(is_voting and command in asked)
        for command in OTHERS:
            actions[command].setEnabled(is_voting)
        has_votes = voting is not None and bool(voting.state.votes)
        actions[commands.UNDO_VOTE].setEnabled(has_votes)
        actions[commands.CLOSE].setEnabled(is_open)
        actions[commands.EXPORT_SAMPLE].setEnabled(is_open and not is_voting)
        actions[commands.EXPORT_LABELS].setEnabled(has_votes and task is AuditTask.VERDICT)
        for command in (commands.END, commands.REVEAL):
            actions[command].setEnabled(is_voting)
        is_analysed = self._analysis is not None
        actions[commands.ADD_LABELS].setEnabled(is_open and not is_voting)
        disputed = self._analysis.agreement.disagreements if self._analysis else ()
        actions[commands.ADJUDICATE].setEnabled(is_analysed and bool(disputed))

    def _ask_new(self) -> None:
        self._context.window_signals.workspace_asked.emit("audit")
        dialog = StartDialog(self._context, self.window())
        dialog.started.connect(self._take_new)
        dialog.open()

    def _take_new(self) -> None:
        self._draw()
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _ask_open(self) -> None:
        folder = str(self._desk.sessions.folder)
        name, _ = QFileDialog.getOpenFileName(
            self.window(), tr("Continue a session"), folder, tr(SESSION_FILES)
        )
        if name:
            self._context.window_signals.workspace_asked.emit("audit")
            self.open_session(Path(name))

    def _ask_labels(self) -> None:
        folder = str(self._desk.sessions.folder)
        names, _ = QFileDialog.getOpenFileNames(
            self.window(), tr("Add labels of other raters"), folder, tr(LABEL_FILES)
        )
        if names:
            paths = [Path(name) for name in names]
            self._try(tr("Reading the labels"), lambda: self._desk.add_labels(paths))

    def _ask_end(self) -> None:
        question = tr("End the session before every picture has a vote?")
        words = tr(
            "The analysis shows verdicts of the checker. The session records it; later votes on "
            "the remaining pictures are no labels."
        )
        if is_confirmed(self.window(), question, words, tr("End the session")):
            self._try(tr("Ending the session"), self._desk.reveal_rest)

    def _ask_reveal(self) -> None:
        question = tr("Show the checker's verdict on this picture?")
        words = tr("The session records it; your vote on this picture is no label.")
        if is_confirmed(self.window(), question, words, tr("Show the verdict")):
            self._try(tr("Showing the verdict"), self._desk.reveal)

    def _adjudicate(self) -> None:
        voting, analysis = self._desk.voting, self._analysis
        if voting is not None and analysis is not None:
            rater = voting.session.rater
            self._try(
                tr("Starting the adjudication"), lambda: self._desk.adjudicate(analysis, rater)
            )

    def _ask_export_labels(self) -> None:
        target = self._asked_target("labels.csv", tr("Labels (*.csv)"), tr("Labels (*.json)"))
        voting = self._desk.voting
        if target is not None and voting is not None:
            label_format = LABEL_ENDINGS.get(target.suffix.lower(), LabelFormat.CSV)
            labels = self._analysis.labels if self._analysis else voting.state.labels
            write = self._desk.audits.files.write_labels
            self._write(target, lambda: write(labels, target, label_format, overwrite=True))

    def _ask_export_sample(self) -> None:
        target = self._asked_target("sample.csv", tr("Sample (*.csv)"))
        voting = self._desk.voting
        if target is not None and voting is not None:
            write = self._desk.audits.files.write_sample
            self._write(target, lambda: write(voting.session.sample, target, overwrite=True))

    def _asked_target(self, name: str, *kinds: str) -> Path | None:
        return asked_target(self.window(), self._context.settings, name, kinds)

    def _write(self, target: Path, write: Callable[[], object]) -> None:
        try:
            write()
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Exporting")))
        else:
            self._context.toasts.tell(tr("Wrote {name}.").format(name=target.name))


def _checker_words(item: AuditItem) -> str:
    one = item.candidate
    words = tr("Checker: {verdict}, confidence {confidence}")
    return words.format(verdict=one.stratum.verdict.value, confidence=f"{one.confidence:.2f}")
