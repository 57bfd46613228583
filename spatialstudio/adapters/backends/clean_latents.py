"""What one prediction says of the finished latents, for every way of mixing in noise.

Samplers for models of EDM (Karras et al. 2022, arXiv:2206.00364) expect latents of a variance of
their own; their denoisers predict the velocity, forward or back.
"""

import math
from enum import Enum
from typing import Any

import torch
from diffusers import EDMDPMSolverMultistepScheduler, EDMEulerScheduler

from spatialstudio.adapters.backends.families import LatentForm

PATCH = 2
LEAST_SIGNAL = 0.0047
EDM_SAMPLERS = (EDMEulerScheduler, EDMDPMSolverMultistepScheduler)
FLOW_PREDICTION = "flow_prediction"


class Predicted(Enum):
    """What a denoiser predicts, as schedulers call it.

    Attributes:
        NOISE: The noise.
        CLEAN: The finished latents.
        VELOCITY: The way from these to the noise.
        RETURN: The way back, which schedulers for EDM call "epsilon".
    """

    NOISE = "epsilon"
    CLEAN = "sample"
    VELOCITY = "v_prediction"
    RETURN = "return"


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
    signal = signal_of(scheduler, timestep, input_scale)
    signal_share, noise_share = math.sqrt(signal), math.sqrt(1 - signal)
    vp_latents = latents * input_scale
    spread = scheduler.config.sigma_data if is_edm(scheduler) else 1.0
    match _predicted_by(scheduler):
        case Predicted.VELOCITY:
            return spread * (signal_share * vp_latents - noise_share * output)
        case Predicted.RETURN:
            return spread * (signal_share * vp_latents + noise_share * output)
        case Predicted.CLEAN:
            return output
        case Predicted.NOISE:
            return (vp_latents - noise_share * output) / signal_share


def signal_of(scheduler: Any, timestep: torch.Tensor, input_scale: float) -> float:
    """Return the picture's share of the variance of variance-preserving latents, (0, 1].

    Args:
        scheduler: Not one of rectified flow.
        timestep: Scheduler time.
        input_scale: From its latents to variance-preserving units; 1 where they already are.
    """
    if is_edm(scheduler):
        return min((input_scale * float(scheduler.config.sigma_data)) ** 2, 1.0)
    if input_scale < 1:
        return input_scale**2
    return float(scheduler.alphas_cumprod[int(timestep)])


def corrected(
    scheduler: Any, output: torch.Tensor, noise: torch.Tensor, signal: float
) -> torch.Tensor:
    """Add to the noise that a prediction implies, whatever it predicts.

    Args:
        scheduler: Its configuration says what is predicted.
        output: Prediction of the shape of the latents.
        noise: Of the same shape; what is added to the noise.
        signal: The picture's share of the variance, (0, 1].

    Returns:
        The prediction that implies the corrected noise. Where hardly any picture is left, the
        correction is that of the noisiest step of Stable Diffusion.
    """
    share = math.sqrt(max(signal, LEAST_SIGNAL))
    if is_flow(scheduler):
        return output + noise * (share + math.sqrt(1 - share**2)) / share
    match _predicted_by(scheduler):
        case Predicted.VELOCITY:
            return output + noise / share
        case Predicted.RETURN:
            return output - noise / share
        case Predicted.CLEAN:
            return output - noise * math.sqrt(1 - share**2) / share
        case Predicted.NOISE:
            return output + noise


def is_flow(scheduler: Any) -> bool:
    """Tell whether a scheduler mixes latents and noise by rectified flow."""
    prediction = getattr(scheduler.config, "prediction_type", FLOW_PREDICTION)
    return bool(prediction == FLOW_PREDICTION)


def is_edm(scheduler: Any) -> bool:
    """Tell whether a scheduler is for models of EDM."""
    return isinstance(scheduler, EDM_SAMPLERS)


def _predicted_by(scheduler: Any) -> Predicted:
    told = Predicted(scheduler.config.prediction_type)
    return Predicted.RETURN if is_edm(scheduler) and told is Predicted.NOISE else told


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
