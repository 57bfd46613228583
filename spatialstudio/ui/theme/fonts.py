"""The bundled typeface, for the same text rendering on all systems."""

import logging
from pathlib import Path

from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication

log = logging.getLogger(__name__)

FAMILY = "Inter"
POINT_SIZE = 10.0
EQUAL_WIDTH_FIGURES = "tnum"


def use_bundled_font(application: QApplication, folder: Path) -> None:
    """Set the bundled typeface as the application's font; keep the system's if it is missing.

    Args:
        application: The running application.
        folder: Folder of the ``.ttf`` files.
    """
    for path in sorted(folder.glob("*.ttf")):
        if QFontDatabase.addApplicationFont(str(path)) < 0:
            log.warning("The font %s cannot be loaded.", path.name)
    chosen = QFont(application.font())
    chosen.setFamilies([FAMILY, *chosen.families()])
    chosen.setPointSizeF(POINT_SIZE)
    chosen.setFeature(QFont.Tag(EQUAL_WIDTH_FIGURES), 1)
    application.setFont(chosen)
