"""What was typed and is not drawn yet."""

from dataclasses import dataclass

from spatialstudio.domain.run_settings import RunSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The form as the user left it. Made by the studio whenever it changes.

    Attributes:
        prompt: What was typed.
        model_id: The model chosen; empty for the first.
        settings: What is set beside the prompt; None while it was never touched.
    """

    prompt: str = ""
    model_id: str = ""
    settings: RunSettings | None = None
