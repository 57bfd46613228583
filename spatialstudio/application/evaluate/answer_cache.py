"""Cached answers to yes-no questions, by picture, question and model.

JSON lines in a file for each model, only appended to; a line that cannot be read is skipped.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from math import inf
from pathlib import Path

from spatialstudio.domain.arrays import RgbImage, hash_of_picture
from spatialstudio.domain.assertion import QuestionAnswer, YesNoChances
from spatialstudio.domain.ports import CancelToken, QuestionAnswerer
from spatialstudio.domain.safe_files import MEBIBYTE, append_json_lines, open_regular, parse_limited
from spatialstudio.domain.write_gate import FILE_GATE
from spatialstudio.science.questions.choice_message import YES_NO_INSTRUCTION

FOLDER = "yes-no answers"
MOST_BYTES = 512 * MEBIBYTE
MOST_LINE_BYTES = 4096


class CachedAnswerer:
    """Asks an answerer what has not been answered; implements ``QuestionAnswerer``.

    An answerer without a ``model_key``, which identifies its model, is always asked.

    Args:
        answerer: The answerer.
        cache: The cache folder.
    """

    def __init__(self, answerer: QuestionAnswerer, cache: Path) -> None:
        self.id = answerer.id
        self._answerer = answerer
        self._folder = cache / FOLDER
        self._known: dict[str, YesNoChances] | None = None

    def answer(
        self, image: RgbImage, questions: Sequence[str], token: CancelToken
    ) -> tuple[QuestionAnswer, ...]:
        """Answer each question; see ``QuestionAnswerer``. Questions that fail are not cached."""
        model_key = getattr(self._answerer, "model_key", "")
        if not model_key:
            return self._answerer.answer(image, questions, token)
        path = self._folder / f"{sha256(model_key.encode()).hexdigest()}.jsonl"
        if self._known is None:
            self._known = _read(path)
        known, picture = self._known, f"{image.shape} {hash_of_picture(image)}"
        keys = {each: _key(picture, each) for each in questions}
        missing = [each for each, key in keys.items() if key not in known]
        new = dict(zip(missing, self._asked(image, missing, token), strict=True))
        found = {keys[each]: answer.chances for each, answer in new.items() if answer.chances}
        known |= found
        _add(path, found)
        return tuple(
            new.get(each) or QuestionAnswer(chances=known[keys[each]]) for each in questions
        )

    def _asked(
        self, image: RgbImage, questions: Sequence[str], token: CancelToken
    ) -> tuple[QuestionAnswer, ...]:
        return self._answerer.answer(image, questions, token) if questions else ()


def _key(picture: str, question: str) -> str:
    text = "\0".join((picture, YES_NO_INSTRUCTION, question))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> dict[str, YesNoChances]:
    known: dict[str, YesNoChances] = {}
    with suppress(OSError), open_regular(path, MOST_BYTES) as file:
        while line := file.readline(MOST_LINE_BYTES):
            with suppress(ValueError, TypeError):
                key, *logs = parse_limited(line, MOST_LINE_BYTES)
                log_yes, log_no = map(float, logs)
                if isinstance(key, str) and -inf < log_yes <= 0 and -inf < log_no <= 0:
                    known[key] = YesNoChances(log_yes=log_yes, log_no=log_no)
    return known


def _add(path: Path, found: Mapping[str, YesNoChances]) -> None:
    rows = [(key, each.log_yes, each.log_no) for key, each in found.items()]
    if rows:
        with suppress(OSError), FILE_GATE.passed():
            append_json_lines(path, rows, MOST_BYTES)
