"""Guidance methods as the window and the terminal describe them."""

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.options import Option


@frozen
class MethodCard:
    """Description of a guidance method; its registration, a ``GuidanceMethod``, adds the rest.

    Attributes:
        id: Stable name in files and in the terminal: "boxdiff".
        label: Name in the window: "BoxDiff".
        description: One sentence: what it lowers.
        options: Settings that only this method has, in the order in which they are offered.
    """

    id: str
    label: str
    description: str
    options: tuple[Option, ...] = ()

    def option(self, option_id: str) -> Option | None:
        """Return the option with this id; None where the method has no such option."""
        return next((each for each in self.options if each.id == option_id), None)
