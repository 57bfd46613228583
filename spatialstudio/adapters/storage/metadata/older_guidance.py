"""Guidance settings in files that were written before methods had options.

There the options of the methods of that time were fields of the guidance settings themselves.
"""

from collections.abc import Mapping
from typing import Any

_FIELDS = {"paper_loss": {"psg", "psg-presence"}, "presence_weight": {"psg-presence"}}
"""Field to the methods whose option it is now; for the others it had no effect."""


def with_options(guidance: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON object of guidance settings with the older fields among its options.

    Args:
        guidance: As it stands in a file; one that has options is returned as it is.
    """
    if "options" in guidance or not guidance.keys() & _FIELDS:
        return guidance
    method_id = str(guidance.get("method_id"))
    options = {n: guidance[n] for n in _FIELDS if n in guidance and method_id in _FIELDS[n]}
    return {n: value for n, value in guidance.items() if n not in _FIELDS} | {"options": options}
