"""Questions on the prompt, from writing to votes, against a server on this machine."""

import json
import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QLineEdit, QPushButton, QRadioButton

from spatialstudio.adapters.chat.server import MODEL_VARIABLE, SERVER_VARIABLE
from spatialstudio.application.plugins import open_registry
from spatialstudio.application.questions.question_asker import SERVER
from spatialstudio.application.questions.questions import Questions
from spatialstudio.ui.evaluate import questions_panel
from spatialstudio.ui.evaluate.questions_panel import QuestionsPanel, Shown
from spatialstudio.ui.framework.bridge import Bridge
from spatialstudio.ui.widgets.row_table import RowTable
from tests.adapters.loopback import LoopbackServer, says, sends
from tests.ui.judged_runs import judged_run


@pytest.fixture
def panel(qtbot, context, monkeypatch):
    studio = context.studio
    registry = open_registry(studio.paths.surroundings)
    own = Questions(registry, studio.judge_defaults, studio.pictures.shows_stickers, cache=None)
    monkeypatch.setattr(questions_panel, "questions_of", lambda _: own)
    panel = QuestionsPanel(context)
    qtbot.addWidget(panel)
    panel.resize(500, 700)
    panel.show()
    bridge = Bridge(context.studio.bus, context.studio, context.reading)
    bridge.serve(panel)
    panel._show_page(Shown.WRITE)
    yield panel
    panel._asker.close()
    panel._writing.close_job()
    bridge.close()


@pytest.fixture
def written(qtbot, context, panel):
    """The panel with questions on the prompt of the open run."""
    context.studio.session.open(judged_run())
    qtbot.waitUntil(button(panel, "By rules").isEnabled)
    click(qtbot, panel, "By rules")
    qtbot.waitUntil(lambda: table(panel).rowCount() > 0)
    return panel


@pytest.fixture
def chosen(monkeypatch, tmp_path):
    """The user chooses this folder, and this file."""
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "asked"))
    path = tmp_path / "own.jsonl"
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, name, lambda *_: (str(path), ""))
    return path


def button(panel, text):
    return next(each for each in panel.findChildren(QPushButton) if each.text() == text)


def click(qtbot, panel, text):
    qtbot.mouseClick(button(panel, text), Qt.MouseButton.LeftButton)


def table(panel, name="Questions on the prompt"):
    return next(each for each in panel.findChildren(RowTable) if each.accessibleName() == name)


def rows(panel, name="Questions on the prompt"):
    shown = table(panel, name)
    places = range(shown.columnCount())
    return [[shown.item(row, place).text() for place in places] for row in range(shown.rowCount())]


def line(panel, name):
    return next(each for each in panel.findChildren(QLineEdit) if each.accessibleName() == name)


def texts(panel):
    return [each.text() for each in panel.findChildren(QLabel) if each.isVisible()]


def retype(qtbot, field, text):
    field.selectAll()
    qtbot.keyClicks(field, text)


def test_questions_of_the_prompt_agree_with_it(written):
    listed = rows(written)
    assert [row[0] for row in listed] == ["✓"] * len(listed)
    places = [row for row in listed if row[1] == "Position"]
    assert places[0][2] == "Where is the dog in relation to the car?"
    assert places[0][3] == "to the left of it"


def test_an_edit_is_checked_against_the_prompt_and_undone(qtbot, written, context):
    before = rows(written)
    place = [row[1] for row in before].index("Position")
    table(written).setCurrentCell(place, 0)
    retype(qtbot, line(written, "Question"), "Where is the horse in relation to the car?")
    assert rows(written)[place][0] == "✗"
    assert any("does not name the horse" in text for text in texts(written))
    context.edits.undo()
    assert rows(written) == before


def test_another_right_answer_contradicts_the_prompt(qtbot, written):
    place = [row[1] for row in rows(written)].index("Position")
    table(written).setCurrentCell(place, 0)
    wrong = next(b for b in written.findChildren(QRadioButton) if not b.isChecked())
    qtbot.mouseClick(wrong, Qt.MouseButton.LeftButton)
    assert rows(written)[place][0] == "✗"


def test_questions_are_added_and_removed(qtbot, written):
    count = table(written).rowCount()
    click(qtbot, written, "Add")
    retype(qtbot, line(written, "Question"), "Is it day or night?")
    retype(qtbot, line(written, "Option A"), "day")
    retype(qtbot, line(written, "Option B"), "night")
    assert rows(written)[-1] == ["?", "Object", "Is it day or night?", "day"]
    click(qtbot, written, "Remove")
    assert table(written).rowCount() == count


def test_saved_questions_are_opened_again(qtbot, written, chosen):
    before = rows(written)
    click(qtbot, written, "Save…")
    qtbot.waitUntil(chosen.exists)
    while table(written).rowCount():
        table(written).setCurrentCell(0, 0)
        click(qtbot, written, "Remove")
    click(qtbot, written, "Open…")
    qtbot.waitUntil(lambda: rows(written) == before)


def test_options_that_would_not_be_read_again_are_not_saved(qtbot, written, chosen):
    retype(qtbot, line(written, "Option A"), "a, B: b")
    click(qtbot, written, "Save…")
    qtbot.waitUntil(lambda: any("cannot be written in one line" in t for t in texts(written)))
    assert not chosen.exists()


def test_a_language_model_writes_and_the_prompt_checks(qtbot, context, panel, monkeypatch):
    row = {"sub_domain": "Position", "question": "Where is the dog in relation to the car?"}
    good = {**row, "right": "to the left of it", "wrong": ["to the right of it"]}
    wrong = {**row, "right": "to the right of it", "wrong": ["to the left of it"]}
    with LoopbackServer(says(json.dumps({"questions": [good, wrong]}))) as server:
        monkeypatch.setenv(SERVER_VARIABLE, server.url)
        monkeypatch.setenv(MODEL_VARIABLE, "small")
        context.studio.session.open(judged_run())
        qtbot.waitUntil(button(panel, "By language model").isEnabled)
        click(qtbot, panel, "By language model")
        qtbot.waitUntil(lambda: table(panel).rowCount() == 1)
    assert rows(panel)[0][3] == "to the left of it"
    assert any("was left out" in text for text in texts(panel))


def test_the_open_picture_is_asked_about_and_votes_and_reasons_are_shown(
    qtbot, written, chosen, monkeypatch
):
    count = table(written).rowCount()
    text = "\n".join("A: as <b>seen</b>" for _ in range(count))
    usage = {"prompt_tokens": 500, "completion_tokens": 40}
    body = {"choices": [{"message": {"content": text}}], "usage": usage}
    with LoopbackServer(sends(b"", 401), sends(json.dumps(body).encode())) as server:
        monkeypatch.setenv(SERVER_VARIABLE, server.url)
        monkeypatch.setenv(MODEL_VARIABLE, "small")
        click(qtbot, written, "Ask about the picture…")
        qtbot.waitUntil(button(written, "Ask").isEnabled)
        form = written._form
        form._answerer.setCurrentIndex(form._answerer.findData(SERVER))
        form._prices[0].setValue(2)
        click(qtbot, written, "Estimate")
        qtbot.waitUntil(lambda: "Left: 5 replies" in form._cost.text())
        assert server.questions == []
        qtbot.waitUntil(button(written, "Ask").isEnabled)
        click(qtbot, written, "Ask")
        qtbot.waitUntil(lambda: "rejected the API key" in form._cost.text())
        click(qtbot, written, "Ask")
        qtbot.waitUntil(lambda: table(written, "Pictures of the questions").rowCount() == 1)
        asked = len(server.questions)
    assert asked == 6
    assert "So far: 5 replies, 2,500 + 200 tokens" in form._cost.text()
    table(written, "Pictures of the questions").setCurrentCell(0, 0)
    assert table(written, "Questions about the picture").rowCount() == count
    table(written, "Questions about the picture").setCurrentCell(0, 0)
    counted = re.findall(r"(?:(\d) × )?\w: as <b>seen</b>", "\n".join(texts(written)))  # noqa: RUF001
    assert sum(int(count or 1) for count in counted) == 5  # in the letters as listed
