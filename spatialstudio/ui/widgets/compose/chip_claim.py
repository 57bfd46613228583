"""What a chip says of one relation."""

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.compose.relation_wheel import Choice
from spatialstudio.ui.widgets.compose.word_handle import ThingWord

USUAL = 1.0
"""Weight of a relation that nobody has weighed."""


@frozen
class ChipClaim:
    """What a chip shows.

    Attributes:
        ends: The thing placed, then what it is placed against; two for "between".
        chosen: The relation.
        inverse: The relation with the sides turned.
        weight: How much it counts; 1 is usual.
        is_muted: Whether guidance passes it over.
        doubt: Why it cannot hold; empty when nothing speaks against it.
        fix: The step that mends that, in words.
        why: Why it stands here.
        is_first: Whether none ranks above it.
        is_last: Whether none ranks below it.
    """

    ends: tuple[ThingWord, ...]
    chosen: Choice
    inverse: Choice
    weight: float = USUAL
    is_muted: bool = False
    doubt: str = ""
    fix: str = ""
    why: str = ""
    is_first: bool = False
    is_last: bool = False

    @property
    def sentence(self) -> str:
        """The claim in words."""
        return self.said(self.chosen, self.ends)

    def said(self, choice: Choice, ends: tuple[ThingWord, ...]) -> str:
        """Return another claim in words."""
        subject, *others = (end.phrase for end in ends)
        return f"{subject} {choice.phrase} {' and '.join(others)}"

    @property
    def remarks(self) -> str:
        """What the chip's look says beside the claim, for screen readers."""
        said = [self.doubt]
        if self.is_muted:
            said.append(tr("Muted."))
        if self.weight != USUAL:
            said.append(tr("Weight {weight}.").format(weight=f"{self.weight:g}"))
        return " ".join(part for part in [*said, self.why] if part)
