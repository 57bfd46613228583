"""Paths for a user, a test and an installed package."""

from pathlib import Path

from spatialstudio.application.paths import (
    HOME_VARIABLE,
    StudioPaths,
    resources_folder,
)


def test_the_shipped_data_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (resources_folder() / "models").is_dir()


def test_one_variable_moves_all_user_folders(tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    paths = StudioPaths.usual()
    own = {paths.runs, paths.models, paths.settings, paths.logs}
    assert {path.parent for path in own} == {tmp_path}
    assert len(own) == 4


def test_a_users_folders_are_named_after_the_program(monkeypatch):
    monkeypatch.delenv(HOME_VARIABLE, raising=False)
    paths = StudioPaths.usual()
    assert paths.runs.name == "Spatial Studio"
    assert all("Spatial Studio" in str(path) for path in (paths.settings, paths.logs))


def test_embedded_models_come_first():
    paths = StudioPaths.within(Path("home"))
    assert paths.model_folders == (resources_folder() / "models", Path("home") / "models")


def test_reading_paths_creates_no_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    assert not StudioPaths.usual().runs.exists()
    assert not (tmp_path / "home").exists()
