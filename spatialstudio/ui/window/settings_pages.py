"""The pages of the settings, in order."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFormLayout, QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.plugins import (
    are_plugins_off_in_environment,
    plugins_switched_off_by,
    switch_plugins,
)
from spatialstudio.application.studio import EXTRACTOR_ID
from spatialstudio.domain.errors import StudioError
from spatialstudio.ui.framework.appearance import TEXT_PERCENTS, Appearance
from spatialstudio.ui.framework.commands import ALL_CONTROLS, RESET_LAYOUT
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.window_settings import Density, ThemeChoice
from spatialstudio.ui.framework.window_signals import PICTURES_PAGE
from spatialstudio.ui.gallery.commands import MARK_PICTURES
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import SPACE, FlowLayout, column, push_button, space
from spatialstudio.ui.widgets.fields import ComboBox
from spatialstudio.ui.widgets.texts import (
    TextLabel,
    Tone,
    tr,
)
from spatialstudio.ui.window.language_model_page import LanguageModelPage
from spatialstudio.ui.window.settings_dialog import SettingsPage
from spatialstudio.ui.window.shortcuts import ShortcutsPage

NAMES = {
    ThemeChoice.SYSTEM: "System theme",
    ThemeChoice.LIGHT: "Light",
    ThemeChoice.DARK: "Dark",
    ThemeChoice.HIGH_CONTRAST: "High contrast",
}


class AppearancePage(SettingsPage):
    """Lets the user choose theme, text size and density; changes apply at once."""

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
        show_all = QCheckBox(tr("Show all controls"))
        show_all.setToolTip(context.actions[ALL_CONTROLS].toolTip())
        show_all.setChecked(context.settings.density is Density.FULL)
        show_all.clicked.connect(context.actions[ALL_CONTROLS].trigger)
        reset = push_button(tr("Reset the dock layout"), context.actions[RESET_LAYOUT].trigger)
        form = QFormLayout(self, verticalSpacing=em(0.8), horizontalSpacing=em(1))
        form.setContentsMargins(0, 0, 0, 0)
        fields: tuple[tuple[str, QWidget], ...] = (
            (tr("Colours"), self._colours),
            (tr("Text size"), self._size),
            (tr("Controls"), show_all),
            (tr("Docks"), reset),
        )
        for name, field in fields:
            field.setAccessibleName(name)
            form.addRow(name, field)
        note = tr("Verdicts are also distinguished by shape and text, attention maps by lightness.")
        form.addRow(TextLabel(note, Tone.MUTED))

    def _show_colours(self) -> None:
        self._colours.setCurrentIndex(list(NAMES).index(self._appearance.choice))

    def _take_colours(self) -> None:
        self._appearance.choose(self._colours.currentData())

    def _take_size(self) -> None:
        self._appearance.use_text_percent(self._size.currentData())


class LibraryFolderForm(QWidget):
    """Lets the user choose the library folder, which applies at once and persists."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._storage = context.studio.storage
        self._moved = context.window_signals.library_moved
        folder, usual = self._storage.runs_folder, context.studio.paths.runs
        self._problem = TextLabel()
        self._problem.hide()
        choose = push_button(tr("Choose a folder…"), self._choose)
        open_folder = partial(QDesktopServices.openUrl, QUrl.fromLocalFile(str(folder)))
        show = push_button(tr("Open folder"), open_folder, name=tr("Show the library folder"))
        show.setEnabled(folder.is_dir())
        back = push_button(
            *(tr("Use the default folder"), lambda: self._use(None)), kind="quiet", tip=str(usual)
        )
        back.setVisible(folder != usual)
        meaning = tr("The gallery shows this folder. Existing pictures are not moved.")
        column(
            *(TextLabel(tr("Library folder"), Tone.HEADING), TextLabel(str(folder))),
            FlowLayout(em(0.4), choose, show, back),
            *(self._problem, TextLabel(meaning, Tone.MUTED)),
            within=self,
            gap=0.5,
        )

    def _choose(self) -> None:
        start = str(self._storage.runs_folder)
        folder = QFileDialog.getExistingDirectory(self, tr("Library folder"), start)
        if folder:
            self._use(Path(folder))

    def _use(self, folder: Path | None) -> None:
        try:
            self._storage.use_library(folder)
        except StudioError as error:
            self._problem.setText(f"{error.message} {error.hint}".strip())
            self._problem.show()
            return
        self._moved.emit()


class PicturesPage(SettingsPage):
    """Lets the user choose the library folder and the AI-generation mark."""

    title = PICTURES_PAGE

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        action = context.actions[MARK_PICTURES]
        box = QCheckBox(tr("Label new pictures as AI-generated"))
        box.setChecked(action.isChecked())
        box.clicked.connect(action.trigger)
        meaning = tr(
            "The label is an invisible metadata entry (XMP DigitalSourceType) that websites "
            "and other programs read. Existing pictures are not changed."
        )
        kept = tr(
            "Prompt, settings and verdicts are always stored in the file. A clean copy (File "
            "menu) contains neither these nor the label."
        )
        column(
            *(LibraryFolderForm(context), space(0.8), TextLabel(tr("AI label"), Tone.HEADING), box),
            *(TextLabel(meaning, Tone.MUTED), TextLabel(kept, Tone.MUTED), SPACE),
            within=self,
            gap=0.8,
        )


class PluginsPage(SettingsPage):
    """Lists the plugins, disabled ones with the reason, and lets the user choose an extractor."""

    title = "Plugins"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        plugins = context.studio.plugins
        parts: list[QWidget] = []
        if extractors := plugins.adapter_ids("extractor"):
            parts.append(TextLabel(tr("Relation extractor"), Tone.HEADING))
            parts.append(self._extractors_of(extractors))
        parts += [TextLabel(tr("Installed plugins"), Tone.HEADING), self._make_switch()]
        for plugin in plugins.loaded:
            parts.append(TextLabel(f"{plugin.name} {plugin.version}"))
            parts.append(TextLabel(", ".join(plugin.additions), Tone.MUTED))
        for disabled in plugins.disabled:
            words = tr("{name} {version} is disabled").format(
                name=disabled.name, version=disabled.version
            )
            parts += [TextLabel(words), TextLabel(disabled.reason, Tone.MUTED)]
        if plugins.switched_off_by:
            note = tr("Turned off by {source}.").format(source=plugins.switched_off_by)
            parts.append(TextLabel(note, Tone.MUTED))
        elif not (plugins.loaded or plugins.disabled):
            parts.append(TextLabel(tr("None."), Tone.MUTED))
        note = tr("Plugins are Python packages, found when the program starts.")
        column(*parts, TextLabel(note, Tone.MUTED), SPACE, within=self, gap=0.8)

    def _make_switch(self) -> QCheckBox:
        """Return the switch of all plugins, which takes effect at the next start."""
        studio = self._context.studio
        box = QCheckBox(tr("Load plugins when the program starts"))
        box.setChecked(not plugins_switched_off_by(studio.paths.settings))
        box.setEnabled(not are_plugins_off_in_environment())
        box.clicked.connect(self._switch)
        return box

    def _switch(self, on: bool) -> None:
        try:
            switch_plugins(self._context.studio.paths.settings, on=on)
        except StudioError as error:
            self._context.toasts.report(report_on(error, tr("Turning plugins on or off")))

    def _extractors_of(self, extractor_ids: Sequence[str]) -> ComboBox:
        box = ComboBox()
        box.setAccessibleName(tr("Relation extractor"))
        box.addItem(tr("Grammar"), EXTRACTOR_ID)
        for extractor_id in extractor_ids:
            box.addItem(extractor_id, extractor_id)
        box.setCurrentIndex(box.findData(self._context.studio.extractor_id))
        box.activated.connect(lambda: self._use(box.currentData()))
        return box

    def _use(self, extractor_id: str) -> None:
        """Parse prompts with this extractor from now on, including the current one."""
        self._context.studio.extractor_id = extractor_id
        self._context.settings.extractor = "" if extractor_id == EXTRACTOR_ID else extractor_id
        self._context.window_signals.extractor_chosen.emit()


def settings_pages(context: WindowContext, appearance: Appearance) -> tuple[SettingsPage, ...]:
    """Return new pages for one dialog."""
    language_model = LanguageModelPage(
        context.studio.language_model, context.window_signals.server_reported
    )
    return (
        AppearancePage(context, appearance),
        PicturesPage(context),
        ShortcutsPage(context.actions),
        language_model,
        PluginsPage(context),
    )
