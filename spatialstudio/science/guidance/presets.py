"""Published and recommended guidance settings by model family.

The settings are part of each method's registration. Families without published settings use those
of Stable Diffusion with half of the steps guided. Does not import torch.
"""

from collections.abc import Mapping
from dataclasses import replace

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.run_settings import Preset
from spatialstudio.science.guidance.method import PIXART_ALPHA, PIXART_SIGMA, SDXL
from spatialstudio.science.guidance.methods import method_named

_GUIDED_SHARE: Mapping[str, float] = {SDXL: 0.2, PIXART_ALPHA: 0.4, PIXART_SIGMA: 0.4}
"""Fraction of steps guided by the recommended settings; one half for other families."""


def guidance_preset(
    method_id: str, pipeline_class: str, preset: Preset, steps: int = 50
) -> GuidanceSettings:
    """Return the settings of a method for a model family.

    Args:
        method_id: Id of a registered method.
        pipeline_class: diffusers class name; empty if unknown.
        preset: The preset.
        steps: Denoising steps of the run.

    Raises:
        RequestError: The method is unknown, or has no such preset for the family.
    """
    method = method_named(method_id)
    found = method.preset(preset, pipeline_class)
    if found is None:
        raise RequestError(
            f'The method "{method_id}" has no preset "{preset.value}" for models of this kind.',
            hint=f'Choose the preset "{Preset.RECOMMENDED.value}".',
        )
    share = _GUIDED_SHARE.get(pipeline_class)
    if preset is Preset.RECOMMENDED and found.last_step is None and share is not None:
        found = replace(found, last_step=max(round(share * steps) - 1, 0))
    return replace(method.completed(found), method_id=method_id)
