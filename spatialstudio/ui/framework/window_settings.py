"""What the window remembers between starts, in one file."""

from enum import Enum
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

FILE_NAME = "window.ini"
OFF = "off"
LAYOUT_VERSION = 2
"""Rises when docks are renamed or regrouped: older layouts are then let go."""


class ThemeChoice(Enum):
    """The colours that can be chosen; the value is the theme's file, or the desktop's wish."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"
    HIGH_CONTRAST = "high_contrast"


class Density(Enum):
    """How much is on show; what is hidden can still be had from the palette."""

    SIMPLE = "simple"
    FULL = "full"


class WindowSettings:
    """Reads and writes the window's state; a missing or damaged file is an empty one.

    Args:
        path: The file; it and its folder are made when something is written.
    """

    def __init__(self, path: Path) -> None:
        self._file = QSettings(str(path), QSettings.Format.IniFormat)

    @property
    def theme(self) -> ThemeChoice:
        """The colours the user chose."""
        known = {choice.value: choice for choice in ThemeChoice}
        return known.get(self._text("theme"), ThemeChoice.SYSTEM)

    @theme.setter
    def theme(self, choice: ThemeChoice) -> None:
        self._file.setValue("theme", choice.value)

    @property
    def density(self) -> Density:
        """How much the user wants to see; little until something was chosen."""
        known = {choice.value: choice for choice in Density}
        return known.get(self._text("density"), Density.SIMPLE)

    @density.setter
    def density(self, density: Density) -> None:
        self._file.setValue("density", density.value)

    @property
    def is_density_chosen(self) -> bool:
        """Whether the user ever said how much to show."""
        return bool(self._text("density"))

    @property
    def text_percent(self) -> int | None:
        """Size of the text in percent of the usual; None when the user never chose one."""
        text = self._text("text_percent")
        return int(text) if text.isdecimal() else None

    @text_percent.setter
    def text_percent(self, percent: int) -> None:
        self._file.setValue("text_percent", str(percent))

    @property
    def marks_pictures(self) -> bool:
        """Whether new pictures say that a model drew them; so until the user says otherwise."""
        return self._text("marks_pictures") != OFF

    @marks_pictures.setter
    def marks_pictures(self, marks: bool) -> None:
        self._file.setValue("marks_pictures", "" if marks else OFF)

    @property
    def second_detector(self) -> str:
        """Id of the detector that gives a second opinion; empty for none."""
        return self._text("second_detector")

    @second_detector.setter
    def second_detector(self, detector_id: str) -> None:
        self._file.setValue("second_detector", detector_id)

    @property
    def extractor(self) -> str:
        """Id of a plugin's relation extractor that reads prompts; empty for the grammar."""
        return self._text("extractor")

    @extractor.setter
    def extractor(self, extractor_id: str) -> None:
        self._file.setValue("extractor", extractor_id)

    @property
    def earlier_prompts(self) -> tuple[str, ...]:
        """Prompts that were drawn, the oldest first."""
        value = self._file.value("earlier_prompts")
        texts = value if isinstance(value, list) else [value]  # Qt gives a list of one as its item
        return tuple(text for text in texts if isinstance(text, str))

    @earlier_prompts.setter
    def earlier_prompts(self, texts: tuple[str, ...]) -> None:
        self._file.setValue("earlier_prompts", list(texts))

    @property
    def workspace(self) -> str:
        """Id of the workspace that was open last; empty at the first start."""
        return self._text("workspace")

    @workspace.setter
    def workspace(self, workspace_id: str) -> None:
        self._file.setValue("workspace", workspace_id)

    @property
    def geometry(self) -> QByteArray:
        """Where the window stood, as Qt tells it; empty at the first start."""
        return self._bytes("geometry")

    @geometry.setter
    def geometry(self, geometry: QByteArray) -> None:
        self._file.setValue("geometry", geometry)

    def layout_of(self, workspace_id: str) -> QByteArray:
        """Return where the docks of a workspace stood; empty when it was never left."""
        return self._bytes(f"layout/{LAYOUT_VERSION}/{workspace_id}")

    def keep_layout(self, workspace_id: str, layout: QByteArray) -> None:
        """Remember where the docks of a workspace stand."""
        self._file.setValue(f"layout/{LAYOUT_VERSION}/{workspace_id}", layout)

    def forget_layouts(self) -> None:
        """Let every workspace begin with its own arrangement again."""
        self._file.remove("layout")

    def keys_of(self, command_id: str) -> str | None:
        """Return the keys that the user gave a command; None where the usual ones hold."""
        name = f"keys/{command_id}"
        return self._text(name) if self._file.contains(name) else None

    def keep_keys(self, command_id: str, keys: str | None) -> None:
        """Remember the user's keys for a command; None for the usual ones."""
        if keys is None:
            self._file.remove(f"keys/{command_id}")
        else:
            self._file.setValue(f"keys/{command_id}", keys)

    def write(self) -> None:
        """Write to disk now, whole or not at all."""
        self._file.sync()

    def _text(self, name: str) -> str:
        value = self._file.value(name, "")
        return value if isinstance(value, str) else ""

    def _bytes(self, name: str) -> QByteArray:
        value = self._file.value(name)
        return value if isinstance(value, QByteArray) else QByteArray()
