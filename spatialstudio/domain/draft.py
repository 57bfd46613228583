"""What was typed and is not drawn yet."""

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.run_settings import RunSettings


@frozen
class Draft:
    """The form as the user left it. Made by the studio whenever it changes.

    Attributes:
        prompt: What was typed.
        model_id: The model chosen; empty for the first.
        scene: What it was read as, and what was changed by hand since; None while it says nothing.
        settings: What is set beside the prompt; None while it was never touched.
    """

    prompt: str = ""
    model_id: str = ""
    scene: SceneGraph | None = None
    settings: RunSettings | None = None
