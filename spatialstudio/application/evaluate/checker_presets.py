"""Presets of the checker: the built-in ones, and calibrated ones with the evidence for them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from spatialstudio.domain.audit import AuditFiles
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.judge_choice import is_judge_set_name
from spatialstudio.domain.ports import RecordedRuns
from spatialstudio.domain.safe_files import is_path_component
from spatialstudio.domain.verdict import CHECKER_PRESETS, CheckerSettings

ENDING = ".json"


class CheckerPresets:
    """Reads and writes presets; window, terminal and benchmarks choose them by name.

    Args:
        folder: Folder of the user's presets, a settings file each.
        runs: Reads settings files.
        files: Writes them with their evidence.
    """

    def __init__(
        self, folder: Path, runs: Callable[[], RecordedRuns], files: Callable[[], AuditFiles]
    ) -> None:
        self._folder = folder
        self._runs = runs
        self._files = files

    @property
    def own(self) -> tuple[str, ...]:
        """Names of the user's presets, sorted."""
        return tuple(sorted(path.stem for path in self._folder.glob(f"*{ENDING}")))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the built-in presets, then the user's."""
        return (*CHECKER_PRESETS, *(name for name in self.own if name not in CHECKER_PRESETS))

    def settings(self, name: str) -> CheckerSettings:
        """Return the settings of a preset, or of a settings file.

        Args:
            name: Name of the preset, or path of the file.

        Raises:
            SettingsError: There is no such preset or file, or it is invalid.
        """
        if name in CHECKER_PRESETS:
            return CHECKER_PRESETS[name]
        if name in self.own:
            return replace(self._runs().read_settings(self.file_of(name)), preset=name)
        return self._runs().read_settings(Path(name))

    def save(self, name: str, settings: CheckerSettings, evidence: Mapping[str, object]) -> Path:
        """Save a preset with the evidence for it, in place of an older one of this name.

        Raises:
            SettingsError: The name is invalid, or that of a built-in preset.
            StoreError: The folder cannot be written.
        """
        is_valid = is_judge_set_name(name) and is_path_component(f"{name}{ENDING}")
        if not is_valid or name.casefold() in CHECKER_PRESETS:
            raise SettingsError(
                f'A preset of the checker cannot have the name "{name}".',
                hint="Choose another name of up to 60 letters, digits and spaces.",
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self.file_of(name)
        self._files().write_settings(settings, evidence, path, overwrite=True)
        return path

    def file_of(self, name: str) -> Path:
        """Return the settings file of the user's preset with this name."""
        return self._folder / f"{name}{ENDING}"
