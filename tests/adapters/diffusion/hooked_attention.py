"""Attention of a pipeline of diffusers alone, read from hooks on its queries and keys."""

import torch
from diffusers import StableDiffusionPipeline


def hook(denoiser, ending):
    """Collect the attention of the layers whose names have an ending.

    Returns:
        By layer, in execution order: of each step, (heads, positions, keys) float64, of the last
        row of the batch, which is the prompt's. Grows with the calls.
    """
    found = {}
    for name, module in denoiser.named_modules():
        if name.endswith(ending):
            _hook_layer(found, name, module)
    return found


def _hook_layer(found, name, attention):
    queries = []

    def take_query(_module, _args, output):
        queries.append(output)

    def take_key(_module, _args, key):
        both = (each[-1].unflatten(-1, (attention.heads, -1)) for each in (queries.pop(), key))
        scores = torch.einsum("phd,khd->hpk", *(each.double() for each in both))
        shares = (scores * attention.scale).softmax(-1).numpy(force=True)
        found.setdefault(name, []).append(shares)

    attention.to_q.register_forward_hook(take_query)
    attention.to_k.register_forward_hook(take_key)


def drawn_alone(model, request, ending):
    """Draw a request with a pipeline of Stable Diffusion alone.

    Args:
        model: Its card.
        request: With height, width and guidance scale.
        ending: Ending of the names of the layers whose attention is collected.

    Returns:
        The pipeline, and the attention as ``hook`` returns it.
    """
    pipeline = StableDiffusionPipeline.from_pretrained(model.folder, dtype=torch.float32)
    pipeline.set_progress_bar_config(disable=True)
    found = hook(pipeline.unet, ending)
    with torch.no_grad():
        pipeline(
            request.scene.prompt.text,
            height=request.height,
            width=request.width,
            num_inference_steps=request.sampling.steps,
            guidance_scale=request.guidance_scale,
            generator=torch.Generator("cpu").manual_seed(request.sampling.seed),
        )
    return pipeline, found
