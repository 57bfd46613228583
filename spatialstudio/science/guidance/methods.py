"""The guidance methods by id: what each lowers, and what its gradient moves."""

from collections.abc import Callable

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    ATTEND_EXCITE,
    BOXDIFF,
    INFSPLIGN,
    PSG,
    PSG_PRESENCE,
    WEIGHTED_PRESENCE,
    GuidanceSettings,
)
from spatialstudio.science.guidance.box_losses import BoxDiffLoss
from spatialstudio.science.guidance.infsplign import InfSplignLoss
from spatialstudio.science.guidance.losses import (
    GuidanceLoss,
    PsgLoss,
    RefinedLoss,
)
from spatialstudio.science.guidance.presence_losses import (
    AttendExciteLoss,
    PsgPresenceLoss,
    WeightedPresenceLoss,
)


@frozen
class GuidanceMethod:
    """One way to hold a picture to its prompt.

    Attributes:
        make_loss: From the settings of a run.
        corrects_prediction: True when the gradient is added to the predicted noise, False when it
            is taken off the latents.
        make_refined: What refinement lowers in place of the loss; None for the loss itself.
        reads_decoder: Whether the loss reads the levels of the denoiser's decoder.
    """

    make_loss: Callable[[GuidanceSettings], GuidanceLoss]
    make_refined: Callable[[GuidanceSettings], RefinedLoss] | None = None
    corrects_prediction: bool = False
    reads_decoder: bool = False


def _psg(settings: GuidanceSettings) -> PsgLoss:
    return PsgLoss(paper_form=settings.paper_loss)


def _weighted_presence(settings: GuidanceSettings) -> WeightedPresenceLoss:
    return WeightedPresenceLoss(weights=settings.mention_weights)


def _psg_presence(settings: GuidanceSettings) -> PsgPresenceLoss:
    return PsgPresenceLoss(placement=_psg(settings), presence=settings.presence_weight)


METHODS: dict[str, GuidanceMethod] = {
    PSG: GuidanceMethod(make_loss=_psg),
    PSG_PRESENCE: GuidanceMethod(make_loss=_psg_presence),
    ATTEND_EXCITE: GuidanceMethod(make_loss=lambda _: AttendExciteLoss()),
    WEIGHTED_PRESENCE: GuidanceMethod(make_loss=_weighted_presence),
    BOXDIFF: GuidanceMethod(
        make_loss=lambda _: BoxDiffLoss(), make_refined=lambda _: BoxDiffLoss().refined
    ),
    INFSPLIGN: GuidanceMethod(
        make_loss=lambda _: InfSplignLoss(), corrects_prediction=True, reads_decoder=True
    ),
}
