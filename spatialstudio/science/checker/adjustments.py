"""Re-evaluation of an image with thresholds and instances chosen by the user.

Verdicts are computed from the stored perception; no model runs. Perturbations and the second
detector apply to the checker's choice; for other instances they count as untested.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.domain.verdict import (
    Adjustment,
    CheckerSettings,
    Detection,
    Evaluation,
    Looks,
    Perception,
)
from spatialstudio.science.checker.decide import decide_relation
from spatialstudio.science.checker.measurement import candidates_of


def decide_adjusted(
    evaluation: Evaluation, scene: SceneGraph, adjustment: Adjustment
) -> Evaluation:
    """Return an evaluation with the user's adjustment applied.

    Args:
        evaluation: The evaluation, with its perception.
        scene: The scene graph.
        adjustment: The perturbations must be those of the evaluation; a chosen detection that is
            not in its perception is ignored.

    Returns:
        The evaluation, reduced to the detections that were considered, with settings under which
        the chosen detections pass the thresholds.
    """
    settings = adjustment.checker
    seen = evaluation.perception
    seen = replace(seen, cut=min(seen.cut, settings.detection_score))
    chosen = {each.mention_id: each for each in adjustment.choices if each in seen.detections}
    if chosen:
        seen = _narrowed(seen, settings, chosen)
        settings = _lowered(settings, chosen, seen)
    verdicts = tuple(
        decide_relation(
            relation,
            seen,
            settings,
            Looks() if chosen.keys() & set(relation.ends) else evaluation.looks,
        )
        for relation in scene.relations
    )
    return replace(evaluation, perception=seen, verdicts=verdicts, checker=settings)


def _narrowed(
    seen: Perception, settings: CheckerSettings, chosen: Mapping[MentionId, Detection]
) -> Perception:
    """Reduce a perception to the user's choices and the checker's candidates elsewhere."""
    kept = list(_kept(seen, settings, chosen))
    places = [place for place, found in enumerate(seen.detections) if found in kept]
    masks = seen.masks
    if len(masks) == len(seen.detections):
        masks = tuple(masks[place] for place in places)
    detections = tuple(seen.detections[place] for place in places)
    return replace(seen, detections=detections, masks=masks)


def _kept(
    seen: Perception, settings: CheckerSettings, chosen: Mapping[MentionId, Detection]
) -> Iterator[Detection]:
    for mention in dict.fromkeys(found.mention_id for found in seen.detections):
        if mention in chosen:
            yield chosen[mention]
            continue
        candidates = candidates_of(mention, seen, settings)
        if candidates.are_ambiguous:
            yield from candidates.rivals
        elif candidates.chosen is not None:
            yield candidates.chosen


def _lowered(
    settings: CheckerSettings, chosen: Mapping[MentionId, Detection], seen: Perception
) -> CheckerSettings:
    """Lower the thresholds so that the user's choices pass."""
    picture = seen.width * seen.height
    return replace(
        settings,
        detection_score=min(settings.detection_score, *(d.score for d in chosen.values())),
        min_area_fraction=min(
            settings.min_area_fraction, *(d.box.area / picture for d in chosen.values())
        ),
    )
