"""Offline relation extractor: a lexer for layout words and a small clause reader, no model."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path

from spatialstudio.adapters.prompts.clauses import ClauseReader
from spatialstudio.adapters.prompts.contexts import SettledPieces, settle
from spatialstudio.adapters.prompts.noun_phrases import PhraseFinder
from spatialstudio.adapters.prompts.spelling import Speller, Typo
from spatialstudio.adapters.prompts.styles import without_tags
from spatialstudio.adapters.prompts.vocabulary import Vocabulary, read_vocabulary
from spatialstudio.adapters.prompts.words import Word, WordCutter
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.prompt_syntax import without_syntax
from spatialstudio.domain.scene import Note, Prompt, SceneGraph

OWN_OBJECTS_FILE = "objects.txt"
"""In the user's settings folder."""


def build(surroundings: Surroundings) -> "GrammarExtractor":
    """Create the extractor with the built-in vocabulary and the user's own objects."""
    settings = surroundings.settings
    own_objects = None if settings is None else settings / OWN_OBJECTS_FILE
    return GrammarExtractor(surroundings.resources / "prompts", own_objects)


class GrammarExtractor:
    """Extracts relations from English prompts immediately, without network or weights.

    Args:
        folder: Holds ``phrases.lark``, ``vocabulary.toml`` and ``idioms.toml``, which are read with
            the first prompt.
        own_objects: The user's text file with one object name per line; may be missing.
    """

    id = "grammar"

    def __init__(self, folder: Path, own_objects: Path | None = None) -> None:
        self._folder = folder
        self._own_objects = own_objects

    def extract(self, prompt: Prompt) -> SceneGraph:
        """Extract mentions and relations; words that are not understood become notes.

        Raises:
            PromptError: The prompt is empty.
        """
        plain = without_syntax(prompt.text)
        return plain.restored(self._extract(replace(prompt, text=plain.text)), prompt)

    def _extract(self, prompt: Prompt) -> SceneGraph:
        if not prompt.text.strip():
            raise PromptError(
                "The prompt is empty.",
                hint='Enter a prompt, for example "a cat to the left of a dog".',
            )
        known = self._known
        mended = known.speller.correct(prompt.text)
        words = tuple(known.cutter.cut(mended))
        untagged = without_tags(words, known.vocabulary)
        pieces = PhraseFinder(prompt.text, known.vocabulary).find(untagged)
        settled = settle(prompt.text, pieces, known.vocabulary)
        reader = ClauseReader(prompt.text, settled.pieces)
        reader.read()
        notes = [*reader.notes, *_notes_on(settled, mended.typos, prompt.text)]
        return SceneGraph(
            prompt=prompt,
            mentions=reader.mentions,
            relations=tuple(reader.relations),
            extractor_id=self.id,
            notes=tuple(sorted(notes, key=_place)),
        )

    def cut(self, text: str) -> tuple[Word, ...]:
        """Tokenize a text into layout words after spelling correction, without reading clauses."""
        return tuple(self._known.cutter.cut(self._known.speller.correct(text)))

    @property
    def object_names(self) -> tuple[str, ...]:
        """Return object names for completion: everyday ones first, then by length."""
        return self._known.object_names

    @cached_property
    def _known(self) -> "_Known":
        return _known_by(self._folder, _lines(self._own_objects))


@frozen(eq=False, kw_only=False)
class _Known:
    """Vocabulary and tools that do not depend on a prompt."""

    vocabulary: Vocabulary
    speller: Speller
    cutter: WordCutter
    object_names: tuple[str, ...]


@lru_cache(maxsize=1)  # building it takes longer than reading a hundred prompts
def _known_by(folder: Path, own_objects: tuple[str, ...]) -> _Known:
    vocabulary = read_vocabulary(folder, own_objects)
    cutter = WordCutter(folder / "phrases.lark", vocabulary.idioms)
    everyday = vocabulary.everyday
    names = sorted(vocabulary.nouns, key=lambda noun: (noun not in everyday, len(noun), noun))
    return _Known(vocabulary, Speller(vocabulary), cutter, tuple(names))


def _lines(path: Path | None) -> tuple[str, ...]:
    """Read the lines of a file; empty if it is missing or not text."""
    try:
        text = "" if path is None else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(text.splitlines())


def _notes_on(settled: SettledPieces, typos: Sequence[Typo], text: str) -> Iterator[Note]:
    for span in settled.strange:
        yield Note(message=f'I do not understand "{span.of(text)}".', span=span)
    for span in settled.settings:
        yield Note(message=f'I read "{span.of(text)}" as a setting, not as an object.', span=span)
    for typo in typos:
        yield Note(message=f'I read "{typo.span.of(text)}" as "{typo.word}".', span=typo.span)


def _place(note: Note) -> int:
    """Sort key of notes by position; notes on the whole prompt come last."""
    return note.span.start if note.span else sys.maxsize
