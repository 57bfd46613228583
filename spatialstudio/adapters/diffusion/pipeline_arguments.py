"""Conversion of a request to the call arguments of each pipeline family."""

import inspect
from collections.abc import Mapping
from typing import Any

import torch

from spatialstudio.adapters.diffusion.families import GuidanceScale
from spatialstudio.adapters.diffusion.load_pipeline import LoadedPipeline
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.samplers import SCALE_OFF
from spatialstudio.science.guidance.methods import is_grounded
from spatialstudio.science.guidance.methods.gligen import grounded_boxes

EMPTY_NEGATIVE = " "


def pipeline_arguments(loaded: LoadedPipeline, request: GenerationRequest) -> dict[str, Any]:
    """Convert a request to the keyword arguments of the pipeline's call.

    Raises:
        RequestError: The model does not support that size or a negative prompt.
    """
    height, width = picture_size(loaded, request)
    return {
        "prompt": request.scene.prompt.text,
        "height": height,
        "width": width,
        "num_inference_steps": request.sampling.steps,
        "generator": torch.Generator("cpu").manual_seed(request.sampling.seed),
        "output_type": "np",
        **loaded.family.arguments,
        **loaded.family.own_arguments(loaded.pipeline),
        **_scale_arguments(loaded, request),
        **(_grounding_arguments(request) if loaded.family.takes_boxes else {}),
    }


def picture_size(loaded: LoadedPipeline, request: GenerationRequest) -> tuple[int, int]:
    """Return (H, W) of the picture, pixels.

    Raises:
        RequestError: The model does not support that size.
    """
    size = request.height or loaded.native_side, request.width or loaded.native_side
    if any(side % loaded.side_multiple for side in size):
        raise RequestError(
            (
                f"Width and height must be multiples of {loaded.side_multiple} pixels for this "
                "model."
            ),
            hint="Choose another size, or the model's default.",
        )
    return size


def _scale_arguments(loaded: LoadedPipeline, request: GenerationRequest) -> Mapping[str, Any]:
    scale, negative = request.guidance_scale, request.scene.prompt.negative
    if negative and not _takes_negative(loaded):
        raise RequestError(
            "The model does not support negative prompts.",
            hint="Describe what you want in the prompt, or choose another model.",
        )
    named = {"negative_prompt": negative} if negative else {}
    match loaded.family.scale:
        case GuidanceScale.COMMON:
            return {"guidance_scale": scale, **named}
        case GuidanceScale.FROM_ZERO:
            return {"guidance_scale": max(scale - SCALE_OFF, 0.0), **named}
        case GuidanceScale.EMBEDDED:
            return {"true_cfg_scale": scale, **named} if negative else {"guidance_scale": scale}
        case GuidanceScale.TRUE:
            needed = {"negative_prompt": negative or EMPTY_NEGATIVE} if scale > SCALE_OFF else {}
            return {"true_cfg_scale": scale, **needed}


def _grounding_arguments(request: GenerationRequest) -> Mapping[str, Any]:
    """Return phrases and boxes; without them, one empty box that is grounded on no step."""
    scene, settings = request.scene, request.sampling.guidance
    boxes = grounded_boxes(scene, settings) if is_grounded(settings) else {}
    sides = [[box.left, box.top, box.right, box.bottom] for box in boxes.values()]
    phrases = [scene.mention(mention_id).phrase for mention_id in boxes]
    return {
        "gligen_phrases": phrases or [""],
        "gligen_boxes": sides or [[0.0] * 4],
        "gligen_scheduled_sampling_beta": settings.strength if boxes else 0.0,
    }


def _takes_negative(loaded: LoadedPipeline) -> bool:
    """Return whether a negative prompt has an effect; not with an embedded guidance scale."""
    is_scale_conditioned = getattr(loaded.denoiser.config, "time_cond_proj_dim", None) is not None
    return not is_scale_conditioned and (
        "negative_prompt" in inspect.signature(loaded.pipeline.__call__).parameters
    )
