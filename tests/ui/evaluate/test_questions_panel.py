import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QPushButton, QSpinBox, QToolButton

from spatialstudio.application.questions.question_folder import begin_run
from spatialstudio.application.questions.question_view import read_view
from spatialstudio.domain.multiple_choice import PUBLISHED_ASKING, AskSettings, VoteRules
from spatialstudio.ui.evaluate import questions_panel
from spatialstudio.ui.evaluate.questions_panel import QuestionsPanel
from spatialstudio.ui.evaluate.widgets.radar_chart import RadarChart
from spatialstudio.ui.framework.bridge import Bridge
from spatialstudio.ui.widgets.row_table import RowTable
from tests.application.questions.answerers import FakeAnswerer, always_c, always_right
from tests.application.questions.folders import FakeQuestions, asked_folder, plan_in, read, write
from tests.fakes import CountingToken
from tests.science.questions.choice_sets import KEYS, line


@pytest.fixture
def answerer():
    return FakeAnswerer(always_right)


@pytest.fixture
def panel(qtbot, context, answerer, monkeypatch):
    monkeypatch.setattr(questions_panel, "questions_of", lambda _: FakeQuestions(answerer))
    panel = QuestionsPanel(context)
    qtbot.addWidget(panel)
    panel.resize(1000, 320)
    panel.show()
    bridge = Bridge(context.studio.bus, context.studio, context.reading)
    bridge.serve(panel)
    yield panel
    panel._asker.close()
    bridge.close()


@pytest.fixture
def shown(panel, tmp_path):
    panel.show_view(read_view(asked_folder(tmp_path, FakeAnswerer(always_right))))
    return panel


def table(panel, name):
    return next(each for each in panel.findChildren(RowTable) if each.accessibleName() == name)


def rows(shown):
    places = range(shown.columnCount())
    return [[shown.item(row, place).text() for place in places] for row in range(shown.rowCount())]


def texts(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def button(panel, text):
    return next(each for each in panel.findChildren(QPushButton) if each.text() == text)


def test_pictures_are_listed_with_their_right_answers(shown):
    assert rows(table(shown, "Pictures of the questions")) == [
        ["000001", "10/10", "a prompt"],
        ["000002", "10/10", "a prompt"],
    ]
    assert "psg: 2 of 2 pictures answered by fake." in texts(shown)


def test_a_picture_shows_on_the_stage_and_its_questions_have_votes(qtbot, shown, context):
    qtbot.keyClick(table(shown, "Pictures of the questions"), Qt.Key.Key_Down)
    questions = rows(table(shown, "Questions about the picture"))
    assert questions[0] == ["✓", "Object", "C 5", "Where is thing 0?"]
    qtbot.waitUntil(lambda: context.studio.session.run is not None)
    assert context.studio.session.run.image.shape == (8, 12, 3)


def test_a_question_shows_options_key_votes_and_reasons(qtbot, shown):
    qtbot.keyClick(table(shown, "Pictures of the questions"), Qt.Key.Key_Down)
    qtbot.keyClick(table(shown, "Questions about the picture"), Qt.Key.Key_Down)
    details = next(text for text in texts(shown) if "Where is thing" in text)
    assert "C: on top of all (key, votes: 5)" in details
    assert details.endswith("5 × C: as seen")  # noqa: RUF001


def test_methods_are_ranked_and_compared_in_the_radar_chart(shown, tmp_path):
    (tmp_path / "other").mkdir()
    other = asked_folder(tmp_path / "other", FakeAnswerer(always_c), method="boxdiff")
    shown.show_view(read_view(other))
    ranked = rows(table(shown, "Methods, best first"))
    assert [row[0] for row in ranked] == ["psg", "boxdiff"]
    assert ranked[0][2] == "1.000"
    said = shown.findChild(RadarChart).accessibleDescription()
    assert said.startswith("boxdiff: Object ")
    assert "psg: Object 1.00" in said


def test_asking_shows_the_cost_first_then_the_answers(qtbot, panel, answerer, tmp_path):
    plan = plan_in(tmp_path)
    for name, path in zip(
        panel._form._paths, (plan.data, plan.pictures, tmp_path / "run"), strict=True
    ):
        panel._form._paths[name].setText(str(path))
    panel._form._prices[0].setValue(2)
    panel._show_page(questions_panel.Shown.ASK)
    qtbot.mouseClick(button(panel, "Estimate"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "Left: 10 replies" in panel._form._cost.text())
    assert "USD" in panel._form._cost.text()
    assert answerer.requests == []
    qtbot.waitUntil(button(panel, "Ask").isEnabled)
    qtbot.mouseClick(button(panel, "Ask"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: table(panel, "Pictures of the questions").rowCount() == 2)
    qtbot.waitUntil(lambda: rows(table(panel, "Pictures of the questions"))[0][1] == "10/10")
    assert "2 of 2 pictures. So far: 10 replies" in panel._form._cost.text()


def test_a_folder_without_answers_is_explained(qtbot, panel, tmp_path):
    panel.open_folder(tmp_path)
    qtbot.waitUntil(lambda: any("contains no answers" in text for text in texts(panel)))


def box(panel, kind, name):
    known = panel.findChildren(kind)
    return next(
        each for each in known if name in (each.accessibleName(), getattr(each, "text", str)())
    )


def chosen(panel):
    """The settings that a run would be asked with."""
    return panel._form._choice().settings


def pick(qtbot, box, text):
    """Choose an entry with the keyboard."""
    box.setFocus()
    while box.currentText() != text:
        before = box.currentIndex()
        up = before > box.findText(text)
        qtbot.keyClick(box, Qt.Key.Key_Up if up else Qt.Key.Key_Down)
        assert box.currentIndex() != before


def test_the_protocol_is_ours_until_another_is_chosen(qtbot, panel):
    panel._show_page(questions_panel.Shown.ASK)
    assert chosen(panel) == AskSettings()
    preset = box(panel, QComboBox, "Preset")
    assert not preset.isVisible()
    qtbot.mouseClick(box(panel, QToolButton, "Protocol"), Qt.MouseButton.LeftButton)
    assert preset.isVisible()
    box(panel, QSpinBox, "Seed").setValue(7)
    pick(qtbot, preset, "As published")
    assert chosen(panel) == replace(PUBLISHED_ASKING, seed=7)
    pick(qtbot, preset, "Ours")
    assert chosen(panel) == AskSettings(seed=7)


def test_each_choice_of_the_protocol_is_one_of_the_settings(qtbot, panel):
    panel._show_page(questions_panel.Shown.ASK)
    qtbot.mouseClick(box(panel, QToolButton, "Protocol"), Qt.MouseButton.LeftButton)
    preset = box(panel, QComboBox, "Preset")
    for name, changed in {
        "Shuffle the options": {"shuffles": False},
        "Questions one by one": {"is_single": True},
        "Leave out unanswered pictures": {"rules": VoteRules(drops_incomplete=True)},
        "Leave out faulty questions": {"rules": VoteRules(leaves_out_defects=True)},
        "Replies in lines": {
            "rules": VoteRules(reads_first_character=True),
            "is_structured": False,
        },
    }.items():
        qtbot.keyClick(box(panel, QCheckBox, name), Qt.Key.Key_Space)
        assert chosen(panel) == AskSettings(**changed)
        assert preset.currentText() == "Own choice"
        qtbot.keyClick(box(panel, QCheckBox, name), Qt.Key.Key_Space)
        assert preset.currentText() == "Ours"
    box(panel, QSpinBox, "Rollouts").setValue(3)
    assert chosen(panel).rules == VoteRules(rollouts=3, attempts=15, votes=3)
    qtbot.keyClick(box(panel, QCheckBox, "Without pictures"), Qt.Key.Key_Space)
    assert chosen(panel).is_blind


def test_biases_of_answers_and_defects_of_the_questions_are_listed(qtbot, panel, tmp_path):
    folder = tmp_path / "run"
    plan = plan_in(tmp_path, count=2)
    sets = [line(1), line(2, answers=[*KEYS[:9], "F"])]
    plan.data.write_text("".join(json.dumps(each) + "\n" for each in sets))
    list(begin_run(folder, plan, write).ask(FakeAnswerer(always_c), read, CountingToken()))
    view = read_view(folder)
    panel.show_view(view)
    panel._show_page(questions_panel.Shown.BIASES)
    qtbot.waitUntil(lambda: table(panel, "Letters of keys and answers").isVisible())
    letters = rows(table(panel, "Letters of keys and answers"))
    assert letters[2][:2] == ["C", "40%"]
    assert letters[2][3:] == ["100%", "100%"]
    assert letters[0][3:] == ["0%", "0%"]
    blind = rows(table(panel, "Accuracy without the picture"))
    assert blind[2][:3] == ["always C", "40%", "40%"]
    defects = rows(table(panel, "Defects of the questions"))
    assert defects == [["000002", "10", "the key is not an option"]]
    stated = "Questions: 20. Pictures: 2. Defects: 1; these questions count."
    assert any(stated in text for text in texts(panel))


def test_asking_needs_all_paths(panel):
    assert not button(panel, "Ask").isEnabled()
    assert not button(panel, "Cancel").isEnabled()
