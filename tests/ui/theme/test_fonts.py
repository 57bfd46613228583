import pytest

from spatialstudio.application.paths import resources_folder
from spatialstudio.ui.theme.fonts import FAMILY, use_bundled_font


@pytest.fixture
def restored_font(qapp):
    before = qapp.font()
    yield
    qapp.setFont(before)


def test_the_bundled_typeface_is_used(qapp, restored_font):
    use_bundled_font(qapp, resources_folder() / "fonts")
    assert qapp.font().families()[0] == FAMILY


def test_an_empty_folder_keeps_the_systems_typeface_behind_it(qapp, restored_font, tmp_path):
    before = qapp.font().families()
    use_bundled_font(qapp, tmp_path)
    assert qapp.font().families()[-len(before) :] == before
