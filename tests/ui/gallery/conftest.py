"""The gallery of a window that has drawn one run with its baseline."""

import pytest

from spatialstudio.ui.gallery.gallery_panel import GalleryPanel
from spatialstudio.ui.window.workspaces import GALLERY


@pytest.fixture
def gallery(qtbot, drawn, studio):
    """The grid, the stack of run and baseline in sight."""
    qtbot.waitUntil(lambda: studio.session.baseline.path is not None)
    drawn.use_workspace(GALLERY)
    panel = drawn.findChild(GalleryPanel)
    qtbot.waitUntil(lambda: panel.grid.current is not None)
    qtbot.waitUntil(lambda: panel.grid.face(panel.grid.current) is not None)
    return panel


@pytest.fixture
def panel(gallery):
    """What most tests here are about."""
    return gallery
