"""PoS-based Generation (PSG), with the loss of ``science/guidance/losses.py``.

Source: Rezaei et al. 2025, arXiv:2506.23418, and their code (Stable Diffusion 1.4, SDXL,
PixArt-alpha).
"""

from typing import TYPE_CHECKING

from spatialstudio.domain.generation import PSG, GuidanceSettings, StepUnit
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.domain.run_settings import Preset
from spatialstudio.science.guidance.method import (
    ANY_FAMILY,
    PIXART_ALPHA,
    PIXART_SIGMA,
    SDXL,
    STABLE_DIFFUSION,
    GuidanceMethod,
)

if TYPE_CHECKING:
    from spatialstudio.science.guidance.losses import PsgLoss


PAPER_LOSS = Option(
    id="paper_loss",
    label="Paper's loss",
    help="Use -PoS² from the paper instead of the squared inverse PoS from the authors' code.",
    kind=OptionKind.BOOL,
    default=False,
)


def make_loss(settings: GuidanceSettings) -> "PsgLoss":
    """Return the loss for the settings of a run."""
    from spatialstudio.science.guidance.losses import PsgLoss

    return PsgLoss(paper_form=bool(PAPER_LOSS.value_in(settings.options)))


METHOD = GuidanceMethod(
    id=PSG,
    label="PoS guidance",
    description="Minimises the probability that the objects are in the reverse order.",
    order=1,
    options=(PAPER_LOSS,),
    presets={
        Preset.RECOMMENDED: {
            ANY_FAMILY: GuidanceSettings(strength=20),
            SDXL: GuidanceSettings(strength=20_000, unit=StepUnit.SIGMA),
            PIXART_ALPHA: GuidanceSettings(strength=10),
            PIXART_SIGMA: GuidanceSettings(strength=10),
        },
        Preset.PUBLISHED: {
            STABLE_DIFFUSION: GuidanceSettings(strength=20, last_step=24),
            SDXL: GuidanceSettings(strength=20_000, unit=StepUnit.SIGMA, last_step=9),
            PIXART_ALPHA: GuidanceSettings(strength=10, last_step=19),
        },
    },
    uses_model_strength=True,
    make_loss=make_loss,
)
