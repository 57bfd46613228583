"""Decompositional alignment: assertions of a prompt, and their combination to the DA-score.

Source: Singh and Zheng 2023, arXiv:2307.04749, equations 3 to 6:

    u = exp(yes / T) / (exp(yes / T) + exp(no / T)),        DA = sum of w u / sum of w.

Their code instead uses the probability of "yes" over the whole vocabulary; the settings select
the rule. The log-probabilities are stored, so that rule, temperature and weights can be changed
later. Ours: assertions can be derived from the scene, without a language model; assertions
without an answer are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp, tanh

from spatialstudio.domain.assertion import (
    DA_RECOMMENDED,
    Assertion,
    AssertionId,
    AssertionKind,
    Assertions,
    AssertionScore,
    DaScore,
    DaSettings,
    QuestionAnswer,
    YesNoChances,
    YesRule,
)
from spatialstudio.domain.requirements import requirements_of
from spatialstudio.domain.scene import ObjectMention, Relation, SceneGraph

SCENE_ID = "scene"
_VOWELS = "aeiou"


def assertions_of(scene: SceneGraph) -> Assertions:
    """Return the assertions of a scene: objects, counts, attributes, then relations, in order."""
    statements = (
        *(_existence(mention) for mention in scene.mentions),
        *(claim for mention in scene.mentions for claim in _count(mention, scene)),
        *(claim for mention in scene.mentions for claim in _attributes(mention, scene)),
        *(_relation(relation, scene) for relation in scene.relations),
    )
    return Assertions(items=statements, source_id=SCENE_ID)


def yes_probability(chances: YesNoChances, settings: DaSettings = DA_RECOMMENDED) -> float:
    """Return the probability of "yes", [0, 1], under the settings' rule and temperature."""
    if settings.rule is YesRule.AMONG_ALL:
        return min(exp(chances.log_yes), 1.0)
    return (1 + tanh((chances.log_yes - chances.log_no) / settings.temperature / 2)) / 2


def score_answers(
    assertions: Assertions,
    answers: Sequence[QuestionAnswer],
    source_id: str,
    settings: DaSettings = DA_RECOMMENDED,
) -> DaScore:
    """Compute the DA-score of an image from the answers of a question answerer.

    Args:
        assertions: The assertions of the prompt.
        answers: One per assertion.
        source_id: The question answerer.
        settings: How answers are combined.
    """
    scores = [
        AssertionScore(
            assertion=assertion,
            probability_yes=(
                None if answer.chances is None else yes_probability(answer.chances, settings)
            ),
            chances=answer.chances,
            note=answer.note,
        )
        for assertion, answer in zip(assertions.items, answers, strict=True)
    ]
    return da_score(assertions, scores, source_id, settings)


def da_score(
    assertions: Assertions,
    scores: Sequence[AssertionScore],
    source_id: str,
    settings: DaSettings = DA_RECOMMENDED,
) -> DaScore:
    """Compute the weighted mean over answered assertions; arguments as for ``score_answers``."""
    weighed = tuple(_weighed(score, settings) for score in scores)
    return DaScore(
        value=_mean(weighed),
        scores=weighed,
        source_id=source_id,
        asserted_by=assertions.source_id,
        settings=settings,
        notes=assertions.notes,
    )


def score_again(score: DaScore, settings: DaSettings) -> DaScore:
    """Recompute a DA-score from its stored answers with other settings."""
    weighed = tuple(_weighed(_reread(one, settings), settings) for one in score.scores)
    return replace(score, value=_mean(weighed), scores=weighed, settings=settings)


def _reread(score: AssertionScore, settings: DaSettings) -> AssertionScore:
    if score.chances is None:
        return score
    return replace(score, probability_yes=yes_probability(score.chances, settings))


def _weighed(score: AssertionScore, settings: DaSettings) -> AssertionScore:
    weights = {
        AssertionKind.THING: settings.thing_weight,
        AssertionKind.COUNT: settings.count_weight,
        AssertionKind.ATTRIBUTE: settings.attribute_weight,
        AssertionKind.RELATION: settings.relation_weight,
        AssertionKind.OTHER: settings.other_weight,
    }
    assertion = replace(score.assertion, weight=weights[score.assertion.kind])
    return replace(score, assertion=assertion)


def _mean(scores: Sequence[AssertionScore]) -> float | None:
    answered = [
        (score.assertion.weight, score.probability_yes)
        for score in scores
        if score.probability_yes is not None
    ]
    total = sum(weight for weight, _ in answered)
    return sum(weight * chance for weight, chance in answered) / total if total > 0 else None


def _existence(mention: ObjectMention) -> Assertion:
    thing = f"{'an' if mention.head[:1].lower() in _VOWELS else 'a'} {mention.head}"
    return Assertion(
        id=AssertionId(mention.id),
        text=f"there is {thing}",
        question=f"is there {thing}?",
        mention_id=mention.id,
    )


def _count(mention: ObjectMention, scene: SceneGraph) -> Iterator[Assertion]:
    quantity = requirements_of(scene, mention.id).quantity
    if quantity is not None:
        noun = mention.phrase.split()[-1] if mention.is_plural else mention.head
        verb = "are" if mention.is_plural else "is"
        yield Assertion(
            id=AssertionId(f"{mention.id}.count"),
            text=f"there {verb} {quantity.words} {noun}",
            question=f"{verb} there {quantity.words} {noun}?",
            mention_id=mention.id,
            count=quantity.words,
        )


def _attributes(mention: ObjectMention, scene: SceneGraph) -> Iterator[Assertion]:
    required = requirements_of(scene, mention.id)
    for attribute in (*(each.words for each in required.colours), *required.others):
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
