"""Metadata dialects of SwarmUI and Fooocus: JSON in the ``parameters`` text.

The JSON of SwarmUI contains ``sui_image_params``, that of Fooocus ``base_model``. Fooocus can also
write the dialect of AUTOMATIC1111, which is read as such.
"""

from collections.abc import Mapping
from typing import Any

from spatialstudio.adapters.storage.metadata.parse_values import (
    Dialect,
    parse_extras,
    parse_float,
    parse_int,
    parse_object,
    parse_text,
)
from spatialstudio.adapters.storage.metadata.picture_texts import PARAMETERS, USER_COMMENT
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.picture_settings import PictureSettings

_SHARED = frozenset({"prompt", "seed", "steps", "sampler", "scheduler"})


@frozen
class _Names:
    """Field names of one program; an empty name means there is no such field."""

    dialect: str
    negative: str
    guidance_scale: str
    model: str
    model_hash: str
    size: frozenset[str]

    @property
    def known(self) -> frozenset[str]:
        own = {self.negative, self.guidance_scale, self.model, self.model_hash}
        return (_SHARED | self.size | own) - {""}


_SWARMUI = _Names(
    dialect="swarmui",
    negative="negativeprompt",
    guidance_scale="cfgscale",
    model="model",
    model_hash="",
    size=frozenset({"width", "height"}),
)
_FOOOCUS = _Names(
    dialect="fooocus",
    negative="negative_prompt",
    guidance_scale="guidance_scale",
    model="base_model",
    model_hash="base_model_hash",
    size=frozenset({"resolution"}),
)


def read_swarmui(texts: Mapping[str, str]) -> PictureSettings | None:
    """Read the settings; None if the picture has none in this dialect."""
    values = _parameters(texts).get("sui_image_params")
    if not isinstance(values, dict):
        return None
    return _settings(values, _SWARMUI, values.get("width"), values.get("height"))


def read_fooocus(texts: Mapping[str, str]) -> PictureSettings | None:
    """Read the settings; None if the picture has none in this dialect."""
    values = _parameters(texts)
    if _FOOOCUS.model not in values:
        return None
    width, _, height = parse_text(values.get("resolution")).strip("() ").partition(",")
    return _settings(values, _FOOOCUS, width.strip(), height.strip())


def _parameters(texts: Mapping[str, str]) -> Mapping[str, Any]:
    return parse_object(texts.get(PARAMETERS) or texts.get(USER_COMMENT) or "")


def _settings(
    values: Mapping[str, Any], names: _Names, width: object, height: object
) -> PictureSettings:
    return PictureSettings(
        dialect=names.dialect,
        prompt=parse_text(values.get("prompt")),
        negative=parse_text(values.get(names.negative)),
        seed=parse_int(values.get("seed")),
        steps=parse_int(values.get("steps")),
        guidance_scale=parse_float(values.get(names.guidance_scale)),
        sampler=parse_text(values.get("sampler")),
        scheduler=parse_text(values.get("scheduler")),
        width=parse_int(width),
        height=parse_int(height),
        model=parse_text(values.get(names.model)),
        model_hash=parse_text(values.get(names.model_hash)) if names.model_hash else "",
        extras=parse_extras(values, names.known),
    )


DIALECTS = (Dialect(order=30, read=read_swarmui), Dialect(order=40, read=read_fooocus))
