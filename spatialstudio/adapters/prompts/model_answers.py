"""Parser for the answers of a language model, which are untrusted and often malformed.

Accepted are the requested JSON, alone, within prose or truncated; and the lines
``(object1, object2, relation)`` of Rezaei et al. 2025, arXiv:2506.23418, appendix B.7.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from spatialstudio.adapters.prompts.vocabulary import plain_phrase, registered_phrases
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    BELOW,
    BUILT_IN_TYPES,
    FAR_FROM,
    FLANKS,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    RelationType,
    Shape,
    relation_types,
)

MAX_RELATIONS = 64
MAX_NAME = 100
RELATION_TYPES = "RELATION_TYPES"
"""Placeholder in the instruction for the list of relation types."""
RETRIES, LEAST_RETRY = 8, 0.01
"""Budget for retries on broken JSON, in multiples of its length; minimum cost of one retry."""

PAPER_LINE = re.compile(r"\(([^,()\n]+),([^,()\n]+),([^,()\n]+)\)")
PLAIN_NAMES = {
    "left": LEFT_OF,
    "right": RIGHT_OF,
    "top": ABOVE,
    "on": ABOVE,
    "over": ABOVE,
    "on_top_of": ABOVE,
    "bottom": BELOW,
    "under": BELOW,
    "beneath": BELOW,
    "in_front": IN_FRONT_OF,
    "front": IN_FRONT_OF,
    "hidden_by": BEHIND,
    "next_to": NEAR,
    "beside": NEAR,
    "close_to": NEAR,
    "far": FAR_FROM,
}


class UnreadableAnswer(Exception):  # noqa: N818 - becomes a note, never an error
    """The answer contains no relations in any accepted format."""


@frozen
class AnsweredRelation:
    """A relation as the model claims it; names are not yet resolved in the prompt.

    Attributes:
        subject: Name of the thing placed.
        type: A registered relation type.
        objects: One name, or two for "between".
        words: The words that the model quotes from the prompt; may be empty.
        is_implied: Whether the prompt only implies it.
    """

    subject: str
    type: RelationType
    objects: tuple[str, ...]
    words: str = ""
    is_implied: bool = False


@frozen
class ModelAnswer:
    """The readable part of an answer.

    Attributes:
        relations: In the order of the answer.
        dropped: Names of relations that are not registered.
        unreadable: Number of rows dropped for other reasons: wrong shape, or too many.
    """

    relations: tuple[AnsweredRelation, ...]
    dropped: tuple[str, ...] = ()
    unreadable: int = 0


def answer_schema() -> dict[str, Any]:
    """Return the JSON schema of an answer, with the currently registered relation types."""
    return {
        "type": "object",
        "properties": {
            "relations": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "subject": {"type": "string"},
                        "relation": {
                            "type": "string",
                            "enum": [each.id for each in relation_types_asked()],
                        },
                        "objects": {"type": "array", "items": {"type": "string"}},
                        "words": {"type": "string"},
                        "implied": {"type": "boolean"},
                    },
                    "required": ["subject", "relation", "objects", "words", "implied"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["relations"],
        "additionalProperties": False,
    }


def relation_types_asked() -> tuple[RelationType, ...]:
    """Return the relation types that a model may answer; built-in diagonals are split in two."""
    return tuple(
        each for each in relation_types if len(each.claims) <= 1 or each not in BUILT_IN_TYPES
    )


def complete_instruction(instruction: str) -> str:
    """Replace ``RELATION_TYPES`` in an instruction by the currently registered types.

    Those of plugins are listed with their phrase: 'diagonally_above ("diagonally above")'.
    """
    names = (
        each.id if each in BUILT_IN_TYPES else f'{each.id} ("{each.phrase}")'
        for each in relation_types_asked()
    )
    return instruction.replace(RELATION_TYPES, ", ".join(names))


def read_answer(text: str) -> ModelAnswer:
    """Parse an answer.

    Raises:
        UnreadableAnswer: It contains no relations, not even an empty list of them.
    """
    rows = _rows(text)
    relations: list[AnsweredRelation] = []
    dropped: list[str] = []
    for row in filter(_is_row, rows[:MAX_RELATIONS]):
        relation_type = _relation_type(row["relation"])
        if relation_type is None:
            dropped.append(row["relation"].strip()[:MAX_NAME])
        elif (relation := _relation(row, relation_type)) is not None:
            relations.append(relation)
    return ModelAnswer(
        relations=tuple(relations),
        dropped=tuple(dict.fromkeys(dropped)),
        unreadable=len(rows) - len(relations) - len(dropped),
    )


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield every complete JSON object, outermost first; broken text is skipped."""
    decoder = json.JSONDecoder()
    position = text.find("{")
    patience: float = RETRIES * len(text)
    least = LEAST_RETRY * len(text)
    while position >= 0 and patience > 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            end = position + 1
            patience -= max(_end_of_reading(error, text) - position, least)
        else:
            yield value
        position = text.find("{", end)


def _end_of_reading(error: Exception, text: str) -> int:
    """Return an upper bound of the position at which a decoder failed."""
    if isinstance(error, json.JSONDecodeError) and not error.msg.startswith("Unterminated"):
        return error.pos
    return len(text)


def _rows(text: str) -> list[Any]:
    """Return the rows of the last list of relations, or anything else that looks like rows.

    Raises:
        UnreadableAnswer: There are none, and no empty list of them.
    """
    found = list(json_objects(text))
    lists = [each["relations"] for each in found if isinstance(each.get("relations"), list)]
    if lists and (not lists[-1] or any(map(_is_row, lists[-1]))):
        return list(lists[-1])
    rows = [value for value in found if "relation" in value and "subject" in value]
    lines = PAPER_LINE.findall(text)
    rows = rows or [
        {"subject": subject, "relation": relation, "objects": [thing]}
        for subject, thing, relation in lines
    ]
    if not any(map(_is_row, rows)):
        raise UnreadableAnswer
    return rows


def _is_row(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("subject"), str)
        and isinstance(value.get("relation"), str)
        and bool(_names(value))
    )


def _names(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the object names, which some models write as "object"."""
    value = row.get("objects", row.get("object"))
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return ()
    return tuple(names)


def _relation_type(name: str) -> RelationType | None:
    plain = "_".join(name.lower().replace("-", " ").replace("_", " ").split())
    plain = plain.removeprefix("to_").removeprefix("the_").strip('"*_.')
    if plain in relation_types:
        return relation_types[plain]
    return PLAIN_NAMES.get(plain) or registered_phrases().get(plain_phrase(name.strip(' "*.')))


def _relation(row: dict[str, Any], relation_type: RelationType) -> AnsweredRelation | None:
    wanted = FLANKS if relation_type.shape is Shape.BETWEEN else 1
    names = tuple(_clean(name) for name in _names(row))[:wanted]
    subject = _clean(row["subject"])
    if len(names) != wanted or not all(names) or not subject:
        return None
    words = row.get("words")
    return AnsweredRelation(
        subject=subject,
        type=relation_type,
        objects=names,
        words=words.strip()[:MAX_NAME] if isinstance(words, str) else "",
        is_implied=row.get("implied") is True,
    )


def _clean(name: str) -> str:
    """Strip article and markup from a name: "**a red cup**"."""
    plain = name.strip(" \t\"'*`.")[:MAX_NAME]
    return re.sub(r"^(?:an?|the)\s+", "", plain, flags=re.IGNORECASE)
