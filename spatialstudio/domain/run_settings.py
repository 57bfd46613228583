"""What is set beside the prompt: how pictures are drawn, as one value to keep, undo and share."""

from dataclasses import field
from enum import Enum

from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import MAX_SEED, GuidanceSettings
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
        steps: Denoising steps, >= 1.
        guidance_scale: Of classifier-free guidance, >= 0; None for the model's own.
        negative: What pictures shall not show; empty for nothing.
        scheduler_id: Which sampler, one of the model's; empty for its own.
        seed: Of the next picture, 0 to ``MAX_SEED``.
        seed_mode: Which seed comes after it.
        pictures: How many are drawn at once, each from a seed of its own, >= 1.
        candidates: Most pictures that each one is chosen from, by its PSE; 1 chooses nothing.
        with_baseline: Whether each seed is drawn without guidance as well.
        preset: Whose settings the guidance began with.
        guidance: How the layout is held.
        detail: How much of the attention is kept.
        preview_every: Steps between previews, >= 1.
        savings: What is given up to draw with less memory.
        device: Where to draw, as a ``DeviceCard`` names it; empty for the fastest there is.
        dtype: Number format of the weights, one of ``NUMBER_FORMATS``; empty for the model's own.
    """

    model_id: str
    width: int
    height: int
    steps: int
    guidance_scale: float | None = None
    negative: str = ""
    scheduler_id: str = ""
    seed: int = 0
    seed_mode: SeedMode = SeedMode.FIXED
    pictures: int = 1
    candidates: int = 1
    with_baseline: bool = True
    preset: Preset = Preset.RECOMMENDED
    guidance: GuidanceSettings = field(default_factory=GuidanceSettings)
    detail: AttentionDetail = AttentionDetail.RELATION_WORDS
    preview_every: int = 1
    savings: tuple[Saving, ...] = ()
    device: str = ""
    dtype: str = ""


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
