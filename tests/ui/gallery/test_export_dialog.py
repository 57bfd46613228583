"""The dialog asks for what fits the kind, and stays open while the export goes on."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QListWidget, QPushButton

from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.export import ExportLayer
from spatialstudio.ui.gallery.export_dialog import ExportDialog

THEMES = {"light": "Light", "dark": "Dark"}


@pytest.fixture
def dialog(qtbot):
    dialog = ExportDialog(3, frozenset({ExportLayer.BOXES}), THEMES)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def pick(dialog, kind):
    dialog.findChild(QListWidget).setCurrentRow(list(EXPORT_KINDS).index(kind))


def visible(dialog):
    boxes = [box.text() for box in dialog.findChildren(QCheckBox) if box.isVisible()]
    combos = [c.accessibleName() for c in dialog.findChildren(QComboBox) if c.isVisible()]
    return {*boxes, *combos}


def press(qtbot, dialog, text):
    button = next(b for b in dialog.findChildren(QPushButton) if b.text().replace("&", "") == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("kind", list(EXPORT_KINDS), ids=lambda kind: kind.id)
def test_the_formats_are_those_of_the_kind(dialog, kind):
    pick(dialog, kind)
    assert dialog.choice.kind is kind
    assert dialog.choice.ending == kind.formats[0]


MARK = "Label the file as AI-generated"


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        (
            EXPORT_KINDS["annotated"],
            {"Format", "Colours", "Attention maps", "Masks", "Boxes", "Marginals", MARK},
        ),
        (EXPORT_KINDS["curves"], {"Format", "Colours"}),
        (EXPORT_KINDS["film"], {"Format", "Colours", MARK}),
        (EXPORT_KINDS["picture"], {"Format", MARK}),
        (EXPORT_KINDS["table"], {"Format"}),
    ],
    ids=["annotated", "curves", "film", "picture", "table"],
)
def test_only_what_matters_is_asked(dialog, kind, asked):
    pick(dialog, kind)
    assert visible(dialog) == asked


def test_the_layers_are_those_on_the_stage(dialog):
    assert dialog.choice.layers == {ExportLayer.BOXES}


@pytest.mark.parametrize(
    "kind",
    [EXPORT_KINDS["picture"], EXPORT_KINDS["film"], EXPORT_KINDS["sweep"]],
    ids=lambda kind: kind.id,
)
def test_the_mark_of_a_model_can_be_left_out(qtbot, dialog, kind):
    pick(dialog, kind)
    assert dialog.choice.is_marked
    box = next(b for b in dialog.findChildren(QCheckBox) if b.isVisible())
    box.click()
    assert not dialog.choice.is_marked


def test_export_asks_with_the_choice(qtbot, dialog):
    pick(dialog, EXPORT_KINDS["film"])
    with qtbot.waitSignal(dialog.export_asked) as asked:
        press(qtbot, dialog, "Export…")
    assert asked.args[0].kind is EXPORT_KINDS["film"]


def test_cancel_stops_a_running_export_and_the_dialog_stays(qtbot, dialog):
    dialog.show_running(True)
    dialog.show_progress(1, 3)
    with qtbot.waitSignal(dialog.cancel_asked):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    dialog.show_running(False)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_the_title_says_how_many(dialog):
    assert dialog.windowTitle() == "Export 3 runs"
