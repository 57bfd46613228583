"""Pictures of a generated population, and sessions planned from it."""

import random

from spatialstudio.application.audit.sessions import SessionPlan, plan_session
from spatialstudio.domain.audit import AuditCandidate, AuditItem, Stratum
from spatialstudio.domain.verdict import Outcome

RELATIONS = ("left_of", "right_of", "above", "below")


def item_of(number, verdict=Outcome.PASS, confidence=0.5, method="promptonly", scores=None):
    """Return one picture; every four pictures share a prompt."""
    relation = RELATIONS[number // 4 % 4]
    usual = {
        "image_path": f"pictures/{number:04d}.png",
        "overlay_path": "",
        "prompt": f"a dog {relation} a cat, scene {number // 4}",
        "object_a": "dog",
        "object_b": "cat",
        "run_id": "run",
        "run_path": "run",
    }
    candidate = AuditCandidate(
        id=f"sample {number:04d}",
        stratum=Stratum(method=method, relation=relation, verdict=verdict),
        confidence=confidence,
    )
    return AuditItem(candidate=candidate, weight=1.0, fields=usual, scores=scores or {})


def population_of(count, seed=0):
    """Return pictures with random verdicts and confidences, of three methods."""
    chance = random.Random(seed)
    outcomes, methods = list(Outcome), ("boxdiff", "gligen", "promptonly")
    return tuple(
        item_of(number, chance.choice(outcomes), round(chance.random(), 4), chance.choice(methods))
        for number in range(count)
    )


def session_of(count=6, rater="Ada", *, is_adjudication=False, **plan):
    """Return a session over a whole generated population."""
    plan = SessionPlan(rater=rater, size=None, **plan)
    return plan_session(population_of(count), plan, is_adjudication=is_adjudication)
