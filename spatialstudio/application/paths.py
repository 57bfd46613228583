"""Locations of resources, runs, settings and logs."""

import os
from pathlib import Path

import platformdirs

from spatialstudio.domain.attention import ATTENTION_FOLDER
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.resources import resources_folder

APP_NAME = "Spatial Studio"
HOME_VARIABLE = "SPATIAL_STUDIO_HOME"
"""Overrides the base folder of all user data, for tests and portable installations."""


@frozen
class StudioPaths:
    """The folders of one installation, each created on first write.

    Attributes:
        resources: Data shipped with the application.
        runs: Library of finished runs.
        models: Models installed by the user.
        settings: Settings and drafts.
        logs: Log files.
        recovery: Runs that could not be written to the library.
        cache: Data that can be rebuilt: index, thumbnails, stored perceptions.
    """

    resources: Path
    runs: Path
    models: Path
    settings: Path
    logs: Path
    recovery: Path
    cache: Path

    @classmethod
    def usual(cls) -> "StudioPaths":
        """Return the default folders of the current user on this system."""
        home = os.environ.get(HOME_VARIABLE)
        if home:
            return cls.within(Path(home))
        dirs = platformdirs.PlatformDirs(APP_NAME, appauthor=False)
        return cls(
            resources=resources_folder(),
            runs=dirs.user_pictures_path / APP_NAME,
            models=dirs.user_data_path / "models",
            settings=dirs.user_config_path,
            logs=dirs.user_log_path,
            recovery=dirs.user_data_path / "recovery",
            cache=dirs.user_cache_path,
        )

    @classmethod
    def within(cls, home: Path) -> "StudioPaths":
        """Return folders inside ``home``; resources stay with the package."""
        return cls(
            resources=resources_folder(),
            runs=home / "runs",
            models=home / "models",
            settings=home / "settings",
            logs=home / "logs",
            recovery=home / "recovery",
            cache=home / "cache",
        )

    @property
    def model_folders(self) -> tuple[Path, ...]:
        """Folders searched for models, embedded models first."""
        return (self.resources / "models", self.models)

    @property
    def layers(self) -> Path:
        """Cache of recorded layers: a folder of each run, with one NumPy file a layer."""
        return self.cache / ATTENTION_FOLDER

    @property
    def surroundings(self) -> Surroundings:
        """Paths and settings passed to adapters."""
        return Surroundings(
            resources=self.resources,
            model_folders=self.model_folders,
            cache=self.cache,
            settings=self.settings,
        )
