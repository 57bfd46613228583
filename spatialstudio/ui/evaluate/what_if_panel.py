"""The dock that compares the stored verdict with one under trial settings."""

from PySide6.QtWidgets import QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.adjusting import thresholds_of
from spatialstudio.application.session import (
    OpenRun,
    RelationPicked,
    RunChanged,
)
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.scene import MentionId, Relation
from spatialstudio.domain.verdict import Adjustment, Looks, Verdict
from spatialstudio.ui.evaluate import commands as commands
from spatialstudio.ui.evaluate.evidence_presenter import (
    SelectedVerdict,
    VerdictSelection,
    choices,
    chosen_boxes,
    detection_of,
)
from spatialstudio.ui.evaluate.widgets.threshold_form import (
    Choices,
    Threshold,
    ThresholdForm,
)
from spatialstudio.ui.evaluate.widgets.verdict_card import BriefVerdict, VerdictTile
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import action_button, clear, column, flow, row
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

WIDEST_MARGIN = 0.5
THRESHOLDS = {
    "margin": (
        "Margin",
        "Offsets up to this fraction of the picture's side are undecidable.",
        WIDEST_MARGIN,
    ),
    "between_margin": (
        "Margin",
        "Depth offsets up to this fraction are undecidable.",
        WIDEST_MARGIN,
    ),
    "depth_margin": ("Depth margin", "Minimum distance of the depth PoS from 0.5.", WIDEST_MARGIN),
    "near_distance": (
        "Near: gap up to",
        ("Objects with a gap up to this fraction of the diagonal count as near."),
        1.0,
    ),
    "far_distance": (
        "Far: gap from",
        ("Objects with at least this gap, as a fraction of the diagonal, count as far."),
        1.0,
    ),
    "max_overlap_iou": (
        "Maximum overlap",
        ("Relations between boxes with a larger IoU are undecidable."),
        1.0,
    ),
    "detection_score": ("Minimum score", "Detections with a lower score are ignored.", 1.0),
    "min_stability": ("Minimum stability", "Less stable verdicts are undecidable.", 1.0),
    "min_agreement": (
        "Minimum agreement",
        ("Verdicts with a lower agreement of the second detector are undecidable."),
        1.0,
    ),
    "min_confidence": (
        "Minimum confidence",
        "Verdicts with a lower confidence are undecidable.",
        1.0,
    ),
}
"""The checker's settings: label, description, largest value."""


class WhatIfPanel(Panel):
    """Lets the user try other thresholds and instances, and save the result."""

    title = "What if"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._judgement = context.judgement
        self._verdict_selection = VerdictSelection(context)
        self._shown: tuple[BriefVerdict, ...] = ()
        self._waiting = TextLabel(
            tr("Try other thresholds or instances of a judged picture here."), Tone.MUTED
        )
        self._tiles = row(gap=0.5)
        self._form = ThresholdForm()
        self._form.threshold_picked.connect(self._try_setting)
        self._form.choice_picked.connect(self._try_choice)
        keep, back, self._forget = (
            action_button(context.actions[command], kind="quiet") for command in commands.ADJUSTING
        )
        self._content = QWidget()
        acts = flow(keep, back, self._forget, gap=0.4)
        column(self._tiles, acts, self._form, within=self._content, gap=0.5)
        column(self._waiting, self._content, within=self)
        self._clock = VisibleFrameClock(self._draw, self)
        self._judgement.changed.connect(self._follow)
        context.actions.bind_all(
            {
                commands.KEEP_ADJUSTED: self.keep,
                commands.JUDGED_AS_STORED: self._go_back,
                commands.DROP_ADJUSTED: self.drop,
            }
        )
        self._follow()
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the run and the picked relation."""
        if isinstance(event, RunChanged | RelationPicked):
            self._follow()

    def keep(self) -> None:
        """Save the trial verdict next to the stored one."""
        if (selected_verdict := self._verdict_selection.now()) is not None:
            tried = self._judgement.adjustment_of(selected_verdict.run)
            self._change_kept(selected_verdict, tried, tr("save adjusted verdict"))

    def drop(self) -> None:
        """Delete the saved trial verdict."""
        if (selected_verdict := self._verdict_selection.now()) is not None:
            self._change_kept(selected_verdict, None, tr("delete adjusted verdict"))

    def _change_kept(
        self, selected_verdict: SelectedVerdict, after: Adjustment | None, name: str
    ) -> None:
        run_id, relation_id = selected_verdict.run.id, selected_verdict.relation.id

        def keep(adjustment: Adjustment | None) -> None:
            try:
                self._context.studio.adjusting.keep(run_id, relation_id, adjustment)
            except StudioError as error:
                self.problem_met.emit(report_on(error, tr("Saving the verdict")))

        self._context.edits.change(
            name, _kept(selected_verdict.run, selected_verdict.relation), after, keep
        )

    def _go_back(self) -> None:
        if (selected_verdict := self._verdict_selection.now()) is not None:
            self._judgement.try_nothing(selected_verdict.run, tr("reset to stored verdict"))

    def _try_setting(self, key: str, value: float) -> None:
        if (selected_verdict := self._verdict_selection.now()) is not None:
            name = tr(THRESHOLDS[key][0]).lower()
            self._judgement.try_setting(selected_verdict.run, key, round(value, 3), name)

    def _try_choice(self, key: str, place: int) -> None:
        if (selected_verdict := self._verdict_selection.now()) is not None:
            end = MentionId(key)
            box = choices(selected_verdict, end)[place]
            found = detection_of(box, selected_verdict.run)
            self._judgement.try_choice(selected_verdict.run, end, found, tr("change candidate"))

    def _follow(self) -> None:
        """Update the commands at once; redraw while visible."""
        judged = self._verdict_selection.judged()
        is_tried = judged is not None and self._judgement.is_tried(judged[0])
        actions = self._context.actions
        actions[commands.KEEP_ADJUSTED].setEnabled(is_tried)
        actions[commands.JUDGED_AS_STORED].setEnabled(is_tried)
        is_kept = judged is not None and _kept(*judged) is not None
        actions[commands.DROP_ADJUSTED].setEnabled(is_kept)
        self._clock.request()

    def _draw(self) -> None:
        selected_verdict = self._verdict_selection.now()
        self._waiting.setVisible(selected_verdict is None)
        self._content.setVisible(selected_verdict is not None)
        if selected_verdict is not None:
            run, relation = selected_verdict.run, selected_verdict.relation
            self._forget.setVisible(_kept(run, relation) is not None)
            self._show_tiles(_tiles(selected_verdict, is_tried=self._judgement.is_tried(run)))
            self._form.show_form(self._thresholds(selected_verdict), _choices(selected_verdict))

    def _thresholds(self, selected_verdict: SelectedVerdict) -> list[Threshold]:
        tried = self._judgement.adjustment_of(selected_verdict.run)
        evaluation = selected_verdict.run.evaluation
        if tried is None or evaluation is None:
            return []
        thresholds = []
        for key in thresholds_of(selected_verdict.relation.type):
            if key not in _idle(evaluation.looks):
                name, tip, most = THRESHOLDS[key]
                value, stored = getattr(tried.checker, key), getattr(evaluation.checker, key)
                thresholds.append(Threshold(key, tr(name), tr(tip), value, stored, most))
        return thresholds

    def _show_tiles(self, tiles: tuple[BriefVerdict, ...]) -> None:
        if tiles == self._shown:
            return
        self._shown = tiles
        clear(self._tiles)
        for brief in tiles:
            self._tiles.addWidget(VerdictTile(self._context.theme, brief), 1)


def _idle(looks: Looks) -> set[str]:
    """Return the names of thresholds without effect, as their measurements were not made."""
    idle = set()
    if not looks.perturbed and looks.stability is None:
        idle.add("min_stability")
    if looks.second is None:
        idle.add("min_agreement")
    return idle


def _tiles(selected_verdict: SelectedVerdict, *, is_tried: bool) -> tuple[BriefVerdict, ...]:
    stored = selected_verdict.stored
    tiles = [_brief(tr("Stored"), stored)]
    if is_tried:
        tiles.append(_brief(tr("Adjusted"), selected_verdict.verdict, stored))
    for kept in selected_verdict.run.evaluation.adjusted if selected_verdict.run.evaluation else ():
        if kept.verdict.relation_id == selected_verdict.relation.id:
            tiles.append(_brief(tr("Adjusted by hand"), kept.verdict))
    return tuple(tiles)


def _brief(title: str, verdict: Verdict, stored: Verdict | None = None) -> BriefVerdict:
    remark = tr("confidence {share}").format(share=f"{verdict.confidence:.2f}")
    if verdict.reason is not None:
        remark = verdict.reason.value.replace("_", " ")
    is_new = stored is not None and (verdict.outcome, verdict.reason) != (
        stored.outcome,
        stored.reason,
    )
    return BriefVerdict(title, verdict.outcome, remark, is_new)


def _kept(run: OpenRun, relation: Relation) -> Adjustment | None:
    for kept in run.evaluation.adjusted if run.evaluation else ():
        if kept.verdict.relation_id == relation.id:
            return kept.adjustment
    return None


def _choices(selected_verdict: SelectedVerdict) -> list[Choices]:
    """Return the instances of each end that has several, or an unsure one."""
    found = []
    judged_by = [box.box for box in chosen_boxes(selected_verdict.now)]
    for end in dict.fromkeys(selected_verdict.relation.ends):
        own = choices(selected_verdict, end)
        chosen = next((n for n, box in enumerate(own) if box.box in judged_by), -1)
        if own and (len(own) > 1 or chosen < 0):
            items = tuple(f"{box.score:.2f} · {tr(box.role.value)}" for box in own)
            found.append(Choices(end, selected_verdict.run.scene.detected_name(end), items, chosen))
    return found
