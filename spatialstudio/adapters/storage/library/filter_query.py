"""Translation of a library filter to SQL."""

import re
from collections.abc import Callable, Iterator, Mapping

from spatialstudio.domain.library import (
    CLAIM_FIELDS,
    Condition,
    Field,
    Filter,
    Flag,
    Sign,
    Wanted,
    Word,
)
from spatialstudio.domain.verdict import Outcome

Clause = tuple[str, tuple[str | float, ...]]
"""An SQL condition and its parameter values."""

_UNSPACED = re.compile("[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Letters of scripts without spaces between words."""

_COLUMNS = {
    Field.VERDICT: "outcome",
    Field.RELATION: "type",
    Field.SUBJECT: "subject",
    Field.OBJECT: "object",
    Field.POS: "pos",
    Field.PSE: "pse",
    Field.CONFIDENCE: "confidence",
    Field.MODEL: "model",
    Field.METHOD: "method",
    Field.SEED: "seed",
    Field.STEPS: "steps",
    Field.STRENGTH: "strength",
    Field.STARS: "stars",
    Field.SWEEP: "sweep",
    Field.DATE: "created",
}
_CONTAINED = frozenset({Field.MODEL, Field.METHOD, Field.SUBJECT, Field.OBJECT})
_FLAGS = {
    Flag.REJECTED: "is_rejected = 1",
    Flag.STARRED: "stars > 0",
    Flag.TAGGED: "id IN (SELECT run FROM tag)",
    Flag.JUDGED: "id IN (SELECT run FROM claim WHERE outcome IS NOT NULL)",
    Flag.GUIDED: "is_guided = 1",
    Flag.IMPORTED: "is_imported = 1",
    Flag.MISSING: "is_missing = 1",
    Flag.TRASHED: "deleted IS NOT NULL",
}
_LAST = "\U0010ffff"
"""Sorts after any continuation of a date prefix."""


def where(wanted: Filter) -> Clause:
    """Return the SQL condition of a filter; it excludes deleted runs unless asked for."""
    clauses = list(_clauses(wanted))
    if not any(Flag.TRASHED in condition.wanted for condition in wanted.conditions):
        clauses.insert(0, ("deleted IS NULL", ()))
    text = " AND ".join(clause for clause, _ in clauses)
    return text, tuple(value for _, values in clauses for value in values)


def _clauses(wanted: Filter) -> Iterator[Clause]:
    of_claims = [c for c in wanted.conditions if c.field in CLAIM_FIELDS]
    if asked := [_condition(c) for c in of_claims if not c.is_negated]:
        yield _claims(" AND ".join(text for text, _ in asked), [v for _, vs in asked for v in vs])
    for condition in of_claims:
        if condition.is_negated:
            text, values = _condition(condition)
            yield _negated(_claims(text, values))
    for condition in wanted.conditions:
        if condition.field not in CLAIM_FIELDS:
            clause = _condition(condition)
            yield _negated(clause) if condition.is_negated else clause
    for word in wanted.words:
        clause = _word(word)
        yield _negated(clause) if word.is_negated else clause


def _claims(text: str, values: "list[str | float] | tuple[str | float, ...]") -> Clause:
    return f"id IN (SELECT run FROM claim WHERE {text})", tuple(values)


def _negated(clause: Clause) -> Clause:
    return f"NOT ({clause[0]})", clause[1]


def _condition(condition: Condition) -> Clause:
    alternatives = [_one(condition, wanted) for wanted in condition.wanted]
    text = " OR ".join(clause for clause, _ in alternatives)
    return f"({text})", tuple(value for _, values in alternatives for value in values)


def _one(condition: Condition, wanted: Wanted) -> Clause:
    if isinstance(wanted, Flag):
        return _FLAGS[wanted], ()
    if isinstance(wanted, Outcome):
        return "outcome = ?", (wanted.value,)
    if condition.field is Field.TAG:
        return "id IN (SELECT run FROM tag WHERE name LIKE ? ESCAPE '\\')", (f"{_plain(wanted)}%",)
    column = _COLUMNS[condition.field]
    if condition.field is Field.DATE:
        return _DATES[condition.sign](column, str(wanted))
    if condition.field is Field.SWEEP:  # an id, or its first characters
        return _DATES[Sign.HAS](column, str(wanted))
    if condition.field in _CONTAINED:
        return f"{column} LIKE ? ESCAPE '\\'", (f"%{_plain(wanted)}%",)
    sign = "=" if condition.sign is Sign.HAS else condition.sign.value
    return f"{column} {sign} ?", (wanted,)


def _word(word: Word) -> Clause:
    if _UNSPACED.search(word.text):
        return "id IN (SELECT rowid FROM words WHERE text LIKE ? ESCAPE '\\')", (
            f"%{_plain(word.text)}%",
        )
    quoted = '"' + word.text.replace('"', '""') + '"'
    match = quoted if word.is_phrase else f"{quoted} *"
    if not any(character.isalnum() for character in word.text):
        return "1", ()  # only punctuation, which the full-text index does not hold
    return "id IN (SELECT rowid FROM words WHERE words MATCH ?)", (match,)


def _plain(text: object) -> str:
    """Escape the wildcards of LIKE."""
    return re.sub(r"([\\%_])", r"\\\1", str(text))


_DATES: Mapping[Sign, Callable[[str, str], Clause]] = {
    Sign.HAS: lambda column, day: (f"{column} BETWEEN ? AND ?", (day, day + _LAST)),
    Sign.LESS: lambda column, day: (f"{column} < ?", (day,)),
    Sign.AT_MOST: lambda column, day: (f"{column} <= ?", (day + _LAST,)),
    Sign.MORE: lambda column, day: (f"{column} > ?", (day + _LAST,)),
    Sign.AT_LEAST: lambda column, day: (f"{column} >= ?", (day,)),
}
