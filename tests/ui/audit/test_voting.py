"""Votes by keyboard: stored before the next picture is shown, undone, skipped, annotated."""

import errno
import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QListWidget, QPushButton

from spatialstudio.adapters.storage.stores import vote_journal
from spatialstudio.application.audit.sessions import SessionPlan, sentence_of
from spatialstudio.domain.audit_session import Answer, AuditTask, Preference
from spatialstudio.domain.verdict import CheckerSettings, Outcome
from spatialstudio.ui.audit import commands
from spatialstudio.ui.audit.agreement_panel import AgreementPanel
from spatialstudio.ui.audit.calibration_panel import CalibrationPanel
from spatialstudio.ui.audit.risk_panel import RiskPanel
from spatialstudio.ui.audit.session_panel import AnalysisProgress, SessionPanel

GOLDEN = Path(__file__).parents[2] / "golden"


def claim(screen):
    return screen.view._claim.text()


def outcomes(desk):
    return [vote.answer.verdict for vote in desk.voting.state.votes.values()]


def test_keys_vote_and_go_on(qtbot, screen, begin, desk):
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    items = [desk.voting.items_of(place)[0] for place in range(4)]
    for key in (Qt.Key.Key_P, Qt.Key.Key_F, Qt.Key.Key_U):
        qtbot.keyClick(screen.view, key)
    assert outcomes(desk) == [Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDABLE]
    assert claim(screen) == sentence_of(items[3])
    ((path, _),) = desk.sessions.list()
    assert len(desk.sessions.read(path).votes) == 3


def test_undo_returns_to_the_picture_and_leaves_the_windows_edits(qtbot, screen, begin, desk):
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    first = claim(screen)
    qtbot.keyClick(screen.view, Qt.Key.Key_P)
    qtbot.keyClick(screen.view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert outcomes(desk) == []
    assert claim(screen) == first


def back(qtbot, widget):
    qtbot.keyClick(widget, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)


def test_return_keeps_the_votes_that_undo_took_back(qtbot, screen, begin, desk):
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    qtbot.keyClick(screen.view, Qt.Key.Key_F)
    qtbot.keyClick(screen.view, Qt.Key.Key_P)
    third = claim(screen)
    back(qtbot, screen.view)
    back(qtbot, screen.view)
    assert "Fail" in screen.view._state.text()
    qtbot.keyClick(screen.view, Qt.Key.Key_Return)
    assert "Pass" in screen.view._state.text()
    qtbot.keyClick(screen.view, Qt.Key.Key_Return)
    assert outcomes(desk) == [Outcome.FAIL, Outcome.PASS]
    assert claim(screen) == third


def test_return_without_a_vote_names_the_keys_and_stays(qtbot, screen, begin, desk):
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    shown = claim(screen)
    qtbot.keyClick(screen.view, Qt.Key.Key_Return)
    assert outcomes(desk) == []
    assert claim(screen) == shown
    assert "P passes" in screen.view._state.text()


def test_a_score_and_a_note_that_were_taken_back_are_shown_again(qtbot, screen, begin, desk):
    begin(task=AuditTask.SCORE)
    qtbot.waitUntil(screen.view.score.isVisible)
    field = screen.view.score.number
    screen.view.note.setText("puffs")
    qtbot.keyClicks(field, "72")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert field.value() != 72.0
    back(qtbot, field)
    assert field.value() == 72.0
    qtbot.keyClick(field, Qt.Key.Key_Return)
    (vote,) = desk.voting.state.votes.values()
    assert (vote.answer.score, vote.note) == (72.0, "puffs")


def test_a_note_is_typed_and_stored_with_the_vote(qtbot, screen, begin, desk):
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    qtbot.keyClick(screen.view, Qt.Key.Key_N)
    qtbot.keyClicks(screen.view.note, "puffs")
    qtbot.keyClick(screen.view.note, Qt.Key.Key_Return)
    qtbot.keyClick(screen.view, Qt.Key.Key_F)
    (vote,) = desk.voting.state.votes.values()
    assert vote.note == "puffs"
    assert screen.view.note.text() == ""


def test_a_score_is_typed_and_entered(qtbot, screen, begin, desk):
    begin(task=AuditTask.SCORE)
    qtbot.waitUntil(screen.view.score.isVisible)
    field = screen.view.score.number
    qtbot.keyClicks(field, "72")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert list(desk.voting.state.scores.values()) == [72.0]


def test_the_score_has_the_focus_from_the_first_picture_on(qtbot, window, screen, begin):
    begin(task=AuditTask.SCORE)
    qtbot.waitUntil(screen.view.score.isVisible)
    screen._take_new()
    assert window.focusWidget() is screen.view.score.number
    screen.view.note.setFocus()
    qtbot.keyClick(screen.view.note, Qt.Key.Key_Return)
    assert window.focusWidget() is screen.view.score.number


def test_pairs_are_compared_by_keys(qtbot, screen, begin, desk):
    begin(task=AuditTask.PREFERENCE)
    qtbot.waitUntil(lambda: screen.view.pictures[1].isVisible())
    qtbot.keyClick(screen.view, Qt.Key.Key_2)
    ((_, _, preferred),) = desk.voting.state.preferences
    assert preferred is Preference.SECOND
    qtbot.keyClick(screen.view, Qt.Key.Key_P)
    assert len(desk.voting.state.votes) == 1


def test_the_picture_is_in_the_middle(qtbot, screen, begin):
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    picture = screen.view.pictures[0]
    assert picture.frame().center().x() == pytest.approx(picture.width() / 2, abs=1)


def test_a_missing_picture_is_stated_and_can_be_voted_on(qtbot, screen, begin, desk, runs):
    for picture in runs[0].parent.parent.glob("*/images/*"):
        picture.unlink()
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    assert screen.view._missing.isVisible()
    qtbot.keyClick(screen.view, Qt.Key.Key_U)
    assert len(desk.voting.state.votes) == 1


def refuse(_file, _line):
    raise OSError(errno.ENOSPC, "full")


def test_a_full_disk_keeps_the_picture_and_says_so(qtbot, screen, begin, desk, monkeypatch):
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    shown, reports = claim(screen), []
    screen.problem_met.connect(reports.append)
    monkeypatch.setattr(vote_journal, "append_synced", refuse)
    qtbot.keyClick(screen.view, Qt.Key.Key_P)
    assert claim(screen) == shown
    assert len(reports) == 1


def finish(qtbot, screen, desk, key=None):
    """Vote on every picture: with a key, or as the checker does."""
    qtbot.waitUntil(screen.view.isVisible)
    keys = {Outcome.PASS: Qt.Key.Key_P, Outcome.FAIL: Qt.Key.Key_F}
    for _ in desk.voting.session.showings:
        verdict = desk.voting.items[0].candidate.stratum.verdict
        qtbot.keyClick(screen.view, key or keys.get(verdict, Qt.Key.Key_U))
    assert desk.voting.state.is_complete


def saved_preset(qtbot, studio, name="team"):
    """Return the settings of a preset as soon as it is saved."""
    presets = studio.storage.checker_presets
    qtbot.waitUntil(lambda: name in presets.names)
    return presets.settings(name)


def test_the_end_leads_to_a_preset_through_a_dragged_threshold(
    qtbot, screen, begin, desk, studio, tmp_path
):
    begin(size=40)
    panel = screen.window().panel(RiskPanel)
    qtbot.waitUntil(screen.view.isVisible)
    assert panel._analysis is None
    finish(qtbot, screen, desk)
    qtbot.waitUntil(lambda: panel._analysis is not None)
    panel._slider.setValue(600)
    changed = panel.findChild(QListWidget)
    assert changed.count() == len(panel._curve.changed(0.0, 0.6)) > 0
    area, wide = panel._curve.area, panel._curve.widest(0.2)
    panel._most_risk.setValue(0.2)
    assert f"Mean risk over coverage: {area:.3f}" in panel._summary.text()
    assert f"Risk at most 0.2: coverage {wide.coverage:.3f}" in panel._summary.text()
    panel._name.setText("team")
    panel._save.click()
    assert saved_preset(qtbot, studio).min_confidence == pytest.approx(0.6)
    panel.write_export(tmp_path / "curve.svg", panel.content_of)
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<")


def is_settled(analysis):
    return not analysis.agreement.disagreements


def test_a_second_rater_is_merged_and_disagreements_are_adjudicated(
    qtbot, window, screen, begin, desk
):
    begin(size=12)
    qtbot.waitUntil(screen.view.isVisible)
    finish(qtbot, screen, desk)
    ((first, _),) = desk.sessions.list()
    desk.close_session()
    begin(size=12, rater="Bo")
    finish(qtbot, screen, desk, Qt.Key.Key_U)
    desk.add_labels([first])
    qtbot.waitUntil(lambda: bool(screen._analysis and screen._analysis.agreement.pairs))
    disputed = screen._analysis.agreement.disagreements
    assert disputed
    window.context.actions[commands.ADJUDICATE].trigger()
    assert len(desk.voting.session.showings) == len(disputed)
    finish(qtbot, screen, desk, Qt.Key.Key_P)
    qtbot.waitUntil(lambda: bool(screen._analysis and is_settled(screen._analysis)))
    humans = {one.id: one.human for one in screen._analysis.samples}
    assert all(humans[each] is Outcome.PASS for each in disputed)


def test_ending_early_is_recorded_and_hides_no_more(qtbot, screen, begin, desk):
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    qtbot.keyClick(screen.view, Qt.Key.Key_P)
    desk.reveal_rest()
    qtbot.waitUntil(lambda: screen._analysis is not None)
    assert len(desk.voting.state.revealed) == 5
    assert len(desk.voting.state.labels) == 1


def test_a_revealed_verdict_is_shown_and_recorded(qtbot, screen, begin, desk):
    begin()
    qtbot.waitUntil(screen.view.isVisible)
    desk.reveal()
    texts = [label.text() for label in screen.view.findChildren(QLabel)]
    qtbot.waitUntil(lambda: "Checker:" in screen.view._verdict.text())
    assert texts
    assert desk.voting.state.revealed == {desk.voting.state.current}


def test_an_analysis_is_cancelled_and_started_again(qtbot, screen, begin, desk):
    begin()
    panel = screen.window().panel(SessionPanel)
    agreement = screen.window().panel(AgreementPanel)
    finish(qtbot, screen, desk)
    desk.cancel_analysis()
    progress = panel.findChild(AnalysisProgress)
    qtbot.waitUntil(lambda: not progress.isHidden())
    qtbot.waitUntil(lambda: "cancelled" in agreement._state.text())
    progress.again.click()
    qtbot.waitUntil(lambda: screen._analysis is not None)
    qtbot.waitUntil(progress.isHidden)


def test_a_label_file_that_is_damaged_later_is_stated(qtbot, screen, begin, desk, tmp_path):
    begin()
    finish(qtbot, screen, desk)
    qtbot.waitUntil(lambda: screen._analysis is not None)
    labels = tmp_path / "labels.csv"
    labels.write_text("sample_id,human_verdict,notes,timestamp\n")
    desk.add_labels([labels])
    labels.write_bytes(b"\xff")
    desk.analyse_votes()
    words = screen.window().panel(AgreementPanel)._state
    qtbot.waitUntil(lambda: "labels.csv" in words.text())


def test_the_docks_export_tables_and_figures(qtbot, screen, begin, desk, tmp_path, monkeypatch):
    begin(size=40)
    window = screen.window()
    agreement, calibration = window.panel(AgreementPanel), window.panel(CalibrationPanel)
    finish(qtbot, screen, desk)
    qtbot.waitUntil(lambda: calibration._analysis is not None)
    assert "isotonic" in calibration._error.text()
    assert "Platt" in calibration._error.text()
    buttons = {
        each.text(): each
        for panel in (agreement, calibration)
        for each in panel.findChildren(QPushButton)
    }
    wanted = {
        "agreement.tex": ("Export agreement…", b"tabular"),
        "agreement.pdf": ("Export agreement…", b"%PDF"),
        "metrics.csv": ("Export metrics…", b"checker"),
        "metrics.svg": ("Export metrics…", b"Checker"),
        "bins.csv": ("Export…", b"confidence"),
        "bins.svg": ("Export…", b"<svg"),
    }
    for name, (button, content) in wanted.items():
        target = tmp_path / name
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, to=target: (str(to), ""))
        buttons[button].click()
        assert content in target.read_bytes()
    assert screen._context.settings.export_folder == tmp_path


def test_margins_are_searched_on_the_recorded_runs_and_saved(
    qtbot, screen, desk, studio, monkeypatch
):
    population = desk.file_population([GOLDEN / "spatialbench_run"])
    desk.start(population, SessionPlan(rater="Ada", size=30))
    qtbot.waitUntil(screen.view.isVisible)
    panel = screen.window().panel(CalibrationPanel)
    finish(qtbot, screen, desk)
    qtbot.waitUntil(lambda: panel._analysis is not None)
    assert panel._table.rowCount() == 3
    panel._margins.setText("0.05, 0.1")
    panel.search_margins()
    qtbot.waitUntil(lambda: panel._table.rowCount() == 12)
    shown = [panel._table.item(each, 0).text() for each in range(12)]
    assert shown[::4] == ["Margin as recorded", "Margin 0.05", "Margin 0.1"]
    assert shown[1:4] == shown[5:8] == ["0.30", "0.50", "0.70"]
    assert f"J {panel._report.best.objective:.3f}" in panel._chosen.text()
    objectives = [row.objective for row in panel._report.rows]
    assert objectives[:3] == pytest.approx(objectives[6:])  # the run was judged with 0.1
    assert objectives[:3] != pytest.approx(objectives[3:6])
    best = panel._report.best
    monkeypatch.setattr(studio, "checker", CheckerSettings(margin=0.3, near_distance=0.2))
    panel._name.setText("team")
    panel._save_preset()
    saved = saved_preset(qtbot, studio)
    assert saved.margin == best.settings.get("margin", 0.1)  # not that of the chosen checker
    assert saved.near_distance == CheckerSettings().near_distance
    assert saved.min_confidence == best.threshold


def test_margins_are_searched_on_the_evaluation_of_the_sample(qtbot, screen, desk, tmp_path):
    evaluation = tmp_path / "run" / "eval_precal"
    shutil.copytree(GOLDEN / "spatialbench_run", evaluation.parent)
    shutil.rmtree(evaluation.with_name("eval"))
    desk.start(desk.file_population([evaluation]), SessionPlan(rater="Ada", size=30))
    panel = screen.window().panel(CalibrationPanel)
    finish(qtbot, screen, desk)
    qtbot.waitUntil(lambda: panel._analysis is not None)
    panel._margins.setText("0.05")
    panel.search_margins()
    qtbot.waitUntil(lambda: panel._table.rowCount() == 8)
    objectives = [row.objective for row in panel._report.rows]
    assert objectives[:3] == pytest.approx(objectives[3:])  # the run was judged with 0.05


def test_margins_need_the_runs_of_the_sample(qtbot, screen, begin, desk, runs):
    begin(size=40)
    panel = screen.window().panel(CalibrationPanel)
    finish(qtbot, screen, desk)
    qtbot.waitUntil(lambda: panel._analysis is not None)
    for run in runs:
        run.rename(run.with_name("moved"))
    problems = []
    panel.problem_met.connect(problems.append)
    panel.search_margins()
    qtbot.waitUntil(lambda: bool(problems))
    assert 'has no evaluation "eval"' in problems[0].message
    assert panel._chosen.text().startswith("Least J")


def test_a_recorded_search_is_compared_with_the_verdicts(qtbot, screen, begin, desk, tmp_path):
    begin(size=40)
    panel = screen.window().panel(CalibrationPanel)
    finish(qtbot, screen, desk)
    qtbot.waitUntil(lambda: panel._analysis is not None)
    chosen = {"detector_score_threshold": 0.4, "confidence_threshold": 0.5}
    figures = {"false_pass_rate_high_conf": 0.01, "risk": 0.05, "coverage": 0.7}
    file = tmp_path / "audit_metrics.json"
    search = {"best_parameters": chosen, "best_metrics": figures}
    file.write_text(json.dumps({"calibration": search}))
    panel.compare_recorded(file)
    deployed = panel._analysis.calibration.rows[1].objective
    assert "J 0.35000 at threshold 0.5, detector score threshold 0.4" in panel._recorded.text()
    assert f"J {deployed:.5f} ({deployed - 0.35:+.5f})" in panel._recorded.text()
    del chosen["detector_score_threshold"]
    file.write_text(json.dumps({"calibration": search}))
    panel.compare_recorded(file)
    assert "J 0.35000 at threshold 0.5. These" in panel._recorded.text()


def test_scores_are_no_labels_to_export(qtbot, screen, begin, desk, window):
    begin(task=AuditTask.SCORE)
    qtbot.waitUntil(screen.view.isVisible)
    desk.vote(Answer(score=50.0))
    qtbot.waitUntil(lambda: window.context.actions[commands.UNDO_VOTE].isEnabled())
    assert not window.context.actions[commands.EXPORT_LABELS].isEnabled()


def test_the_session_offers_what_can_be_done(qtbot, window, screen):
    panel, new = window.panel(SessionPanel), window.context.actions[commands.NEW]
    button = panel._buttons[commands.NEW]
    for is_on in (False, True):
        new.setEnabled(is_on)
        qtbot.waitUntil(lambda expected=is_on: button.isVisibleTo(panel) == expected)
