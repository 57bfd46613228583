"""Stage 3, image to verdicts: one card per relation, count and colour, and the DA-score."""

import re
from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from spatialstudio.application.evaluate.judge_choice import JudgeSets, is_used, no_detector_chosen
from spatialstudio.application.evaluate.pictures import claims_of
from spatialstudio.application.inspect.step_numbers import name_first, name_second
from spatialstudio.application.models.downloads import ModelsChanged
from spatialstudio.application.session import (
    BaselineChanged,
    OpenRun,
    RelationPicked,
    RunChanged,
    RunState,
    SceneChanged,
)
from spatialstudio.domain.assertion import DaScore
from spatialstudio.domain.errors import Obstacle, StudioError
from spatialstudio.domain.judge_choice import UsedJudgeSet
from spatialstudio.domain.requirements import is_judged
from spatialstudio.domain.verdict import AbstentionReason, Evaluation, MentionVerdict
from spatialstudio.ui.evaluate import commands as commands
from spatialstudio.ui.evaluate.checker_panel import BUILT_IN
from spatialstudio.ui.evaluate.evidence_presenter import VerdictSelection, picked_relation
from spatialstudio.ui.evaluate.judge_set_dialog import TASK_NAMES
from spatialstudio.ui.evaluate.verdict_checks import (
    judged_mentions,
    judged_relations,
    lower_threshold,
)
from spatialstudio.ui.evaluate.widgets.mention_card import (
    AssertionScores,
    JudgedMention,
    MentionCard,
)
from spatialstudio.ui.evaluate.widgets.verdict_card import JudgedRelation, VerdictCard
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import column, discard, push_button
from spatialstudio.ui.widgets.disclosure import Disclosure
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

NO_DETECTOR = "Download a judge set, then judge the picture."
NOT_JUDGED = "The picture is not judged yet."
NOT_YET = {
    RunState.FAILED: "No picture to judge.",
    RunState.CANCELLED: "The run was cancelled before it was judged.",
    RunState.DONE: "The prompt states no relation, count or colour, so there is nothing to judge.",
}


_HASHES = re.compile(r"(?: [0-9a-f]{12,64})+$")
"""Revision and weight hash after the name of a model."""


Card: TypeAlias = VerdictCard | MentionCard


class EvaluationPanel(Panel):
    """Shows the verdicts on the open run, its baseline's in brief, and highlights evidence."""

    title = "Verdict"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._studio = context.studio
        self._theme = context.theme
        self._judgement = context.judgement
        self._window_signals = context.window_signals
        self._verdict_selection = VerdictSelection(context)
        self._run_id = ""
        self._judges = context.studio.judges
        self._shown: tuple[Evaluation | None, ...] = ()
        self._wanted: list[tuple[JudgedRelation | JudgedMention, bool]] = []
        self._cards: list[Card] = []
        self._score: DaScore | None = None
        self._scores: list[Disclosure] = []
        self._waiting = TextLabel(tone=Tone.MUTED)
        self._detector = TextLabel(tone=Tone.MUTED, small=True)
        self._warning = TextLabel(tone=Tone.WARNING)
        self._judge_action = context.actions[commands.JUDGE_AGAIN]
        self._again = push_button("", self.judge_again, tip=self._judge_action.toolTip())
        self._get = push_button(
            tr("Download a judge set…"),
            self._download,
            tip=tr("Lists its models on the Models page"),
        )
        parts = self._waiting, self._get, self._detector, self._warning, self._again
        self._column = column(*parts, within=self, gap=0.5)
        context.actions.bind(commands.JUDGE_AGAIN, self.judge_again)
        self._clock = VisibleFrameClock(self._draw, self)
        self._judgement.changed.connect(self._mark)
        context.window_signals.judges_chosen.connect(self._follow_judges)
        context.actions.bind(commands.CLEAR_EVIDENCE, partial(self._judgement.light, None))
        self._draw()
        self._offer_again()

    def handle(self, event: object) -> None:
        """Follow the run, its baseline and the picked relation."""
        match event:
            case RunChanged(run=run):
                if run.id != self._run_id:
                    self._run_id = run.id
                    self._judges = self._studio.judges
                    self._judgement.light(None)
                self._follow_judges()
            case ModelsChanged():
                self._follow_judges()
            case BaselineChanged():
                self._clock.request()
            case RelationPicked():
                self._mark()
            case SceneChanged():
                self._offer_again()

    def judge_again(self) -> None:
        """Evaluate the open picture with the current prompt and judge set."""
        if self._session.scene is not None:
            self._studio.pictures.judge_open(self._session.scene)

    def _download(self) -> None:
        names = self._studio.judge_sets.to_download(self._studio.judges.set_id)
        self._window_signals.models_asked.emit(names)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the highlighted evidence on Esc."""
        if event.key() == Qt.Key.Key_Escape and self._judgement.lit is not None:
            self._judgement.light(None)
        else:
            super().keyPressEvent(event)

    def _draw(self) -> None:
        run, baseline = self._session.run, self._session.baseline
        evaluations = tuple(each.evaluation if each else None for each in (run, baseline))
        obstacle = self._obstacle(run)
        self._waiting.setText(_waiting_for(run, obstacle))
        if evaluations != self._shown:
            self._shown = evaluations
            own, other = "", ""
            if run is not None and baseline is not None:
                own, other = tr(name_first(run, baseline)), tr(name_second(run, baseline))
            own_cards = _contents(run, own)
            other_cards = _contents(baseline, other)
            self._wanted = [(each, False) for each in own_cards]
            self._wanted += [(each, True) for each in other_cards]
            outdated = [card for card in self._cards if card.content not in self._wanted]
            discard(self._column, *outdated)
            self._cards = [card for card in self._cards if card not in outdated]
        known = [card.content for card in self._cards]
        missing = [content for content in self._wanted if content not in known]
        if missing:  # one card per frame, as each is slow
            self._cards.append(self._card(*missing[0]))
            self._cards.sort(key=lambda card: self._wanted.index(card.content))
            for each in self._cards:
                self._column.addWidget(each)
        self._show_score(run.evaluation.da_score if run and run.evaluation else None)
        if missing[1:]:
            self._clock.request()
        self._waiting.setVisible(not self._own)
        self._get.setVisible(obstacle is not None)
        self._detector.setText(_judges_in_words(run, self._studio.judge_sets))
        self._detector.setVisible(bool(self._own) and bool(self._detector.text()))
        used = run.evaluation.judge_set if run and run.evaluation else None
        self._warning.setText(tr(used.warning) if used else "")
        self._warning.setVisible(bool(self._warning.text()))
        self._mark()

    def _card(self, judged: JudgedRelation | JudgedMention, is_brief: bool) -> Card:
        if isinstance(judged, JudgedMention):
            of_mention = MentionCard(self._theme, judged, brief=is_brief)
            of_mention.evidence_picked.connect(self._light)
            return of_mention
        card = VerdictCard(self._theme, judged, brief=is_brief)
        if not is_brief:
            card.picked.connect(partial(self._session.pick_relation, card.relation_id))
            card.ground_picked.connect(self._light)
            card.threshold_requested.connect(self._lower_threshold)
        return card

    def _show_score(self, score: DaScore | None) -> None:
        """Show the DA-score with its assertions below the cards; nothing without an answer."""
        if score != self._score:
            self._score = score
            discard(self._column, *self._scores)
            self._scores = []
            if score is not None and score.value is not None:
                title = tr("DA-score {share}").format(share=f"{score.value:.2f}")
                self._scores = [Disclosure(title, AssertionScores(self._theme, score))]
        for each in self._scores:
            self._column.addWidget(each)

    @property
    def _own(self) -> list[Card]:
        """The cards of the open run, without the baseline's."""
        return [card for card in self._cards if not card.is_brief]

    def _follow_judges(self) -> None:
        """Follow a change of the run, of the chosen judge set, or of the installed models."""
        self._clock.request()
        self._offer_again()

    def _obstacle(self, run: OpenRun | None) -> StudioError | None:
        """Return why no judge set can judge an unjudged picture; None if one can."""
        if run is None or not _is_unjudged(run):
            return None
        try:
            chosen = self._studio.judge_defaults.judges_of(run.model_id, run.scene)
        except StudioError as error:
            return error
        return no_detector_chosen() if chosen.detector_id is None else None

    def _offer_again(self) -> None:
        """Offer to evaluate an unjudged picture, or one whose prompt or judge set has changed."""
        run, scene = self._session.run, self._session.scene
        can = False
        if run is not None and run.image is not None and run.is_over and scene and is_judged(scene):
            is_other = claims_of(scene) != claims_of(run.scene)
            same = "Judge the picture" if _is_unjudged(run) else "Judge again"
            self._again.setText(tr("Judge with this prompt" if is_other else same))
            can = is_other or self._has_other_judges(run)
        self._again.setVisible(can)
        self._judge_action.setEnabled(can)

    def _has_other_judges(self, run: OpenRun) -> bool:
        """Return True if the selected judge set differs from that of the open picture."""
        try:
            chosen = self._studio.judge_defaults.judges_of(run.model_id, run.scene)
        except StudioError:
            return False
        evaluation = run.evaluation
        if _is_unjudged(run):
            return chosen.detector_id is not None
        if evaluation is not None and evaluation.checker != self._studio.checker:
            return chosen.detector_id is not None
        if evaluation is not None and evaluation.judge_set is not None:
            return chosen.detector_id is not None and not is_used(chosen, evaluation.judge_set)
        lacks_second = evaluation is not None and evaluation.looks.second is None
        is_other = self._studio.judges != self._judges
        return is_other or (chosen.second_id is not None and lacks_second)

    def _mark(self) -> None:
        """Mark the selected relation and the highlighted check."""
        run = self._session.run
        relation = picked_relation(run, self._session.relation_id) if run else None
        for card in self._own:
            if isinstance(card, MentionCard):
                card.show_lit(self._judgement.lit)
                continue
            is_picked = relation is not None and card.relation_id == relation.id
            card.show_picked(is_picked and len(self._own) > 1)
            lit = self._judgement.lit
            card.show_lit(lit if is_picked and isinstance(lit, AbstentionReason) else None)

    def _light(self, lit: AbstentionReason | MentionVerdict | None) -> None:
        run = self._session.run
        if lit is not None and run is not None and run.steps:
            self._session.pick_step(run.steps[-1].step)
        self._judgement.light(lit)

    def _lower_threshold(self) -> None:
        if (selected := self._verdict_selection.now()) is not None:
            score = lower_threshold(selected.stored, selected.seen) or 0.0
            name = tr("lower threshold")
            self._judgement.try_setting(selected.run, "detection_score", score, name)


def _contents(run: OpenRun | None, name: str) -> tuple[JudgedRelation | JudgedMention, ...]:
    return (*judged_relations(run, name), *judged_mentions(run, name)) if run else ()


def _judges_in_words(run: OpenRun | None, sets: JudgeSets) -> str:
    """Return judge set and models, or the detector, and the checker; empty if not recorded."""
    if run is None or run.evaluation is None:
        return ""
    checker = run.evaluation.checker.preset
    rules = tr("Checker: {preset}").format(preset=tr(BUILT_IN.get(checker, checker)))
    if (used := run.evaluation.judge_set) is not None:
        return "\n".join((*_lines_of(used, sets), rules))
    seen = run.evaluation.perception
    names = {seen.detector_id} - {""} or {each.detector_id for each in seen.detections}
    judged = tr("Judged with {detector}").format(detector=", ".join(sorted(names)))
    return f"{judged}\n{rules}" if names else ""


def _lines_of(used: UsedJudgeSet, sets: JudgeSets) -> Iterator[str]:
    labels = {card.id: tr(card.label) for card in sets.cards} | {
        "": tr("individually chosen models")
    }
    yield tr("Judged with {detector}").format(detector=labels.get(used.id, used.id))
    tasks = {task.value: tr(name) for task, name in TASK_NAMES.items()}
    for task, model in used.models.items():
        text = tr("{task}: {model}")
        yield text.format(task=tasks.get(task, task), model=_HASHES.sub("", model))


def _is_unjudged(run: OpenRun) -> bool:
    """Return True for a picture without verdicts whose prompt states something to judge."""
    is_there = run.image is not None and run.state is RunState.DONE
    return is_there and run.evaluation is None and is_judged(run.scene)


def _waiting_for(run: OpenRun | None, obstacle: StudioError | None) -> str:
    if run is None:
        return tr("The verdict on each relation appears here after the picture is generated.")
    if not run.scene.prompt.text:
        return tr("Write a prompt that describes the picture, then judge it.")
    if obstacle is not None:
        return f"{tr(obstacle.message)} {tr(NO_DETECTOR)}"
    if _is_unjudged(run):
        failure = run.failure
        is_other = failure is not None and failure.obstacle is not Obstacle.DETECTOR
        return f"{failure.message} {failure.hint}" if failure and is_other else tr(NOT_JUDGED)
    return tr(NOT_YET.get(run.state, "The verdict appears here after the picture is generated."))
