"""Where pictures are kept, and what new ones say of themselves."""

from PySide6.QtWidgets import QCheckBox, QVBoxLayout

from spatialstudio.ui.commands.gallery import MARK_PICTURES
from spatialstudio.ui.dialogs.library_folder_form import LibraryFolderForm
from spatialstudio.ui.dialogs.settings_dialog import SettingsPage
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.switchboard import PICTURES_PAGE
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone


class PicturesPage(SettingsPage):
    """Lets the user choose where pictures are kept, and whether they say that a model drew them."""

    title = PICTURES_PAGE

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        action = context.actions[MARK_PICTURES]
        box = QCheckBox(tr("Say in new pictures that a model drew them"))
        box.setChecked(action.isChecked())
        box.clicked.connect(action.trigger)
        meaning = tr(
            "The mark is a line in the file (XMP, DigitalSourceType) that websites and other "
            "programs look for; nothing is seen in the picture. Pictures that are kept already "
            "stay as they are."
        )
        kept = tr(
            "Prompt, settings and verdicts stand in the file in any case. A clean copy from the "
            "menu File tells neither them nor the mark."
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.8))
        column.addWidget(LibraryFolderForm(context))
        column.addSpacing(em(0.8))
        column.addWidget(TextLabel(tr("Marks"), Tone.HEADING))
        column.addWidget(box)
        column.addWidget(TextLabel(meaning, Tone.MUTED))
        column.addWidget(TextLabel(kept, Tone.MUTED))
        column.addStretch()
