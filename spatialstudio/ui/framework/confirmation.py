"""Asks the user before something happens that cannot be taken back."""

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from spatialstudio.ui.widgets.text_label import plain_tip
from spatialstudio.ui.widgets.texts import tr


def is_confirmed(parent: QWidget, question: str, consequence: str, action: str) -> bool:
    """Ask in a box whose default is to leave everything as it is; shows plain text only.

    Args:
        parent: Stands behind the box.
        question: As one sentence.
        consequence: What happens then.
        action: On the button that does it.
    """
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(question)
    box.setInformativeText(plain_tip(consequence))  # ignores the box's text format
    agree = box.addButton(action, QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    box.exec()
    return box.clickedButton() is agree


def may_write(parent: QWidget, chosen: Path, targets: Sequence[Path]) -> bool:
    """Ask before files are replaced that no file dialog has asked about.

    Args:
        parent: Stands behind the box.
        chosen: What the user chose in a file dialog, which asks about that name alone.
        targets: What will be written.
    """
    taken = [path for path in targets if path != chosen and os.path.lexists(path)]
    if not taken:
        return True
    question = tr("Replace {name}?").format(name=taken[0].name)
    if len(taken) > 1:
        question = tr("Replace {count} files?").format(count=len(taken))
    return is_confirmed(
        parent,
        question,
        tr("Already in {folder}.").format(folder=taken[0].parent),
        tr("Replace"),
    )


def file_to_write(parent: QWidget, chosen: Path, ending: str) -> Path | None:
    """Return a chosen file with its ending; None when it may not be replaced.

    Args:
        parent: Stands behind the box.
        chosen: What the user chose in a file dialog.
        ending: For a name without one.
    """
    target = chosen if chosen.suffix else chosen.with_name(f"{chosen.name}.{ending}")
    return target if may_write(parent, chosen, [target]) else None
