"""Guidance and recording of one diffusers pipeline call, for the application and for notebooks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from typing import TypeAlias

from spatialstudio.adapters.diffusion.attention_archive import StepTap
from spatialstudio.adapters.diffusion.attention_reader import AttentionReader
from spatialstudio.adapters.diffusion.guidable_pipeline import GuidablePipeline
from spatialstudio.adapters.diffusion.guidance_hook import (
    DenoisingStep,
    GuidanceHook,
    PictureReading,
    Prediction,
)
from spatialstudio.adapters.diffusion.invalid_numbers import InvalidNumbers, what_may_help
from spatialstudio.adapters.diffusion.latent_codec import as_picture
from spatialstudio.adapters.diffusion.latent_updates import Guidance
from spatialstudio.adapters.diffusion.masked_latents import MaskedLatents
from spatialstudio.adapters.diffusion.particles import Particles
from spatialstudio.adapters.diffusion.preview import decode_preview, predicted_clean_latents
from spatialstudio.adapters.diffusion.text_streams import TextStream
from spatialstudio.adapters.diffusion.token_spans import (
    colour_places,
    in_denoiser,
    knows_colours,
    text_positions,
    token_spans,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import BackendError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    UNGUIDED,
    CaptureSettings,
    GuidanceSettings,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.samplers import SCALE_OFF
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.science.guidance.colours import ColouredLoss
from spatialstudio.science.guidance.method import Trial
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, has_work, method_named
from spatialstudio.science.guidance.methods.layout import COLOUR_WEIGHT
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from spatialstudio.science.guidance.sketch import SketchedLoss
from spatialstudio.science.pos.attention_maps import ColourPlaces

ReportStep: TypeAlias = Callable[[tuple[StepEvent, ...]], None]
"""Called at the end of a step with one event per picture of the call."""


@frozen
class CallPlan:
    """What is guided and recorded in one call of a pipeline.

    Attributes:
        run_id: Run id for the events.
        scene: Scene whose mention spans refer to the prompt of the call.
        steps: Requested denoising steps, >= 1.
        guidance: Guidance method and settings.
        capture: What is recorded; previews show the first picture only.
        trial: The trial that the call is; it raises ``GuidanceNeeded`` if the picture needs
            guidance. None for a guided call.
        pictures: Pictures per call, >= 1.
        particles: The pictures as particles of one picture; None to draw all of them to the end.
        layers: Captures layers before a step's updates; None to capture them once.
        masked: What a local repair keeps; its caller attaches it. None for whole pictures.
        smaller_maps: Whether coarser layers are read, to save memory.
        guidance_scale: Classifier-free guidance scale, for the hint on NaN or infinite values.
        allows_invalid: Whether NaN and infinite values are recorded instead of raising.
    """

    run_id: RequestId
    scene: SceneGraph
    steps: int
    guidance: GuidanceSettings = field(default_factory=GuidanceSettings)
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    trial: Trial | None = None
    pictures: int = 1
    particles: Particles | None = None
    layers: StepTap | None = None
    masked: MaskedLatents | None = None
    smaller_maps: bool = False
    guidance_scale: float = SCALE_OFF
    allows_invalid: bool = False


class GuidedCall:
    """Guides and records the one call that a pipeline makes inside ``attached``.

    Args:
        model: The pipeline.
        plan: What is guided and recorded.
        token: Checked before every model call.
        report_step: Called with each step when it ends; an exception from it ends the call.

    Attributes:
        spans: Token spans of the mentions in the text encoders.

    Raises:
        RequestError: The guidance method is not known.
        PromptError: A mention is beyond the text encoder's token limit.
    """

    def __init__(
        self, model: GuidablePipeline, plan: CallPlan, token: CancelToken, report_step: ReportStep
    ) -> None:
        self._model = model
        self._plan = plan
        self._report_step = report_step
        scene = plan.scene
        self.spans = token_spans(model.streams, scene.prompt.text, scene.mentions)
        self._colours = bound_colours(model.streams, plan)
        guidance = make_guidance(plan, binds_colours=bool(self._colours))
        is_used = guidance is not None or plan.particles is not None
        is_read = is_used or plan.capture.attention_every > 0
        reader = self._reader(guidance) if self.spans and is_read else None
        self._hook = GuidanceHook(
            reader,
            guidance,
            token,
            self._finish_step,
            particles=plan.particles,
            allows_invalid=plan.allows_invalid,
        )

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Patch the pipeline's denoiser and scheduler, and restore them afterwards.

        Raises:
            BackendError: The attention cannot be read, or values became NaN or infinite.
        """
        model = self._model
        calls = replace(model.family.calls, pictures=self._plan.pictures)
        try:
            with self._hook.attached(model.denoiser, model.pipeline.scheduler, calls):
                yield
        except InvalidNumbers as error:
            hint = what_may_help(
                was_moved=self._hook.has_moved,
                dtype=model.denoiser.dtype,
                guidance_scale=self._plan.guidance_scale,
            )
            raise BackendError(error.message, hint=hint) from error

    def _reader(self, guidance: Guidance | None) -> AttentionReader:
        model, plan = self._model, self._plan
        is_whole = guidance is not None and guidance.loss.reads_whole_text
        reads_decoder = guidance is not None and guidance.reads_decoder
        whole_text = text_positions(model.streams, plan.scene.prompt.text) if is_whole else ()
        colours = self._colours if guidance is not None else {}
        bound = [at for each in colours.values() for at in (*each.words, *each.noun)]
        reader = AttentionReader(
            model.chosen_layers(plan.guidance.layers)
            or model.layers_to_read(smaller=plan.smaller_maps),
            in_denoiser(model.streams, self.spans),
            plan.scene.relations,
            smooths_maps=model.family.smooths_maps,
            whole_text=(*whole_text, *bound),
            decoder=model.decoder_to_read(smaller=plan.smaller_maps) if reads_decoder else (),
        )
        reader.bind(colours)
        reader.allows_invalid = plan.allows_invalid
        reader.plurals = frozenset(each.id for each in plan.scene.mentions if each.is_plural)
        if guidance is not None and guidance.guides_depth:
            reader.guided = tuple(r for r in plan.scene.relations if not r.is_muted)
        return reader

    def _finish_step(self, step: DenoisingStep, prediction: Prediction) -> Sequence[int]:
        scheduler, plan = self._model.pipeline.scheduler, self._plan
        total_steps = -(-len(scheduler.timesteps) // int(scheduler.order))
        pictures, shown, record = plan.pictures, 1, None
        if plan.particles is not None:
            pictures = shown = plan.particles.count
            record = plan.particles.finish_step(
                step.index,
                total_steps,
                [step.reading(number).snapshot for number in range(pictures)],
                lambda number: self._picture(step, prediction, number, is_whole=True),
            )
        wants_preview = is_due(step.index, plan.capture.preview_every)
        timestep, events = float(prediction.timestep), []
        for number in range(pictures):
            event = self._event(step, step.reading(number), total_steps, timestep)
            has_preview = wants_preview and number < shown
            preview = self._picture(step, prediction, number) if has_preview else None
            particles = None if record is None else replace(record, shown=number)
            events.append(replace(event, preview=preview, particles=particles))
        self._report_step(tuple(events))
        return () if record is None else record.parents

    def _event(
        self,
        step: DenoisingStep,
        reading: PictureReading,
        total_steps: int,
        timestep: float,
    ) -> StepEvent:
        wants_attention = is_due(step.index, self._plan.capture.attention_every)
        has_moved = reading.loss is not None
        return StepEvent(
            request_id=self._plan.run_id,
            step=step.index,
            total_steps=total_steps,
            timestep=timestep,
            pos=reading.pos,
            guidance_loss=reading.loss,
            step_size=reading.step_size,
            pos_after=reading.pos_after,
            guiding_passes=reading.passes,
            clipped_updates=reading.clipped,
            attention=reading.snapshot if wants_attention else None,
            attention_after=reading.snapshot_after if wants_attention and has_moved else None,
        )

    def _picture(
        self, step: DenoisingStep, prediction: Prediction, number: int, *, is_whole: bool = False
    ) -> RgbImage:
        """Return the predicted clean picture: a preview, or as the autoencoder decodes it."""
        model, own = self._model, slice(number, number + 1)
        clean = predicted_clean_latents(
            model.pipeline.scheduler,
            prediction.output[own],
            prediction.timestep,
            prediction.latents[own],
            step.input_scale,
        )
        pictured = as_picture(clean, model.family.latents, step.latent_size)
        decode = model.decode_picture if is_whole else model.decode_preview
        return decode_preview(decode, pictured)


def make_guidance(plan: CallPlan, *, binds_colours: bool = False) -> Guidance | None:
    """Return the guidance of a call; None without a loss or without anything to guide.

    Args:
        plan: The call.
        binds_colours: Whether the loss of relations and objects also binds colours.

    Raises:
        RequestError: The guidance method is not known.
    """
    settings = plan.guidance
    if not will_guide(plan.scene, settings):
        return None
    method = method_named(settings.method_id)
    if method.make_loss is None:
        return None
    takes_turns = settings.one_by_one and method.needs_relations
    with GUIDANCE_METHODS.failures_named(method.id):
        loss = method.make_loss(settings) if has_work(plan.scene, method.id) else None
        refined = method.make_refined(settings) if loss and method.make_refined else None
    if loss is not None and binds_colours:
        loss = ColouredLoss(loss, colour_weight(settings))
    if loss is None or settings.is_sketched:
        loss = SketchedLoss(held=loss, targets=settings.targets, weight=settings.target_weight)
    return Guidance(
        loss=loss,
        schedule=GuidanceSchedule(replace(settings, one_by_one=takes_turns), plan.steps),
        refined=refined,
        failures_named=partial(GUIDANCE_METHODS.failures_named, method.id),
        corrects_prediction=method.corrects_prediction,
        reads_decoder=method.reads_decoder,
        guides_depth=method.guides_depth,
        keeps_colours=method.keeps_colours,
        masked=plan.masked,
        trial=plan.trial,
        see_before=None if plan.layers is None else plan.layers.see_before,
    )


def followed_updates(plan: CallPlan) -> GuidanceSchedule | None:
    """Return the schedule of a call's updates, if a pass on the updated latents follows them."""
    guidance = make_guidance(plan)
    if guidance is None or guidance.trial is not None or guidance.leaves_input:
        return None
    return guidance.schedule


def bound_colours(
    streams: Sequence[TextStream], plan: CallPlan
) -> Mapping[MentionId, ColourPlaces]:
    """Return the tokens of the colours that guidance binds to their objects.

    None are bound by methods without the option, nor on models that do not know colours.
    """
    if colour_weight(plan.guidance) <= 0 or not knows_colours(streams):
        return {}
    return colour_places(streams, plan.scene)


def colour_weight(settings: GuidanceSettings) -> float:
    """Return the weight of the binding of colours; 0 for methods without it."""
    if settings.method_id == UNGUIDED or settings.method_id not in GUIDANCE_METHODS:
        return 0.0
    option = method_named(settings.method_id).option(COLOUR_WEIGHT.id)
    return 0.0 if option is None else float(option.value_in(settings.options))


def will_guide(scene: SceneGraph, settings: GuidanceSettings) -> bool:
    """Return True if the settings have a method, and the scene something to guide.

    Raises:
        RequestError: The guidance method is not known.
    """
    if settings.method_id == UNGUIDED:
        return False
    method_id = method_named(settings.method_id).id
    return bool(scene.mentions) and (settings.is_sketched or has_work(scene, method_id))


def is_due(step: int, every: int) -> bool:
    """Return True if a step, from 0, is recorded; an interval of 0 records none."""
    return every > 0 and step % every == 0
