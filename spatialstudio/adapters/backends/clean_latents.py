"""What one prediction says of the finished latents, for every way of mixing in noise."""

import math
from typing import Any

import torch

from spatialstudio.adapters.backends.families import LatentForm

PATCH = 2
FLOW_PREDICTION = "flow_prediction"


def predicted_clean_latents(
    scheduler: Any,
    output: torch.Tensor,
    timestep: torch.Tensor,
    latents: torch.Tensor,
    input_scale: float,
) -> torch.Tensor:
    """Estimate the finished latents from one prediction.

    Args:
        scheduler: Its configuration says what is predicted.
        output: Prediction of the shape of ``latents``, classifier-free guidance applied.
        timestep: Scheduler time.
        latents: In the scheduler's units.
        input_scale: From those to variance-preserving units; 1 where they already are.

    Returns:
        Of the shape of ``latents``.
    """
    if is_flow(scheduler):
        noise = float(timestep) / scheduler.config.num_train_timesteps
        return latents.sub(output, alpha=noise)
    signal = input_scale**2 if input_scale < 1 else float(scheduler.alphas_cumprod[int(timestep)])
    signal_share, noise_share = math.sqrt(signal), math.sqrt(1 - signal)
    vp_latents = latents * input_scale
    match scheduler.config.prediction_type:
        case "v_prediction":
            return signal_share * vp_latents - noise_share * output
        case "sample":
            return output
        case _:
            return (vp_latents - noise_share * output) / signal_share


def is_flow(scheduler: Any) -> bool:
    """Tell whether a scheduler mixes latents and noise by rectified flow."""
    prediction = getattr(scheduler.config, "prediction_type", FLOW_PREDICTION)
    return bool(prediction == FLOW_PREDICTION)


def as_picture(latents: torch.Tensor, form: LatentForm, size: tuple[int, int]) -> torch.Tensor:
    """Bring latents into the form of a picture.

    Args:
        latents: (batch, ...) as the pipeline hands them to its scheduler.
        form: Which form that is.
        size: (h, w) of the positions that the denoiser sees.

    Returns:
        (batch, c, h, w), or twice these sides where patches were packed into channels.
    """
    rows, (height, width) = latents.shape[0], size
    match form:
        case LatentForm.PICTURE:
            return latents
        case LatentForm.TOKENS:
            return latents.transpose(1, 2).reshape(rows, -1, height, width)
        case LatentForm.PACKED:
            patches = latents.reshape(rows, height, width, -1, PATCH, PATCH)
            moved = patches.permute(0, 3, 1, 4, 2, 5)
            return moved.reshape(rows, -1, height * PATCH, width * PATCH)
