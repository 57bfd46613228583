"""Run settings: everything in the form except the prompt, as one value to store, undo and share."""

from dataclasses import field, fields, replace
from enum import Enum
from typing import Any, TypeVar

from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.frozen import INLINE, SPARSE, frozen
from spatialstudio.domain.generation import (
    MAX_SEED,
    GenerationRequest,
    GuidanceSettings,
    PlaceTarget,
    SamplingSettings,
)
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.domain.steering import Steering


class SeedMode(Enum):
    """How the seed changes after each image."""

    RANDOM = "random"
    """A random seed."""
    FIXED = "fixed"
    """The same seed."""
    INCREMENT = "increment"
    """The next seed."""
    REUSE = "reuse"
    """The seed of the selected image."""


class Preset(Enum):
    """Presets of the guidance settings."""

    PUBLISHED = "published"
    """The settings of the paper's code, with guided steps for 50 steps."""
    SPATIALBENCH_UC = "spatialbench-uc"
    """The settings of the recorded runs of SpatialBench-UC: BoxDiff without refinement."""
    RECOMMENDED = "recommended"
    """Our settings; the window of guided steps scales with the number of steps."""


@frozen
class RunSettings:
    """The values of the settings form. Created by ``flow.choose_settings`` and edited by the user.

    Attributes:
        model_id: The model.
        width: Pixels, divisible by 8.
        height: Pixels, divisible by 8.
        sampling: Sampling settings of the next image; stored inline in files.
        guidance_scale: Classifier-free guidance scale, >= 0; None for the model's default.
        negative: Negative prompt; empty for none.
        seed_mode: How the seed changes after the next image.
        pictures: Batch size, each image with a separate seed, >= 1.
        candidates: Maximum number of candidates of a noise search by PSE; 1 disables it.
        steering: Steering of every image; None for the recommended one of each scene.
        with_baseline: Whether to generate each seed without guidance as well.
        preset: The preset that the guidance settings are based on.
        detail: How much of the attention is stored.
        preview_every: Steps between previews, >= 1.
        self_attention: Whether self-attention is stored.
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
    steering: Steering | None = field(default=None, metadata=SPARSE)
    with_baseline: bool = True
    preset: Preset = Preset.RECOMMENDED
    detail: AttentionDetail = AttentionDetail.RELATION_WORDS
    preview_every: int = 1
    self_attention: bool = field(default=False, metadata=SPARSE)


@frozen
class SketchedPlaces:
    """The places that a layout sketch asks for.

    Attributes:
        targets: One for each placed object; the others are free.
        weight: How much they count beside the relations, [0, 1]; ``target_weight`` of guidance.
    """

    targets: tuple[PlaceTarget, ...] = ()
    weight: float = 1.0

    def target_of(self, mention_id: MentionId) -> PlaceTarget | None:
        """Return the target of an object; None if it is free."""
        return next((each for each in self.targets if each.mention_id == mention_id), None)

    def with_target(self, target: PlaceTarget) -> "SketchedPlaces":
        """Return the places with the target of an object added or replaced."""
        return replace(self, targets=(*self.without(target.mention_id).targets, target))

    def without(self, mention_id: MentionId) -> "SketchedPlaces":
        """Return the places with an object free."""
        kept = tuple(each for each in self.targets if each.mention_id != mention_id)
        return replace(self, targets=kept)

    def within(self, scene: SceneGraph | None) -> "SketchedPlaces":
        """Return the places inside the picture of the objects that a scene mentions, in order."""
        mentions = scene.mentions if scene else ()
        found = (self.target_of(mention.id) for mention in mentions)
        return replace(self, targets=tuple(each for each in found if each and each.is_inside))


def with_places(guidance: GuidanceSettings, places: SketchedPlaces) -> GuidanceSettings:
    """Return guidance towards sketched places; without any, the weight is the default."""
    weight = places.weight if places.targets else GuidanceSettings().target_weight
    return replace(guidance, targets=places.targets, target_weight=weight)


def places_of(request: GenerationRequest) -> SketchedPlaces:
    """Return the sketched places of a request."""
    guidance = request.sampling.guidance
    return SketchedPlaces(targets=guidance.targets, weight=guidance.target_weight)


AnySettings = TypeVar("AnySettings", GenerationRequest, RunSettings)


def with_values(settings: AnySettings, **values: Any) -> AnySettings:
    """Return a request or form with fields replaced, sampling settings included."""
    names = {each.name for each in fields(SamplingSettings)} & values.keys()
    sampling = replace(settings.sampling, **{name: values.pop(name) for name in names})
    return replace(settings, sampling=sampling, **values)


def seed_after(seed: int, count: int = 1) -> int:
    """Return the seed ``count`` after a seed; the largest wraps to 0."""
    return (seed + count) % (MAX_SEED + 1)


@frozen
class Draft:
    """The unsubmitted prompt and settings. Created by the studio on every change.

    Attributes:
        prompt: The typed text.
        model_id: The chosen model; empty for the first.
        scene: The extracted scene with the user's changes; None for an empty prompt.
        settings: The settings form; None if it was never changed.
        places: Places of the layout sketch.
    """

    prompt: str = ""
    model_id: str = ""
    scene: SceneGraph | None = None
    settings: RunSettings | None = None
    places: SketchedPlaces = field(default_factory=SketchedPlaces)
