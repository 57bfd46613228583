"""How a guidance method registers itself: description, options, presets and loss in one value.

A registration is readable without torch. Its functions import torch when they are called, in the
process that runs the models.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.guidance import MethodCard
from spatialstudio.domain.run_settings import Preset

if TYPE_CHECKING:
    from spatialstudio.science.guidance.losses import GuidanceLoss, RefinedLoss

STABLE_DIFFUSION = "StableDiffusionPipeline"
SDXL = "StableDiffusionXLPipeline"
PIXART_ALPHA = "PixArtAlphaPipeline"
PIXART_SIGMA = "PixArtSigmaPipeline"
ANY_FAMILY = ""
"""In presets: every pipeline that is not named."""

EVERY_STEP = 999
"""As ``last_step``: guide to the end, however many steps the run has."""


@frozen
class GuidanceMethod(MethodCard):
    """One way to hold a picture to its prompt.

    Attributes:
        presets: The settings to begin with, by preset and diffusers pipeline class; ``ANY_FAMILY``
            stands for the classes that are not named, and ``Preset.RECOMMENDED`` must have it. A
            recommended ``last_step`` of None guides the share of the steps that suits the family.
        make_loss: From the settings of a run to what guidance lowers.
        make_refined: What refinement lowers in place of the loss; None for the loss itself.
        order: Place among the built-in methods, small first; methods of plugins follow.
        needs_relations: False for a method that acts on mentions alone, so that it has work in a
            scene without relations, and nothing changes from relation to relation.
        uses_model_strength: Whether the recommended step size is that of the model's card.
        corrects_prediction: True when the gradient is added to the predicted noise, False when it
            is taken off the latents.
        reads_decoder: Whether the loss reads the levels of the denoiser's decoder.
    """

    presets: Mapping[Preset, Mapping[str, GuidanceSettings]]
    make_loss: "Callable[[GuidanceSettings], GuidanceLoss]"
    make_refined: "Callable[[GuidanceSettings], RefinedLoss] | None" = None
    order: int = 0
    needs_relations: bool = True
    uses_model_strength: bool = False
    corrects_prediction: bool = False
    reads_decoder: bool = False

    def __post_init__(self) -> None:
        if ANY_FAMILY not in self.presets.get(Preset.RECOMMENDED, {}):
            raise ValueError(f'The method "{self.id}" recommends no settings for any family.')

    def preset(self, preset: Preset, pipeline_class: str) -> GuidanceSettings | None:
        """Return the settings of a preset for a pipeline; None where there are none."""
        by_family = self.presets.get(preset, {})
        return by_family.get(pipeline_class, by_family.get(ANY_FAMILY))
