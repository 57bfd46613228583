"""What a person's own thresholds and choice of instances make of a judged picture.

Nothing is looked at anew: the verdicts follow from what was seen. Small changes of the picture and
a second detector tell of what the checker chose; beside another choice they count as untested.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from spatialstudio.domain.perception import (
    Detection,
    Looks,
    Perception,
)
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import (
    Adjustment,
    CheckerSettings,
    Evaluation,
)
from spatialstudio.science.checker.decide import decide_relation
from spatialstudio.science.checker.measurement import candidates_of


def decide_adjusted(
    evaluation: Evaluation, scene: SceneGraph, adjustment: Adjustment
) -> Evaluation:
    """Judge a judged picture as a person has adjusted it.

    Args:
        evaluation: Holds what was seen.
        scene: What the prompt claims.
        adjustment: The perturbations must be those of the evaluation; a chosen detection that was
            not seen in this picture is let pass.

    Returns:
        With the detections that were chosen from alone, and settings by which they count.
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
    """Keep what was chosen by hand; of all other mentions, what the checker would choose from."""
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
    """Let what was chosen by hand count, however unsure and small it is."""
    picture = seen.width * seen.height
    return replace(
        settings,
        detection_score=min(settings.detection_score, *(d.score for d in chosen.values())),
        min_area_fraction=min(
            settings.min_area_fraction, *(d.box.area / picture for d in chosen.values())
        ),
    )
