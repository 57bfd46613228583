"""Gold items: correct answers from a file, mixed in, and reported for each rater."""

from collections import defaultdict

import pytest
from PySide6.QtWidgets import QFileDialog

from spatialstudio.domain.audit_session import Answer, AuditTask, Preference
from spatialstudio.ui.audit.agreement_panel import AgreementPanel
from spatialstudio.ui.audit.start_dialog import Source, StartDialog


@pytest.fixture
def dialog(qtbot, window, screen, runs):
    """The start of a session on the recorded runs."""
    dialog = StartDialog(window.context, window)
    dialog._rater.setText("Ada")
    dialog._take_source(Source.RUNS)
    dialog._paths = tuple(runs)
    dialog._read_population()
    qtbot.waitUntil(lambda: bool(dialog._population))
    return dialog


@pytest.fixture
def choose(dialog, monkeypatch):
    """Return a function that chooses a file of correct answers."""

    def choose_file(path):
        monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
        dialog._gold_file.click()

    return choose_file


def table(path, *rows):
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_gold_scores_are_mixed_in_and_their_share_is_reported(
    qtbot, dialog, desk, choose, tmp_path
):
    dialog._take_task(AuditTask.SCORE)
    assert not dialog._gold.isEnabled()
    rows = [f"{item.candidate.id},40" for item in dialog._population]
    choose(table(tmp_path / "expert.csv", "sample_id,score", *rows))
    assert dialog._gold_file.text() == f"{len(rows)} correct answers"
    dialog._size.setValue(6)
    dialog._gold.setValue(3)
    dialog._tolerance.setValue(5)
    dialog._start.click()
    given = iter((40.0, 45.0, 46.0))
    for _ in desk.voting.session.showings:
        shown = desk.voting.items[0].candidate.id
        desk.vote(Answer(score=next(given) if shown in desk.voting.session.gold_ids else 90.0))
    panel = dialog.parent().panel(AgreementPanel)
    qtbot.waitUntil(lambda: "2 of 3 gold items correct (± 5)" in panel._notes.text())
    assert len(desk.voting.state.scores) == 6


def test_gold_pairs_are_mixed_in_and_their_share_is_reported(qtbot, dialog, desk, choose, tmp_path):
    dialog._take_task(AuditTask.PREFERENCE)
    groups = defaultdict(list)
    for item in dialog._population:
        groups[item.fields["prompt"]].append(item.candidate.id)
    (loser, winner), (equal, other) = (group[:2] for group in list(groups.values())[:2])
    rows = (f"{loser},{winner},second", f"{equal},{other},equal")
    choose(table(tmp_path / "expert.csv", "first,second,preferred", *rows))
    dialog._size.setValue(4)
    dialog._gold.setValue(2)
    assert not dialog._tolerance.isVisibleTo(dialog)
    dialog._start.click()
    for _ in desk.voting.session.showings:
        is_second = desk.voting.items[1].candidate.id == winner
        desk.vote(Answer(preferred=Preference.SECOND if is_second else Preference.FIRST))
    panel = dialog.parent().panel(AgreementPanel)
    qtbot.waitUntil(lambda: "1 of 2 gold items correct" in panel._notes.text())
    assert len(desk.voting.state.preferences) == 4


def test_one_correct_answer_is_stated(dialog, choose, tmp_path):
    dialog._take_task(AuditTask.SCORE)
    choose(table(tmp_path / "one.csv", "sample_id,score", "a,40"))
    assert dialog._gold_file.text() == "1 correct answer"


def test_a_session_with_too_few_gold_items_is_not_started(dialog, desk, choose, tmp_path):
    rows = [f"{item.candidate.id},PASS,," for item in dialog._population]
    choose(table(tmp_path / "a.csv", "sample_id,human_verdict,notes,timestamp", *rows))
    dialog._size.setValue(len(rows))
    dialog._gold.setValue(1)
    dialog._start.click()
    assert desk.voting is None
    assert "Only 0 of 1 gold items" in dialog._summary.text()
    dialog._size.setValue(6)
    dialog._start.click()
    assert len(desk.voting.session.gold) == 1


def test_the_session_of_an_expert_gives_gold_items(dialog, desk, begin, choose):
    begin(task=AuditTask.SCORE, rater="expert")
    while desk.voting.items:
        desk.vote(Answer(score=30.0))
    ((path, _),) = desk.sessions.list()
    choose(path)
    assert "no correct answers to this question" in dialog._summary.text()
    assert not dialog._gold.isEnabled()
    dialog._take_task(AuditTask.SCORE)
    choose(path)
    assert dialog._gold_file.text() == "6 correct answers"
    dialog._take_task(AuditTask.PREFERENCE)
    assert not dialog._gold.isEnabled()


@pytest.mark.parametrize(
    ("task", "text", "words"),
    [
        (AuditTask.SCORE, "sample_id,score\na,101\n", "not a score"),
        (AuditTask.SCORE, "sample_id,score\na,nan\n", "damaged"),
        (AuditTask.SCORE, "sample_id,human_verdict\n", "no correct answers"),
        (AuditTask.PREFERENCE, "first,second,preferred\na,b,third\n", "invalid preference"),
        (AuditTask.PREFERENCE, "first,second,preferred\na,a,first\n", "invalid preference"),
        (AuditTask.PREFERENCE, "sample_id,score\na,1\n", "damaged"),
        (AuditTask.VERDICT, "sample_id,score\na,1\n", "damaged"),
    ],
)
def test_a_file_without_correct_answers_is_stated(task, text, words, dialog, choose, tmp_path):
    dialog._take_task(task)
    choose(table(tmp_path / "gold.csv", text))
    assert words in dialog._summary.text()
    assert not dialog._gold.isEnabled()
