"""Reads prompts offline: a lexer of layout words and a small reader of clauses, no model."""

from functools import cached_property
from pathlib import Path

from spatialstudio.adapters.extractors.clauses import ClauseReader
from spatialstudio.adapters.extractors.noun_phrases import find_noun_phrases
from spatialstudio.adapters.extractors.vocabulary import Vocabulary, read_vocabulary
from spatialstudio.adapters.extractors.words import WordCutter
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.prompt import Prompt
from spatialstudio.domain.relation import SceneGraph


def build(surroundings: Surroundings) -> "GrammarExtractor":
    """Make the extractor with the shipped words."""
    return GrammarExtractor(surroundings.resources / "prompts")


class GrammarExtractor:
    """Reads English prompts at once, without network or weights.

    Args:
        folder: Holds ``phrases.lark`` and ``vocabulary.toml``; read with the first prompt.
    """

    id = "grammar"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def extract(self, prompt: Prompt) -> SceneGraph:
        """Read mentions and relations; what is not understood becomes a note.

        Raises:
            PromptError: The prompt is empty.
        """
        if not prompt.text.strip():
            raise PromptError(
                "The prompt is empty.",
                hint='Describe a picture, for example "a cat to the left of a dog".',
            )
        words = tuple(self._cutter.cut(prompt.text))
        reader = ClauseReader(prompt.text, find_noun_phrases(prompt.text, words, self._vocabulary))
        reader.read()
        return SceneGraph(
            prompt=prompt,
            mentions=reader.mentions,
            relations=tuple(reader.relations),
            extractor_id=self.id,
            notes=reader.notes,
        )

    @cached_property
    def _cutter(self) -> WordCutter:
        return WordCutter(self._folder / "phrases.lark")

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return read_vocabulary(self._folder / "vocabulary.toml")
