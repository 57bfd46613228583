"""Colour roles of a theme; their values are in resources/themes."""

from collections.abc import Mapping

from spatialstudio.domain.frozen import frozen

MENTION_COLOURS = 8
HEAT_STOPS = 9
SHARES_OF_LIGHT = (0.2126, 0.7152, 0.0722)
"""Luminance weights of red, green and blue."""
DARKEST = 0.04045
"""Upper limit of the linear segment of sRGB."""
GLARE = 0.05
"""Flare term of the WCAG contrast ratio."""


@frozen
class Palette:
    """The colours of one theme. Created only by ``theme_file``.

    Attributes:
        name: "light", "dark", ...
        is_dark: Whether text is lighter than its background.
        colours: Role to "#rrggbb": surface, raised, text, muted, accent, line, good, bad, unsure,
            mention_1 to mention_8, heat_1 to heat_9 (low to high), ...
        heat_map: Name of the sequential colour map of attention.
    """

    name: str
    is_dark: bool
    colours: Mapping[str, str]
    heat_map: str

    def mention(self, index: int) -> str:
        """Return the mention colour at ``index``; the eight colours repeat."""
        return self.colours[f"mention_{index % MENTION_COLOURS + 1}"]

    def ink_on(self, ground: str) -> str:
        """Return "text" or "raised": the role with the higher contrast against a colour."""
        return max(("text", "raised"), key=lambda role: contrast(self.colours[role], ground))


def contrast(first: str, second: str) -> float:
    """Return the WCAG 2 contrast ratio of two colours "#rrggbb", [1, 21]."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + GLARE) / (low + GLARE)


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour, [0, 1]."""
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return sum(
        share * _linear(channel) for share, channel in zip(SHARES_OF_LIGHT, channels, strict=True)
    )


def _linear(channel: float) -> float:
    """Convert an sRGB channel to linear light."""
    return channel / 12.92 if channel <= DARKEST else ((channel + 0.055) / 1.055) ** 2.4
