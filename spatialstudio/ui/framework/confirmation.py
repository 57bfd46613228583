"""Confirmation boxes for actions that cannot be undone, and files to export to."""

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from spatialstudio.ui.framework.dialog_size import remove_icons
from spatialstudio.ui.framework.window_settings import WindowSettings
from spatialstudio.ui.widgets.texts import plain_tip, tr


def is_confirmed(parent: QWidget, question: str, consequence: str, action: str) -> bool:
    """Ask in a plain-text box whose default button cancels.

    Args:
        parent: Parent window of the box.
        question: One sentence.
        consequence: What the action does.
        action: Text of the button that confirms.
    """
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(question)
    box.setInformativeText(plain_tip(consequence))  # ignores the box's text format
    agree = box.addButton(action, QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    remove_icons(box)
    box.exec()
    return box.clickedButton() is agree


def may_write(parent: QWidget, chosen: Path, targets: Sequence[Path]) -> bool:
    """Ask before replacing files that the file dialog did not confirm.

    Args:
        parent: Parent window of the box.
        chosen: Path from a file dialog, which confirms that name only.
        targets: Files to write.
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
        tr("It already exists in {folder}.").format(folder=taken[0].parent),
        tr("Replace"),
    )


def asked_target(
    parent: QWidget, settings: WindowSettings, name: str, kinds: Sequence[str]
) -> Path | None:
    """Ask for a file to export to, beginning in the folder of the last export.

    Args:
        parent: Parent window of the dialog.
        settings: Settings of the window, which hold the folder.
        name: Suggested name, with a suffix.
        kinds: Filters of the dialog such as "Table (*.csv)"; that of the name's suffix first.

    Returns:
        The file with a suffix; None if the user cancels.
    """
    start = str(settings.export_folder / name)
    chosen, kind = QFileDialog.getSaveFileName(parent, tr("Export"), start, ";;".join(kinds))
    ending = kind.rpartition("*.")[2].rstrip(")") or name.rpartition(".")[2]
    target = file_to_write(parent, Path(chosen), ending) if chosen else None
    if target is not None:
        settings.export_folder = target.parent
    return target


def file_to_write(parent: QWidget, chosen: Path, ending: str) -> Path | None:
    """Return a chosen path with its suffix; None if the user declines to replace a file.

    Args:
        parent: Parent window of the box.
        chosen: Path from a file dialog.
        ending: Suffix for a name without one.
    """
    target = chosen if chosen.suffix else chosen.with_name(f"{chosen.name}.{ending}")
    return target if may_write(parent, chosen, [target]) else None
