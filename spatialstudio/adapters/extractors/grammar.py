"""Reads prompts offline: a lexer of layout words and a small reader of clauses, no model."""

from spatialstudio.adapters.extractors.clauses import ClauseReader
from spatialstudio.adapters.extractors.noun_phrases import find_noun_phrases
from spatialstudio.adapters.extractors.vocabulary import Vocabulary, load_vocabulary
from spatialstudio.adapters.extractors.words import cut_into_words
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.prompt import Prompt
from spatialstudio.domain.relation import SceneGraph


class GrammarExtractor:
    """Reads English prompts at once, without network or weights.

    Attributes:
        id: Name in scenes and settings.
    """

    id = "grammar"

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary

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
        self._vocabulary = self._vocabulary or load_vocabulary()
        words = tuple(cut_into_words(prompt.text))
        reader = ClauseReader(prompt.text, find_noun_phrases(prompt.text, words, self._vocabulary))
        reader.read()
        return SceneGraph(
            prompt=prompt,
            mentions=reader.mentions,
            relations=tuple(reader.relations),
            extractor_id=self.id,
            notes=reader.notes,
        )
