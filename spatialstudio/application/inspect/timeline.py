"""A run over its steps: PoS bounds, guided steps, means and names."""

from collections.abc import Mapping
from functools import lru_cache

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import AttentionSnapshot, Moment
from spatialstudio.domain.generation import (
    UNGUIDED,
    GenerationRequest,
    StepEvent,
    moment_read,
)
from spatialstudio.domain.scene import Relation, RelationId
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from spatialstudio.science.pos.relation_rules import can_guide, relation_pos
from spatialstudio.science.pos.superiority import Ties

NOTHING_BETWEEN = 5e-3
"""Difference below which two bounds are equal at two displayed digits."""
BOUNDS_KEPT = 512
"""Size of the cache, enough for two runs on one timeline; it keeps their maps in memory."""


def pos_bounds(
    event: StepEvent, relation: Relation, moment: Moment = Moment.AFTER
) -> tuple[float, float] | None:
    """Return a relation's PoS with ties counted as zero and as one.

    Args:
        event: A step with maps.
        relation: A relation measured on the step.
        moment: Reading of the step.

    Returns:
        Both in [0, 1], lower first; None without maps, or if the difference is not visible.
    """
    attention = event.attention_at(moment)
    if attention is None or not can_guide(relation.type):
        return None
    return _bounds(attention, relation)


@lru_cache(maxsize=BOUNDS_KEPT)
def _bounds(attention: AttentionSnapshot, relation: Relation) -> tuple[float, float] | None:
    if any(end not in attention.maps for end in relation.ends):
        return None
    maps = [attention.maps[end] for end in relation.ends]
    if not all(weights.any() for weights in maps):
        return None
    strict, inclusive = (
        float(relation_pos(relation.type, maps, ties)) for ties in (Ties.STRICT, Ties.INCLUSIVE)
    )
    return (strict, inclusive) if inclusive - strict >= NOTHING_BETWEEN else None


def due_steps(run: OpenRun) -> tuple[int, ...]:
    """Return the steps so far on which guidance was due, whether it acted or paused."""
    if run.request is None or run.request.sampling.guidance.method_id == UNGUIDED:
        return ()
    schedule = GuidanceSchedule(run.request.sampling.guidance, run.request.sampling.steps)
    return tuple(
        event.step
        for event in run.steps
        if schedule.guides(event.step) or event.step_size is not None
    )


def goal_of(run: OpenRun) -> float | None:
    """Return the PoS at which guidance pauses, (0.5, 1]; None without guidance."""
    if run.request is None or run.request.sampling.guidance.method_id == UNGUIDED:
        return None
    return run.request.sampling.guidance.goal


def mean_pos(
    run: OpenRun, first: int, last: int, wanted: Moment = Moment.AFTER
) -> Mapping[RelationId, float]:
    """Return the mean PoS over a range of steps, both ends inclusive, one reading per step.

    Returns:
        Means by relation id; relations without a measurement are omitted.
    """
    means = {}
    moment = moment_of(run, wanted)
    for relation in run.scene.relations:
        values = [
            event.pos_at(moment)[relation.id]
            for event in run.steps
            if first <= event.step <= last and relation.id in event.pos_at(moment)
        ]
        if values:
            means[relation.id] = sum(values) / len(values)
    return means


def moment_of(run: OpenRun, wanted: Moment) -> Moment:
    """Return the available moment of a run's steps that is closest to the wanted one."""
    return moment_read(run.steps, wanted) or wanted


def moment_in_words(run: OpenRun, wanted: Moment) -> str:
    """Describe the moment of a reading within a step; empty for one reading per step."""
    moment = moment_read(run.steps, wanted)
    if moment is None:
        return ""
    sentence = f"{moment.value[:1].upper()}{moment.value[1:]}"
    return sentence if moment is wanted else f"{sentence}; this run was read at this moment only"


def name_beside(run: OpenRun, second: OpenRun) -> str:
    """Return the name of a second run relative to the open one: "Baseline", "Seed 8", "Other run".

    Args:
        run: The open run.
        second: The comparison run.
    """
    asked, beside = run.request, second.request
    if asked is None or beside is None:
        return "Other run"
    if asked.sampling.seed != beside.sampling.seed:
        return f"Seed {beside.sampling.seed}"
    return "Baseline" if _is_unguided(beside) else "Other run"


def name_first(run: OpenRun) -> str:
    """Return the name of the open run in a comparison: "Guided" or "This run"."""
    return "This run" if goal_of(run) is None else "Guided"


def _is_unguided(request: GenerationRequest) -> bool:
    return (
        request.sampling.guidance.method_id == UNGUIDED or request.sampling.guidance.strength == 0
    )
