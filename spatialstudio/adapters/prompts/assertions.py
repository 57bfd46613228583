"""Decomposition of a prompt into statements and questions by a language model.

Source: Singh and Zheng 2023, arXiv:2307.04749, section 3.1: one call with an example. On any
failure the statements come from the scene graph, with a note.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from spatialstudio.adapters.chat.client import AnswerForm, ChatClient, ChatQuestion, ServerFailure
from spatialstudio.adapters.chat.server import (
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    ServerSettings,
    read_presets,
    settings_of_user,
)
from spatialstudio.adapters.prompts.model_answers import UnreadableAnswer, json_objects
from spatialstudio.domain.assertion import (
    Assertion,
    AssertionId,
    AssertionKind,
    Assertions,
)
from spatialstudio.domain.ports import CancelToken, Surroundings
from spatialstudio.domain.scene import MentionId, RelationId, SceneGraph
from spatialstudio.science.questions.da_score import assertions_of

ATTEMPTS = 2
"""How often a prompt is sent before its answers count as unreadable."""
MAX_ASSERTIONS = 64
MAX_WORDS = 300
ARTICLES = ("a ", "an ", "the ")

ASSERTIONS_FORM = AnswerForm(
    name="assertions",
    schema={
        "type": "object",
        "properties": {
            "assertions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "statement": {"type": "string"},
                        "question": {"type": "string"},
                        "kind": {"type": "string", "enum": [kind.value for kind in AssertionKind]},
                        "about": {"type": "array", "items": {"type": "string"}},
                        "attribute": {"type": "string"},
                    },
                    "required": ["statement", "question", "kind", "about", "attribute"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["assertions"],
        "additionalProperties": False,
    },
)


def read_assertions(text: str, scene: SceneGraph) -> tuple[Assertion, ...]:
    """Parse an answer.

    Args:
        text: The model's answer.
        scene: The scene graph of the prompt.

    Raises:
        UnreadableAnswer: It contains no statement with a question.
    """
    listed = (found.get("assertions") for found in json_objects(text))
    rows = next((rows for rows in listed if isinstance(rows, list)), [])
    by_statement = {_plain(row["statement"]): row for row in rows if _is_row(row)}
    if not by_statement:
        raise UnreadableAnswer
    kept = list(by_statement.items())[:MAX_ASSERTIONS]
    return tuple(
        _assertion(AssertionId(f"a{number}"), statement, row, scene)
        for number, (statement, row) in enumerate(kept, 1)
    )


def _is_row(row: object) -> bool:
    return isinstance(row, dict) and all(
        isinstance(row.get(name), str) and 0 < len(row[name].strip()) <= MAX_WORDS
        for name in ("statement", "question")
    )


def _assertion(
    assertion_id: AssertionId, statement: str, row: dict[str, Any], scene: SceneGraph
) -> Assertion:
    about = _mentions(row.get("about"), scene)
    kind = row.get("kind")
    attribute = _plain(row.get("attribute")) if kind == AssertionKind.ATTRIBUTE.value else ""
    relation = _relation(about, scene) if kind == AssertionKind.RELATION.value else None
    is_tied = bool(
        about
        and (kind == AssertionKind.THING.value or attribute or relation)  # otherwise incomplete
    )
    return Assertion(
        id=assertion_id,
        text=statement,
        question=f"{_plain(row['question']).rstrip('?')}?",
        mention_id=about[0] if is_tied else None,
        relation_id=relation,
        attribute=attribute if is_tied else "",
    )


def _mentions(names: object, scene: SceneGraph) -> Sequence[MentionId]:
    """Return the named mentions; empty if any name is unknown."""
    if not isinstance(names, list):
        return ()
    known = {mention.head.lower(): mention.id for mention in reversed(scene.mentions)}
    known |= {mention.phrase.lower(): mention.id for mention in reversed(scene.mentions)}
    found = [known.get(_without_article(_plain(name).lower())) for name in names]
    return [mention for mention in found if mention] if all(found) else ()


def _relation(about: Sequence[MentionId], scene: SceneGraph) -> RelationId | None:
    """Return the one relation between these mentions, in this order; None if there are several."""
    found = [known.id for known in scene.relations if known.ends == tuple(about)]
    return found[0] if len(found) == 1 else None


def _plain(value: object) -> str:
    return " ".join(value.split()).rstrip(".") if isinstance(value, str) else ""


def _without_article(name: str) -> str:
    return next((name[len(word) :] for word in ARTICLES if name.startswith(word)), name)


def build(surroundings: Surroundings) -> "LanguageModelAssertionReader":
    """Create the reader with the user's server and the built-in instruction."""
    folder = surroundings.resources / "prompts"
    return LanguageModelAssertionReader(
        settings_of_user(read_presets(folder / "servers.toml"), surroundings.settings),
        (folder / "assertions.md").read_text(encoding="utf-8"),
    )


class LanguageModelAssertionReader:
    """Queries a language model once per prompt and caches the latest answers.

    Args:
        settings: Server settings; None to query no model.
        instruction: System message for the model.
    """

    id = "llm"

    def __init__(self, settings: ServerSettings | None, instruction: str) -> None:
        self._settings = settings
        self._instruction = instruction
        self._kept: dict[SceneGraph, Assertions] = {}

    def read(self, scene: SceneGraph, token: CancelToken) -> Assertions:
        """Decompose a prompt; failures become a note on the statements of the scene graph.

        Args:
            scene: The prompt's scene graph.
            token: Checked while waiting.

        Raises:
            Cancelled: The token was cancelled.
        """
        if self._settings is None:
            names = f"{SERVER_VARIABLE} and {MODEL_VARIABLE}"
            return _by_scene(scene, f"No language model is configured ({names}).")
        if scene not in self._kept:
            try:
                self._kept[scene] = self._ask(self._settings, scene, token)
            except ServerFailure as failure:
                reason = f"The language model at {self._settings.host} {failure.reason}."
                return _by_scene(scene, reason)
            except UnreadableAnswer:
                reason = f"The language model at {self._settings.host} returned no assertions."
                return _by_scene(scene, reason)
        return self._kept[scene]

    def _ask(self, settings: ServerSettings, scene: SceneGraph, token: CancelToken) -> Assertions:
        question = ChatQuestion(
            instruction=self._instruction, text=scene.prompt.text, form=ASSERTIONS_FORM
        )
        client, items = ChatClient(settings), tuple[Assertion, ...]()
        for attempt in range(ATTEMPTS):
            try:
                items = read_assertions(client.ask(question, token).text, scene)
                break
            except UnreadableAnswer:
                if attempt == ATTEMPTS - 1:
                    raise
        if len(self._kept) >= settings.cached_readings:
            self._kept.clear()
        return Assertions(items=items, source_id=self.id)


def _by_scene(scene: SceneGraph, reason: str) -> Assertions:
    return replace(
        assertions_of(scene),
        notes=((f"{reason} The assertions were derived from the parsed scene instead."),),
    )
