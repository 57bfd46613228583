"""Adds the guidance method "hinge"."""

from typing import TYPE_CHECKING

from spatialstudio.plugin_api import (
    ANY_FAMILY,
    API_VERSION,
    GuidanceMethod,
    GuidanceSettings,
    Option,
    OptionKind,
    Plugin,
    Preset,
)

if TYPE_CHECKING:
    from hinge_loss import HingeLoss

MARGIN = Option(
    id="hinge_margin",
    label="Margin",
    help="PoS from which a relation is no longer guided; higher pushes further.",
    kind=OptionKind.FLOAT,
    default=0.95,
    minimum=0.5,
    maximum=1.0,
    step=0.01,
)


def make_loss(settings: GuidanceSettings) -> "HingeLoss":
    """Return the loss for the settings of a run; imports torch, in the engine process."""
    from hinge_loss import HingeLoss

    return HingeLoss(margin=float(MARGIN.value_in(settings.options)))


METHOD = GuidanceMethod(
    id="hinge",
    label="Hinge on PoS",
    description="Guides each relation until its PoS reaches a margin, then leaves it alone.",
    options=(MARGIN,),
    presets={Preset.RECOMMENDED: {ANY_FAMILY: GuidanceSettings(strength=20)}},
    uses_model_strength=True,
    make_loss=make_loss,
)

PLUGIN = Plugin(name="Hinge loss", api_version=API_VERSION, guidance_methods=(METHOD,))
