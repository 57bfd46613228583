"""Relations that no relation type names, such as "chasing", as an answerer judged them.

The assertions of a language model state them ("the dog is chasing the cat"); a question answerer
says whether the picture shows them. It does not say which of several objects it means, so that a
verb holds between all objects of its classes. Without an answer a verb is not compared.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from spatialstudio.domain.assertion import AssertionKind
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.graph_match import VERB, GraphRelation, ObjectGraph
from spatialstudio.domain.requirements import requirements_of
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.domain.verdict import Evaluation

_WORD = re.compile(r"[\w'-]+")
_UNSAID = frozenset({"a", "an", "the", "is", "are", "was", "were", "some", "its", "their"})
"""Words that belong to no verb."""


@frozen
class Verb:
    """A statement on two objects.

    Attributes:
        subject: The first object.
        object: The second.
        relation_type: Name of its edges: "verb:chasing".
        chance: Probability that the picture shows it, [0, 1].
    """

    subject: MentionId
    object: MentionId
    relation_type: str
    chance: float


def answered_verbs(scene: SceneGraph, evaluation: Evaluation) -> tuple[Verb, ...]:
    """Return the statements with an answer that name two objects of a scene."""
    answered = evaluation.da_score.scores if evaluation.da_score else ()
    found = (
        _verb_in(each.assertion.text, scene, each.probability_yes)
        for each in answered
        if each.assertion.kind is AssertionKind.OTHER and each.probability_yes is not None
    )
    return tuple(verb for verb in found if verb is not None)


def with_verbs(graph: ObjectGraph, verbs: tuple[Verb, ...], least: float = 0.0) -> ObjectGraph:
    """Return a graph with the verbs of at least a probability between the objects they name."""
    edges = (edge for verb in verbs if verb.chance >= least for edge in _edges(graph, verb))
    return replace(graph, relations=tuple(dict.fromkeys((*graph.relations, *edges))))


def _edges(graph: ObjectGraph, verb: Verb) -> Iterator[GraphRelation]:
    for subject in graph.objects:
        for other in graph.objects:
            ends = subject.mention_id, other.mention_id
            if ends == (verb.subject, verb.object) and subject.id != other.id:
                yield GraphRelation(
                    subject=subject.id, object=other.id, relation_type=verb.relation_type
                )


def _verb_in(text: str, scene: SceneGraph, chance: float) -> Verb | None:
    """Return the verb between the first two objects that a statement names; None without one."""
    words = [word.lower() for word in _WORD.findall(text)]
    named = sorted(
        (*place, mention.id)
        for mention in scene.mentions
        if (place := _place(mention.head.lower().split(), words)) is not None
    )
    if len(named) < 2:  # noqa: PLR2004 - subject and object
        return None
    (_, stop, subject), (start, _, other) = named[:2]
    required = requirements_of(scene, other)
    said = {*required.others, *(colour.words for colour in required.colours)}
    described = {word for text in said for word in text.lower().split()}
    between = [word for word in words[stop:start] if word not in _UNSAID | described]
    if not between:
        return None
    name = f"{VERB}{' '.join(between)}"
    return Verb(subject=subject, object=other, relation_type=name, chance=chance)


def _place(head: list[str], words: list[str]) -> tuple[int, int] | None:
    """Return start and stop of a head in a text, singular or plural; None where it is absent."""
    for start in range(len(words) - len(head) + 1):
        stop = start + len(head)
        if words[start:stop] in (head, [*head[:-1], f"{head[-1]}s"]):
            return start, stop
    return None
