"""Decompositional alignment: a prompt's assertions, and how far a picture shows each of them.

Source: Singh and Zheng 2023, arXiv:2307.04749, equations 3 to 6. Their code takes the probability
of "yes" over a whole vocabulary; ours is that of yes against no, with a temperature. Ours too: the
assertions come from the scene, and the perception itself can answer, without another model: a thing
is there as surely as its best instance was found, and a relation holds with the probability that
its ends are there times the PoS of their masks. It cannot tell attributes and leaves them out.
"""

from collections.abc import Iterator, Sequence
from math import prod, tanh

from spatialstudio.domain.assertion import Assertion, AssertionId, AssertionScore, DaScore
from spatialstudio.domain.perception import Perception
from spatialstudio.domain.prompt import MentionId, ObjectMention
from spatialstudio.domain.relation import Relation, SceneGraph
from spatialstudio.science.pse import relation_pse

PERCEPTION_ID = "perception"
_VOWELS = "aeiou"


def assertions_of(scene: SceneGraph) -> tuple[Assertion, ...]:
    """Take a scene apart: things, then their attributes, then relations, in the scene's order."""
    statements = [
        *(_existence(mention) for mention in scene.mentions),
        *(claim for mention in scene.mentions for claim in _attributes(mention)),
        *(_relation(relation, scene) for relation in scene.relations),
    ]
    return tuple(statements)


def yes_probability(yes_logit: float, no_logit: float, temperature: float = 1.0) -> float:
    """Return the probability of yes against no, [0, 1].

    Args:
        yes_logit: Of the answer "yes".
        no_logit: Of the answer "no".
        temperature: Above 0; larger is less sure.
    """
    return (1 + tanh((yes_logit - no_logit) / temperature / 2)) / 2


def da_score(scores: Sequence[AssertionScore], source_id: str) -> DaScore:
    """Combine the answers to a weighted mean over what could be answered."""
    answered = [
        (score.assertion.weight, score.probability_yes)
        for score in scores
        if score.probability_yes is not None
    ]
    total = sum(weight for weight, _ in answered)
    value = sum(weight * chance for weight, chance in answered) / total if total > 0 else None
    return DaScore(value=value, scores=tuple(scores), source_id=source_id)


def score_by_perception(scene: SceneGraph, perception: Perception) -> DaScore:
    """Score a picture by what was seen in it."""
    scores = [
        AssertionScore(assertion=claim, probability_yes=_answer(claim, scene, perception))
        for claim in assertions_of(scene)
    ]
    return da_score(scores, PERCEPTION_ID)


def _answer(claim: Assertion, scene: SceneGraph, perception: Perception) -> float | None:
    if claim.attribute:
        return None
    if claim.relation_id is None:
        return _presence(claim.mention_id, scene, perception)
    relation = next(known for known in scene.relations if known.id == claim.relation_id)
    presences = [_presence(end, scene, perception) for end in relation.ends]
    known = [presence for presence in presences if presence is not None]
    if len(known) < len(presences):
        return None
    if not all(known):
        return 0.0
    pos = relation_pse(relation, perception).pos
    return None if pos is None else prod(known) * pos


def _presence(mention: MentionId, scene: SceneGraph, perception: Perception) -> float | None:
    """Return how surely a thing is there, [0, 1]; None when the detector has no class for it."""
    if scene.mention(mention).head in perception.missing_classes:
        return None
    return max((found.score for found in perception.detections_of(mention)), default=0.0)


def _existence(mention: ObjectMention) -> Assertion:
    thing = f"{'an' if mention.head[:1].lower() in _VOWELS else 'a'} {mention.head}"
    return Assertion(
        id=AssertionId(mention.id),
        text=f"there is {thing}",
        question=f"is there {thing}?",
        mention_id=mention.id,
    )


def _attributes(mention: ObjectMention) -> Iterator[Assertion]:
    for attribute in mention.attributes:
        yield Assertion(
            id=AssertionId(f"{mention.id}.{attribute}"),
            text=f"the {mention.head} is {attribute}",
            question=f"is the {mention.head} {attribute}?",
            mention_id=mention.id,
            attribute=attribute,
        )


def _relation(relation: Relation, scene: SceneGraph) -> Assertion:
    subject, *others = (f"the {scene.mention(end).head}" for end in relation.ends)
    place = f"{relation.type.phrase} {' and '.join(others)}"
    return Assertion(
        id=AssertionId(relation.id),
        text=f"{subject} is {place}",
        question=f"is {subject} {place}?",
        mention_id=relation.subject,
        relation_id=relation.id,
    )
