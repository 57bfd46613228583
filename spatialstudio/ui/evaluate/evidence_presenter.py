"""The selected verdict and its evidence, shown as marks on the stage."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject

from spatialstudio.application.evaluate.adjusting import thresholds_of, verdict_on
from spatialstudio.application.inspect.inspection import (
    attention_at_the_end,
    evidence_of,
    explain_mention,
)
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.evidence import (
    Evidence,
    EvidenceBox,
    Role,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import MentionId, Relation, RelationId
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Adjustment,
    Box,
    Detection,
    Evaluation,
    MentionVerdict,
    Verdict,
)
from spatialstudio.ui.evaluate.verdict_checks import offset_in_words
from spatialstudio.ui.evaluate.widgets.evidence_overlay import (
    NOTHING,
    BandMark,
    BoxMark,
    BoxStyle,
    EvidenceOverlay,
    EvidenceScene,
    GapMark,
)
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.selected_evidence import ShownObjects
from spatialstudio.ui.stage.stage_presenter import hue_of, shows_result
from spatialstudio.ui.widgets.picture_layers import (
    PLAIN_LOOK,
    Layer,
    LayerLook,
)
from spatialstudio.ui.widgets.texts import tr

MOST_UNSURE = 3
"""Maximum number of unsure candidates shown per object; a detector may return hundreds."""
TRACE_OPACITY = 0.7
EMPTY_INSET = 0.08
"""Inset of a missing object's frame, as a fraction of the picture's shorter side."""

Reason = AbstentionReason


@frozen(eq=False)
class SelectedVerdict:
    """One relation of an evaluated run and its trial verdict.

    Attributes:
        run: As evaluated.
        relation: The selected relation.
        seen: Evidence of the stored verdict.
        now: Evidence of the trial verdict; equals ``seen`` without a trial.
        verdict: The trial verdict.
    """

    run: OpenRun
    relation: Relation
    seen: Evidence
    now: Evidence
    verdict: Verdict

    @property
    def stored(self) -> Verdict:
        """The stored verdict."""
        return verdict_on(self.run, self.relation.id)


def picked_relation(run: OpenRun, relation_id: RelationId | None) -> Relation | None:
    """Return the selected relation, or the run's first one if it belongs to another run."""
    for relation in run.scene.relations:
        if relation.id == relation_id:
            return relation
    return next(iter(run.scene.relations), None)


def evidence_scene(
    selected_verdict: SelectedVerdict,
    lit: AbstentionReason | None,
    layers: Collection[Layer],
    looks: Mapping[Layer, LayerLook],
) -> EvidenceScene:
    """Return the marks on the picture.

    Args:
        selected_verdict: The verdict with its run, relation and perception.
        lit: The reason whose evidence is highlighted while the rest is dimmed; None for none.
        layers: Visible layers when nothing is highlighted.
        looks: How layers are drawn.
    """
    if selected_verdict.run.evaluation is None:
        return NOTHING
    perception = selected_verdict.run.evaluation.perception
    scene = EvidenceScene(height=perception.height, width=perception.width)
    if lit is not None:
        return _lit(selected_verdict, lit, scene)
    boxes: list[BoxMark] = []
    if Layer.BOXES in layers:
        boxes += [*_missing(selected_verdict, scene), *_newly_chosen(selected_verdict)]
    if Layer.CANDIDATES in layers:
        boxes += _in_look(candidates(selected_verdict), looks.get(Layer.CANDIDATES, PLAIN_LOOK))
    if Layer.SECOND in layers:
        boxes += _in_look(_second(selected_verdict), looks.get(Layer.SECOND, PLAIN_LOOK))
    shows_band = Layer.BAND in layers
    look = looks.get(Layer.BAND, PLAIN_LOOK)
    bands = tuple(
        replace(mark, opacity=look.opacity, tint=look.hue) for mark in _bands(selected_verdict)
    )
    return replace(
        scene,
        boxes=tuple(boxes),
        bands=bands if shows_band else (),
        gap=_gap(selected_verdict) if shows_band else None,
        words=selected_verdict.now.sentence if shows_band else "",
    )


def instances_scene(run: OpenRun, verdict: MentionVerdict) -> EvidenceScene:
    """Return the numbered instances of a verdict on a count or colour, the rest dimmed."""
    if run.evaluation is None or verdict not in run.evaluation.mention_verdicts:
        return NOTHING
    perception, hue = run.evaluation.perception, hue_of(run.scene, verdict.mention_id)
    return EvidenceScene(
        height=perception.height,
        width=perception.width,
        boxes=tuple(
            BoxMark(
                box=each.box,
                hue=hue,
                style=BoxStyle.CHOSEN,
                label=" ".join([str(number), *(colour.term for colour in each.colours[:1])]),
            )
            for number, each in enumerate(verdict.instances, 1)
        ),
        is_lit=True,
        words=explain_mention(verdict, run.scene, run.evaluation),
    )


def objects_scene(run: OpenRun, shown: ShownObjects) -> EvidenceScene:
    """Return the marks of objects of the picture's scene graph, the rest dimmed."""
    if run.evaluation is None:
        return NOTHING
    perception = run.evaluation.perception
    return EvidenceScene(
        height=perception.height,
        width=perception.width,
        boxes=tuple(
            BoxMark(
                box=each.box,
                hue=hue_of(run.scene, each.mention_id),
                style=BoxStyle.CHOSEN,
                label=" ".join((*sorted(each.attributes), each.kind)),
            )
            for each in shown.objects
            if each.box is not None and each.mention_id is not None
        ),
        is_lit=bool(shown.objects),
        words=", ".join(each.kind for each in shown.objects),
    )


def candidates(selected_verdict: SelectedVerdict) -> tuple[BoxMark, ...]:
    """Return the selectable boxes, each keyed by its own evidence."""
    chosen = [box.box for box in chosen_boxes(selected_verdict.now)]
    return tuple(
        _mark(selected_verdict, box, BoxStyle.GHOST, key=box)
        for end in dict.fromkeys(selected_verdict.relation.ends)
        for box in choices(selected_verdict, end)
        if box.box not in chosen
    )


def choices(selected_verdict: SelectedVerdict, end: MentionId) -> tuple[EvidenceBox, ...]:
    """Return the candidates for one end of the relation, best first."""
    own = [box for box in selected_verdict.seen.boxes if box.mention_id == end]
    sure = (Role.CHOSEN, Role.RIVAL, Role.PASSED_OVER)
    unsure = [box for box in own if box.role is Role.TOO_UNSURE]
    return (*(box for box in own if box.role in sure), *unsure[:MOST_UNSURE])


def chosen_boxes(evidence: Evidence) -> tuple[EvidenceBox, ...]:
    """Return the boxes used for the verdict."""
    return tuple(box for box in evidence.boxes if box.role is Role.CHOSEN)


def detection_of(box: EvidenceBox, run: OpenRun) -> Detection | None:
    """Return the detection of a box; None if it belongs to another picture."""
    seen = run.evaluation.perception.detections if run.evaluation else ()
    wanted = box.mention_id, box.box, box.score
    return next((d for d in seen if (d.mention_id, d.box, d.score) == wanted), None)


def _lit(
    selected_verdict: SelectedVerdict, lit: AbstentionReason, scene: EvidenceScene
) -> EvidenceScene:
    chosen = [
        _mark(selected_verdict, box, BoxStyle.CHOSEN) for box in chosen_boxes(selected_verdict.now)
    ]
    boxes: Sequence[BoxMark] = chosen
    match lit:
        case Reason.MISSING_OBJECT:
            boxes = (*_missing(selected_verdict, scene), *chosen)
        case Reason.AMBIGUOUS_OBJECT:
            rivals = [box for box in selected_verdict.now.boxes if box.role is Role.RIVAL]
            boxes = (*chosen, *(_mark(selected_verdict, box, BoxStyle.CHOSEN) for box in rivals))
        case Reason.UNSTABLE:
            boxes = (*_traces(selected_verdict), *chosen)
        case Reason.DETECTORS_DISAGREE:
            boxes = (*chosen, *_second(selected_verdict))
    is_near = lit is Reason.NEAR_BOUNDARY
    return replace(
        scene,
        boxes=tuple(boxes),
        bands=tuple(replace(m, glows=True) for m in _bands(selected_verdict)) if is_near else (),
        gap=_gap(selected_verdict) if is_near else None,
        hatched=_shared(selected_verdict) if lit is Reason.HIGH_OVERLAP else (),
        differing=_differing(selected_verdict) if lit is Reason.DETECTORS_DISAGREE else (),
        is_lit=True,
        words=selected_verdict.now.sentence,
    )


def _missing(selected_verdict: SelectedVerdict, scene: EvidenceScene) -> Iterator[BoxMark]:
    """Yield a frame for each missing object, and its best candidate below the threshold."""
    found = {box.mention_id for box in chosen_boxes(selected_verdict.now)}
    inset = EMPTY_INSET * min(scene.height, scene.width)
    for place, end in enumerate(end for end in selected_verdict.relation.ends if end not in found):
        ghost = best_unsure(selected_verdict, end)
        thing = selected_verdict.run.scene.detected_name(end)
        if ghost is not None:
            label = tr("{thing}? {score}").format(thing=ghost.label, score=f"{ghost.score:.2f}")
            yield replace(_mark(selected_verdict, ghost, BoxStyle.GHOST, key=ghost), label=label)
            continue
        border = inset * (1 + place)
        whole = Box(
            left=border, top=border, right=scene.width - border, bottom=scene.height - border
        )
        label = tr("{thing}: not found").format(thing=thing)
        hue = hue_of(selected_verdict.run.scene, end)
        yield BoxMark(box=whole, hue=hue, style=BoxStyle.EMPTY, label=label)


def best_unsure(selected_verdict: SelectedVerdict, end: MentionId) -> EvidenceBox | None:
    """Return the best detection of an object below the thresholds, or None."""
    unsure = (
        box
        for box in selected_verdict.now.boxes
        if box.mention_id == end and box.role in (Role.TOO_UNSURE, Role.PASSED_OVER)
    )
    return next(unsure, None)


def _newly_chosen(selected_verdict: SelectedVerdict) -> Iterator[BoxMark]:
    """Yield the boxes that only the trial verdict uses."""
    stored = [box.box for box in chosen_boxes(selected_verdict.seen)]
    for box in chosen_boxes(selected_verdict.now):
        if box.box not in stored:
            yield _mark(selected_verdict, box, BoxStyle.CHOSEN)


def _bands(selected_verdict: SelectedVerdict) -> tuple[BandMark, ...]:
    """Return the undecidable bands; empty unless all ends were found, the subject first."""
    return tuple(
        BandMark(
            band=band,
            centre_xy=chosen_boxes(selected_verdict.now)[0].box.center_xy,
            hue=hue_of(selected_verdict.run.scene, selected_verdict.relation.subject),
            label=_offset(selected_verdict),
        )
        for band in selected_verdict.now.bands
    )


def _offset(selected_verdict: SelectedVerdict) -> str:
    measured = selected_verdict.verdict.measurement
    return "" if measured is None else offset_in_words(selected_verdict.relation.type, measured)


def _gap(selected_verdict: SelectedVerdict) -> GapMark | None:
    measured = selected_verdict.verdict.measurement
    if selected_verdict.now.gap is None or measured is None or measured.gap is None:
        return None
    label = tr("gap {gap} of the diagonal").format(gap=f"{measured.gap:.2f}")
    return GapMark(gap=selected_verdict.now.gap, label=label)


def _shared(selected_verdict: SelectedVerdict) -> tuple[tuple[Box, str], ...]:
    measured = selected_verdict.verdict.measurement
    if selected_verdict.now.intersection is None or measured is None:
        return ()
    return ((selected_verdict.now.intersection, f"IoU {measured.overlap:.2f}"),)


def _traces(selected_verdict: SelectedVerdict) -> Iterator[BoxMark]:
    for answer in selected_verdict.now.perturbed:
        for end, box in zip(selected_verdict.relation.ends, answer.boxes, strict=False):
            hue = hue_of(selected_verdict.run.scene, end)
            yield BoxMark(box=box, hue=hue, style=BoxStyle.TRACE, opacity=TRACE_OPACITY)


def _second(selected_verdict: SelectedVerdict) -> tuple[BoxMark, ...]:
    seconds = (box for box in selected_verdict.now.boxes if box.role is Role.SECOND_OPINION)
    return tuple(_mark(selected_verdict, box, BoxStyle.SECOND) for box in seconds)


def _differing(selected_verdict: SelectedVerdict) -> tuple[tuple[Box, Box], ...]:
    by_role = {
        role: {box.mention_id: box.box for box in selected_verdict.now.boxes if box.role is role}
        for role in (Role.CHOSEN, Role.SECOND_OPINION)
    }
    first, second = by_role.values()
    return tuple((first[end], second[end]) for end in first if end in second)


def _mark(
    selected_verdict: SelectedVerdict, box: EvidenceBox, style: BoxStyle, key: object = None
) -> BoxMark:
    scene = selected_verdict.run.scene
    label = f"{box.label} {box.score:.2f}"
    if style is BoxStyle.SECOND:
        label = tr("2nd: {found}").format(found=label)
    return BoxMark(
        box=box.box, hue=hue_of(scene, box.mention_id), style=style, label=label, key=key
    )


def _in_look(marks: Sequence[BoxMark], look: LayerLook) -> list[BoxMark]:
    return [
        replace(mark, opacity=look.opacity, hue=mark.hue if look.hue is None else look.hue)
        for mark in marks
    ]


class VerdictSelection:
    """Returns the selected verdict, cached until the evaluation, trial or relation changes.

    Args:
        context: Services of the window.
    """

    def __init__(self, context: WindowContext) -> None:
        self._session = context.studio.session
        self._adjusting = context.studio.adjusting
        self._judgement = context.judgement
        self._key: tuple[Evaluation, Adjustment, Relation] | None = None
        self._known: SelectedVerdict | None = None

    def judged(self) -> tuple[OpenRun, Relation] | None:
        """Return the evaluated run and its selected relation, without evidence; None if absent."""
        run = self._session.run
        if run is None or run.evaluation is None:
            return None
        relation = picked_relation(run, self._session.relation_id)
        return None if relation is None else (run, relation)

    def now(self) -> SelectedVerdict | None:
        """Return the selected verdict with its evidence; None while there is no verdict."""
        judged = self.judged()
        if judged is None:
            return None
        run, relation = judged
        adjustment = self._judgement.adjustment_of(run)
        if run.evaluation is None or adjustment is None:
            return None
        key = run.evaluation, adjustment, relation
        if self._known is None or key != self._key:
            self._key = key
            self._known = self._gathered(run, relation, adjustment)
        return self._known

    def _gathered(
        self, run: OpenRun, relation: Relation, adjustment: Adjustment
    ) -> SelectedVerdict:
        other = self._adjusting.adjusted(run, adjustment) if self._judgement.is_tried(run) else run
        verdict = verdict_on(other, relation.id)
        assert run.evaluation is not None
        assert other.evaluation is not None
        stored = verdict_on(run, relation.id)
        attention = attention_at_the_end(run).get(relation.id)
        return SelectedVerdict(
            run=run,
            relation=relation,
            seen=evidence_of(stored, run.scene, run.evaluation, attention),
            now=evidence_of(verdict, run.scene, other.evaluation, attention),
            verdict=verdict,
        )


DECIMALS = 3


class EvidenceStage(QObject):
    """Updates the evidence overlay of one stage.

    Args:
        context: Services of the window.
    """

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._stage = context.stage
        self._session = context.studio.session
        self._judgement = context.judgement
        self._verdict_selection = VerdictSelection(context)
        self.overlay = EvidenceOverlay(context.theme)
        self.overlay.setParent(self)
        self.overlay.margin_picked.connect(self._try_margin)
        self.overlay.candidate_picked.connect(self._try_candidate)

    def draw(self, step: int, *, is_bare: bool = False) -> None:
        """Show the selected verdict's marks; none on an unfinished picture.

        Args:
            step: The shown step.
            is_bare: Whether to hide all overlays.
        """
        lit, run = self._judgement.lit, self._session.run
        if isinstance(lit, ShownObjects):
            can_show = not is_bare and run is not None and shows_result(run, step)
            self.overlay.show_scene(objects_scene(run, lit) if run and can_show else NOTHING)
            return
        if isinstance(lit, MentionVerdict):
            can_show = not is_bare and run is not None and shows_result(run, step)
            self.overlay.show_scene(instances_scene(run, lit) if run and can_show else NOTHING)
            return
        selected_verdict = None if is_bare else self._verdict_selection.now()
        if selected_verdict is None or not shows_result(selected_verdict.run, step):
            self.overlay.show_scene(NOTHING)
            return
        stage = self._stage
        self.overlay.show_scene(evidence_scene(selected_verdict, lit, stage.visible, stage.looks))

    def _try_margin(self, margin: float) -> None:
        if (selected_verdict := self._verdict_selection.now()) is not None:
            setting, *_ = thresholds_of(selected_verdict.relation.type)
            value = round(margin, DECIMALS)
            self._judgement.try_setting(selected_verdict.run, setting, value, tr("change margin"))

    def _try_candidate(self, box: object) -> None:
        if (selected_verdict := self._verdict_selection.now()) is None:
            return
        for chosen in (each for each in selected_verdict.seen.boxes if each == box):
            found = detection_of(chosen, selected_verdict.run)
            name = tr("change candidate")
            self._judgement.try_choice(selected_verdict.run, chosen.mention_id, found, name)
