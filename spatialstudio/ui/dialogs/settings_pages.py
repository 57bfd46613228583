"""The pages of the settings, in order."""

from spatialstudio.ui.appearance import Appearance
from spatialstudio.ui.dialogs.appearance_page import AppearancePage
from spatialstudio.ui.dialogs.language_model_page import LanguageModelPage
from spatialstudio.ui.dialogs.pictures_page import PicturesPage
from spatialstudio.ui.dialogs.settings_dialog import SettingsPage
from spatialstudio.ui.dialogs.shortcuts_page import ShortcutsPage
from spatialstudio.ui.panel_api import WindowContext


def settings_pages(context: WindowContext, appearance: Appearance) -> tuple[SettingsPage, ...]:
    """Return new pages for one dialog."""
    language_model = LanguageModelPage(
        context.studio.language_model, context.switchboard.server_told
    )
    return (
        AppearancePage(context, appearance),
        PicturesPage(context),
        ShortcutsPage(context.actions),
        language_model,
    )
