import pytest

from spatialstudio.application.paths import resources_folder
from spatialstudio.application.themes import ROLES, load_theme
from spatialstudio.domain.errors import SettingsError

THEMES = resources_folder() / "themes"


@pytest.fixture
def theme_text():
    return (THEMES / "light.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["dark", "light"])
def test_a_shipped_theme_names_every_role(name):
    assert set(ROLES) <= set(load_theme(THEMES / f"{name}.toml").colours)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('muted = "#596275"', "", "muted is missing"),
        ('muted = "#596275"', 'muted = "grey"', "grey"),
        ('"#000004", ', "", "needs 9 stops"),
        ("is_dark = false", "", "is_dark"),
        ("[colours]", "[colours", "light.toml"),
    ],
    ids=["missing colour", "not a colour", "short heat map", "missing key", "not toml"],
)
def test_an_incomplete_theme_names_the_missing_role(tmp_path, theme_text, old, new, said):
    path = tmp_path / "light.toml"
    path.write_text(theme_text.replace(old, new), encoding="utf-8")
    with pytest.raises(SettingsError, match=said):
        load_theme(path)


def test_a_missing_theme_is_a_settings_error(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        load_theme(tmp_path / "none.toml")
