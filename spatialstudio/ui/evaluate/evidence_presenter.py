"""Turns the evidence behind a verdict into marks on the picture."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.evidence import (
    Evidence,
    EvidenceBox,
    Role,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import Box, Detection
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import Relation, RelationId
from spatialstudio.domain.verdict import AbstentionReason, Verdict
from spatialstudio.ui.evaluate.widgets.evidence_marks import (
    NOTHING,
    BandMark,
    BoxMark,
    BoxStyle,
    EvidenceScene,
    GapMark,
)
from spatialstudio.ui.stage.stage_presenter import hue_of
from spatialstudio.ui.widgets.picture_layers import (
    PLAIN_LOOK,
    Layer,
    LayerLook,
)
from spatialstudio.ui.widgets.texts import tr

MOST_UNSURE = 3
"""Unsure candidates of a thing that are shown; a detector may have hundreds."""
TRACE_OPACITY = 0.7
EMPTY_INSET = 0.08
"""How far from the picture's border a missing thing's frame lies, share of the shorter side."""

Reason = AbstentionReason


@frozen(eq=False)
class LookedAt:
    """One relation of a judged run, and what is tried with it.

    Attributes:
        run: As it was judged.
        relation: That is looked at.
        seen: What lies behind the stored verdict.
        now: What lies behind the verdict with the change; ``seen`` without one.
        verdict: With the change.
    """

    run: OpenRun
    relation: Relation
    seen: Evidence
    now: Evidence
    verdict: Verdict


def picked_relation(run: OpenRun, relation_id: RelationId | None) -> Relation | None:
    """Return the relation that is looked at: the first when the picked one is of another run."""
    for relation in run.scene.relations:
        if relation.id == relation_id:
            return relation
    return next(iter(run.scene.relations), None)


def evidence_scene(
    looked_at: LookedAt,
    lit: AbstentionReason | None,
    layers: Collection[Layer],
    looks: Mapping[Layer, LayerLook],
) -> EvidenceScene:
    """Return the marks on the picture.

    Args:
        looked_at: What is looked at.
        lit: The reason whose evidence stands out while all else dims; None for none.
        layers: In sight, when nothing is lit.
        looks: How layers are drawn.
    """
    if looked_at.run.evaluation is None:
        return NOTHING
    perception = looked_at.run.evaluation.perception
    scene = EvidenceScene(height=perception.height, width=perception.width)
    if lit is not None:
        return _lit(looked_at, lit, scene)
    boxes: list[BoxMark] = []
    if Layer.BOXES in layers:
        boxes += [*_missing(looked_at, scene), *_newly_chosen(looked_at)]
    if Layer.CANDIDATES in layers:
        boxes += _in_look(candidates(looked_at), looks.get(Layer.CANDIDATES, PLAIN_LOOK))
    if Layer.SECOND in layers:
        boxes += _in_look(_second(looked_at), looks.get(Layer.SECOND, PLAIN_LOOK))
    shows_band = Layer.BAND in layers
    look = looks.get(Layer.BAND, PLAIN_LOOK)
    bands = tuple(replace(mark, opacity=look.opacity, tint=look.hue) for mark in _bands(looked_at))
    return replace(
        scene,
        boxes=tuple(boxes),
        bands=bands if shows_band else (),
        gap=_gap(looked_at) if shows_band else None,
        words=looked_at.now.sentence if shows_band else "",
    )


def candidates(looked_at: LookedAt) -> tuple[BoxMark, ...]:
    """Return the boxes that could have been chosen, each with itself as key."""
    chosen = [box.box for box in chosen_boxes(looked_at.now)]
    return tuple(
        _mark(looked_at, box, BoxStyle.GHOST, key=box)
        for end in dict.fromkeys(looked_at.relation.ends)
        for box in choices(looked_at, end)
        if box.box not in chosen
    )


def choices(looked_at: LookedAt, end: MentionId) -> tuple[EvidenceBox, ...]:
    """Return what can be chosen of an end of the relation, best first."""
    own = [box for box in looked_at.seen.boxes if box.mention_id == end]
    sure = (Role.CHOSEN, Role.RIVAL, Role.PASSED_OVER)
    unsure = [box for box in own if box.role is Role.TOO_UNSURE]
    return (*(box for box in own if box.role in sure), *unsure[:MOST_UNSURE])


def chosen_boxes(evidence: Evidence) -> tuple[EvidenceBox, ...]:
    """Return the boxes that were judged by."""
    return tuple(box for box in evidence.boxes if box.role is Role.CHOSEN)


def detection_of(box: EvidenceBox, run: OpenRun) -> Detection | None:
    """Return what was detected there; None when it is of another picture."""
    seen = run.evaluation.perception.detections if run.evaluation else ()
    wanted = box.mention_id, box.box, box.score
    return next((d for d in seen if (d.mention_id, d.box, d.score) == wanted), None)


def _lit(looked_at: LookedAt, lit: AbstentionReason, scene: EvidenceScene) -> EvidenceScene:
    chosen = [_mark(looked_at, box, BoxStyle.CHOSEN) for box in chosen_boxes(looked_at.now)]
    boxes: Sequence[BoxMark] = chosen
    match lit:
        case Reason.MISSING_OBJECT:
            boxes = (*_missing(looked_at, scene), *chosen)
        case Reason.AMBIGUOUS_OBJECT:
            rivals = [box for box in looked_at.now.boxes if box.role is Role.RIVAL]
            boxes = (*chosen, *(_mark(looked_at, box, BoxStyle.CHOSEN) for box in rivals))
        case Reason.UNSTABLE:
            boxes = (*_traces(looked_at), *chosen)
        case Reason.DETECTORS_DISAGREE:
            boxes = (*chosen, *_second(looked_at))
    is_near = lit is Reason.NEAR_BOUNDARY
    return replace(
        scene,
        boxes=tuple(boxes),
        bands=tuple(replace(m, glows=True) for m in _bands(looked_at)) if is_near else (),
        gap=_gap(looked_at) if is_near else None,
        hatched=_shared(looked_at) if lit is Reason.HIGH_OVERLAP else (),
        differing=_differing(looked_at) if lit is Reason.DETECTORS_DISAGREE else (),
        is_lit=True,
        words=looked_at.now.sentence,
    )


def _missing(looked_at: LookedAt, scene: EvidenceScene) -> Iterator[BoxMark]:
    """Yield a frame for each thing that was not found, and its best candidate below all else."""
    found = {box.mention_id for box in chosen_boxes(looked_at.now)}
    inset = EMPTY_INSET * min(scene.height, scene.width)
    for place, end in enumerate(end for end in looked_at.relation.ends if end not in found):
        ghost = best_unsure(looked_at, end)
        thing = looked_at.run.scene.detected_name(end)
        if ghost is not None:
            label = tr("{thing}? {score}").format(thing=ghost.label, score=f"{ghost.score:.2f}")
            yield replace(_mark(looked_at, ghost, BoxStyle.GHOST, key=ghost), label=label)
            continue
        border = inset * (1 + place)
        whole = Box(
            left=border, top=border, right=scene.width - border, bottom=scene.height - border
        )
        label = tr("no {thing} anywhere").format(thing=thing)
        hue = hue_of(looked_at.run.scene, end)
        yield BoxMark(box=whole, hue=hue, style=BoxStyle.EMPTY, label=label)


def best_unsure(looked_at: LookedAt, end: MentionId) -> EvidenceBox | None:
    """Return the best detection of a thing that is below the thresholds; None without any."""
    unsure = (
        box
        for box in looked_at.now.boxes
        if box.mention_id == end and box.role in (Role.TOO_UNSURE, Role.PASSED_OVER)
    )
    return next(unsure, None)


def _newly_chosen(looked_at: LookedAt) -> Iterator[BoxMark]:
    """Yield the boxes that are judged by only with the change."""
    stored = [box.box for box in chosen_boxes(looked_at.seen)]
    for box in chosen_boxes(looked_at.now):
        if box.box not in stored:
            yield _mark(looked_at, box, BoxStyle.CHOSEN)


def _bands(looked_at: LookedAt) -> tuple[BandMark, ...]:
    """Return the bands; there are none unless all ends were found, the subject first."""
    return tuple(
        BandMark(
            band=band,
            centre_xy=chosen_boxes(looked_at.now)[0].box.center_xy,
            hue=hue_of(looked_at.run.scene, looked_at.relation.subject),
            label=_offset(looked_at),
        )
        for band in looked_at.now.bands
    )


def _offset(looked_at: LookedAt) -> str:
    measured = looked_at.verdict.measurement
    if measured is None or measured.delta is None:
        return ""
    return tr("{offset} of {margin}").format(
        offset=f"{abs(measured.delta):.2f}", margin=f"{measured.margin:.2f}"
    )


def _gap(looked_at: LookedAt) -> GapMark | None:
    measured = looked_at.verdict.measurement
    if looked_at.now.gap is None or measured is None or measured.gap is None:
        return None
    label = tr("gap {gap} of the diagonal").format(gap=f"{measured.gap:.2f}")
    return GapMark(gap=looked_at.now.gap, label=label)


def _shared(looked_at: LookedAt) -> tuple[tuple[Box, str], ...]:
    measured = looked_at.verdict.measurement
    if looked_at.now.intersection is None or measured is None:
        return ()
    return ((looked_at.now.intersection, f"IoU {measured.overlap:.2f}"),)


def _traces(looked_at: LookedAt) -> Iterator[BoxMark]:
    for answer in looked_at.now.perturbed:
        for end, box in zip(looked_at.relation.ends, answer.boxes, strict=False):
            hue = hue_of(looked_at.run.scene, end)
            yield BoxMark(box=box, hue=hue, style=BoxStyle.TRACE, opacity=TRACE_OPACITY)


def _second(looked_at: LookedAt) -> tuple[BoxMark, ...]:
    seconds = (box for box in looked_at.now.boxes if box.role is Role.SECOND_OPINION)
    return tuple(_mark(looked_at, box, BoxStyle.SECOND) for box in seconds)


def _differing(looked_at: LookedAt) -> tuple[tuple[Box, Box], ...]:
    by_role = {
        role: {box.mention_id: box.box for box in looked_at.now.boxes if box.role is role}
        for role in (Role.CHOSEN, Role.SECOND_OPINION)
    }
    first, second = by_role.values()
    return tuple((first[end], second[end]) for end in first if end in second)


def _mark(looked_at: LookedAt, box: EvidenceBox, style: BoxStyle, key: object = None) -> BoxMark:
    scene = looked_at.run.scene
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
