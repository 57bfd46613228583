"""Fooocus in its own scheme: JSON with ``base_model`` where others write their parameters.

Its other scheme is that of AUTOMATIC1111, and is read as such.
"""

from collections.abc import Mapping

from spatialstudio.adapters.storage.metadata.parse_values import (
    parse_extras,
    parse_float,
    parse_int,
    parse_object,
    parse_text,
)
from spatialstudio.adapters.storage.metadata.picture_texts import PARAMETERS, USER_COMMENT
from spatialstudio.domain.picture_settings import PictureSettings

DIALECT = "fooocus"

_KNOWN = frozenset(
    {
        *("prompt", "negative_prompt", "seed", "steps", "guidance_scale"),
        *("sampler", "scheduler", "resolution", "base_model", "base_model_hash"),
    }
)


def read(texts: Mapping[str, str]) -> PictureSettings | None:
    """Read the settings; None when the picture does not tell them in this form."""
    told = parse_object(texts.get(PARAMETERS) or texts.get(USER_COMMENT) or "")
    if "base_model" not in told:
        return None
    width, _, height = parse_text(told.get("resolution")).strip("() ").partition(",")
    return PictureSettings(
        dialect=DIALECT,
        prompt=parse_text(told.get("prompt")),
        negative=parse_text(told.get("negative_prompt")),
        seed=parse_int(told.get("seed")),
        steps=parse_int(told.get("steps")),
        guidance_scale=parse_float(told.get("guidance_scale")),
        sampler=parse_text(told.get("sampler")),
        scheduler=parse_text(told.get("scheduler")),
        width=parse_int(width.strip()),
        height=parse_int(height.strip()),
        model=parse_text(told.get("base_model")),
        model_hash=parse_text(told.get("base_model_hash")),
        extras=parse_extras(told, _KNOWN),
    )
