"""The registration of a guidance method: description, options, presets and loss.

A registration is readable without torch. Its functions import torch when called, in the engine
process.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.options import MethodCard, Option
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.sweep import RUN_FIELDS

if TYPE_CHECKING:
    from spatialstudio.science.guidance.losses import GuidanceLoss, RefinedLoss

STABLE_DIFFUSION = "StableDiffusionPipeline"
SDXL = "StableDiffusionXLPipeline"
GLIGEN = "StableDiffusionGLIGENPipeline"
PIXART_ALPHA = "PixArtAlphaPipeline"
PIXART_SIGMA = "PixArtSigmaPipeline"
ANY_FAMILY = ""
"""In presets: all other pipelines."""

ROUNDING = 1e-9

EVERY_STEP = 999
"""As ``last_step``: guide to the last step of any run."""

NO_STEP = -1
"""As ``last_step``: update the latents on no step."""


@frozen(kw_only=False)
class Trial:
    """Begins a picture without guidance, to see whether it needs any.

    Attributes:
        share: Fraction of the steps that are denoised without guidance, (0, 1).
        enough: Loss on the last of them up to which the picture is finished without guidance, >= 0;
            above it, the picture is begun again with guidance.
    """

    share: float
    enough: float

    def last_step(self, total_steps: int) -> int:
        """Return the step, from 0, whose attention decides."""
        return max(ceil(self.share * total_steps - ROUNDING), 1) - 1


@frozen
class GuidanceMethod(MethodCard):
    """A registered guidance method.

    Attributes:
        presets: Settings by preset and diffusers pipeline class; ``ANY_FAMILY`` covers all other
            classes and is required for ``Preset.RECOMMENDED``. A recommended ``last_step`` of None
            guides ``guided_share`` of the steps.
        make_loss: Returns the guidance loss for the settings of a run; None for a method that
            gives boxes to a model with grounding layers instead.
        make_refined: Returns the loss minimised by refinement; None for the guidance loss.
        make_trial: Returns the trial of a run's settings, or None; None for a method without.
        order: Position among the built-in methods, ascending; plugin methods follow.
        needs_relations: False for a method that uses only mentions, so that it also applies to a
            scene without relations and is independent of the relations.
        guides_depth: Whether it also guides relations in depth, by cues in the picture plane.
        keeps_colours: Whether updates leave the mean of each latent channel, which decides the
            colours of the background.
        uses_model_strength: Whether the recommended step size comes from the model's card.
        guided_share: Fraction of the steps that the recommended settings guide, (0, 1]; None for
            the fraction recommended for the model family.
        least_mentions: Mentions that a scene without relations needs, if the method does not need
            relations, >= 1.
        corrects_prediction: True when the gradient is added to the predicted noise, False when it
            is subtracted from the latents.
        reads_decoder: Whether the loss uses separate maps per decoder level of the denoiser.
    """

    presets: Mapping[Preset, Mapping[str, GuidanceSettings]]
    make_loss: "Callable[[GuidanceSettings], GuidanceLoss] | None" = None
    make_refined: "Callable[[GuidanceSettings], RefinedLoss] | None" = None
    make_trial: "Callable[[GuidanceSettings], Trial | None] | None" = None
    order: int = 0
    needs_relations: bool = True
    guides_depth: bool = False
    keeps_colours: bool = False
    uses_model_strength: bool = False
    guided_share: float | None = None
    least_mentions: int = 1
    corrects_prediction: bool = False
    reads_decoder: bool = False

    @property
    def takes_boxes(self) -> bool:
        """Whether the method gives boxes to the model's grounding layers, without a loss."""
        return self.make_loss is None

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
        """Return settings with a value for exactly the options of this method."""
        values = {option.id: option.value_in(settings.options) for option in self.options}
        return replace(settings, options=values)

    def check(self, settings: GuidanceSettings) -> None:
        """Check the options of settings against this method.

        Raises:
            RequestError: An option is unknown to the method, or its value is invalid.
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
        """Return the settings of a preset for a pipeline class; None if there are none."""
        by_family = self.presets.get(preset, {})
        return by_family.get(pipeline_class, by_family.get(ANY_FAMILY))
