"""The options that say how a picture is drawn and held to its prompt, how many, and where."""

import argparse
from dataclasses import replace

from spatialstudio.application.flow.generate_image import choose_guidance
from spatialstudio.cli.choices import one_of, words_of
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import NUMBER_FORMATS
from spatialstudio.domain.generation import PSG, UNGUIDED, GenerationRequest, NoiseSearch
from spatialstudio.domain.memory import Saving
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.samplers import SAMPLERS, sampler_named
from spatialstudio.science.guidance_presets import METHOD_IDS, has_work

ONE_PICTURE = NoiseSearch()


def add_guidance_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to the command that draws."""
    group = parser.add_argument_group("guidance")
    group.add_argument(
        "--guidance",
        choices=(UNGUIDED, *METHOD_IDS),
        default=PSG,
        help="what holds the picture to the prompt (default: %(default)s)",
    )
    group.add_argument(
        "--preset",
        type=one_of(Preset),
        default=Preset.RECOMMENDED,
        metavar="{recommended,published,spatialbench-uc}",
        help="whose settings: ours, those of the paper's code, or, for boxdiff, those that "
        "SpatialBench-UC ran it with, without refinement (default: recommended)",
    )
    group.add_argument(
        "--strength", type=float, help="step size of the guidance; the model's own by default"
    )
    group.add_argument(
        "--goal", type=float, default=1.0, help="PoS at which guidance rests, 0.95 say; 1 is never"
    )
    group.add_argument(
        "--guided-steps", type=int, metavar="N", help="the first N; the method's own by default"
    )
    group.add_argument(
        "--every", type=int, default=1, metavar="N", help="of these only every Nth is guided"
    )
    group.add_argument(
        "--inner-updates", type=int, default=1, metavar="N", help="updates of a guided step"
    )
    group.add_argument(
        "--paper-loss", action="store_true", help="PSG's loss as in the paper, not as in its code"
    )
    group.add_argument(
        "--one-by-one", action="store_true", help="a pass for each relation, not one for all"
    )
    group.add_argument(
        "--names-only", action="store_true", help='draw from "a dog and a car", hold the relation'
    )
    group.add_argument(
        "--reuse-prediction", action="store_true", help="cheaper steps; relations hold less often"
    )
    group.add_argument("--checkpointing", action="store_true", help="less memory for more time")
    _add_sampling(parser)
    _add_search(parser)
    _add_place(parser)


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    sampling = parser.add_argument_group("sampling")
    sampling.add_argument(
        "--sampler",
        type=sampler_named,
        default="",
        metavar="NAME",
        help=f"one of those that the model can be drawn with: {', '.join(SAMPLERS.values())}, or "
        "what diffusers calls it; the model's own by default",
    )
    sampling.add_argument(
        "--guidance-scale",
        type=float,
        metavar="SCALE",
        help="of classifier-free guidance; 1 is off; the model's own by default",
    )
    sampling.add_argument(
        "--negative", default="", metavar="TEXT", help="what the picture shall not show"
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    search = parser.add_argument_group("search")
    search.add_argument(
        "--search",
        type=int,
        default=ONE_PICTURE.candidates,
        metavar="N",
        help="draw up to N pictures from seeds that follow each other, keep the best",
    )
    search.add_argument(
        "--enough",
        type=float,
        default=ONE_PICTURE.enough,
        metavar="PSE",
        help="a picture this good ends the search (default: %(default)s)",
    )


def _add_place(parser: argparse.ArgumentParser) -> None:
    memory = parser.add_argument_group("device and memory")
    memory.add_argument(
        "--device",
        default="",
        metavar="ID",
        help="where to draw, cuda:1 say; the fastest there is by default",
    )
    memory.add_argument(
        "--number-format",
        choices=NUMBER_FORMATS,
        default="",
        help="of the weights; the model's own, or what suits the device, by default",
    )
    memory.add_argument(
        "--save-memory",
        type=one_of(Saving),
        action="append",
        default=[],
        metavar="WAY",
        help=f"may be given several times: {words_of(Saving)}",
    )
    memory.add_argument(
        "--keep-attention",
        type=one_of(AttentionDetail),
        default=AttentionDetail.RELATION_WORDS,
        metavar="DETAIL",
        help=f"beyond the first it goes to disk: {words_of(AttentionDetail)}",
    )


def with_guidance(
    request: GenerationRequest, model: ModelCard, options: argparse.Namespace
) -> GenerationRequest:
    """Return a request with what was typed.

    Raises:
        RequestError: The method was not published for models of this kind.
    """
    scene, scale = request.scene, options.guidance_scale
    guidance = choose_guidance(
        options.guidance if has_work(scene, options.guidance) else UNGUIDED,
        model,
        request.steps,
        preset=options.preset,
        strength=options.strength,
    )
    steps = options.guided_steps
    return replace(
        request,
        scene=replace(scene, prompt=replace(scene.prompt, negative=options.negative)),
        scheduler_id=options.sampler,
        guidance_scale=request.guidance_scale if scale is None else scale,
        guidance=replace(
            guidance,
            last_step=guidance.last_step if steps is None else steps - 1,
            every=options.every,
            inner_updates=options.inner_updates,
            goal=options.goal,
            paper_loss=options.paper_loss,
            one_by_one=options.one_by_one,
            names_only=options.names_only,
            reuses_prediction=options.reuse_prediction,
            checkpointing=options.checkpointing,
        ),
        search=NoiseSearch(candidates=options.search, enough=options.enough),
        savings=tuple(options.save_memory),
        device=options.device,
        dtype=options.number_format,
        capture=replace(request.capture, detail=options.keep_attention),
    )
