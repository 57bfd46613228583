"""What is set beside the prompt: how pictures are drawn, as one value to keep, undo and share."""

from dataclasses import field, fields, replace
from enum import Enum
from typing import Any, TypeVar

from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.frozen import INLINE, frozen
from spatialstudio.domain.generation import MAX_SEED, GenerationRequest, SamplingSettings
from spatialstudio.domain.relation import SceneGraph


class SeedMode(Enum):
    """Which seed the next picture gets."""

    RANDOM = "random"
    """Another one by chance."""
    FIXED = "fixed"
    """The same."""
    INCREMENT = "increment"
    """The one that follows."""
    REUSE = "reuse"
    """That of the picture that is looked at."""


class Preset(Enum):
    """Whose settings of the guidance."""

    PUBLISHED = "published"
    """Of the paper's code; steps are counted as there, of 50."""
    SPATIALBENCH_UC = "spatialbench-uc"
    """Of the recorded runs of SpatialBench-UC: BoxDiff without refinement."""
    RECOMMENDED = "recommended"
    """Ours; the window of steps grows with their number."""


@frozen
class RunSettings:
    """The form beside the prompt. Made by ``flow.choose_settings`` and by the user's hand.

    Attributes:
        model_id: Which weights.
        width: Pixels, divisible by 8.
        height: Likewise.
        sampling: Of the next picture; files hold its fields in its place.
        guidance_scale: Of classifier-free guidance, >= 0; None for the model's own.
        negative: What pictures shall not show; empty for nothing.
        seed_mode: Which seed comes after that of the next picture.
        pictures: How many are drawn at once, each from a seed of its own, >= 1.
        candidates: Most pictures that each one is chosen from, by its PSE; 1 chooses nothing.
        with_baseline: Whether each seed is drawn without guidance as well.
        preset: Whose settings the guidance began with.
        detail: How much of the attention is kept.
        preview_every: Steps between previews, >= 1.
    """

    model_id: str
    width: int
    height: int
    sampling: SamplingSettings = field(default_factory=SamplingSettings, metadata=INLINE)
    guidance_scale: float | None = None
    negative: str = ""
    seed_mode: SeedMode = SeedMode.FIXED
    pictures: int = 1
    candidates: int = 1
    with_baseline: bool = True
    preset: Preset = Preset.RECOMMENDED
    detail: AttentionDetail = AttentionDetail.RELATION_WORDS
    preview_every: int = 1


AnySettings = TypeVar("AnySettings", GenerationRequest, RunSettings)


def with_values(settings: AnySettings, **values: Any) -> AnySettings:
    """Return a request or a form with other values of its fields, sampling settings included."""
    names = {each.name for each in fields(SamplingSettings)} & values.keys()
    sampling = replace(settings.sampling, **{name: values.pop(name) for name in names})
    return replace(settings, sampling=sampling, **values)


def seed_after(seed: int, count: int = 1) -> int:
    """Return the seed that follows; after the largest comes 0."""
    return (seed + count) % (MAX_SEED + 1)


@frozen
class Draft:
    """The form as the user left it. Made by the studio whenever it changes.

    Attributes:
        prompt: What was typed.
        model_id: The model chosen; empty for the first.
        scene: What it was read as, and what was changed by hand since; None while it says nothing.
        settings: What is set beside the prompt; None while it was never touched.
    """

    prompt: str = ""
    model_id: str = ""
    scene: SceneGraph | None = None
    settings: RunSettings | None = None
