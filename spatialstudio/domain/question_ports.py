"""Protocols of adapters that answer or write multiple-choice questions, or render scenes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.known_scene import KnownScene
from spatialstudio.domain.multiple_choice import (
    ChoiceQuestion,
    ChoiceReply,
    Sampling,
    WrittenQuestions,
)
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.scene import SceneGraph


class ChoiceAnswerer(Protocol):
    """Answers multiple-choice questions about an image, all in one message."""

    id: str

    @property
    def model_key(self) -> str:
        """Identifies the model, for cached replies; empty if replies cannot be cached."""

    def choose(
        self,
        image: RgbImage | None,
        questions: Sequence[ChoiceQuestion],
        sampling: Sampling,
        token: CancelToken,
    ) -> ChoiceReply:
        """Reply once; the reply may be no valid rollout.

        Args:
            image: (H, W, 3) uint8; None to ask without the picture, as a baseline.
            questions: The questions, with their options in the order to show.
            sampling: How the reply is sampled.
            token: Polled while waiting.

        Raises:
            DetectorError: The model is damaged or missing.
            AnswererError: The server fails.
            Cancelled: The token was cancelled.
        """


class SceneRenderer(Protocol):
    """Renders random scenes whose content is known."""

    id: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all objects that it can draw."""

    def render(self, seed: int) -> KnownScene:
        """Return a scene; equal seeds give equal scenes."""

    def write(self, scene: KnownScene, path: Path) -> None:
        """Write the picture of a scene as PNG.

        Raises:
            StoreError: The folder cannot be written.
        """


class QuestionWriter(Protocol):
    """Writes multiple-choice questions on a prompt."""

    id: str

    def write(
        self, scene: SceneGraph, by_rules: WrittenQuestions, token: CancelToken
    ) -> WrittenQuestions:
        """Return questions on a prompt; on failure those of the rules with a note.

        Args:
            scene: The prompt and its scene graph.
            by_rules: The questions that follow from the scene graph.
            token: Polled while waiting.

        Raises:
            Cancelled: The token was cancelled.
        """
