"""A run on the clock of its steps: what ties may change, when guidance was due, means."""

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
from spatialstudio.domain.relation import Relation, RelationId
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from spatialstudio.science.pos.relation_rules import can_guide, relation_pos
from spatialstudio.science.pos.superiority import Ties

NOTHING_BETWEEN = 5e-3
"""Bounds nearer to each other than this are one number when two digits are shown."""
BOUNDS_KEPT = 512
"""Those of two runs on one clock, so that each step is measured once; their maps stay in memory."""


def pos_bounds(
    event: StepEvent, relation: Relation, moment: Moment = Moment.AFTER
) -> tuple[float, float] | None:
    """Say what a relation's PoS is when ties count nothing, and when they count in full.

    Args:
        event: A step with maps.
        relation: One that was measured on it.
        moment: Which reading of the step.

    Returns:
        Both in [0, 1], the lower first; None without maps, or where nobody would see a difference.
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
    """Return the steps so far on which guidance was due, whether it acted or rested."""
    if run.request is None or run.request.sampling.guidance.method_id == UNGUIDED:
        return ()
    schedule = GuidanceSchedule(run.request.sampling.guidance, run.request.sampling.steps)
    return tuple(
        event.step
        for event in run.steps
        if schedule.guides(event.step) or event.step_size is not None
    )


def goal_of(run: OpenRun) -> float | None:
    """Return the PoS at which guidance rests, (0.5, 1]; None without guidance."""
    if run.request is None or run.request.sampling.guidance.method_id == UNGUIDED:
        return None
    return run.request.sampling.guidance.goal


def mean_pos(
    run: OpenRun, first: int, last: int, wanted: Moment = Moment.AFTER
) -> Mapping[RelationId, float]:
    """Average PoS over a range of steps, both ends inclusive, of one reading a step.

    Returns:
        Relation id to the mean of the steps on which it was measured; others are left out.
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
    """Return the moment at which a run's steps can be shown, as near to the wanted as it has."""
    return moment_read(run.steps, wanted) or wanted


def moment_in_words(run: OpenRun, wanted: Moment) -> str:
    """Say when within a step what is shown was read; empty where each step was read once."""
    moment = moment_read(run.steps, wanted)
    if moment is None:
        return ""
    sentence = f"{moment.value[:1].upper()}{moment.value[1:]}"
    return sentence if moment is wanted else f"{sentence}; this run was read at this moment only"


def name_beside(run: OpenRun, second: OpenRun) -> str:
    """Say what a second run is to the first: "Baseline", "Seed 8", "Other run".

    Args:
        run: The open run.
        second: The one beside it.
    """
    asked, beside = run.request, second.request
    if asked is None or beside is None:
        return "Other run"
    if asked.sampling.seed != beside.sampling.seed:
        return f"Seed {beside.sampling.seed}"
    return "Baseline" if _is_unguided(beside) else "Other run"


def name_first(run: OpenRun) -> str:
    """Say what the open run is where another stands beside it: "Guided", or "This run"."""
    return "This run" if goal_of(run) is None else "Guided"


def _is_unguided(request: GenerationRequest) -> bool:
    return (
        request.sampling.guidance.method_id == UNGUIDED or request.sampling.guidance.strength == 0
    )
