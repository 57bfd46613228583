"""How the window looks: colours, size of the text, how much is on show."""

from PySide6.QtWidgets import QCheckBox, QFormLayout, QPushButton, QWidget

from spatialstudio.ui.appearance import TEXT_PERCENTS, Appearance
from spatialstudio.ui.commands.frame import ALL_CONTROLS, RESET_LAYOUT
from spatialstudio.ui.dialogs.settings_dialog import SettingsPage
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.fields import ComboBox
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone
from spatialstudio.ui.window_settings import Density, ThemeChoice

NAMES = {
    ThemeChoice.SYSTEM: "As the desktop",
    ThemeChoice.LIGHT: "Light",
    ThemeChoice.DARK: "Dark",
    ThemeChoice.HIGH_CONTRAST: "High contrast",
}


class AppearancePage(SettingsPage):
    """Lets the user choose the looks; each choice is seen at once."""

    title = "Appearance"

    def __init__(self, context: WindowContext, appearance: Appearance) -> None:
        super().__init__()
        self._appearance = appearance
        self._colours = ComboBox()
        for choice, name in NAMES.items():
            self._colours.addItem(tr(name), choice)
        self._show_colours()
        appearance.chosen.connect(self._show_colours)
        self._colours.activated.connect(self._take_colours)
        self._size = ComboBox()
        for percent in sorted({*TEXT_PERCENTS, appearance.text_percent}):
            self._size.addItem(f"{percent} %", percent)
        self._size.setCurrentText(f"{appearance.text_percent} %")
        self._size.activated.connect(self._take_size)
        self._all = QCheckBox(tr("Show all controls"))
        self._all.setToolTip(context.actions[ALL_CONTROLS].toolTip())
        self._all.setChecked(context.settings.density is Density.FULL)
        self._all.clicked.connect(context.actions[ALL_CONTROLS].trigger)
        reset = QPushButton(tr("Put the docks back in their places"))
        reset.clicked.connect(context.actions[RESET_LAYOUT].trigger)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(em(0.8))
        form.setHorizontalSpacing(em(1))
        self._add(form, tr("Colours"), self._colours)
        self._add(form, tr("Size of the text"), self._size)
        self._add(form, tr("Controls"), self._all)
        self._add(form, tr("Docks"), reset)
        note = tr("Outcomes differ by shape and word as well, and maps by lightness.")
        form.addRow(TextLabel(note, Tone.MUTED))

    def _add(self, form: QFormLayout, name: str, field: QWidget) -> None:
        field.setAccessibleName(name)
        form.addRow(name, field)

    def _show_colours(self) -> None:
        self._colours.setCurrentIndex(list(NAMES).index(self._appearance.choice))

    def _take_colours(self) -> None:
        self._appearance.choose(self._colours.currentData())

    def _take_size(self) -> None:
        self._appearance.use_text_percent(self._size.currentData())
