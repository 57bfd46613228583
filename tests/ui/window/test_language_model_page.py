import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton

from spatialstudio.application.compose.language_model import LanguageModel
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.servers import ServerChoice
from spatialstudio.ui.framework.window_signals import WindowSignals
from spatialstudio.ui.widgets.texts import TextLabel
from spatialstudio.ui.window.language_model_page import LanguageModelPage
from tests.server_fakes import PRESETS, FakeServerDesk
from tests.ui.by_name import named

CHOICE = ServerChoice(url=PRESETS["near"].url, model="small")


@pytest.fixture
def choices():
    return FakeServerDesk(kept=CHOICE)


@pytest.fixture
def window_signals():
    return WindowSignals()


@pytest.fixture
def page(qtbot, choices, window_signals):
    """The page, with events told as the window tells them."""
    language_model = LanguageModel(
        lambda: choices, window_signals.server_reported.emit, reset=lambda: None
    )
    page = LanguageModelPage(language_model, window_signals.server_reported)
    qtbot.addWidget(page)
    page.show()
    yield page
    choices.may_answer.set()
    language_model.wait()


def field(page, name):
    return named(page, QLineEdit, name)


def press(qtbot, page, text):
    button = next(each for each in page.findChildren(QPushButton) if each.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    return button


def pick(page, title):
    servers = page.findChild(QComboBox)
    servers.setCurrentText(title)
    servers.activated.emit(servers.currentIndex())


def says(page, words):
    return any(words in label.text() for label in page.findChildren(TextLabel))


def test_what_is_chosen_is_shown(page):
    assert page.findChild(QComboBox).currentText() == "Near"
    assert field(page, "Address").text() == CHOICE.url
    assert field(page, "Model").text() == "small"


def test_a_server_brings_its_address(page):
    pick(page, "Far")
    assert field(page, "Address").text() == PRESETS["far"].url


def test_another_address_is_another_server(qtbot, page):
    field(page, "Address").clear()
    qtbot.keyClicks(field(page, "Address"), "http://10.0.0.1/v1")
    assert page.findChild(QComboBox).currentText() == "Custom server"


def test_the_window_responds_while_a_server_is_tested(qtbot, page, choices):
    button = press(qtbot, page, "Test")
    assert not button.isEnabled()
    assert says(page, "Testing")
    choices.may_answer.set()
    qtbot.waitUntil(lambda: says(page, "It answers."))
    assert button.isEnabled()
    assert choices.tried == [(CHOICE, None)]


def test_where_there_is_no_server_there_is_nothing_to_test(qtbot, page):
    test = next(each for each in page.findChildren(QPushButton) if each.text() == "Test")
    assert test.isEnabled()
    pick(page, "None: grammar only")
    assert not test.isEnabled()
    qtbot.keyClicks(field(page, "Address"), "http://10.0.0.1/v1")
    assert test.isEnabled()


def test_a_server_that_does_not_work_says_why(qtbot, page, choices):
    choices.error = SettingsError("It is silent.")
    choices.may_answer.set()
    press(qtbot, page, "Test")
    qtbot.waitUntil(lambda: says(page, "Test failed. It is silent."))


def test_the_typed_key_is_used_kept_and_cleared(qtbot, page, choices):
    qtbot.keyClicks(field(page, "API key"), "secret")
    press(qtbot, page, "Save and use")
    qtbot.waitUntil(lambda: says(page, "Saved."))
    assert choices.keys == {CHOICE.url: "secret"}
    assert field(page, "API key").text() == ""
    qtbot.waitUntil(lambda: "stored" in field(page, "API key").placeholderText())


def test_the_key_is_never_readable(page):
    assert field(page, "API key").echoMode() is QLineEdit.EchoMode.Password


def test_a_key_can_be_forgotten(qtbot, page, choices):
    choices.keys[CHOICE.url] = "secret"
    pick(page, "Near")
    button = next(
        each for each in page.findChildren(QPushButton) if "Delete API key" in each.text()
    )
    qtbot.waitUntil(button.isVisible)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not choices.keys)


def test_the_grammar_alone_can_be_chosen_again(qtbot, page, choices):
    pick(page, "None: grammar only")
    press(qtbot, page, "Save and use")
    qtbot.waitUntil(lambda: not choices.kept.is_complete)


def test_what_the_environment_says_is_told(qtbot, window_signals):
    choices = FakeServerDesk(overriding=("SOME_VARIABLE",))
    model = LanguageModel(lambda: choices, window_signals.server_reported.emit, reset=lambda: None)
    page = LanguageModelPage(model, window_signals.server_reported)
    qtbot.addWidget(page)
    assert says(page, "SOME_VARIABLE")


@pytest.fixture
def asked(monkeypatch):
    """Questions asked of the user, who answers with what ``asked.answer`` says."""

    class Asked(list):
        answer = False

    questions = Asked()

    def ask(_parent, question, _consequence, _action):
        questions.append(question)
        return questions.answer

    monkeypatch.setattr("spatialstudio.ui.window.language_model_page.is_confirmed", ask)
    return questions


def test_a_key_is_sent_over_plain_http_only_when_the_user_agrees(qtbot, page, choices, asked):
    field(page, "Address").setText("http://10.0.0.1/v1")
    field(page, "API key").setText("sk-1")
    press(qtbot, page, "Test")
    press(qtbot, page, "Save and use")
    assert (choices.tried, choices.kept) == ([], CHOICE)
    asked.answer = True
    press(qtbot, page, "Save and use")
    allowed = ServerChoice(url="http://10.0.0.1/v1", model="small", allows_plain_http=True)
    qtbot.waitUntil(lambda: choices.kept == allowed)
    assert asked == ["Send the API key to http://10.0.0.1/v1 unencrypted?"] * 3


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("https://10.0.0.1/v1", "sk-1"),
        ("http://127.0.0.1:1/v1", "sk-1"),
        ("http://10.0.0.1/v1", ""),
    ],
    ids=["encrypted", "this machine", "no key"],
)
def test_where_no_key_can_be_read_nothing_is_asked(qtbot, page, choices, asked, address, key):
    field(page, "Address").setText(address)
    field(page, "API key").setText(key)
    press(qtbot, page, "Save and use")
    qtbot.waitUntil(lambda: choices.kept.url == address)
    assert asked == []
