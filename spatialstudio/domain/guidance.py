"""Descriptions of guidance methods, shown in the window and the terminal."""

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.options import Option


@frozen
class MethodCard:
    """Description of a guidance method, part of its registration as a ``GuidanceMethod``.

    Attributes:
        id: Stable name in files and in the terminal: "boxdiff".
        label: Name in the window: "BoxDiff".
        description: One sentence: what its loss lowers.
        options: Settings specific to this method, in display order.
    """

    id: str
    label: str
    description: str
    options: tuple[Option, ...] = ()

    def option(self, option_id: str) -> Option | None:
        """Return the option with this id, or None."""
        return next((each for each in self.options if each.id == option_id), None)
