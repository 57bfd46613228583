"""The result of one call of a user's diffusers pipeline."""

from collections.abc import Sequence
from typing import Any

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import CaptureSettings, GuidanceSettings, RequestId
from spatialstudio.domain.scene import SceneGraph, TokenSpan
from spatialstudio.domain.steering import ONE_PARTICLE, Steering


@frozen(eq=False)
class PipelineCall:
    """A finished call of a pipeline. Created by the adapter that guides it.

    Attributes:
        run_id: Run id of the call's step events.
        scene: Scene whose mention spans refer to the prompt of the call.
        steps: Requested denoising steps.
        guidance: Guidance method and settings.
        guidance_scale: Classifier-free guidance scale; 1 is off.
        capture: What was recorded.
        spans: Token spans of the mentions in the text encoders.
        images: Images as the pipeline returned them; empty if it returned anything else.
        seeds: Seed of the generator of each image; None without one.
        negative: Negative prompt; empty for none.
        sampler: Class name of the scheduler.
        device: Device of the denoiser.
        seconds: Duration of the call.
        peak_memory_bytes: Peak memory; on the CPU, the resident set size.
        steering: The particles of its picture.
    """

    run_id: RequestId
    scene: SceneGraph
    steps: int
    guidance: GuidanceSettings
    guidance_scale: float
    capture: CaptureSettings
    spans: tuple[TokenSpan, ...]
    images: Sequence[Any]
    seeds: tuple[int | None, ...]
    negative: str
    sampler: str
    device: str
    seconds: float
    peak_memory_bytes: int
    steering: Steering = ONE_PARTICLE
