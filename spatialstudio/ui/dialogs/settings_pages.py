"""The pages of the settings, in order."""

from spatialstudio.ui.appearance import Appearance
from spatialstudio.ui.dialogs.appearance_page import AppearancePage
from spatialstudio.ui.dialogs.settings_dialog import SettingsPage
from spatialstudio.ui.dialogs.shortcuts_page import ShortcutsPage
from spatialstudio.ui.panel_api import WindowContext


def settings_pages(context: WindowContext, appearance: Appearance) -> tuple[SettingsPage, ...]:
    """Return new pages for one dialog."""
    return (AppearancePage(context, appearance), ShortcutsPage(context.actions))
