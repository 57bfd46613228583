"""SwarmUI: JSON with ``sui_image_params`` where others write their parameters."""

from collections.abc import Mapping

from spatialstudio.adapters.storage.metadata.parse_values import (
    told_extras,
    told_float,
    told_int,
    told_object,
    told_text,
)
from spatialstudio.adapters.storage.metadata.picture_texts import PARAMETERS, USER_COMMENT
from spatialstudio.domain.picture_settings import PictureSettings

DIALECT = "swarmui"

_KNOWN = frozenset(
    {
        *("prompt", "negativeprompt", "seed", "steps", "cfgscale"),
        *("sampler", "scheduler", "width", "height", "model"),
    }
)


def read(texts: Mapping[str, str]) -> PictureSettings | None:
    """Read the settings; None when the picture does not tell them in this form."""
    whole = told_object(texts.get(PARAMETERS) or texts.get(USER_COMMENT) or "")
    told = whole.get("sui_image_params")
    if not isinstance(told, dict):
        return None
    return PictureSettings(
        dialect=DIALECT,
        prompt=told_text(told.get("prompt")),
        negative=told_text(told.get("negativeprompt")),
        seed=told_int(told.get("seed")),
        steps=told_int(told.get("steps")),
        guidance_scale=told_float(told.get("cfgscale")),
        sampler=told_text(told.get("sampler")),
        scheduler=told_text(told.get("scheduler")),
        width=told_int(told.get("width")),
        height=told_int(told.get("height")),
        model=told_text(told.get("model")),
        extras=told_extras(told, _KNOWN),
    )
