"""Decomposition of a prompt into assertions, in the order of its words."""

from spatialstudio.domain.assertion import Assertions
from spatialstudio.domain.ports import AssertionReader, CancelToken
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.science.questions.da_score import assertions_of
from spatialstudio.science.refine.prompt_parts import in_prompt_order


def decompose(scene: SceneGraph, reader: AssertionReader | None, token: CancelToken) -> Assertions:
    """Return the assertions of a prompt in the order of its words.

    Args:
        scene: Scene of the prompt.
        reader: Reads the assertions; None to derive them from the scene.
        token: Checked while waiting for a language model.

    Raises:
        Cancelled: The token was cancelled.
    """
    asserted = reader.read(scene, token) if reader else assertions_of(scene)
    return in_prompt_order(asserted, scene)
