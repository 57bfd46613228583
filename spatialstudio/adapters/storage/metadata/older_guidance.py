"""Conversion of guidance settings from files written before methods had options.

In those files the methods' options are fields of the guidance settings.
"""

from collections.abc import Mapping
from typing import Any

_FIELDS = {"paper_loss": {"psg", "psg-presence"}, "presence_weight": {"psg-presence"}}
"""Maps a field to the methods whose option it is now; it had no effect on the others."""


def with_options(guidance: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON object of guidance settings with the older fields moved to its options.

    Args:
        guidance: As read from a file; returned unchanged if it has options.
    """
    if "options" in guidance or not guidance.keys() & _FIELDS:
        return guidance
    method_id = str(guidance.get("method_id"))
    options = {n: guidance[n] for n in _FIELDS if n in guidance and method_id in _FIELDS[n]}
    return {n: value for n, value in guidance.items() if n not in _FIELDS} | {"options": options}
