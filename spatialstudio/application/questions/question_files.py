"""Files of SpatialGenEval: the user's copy of its data, and recorded rollouts.

Both are JSON lines. A recorded row holds ``id`` and either ``attempts``, the answerer's messages in
order, or ``model_preds_cot``, for each valid rollout the ten answers with their reasons, as the
published scripts write them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.multiple_choice import QuestionSet
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited, read_regular
from spatialstudio.science.questions.spatialgeneval import read_set

MOST_BYTES = 256 * MEBIBYTE
MOST_LINES = 100_000


def read_question_file(path: Path) -> tuple[QuestionSet, ...]:
    """Read the questions of many pictures.

    Raises:
        StoreError: The file cannot be read, a line has another form, or an id is repeated.
    """
    sets: dict[str, QuestionSet] = {}
    for number, row in _rows(path):
        try:
            each = read_set(row)
        except ValueError as error:
            raise _damaged(path, number, str(error)) from error
        if each.id in sets:
            raise _damaged(path, number, f'the id "{each.id}" is repeated')
        sets[each.id] = each
    if not sets:
        raise StoreError(f'"{path}" has no questions.', hint="Choose the JSON lines of the data.")
    return tuple(sets.values())


def read_rollout_file(path: Path) -> Mapping[str, Sequence[str]]:
    """Read recorded rollouts.

    Returns:
        The answerer's messages by the id of the question set; of a repeated id the last row, as
        the published scripts append when they run again.

    Raises:
        StoreError: The file cannot be read, or a line has another form.
    """
    found: dict[str, Sequence[str]] = {}
    for number, row in _rows(path):
        attempts = _attempts(row)
        if not isinstance(row.get("id"), str) or attempts is None:
            raise _damaged(path, number, "it has no id, or no attempts")
        found[row["id"]] = attempts
    return found


def _attempts(row: Mapping[str, Any]) -> Sequence[str] | None:
    attempts, reasons = row.get("attempts"), row.get("model_preds_cot")
    if _is_texts(attempts):
        return attempts
    if isinstance(reasons, list) and all(map(_is_texts, reasons)):
        return ["\n".join(" ".join(line.split()) for line in lines) for lines in reasons]
    return None


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the line numbers and objects of a file of JSON lines."""
    try:
        content = read_regular(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        raise StoreError(
            f'"{path}" cannot be read.', hint="Choose a file of JSON lines of at most 256 MB."
        ) from error
    lines = content.split(b"\n")
    if len(lines) > MOST_LINES:
        raise _damaged(path, MOST_LINES + 1, f"there are more than {MOST_LINES} lines")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parse_limited(line)
        except (ValueError, RecursionError) as error:
            raise _damaged(path, number, "it is not JSON") from error
        if not isinstance(row, dict):
            raise _damaged(path, number, "it is not an object")
        yield number, row


def _damaged(path: Path, number: int, reason: str) -> StoreError:
    return StoreError(
        f'Line {number} of "{path}" cannot be used: {reason}.',
        hint="Choose a file of JSON lines as published by SpatialGenEval.",
    )
