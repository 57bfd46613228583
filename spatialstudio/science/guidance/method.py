"""How a guidance method registers itself: description, options, presets and loss in one value.

A registration is readable without torch. Its functions import torch when they are called, in the
process that runs the models.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.guidance import MethodCard
from spatialstudio.domain.options import Option
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.sweep import RUN_FIELDS

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
        ids = [option.id for option in self.options]
        if len(set(ids)) < len(ids):
            raise ValueError(f'Two options of the method "{self.id}" have the same id.')
        if taken := [option_id for option_id in ids if option_id in RUN_FIELDS]:
            raise ValueError(f'An option of the method "{self.id}" has the id "{taken[0]}".')
        try:
            for by_family in self.presets.values():
                for settings in by_family.values():
                    self.check(settings)
        except RequestError as error:
            raise ValueError(f'A preset of the method "{self.id}" is invalid: {error}') from error

    def completed(self, settings: GuidanceSettings) -> GuidanceSettings:
        """Return settings with a value for each option of this method, and for no other."""
        values = {option.id: option.value_in(settings.options) for option in self.options}
        return replace(settings, options=values)

    def check(self, settings: GuidanceSettings) -> None:
        """Refuse options that this method lacks, and values out of their range.

        Raises:
            RequestError: An option is not one of the method's, or its value cannot be used.
        """
        for option_id, value in settings.options.items():
            self.find_option(option_id).check(value)

    def find_option(self, option_id: str) -> Option:
        """Return one of the method's options.

        Raises:
            RequestError: The method has no such option.
        """
        option = self.option(option_id)
        if option is None:
            known = ", ".join(each.id for each in self.options)
            raise RequestError(
                f'The guidance method "{self.id}" has no option "{option_id}".',
                hint=f"Its options are: {known}." if known else "It has no options.",
            )
        return option

    def preset(self, preset: Preset, pipeline_class: str) -> GuidanceSettings | None:
        """Return the settings of a preset for a pipeline; None where there are none."""
        by_family = self.presets.get(preset, {})
        return by_family.get(pipeline_class, by_family.get(ANY_FAMILY))
