import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QKeySequence, QWheelEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from spatialstudio.ui.widgets.fields import (
    ChoiceBox,
    ComboBox,
    DecimalBox,
    EditLine,
    NumberBox,
    Slider,
    TextLine,
)

NOTCH = 120
BEGINNING = "the beginning of what"
CHOICES = (f"{BEGINNING} is chosen", f"{BEGINNING} is chosen, much longer than there is room for")


def scroll(widget, notches):
    """Turn the wheel over a widget; say whether it took it: Qt tries the page otherwise."""
    place = QPointF(widget.rect().center())
    event = QWheelEvent(
        place,
        QPointF(widget.mapToGlobal(place.toPoint())),
        QPoint(),
        QPoint(0, NOTCH * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def value_of(field):
    return field.currentIndex() if isinstance(field, ComboBox) else field.value()


@pytest.fixture(params=[NumberBox, DecimalBox, ComboBox, Slider])
def field(qtbot, request):
    """A field on a page that has the focus."""
    page = QWidget()
    page.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field = request.param(page)
    if isinstance(field, ComboBox):
        field.addItems(["one", "two", "three"])
        field.setCurrentIndex(1)
    else:
        field.setValue(1)
    qtbot.addWidget(page)
    page.show()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.setFocus()
    yield field
    page.close()


def test_the_wheel_is_left_to_the_page_over_a_field_without_the_focus(field):
    before = value_of(field)
    assert not scroll(field, -1)
    assert value_of(field) == before


def test_the_wheel_does_not_give_the_focus(field):
    assert not field.focusPolicy() & Qt.FocusPolicy.WheelFocus & ~Qt.FocusPolicy.StrongFocus


def test_the_wheel_steps_the_field_that_has_the_focus(field):
    before = value_of(field)
    field.setFocus()
    assert scroll(field, -1)
    assert value_of(field) != before


def test_a_field_with_the_focus_leaves_the_wheel_to_the_panel_that_scrolls(field, qtbot):
    panel = QScrollArea()
    panel.setWidget(field.parentWidget())
    qtbot.addWidget(panel)
    panel.show()
    panel.activateWindow()
    qtbot.waitUntil(panel.isActiveWindow)
    field.setFocus()
    before = value_of(field)
    assert field.hasFocus()
    assert not scroll(field, -1)
    assert value_of(field) == before
    panel.takeWidget()


@pytest.fixture
def form(qtbot):
    """A window with one field of each kind of text, whose own undo counts."""
    window = QWidget()
    column = QVBoxLayout(window)
    for kind in (NumberBox, DecimalBox, EditLine, TextLine):
        column.addWidget(kind())
    window.undone = 0

    def undo():
        window.undone += 1

    action = QAction(window)
    action.setShortcut(QKeySequence("Ctrl+Z"))
    action.triggered.connect(undo)
    window.addAction(action)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


@pytest.mark.parametrize("kind", [NumberBox, DecimalBox, EditLine])
def test_undo_in_a_field_is_that_of_the_window(qtbot, form, kind):
    field = form.findChild(kind)
    field.setFocus()
    qtbot.keyClicks(field, "7")
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert form.undone == 1
    assert "7" in field.text()


@pytest.mark.parametrize("kind", [NumberBox, EditLine])
def test_without_anything_to_undo_the_field_stays_as_it_is(qtbot, form, kind):
    form.actions()[0].setEnabled(False)
    field = form.findChild(kind)
    field.setFocus()
    qtbot.keyClicks(field, "7")
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert "7" in field.text()


def test_undo_takes_back_letters_that_are_no_edit_yet_then_edits(qtbot, form):
    line = form.findChild(TextLine)
    line.setFocus()
    qtbot.keyClicks(line, "note")
    qtbot.keyClick(line, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert (line.text(), form.undone) == ("", 0)
    line.setModified(False)
    qtbot.keyClick(line, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert form.undone == 1


@pytest.fixture
def choice_box(qtbot):
    box = ChoiceBox("Choice")
    qtbot.addWidget(box)
    for choice in CHOICES:
        box.addItem(choice)
    box.resize(box.fontMetrics().horizontalAdvance(BEGINNING), box.sizeHint().height())
    box.show()
    return box


def test_it_asks_for_little_room(choice_box):
    assert choice_box.sizeHint().width() < choice_box.fontMetrics().horizontalAdvance(BEGINNING)


def test_what_is_too_long_ends_in_dots_whatever_follows(qtbot, choice_box):
    shorter = choice_box.grab().toImage()
    qtbot.keyClick(choice_box, Qt.Key.Key_Down)
    assert choice_box.currentText() == CHOICES[1]
    assert choice_box.grab().toImage() == shorter


def test_what_fits_is_shown_whole(qtbot, choice_box):
    choice_box.resize(
        choice_box.fontMetrics().horizontalAdvance(CHOICES[1]) * 2, choice_box.height()
    )
    shorter = choice_box.grab().toImage()
    qtbot.keyClick(choice_box, Qt.Key.Key_Down)
    assert choice_box.grab().toImage() != shorter
