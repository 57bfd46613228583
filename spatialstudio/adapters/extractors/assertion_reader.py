"""Has a language model take a prompt apart into statements and questions; the scene stands in.

Source: Singh and Zheng 2023, arXiv:2307.04749, section 3.1: one call with an example. Whatever goes
wrong, the statements are those of the scene, with a note.
"""

from dataclasses import replace

from spatialstudio.adapters.chat_answers import ServerFailure
from spatialstudio.adapters.chat_client import ChatClient, ChatQuestion
from spatialstudio.adapters.extractors.assertion_answers import ASSERTIONS_FORM, read_assertions
from spatialstudio.adapters.extractors.model_answers import UnreadableAnswer
from spatialstudio.adapters.server import (
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    ServerSettings,
    read_presets,
    settings_of_user,
)
from spatialstudio.domain.assertion import Assertions
from spatialstudio.domain.ports import CancelToken, Surroundings
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.science.da_score import assertions_of


def build(surroundings: Surroundings) -> "LanguageModelAssertionReader":
    """Make the reader with the user's server and the shipped instruction."""
    folder = surroundings.resources / "prompts"
    return LanguageModelAssertionReader(
        settings_of_user(read_presets(folder / "servers.toml"), surroundings.settings),
        (folder / "assertions.md").read_text(encoding="utf-8"),
    )


class LanguageModelAssertionReader:
    """Asks a language model once for each prompt, and remembers the last answers.

    Args:
        settings: Who is asked; None for nobody.
        instruction: What the model is told to do.
    """

    id = "llm"

    def __init__(self, settings: ServerSettings | None, instruction: str) -> None:
        self._settings = settings
        self._instruction = instruction
        self._kept: dict[SceneGraph, Assertions] = {}

    def read(self, scene: SceneGraph, token: CancelToken) -> Assertions:
        """Take a prompt apart; what goes wrong becomes a note on the scene's own statements.

        Args:
            scene: The prompt, and what is known of it.
            token: Asked while it waits.

        Raises:
            Cancelled: The token was cancelled.
        """
        if self._settings is None:
            names = f"{SERVER_VARIABLE} and {MODEL_VARIABLE}"
            return _by_scene(scene, f"No language model is set up ({names}).")
        if scene not in self._kept:
            try:
                self._kept[scene] = self._ask(self._settings, scene, token)
            except ServerFailure as failure:
                reason = f"The language model at {self._settings.host} {failure.reason}."
                return _by_scene(scene, reason)
            except UnreadableAnswer:
                reason = f"The language model at {self._settings.host} answers without statements."
                return _by_scene(scene, reason)
        return self._kept[scene]

    def _ask(self, settings: ServerSettings, scene: SceneGraph, token: CancelToken) -> Assertions:
        question = ChatQuestion(
            instruction=self._instruction, text=scene.prompt.text, form=ASSERTIONS_FORM
        )
        answer = ChatClient(settings).ask(question, token)
        if len(self._kept) >= settings.cached_readings:
            self._kept.clear()
        return Assertions(items=read_assertions(answer.text, scene), source_id=self.id)


def _by_scene(scene: SceneGraph, reason: str) -> Assertions:
    return replace(assertions_of(scene), notes=(f"{reason} The scene has been taken apart.",))
