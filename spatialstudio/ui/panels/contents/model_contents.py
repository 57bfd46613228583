"""Turns the models on this machine into the choices of a field, damaged ones with their reason."""

from collections.abc import Mapping, Sequence

from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.ports import ModelCard
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.run.choice_field import Choice

NO_MODEL = ""


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
    return (usable or none) + tuple(
        Choice(id=name, title=why.message, tip=why.hint, is_usable=False)
        for name, why in damaged.items()
    )
