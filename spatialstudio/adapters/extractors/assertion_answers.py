"""Reads a prompt taken apart by a language model. The answer is untrusted, and often half right.

Statements are tied to the scene's mentions and relations where they name them; the rest stands for
itself. The form, unlike that of Singh and Zheng 2023, arXiv:2307.04749, holds statement and
question together, so that they cannot come in lists of unequal length.
"""

from collections.abc import Sequence
from typing import Any

from spatialstudio.adapters.chat_client import AnswerForm
from spatialstudio.adapters.extractors.model_answers import UnreadableAnswer, json_objects
from spatialstudio.domain.assertion import Assertion, AssertionId, AssertionKind
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import RelationId, SceneGraph

MAX_ASSERTIONS = 64
MAX_WORDS = 300
ARTICLES = ("a ", "an ", "the ")

ASSERTIONS_FORM = AnswerForm(
    name="assertions",
    schema={
        "type": "object",
        "properties": {
            "assertions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "statement": {"type": "string"},
                        "question": {"type": "string"},
                        "kind": {"type": "string", "enum": [kind.value for kind in AssertionKind]},
                        "about": {"type": "array", "items": {"type": "string"}},
                        "attribute": {"type": "string"},
                    },
                    "required": ["statement", "question", "kind", "about", "attribute"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["assertions"],
        "additionalProperties": False,
    },
)


def read_assertions(text: str, scene: SceneGraph) -> tuple[Assertion, ...]:
    """Read an answer.

    Args:
        text: What the model said.
        scene: What is known of the prompt.

    Raises:
        UnreadableAnswer: It holds no statement with its question.
    """
    listed = (found.get("assertions") for found in json_objects(text))
    rows = next((rows for rows in listed if isinstance(rows, list)), [])
    by_statement = {_plain(row["statement"]): row for row in rows if _is_row(row)}
    if not by_statement:
        raise UnreadableAnswer
    kept = list(by_statement.items())[:MAX_ASSERTIONS]
    return tuple(
        _assertion(AssertionId(f"a{number}"), statement, row, scene)
        for number, (statement, row) in enumerate(kept, 1)
    )


def _is_row(row: object) -> bool:
    return isinstance(row, dict) and all(
        isinstance(row.get(name), str) and 0 < len(row[name].strip()) <= MAX_WORDS
        for name in ("statement", "question")
    )


def _assertion(
    assertion_id: AssertionId, statement: str, row: dict[str, Any], scene: SceneGraph
) -> Assertion:
    about = _mentions(row.get("about"), scene)
    kind = row.get("kind")
    attribute = _plain(row.get("attribute")) if kind == AssertionKind.ATTRIBUTE.value else ""
    relation = _relation(about, scene) if kind == AssertionKind.RELATION.value else None
    is_tied = bool(
        about
        and (kind == AssertionKind.THING.value or attribute or relation)  # else it names no more
    )
    return Assertion(
        id=assertion_id,
        text=statement,
        question=f"{_plain(row['question']).rstrip('?')}?",
        mention_id=about[0] if is_tied else None,
        relation_id=relation,
        attribute=attribute if is_tied else "",
    )


def _mentions(names: object, scene: SceneGraph) -> Sequence[MentionId]:
    """Return the mentions that are named; none when any name is unknown."""
    if not isinstance(names, list):
        return ()
    known = {mention.head.lower(): mention.id for mention in reversed(scene.mentions)}
    known |= {mention.phrase.lower(): mention.id for mention in reversed(scene.mentions)}
    found = [known.get(_without_article(_plain(name).lower())) for name in names]
    return [mention for mention in found if mention] if all(found) else ()


def _relation(about: Sequence[MentionId], scene: SceneGraph) -> RelationId | None:
    """Return the one relation between these things, in this order; None where there are more."""
    found = [known.id for known in scene.relations if known.ends == tuple(about)]
    return found[0] if len(found) == 1 else None


def _plain(value: object) -> str:
    return " ".join(value.split()).rstrip(".") if isinstance(value, str) else ""


def _without_article(name: str) -> str:
    return next((name[len(word) :] for word in ARTICLES if name.startswith(word)), name)
