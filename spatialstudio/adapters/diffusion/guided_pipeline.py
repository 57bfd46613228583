"""Guidance and recording for calls of a user's diffusers pipeline.

Inside the ``with`` block the pipeline's class is replaced by a subclass whose ``__call__`` first
determines what the call draws. Patches of denoiser and scheduler last for a single call.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from functools import partial, wraps
from importlib.util import find_spec
from inspect import BoundArguments, Parameter, Signature, signature
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import torch

from spatialstudio.adapters.device import memory_errors_explained, peak_memory_bytes
from spatialstudio.adapters.diffusion.attention_archive import LayerReader
from spatialstudio.adapters.diffusion.families import FAMILIES
from spatialstudio.adapters.diffusion.guidable_pipeline import GuidablePipeline
from spatialstudio.adapters.diffusion.guided_call import (
    CallPlan,
    GuidedCall,
    ReportStep,
    will_guide,
)
from spatialstudio.adapters.diffusion.latent_updates import keep_checkpointing
from spatialstudio.adapters.diffusion.particles import Lineages, Particles, decoded_one_by_one
from spatialstudio.adapters.diffusion.token_spans import in_denoiser, token_spans
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.domain.errors import BackendError, ModelNotFound, RequestError
from spatialstudio.domain.generation import (
    CaptureSettings,
    GuidanceSettings,
    StepEvent,
    new_request_id,
)
from spatialstudio.domain.pipeline_call import PipelineCall
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.samplers import SCALE_OFF
from spatialstudio.domain.scene import Prompt, SceneGraph, TextSpan
from spatialstudio.domain.steering import ONE_PARTICLE, RatePicture, Steering
from spatialstudio.science.guidance.methods import is_grounded
from spatialstudio.science.guidance.noise_search import objects_only

ChooseGuidance: TypeAlias = Callable[[int], GuidanceSettings]
"""Maps the number of denoising steps of a call to its guidance settings."""


class CallRecorder(Protocol):
    """Records the calls of a pipeline.

    Attributes:
        records_layers: Whether the maps of all layers are read.
    """

    records_layers: bool

    def begin_call(self, plan: CallPlan, layers: LayerReader) -> ReportStep:
        """Return the function that records the steps of a call; ``layers`` grows with them."""

    def end_call(self, result: PipelineCall) -> None:
        """Take the result of a call that succeeded."""


PROMPT = "prompt"
PASSED_ON = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
OTHER_PROMPTS = ("prompt_2", "prompt_3")
FIXED_ARGUMENTS = ("system_prompt", "complex_human_instruction")
"""Texts around the prompt; a different value would shift the prompt's words."""

PICTURES = "num_images_per_prompt"
TEXT_LENGTH = "max_sequence_length"
CLEANING = "clean_caption"
CLEANING_LIBRARIES = ("bs4", "ftfy")


def guidable(pipeline: Any) -> GuidablePipeline:
    """Return a pipeline together with its family.

    Raises:
        BackendError: Its class is not supported, its denoiser is compiled, or a tokenizer does
            not return character offsets.
    """
    names = (kind.__name__ for kind in type(pipeline).__mro__)
    family = next((FAMILIES[name] for name in names if name in FAMILIES), None)
    if family is None:
        raise BackendError(
            f"The pipeline class {type(pipeline).__name__} is not supported.",
            hint=f"Use one of these diffusers classes: {', '.join(FAMILIES)}.",
        )
    model = GuidablePipeline(pipeline, family)
    _check_denoiser(model.denoiser)
    for name, part in pipeline.components.items():
        if name.startswith("tokenizer") and part is not None and not part.is_fast:
            raise BackendError(
                f"The pipeline's {name} does not return character offsets.",
                hint="Load the fast version of the tokenizer from transformers.",
            )
    return model


def _check_denoiser(denoiser: Any) -> None:
    compiled = getattr(denoiser, "_compiled_call_impl", None) is not None
    if compiled or hasattr(denoiser, "_orig_mod"):
        raise BackendError(
            "The attention of a compiled denoiser cannot be captured.",
            hint="Reload the pipeline without torch.compile.",
        )


def card_of(model: GuidablePipeline) -> ModelCard:
    """Return a pipeline's model card: from its folder, else the defaults of its family."""
    kind, name = model.family.kind, model.family.pipeline_class
    folder = Path(str(model.pipeline.config.get("_name_or_path") or name))
    if folder.is_dir():
        try:
            return replace(read_card(folder), pipeline_class=name)
        except ModelNotFound:  # no valid model card in the folder
            pass
    return ModelCard(
        id=name,
        title=name,
        backend_id="diffusers",
        folder=folder,
        size_bytes=0,
        licence="",
        native_size=model.native_side,
        steps=kind.steps,
        guidance_scale=kind.guidance_scale,
        strength=kind.strength,
        known_objects={},
        pipeline_class=name,
    )


class _NeverCancelled:
    """A ``CancelToken`` for calls that cannot be cancelled."""

    def raise_if_cancelled(self) -> None:
        """Return at once."""


class GuidedPipeline:
    """Guides and records every call of a pipeline within a block.

    Args:
        model: The pipeline, from ``guidable``.
        scene: The scene that the calls draw.
        choose: Maps the denoising steps of a call to its guidance settings.
        capture: What is recorded.
        recorder: Receives plan, steps and result of each call.
        steered: The particles of each call, and what rates their predicted pictures; None to draw
            the pictures that the call asks for.

    Raises:
        PromptError: A mention is beyond the text encoder's token limit.
        RequestError: The guidance method is not known.
    """

    def __init__(
        self,
        model: GuidablePipeline,
        scene: SceneGraph,
        choose: ChooseGuidance,
        capture: CaptureSettings,
        recorder: CallRecorder,
        steered: tuple[Steering, RatePicture | None] | None = None,
    ) -> None:
        self._steered = steered
        token_spans(model.streams, scene.prompt.text, scene.mentions)
        self._model = model
        self._scene = scene
        self._choose = choose
        self._capture = capture
        self._recorder = recorder

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Guide the pipeline's calls; with nested blocks, the innermost one applies."""
        pipeline = self._model.pipeline
        blocks = _BLOCKS.setdefault(pipeline, [])
        try:
            blocks.append(self)
            if len(blocks) == 1:
                object.__setattr__(pipeline, "__class__", _guided_class(type(pipeline)))
            yield
        finally:
            if self in blocks:
                blocks.remove(self)
            if not blocks:
                del _BLOCKS[pipeline]
                if isinstance(plain := vars(type(pipeline)).get(PLAIN_CLASS), type):
                    object.__setattr__(pipeline, "__class__", plain)

    def call(self, run: Callable[..., Any], given: BoundArguments) -> Any:
        """Make one call of the pipeline.

        Args:
            run: ``__call__`` of the pipeline's original class, called with the arguments by name.
            given: The user's arguments.

        Raises:
            RequestError: The call has a different prompt, several prompts, arguments that change
                how the prompt is read, or is to be guided in ``torch.inference_mode``.
            BackendError: The attention cannot be read, or values of a guided call became NaN or
                infinite.
            OutOfMemory: The device has too little memory.
        """
        _check_denoiser(self._model.denoiser)
        usual = given.signature
        with_defaults = BoundArguments(usual, given.arguments.copy())
        with_defaults.apply_defaults()
        arguments = with_defaults.arguments
        model = replace(self._model, extra_tokens=_extra_tokens(usual, arguments))
        guidance = self._choose(_step_count(arguments))
        text, scene = self._scene_drawn(arguments, names_only=guidance.names_only)
        _check_reading(model.pipeline, usual, arguments, text)
        is_guided = will_guide(scene, guidance)
        _check_gradients(is_guided=is_guided)
        plan = self._plan(scene, arguments, guidance)
        layers, lineages = self._layers(model, plan), Lineages()
        record = self._recorder.begin_call(plan, layers)
        report_step = lineages.add if self._steered else _each_step(layers, record)
        if self._steered is not None:
            particles = self._particles(scene, arguments)
            given.arguments |= {"generator": particles.generators, PICTURES: particles.pictures}
            plan = replace(plan, particles=particles, pictures=particles.pictures)
        call = GuidedCall(model, replace(plan, layers=layers), _NeverCancelled(), report_step)
        if scene.prompt.text != text:
            given.arguments[PROMPT] = [scene.prompt.text] * _prompt_count(arguments)
        frozen_weights = _without_gradients(model.denoiser) if is_guided else nullcontext()
        calls, started = replace(model.family.calls, pictures=plan.pictures), monotonic()
        with (
            memory_errors_explained(),
            frozen_weights,
            layers.attached(model.denoiser, calls),
            call.attached(),
            decoded_one_by_one(model.pipeline.vae, plan.particles),
        ):
            output = run(*given.args, **given.kwargs)
        output = _best(output, lineages, record) if plan.particles else output
        result = _finished(model, call, plan, (arguments, output), monotonic() - started)
        self._recorder.end_call(result)
        return output

    def _plan(
        self, scene: SceneGraph, arguments: Mapping[str, Any], guidance: GuidanceSettings
    ) -> CallPlan:
        """Return the plan of a call.

        Raises:
            RequestError: The method has no loss.
        """
        if is_grounded(guidance):
            raise RequestError(
                f'The method "{guidance.method_id}" has no loss that could guide a pipeline.',
                hint="Pass gligen_phrases and gligen_boxes to the pipeline itself.",
            )
        return CallPlan(
            run_id=new_request_id(),
            scene=scene,
            steps=_step_count(arguments),
            guidance=guidance,
            capture=self._capture,
            pictures=_picture_count(arguments),
            guidance_scale=float(arguments.get("guidance_scale") or SCALE_OFF),
            allows_invalid=not will_guide(scene, guidance),
        )

    def _particles(self, scene: SceneGraph, arguments: Mapping[str, Any]) -> Particles:
        """Return the particles of a call.

        Raises:
            RequestError: The call asks for several pictures, passes latents, or has no seed.
        """
        assert self._steered is not None
        if _picture_count(arguments) > 1 or arguments.get("latents") is not None:
            raise RequestError(
                "A steered call draws one picture and makes its noise itself.",
                hint=f"Leave out latents and {PICTURES}, and pass one prompt.",
            )
        (seed,) = _seeds_of(arguments.get("generator"), 1)
        if seed is None:
            raise RequestError(
                "A steered call needs a seed.",
                hint="Pass generator=torch.Generator().manual_seed(7).",
            )
        settings, rate = self._steered
        return Particles(settings, seed, scene, rate)

    def _layers(self, model: GuidablePipeline, plan: CallPlan) -> LayerReader:
        if not self._recorder.records_layers:
            return LayerReader((), ())
        if plan.guidance.reuses_prediction:
            raise RequestError(
                "Layers cannot be recorded when guidance passes replace regular passes.",
                hint="Leave out layers, or reuses_prediction.",
            )
        scene = plan.scene
        spans = token_spans(model.streams, scene.prompt.text, scene.mentions)
        return LayerReader(model.text_layers, in_denoiser(model.streams, spans))

    def _scene_drawn(
        self, arguments: Mapping[str, Any], *, names_only: bool
    ) -> tuple[str, SceneGraph]:
        """Return the prompt of a call, and the scene relative to the prompt that is drawn.

        A call with embeddings instead of a prompt is assumed to draw the scene's own prompt.
        """
        scene = objects_only(self._scene) if names_only else self._scene
        known = self._scene.prompt.text
        prompt = arguments.get(PROMPT)
        if prompt is None:
            if names_only:
                raise RequestError(
                    "With names_only, the pipeline cannot be called with embeddings.",
                    hint="Pass the prompt as text, or leave out names_only.",
                )
            return scene.prompt.text, scene
        texts = {prompt} if isinstance(prompt, str) else set(prompt)
        if len(texts) != 1:
            raise RequestError(
                "Batches of prompts are not supported.",
                hint="Call the pipeline once per prompt.",
            )
        (text,) = texts
        found = re.search(rf"(?<!\w){re.escape(known)}(?!\w)", text)
        if found is None:
            raise RequestError(
                (
                    'The pipeline was called with a prompt other than that of the "with" block: '
                    f'"{text}".'
                ),
                hint=f'Pass a prompt that contains "{known}", or open another block.',
            )
        drawn = text[: found.start()] + scene.prompt.text + text[found.end() :]
        return text, _within(scene, drawn, found.start())


_BLOCKS: "WeakKeyDictionary[Any, list[GuidedPipeline]]" = WeakKeyDictionary()
"""The open blocks of each pipeline, innermost last."""

PLAIN_CLASS = "_spatialstudio_plain_class"


def _guided_class(plain: Any) -> Any:
    """Return a subclass of a pipeline's class whose calls the innermost block guides."""

    @wraps(plain.__call__)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            given, further = _bound(plain, self, args, kwargs)
        except TypeError:
            return plain.__call__(self, *args, **kwargs)  # raises the pipeline's own error
        return _BLOCKS[self][-1].call(partial(plain.__call__, **further), given)

    names = {"__module__": plain.__module__, "__qualname__": plain.__qualname__}
    return type(plain.__name__, (plain,), {"__call__": call, PLAIN_CLASS: plain, **names})


def _bound(
    plain: Any, pipeline: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[BoundArguments, Mapping[str, Any]]:
    """Bind the arguments of a call; arguments of a user-defined subclass are returned separately.

    A subclass may pass arguments on as ``*args`` and ``**kwargs``: their names and defaults are
    then those of the pipeline class of diffusers.

    Raises:
        TypeError: The arguments do not fit.
    """
    own = signature(plain.__call__)
    own.bind(pipeline, *args, **kwargs)
    if all(each.kind not in PASSED_ON for each in own.parameters.values()):
        return own.bind(pipeline, *args, **kwargs), {}
    names = [each for each in plain.__mro__ if each.__name__ in FAMILIES]
    usual = signature(names[0].__call__)
    known = {name: value for name, value in kwargs.items() if name in usual.parameters}
    further = {name: value for name, value in kwargs.items() if name not in known}
    return usual.bind(pipeline, *args, **known), further


def _within(scene: SceneGraph, text: str, start: int) -> SceneGraph:
    """Return a scene whose text is embedded in a longer prompt at a character offset."""
    mentions = tuple(
        replace(
            mention,
            span=_moved(mention.span, start),
            named_again=tuple(_moved(span, start) for span in mention.named_again),
        )
        for mention in scene.mentions
    )
    relations = tuple(
        replace(relation, span=relation.span and _moved(relation.span, start))
        for relation in scene.relations
    )
    prompt: Prompt = replace(scene.prompt, text=text)
    return replace(scene, prompt=prompt, mentions=mentions, relations=relations)


def _moved(span: TextSpan, by: int) -> TextSpan:
    return TextSpan(start=span.start + by, stop=span.stop + by)


def _step_count(arguments: Mapping[str, Any]) -> int:
    for name in ("timesteps", "sigmas"):
        if arguments.get(name) is not None:
            return len(arguments[name])
    return int(arguments["num_inference_steps"])


def _prompt_count(arguments: Mapping[str, Any]) -> int:
    prompt = arguments.get(PROMPT)
    given = arguments.get("prompt_embeds") if prompt is None else prompt
    return 1 if isinstance(given, str) or given is None else len(given)


def _picture_count(arguments: Mapping[str, Any]) -> int:
    return _prompt_count(arguments) * int(arguments.get(PICTURES) or 1)


def _each_step(layers: LayerReader, report_step: ReportStep) -> ReportStep:
    """Return a step callback that also ends the step of the layers."""

    def report(events: tuple[StepEvent, ...]) -> None:
        layers.expect_step(is_due=True)
        report_step(events)

    return report


def _finished(
    model: GuidablePipeline,
    call: GuidedCall,
    plan: CallPlan,
    call_values: tuple[Mapping[str, Any], Any],
    seconds: float,
) -> PipelineCall:
    """Return the result of a call from its arguments and output."""
    arguments, output = call_values
    device = model.denoiser.device
    pictures = plan.pictures if plan.particles is None else 1
    return PipelineCall(
        run_id=plan.run_id,
        scene=plan.scene,
        steps=plan.steps,
        guidance=plan.guidance,
        guidance_scale=plan.guidance_scale,
        capture=plan.capture,
        spans=call.spans,
        images=_images_of(output, pictures),
        seeds=_seeds_of(arguments.get("generator"), pictures),
        negative=_text_of(arguments.get("negative_prompt")),
        sampler=type(model.pipeline.scheduler).__name__,
        device=str(device),
        seconds=seconds,
        peak_memory_bytes=peak_memory_bytes(device),
        steering=ONE_PARTICLE if plan.particles is None else plan.particles.settings,
    )


def _check_gradients(*, is_guided: bool) -> None:
    """Reject guidance where gradients are off.

    Raises:
        RequestError: The call is made in ``torch.inference_mode``.
    """
    if is_guided and torch.is_inference_mode_enabled():
        raise RequestError(
            "Guidance needs gradients, which torch.inference_mode turns off.",
            hint="Call the pipeline outside torch.inference_mode, or use watch.",
        )


def _images_of(output: Any, pictures: int) -> Sequence[Any]:
    """Return the pictures in the output of a pipeline: its ``images``, or the first of a tuple."""
    first = output[0] if isinstance(output, tuple) and output else ()
    images: Any = getattr(output, "images", first)
    is_list = isinstance(images, list | np.ndarray | torch.Tensor)
    return images if is_list and len(images) == pictures else ()


def _best(output: Any, lineages: Lineages, record: ReportStep) -> Any:
    """Record the steps of the best particle; return the output with its picture alone."""
    for event in lineages.events:
        record((event,))
    number, pictures = lineages.best, lineages.pictures

    def chosen(value: Any) -> Any:
        is_list = isinstance(value, list | np.ndarray | torch.Tensor)
        return value[number : number + 1] if is_list and len(value) == pictures else value

    if isinstance(output, tuple):
        return tuple(chosen(value) for value in output)
    changes = {each.name: chosen(getattr(output, each.name)) for each in fields(output)}
    return replace(output, **changes)


def _seeds_of(generator: Any, pictures: int) -> tuple[int | None, ...]:
    generators = generator if isinstance(generator, list) else [generator] * pictures
    if len(generators) != pictures:
        return (None,) * pictures
    return tuple(
        each.initial_seed() if isinstance(each, torch.Generator) else None for each in generators
    )


def _text_of(prompt: Any) -> str:
    """Return the first of several prompts; empty for none."""
    first = prompt[0] if isinstance(prompt, list) and prompt else prompt
    return first if isinstance(first, str) else ""


def _extra_tokens(usual: Signature, arguments: Mapping[str, Any]) -> int:
    """Return by how many tokens the call changes the default limit of the long text encoder."""
    if TEXT_LENGTH not in usual.parameters:
        return 0
    return int(arguments[TEXT_LENGTH]) - int(usual.parameters[TEXT_LENGTH].default)


def _check_reading(
    pipeline: Any, usual: Signature, arguments: Mapping[str, Any], prompt: str
) -> None:
    """Reject arguments that move words away from the positions the tokenizers report.

    Raises:
        RequestError: There is such an argument.
    """
    for name in OTHER_PROMPTS:
        other = arguments.get(name)
        texts = {other} if isinstance(other, str) else set(other or ())
        if texts - {prompt}:
            raise RequestError(
                f"The argument {name} passes a different prompt to a text encoder.", hint="Omit it."
            )
    for name in FIXED_ARGUMENTS:
        if name in usual.parameters and arguments[name] != usual.parameters[name].default:
            raise RequestError(f"Tokens cannot be located with a custom {name}.", hint="Omit it.")
    if arguments.get(CLEANING) and all(map(find_spec, CLEANING_LIBRARIES)):
        read = pipeline._text_preprocessing  # noqa: SLF001 - public under no other name
        if read(prompt, clean_caption=True) != read(prompt, clean_caption=False):
            raise RequestError(
                "The pipeline modifies the prompt before encoding it.",
                hint=f"Pass {CLEANING}=False.",
            )


@contextmanager
def _without_gradients(denoiser: torch.nn.Module) -> Iterator[None]:
    """Freeze the weights and disable gradient checkpointing; restore both afterwards."""
    trained = {name for name, weights in denoiser.named_parameters() if weights.requires_grad}
    try:
        with keep_checkpointing(denoiser):
            _set_gradients(denoiser, trained, wanted=False)
            for module in denoiser.modules():
                if getattr(module, "gradient_checkpointing", False):
                    module.gradient_checkpointing = False  # type: ignore[assignment]
            yield
    finally:
        _set_gradients(denoiser, trained, wanted=True)


def _set_gradients(denoiser: torch.nn.Module, names: Collection[str], *, wanted: bool) -> None:
    """Set whether weights take gradients, by name: offloading replaces the weights in a call."""
    for name, weights in denoiser.named_parameters():
        if name in names:
            weights.requires_grad_(wanted)
