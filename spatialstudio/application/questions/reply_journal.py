"""A journal of replies: JSON lines that are only appended to, each on disk before the next.

The line of an interrupted write is damaged and skipped, so that this reply alone is lost. A reply
has a key, the sha256 of all that determines it, and its place: picture, attempt and question. The
same form serves the folder of a run, where each line counts towards its cost, and the cache of the
replies of all runs.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import AnswerCost, ChoiceReply
from spatialstudio.domain.safe_files import MEBIBYTE, append_json_lines, open_regular, parse_limited
from spatialstudio.domain.write_gate import FILE_GATE

MOST_BYTES = 2048 * MEBIBYTE
MOST_LINE_BYTES = MEBIBYTE
MOST_TEXT = 100_000
"""Characters of a reply that are kept; a longer one is no valid rollout anyway."""
MOST_NUMBER = 10**12

Place: TypeAlias = tuple[str, int, int]
"""Id of the picture's questions, number of the attempt, and of the question; -1 for all."""


@frozen
class StoredReply:
    """A line of a journal.

    Attributes:
        key: Identifies the reply.
        place: What it answers.
        picture: The sha256 of the picture's file; empty without a picture.
        reply: The reply; None if the request failed.
        is_cached: Whether it was taken from the cache, at no cost.
        charges: Tokens of question and answer that a failed request cost nevertheless.
    """

    key: str
    place: Place
    picture: str
    reply: ChoiceReply | None
    is_cached: bool = False
    charges: tuple[int, int] = (0, 0)


class ReplyJournal:
    """Reads a journal once, and appends to it.

    Attributes:
        cost: Of all of its lines.
        full_cost: Their cost if no reply had come from the cache.
        damaged: Number of its lines that cannot be read.

    Args:
        path: The file; it may be missing.

    Raises:
        StoreError: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_key: dict[str, ChoiceReply] = {}
        self._by_place: dict[str, dict[tuple[int, int], tuple[str, ChoiceReply]]] = {}
        self._pictures: dict[str, str] = {}
        self.cost = self.full_cost = AnswerCost()
        self.damaged = 0
        with _explained(path):
            if os.path.lexists(path):
                self._read()

    def find(self, key: str) -> ChoiceReply | None:
        """Return a reply; None if there is none."""
        return self._by_key.get(key)

    def at(self, place: Place) -> ChoiceReply | None:
        """Return the reply at a place about the latest picture; None if there is none."""
        set_id, attempt, question = place
        found = self._by_place.get(set_id, {}).get((attempt, question))
        return found[1] if found else None

    def holds(self, key: str, place: Place) -> bool:
        """Return True if the reply at a place has this key."""
        set_id, attempt, question = place
        found = self._by_place.get(set_id, {}).get((attempt, question))
        return found is not None and found[0] == key

    def picture(self, set_id: str) -> str | None:
        """Return the sha256 of the latest picture of a question set; None without replies."""
        return self._pictures.get(set_id)

    def add(self, stored: StoredReply) -> None:
        """Append a reply or a failed request.

        Raises:
            StoreError: The file cannot be written.
        """
        with _explained(self._path):
            append_json_lines(self._path, [_row(stored)], MOST_BYTES, is_synced=True)
        self._note(stored)

    def _read(self) -> None:
        with open_regular(self._path, MOST_BYTES) as file:
            while line := file.readline(MOST_LINE_BYTES):
                stored = _stored(line)
                if stored is not None:
                    self._note(stored)
                elif line.strip():
                    self.damaged += 1

    def _note(self, stored: StoredReply) -> None:
        self.cost = with_reply(self.cost, stored)
        self.full_cost = with_reply(self.full_cost, replace(stored, is_cached=False))
        if stored.reply is None:
            return
        set_id, attempt, question = stored.place
        if self._pictures.get(set_id) != stored.picture:  # the picture was replaced
            self._pictures[set_id], self._by_place[set_id] = stored.picture, {}
        reply = self._by_key.setdefault(stored.key, stored.reply)
        self._by_place[set_id][attempt, question] = stored.key, reply


def with_reply(cost: AnswerCost, stored: StoredReply) -> AnswerCost:
    """Return a cost with one more line."""
    if stored.reply is None:
        tokens_in, tokens_out = stored.charges
        return replace(
            cost,
            failures=cost.failures + 1,
            tokens_in=cost.tokens_in + tokens_in,
            tokens_out=cost.tokens_out + tokens_out,
        )
    if stored.is_cached:
        return replace(cost, cached=cost.cached + 1)
    return replace(
        cost,
        replies=cost.replies + 1,
        tokens_in=cost.tokens_in + stored.reply.tokens_in,
        tokens_out=cost.tokens_out + stored.reply.tokens_out,
        seconds=cost.seconds + stored.reply.seconds,
    )


def _row(stored: StoredReply) -> Mapping[str, Any]:
    row: dict[str, Any] = {
        "key": stored.key,
        "place": list(stored.place),
        "picture": stored.picture,
    }
    reply = stored.reply
    if reply is None:
        return {**row, "failed": True, "charges": list(stored.charges)}
    return {
        **row,
        "text": reply.text[:MOST_TEXT],
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "seconds": reply.seconds,
        "chances": dict(reply.chances),
        "cached": stored.is_cached,
    }


def _stored(line: bytes) -> StoredReply | None:
    """Return the reply of a line; None if it is damaged."""
    try:
        row = parse_limited(line, MOST_LINE_BYTES)
        set_id, attempt, question = row["place"]
        place = (_text(set_id), int(attempt), int(question))
        key, picture = _text(row["key"]), _text(row["picture"])
        if row.get("failed") is True:
            tokens_in, tokens_out = (int(_number(each)) for each in row.get("charges", (0, 0)))
            charges = tokens_in, tokens_out
            return StoredReply(key=key, place=place, picture=picture, reply=None, charges=charges)
        reply = ChoiceReply(
            text=_text(row["text"]),
            tokens_in=int(_number(row["tokens_in"])),
            tokens_out=int(_number(row["tokens_out"])),
            seconds=_number(row["seconds"]),
            chances={name: _number(chance) for name, chance in row["chances"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    is_cached = row.get("cached") is True
    return StoredReply(key=key, place=place, picture=picture, reply=reply, is_cached=is_cached)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= MOST_NUMBER:
        raise TypeError(value)
    return float(value)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        with FILE_GATE.passed():
            yield
    except OSError as error:
        raise StoreError(
            f'The file "{path}" cannot be read or written.', hint="Choose another folder."
        ) from error
