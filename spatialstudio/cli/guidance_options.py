"""Options of generation and guidance, and the request they make."""

import argparse
from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import replace
from math import nan
from typing import Any

from spatialstudio.application.compose.layouts import PLACE_LENGTHS, targets_named
from spatialstudio.application.models.model_lists import choose_guidance
from spatialstudio.cli.options import one_of, words_of
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    LAYOUT,
    SAMPLING_OPTIONS,
    UNGUIDED,
    GenerationRequest,
    GuidanceSettings,
    NoiseSearch,
)
from spatialstudio.domain.options import Option, OptionKind, OptionValue
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.prompt_syntax import MOST_WEIGHT, with_negative
from spatialstudio.domain.run_settings import Preset, SketchedPlaces, with_places, with_values
from spatialstudio.domain.samplers import SAMPLERS, sampler_named
from spatialstudio.domain.scene import LoraUse, SceneGraph
from spatialstudio.domain.steering import ONE_PARTICLE, Potential, Steering, StepReward
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, has_work, method_named
from spatialstudio.science.guidance.steering import MOST_COST

ONE_PICTURE = NoiseSearch()
STEERING_NUMBERS = {
    "keep": "fraction of the particles that continue after each resampling; 1 keeps their number",
    "start": "fraction of the steps before the first resampling",
    "stop": "fraction of the steps after which nothing is resampled",
    "every": "interval between resamplings, as a fraction of the steps",
    "strength": "lambda, the factor of the rewards in the exponent of the weights",
}
"""Fields of the steering with a flag, and their help."""
DETAIL_TITLES = ", ".join(f'"{detail.title}"' for detail in AttentionDetail)
FLAGS = {"dtype": "number-format"}
"""Options of a run whose flag has another name than the setting."""


def add_guidance_options(
    parser: argparse.ArgumentParser, read_strength: Callable[[str], object] = float
) -> None:
    """Add the options of generation and guidance.

    Args:
        parser: Receives the options.
        read_strength: Reads the value of ``--strength``; a sweep takes several.
    """
    group = parser.add_argument_group("guidance")
    group.add_argument(
        "--guidance",
        choices=(UNGUIDED, *(method.id for method in GUIDANCE_METHODS)),
        default=LAYOUT,
        help="guidance method (default: %(default)s)",
    )
    group.add_argument(
        "--preset",
        type=one_of(Preset),
        default=Preset.RECOMMENDED,
        metavar="{recommended,published,spatialbench-uc}",
        help="guidance preset: recommended, published, or, for boxdiff, spatialbench-uc "
        "(without refinement) (default: recommended)",
    )
    _add_strength(group, read_strength)
    _add_sketch(group)
    _add_switches(group)
    _add_method_options(parser)
    _add_sampling(parser)
    _add_search(parser)
    _add_steering(parser)
    _add_place(parser)


def _add_strength(group: argparse._ArgumentGroup, read_strength: Callable[[str], object]) -> None:
    more = "" if read_strength is float else ", or several such as 0,25,50,100"
    by_model = " and ".join(method.id for method in GUIDANCE_METHODS if method.uses_model_strength)
    group.add_argument(
        "--strength",
        type=read_strength,
        help=f"guidance step size{more}; 0 disables guidance, which is the baseline "
        "(default: the preset's, at 50 of the slider Layout strength; the model's for the "
        f"recommended preset of {by_model})",
    )
    group.add_argument(
        "--goal",
        type=float,
        default=1.0,
        help="PoS at which guidance pauses, for example 0.95 (default: 1, which never pauses)",
    )
    group.add_argument(
        "--guided-steps",
        type=int,
        metavar="N",
        help="guide the first N steps (default: the preset's)",
    )
    group.add_argument(
        "--every",
        type=int,
        metavar="N",
        help="guide every Nth of these steps (default: the preset's)",
    )
    group.add_argument(
        "--inner-updates",
        type=int,
        metavar="N",
        help="latent updates per guided step (default: the preset's)",
    )


def _add_sketch(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--place",
        type=placed,
        action="append",
        default=[],
        metavar="NAME=X,Y[,SIZE]",
        help="where an object of the prompt should be, as fractions of the sides from the top left "
        "corner, and its diameter if it matters: cat=0.3,0.5 or cat=0.3,0.5,0.25; may be repeated",
    )
    group.add_argument(
        "--place-weight",
        type=float,
        default=GuidanceSettings().target_weight,
        metavar="W",
        help="how much these places count beside the relations: 0 follows the relations only, 1 "
        "the places (default: %(default)g)",
    )


def _add_switches(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--one-by-one",
        action="store_true",
        help="one guidance pass per relation instead of one for all",
    )
    group.add_argument(
        "--names-only",
        action="store_true",
        help=(
            'strip the relations from the prompt ("a dog and a car"), so that only guidance '
            "enforces them"
        ),
    )
    group.add_argument(
        "--reuse-prediction",
        action="store_true",
        help=(
            "reuse the guidance pass's noise prediction: faster, but fewer relations are satisfied"
        ),
    )
    group.add_argument(
        "--checkpointing",
        action="store_true",
        help="gradient checkpointing: less memory, more time",
    )
    group.add_argument(
        "--guidance-layer",
        action="append",
        default=[],
        metavar="NAME",
        help="attention layer that guidance, maps and PoS read, as named below the heat map; "
        "may be repeated for layers of one resolution (default: those of the model family)",
    )


def _add_method_options(parser: argparse.ArgumentParser) -> None:
    listed = [
        f"{method.id}: {', '.join(option.id for option in method.options)}"
        for method in GUIDANCE_METHODS
        if method.options
    ]
    group = parser.add_argument_group("guidance method options")
    group.add_argument(
        "--option",
        type=assigned,
        action="append",
        default=[],
        metavar="ID=VALUE",
        help=f"set a method option; may be repeated. {'; '.join(listed)}",
    )
    group.add_argument(
        "--paper-loss",
        action="store_true",
        help="PSG loss as in the paper instead of the authors' code",
    )


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    sampling = parser.add_argument_group("sampling")
    sampling.add_argument(
        "--sampler",
        type=sampler_named,
        default="",
        metavar="NAME",
        help=f"sampler: {', '.join(SAMPLERS.values())}, or a diffusers scheduler that the model "
        "supports (default: the model's)",
    )
    sampling.add_argument(
        "--guidance-scale",
        type=float,
        metavar="SCALE",
        help="classifier-free guidance (CFG) scale; 1 turns it off (default: the model's)",
    )
    sampling.add_argument("--negative", default="", metavar="TEXT", help="negative prompt")
    sampling.add_argument(
        "--lora",
        type=lora_use,
        action="append",
        default=[],
        metavar="NAME[:WEIGHT]",
        help='LoRA and its weight, as "<lora:NAME:WEIGHT>" in the prompt; may be repeated',
    )
    for option in SAMPLING_OPTIONS:
        _add_option(sampling, option)


def _add_option(group: argparse._ArgumentGroup, option: Option) -> None:
    """Add the flag of a setting that its option describes; it is named after the option's id."""
    flag = f"--{FLAGS.get(option.id, option.id).replace('_', '-')}"
    kinds: dict[OptionKind, dict[str, Any]] = {
        OptionKind.BOOL: {"action": "store_true"},
        OptionKind.INT: {"type": int, "metavar": "N", "default": option.default},
        OptionKind.FLOAT: {"type": float, "metavar": "VALUE", "default": option.default},
        OptionKind.CHOICE: {"choices": [*filter(None, option.choices)], "default": option.default},
        OptionKind.TEXT: {"metavar": "TEXT", "default": option.default},
    }
    group.add_argument(flag, dest=option.id, help=option.help, **kinds[option.kind])


def _add_search(parser: argparse.ArgumentParser) -> None:
    search = parser.add_argument_group("search")
    search.add_argument(
        "--search",
        type=int,
        default=ONE_PICTURE.candidates,
        metavar="N",
        help="noise search: generate up to N pictures with consecutive seeds and keep the best",
    )
    search.add_argument(
        "--enough",
        type=float,
        default=ONE_PICTURE.enough,
        metavar="PSE",
        help="stop the search at this PSE (default: %(default)s)",
    )


def _add_steering(parser: argparse.ArgumentParser) -> None:
    steering = parser.add_argument_group(
        "steering",
        "Several particles are denoised side by side; on some steps those with a low reward are "
        "dropped, and others continue in their place.",
    )
    steering.add_argument(
        "--particles",
        type=int,
        metavar="N",
        help="number of particles; 1 is off (default: several for relations in depth, at up to "
        f"{MOST_COST} times the passes of a plain picture, if the judge set estimates depth and no "
        "--place is given; else 1)",
    )
    for name, meaning in STEERING_NUMBERS.items():
        steering.add_argument(
            f"--steer-{name}",
            type=float,
            default=getattr(ONE_PARTICLE, name),
            metavar="VALUE",
            help=f"{meaning} (default: %(default)g)",
        )
    steering.add_argument(
        "--steer-potential",
        type=one_of(Potential),
        default=ONE_PARTICLE.potential,
        metavar="POTENTIAL",
        help=f"how rewards become weights: {words_of(Potential)} (default: difference)",
    )
    steering.add_argument(
        "--steer-reward",
        type=one_of(StepReward),
        action="append",
        metavar="REWARD",
        help="reward: attention (PoS and presence of the maps) or picture (PoS on the predicted "
        "picture, also in depth); may be repeated (default: both)",
    )


def steering_of(options: argparse.Namespace) -> Steering | None:
    """Return the steering of the command line; None for the recommended one of the scene."""
    if options.particles is None:
        return None
    return Steering(
        particles=options.particles,
        potential=options.steer_potential,
        rewards=tuple(options.steer_reward or ONE_PARTICLE.rewards),
        **{name: getattr(options, f"steer_{name}") for name in STEERING_NUMBERS},
    )


def _add_place(parser: argparse.ArgumentParser) -> None:
    memory = parser.add_argument_group("device and memory")
    memory.add_argument(
        "--device",
        default="",
        metavar="ID",
        help="compute device, for example cuda:1 (default: the fastest available)",
    )
    memory.add_argument(
        "--save-memory",
        type=one_of(Saving),
        action="append",
        default=[],
        metavar="WAY",
        help=f"reduce memory use; may be repeated: {words_of(Saving)}",
    )
    memory.add_argument(
        "--keep-attention",
        type=attention_detail,
        default=AttentionDetail.RELATION_WORDS,
        metavar="DETAIL",
        help="attention to record; all but the first are stored on disk: "
        f"{DETAIL_TITLES} (default: {AttentionDetail.RELATION_WORDS.title})",
    )
    memory.add_argument(
        "--float32-attention",
        action="store_true",
        help="record layers as float32 instead of float16, in twice the space",
    )
    memory.add_argument(
        "--self-attention",
        action="store_true",
        help="also record the self-attention of layers of at most 32 x 32 positions",
    )


def with_guidance(
    request: GenerationRequest, model: ModelCard, options: argparse.Namespace
) -> GenerationRequest:
    """Return a request with the options of the command line.

    Raises:
        RequestError: The method was not published for models of this kind, or a place does not
            fit the prompt.
    """
    scene, scale = request.scene, options.guidance_scale
    places = _sketched(scene, options)
    is_guided = bool(places.targets) or has_work(scene, options.guidance)
    guidance = choose_guidance(
        options.guidance if is_guided else UNGUIDED,
        model,
        request.sampling.steps,
        preset=options.preset,
        strength=options.strength,
    )
    return with_values(
        request,
        scene=replace(scene, prompt=with_negative(scene.prompt, options.negative)),
        scheduler_id=options.sampler,
        guidance=replace(
            with_places(_with_options(_with_times(guidance, options), options), places),
            goal=options.goal,
            one_by_one=options.one_by_one,
            names_only=options.names_only,
            reuses_prediction=options.reuse_prediction,
            checkpointing=options.checkpointing,
            layers=tuple(options.guidance_layer),
        ),
        savings=tuple(options.save_memory),
        loras=(*options.lora, *request.sampling.loras),
        device=options.device,
        **_chosen_options(options),
        guidance_scale=request.guidance_scale if scale is None else scale,
        search=NoiseSearch(candidates=options.search, enough=options.enough),
        steering=steering_of(options) or ONE_PARTICLE,
        capture=replace(
            request.capture,
            detail=options.keep_attention,
            full_precision=options.float32_attention,
            self_attention=options.self_attention,
        ),
    )


def _with_times(guidance: GuidanceSettings, options: argparse.Namespace) -> GuidanceSettings:
    """Return guidance with the steps and updates of the options; others are the preset's."""
    steps = options.guided_steps
    given = {
        "last_step": None if steps is None else steps - 1,
        "every": options.every,
        "inner_updates": options.inner_updates,
    }
    return replace(guidance, **{name: each for name, each in given.items() if each is not None})


def _chosen_options(options: argparse.Namespace) -> dict[str, OptionValue]:
    """Return the options of a run that differ from their defaults, by id."""
    chosen = {option.id: getattr(options, option.id) for option in SAMPLING_OPTIONS}
    return {
        each.id: chosen[each.id] for each in SAMPLING_OPTIONS if chosen[each.id] != each.default
    }


def attention_detail(text: str) -> AttentionDetail:
    """Parse how much attention to record: a title of the form in any case, or a stored value.

    Raises:
        ArgumentTypeError: The text is neither.
    """
    for detail in AttentionDetail:
        if text == detail.value or text.casefold() == detail.title.casefold():
            return detail
    raise ArgumentTypeError(f'"{text}" is not one of {DETAIL_TITLES}')


def lora_use(text: str) -> LoraUse:
    """Split "name:0.8" into the name and weight of a LoRA.

    Raises:
        ArgumentTypeError: The name is empty, or the weight is no number in [-10, 10].
    """
    name, _, weight = text.rpartition(":") if ":" in text else (text, "", "1")
    try:
        factor = float(weight)
    except ValueError:
        factor = nan
    if not name or not abs(factor) <= MOST_WEIGHT:
        raise ArgumentTypeError(f'"{text}" is not a LoRA and its weight, such as "style:0.8"')
    return LoraUse(name=name, weight=factor)


def assigned(text: str) -> tuple[str, str]:
    """Split "presence_weight=0.5" into id and value."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ArgumentTypeError(f'"{text}" is not of the form ID=VALUE')
    return name.strip(), value


def placed(text: str) -> tuple[str, tuple[float, ...]]:
    """Split "cat=0.3,0.5" into the name of an object and its place.

    Raises:
        ArgumentTypeError: The name is empty, or the place is not two or three numbers.
    """
    name, equals, place = text.rpartition("=")
    try:
        numbers = tuple(float(each) for each in place.split(","))
    except ValueError:
        numbers = ()
    if not (name.strip() and equals and len(numbers) in PLACE_LENGTHS):
        raise ArgumentTypeError(f'"{text}" is not of the form NAME=X,Y or NAME=X,Y,SIZE')
    return name.strip(), numbers


def _sketched(scene: SceneGraph, options: argparse.Namespace) -> SketchedPlaces:
    """Return the places of the command line.

    Raises:
        RequestError: A name fits no object or several, an object is placed twice, or guidance,
            which needs a method, is off.
    """
    names = [name for name, _ in options.place]
    if options.place and (options.guidance == UNGUIDED or options.strength == 0):
        raise RequestError(
            "--place requires guidance.",
            hint="Choose a method with --guidance, or omit --place.",
        )
    if repeated := [name for place, name in enumerate(names) if name in names[:place]]:
        raise RequestError(
            f'"{repeated[0]}" is placed twice.', hint="Give one --place for each object."
        )
    targets = targets_named(scene, dict(options.place))
    return SketchedPlaces(targets=targets, weight=options.place_weight)


def _with_options(guidance: GuidanceSettings, options: argparse.Namespace) -> GuidanceSettings:
    """Return guidance with the options of its method; these are validated even if it is off."""
    if options.guidance == UNGUIDED:
        if options.option:
            raise RequestError(
                "--option requires a guidance method.",
                hint="Choose a method with --guidance, or omit --option.",
            )
        return guidance
    method = method_named(options.guidance)
    paper_loss = [("paper_loss", "true")] if options.paper_loss else []
    wanted = [*(each for each in paper_loss if method.option(each[0])), *options.option]
    typed = {name: method.find_option(name).parse(text) for name, text in wanted}
    is_guided = guidance.method_id == method.id
    return replace(guidance, options={**guidance.options, **typed}) if is_guided else guidance
