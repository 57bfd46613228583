"""Takes what a picture tells of its making into the form, field by field as the user chose."""

from collections.abc import Collection
from dataclasses import replace

from spatialstudio.application.flow.choose_settings import with_model
from spatialstudio.domain.generation import MAX_SEED
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.run_settings import RunSettings

PROMPT = "prompt"
NUMBERS = ("seed", "steps", "width", "height")
"""Fields of ``PictureSettings`` that are called the same in the form."""
MULTIPLE_OF = 8
"""Sides of pictures must be divisible by this."""


def usable_fields(theirs: PictureSettings, models: Collection[str]) -> tuple[str, ...]:
    """Return which fields of a picture can be taken over; the others are only told.

    Args:
        theirs: What the picture tells.
        models: Ids of the models that are here.
    """
    fits = {
        PROMPT: bool(theirs.prompt.strip()),
        "seed": theirs.seed is not None and 0 <= theirs.seed <= MAX_SEED,
        "steps": bool(theirs.steps) and (theirs.steps or 0) > 0,
        "width": bool(theirs.width) and not (theirs.width or 0) % MULTIPLE_OF,
        "height": bool(theirs.height) and not (theirs.height or 0) % MULTIPLE_OF,
        "model": theirs.model in models,
        "strength": theirs.strength is not None and theirs.strength >= 0,
    }
    return tuple(name for name, is_usable in fits.items() if is_usable)


def with_fields(
    settings: RunSettings,
    theirs: PictureSettings,
    names: Collection[str],
    model: ModelCard | None = None,
) -> RunSettings:
    """Return the form with some fields of a picture; prompts are not part of it.

    Args:
        settings: The form as it is.
        theirs: What the picture tells.
        names: Of usable fields that shall be taken.
        model: The picture's, when it shall be taken.
    """
    taken = settings if model is None else with_model(settings, model)
    told = {name: getattr(theirs, name) for name in NUMBERS if name in names}
    taken = replace(taken, **told)
    if "strength" in names and theirs.strength is not None:
        taken = replace(taken, guidance=replace(taken.guidance, strength=theirs.strength))
    return taken
