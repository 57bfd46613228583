"""Opens the dialogs that belong to no dock; each is imported when it is first asked for."""

from PySide6.QtWidgets import QWidget

from spatialstudio.domain.resources import resources_folder
from spatialstudio.ui.actions import Actions
from spatialstudio.ui.appearance import Appearance
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.toasts import Toasts


def open_palette(actions: Actions, window: QWidget) -> None:
    """Let a command be found by its letters."""
    from spatialstudio.ui.dialogs.command_palette import CommandPalette

    CommandPalette(actions, window).open()


def open_shortcuts(actions: Actions, window: QWidget) -> None:
    """Show all keys on one sheet."""
    from spatialstudio.ui.dialogs.shortcut_sheet import ShortcutSheet

    ShortcutSheet(actions, window).open()


def open_tour(looks: Appearance, window: QWidget) -> None:
    """Show the tour, in pictures as light or dark as the window."""
    from spatialstudio.ui.dialogs.tour_dialog import TourDialog

    TourDialog(resources_folder(), looks.theme, window).open()


def open_messages(toasts: Toasts, window: QWidget) -> None:
    """Show earlier messages."""
    from spatialstudio.ui.dialogs.message_list import MessageList

    MessageList(toasts.earlier, window).open()


def open_settings(context: WindowContext, looks: Appearance, window: QWidget, page: str) -> None:
    """Open the settings, at the page with this title; at the first for none."""
    from spatialstudio.ui.dialogs.settings_dialog import SettingsDialog
    from spatialstudio.ui.dialogs.settings_pages import settings_pages

    dialog = SettingsDialog(settings_pages(context, looks), window)
    dialog.show_page(page)
    dialog.open()


def settings_in_sight(window: QWidget) -> tuple[str, ...]:
    """Return the titles of the pages of the settings that are open."""
    from spatialstudio.ui.dialogs.settings_dialog import SettingsDialog

    dialogs = window.findChildren(SettingsDialog)
    return tuple(dialog.page for dialog in dialogs if dialog.isVisible())
