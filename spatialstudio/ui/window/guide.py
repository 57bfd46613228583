"""The user guide and the third-party notices, readable offline."""

from html import escape
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QTextDocument
from PySide6.QtWidgets import QDialogButtonBox, QTextBrowser, QWidget

from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.texts import tr

SIZE_EM = (60, 44)
PICTURE_EM = 52
"""Maximum width of a picture on a page."""
GUIDE_PAGE = Path("guide", "index.md")
NOTICES_PAGE = Path("licenses", "index.md")
WEB = ("http", "https")


class GuideReader(QTextBrowser):
    """Shows Markdown and text files of one folder; web links open in the browser.

    Args:
        folder: Files outside of it are not opened.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder.resolve()
        self.setOpenLinks(False)
        self.anchorClicked.connect(self.follow)

    def follow(self, url: QUrl) -> None:
        """Open a local page here or a web address in the browser; ignore other links."""
        if url.scheme() in WEB:
            QDesktopServices.openUrl(url)
        elif self._file(url) is not None:
            self.setSource(self.source().resolved(url))

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load a page or picture of the folder; licence texts keep their line breaks."""
        file = self._file(QUrl(name))
        if file is None:
            return None
        if kind == QTextDocument.ResourceType.ImageResource.value:
            image, most = QImage(str(file)), em(PICTURE_EM)
            if image.width() <= most:
                return image
            return image.scaledToWidth(most, Qt.TransformationMode.SmoothTransformation)
        text = file.read_text(encoding="utf-8")
        return text if file.suffix == ".md" else f"<pre>{escape(text)}</pre>"

    def _file(self, url: QUrl) -> Path | None:
        """Return the file of a local URL within the folder, or None."""
        full = self.source().resolved(url)
        if not full.isLocalFile():
            return None
        file = Path(full.toLocalFile()).resolve()
        return file if file.is_relative_to(self._folder) and file.is_file() else None


class GuideDialog(TitledDialog):
    """Shows bundled pages, with buttons for the previous and the first page.

    Args:
        title: Title of the dialog, translated.
        resources: Folder of the pages.
        page: The first page, relative to ``resources``.
        parent: The window.
    """

    def __init__(
        self, title: str, resources: Path, page: Path, parent: QWidget | None = None
    ) -> None:
        super().__init__(title, parent)
        self.reader = GuideReader(resources)
        self.reader.setAccessibleName(title)
        buttons = self.buttons()
        back = buttons.addButton(tr("Back"), QDialogButtonBox.ButtonRole.ActionRole)
        start = buttons.addButton(tr("Contents"), QDialogButtonBox.ButtonRole.ActionRole)
        back.setEnabled(False)
        back.clicked.connect(self.reader.backward)
        start.clicked.connect(self.reader.home)
        self.reader.backwardAvailable.connect(back.setEnabled)
        column(self.reader, buttons, within=self, edges=None)
        self.reader.setSource(QUrl.fromLocalFile(str(resources.resolve() / page)))
        give_room(self, SIZE_EM)
