"""Reads prompts with a language model on any OpenAI-compatible server, and the grammar behind it.

The instruction is that of Rezaei et al. 2025, arXiv:2506.23418, appendix B.7, widened to all
relations of the studio, with structured output. What the model answers is checked against the
prompt; whatever goes wrong, the grammar's reading is returned with a note.
"""

import hashlib
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from spatialstudio.adapters.chat_answers import ServerFailure
from spatialstudio.adapters.chat_client import AnswerForm, ChatClient, ChatQuestion
from spatialstudio.adapters.extractors.anchoring import anchor
from spatialstudio.adapters.extractors.grammar import GrammarExtractor
from spatialstudio.adapters.extractors.grammar import build as build_grammar
from spatialstudio.adapters.extractors.model_answers import (
    ANSWER_SCHEMA,
    UnreadableAnswer,
    read_answer,
)
from spatialstudio.adapters.extractors.prompt_weights import without_weights
from spatialstudio.adapters.server import (
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    ServerSettings,
    read_presets,
    settings_of_user,
)
from spatialstudio.domain.ports import CancelToken, Surroundings
from spatialstudio.domain.prompt import Note, Prompt
from spatialstudio.domain.relation import SceneGraph

MINUTE_S = 60.0
RELATIONS_FORM = AnswerForm(name="relations", schema=ANSWER_SCHEMA)

CacheKey = tuple[str, str, str, str]


def build(surroundings: Surroundings) -> "LanguageModelExtractor":
    """Make the extractor with the user's server, the shipped instruction and the grammar."""
    folder = surroundings.resources / "prompts"
    return LanguageModelExtractor(
        settings_of_user(read_presets(folder / "servers.toml"), surroundings.settings),
        (folder / "instruction.md").read_text(encoding="utf-8"),
        build_grammar(surroundings),
    )


class LanguageModelExtractor:
    """Reads prompts with a language model; the grammar stands in for it.

    Args:
        settings: Who is asked; None for nobody.
        instruction: What the model is told to do.
        grammar: Names the things, checks the model's claims, and reads the prompt where the model
            does not.
        clock: Seconds, for the budget.
    """

    id = "llm"

    def __init__(
        self,
        settings: ServerSettings | None,
        instruction: str,
        grammar: GrammarExtractor,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._settings = settings
        self._instruction = instruction
        self._grammar = grammar
        self._clock = clock
        self._calls: deque[float] = deque()
        self._cache: OrderedDict[CacheKey, SceneGraph] = OrderedDict()

    def extract(self, prompt: Prompt, token: CancelToken | None = None) -> SceneGraph:
        """Read mentions and relations; what goes wrong becomes a note on the grammar's reading.

        Args:
            prompt: What to read.
            token: Asked while the server is waited for; None when nobody can stop it.

        Raises:
            PromptError: The prompt is empty.
            Cancelled: The token was cancelled.
        """
        plain = without_weights(prompt.text)
        scene = self._extract(replace(prompt, text=plain.text), token)
        return plain.restored(scene, prompt)

    def _extract(self, prompt: Prompt, token: CancelToken | None) -> SceneGraph:
        read = self._grammar.extract(prompt)
        settings = self._settings
        if settings is None:
            where = f"in the settings, or by {SERVER_VARIABLE} and {MODEL_VARIABLE}"
            return _with_note(read, f"No language model is set up ({where}).")
        key = (settings.url, settings.model, prompt.text, self._version)
        if key in self._cache:
            self._cache.move_to_end(key)
            return replace(self._cache[key], prompt=prompt)
        try:
            scene = self._ask(settings, read, token)
        except ServerFailure as failure:
            return _with_note(read, f"The language model at {settings.host} {failure.reason}.")
        except UnreadableAnswer:
            return _with_note(
                read, f"The language model at {settings.host} answers without relations."
            )
        self._keep(key, scene, settings.cached_readings)
        return scene

    @property
    def _version(self) -> str:
        return hashlib.sha256(self._instruction.encode()).hexdigest()

    def _ask(
        self, settings: ServerSettings, read: SceneGraph, token: CancelToken | None
    ) -> SceneGraph:
        self._spend(settings)
        question = ChatQuestion(
            instruction=self._instruction, text=read.prompt.text, form=RELATIONS_FORM
        )
        answer = ChatClient(settings).ask(question, token)
        words = self._grammar.cut(read.prompt.text)
        return anchor(read_answer(answer.text), read, words, self.id)

    def _spend(self, settings: ServerSettings) -> None:
        now = self._clock()
        while self._calls and now - self._calls[0] >= MINUTE_S:
            self._calls.popleft()
        if len(self._calls) >= settings.calls_a_minute:
            raise ServerFailure(f"was asked {settings.calls_a_minute} times this minute")
        self._calls.append(now)

    def _keep(self, key: CacheKey, scene: SceneGraph, size: int) -> None:
        self._cache[key] = scene
        if len(self._cache) > size:
            self._cache.popitem(last=False)


def _with_note(read: SceneGraph, message: str) -> SceneGraph:
    note = Note(message=f"{message} The grammar has read this prompt.")
    return replace(read, notes=(note, *read.notes))
