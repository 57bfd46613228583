import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QToolButton, QWidget

from spatialstudio.ui.widgets.toast_cards import (
    MOST_CARDS,
    Offer,
    Toast,
    ToastCard,
    ToastKind,
    ToastStack,
)

LEFT = Qt.MouseButton.LeftButton


def problem(text):
    return Toast(
        kind=ToastKind.PROBLEM, message=text, hint="Try.", details="line 3", report=f"Report {text}"
    )


@pytest.fixture
def ground(qtbot):
    ground = QWidget()
    qtbot.addWidget(ground)
    ground.resize(900, 600)
    ground.show()
    return ground


@pytest.fixture
def stack(theme, ground):
    return ToastStack(theme, ground)


def cards(stack):
    return [card for card in stack.findChildren(ToastCard) if card.isVisible()]


def messages(stack):
    return [card.toast.message for card in cards(stack)]


def press(qtbot, card, text):
    button = next(each for each in card.findChildren(QPushButton) if each.text() == text)
    qtbot.mouseClick(button, LEFT)


def close(qtbot, card):
    qtbot.mouseClick(card.findChild(QToolButton), LEFT)


def test_messages_stand_one_over_the_other(qtbot, stack):
    stack.show_toast(problem("first"))
    stack.show_toast(problem("second"))
    qtbot.waitUntil(lambda: cards(stack)[1].y() >= cards(stack)[0].geometry().bottom())
    assert messages(stack) == ["first", "second"]


def test_no_message_hides_another_many_wait_their_turn(qtbot, stack):
    for number in range(MOST_CARDS + 2):
        stack.show_toast(problem(str(number)))
    assert messages(stack) == ["0", "1", "2"]
    close(qtbot, cards(stack)[0])
    assert messages(stack) == ["1", "2", "3"]


def test_the_same_message_is_not_shown_twice(stack):
    stack.show_toast(problem("again"))
    stack.show_toast(problem("again"))
    assert messages(stack) == ["again"]


def test_clearing_takes_those_that_wait_as_well(stack):
    for number in range(MOST_CARDS + 2):
        stack.show_toast(problem(str(number)))
    stack.clear()
    assert messages(stack) == []
    assert not stack.isVisible()


def test_the_stack_stays_in_the_corner(qtbot, stack, ground):
    stack.show_toast(problem("first"))
    ground.resize(700, 400)
    qtbot.waitUntil(lambda: stack.geometry().bottom() < 400 and stack.geometry().right() < 700)
    assert stack.geometry().right() > 650


def test_details_open_within_the_window(qtbot, stack, ground):
    stack.show_toast(problem("first"))
    press(qtbot, cards(stack)[0], "Details")
    details = stack.findChild(QPlainTextEdit)
    qtbot.waitUntil(details.isVisible)
    qtbot.waitUntil(lambda: ground.rect().contains(stack.geometry()))
    assert details.toPlainText() == "line 3"


def test_the_report_can_be_copied(qtbot, stack):
    stack.show_toast(problem("first"))
    press(qtbot, cards(stack)[0], "Copy report")
    assert QGuiApplication.clipboard().text() == "Report first"


def test_an_offer_is_accepted_once(qtbot, stack):
    done = []
    stack.show_toast(
        Toast(
            kind=ToastKind.NEWS,
            message="Gone.",
            offers=(Offer("Undo", lambda: done.append("back")),),
        )
    )
    press(qtbot, cards(stack)[0], "Undo")
    assert done == ["back"]
    assert messages(stack) == []


def test_each_of_several_offers_has_its_button(qtbot, stack):
    done = []
    offers = tuple(Offer(name, lambda name=name: done.append(name)) for name in ("one", "two"))
    stack.show_toast(Toast(kind=ToastKind.PROBLEM, message="Too large.", offers=offers))
    press(qtbot, cards(stack)[0], "two")
    assert done == ["two"]


def test_news_goes_by_itself_and_a_problem_stays(qtbot, stack, monkeypatch):
    monkeypatch.setattr("spatialstudio.ui.widgets.toast_cards.NEWS_MS", 20)
    stack.show_toast(Toast(kind=ToastKind.NEWS, message="Stored."))
    stack.show_toast(problem("stays"))
    qtbot.waitUntil(lambda: messages(stack) == ["stays"])


@pytest.mark.parametrize("width", [900, 200])
def test_a_message_is_never_wider_than_its_parent(ground, stack, width):
    ground.resize(width, 600)
    stack.show_toast(problem("first"))
    (card,) = cards(stack)
    left = card.mapTo(ground, card.rect().topLeft()).x()
    assert left >= 0
    assert left + card.width() <= width


LOW = 150
LONG = "It supports these objects: " + ", ".join(f"object {number}" for number in range(70)) + "."


def test_a_long_hint_takes_a_few_lines_all_of_it_is_in_the_tip(stack):
    stack.show_toast(Toast(kind=ToastKind.PROBLEM, message="Unknown.", hint=LONG))
    (hint,) = [
        label for label in stack.findChildren(QLabel) if label.text().startswith("It supports")
    ]
    assert hint.text().endswith("…")
    assert hint.toolTip() == LONG


@pytest.mark.parametrize("height", [600, LOW])
def test_messages_stay_on_what_they_lie_on_and_the_rest_is_scrolled_to(
    qtbot, stack, ground, height
):
    ground.resize(500, height)
    offers = tuple(Offer(f"remedy {number}", lambda: None) for number in range(4))
    stack.show_toast(Toast(kind=ToastKind.PROBLEM, message="Low.", hint=LONG, offers=offers))
    (card,) = cards(stack)
    last = card.findChildren(QPushButton)[-1]
    qtbot.waitUntil(lambda: ground.rect().contains(stack.geometry()))
    stack.ensureWidgetVisible(last)
    middle = last.mapTo(ground, last.rect().center())
    assert stack.geometry().contains(middle)
    bar = stack.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.isVisible() == (height == LOW))
    assert card.width() <= stack.viewport().width()
