"""Turns models and their samplers into the choices of a field, damaged ones with their reason."""

from collections.abc import Mapping, Sequence

from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.perceivers import PerceptionCard, PerceptionRole
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.samplers import sampler_title
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.run.choice_field import Choice

NO_MODEL = ""
NOBODY = ""
OWN = ""


def detector_choices(
    models: Sequence[PerceptionCard], damaged: Mapping[str, ModelNotFound], chosen: str
) -> tuple[Choice, ...]:
    """Return who can give a second opinion, nobody first; then what cannot be used.

    Args:
        models: All that look at pictures.
        damaged: What is wrong with the others, by their names.
        chosen: Id of a detector, here or not; empty for nobody.
    """
    detectors = [card for card in models if card.role is PerceptionRole.DETECTOR]
    usable = tuple(
        Choice(id=card.ref.id, title=card.ref.id, tip=card.architecture) for card in detectors
    )
    known = {NOBODY, *(choice.id for choice in usable), *damaged}
    gone = () if chosen in known else (_gone(chosen),)
    return (Choice(id=NOBODY, title=tr("Nobody")), *usable, *gone, *_unusable(damaged))


def model_choices(
    models: Sequence[ModelCard], damaged: Mapping[str, ModelNotFound]
) -> tuple[Choice, ...]:
    """Return what can be chosen, then what cannot be used; at least one choice.

    Args:
        models: Those that can draw.
        damaged: What is wrong with the others, by their names.
    """
    none = (Choice(id=NO_MODEL, title=tr("No model found"), is_usable=False),)
    usable = tuple(Choice(id=card.id, title=card.title) for card in models)
    return (usable or none) + _unusable(damaged)


def sampler_choices(model: ModelCard, chosen: str) -> tuple[Choice, ...]:
    """Return what a model can be drawn with, its own first.

    Args:
        model: Whose samplers.
        chosen: Name of one, known or not; empty for the model's own.
    """
    title = tr("The model's own")
    if model.samplers:
        title = tr("{sampler}, its own").format(sampler=sampler_title(model.samplers[0]))
    names = dict.fromkeys((*model.samplers[1:], *filter(None, [chosen])))
    others = (Choice(id=name, title=sampler_title(name)) for name in names)
    return (Choice(id=OWN, title=title), *others)


def _gone(name: str) -> Choice:
    return Choice(id=name, title=tr("{model}, not found").format(model=name), is_usable=False)


def _unusable(damaged: Mapping[str, ModelNotFound]) -> tuple[Choice, ...]:
    return tuple(
        Choice(id=name, title=why.message, tip=why.hint, is_usable=False)
        for name, why in damaged.items()
    )
