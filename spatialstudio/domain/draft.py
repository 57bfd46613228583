"""What was typed and is not drawn yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The form as the user left it. Made by the studio whenever it changes.

    Attributes:
        prompt: What was typed.
        model_id: The model chosen; empty for the first.
        seed: None when it was left to chance.
        steps: None for the model's own; so is the strength.
        strength: Of the guidance.
        is_guided: Whether the layout is held.
    """

    prompt: str = ""
    model_id: str = ""
    seed: int | None = None
    steps: int | None = None
    strength: float | None = None
    is_guided: bool = True
