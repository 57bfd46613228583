"""Assertions of the DA-score: decomposed, changed by hand, and scored at another temperature."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.assertion import (
    Assertion,
    AssertionId,
    Assertions,
    DaScore,
)
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.questions.da_score import score_again

if TYPE_CHECKING:
    from spatialstudio.application.evaluate.judging import Judging

WORD = re.compile(r"[\w'-]+")
EXISTENCE = {"there", "is", "are", "a", "an", "the"}
"""Words of a statement that say no more than that its object exists."""
BY_HAND = "hand"
"""Source of assertions that the user changed."""


def decompose(judging: "Judging", scene: SceneGraph, reader_id: str) -> Assertions:
    """Return the assertions of a prompt, in the order of its words; may wait for a server.

    Args:
        judging: Knows the assertion readers.
        scene: Scene of the prompt.
        reader_id: Assertion reader; empty to derive them from the scene, offline.
    """
    found = judging.decompose(scene, reader_id or None, CancelFlag())
    return replace(found, prompt=scene.prompt.text)


def with_assertion(
    assertions: Assertions,
    assertion_id: AssertionId,
    text: str,
    question: str,
    scene: SceneGraph | None = None,
) -> Assertions:
    """Return assertions with one changed.

    Another question about the same statement still belongs to its object or relation. A changed
    statement belongs to the one object that it names; what it says beyond its existence is its
    attribute, which the detections answer if it is a colour. One that names several objects or none
    is answered by a question answerer only.

    Args:
        assertions: The assertions.
        assertion_id: The one to change.
        text: Its statement.
        question: Its question.
        scene: Scene of the prompt; None if unknown.
    """
    items = tuple(
        _changed(each, text, question, scene) if each.id == assertion_id else each
        for each in assertions.items
    )
    return _by_hand(assertions, items)


def without_assertion(assertions: Assertions, assertion_id: AssertionId) -> Assertions:
    """Return assertions without one."""
    items = tuple(each for each in assertions.items if each.id != assertion_id)
    return _by_hand(assertions, items)


def with_new_assertion(assertions: Assertions, text: str, question: str) -> Assertions:
    """Return assertions with one added at the end."""
    taken = {each.id for each in assertions.items}
    numbers = (AssertionId(f"a{number}") for number in range(1, len(taken) + 2))
    new_id = next(each for each in numbers if each not in taken)
    added = Assertion(id=new_id, text=text, question=question)
    return _by_hand(assertions, (*assertions.items, added))


def at_temperature(evaluation: Evaluation, temperature: float) -> Evaluation:
    """Return an evaluation whose DA-score is recomputed from the stored answers.

    Args:
        evaluation: An evaluation with a DA-score.
        temperature: Above 0; larger is less confident.
    """
    score = evaluation.da_score
    if score is None:
        return evaluation
    settings = replace(score.settings, temperature=temperature)
    return replace(evaluation, da_score=score_again(score, settings))


def has_log_chances(score: DaScore | None) -> bool:
    """Return whether a score has log-probabilities, which the temperature acts on."""
    return score is not None and any(each.chances is not None for each in score.scores)


def _changed(assertion: Assertion, text: str, question: str, scene: SceneGraph | None) -> Assertion:
    if text == assertion.text:
        return replace(assertion, question=question)
    changed = Assertion(id=assertion.id, text=text, question=question, weight=assertion.weight)
    named = {
        each.id: found
        for each in (scene.mentions if scene else ())
        if (found := re.search(rf"\b{re.escape(each.head)}\b", text, re.IGNORECASE))
    }
    is_about_one = len({found.span() for found in named.values()}) == 1
    own = assertion.mention_id if assertion.mention_id in named else next(iter(named), None)
    if own is None or not is_about_one:
        return changed
    found = named[own]
    words = WORD.findall(text[: found.start()] + text[found.end() :])
    said = " ".join(word for word in words if word.lower() not in EXISTENCE)
    return replace(changed, mention_id=own, attribute=said)


def _by_hand(assertions: Assertions, items: Sequence[Assertion]) -> Assertions:
    if tuple(items) == assertions.items:
        return assertions
    return replace(assertions, items=tuple(items), source_id=BY_HAND)
