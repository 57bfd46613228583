"""The window's theme and text size, as set by the user."""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication

from spatialstudio.application.themes import load_theme
from spatialstudio.domain.palette import Palette
from spatialstudio.domain.resources import resources_folder
from spatialstudio.ui.framework.window_settings import ThemeChoice, WindowSettings
from spatialstudio.ui.theme.fonts import POINT_SIZE
from spatialstudio.ui.theme.qt_palette import dress
from spatialstudio.ui.theme.theme import Theme

TEXT_PERCENTS = (80, 90, 100, 110, 125, 150, 175, 200)
USUAL_PERCENT = 100


class Appearance(QObject):
    """Applies the theme and text size from the settings, and again when they change.

    Emits ``chosen`` when the theme is chosen or follows the desktop, and ``text_resized`` when the
    text size changes, so that size-dependent layouts can be rebuilt.

    Args:
        application: Receives the palette and the font.
        settings: Stores the user's choices.
    """

    chosen = Signal()
    text_resized = Signal()

    def __init__(self, application: QApplication, settings: WindowSettings) -> None:
        super().__init__()
        self._application = application
        self._settings = settings
        self.theme = Theme(palette_of(self._theme_for_desktop()), resources_folder() / "icons")
        self.theme.changed.connect(self._dress)
        application.styleHints().colorSchemeChanged.connect(self._follow_desktop)
        self._size_text()
        self._dress()

    @property
    def choice(self) -> ThemeChoice:
        """The chosen theme."""
        return self._settings.theme

    def choose(self, choice: ThemeChoice) -> None:
        """Apply a theme and store it."""
        self._settings.theme = choice
        self._take_colours()

    @property
    def text_percent(self) -> int:
        """Text size in percent of the default."""
        chosen = self._settings.text_percent
        return USUAL_PERCENT if chosen is None else min(max(chosen, TEXT_PERCENTS[0]), 200)

    def use_text_percent(self, percent: int) -> None:
        """Set the text size in percent and store it."""
        if percent != self.text_percent:
            self._settings.text_percent = percent
            self._size_text()
            self.text_resized.emit()

    def step_text(self, steps: int) -> None:
        """Step to the next larger or smaller text size, within the available sizes."""
        nearest = min(TEXT_PERCENTS, key=lambda percent: abs(percent - self.text_percent))
        place = TEXT_PERCENTS.index(nearest) + steps
        self.use_text_percent(TEXT_PERCENTS[min(max(place, 0), len(TEXT_PERCENTS) - 1)])

    def _theme_for_desktop(self) -> ThemeChoice:
        if self.choice is not ThemeChoice.SYSTEM:
            return self.choice
        scheme = self._application.styleHints().colorScheme()
        return ThemeChoice.DARK if scheme is Qt.ColorScheme.Dark else ThemeChoice.LIGHT

    def _follow_desktop(self) -> None:
        if self.choice is ThemeChoice.SYSTEM:
            self._take_colours()

    def _take_colours(self) -> None:
        palette = palette_of(self._theme_for_desktop())
        if palette.name != self.theme.palette.name:
            self.theme.use(palette)
        self.chosen.emit()

    def _size_text(self) -> None:
        font = self._application.font()
        font.setPointSizeF(POINT_SIZE * self.text_percent / USUAL_PERCENT)
        self._application.setFont(font)

    def _dress(self) -> None:
        dress(self._application, self.theme)


def palette_of(choice: ThemeChoice) -> Palette:
    """Return the palette of a built-in theme."""
    return load_theme(resources_folder() / "themes" / f"{choice.value}.toml")
