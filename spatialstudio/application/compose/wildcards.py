"""Choices in prompts, made by the seed: ``{cat|dog}`` and ``__animal__``, a line of animal.txt.

Choice k of seed s takes alternative SHA-256("s/k") mod n of n, counted from the left; the same
prompt, files and seed give the same text on every machine. Alternatives and lines may hold choices.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.prompt_syntax import PlainPrompt, syntax_spans
from spatialstudio.domain.safe_files import MEBIBYTE, is_inside, read_regular
from spatialstudio.domain.scene import MOST_CHARACTERS, TextSpan

ReadLines: TypeAlias = Callable[[str], tuple[str, ...]]
"""Returns the alternatives in a file by its name."""

FOLDER = "wildcards"
"""In the user's settings folder."""

NAME = re.compile(r"(?<![^\W_])__([^\W_](?:[\w/-]{0,98}?[^\W_])?)__(?![^\W_])")
MAX_FILE_BYTES = MEBIBYTE
DEEPEST = 20
"""Levels of choices inside choices."""
COMMENT = "#"


class Wildcards:
    """Makes the choices of prompts.

    Args:
        folder: Folder of text files with one alternative per line; None for none. Files of
            subfolders are named ``__folder/name__``; empty lines and those after ``#`` are skipped.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def resolved(self, template: str, seed: int | None) -> PlainPrompt:
        """Return a prompt with its choices made, and the positions of its characters.

        Args:
            template: The prompt as typed.
            seed: Seed of the picture; None takes the first alternative of each choice.

        Raises:
            PromptError: A file is missing, unreadable or empty; choices contain themselves or are
                nested too deeply; or the text becomes too long.
        """
        letters: list[str] = []
        origins: list[int] = []
        for letter, origin in _Choosing(self.lines, seed).expand(template, ()):
            letters.append(letter)
            origins.append(origin)
            if len(letters) > MOST_CHARACTERS:
                raise PromptError(
                    f"The prompt has more than {MOST_CHARACTERS:,} characters with its choices.",
                    hint="Shorten its alternatives.",
                )
        return PlainPrompt(text="".join(letters), origins=tuple(origins))

    def lines(self, name: str) -> tuple[str, ...]:
        """Return the alternatives in a file.

        Raises:
            PromptError: The file is missing, unreadable or empty.
        """
        folder = self._folder
        path = None if folder is None else folder / f"{name}.txt"
        try:
            if path is None or folder is None or not is_inside(path, folder):
                raise FileNotFoundError(name)
            text = read_regular(path, MAX_FILE_BYTES).decode("utf-8-sig")
        except (OSError, ValueError) as error:
            raise PromptError(
                f'The wildcard "__{name}__" has no readable file.',
                hint=f'Put {name}.txt, one alternative per line, into "{FOLDER}" in the '
                "settings folder.",
            ) from error
        lines = (line.strip() for line in text.splitlines())
        found = tuple(line for line in lines if line and not line.startswith(COMMENT))
        if not found:
            raise PromptError(
                f'The wildcard file "{name}.txt" is empty.', hint="Write one alternative per line."
            )
        return found


class _Choosing:
    """Expands the choices of one prompt, from left to right."""

    def __init__(self, lines: ReadLines, seed: int | None) -> None:
        self._lines = lines
        self._seed = seed
        self._made = 0

    def expand(self, text: str, inside: tuple[str, ...]) -> Iterator[tuple[str, int]]:
        """Yield characters and their positions in ``text``.

        Args:
            text: A prompt, or a line of a file.
            inside: Names of the files that the line is from, outermost first.
        """
        yield from self._expand(text, (0, len(text)), _braces(text), inside, 0)

    def _expand(
        self,
        text: str,
        part: tuple[int, int],
        braces: Mapping[int, Sequence[int]],
        inside: tuple[str, ...],
        depth: int,
    ) -> Iterator[tuple[str, int]]:
        if depth + len(inside) > DEEPEST:
            raise PromptError(
                f"Choices are nested more than {DEEPEST} levels deep.", hint="Simplify the prompt."
            )
        place, stop = part
        while place < stop:
            bounds = braces.get(place)
            name = NAME.match(text, place, stop) if text[place] == "_" else None
            if bounds is not None:
                first = self._choose(len(bounds) - 1)
                chosen = bounds[first] + 1, bounds[first + 1]
                yield from self._expand(text, chosen, braces, inside, depth + 1)
                place = bounds[-1] + 1
            elif name is not None:
                yield from self._line(name[1], place, name.end() - 1, inside)
                place = name.end()
            else:
                yield text[place], place
                place += 1

    def _line(
        self, name: str, start: int, last: int, inside: tuple[str, ...]
    ) -> Iterator[tuple[str, int]]:
        """Yield a line of a file; its last character has the position of the name's last."""
        if name in inside:
            raise PromptError(
                f'The wildcard "__{name}__" contains itself.',
                hint=f"Remove it from {inside[-1]}.txt.",
            )
        lines = self._lines(name)
        line = lines[self._choose(len(lines))]
        before = ""
        for letter, _ in self.expand(line, (*inside, name)):
            if before:
                yield before, start
            before = letter
        if before:
            yield before, last

    def _choose(self, count: int) -> int:
        number, self._made = self._made, self._made + 1
        if self._seed is None:
            return 0
        digest = hashlib.sha256(f"{self._seed}/{number}".encode()).digest()
        return int.from_bytes(digest, "big") % count


def has_choices(text: str) -> bool:
    """Return True if a prompt holds choices."""
    return bool(NAME.search(text) or _braces(text))


def marked_syntax(text: str) -> tuple[TextSpan, ...]:
    """Return the characters of a prompt that are syntax: weights, LoRAs, choices, wildcards."""
    names = (TextSpan(start=name.start(), stop=name.end()) for name in NAME.finditer(text))
    return (*syntax_spans(text), *names)


def _braces(text: str) -> dict[int, tuple[int, ...]]:
    """Return the places of the opening, separating and closing marks of each choice.

    Unbalanced and escaped braces are literal, and braces without a letter or an alternative.
    """
    found: dict[int, tuple[int, ...]] = {}
    letters = [0, *accumulate(letter.isalpha() for letter in text)]
    stack: list[list[int]] = []
    for place, letter in enumerate(text):
        if letter not in "{|}" or text[place - 1 : place] == "\\":
            continue
        if letter == "{":
            stack.append([place])
        elif stack and letter == "|":
            stack[-1].append(place)
        elif stack:
            marks = stack.pop()
            is_choice = len(marks) > 1 or letters[place] > letters[marks[0]]
            if is_choice:
                found[marks[0]] = (*marks, place)
    return found
