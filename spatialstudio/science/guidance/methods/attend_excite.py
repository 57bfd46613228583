"""Attend-and-Excite: raises the attention to the most neglected mention.

The loss is max over mentions of (1 - max over positions of A), where A is the softmax over words.

Source: Chefer et al. 2023, arXiv:2301.13826, equation 1, in the form of the diffusers pipeline.
Ours: the mean over the tokens of a mention, where they use one token.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings, Refinement
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import Relation
from spatialstudio.science.guidance.method import ANY_FAMILY, STABLE_DIFFUSION, GuidanceMethod

if TYPE_CHECKING:
    import torch

    from spatialstudio.science.pos.attention_maps import WordAttention


@frozen(kw_only=False)
class AttendExciteLoss:
    """Attend-and-Excite, a ``GuidanceLoss``; relations are not used."""

    reads_whole_text = True

    def __call__(
        self, _relations: Sequence[Relation], attention: "WordAttention"
    ) -> "torch.Tensor":
        """Return the () loss of the most neglected mention, [0, 1]."""
        import torch

        maps = attention.excited_maps()
        return torch.stack([1 - weights.amax() for weights in maps.values()]).amax().clamp_min(0)


METHOD = GuidanceMethod(
    id="attend-excite",
    label="Attend-and-Excite",
    description="Increases the attention to the object with the least attention.",
    order=3,
    presets={
        Preset.RECOMMENDED: {ANY_FAMILY: GuidanceSettings(strength=20)},
        Preset.PUBLISHED: {
            STABLE_DIFFUSION: GuidanceSettings(
                strength=20,
                last_step=24,
                refinements=(
                    Refinement(step=0, presence=0.05),
                    Refinement(step=10, presence=0.5),
                    Refinement(step=20, presence=0.8),
                ),
            )
        },
    },
    needs_relations=False,
    make_loss=lambda _: AttendExciteLoss(),
)
