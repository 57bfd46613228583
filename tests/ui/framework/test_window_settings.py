import pytest
from PySide6.QtCore import QByteArray

from spatialstudio.ui.framework.window_settings import (
    Density,
    ThemeChoice,
    WindowSettings,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "window.ini"


@pytest.fixture
def written(path):
    """The settings of an earlier start."""
    settings = WindowSettings(path)
    settings.theme = ThemeChoice.HIGH_CONTRAST
    settings.density = Density.SIMPLE
    settings.text_percent = 125
    settings.live_preview = False
    settings.earlier_prompts = ('a cat, "left" of a dog = 100 %; 鳥',)
    settings.geometry = QByteArray(b"\x00\x01place")
    settings.keep_layout("generate", QByteArray(b"\x00docks"))
    settings.keep_keys("quit", "Ctrl+,")
    settings.write()
    return settings


def test_a_first_start_finds_usual_values(path):
    settings = WindowSettings(path)
    assert (settings.theme, settings.density) == (ThemeChoice.SYSTEM, Density.SIMPLE)
    assert not settings.is_density_chosen
    assert settings.live_preview is None
    assert (settings.text_percent, settings.earlier_prompts) == (None, ())
    assert settings.geometry.isEmpty()


def test_everything_is_there_at_the_next_start(written, path):
    again = WindowSettings(path)
    assert (again.theme, again.density) == (ThemeChoice.HIGH_CONTRAST, Density.SIMPLE)
    assert again.is_density_chosen
    assert again.text_percent == 125
    assert again.live_preview is False
    assert again.earlier_prompts == ('a cat, "left" of a dog = 100 %; 鳥',)
    assert again.geometry == b"\x00\x01place"
    assert again.layout_of("generate") == b"\x00docks"
    assert again.keys_of("quit") == "Ctrl+,"


def test_layouts_can_be_forgotten(written):
    written.forget_layouts()
    assert written.layout_of("generate").isEmpty()
    assert written.keys_of("quit") == "Ctrl+,"


def test_no_keys_differ_from_the_usual_ones(path):
    settings = WindowSettings(path)
    settings.keep_keys("quit", "")
    assert settings.keys_of("quit") == ""
    settings.keep_keys("quit", None)
    assert settings.keys_of("quit") is None


def test_a_damaged_file_is_an_empty_one(path):
    path.parent.mkdir()
    path.write_bytes(b"\xff\x00[[[\ntheme=@Invalid()\ntext_percent=huge")
    settings = WindowSettings(path)
    assert (settings.theme, settings.text_percent) == (ThemeChoice.SYSTEM, None)
