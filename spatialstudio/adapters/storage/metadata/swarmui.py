"""SwarmUI: JSON with ``sui_image_params`` where others write their parameters."""

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

DIALECT = "swarmui"

_KNOWN = frozenset(
    {
        *("prompt", "negativeprompt", "seed", "steps", "cfgscale"),
        *("sampler", "scheduler", "width", "height", "model"),
    }
)


def read(texts: Mapping[str, str]) -> PictureSettings | None:
    """Read the settings; None when the picture does not tell them in this form."""
    whole = parse_object(texts.get(PARAMETERS) or texts.get(USER_COMMENT) or "")
    told = whole.get("sui_image_params")
    if not isinstance(told, dict):
        return None
    return PictureSettings(
        dialect=DIALECT,
        prompt=parse_text(told.get("prompt")),
        negative=parse_text(told.get("negativeprompt")),
        seed=parse_int(told.get("seed")),
        steps=parse_int(told.get("steps")),
        guidance_scale=parse_float(told.get("cfgscale")),
        sampler=parse_text(told.get("sampler")),
        scheduler=parse_text(told.get("scheduler")),
        width=parse_int(told.get("width")),
        height=parse_int(told.get("height")),
        model=parse_text(told.get("model")),
        extras=parse_extras(told, _KNOWN),
    )
