"""Which settings to guide with: as published for a model family, and as we recommend.

Sources: Rezaei et al. 2025, arXiv:2506.23418, and their code (PSG: Stable Diffusion 1.4, SDXL,
PixArt-alpha); Chefer et al. 2023, arXiv:2301.13826; Xie et al. 2023, arXiv:2307.10816; Singh and
Zheng 2023, arXiv:2307.04749; Rastegar et al. 2025, arXiv:2512.17851. Families that nobody published
settings for get those of Stable Diffusion, half of the steps guided. BoxDiff has two presets: as
published, with refinement at steps 0, 10 and 20, and as SpatialBench-UC ran it (Rostane 2026,
arXiv:2601.13462), without. Imports no torch.
"""

from collections.abc import Mapping
from dataclasses import replace

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    ATTEND_EXCITE,
    BOXDIFF,
    INFSPLIGN,
    PSG,
    PSG_PRESENCE,
    WEIGHTED_PRESENCE,
    GuidanceSettings,
    Refinement,
    StepUnit,
)
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.run_settings import Preset

STABLE_DIFFUSION = "StableDiffusionPipeline"
SDXL = "StableDiffusionXLPipeline"
PIXART_ALPHA = "PixArtAlphaPipeline"
PIXART_SIGMA = "PixArtSigmaPipeline"

_TO_THE_END = 999

_EXCITING = (
    Refinement(step=0, presence=0.05),
    Refinement(step=10, presence=0.5),
    Refinement(step=20, presence=0.8),
)

_PUBLISHED: Mapping[tuple[str, str], GuidanceSettings] = {
    (PSG, STABLE_DIFFUSION): GuidanceSettings(strength=20, last_step=24),
    (PSG, SDXL): GuidanceSettings(strength=20_000, unit=StepUnit.SIGMA, last_step=9),
    (PSG, PIXART_ALPHA): GuidanceSettings(strength=10, last_step=19),
    (ATTEND_EXCITE, STABLE_DIFFUSION): GuidanceSettings(
        strength=20, last_step=24, refinements=_EXCITING
    ),
    (BOXDIFF, STABLE_DIFFUSION): GuidanceSettings(strength=20, last_step=24, refinements=_EXCITING),
    (WEIGHTED_PRESENCE, STABLE_DIFFUSION): GuidanceSettings(strength=2, last_step=19),
    (INFSPLIGN, STABLE_DIFFUSION): GuidanceSettings(strength=1000, decay=1, last_step=_TO_THE_END),
}

_SPATIALBENCH_UC: Mapping[tuple[str, str], GuidanceSettings] = {
    (BOXDIFF, STABLE_DIFFUSION): GuidanceSettings(strength=20, last_step=24),
}

_STATED = {Preset.PUBLISHED: _PUBLISHED, Preset.SPATIALBENCH_UC: _SPATIALBENCH_UC}

_RECOMMENDED: Mapping[tuple[str, str], GuidanceSettings] = {
    (PSG, SDXL): _PUBLISHED[PSG, SDXL],
    (PSG, PIXART_ALPHA): GuidanceSettings(strength=10),
    (PSG, PIXART_SIGMA): GuidanceSettings(strength=10),
}

_GUIDED_SHARE: Mapping[str, float] = {SDXL: 0.2, PIXART_ALPHA: 0.4, PIXART_SIGMA: 0.4}
"""Of the steps that the recommended settings guide; half of them elsewhere."""

_RECOMMENDED_ELSEWHERE: Mapping[str, GuidanceSettings] = {
    PSG: GuidanceSettings(strength=20),
    PSG_PRESENCE: GuidanceSettings(strength=20, presence_weight=0.1),
    ATTEND_EXCITE: GuidanceSettings(strength=20),
    BOXDIFF: GuidanceSettings(strength=20),
    WEIGHTED_PRESENCE: GuidanceSettings(strength=2),
    INFSPLIGN: _PUBLISHED[INFSPLIGN, STABLE_DIFFUSION],
}

METHOD_IDS = tuple(_RECOMMENDED_ELSEWHERE)

PRESENCE_IDS = frozenset({ATTEND_EXCITE, WEIGHTED_PRESENCE})
"""Those that have work to do in a scene without relations."""


def has_work(scene: SceneGraph, method_id: str) -> bool:
    """Tell whether a method finds anything to guide in a scene that names things."""
    return method_id in PRESENCE_IDS or any(relation.is_guided for relation in scene.relations)


def guidance_preset(
    method_id: str, pipeline_class: str, preset: Preset, steps: int = 50
) -> GuidanceSettings:
    """Return the settings of a method for a model family.

    Args:
        method_id: One of ``METHOD_IDS``.
        pipeline_class: diffusers class name; empty when it is not known.
        preset: Whose settings.
        steps: Denoising steps of the run.

    Raises:
        RequestError: The method is not known, or was not published for the family.
    """
    if method_id not in METHOD_IDS:
        raise RequestError(
            f'The guidance method "{method_id}" is not known.',
            hint=f"Choose one of {', '.join(METHOD_IDS)}.",
        )
    key = (method_id, pipeline_class)
    if preset is Preset.RECOMMENDED:
        found = _RECOMMENDED.get(key, _RECOMMENDED_ELSEWHERE[method_id])
        share = _GUIDED_SHARE.get(pipeline_class)
        if share is not None and method_id != INFSPLIGN:
            found = replace(found, last_step=max(round(share * steps) - 1, 0))
    elif key in _STATED[preset]:
        found = _STATED[preset][key]
    else:
        raise RequestError(
            f'The method "{method_id}" has no preset "{preset.value}" for models of this kind.',
            hint=f'Choose the preset "{Preset.RECOMMENDED.value}".',
        )
    return replace(found, method_id=method_id)
