"""Where things are: shipped data, the user's runs, settings and logs."""

import os
from pathlib import Path

import platformdirs

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.resources import resources_folder

APP_NAME = "Spatial Studio"
HOME_VARIABLE = "SPATIAL_STUDIO_HOME"
"""Names one folder for everything of the user's; for tests and portable installations."""


@frozen
class StudioPaths:
    """The folders of one installation. Nothing is made until something is written there.

    Attributes:
        resources: Data shipped with the program.
        runs: Finished runs, the user's pictures.
        models: Models that the user adds.
        settings: Settings and drafts.
        logs: What the program tells about itself.
        recovery: Runs that could not be written where they belong.
        cache: What can be made again: index, thumbnails, what was seen in pictures.
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
        """Return the folders of this user on this system."""
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
        """Return folders that all lie in ``home``, apart from the shipped data."""
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
        """Where models are looked for, the embedded ones first."""
        return (self.resources / "models", self.models)

    @property
    def surroundings(self) -> Surroundings:
        """What adapters may know of it."""
        return Surroundings(
            resources=self.resources,
            model_folders=self.model_folders,
            cache=self.cache,
            settings=self.settings,
        )
