"""Where finished pictures are kept: the folder, another one, back to the usual one."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QPushButton, QVBoxLayout, QWidget

from spatialstudio.domain.errors import StudioError
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.flow_layout import FlowLayout
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone, plain_tip


class LibraryFolderForm(QWidget):
    """Lets the user choose the library's folder; it holds at once and at every later start."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._keeping = context.studio.keeping
        self._moved = context.switchboard.library_moved
        folder, usual = self._keeping.runs_folder, context.studio.paths.runs
        self._problem = TextLabel()
        self._problem.hide()
        choose = QPushButton(tr("Choose a folder…"))
        choose.clicked.connect(self._choose)
        show = QPushButton(tr("Show it"))
        show.setAccessibleName(tr("Show the folder of the library"))
        show.setEnabled(folder.is_dir())
        url = QUrl.fromLocalFile(str(folder))
        show.clicked.connect(partial(QDesktopServices.openUrl, url))
        back = QPushButton(tr("Use the usual folder"))
        back.setProperty("kind", "quiet")
        back.setVisible(folder != usual)
        back.setToolTip(plain_tip(str(usual)))
        back.clicked.connect(lambda: self._use(None))
        buttons = FlowLayout(em(0.4))
        for button in (choose, show, back):
            buttons.addWidget(button)
        meaning = tr("The gallery shows what lies here. Earlier pictures stay where they are.")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.5))
        column.addWidget(TextLabel(tr("Folder of the library"), Tone.HEADING))
        column.addWidget(TextLabel(str(folder)))
        column.addLayout(buttons)
        column.addWidget(self._problem)
        column.addWidget(TextLabel(meaning, Tone.MUTED))

    def _choose(self) -> None:
        start = str(self._keeping.runs_folder)
        folder = QFileDialog.getExistingDirectory(self, tr("Folder of the library"), start)
        if folder:
            self._use(Path(folder))

    def _use(self, folder: Path | None) -> None:
        try:
            self._keeping.use_library(folder)
        except StudioError as error:
            self._problem.setText(f"{error.message} {error.hint}".strip())
            self._problem.show()
            return
        self._moved.emit()
