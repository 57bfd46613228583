"""Fix it: the button on a failed verdict, and the strip of attempts."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from spatialstudio.application.refine.fix_run import reason_to_fix
from spatialstudio.application.run.fixing import FixChanged
from spatialstudio.application.run.queue import QueueChanged
from spatialstudio.application.session import OpenRun, RunChanged
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.fix import BUDGET, Fix, FixAttempt, FixReason
from spatialstudio.domain.generation import RequestId
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.refine import commands
from spatialstudio.ui.refine.fix_dialog import FixDialog, RemedyRow
from spatialstudio.ui.refine.fix_presenter import (
    assertion_facts,
    budget_in_words,
    caption_of,
    heading_of,
    outcome_in_words,
    reason_in_words,
    state_of,
    step_in_words,
    strip_of,
    success_in_words,
)
from spatialstudio.ui.refine.region_repair import RegionRepair
from spatialstudio.ui.run.widgets.result_strip import ResultStrip
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.builders import action_button, column, flow
from spatialstudio.ui.widgets.fact_list import FactList
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QImage


class FixPanel(Panel):
    """Offers to fix a picture that does not pass, and shows the attempts.

    The open picture's fix is shown: that of this session, or the newest stored one.
    """

    title = "Fix it"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._studio = context.studio
        self._fix: Fix | None = None
        self._pictures: dict[RequestId, QImage] = {}
        self._searched = ""
        self._dialog: FixDialog | None = None
        self._why = TextLabel()
        self._state = TextLabel(tone=Tone.MUTED)
        self._strip = ResultStrip(context.theme, wraps=True)
        self._strip.setAccessibleName(tr("Attempts"))
        self._strip.result_picked.connect(self._open_attempt)
        self._said = TextLabel()
        self._scores = FactList()
        actions = context.actions
        actions.bind(commands.FIX_IT, self.ask)
        actions.bind(commands.STOP_FIXING, self._studio.fixing.cancel)
        actions.bind(commands.CONTINUE_FIXING, self._continue)
        actions.bind(commands.COMPARE_WITH_START, self._compare)
        self._region_repair = RegionRepair(context, self)
        self._buttons = {
            each: action_button(actions[each], kind="primary" if each is commands.FIX_IT else "")
            for each in commands.COMMANDS
        }
        self._clock = VisibleFrameClock(self._draw, self)
        buttons = flow(*self._buttons.values(), gap=0.4)
        parts = self._why, buttons, self._state, self._strip, self._said, self._scores
        column(*parts, within=self, gap=0.5)
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the open picture, the fix, and the pictures of the queue."""
        match event:
            case FixChanged():
                self._take(event)
            case RunChanged(run=run):
                if run.is_over and run.path is not None:
                    self._search(run)
                self._clock.request()
            case QueueChanged():
                self._clock.request()

    def ask(self) -> None:
        """Open the confirmation of a fix of the open picture."""
        run = self._studio.session.run
        if run is None:
            return
        self._dialog = dialog = FixDialog(self._reasons(run), BUDGET, self.window())
        dialog.edited.connect(lambda: self._plan(dialog, run))
        dialog.asked.connect(lambda: self._begin(dialog, run))
        self._plan(dialog, run)
        dialog.open()

    def _reasons(self, run: OpenRun) -> list[tuple[str, str]]:
        """Return the reason of the verdict, and the lost style of a guided picture."""
        found, reasons = reason_to_fix(run), []
        if found is not None:
            reasons.append((found.reason.value, reason_in_words(found, run.scene)))
        if run.request is not None and run.request.sampling.guidance.is_on:
            reasons.append((FixReason.STYLE.value, tr(FixReason.STYLE.sentence)))
        return reasons or [("", tr("The picture passes."))]

    def _planned(self, dialog: FixDialog, run: OpenRun) -> Fix:
        reason = FixReason(dialog.reason_id) if dialog.reason_id else None
        return self._studio.fixing.plan(run, dialog.budget, reason)

    def _plan(self, dialog: FixDialog, run: OpenRun) -> None:
        try:
            fix = self._planned(dialog, run)
            requests = self._studio.fixing.requests(fix)
        except StudioError as error:
            dialog.show_problem(f"{tr(error.message)} {tr(error.hint)}")
            return
        rows = [
            RemedyRow(
                name=step_in_words(step),
                success=success_in_words(step),
                explanation=tr(step.remedy.sentence),
            )
            for step in fix.steps
        ]
        seconds = self._studio.estimates.estimate(requests).seconds
        dialog.show_plan(rows, budget_in_words(seconds))

    def _begin(self, dialog: FixDialog, run: OpenRun) -> None:
        try:
            self._studio.fixing.start(self._planned(dialog, run))
        except StudioError as error:
            dialog.show_problem(f"{tr(error.message)} {tr(error.hint)}")
            return
        dialog.accept()

    def _continue(self) -> None:
        if self._fix is not None:
            self._studio.fixing.start(self._fix)

    def _take(self, event: FixChanged) -> None:
        """Show a new state of the fix; at its end open the best picture, undoably."""
        self._fix = fix = event.fix
        if event.error is not None:
            self.problem_met.emit(event.error)
        if not event.is_running and fix.is_over:
            before, best = fix.start.picture, fix.best.picture
            self._context.edits.change(tr("fix the picture"), before, best, self._open)
        self._clock.request()

    def _search(self, run: OpenRun) -> None:
        """Find the fix of a picture that was opened, outside the GUI thread."""
        if run.id == self._searched or self._studio.fixing.is_running:
            return
        self._searched = run.id
        if self._fix is not None and _belongs(run, self._fix):
            return
        self._context.reading.read(
            Subject.FIX,
            tr("Reading the attempts"),
            lambda: self._studio.fixing.stored(run),
            self._show_stored,
            self.problem_met.emit,
        )

    def _show_stored(self, fix: Fix | None) -> None:
        if not self._studio.fixing.is_running:
            self._fix = fix
            self._clock.request()

    def _open_attempt(self, key: str) -> None:
        attempts = self._fix.pictures if self._fix else ()
        picture = next((each.picture for each in attempts if each.request_id == key), "")
        if picture:
            self._open(picture)

    def _open(self, picture: str) -> None:
        """Open a stored picture of the fix."""
        run = self._studio.session.run
        if run is not None and run.path is not None and run.path == Path(picture):
            return
        self._context.reading.read(
            Subject.STAGE,
            tr("Opening the picture"),
            lambda: self._studio.read_run(Path(picture)),
            self._studio.show_run,
            self.problem_met.emit,
        )

    def _compare(self) -> None:
        if self._fix is not None:
            start = Path(self._fix.start.picture)
            self._context.reading.read(
                Subject.SECOND_RUN,
                tr("Opening the picture"),
                lambda: self._studio.read_run(start),
                self._studio.second.show,
                self.problem_met.emit,
            )

    def _draw(self) -> None:
        run, fix = self._studio.session.run, self._fix
        found = reason_to_fix(run) if run is not None and run.is_over else None
        is_running = self._studio.fixing.is_running
        is_own = fix is not None and run is not None and (is_running or _belongs(run, fix))
        fix = fix if is_own else None
        why = reason_in_words(found, run.scene) if found and run else ""
        if fix is not None:
            why = heading_of(fix, found, is_running=is_running)
        self._why.setText(why)
        self._why.setVisible(bool(why))
        self._offer(run, fix)
        self._state.setVisible(fix is not None)
        self._strip.setVisible(fix is not None)
        self._show_attempts(run, fix)

    def _offer(self, run: OpenRun | None, fix: Fix | None) -> None:
        """Enable the commands; a button is shown while its command is enabled."""
        fixing = self._studio.fixing
        is_idle = not fixing.is_running
        is_judged = run is not None and run.evaluation is not None and run.request is not None
        is_failed = is_judged and run is not None and reason_to_fix(run) is not None
        is_guided = bool(is_judged and run and run.request and run.request.sampling.guidance.is_on)
        is_start = fix is not None and run is not None and run.id == fix.start.request_id
        is_known = fix is not None and bool(fix.attempts) and not is_start
        states = {
            commands.FIX_IT: is_idle and (is_failed or is_guided),
            commands.STOP_FIXING: not is_idle,
            commands.CONTINUE_FIXING: is_idle and fix is not None and not fix.is_over,
            commands.COMPARE_WITH_START: is_idle and is_known,
            commands.REDRAW_REGION: is_idle and self._region_repair.can_redraw(run),
        }
        for command, is_on in states.items():
            self._context.actions[command].setEnabled(is_on)
            needs_failure = command in (commands.FIX_IT, commands.REDRAW_REGION)
            shown = is_on and (is_failed or not needs_failure)
            self._buttons[command].setVisible(shown)

    def _show_attempts(self, run: OpenRun | None, fix: Fix | None) -> None:
        shown = None
        if fix is not None:
            self._state.setText(state_of(fix, is_running=self._studio.fixing.is_running))
            self._collect(fix)
            self._strip.show_results(strip_of(fix, self._pictures))
            shown = next((each for each in fix.pictures if run and each.request_id == run.id), None)
            self._strip.show_picked(shown.request_id if shown else "")
        self._show_said(shown)

    def _show_said(self, attempt: FixAttempt | None) -> None:
        """Show what changed in the open attempt, and what each assertion says."""
        self._said.setVisible(attempt is not None)
        score = None if attempt is None or attempt.step is None else attempt.score
        self._scores.setVisible(score is not None)
        self._scores.show_facts(assertion_facts(score) if score else ())
        if attempt is None:
            return
        words = [f"{caption_of(attempt)}: {outcome_in_words(attempt)}"]
        if attempt.step is not None:
            words.append(tr(attempt.step.remedy.sentence))
        self._said.setText("\n".join(words))

    def _collect(self, fix: Fix) -> None:
        """Take pictures from the session and the queue; read the others from the library."""
        known = {run.id: run.image for run in self._runs() if run.image is not None}
        missing: dict[RequestId, Path] = {}
        for each in fix.pictures:
            image = known.get(each.request_id)
            if image is not None and each.request_id not in self._pictures:
                self._pictures[each.request_id] = rgb_image(image)
            elif each.request_id not in self._pictures and each.picture:
                missing[each.request_id] = Path(each.picture)
        if missing:
            self._context.reading.read(
                Subject.FIX_PICTURES,
                tr("Reading the attempts"),
                lambda: {
                    key: self._studio.library.thumbnail(path) for key, path in missing.items()
                },
                self._add_pictures,
                self.problem_met.emit,
            )

    def _add_pictures(self, images: Mapping[RequestId, RgbImage | None]) -> None:
        found = {key: rgb_image(image) for key, image in images.items() if image is not None}
        if found.keys() - self._pictures.keys():
            self._pictures |= found
            self._clock.request()

    def _runs(self) -> tuple[OpenRun, ...]:
        session = self._studio.session
        queued = [run for entry in self._studio.queue.entries for run in entry.runs]
        return tuple(run for run in (*queued, session.run, session.baseline) if run is not None)


def _belongs(run: OpenRun, fix: Fix) -> bool:
    """Return True for the start and the attempts of a fix, also for one that was stopped."""
    parent = run.request.parent_run_id if run.request else ""
    is_known = any(run.id == each.request_id for each in fix.pictures)
    return is_known or (bool(parent) and parent == Path(fix.start.picture).stem)
