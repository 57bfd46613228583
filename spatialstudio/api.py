"""The Python API of Spatial Studio for notebooks and scripts.

Guide a diffusers pipeline, parse prompts, evaluate images, open stored runs:

    from spatialstudio.api import guide

    with guide(pipe, "a dog to the left of a car") as run:
        image = pipe("a dog to the left of a car").images[0]
    print(run)

Importing this module takes milliseconds: numpy, torch and the models load on first use. Errors are
subclasses of ``StudioError`` with a message and a hint.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spatialstudio.application.inspect.recording import (
    EvaluatedPicture,
    Named,
    RecordedCall,
    Recording,
    Run,
    StoredRun,
    open_stored,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    import numpy.typing as npt

    from spatialstudio.adapters.diffusion.attention_archive import LayerReader
    from spatialstudio.adapters.diffusion.guidable_pipeline import GuidablePipeline
    from spatialstudio.adapters.diffusion.guided_call import CallPlan, ReportStep
    from spatialstudio.application.paths import StudioPaths
    from spatialstudio.application.studio import Studio
    from spatialstudio.domain.arrays import RgbImage
    from spatialstudio.domain.generation import (
        GuidanceSettings,
        StepEvent,
    )
    from spatialstudio.domain.judge_choice import JudgeSetChoice
    from spatialstudio.domain.pipeline_call import PipelineCall
    from spatialstudio.domain.ports import ModelCard
    from spatialstudio.domain.scene import RelationType, SceneGraph
    from spatialstudio.domain.steering import RatePicture, Steering

__all__ = [
    "EvaluatedPicture",
    "Named",
    "Recording",
    "Run",
    "StoredRun",
    "evaluate",
    "guide",
    "open_run",
    "pos",
    "pse",
    "read",
    "steer",
    "watch",
]

REPRODUCE = "reproduce"
RECOMMENDED = "recommended"
LAYOUT = "layout"
CHOSEN_APART = ("method_id", "strength", "options")
"""Fields of ``GuidanceSettings`` that are separate arguments of ``guide``."""


def read(prompt: str, *, extractor: str | None = None) -> SceneGraph:
    """Parse a prompt into its objects, relations, and notes about text that was not understood.

    Args:
        prompt: English text, as passed to a diffusers pipeline.
        extractor: Id of a relation extractor, such as that of a plugin; None for the grammar.

    Raises:
        PromptError: The prompt is empty or too long.
        PluginError: The extractor is unknown, or failed.
    """
    return _studio().parse_prompt(prompt, extractor)


@contextmanager
def guide(  # noqa: PLR0913 - options of a call in a notebook
    pipe: Any,
    prompt: str | SceneGraph,
    *,
    method: str = LAYOUT,
    preset: str = RECOMMENDED,
    strength: float | None = None,
    places: Mapping[str, Sequence[float]] | None = None,
    previews: bool = False,
    layers: bool = False,
    **settings: Any,
) -> Iterator[Run]:
    """Guide every call of a diffusers pipeline inside a ``with`` block, and record it.

    The pipeline is called as usual, with its seed, steps, size and scheduler. Within the block,
    ``type(pipe)`` is a subclass of its class; afterwards, also after an exception, the pipeline is
    restored. Blocks may be nested: the innermost one is in effect.

    A call must use the block's prompt, alone or within a longer one ("..., oil painting"), or pass
    its embeddings; another prompt is an error. In a batch, each image is guided by its maps. A
    scene without anything to guide is generated without guidance, with a message in ``Run.notes``.

    Args:
        pipe: A text-to-image pipeline of Stable Diffusion 1, 2, XL or 3, PixArt alpha or sigma,
            FLUX.1, FLUX.2 Klein, SANA, Qwen-Image, Z-Image or Lumina 2.
        prompt: The prompt of the calls, or a scene from ``read``.
        method: Id of a guidance method, or "none".
        preset: "recommended", "published" or "spatialbench-uc".
        strength: Step size at the first step, in variance-preserving units, >= 0; None for the
            preset's.
        places: Where objects should be: phrase or noun to centre and, optionally, diameter, as
            fractions of the sides: ``{"cat": (0.3, 0.5), "dog": (0.7, 0.5, 0.3)}``.
        previews: Whether to decode a preview of a call's first image at each step.
        layers: Whether to record the maps of each layer of a call's first image, in
            ``Run.layer_maps``.
        settings: Options of the method, and fields of ``GuidanceSettings``, that differ from the
            preset, such as ``presence_weight=0.1``, ``goal=0.95`` or ``last_step=9``.

    Yields:
        The recording, which is extended while the pipeline runs.

    Raises:
        BackendError: The pipeline is not supported, or its attention cannot be captured.
        PromptError: The prompt is empty, contradictory, or truncated by the text encoder.
        RequestError: A setting or place is unknown or out of range, or a call uses another prompt.
    """
    scene = _scene(prompt)
    settings |= _targets(scene, places or {})
    with _block(pipe, scene, (method, preset, strength), settings, (previews, layers)) as run:
        yield run


@contextmanager
def watch(
    pipe: Any, prompt: str | SceneGraph, *, previews: bool = False, layers: bool = False
) -> Iterator[Run]:
    """Record every call of a diffusers pipeline inside a ``with`` block without guiding it.

    The images are bit-for-bit the same as without the block. See ``guide``.

    Args:
        pipe: As for ``guide``.
        prompt: The prompt of the calls, or a scene from ``read``.
        previews: Whether to decode a preview of a call's first image at each step.
        layers: Whether to record the maps of each layer; see ``guide``.

    Yields:
        The recording, which is extended while the pipeline runs.

    Raises:
        BackendError: The pipeline is not supported, or its attention cannot be captured.
        PromptError: The prompt is empty, or truncated by the text encoder.
        RequestError: A call uses another prompt.
    """
    with guide(pipe, prompt, method="none", previews=previews, layers=layers) as run:
        yield run


@contextmanager
def steer(
    pipe: Any,
    prompt: str | SceneGraph,
    *,
    particles: int = 4,
    reward: Callable[[RgbImage], float] | None = None,
    method: str = LAYOUT,
    previews: bool = False,
    **steering: Any,
) -> Iterator[Run]:
    """Draw every picture of a ``with`` block from several noises, of which the best continue.

    The noises, the particles, are denoised side by side, and on some steps they are resampled by
    reward (Feynman-Kac steering). A call draws one picture and needs ``generator`` with a seed; the
    first particle begins with its noise. See ``guide`` for calls and prompts.

    Args:
        pipe: As for ``guide``.
        prompt: The prompt of the calls, or a scene from ``read``.
        particles: Number of noises, >= 2.
        reward: Rates the predicted clean picture, (H, W, 3) uint8, in [0, 1], for example by the
            PSE of ``evaluate``; None for PoS and presence of the words on the attention maps.
        method: Id of the guidance method that acts on every particle, or "none".
        previews: Whether to decode previews.
        steering: Fields of ``Steering`` that differ, such as ``keep=0.5`` or ``strength=30``.

    Yields:
        The recording, with the steps of the particle that became the picture.

    Raises:
        BackendError: The pipeline is not supported, or its attention cannot be captured.
        PromptError: The prompt is empty, contradictory, or truncated by the text encoder.
        RequestError: A setting is unknown or out of range, or a call has no seed or several
            pictures.
    """
    from spatialstudio.application.run.check_request import steering_named

    settings = steering_named(particles, steering, by_picture=reward is not None)
    rate = None if reward is None else lambda image, _maps: float(reward(image))
    choice, recorded = (method, RECOMMENDED, None), (previews, False)
    with _block(pipe, _scene(prompt), choice, {}, recorded, (settings, rate)) as run:
        yield run


def evaluate(  # noqa: PLR0913 - options of a call in a notebook
    image: Any,
    prompt: str | SceneGraph,
    *,
    judges: str | Mapping[str, str] = "",
    cut: float | None = None,
    checker: str = REPRODUCE,
    metrics: Sequence[str] = (),
    device: str = "",
    **thresholds: float,
) -> EvaluatedPicture:
    """Evaluate whether an image shows the relations of a prompt.

    Args:
        image: A file, a Pillow image, or an array (H, W, 3): uint8, or floats in [0, 1].
        prompt: The prompt of the image, or a scene from ``read``.
        judges: Id of a named judge set, such as "open-vocabulary"; or models by task, each an id,
            short name or folder: "detector", "second_detector" for agreement, "segmenter" for
            detectors without masks (PSE needs masks), "depth" for relations such as "behind",
            "answerer" for the DA-score. Empty for the default: the sticker models for files whose
            record names a sticker model, the first installed set whose vocabulary covers the
            prompt for others.
        cut: Score threshold for detections, [0, 1]; None for the detector's default.
        checker: "reproduce" for SpatialBench-UC as published, "recommended", or a settings file.
        metrics: Names of further metrics, such as "visor:mended", or "da" for the DA-score, as in
            the terminal's ``evaluate --metrics``.
        device: Device of the models, such as "cuda:1"; empty for the fastest. The sticker models
            always run on the CPU.
        thresholds: Fields of ``CheckerSettings`` that differ, such as ``margin=0.05``.

    Raises:
        NoDetectorChosen: No judge set is chosen, and no installed one suits the image.
        ModelNotFound: A chosen model is not installed.
        DetectorError: A model is damaged.
        ImageError: The file or array is not an image.
        PromptError: The prompt is empty, or names an object unknown to the sticker models.
        SettingsError: A threshold or a metric is unknown, or a threshold out of range.
        RequestError: A task is unknown, or there is no such device.
        PluginError: A metric failed.
    """
    changes = [f"{name}={value}" for name, value in thresholds.items()]
    with _device(device):
        return _evaluate(image, prompt, _judge_set(judges, cut), (checker, changes), metrics)


def open_run(path: str | Path, name: str = "", *, layers: str | Path | None = None) -> StoredRun:
    """Open a stored run as arrays and tables; neither torch, Qt nor a model is loaded.

    Args:
        path: Any file of the run, a folder or bundle of runs, or a folder of an early version.
        name: Name of a run in a folder or bundle, without extension; empty for the newest.
        layers: Cache with the recorded layers of runs outside bundles; None for the default.

    Raises:
        StoreError: There is no run, or it is damaged.
        ImageError: The picture is damaged.
    """
    from spatialstudio.adapters.storage.stores.attention_files import AttentionFolders

    read = None if layers is None else AttentionFolders(Path(layers)).read
    return open_stored(_studio().storage.exports.load(Path(path), name, read))


def pos(
    subject: npt.ArrayLike,
    object: npt.ArrayLike,  # noqa: A002 - the relation's own term
    second_object: npt.ArrayLike | None = None,
    *,
    relation: str | RelationType | None = None,
    depth: npt.ArrayLike | None = None,
) -> npt.NDArray[np.float64]:
    """Compute the Probability of Superiority of a relation on maps or masks.

    Rezaei et al. 2025, arXiv:2506.23418, equation 2; ties count half, so that swapping the maps
    gives one minus the probability.

    Args:
        subject: (..., H, W) map, not negative, or mask; x grows right, y grows down.
        object: Map or mask of the object, same shape.
        second_object: Map or mask of the second object, same shape; for "between" only.
        relation: Id or phrase of a relation type, such as "above"; None for "to the left of".
        depth: (H, W), larger is farther; for depth relations, which take masks (H, W).

    Returns:
        (...) PoS in [0, 1]; a scalar for single maps.

    Raises:
        EmptyMapError: A map sums to 0.
        RequestError: The arrays differ in shape or contain invalid values, or the relation requires
            another number of arrays, or depth.
        PluginError: The relation is unknown.
    """
    import numpy as np

    from spatialstudio.application.inspect.array_pos import pos_of_arrays

    given = [subject, object, *([] if second_object is None else [second_object])]
    return np.asarray(pos_of_arrays(given, _relation_type(relation), depth))


def pse(
    subject: npt.ArrayLike,
    object: npt.ArrayLike,  # noqa: A002 - the relation's own term
    second_object: npt.ArrayLike | None = None,
    *,
    relation: str | RelationType | None = None,
    depth: npt.ArrayLike | None = None,
) -> npt.NDArray[np.float64]:
    """Compute PSE, max(0, 2 PoS - 1), of a relation on maps or masks.

    Rezaei et al. 2025, arXiv:2506.23418, equation 3. Arguments and errors as for ``pos``.

    Args:
        subject: (..., H, W) map, not negative, or mask.
        object: Map or mask of the object, same shape.
        second_object: Map or mask of the second object, same shape; for "between" only.
        relation: Id or phrase of a relation type; None for "to the left of".
        depth: (H, W), larger is farther.

    Returns:
        (...) PSE in [0, 1].
    """
    from spatialstudio.science.pos.superiority import pse_from_pos

    chance = pos(subject, object, second_object, relation=relation, depth=depth)
    return pse_from_pos(chance)


@contextmanager
def _block(
    pipe: Any,
    scene: SceneGraph,
    choice: tuple[str, str, float | None],
    settings: Mapping[str, Any],
    recorded: tuple[bool, bool],
    steered: tuple[Steering, RatePicture | None] | None = None,
) -> Iterator[Run]:
    """Guide and record calls; ``recorded`` are whether previews and maps of layers are."""
    from spatialstudio.adapters.diffusion.guided_pipeline import GuidedPipeline, guidable
    from spatialstudio.application.plugins import installed_plugins
    from spatialstudio.application.run.check_request import check_scene
    from spatialstudio.domain.generation import UNGUIDED, CaptureSettings

    installed_plugins()  # they register relation types and guidance methods
    if choice[0] != UNGUIDED:
        check_scene(scene)
    model = guidable(pipe)
    chooser = _GuidanceChooser(model, scene, choice, settings)
    has_previews, has_layers = recorded
    capture = CaptureSettings(attention_every=1, preview_every=int(has_previews))
    recorder = _CallRecorder(chooser.card, records_layers=has_layers)
    run = Run(scene, chooser.notes, recorder.calls)
    guided = GuidedPipeline(model, scene, chooser.choose, capture, recorder, steered)
    with guided.attached():
        yield run


class _CallRecorder:
    """Records the calls of a block; a call that fails before its first step is not recorded.

    Args:
        card: Model card of the pipeline.
        records_layers: Whether the maps of all layers are recorded.
    """

    def __init__(self, card: ModelCard, *, records_layers: bool) -> None:
        self.calls: list[RecordedCall] = []
        self.records_layers = records_layers
        self._card = card
        self._begun: RecordedCall | None = None

    def begin_call(self, plan: CallPlan, layers: LayerReader) -> ReportStep:
        """Return the function that records the steps of a call."""
        call = RecordedCall(plan.scene, plan.guidance, plan.pictures, layers.readings)
        self._begun = call

        def report_step(events: tuple[StepEvent, ...]) -> None:
            if not call.events:
                self.calls.append(call)
            call.events.append(events)

        return report_step

    def end_call(self, result: PipelineCall) -> None:
        """Allow the call to be saved."""
        from spatialstudio.application.storage.store_call import CallStore

        if (call := self._begun) is not None:
            call.store = CallStore(_studio().storage, self._card, result, call.events).store


def _evaluate(
    image: Any,
    prompt: str | SceneGraph,
    chosen: JudgeSetChoice,
    checker: tuple[str, list[str]],
    metrics: Sequence[str],
) -> EvaluatedPicture:
    from dataclasses import replace

    from spatialstudio.application.evaluate.metrics import choose_metrics, metric_values
    from spatialstudio.application.evaluate.pictures import pixels_of
    from spatialstudio.application.jobs.cancellation import CancelFlag

    studio = _studio()
    path = Path(image) if isinstance(image, str | Path) else None
    is_sticker_picture = path is not None and studio.pictures.shows_stickers(path)
    checker_settings = studio.judging.checker(*checker)
    chosen_metrics = choose_metrics([metrics] if isinstance(metrics, str) else metrics)
    if not isinstance(prompt, str):
        scene = prompt
    else:
        scene = studio.judging.read_scene(chosen, prompt, is_sticker_picture=is_sticker_picture)
    choice = studio.judge_defaults.judges_for(chosen, scene, is_sticker_picture=is_sticker_picture)
    pixels = pixels_of(image) if path is None else studio.pictures.read(path).image
    if not metrics:
        choice = replace(choice, answerer_id=None)
    evaluation = studio.judging.scored_picture(
        pixels, scene, checker_settings, choice, CancelFlag()
    )
    scores, values = metric_values(chosen_metrics, scene, evaluation) if metrics else ({}, {})
    return EvaluatedPicture(scene, evaluation, scores, values)


def _device(name: str) -> AbstractContextManager[None]:
    if not name:
        return nullcontext()
    from spatialstudio.adapters.device import default_device

    return default_device(name)


def _judge_set(judges: str | Mapping[str, str], cut: float | None) -> JudgeSetChoice:
    from spatialstudio.domain.judge_choice import JudgeSetChoice, JudgeTask

    if isinstance(judges, str):
        return JudgeSetChoice(set_id=judges, cut=cut)
    _check_name("judge set task", judges, [task.value for task in JudgeTask])
    return JudgeSetChoice(
        detector_id=judges.get(JudgeTask.DETECTOR.value),
        second_id=judges.get(JudgeTask.SECOND_DETECTOR.value),
        segmenter_id=judges.get(JudgeTask.SEGMENTER.value),
        depth_id=judges.get(JudgeTask.DEPTH.value),
        answerer_id=judges.get(JudgeTask.ANSWERER.value),
        cut=cut,
    )


class _GuidanceChooser:
    """Chooses the guidance settings of a call by its steps; validates them on construction.

    Args:
        model: The pipeline.
        scene: The scene of the calls.
        choice: Method, preset and strength, as in ``guide``.
        changes: Options and fields that differ from the preset.
    """

    def __init__(
        self,
        model: GuidablePipeline,
        scene: SceneGraph,
        choice: tuple[str, str, float | None],
        changes: Mapping[str, Any],
    ) -> None:
        from dataclasses import fields

        from spatialstudio.adapters.diffusion.guided_pipeline import card_of
        from spatialstudio.domain.generation import UNGUIDED, GuidanceSettings, StepUnit
        from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, has_work

        self.card = card_of(model)
        self._method, self._preset, self._strength = choice
        known = [each.name for each in fields(GuidanceSettings) if each.name not in CHOSEN_APART]
        methods = GUIDANCE_METHODS if self._method in GUIDANCE_METHODS else ()
        own = [option.id for each in methods if each.id == self._method for option in each.options]
        _check_name("guidance setting", changes, [*own, *known])
        self._options = {name: value for name, value in changes.items() if name in own}
        self._changes = {name: value for name, value in changes.items() if name in known}
        if isinstance(unit := changes.get("unit"), str):
            _check_name("strength unit", [unit], [each.value for each in StepUnit])
            self._changes["unit"] = StepUnit(unit)
        self._check(scene)
        self.notes = tuple(note.message for note in scene.notes)
        is_placed = bool(changes.get("targets"))
        has_aim = is_placed or has_work(scene, self._method)
        if self._method != UNGUIDED and not (scene.mentions and has_aim):
            self.notes += ("There is nothing to guide: the pipeline runs without guidance.",)
        elif self._method != UNGUIDED and self.choose(self.card.steps).strength == 0:
            self.notes += ("The strength is 0: the pipeline runs without guidance.",)

    def _check(self, scene: SceneGraph) -> None:
        """Check that the settings are valid for the pipeline."""
        from spatialstudio.application.run.check_request import check_request
        from spatialstudio.domain.generation import (
            GenerationRequest,
            ModelRef,
            SamplingSettings,
            new_request_id,
        )

        request = GenerationRequest(
            id=new_request_id(),
            scene=scene,
            backend_id=self.card.backend_id,
            model=ModelRef(id=self.card.id),
            sampling=SamplingSettings(guidance=self.choose(self.card.steps)),
        )
        try:
            check_request(request, self.card)
        except TypeError as error:
            raise _request_error(
                "A guidance setting has a value of the wrong type.",
                f"See GuidanceSettings for the types: {error}.",
            ) from error

    def choose(self, steps: int) -> GuidanceSettings:
        """Return the settings for a number of denoising steps."""
        from dataclasses import replace

        from spatialstudio.application.models.model_lists import choose_guidance
        from spatialstudio.domain.run_settings import Preset

        presets = [each.value for each in Preset]
        _check_name("preset", [self._preset], presets)
        settings = choose_guidance(
            self._method,
            self.card,
            steps,
            preset=Preset(self._preset),
            strength=self._strength,
        )
        options = {**settings.options, **self._options}
        return replace(settings, options=options, **self._changes)


def _studio() -> Studio:
    from spatialstudio.application.paths import StudioPaths

    return _studio_at(StudioPaths.usual())


@cache
def _studio_at(paths: StudioPaths) -> Studio:
    from spatialstudio.application.studio import Studio

    return Studio.open("inline", paths)


def _scene(prompt: str | SceneGraph) -> SceneGraph:
    return read(prompt) if isinstance(prompt, str) else prompt


def _targets(scene: SceneGraph, places: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return the setting for sketched places; empty without any."""
    from spatialstudio.application.compose.layouts import targets_named

    return {"targets": targets_named(scene, places)} if places else {}


def _relation_type(relation: str | RelationType | None) -> RelationType:
    from spatialstudio.application.plugins import installed_plugins
    from spatialstudio.domain.scene import LEFT_OF, relation_types

    if relation is None:
        return LEFT_OF
    installed_plugins()  # they register relation types
    if not isinstance(relation, str):
        return relation
    phrases = {each.phrase: each for each in relation_types}
    return phrases[relation] if relation in phrases else relation_types[relation]


def _check_name(noun: str, given: Any, known: list[str]) -> None:
    for name in given:
        if name not in known:
            raise _request_error(
                f'There is no {noun} "{name}".', (f"Available: {', '.join(known)}.")
            )


def _request_error(message: str, hint: str) -> Exception:
    from spatialstudio.domain.errors import RequestError

    return RequestError(message, hint=hint)
