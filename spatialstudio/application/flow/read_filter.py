"""Reads the filter line of the library, which window and terminal share.

    verdict:fail relation:left model:sticker pos<0.6 cat -tag:draft "to the left"

Parts are joined by "and"; alternatives stand behind commas, ``verdict:fail,undecidable``; a minus
negates. Words are looked for in prompts, tags and notes. What is asked of a relation (verdict,
relation, subject, object, pos, pse, confidence) is asked of one and the same relation.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.library import Condition, Field, Filter, Flag, Sign, Wanted, Word
from spatialstudio.domain.relation import relation_types
from spatialstudio.domain.verdict import Outcome

LONGEST = 2000
"""Characters; a longer line is no filter."""

_VALUE = r'"[^"]*"|[^\s",]+'
_PART = re.compile(
    rf"""\s*(?P<minus>-?)
    (?: (?P<field>[a-z]+) (?P<sign><=|>=|<|>|:) (?P<values>(?:{_VALUE})(?:,(?:{_VALUE}))*)?
      | (?P<word>"[^"]*"|[^\s"]+) | (?P<open>") )""",
    re.VERBOSE | re.IGNORECASE,
)
_SINGLE_VALUE = re.compile(_VALUE)
_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_FIRST_DAY = "0001-01-01"
"""What makes a whole date of the beginning of one."""

_NUMBERS = frozenset(
    {Field.POS, Field.PSE, Field.CONFIDENCE, Field.SEED, Field.STEPS, Field.STRENGTH, Field.STARS}
)
_FIELDS = {field.value: field for field in Field}
_SIGNS = {sign.value: sign for sign in Sign}


def read_filter(line: str) -> Filter:
    """Read a filter line; an empty one asks for everything.

    Raises:
        SettingsError: A field is not known, or a value is none that it can have.
    """
    if len(line) > LONGEST:
        raise SettingsError("The filter is too long.", hint="Look for fewer things at once.")
    conditions: list[Condition] = []
    words: list[Word] = []
    for part in _PART.finditer(_as_text(line).strip()):
        is_negated = bool(part["minus"])
        if part["field"]:
            conditions.append(_condition(part, is_negated=is_negated))
        elif part["open"]:
            raise SettingsError("A quotation mark is left open.", hint='Close it: "to the left".')
        elif text := part["word"].strip('"'):
            quoted = part["word"].startswith('"')
            words.append(Word(text=text, is_phrase=quoted, is_negated=is_negated))
    return Filter(conditions=tuple(conditions), words=tuple(words))


def _as_text(line: str) -> str:
    """Return what indexes take: without zeros, and "?" for halves of characters."""
    return line.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _condition(part: re.Match[str], *, is_negated: bool) -> Condition:
    name = part["field"].lower()
    field, sign = _FIELDS.get(name), _SIGNS[part["sign"]]
    if field is None:
        raise SettingsError(
            f'"{name}" is nothing that runs can be asked for.',
            hint=f"Known are: {', '.join(_FIELDS)}.",
        )
    if not part["values"]:
        raise SettingsError(f'"{name}{sign.value}" lacks a value.', hint=_EXAMPLES[field])
    values = [value.strip('"').lower() for value in _SINGLE_VALUE.findall(part["values"])]
    if sign is not Sign.HAS and (field not in _NUMBERS | {Field.DATE} or len(values) > 1):
        raise SettingsError(f'"{name}" has no order, ask for "{name}:".', hint=_EXAMPLES[field])
    reader = _READERS.get(field, _text if field not in _NUMBERS else _number)
    wanted = tuple(alternative for value in values for alternative in reader(field, value))
    return Condition(field=field, sign=sign, wanted=wanted, is_negated=is_negated)


def _text(_: Field, value: str) -> tuple[Wanted, ...]:
    return (value,)


def _number(field: Field, value: str) -> tuple[Wanted, ...]:
    try:
        return (float(value),)
    except ValueError as error:
        raise _unusable(field, value) from error


def _verdict(field: Field, value: str) -> tuple[Wanted, ...]:
    found = tuple(outcome for outcome in Outcome if outcome.value.lower().startswith(value))
    if not found:
        raise _unusable(field, value)
    return found


def _flag(field: Field, value: str) -> tuple[Wanted, ...]:
    try:
        return (Flag(value),)
    except ValueError as error:
        raise _unusable(field, value) from error


def _date(field: Field, value: str) -> tuple[Wanted, ...]:
    if not _DATE.fullmatch(value):
        raise _unusable(field, value)
    try:
        date.fromisoformat(value + _FIRST_DAY[len(value) :])
    except ValueError as error:
        raise _unusable(field, value) from error
    return (value,)


def _relation(field: Field, value: str) -> tuple[Wanted, ...]:
    """Find the relation types that a word means: by id, by its beginning, or by a word of it."""
    spelled = value.replace(" ", "_").replace("-", "_")
    ids = [relation_type.id for relation_type in relation_types]
    found = (
        [type_id for type_id in ids if type_id == spelled]
        or [type_id for type_id in ids if type_id.startswith(spelled)]
        or [type_id for type_id in ids if spelled in type_id.split("_")]
    )
    if not found:
        raise _unusable(field, value)
    return tuple(found)


def _unusable(field: Field, value: str) -> SettingsError:
    return SettingsError(f'"{value}" is no value of "{field.value}".', hint=_EXAMPLES[field])


_READERS: Mapping[Field, Callable[[Field, str], tuple[Wanted, ...]]] = {
    Field.VERDICT: _verdict,
    Field.RELATION: _relation,
    Field.IS: _flag,
    Field.DATE: _date,
}
_EXAMPLES: Mapping[Field, str] = {
    Field.VERDICT: "As verdict:pass, verdict:fail or verdict:undecidable.",
    Field.RELATION: "As relation:left or relation:above.",
    Field.IS: f"As {', '.join('is:' + flag.value for flag in Flag)}.",
    Field.DATE: "As date:2026-11 or date>=2026-11-20.",
    **{field: f"As {field.value}:3 or {field.value}>=3." for field in _NUMBERS},
    **{
        field: f"As {field.value}:name."
        for field in (
            *(Field.MODEL, Field.METHOD, Field.TAG, Field.SWEEP, Field.SUBJECT, Field.OBJECT),
        )
    },
}
