"""The form of a run in a whole window, with all its fields and a prompt to draw."""

import pytest

from spatialstudio.ui.framework.window_settings import Density
from tests.ui.scripted_engine import PROMPT


@pytest.fixture
def panel(window):
    window.generation.use_density(Density.FULL)
    window.prompt.use_prompt(PROMPT)
    return window.generation
