"""Named colours; their values live in resources/themes."""

from collections.abc import Mapping
from dataclasses import dataclass

MENTION_COLOURS = 8
HEAT_STOPS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of one theme. Made by ``theme_file`` only.

    Attributes:
        name: "light", "dark", ...
        is_dark: Whether text is lighter than its ground.
        colours: Role to "#rrggbb": surface, raised, text, muted, accent, line, good, bad, unsure,
            mention_1 to mention_8, heat_1 to heat_9 (low to high), ...
        heat_map: Name of the sequential colour map for attention.
    """

    name: str
    is_dark: bool
    colours: Mapping[str, str]
    heat_map: str

    def mention(self, index: int) -> str:
        """Return the colour of the mention at ``index``; the eight hues repeat."""
        return self.colours[f"mention_{index % MENTION_COLOURS + 1}"]
