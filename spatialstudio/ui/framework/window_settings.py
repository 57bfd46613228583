"""Window settings stored between starts, in one file."""

from enum import Enum
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

FILE_NAME = "window.ini"
ON = "on"
OFF = "off"
LAYOUT_VERSION = 2
"""Incremented when docks are renamed or regrouped; older layouts are discarded."""


class ThemeChoice(Enum):
    """Available themes; the value is the theme's file, or follows the desktop."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"
    HIGH_CONTRAST = "high_contrast"


class Density(Enum):
    """How many controls are shown; hidden ones stay reachable from the command palette."""

    SIMPLE = "simple"
    FULL = "full"


class WindowSettings:
    """Reads and writes the window's settings; a missing or damaged file counts as empty.

    Args:
        path: The file; it and its folder are created on the first write.
    """

    def __init__(self, path: Path) -> None:
        self._file = QSettings(str(path), QSettings.Format.IniFormat)

    @property
    def theme(self) -> ThemeChoice:
        """The chosen theme."""
        known = {choice.value: choice for choice in ThemeChoice}
        return known.get(self._text("theme"), ThemeChoice.SYSTEM)

    @theme.setter
    def theme(self, choice: ThemeChoice) -> None:
        self._file.setValue("theme", choice.value)

    @property
    def density(self) -> Density:
        """The chosen density; the simple one by default."""
        known = {choice.value: choice for choice in Density}
        return known.get(self._text("density"), Density.SIMPLE)

    @density.setter
    def density(self, density: Density) -> None:
        self._file.setValue("density", density.value)

    @property
    def is_density_chosen(self) -> bool:
        """Whether the user has chosen a density."""
        return bool(self._text("density"))

    @property
    def text_percent(self) -> int | None:
        """Text size in percent of the default; None if never chosen."""
        text = self._text("text_percent")
        return int(text) if text.isdecimal() else None

    @text_percent.setter
    def text_percent(self, percent: int) -> None:
        self._file.setValue("text_percent", str(percent))

    @property
    def marks_pictures(self) -> bool:
        """Whether new pictures carry an AI-generation mark; True by default."""
        return self._text("marks_pictures") != OFF

    @marks_pictures.setter
    def marks_pictures(self, marks: bool) -> None:
        self._file.setValue("marks_pictures", "" if marks else OFF)

    @property
    def live_preview(self) -> bool | None:
        """Whether the sketch draws live previews; None if never chosen."""
        return {ON: True, OFF: False}.get(self._text("live_preview"))

    @live_preview.setter
    def live_preview(self, draws: bool) -> None:
        self._file.setValue("live_preview", ON if draws else OFF)

    @property
    def second_detector(self) -> str:
        """Id of the second detector; empty for none."""
        return self._text("second_detector")

    @second_detector.setter
    def second_detector(self, detector_id: str) -> None:
        self._file.setValue("second_detector", detector_id)

    @property
    def judge_set(self) -> str:
        """Id of the judge set; empty for the default by the picture's origin."""
        return self._text("judge_set")

    @judge_set.setter
    def judge_set(self, set_id: str) -> None:
        self._file.setValue("judge_set", set_id)

    @property
    def checker(self) -> str:
        """Name of the checker's preset; empty for the published one."""
        return self._text("checker")

    @checker.setter
    def checker(self, name: str) -> None:
        self._file.setValue("checker", name)

    @property
    def extractor(self) -> str:
        """Id of a plugin's relation extractor for prompts; empty for the grammar."""
        return self._text("extractor")

    @extractor.setter
    def extractor(self, extractor_id: str) -> None:
        self._file.setValue("extractor", extractor_id)

    @property
    def earlier_prompts(self) -> tuple[str, ...]:
        """Prompt history, the oldest first."""
        value = self._file.value("earlier_prompts")
        texts = value if isinstance(value, list) else [value]  # Qt unwraps a list of one
        return tuple(text for text in texts if isinstance(text, str))

    @earlier_prompts.setter
    def earlier_prompts(self, texts: tuple[str, ...]) -> None:
        self._file.setValue("earlier_prompts", list(texts))

    @property
    def workspace(self) -> str:
        """Id of the last open workspace; empty at the first start."""
        return self._text("workspace")

    @workspace.setter
    def workspace(self, workspace_id: str) -> None:
        self._file.setValue("workspace", workspace_id)

    @property
    def benchmark(self) -> str:
        """Folder of the last open benchmark; empty for none."""
        return self._text("benchmark")

    @benchmark.setter
    def benchmark(self, folder: str) -> None:
        self._file.setValue("benchmark", folder)

    @property
    def export_folder(self) -> Path:
        """Folder of the last export; the home folder at first."""
        return Path(self._text("export_folder") or Path.home())

    @export_folder.setter
    def export_folder(self, folder: Path) -> None:
        self._file.setValue("export_folder", str(folder))

    @property
    def benchmark_run(self) -> str:
        """Extent and engines of the last benchmark run, JSON; empty for none."""
        return self._text("benchmark_run")

    @benchmark_run.setter
    def benchmark_run(self, text: str) -> None:
        self._file.setValue("benchmark_run", text)

    @property
    def geometry(self) -> QByteArray:
        """Geometry of the window in Qt's format; empty at the first start."""
        return self._bytes("geometry")

    @geometry.setter
    def geometry(self, geometry: QByteArray) -> None:
        self._file.setValue("geometry", geometry)

    def layout_of(self, workspace_id: str) -> QByteArray:
        """Return the stored dock layout of a workspace; empty if none is stored."""
        return self._bytes(f"layout/{LAYOUT_VERSION}/{workspace_id}")

    def keep_layout(self, workspace_id: str, layout: QByteArray) -> None:
        """Store the dock layout of a workspace."""
        self._file.setValue(f"layout/{LAYOUT_VERSION}/{workspace_id}", layout)

    def forget_layouts(self) -> None:
        """Reset every workspace to its default dock layout."""
        self._file.remove("layout")

    def keys_of(self, command_id: str) -> str | None:
        """Return the custom shortcut of a command; None for the default."""
        name = f"keys/{command_id}"
        return self._text(name) if self._file.contains(name) else None

    def keep_keys(self, command_id: str, keys: str | None) -> None:
        """Store the custom shortcut of a command; None for the default."""
        if keys is None:
            self._file.remove(f"keys/{command_id}")
        else:
            self._file.setValue(f"keys/{command_id}", keys)

    def write(self) -> None:
        """Write to disk now, completely or not at all."""
        self._file.sync()

    def _text(self, name: str) -> str:
        value = self._file.value(name, "")
        return value if isinstance(value, str) else ""

    def _bytes(self, name: str) -> QByteArray:
        value = self._file.value(name)
        return value if isinstance(value, QByteArray) else QByteArray()
