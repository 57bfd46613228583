"""Nothing in the window depends on a verdict before the vote: two sessions that differ in the
checker's verdicts and confidences alone show the same."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractListModel, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QLabel, QWidget

from spatialstudio.application.audit.sessions import SessionPlan, Voting, plan_session
from spatialstudio.domain.audit import Stratum
from spatialstudio.domain.audit_session import AuditTask
from spatialstudio.domain.verdict import Outcome

ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
)
OPPOSITE = {
    Outcome.PASS: Outcome.FAIL,
    Outcome.FAIL: Outcome.UNDECIDABLE,
    Outcome.UNDECIDABLE: Outcome.PASS,
}


@pytest.fixture(autouse=True)
def still_caret(qapp):
    """A text cursor that does not blink."""
    before = qapp.cursorFlashTime()
    qapp.setCursorFlashTime(0)
    yield
    qapp.setCursorFlashTime(before)


def texts_of(window):
    """Return all that the window tells: texts, tips, names, states, models and pixels."""
    told = [window.windowTitle()]
    for widget in (window, *window.findChildren(QWidget)):
        told += [widget.toolTip(), widget.statusTip(), widget.whatsThis()]
        told += [widget.accessibleName(), widget.accessibleDescription(), widget.objectName()]
        told += [str(widget.isVisible()), str(widget.isEnabled())]
        told += [str(widget.property(name)) for name in ("text", "value", "windowFilePath")]
        if isinstance(widget, QLabel):
            told.append(widget.text())
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            told += items_of(widget.model())
    for action in window.findChildren(QAction):
        told += [action.text(), action.toolTip(), str(action.isEnabled()), action.statusTip()]
    return told


def items_of(model):
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount()
    return [
        str(model.index(row, column).data(role))
        for row in range(model.rowCount())
        for column in range(columns)
        for role in ROLES
    ]


def turned(item):
    """Return the picture with another verdict and confidence."""
    one = item.candidate
    stratum = Stratum(
        method=one.stratum.method,
        relation=one.stratum.relation,
        verdict=OPPOSITE[one.stratum.verdict],
    )
    return replace(item, candidate=replace(one, stratum=stratum, confidence=1.0 - one.confidence))


def show(window, desk, session):
    """Open a session with a clock that stands still."""
    voting = desk.sessions.start(session)
    voting._clock = lambda: voting._shown_at
    desk._use(voting)
    window.grab()


@pytest.mark.parametrize("task", AuditTask, ids=lambda task: task.value)
@pytest.mark.parametrize("votes", [0, 2])
def test_no_text_or_pixel_depends_on_the_verdict(task, votes, qtbot, screen, desk, runs):
    window = screen.window()
    window.make_docks()
    population = desk.file_population(runs)
    plan = SessionPlan(rater="Ada", size=None, task=task)
    session = replace(plan_session(population, plan), created="2026", id="one")
    other = replace(session, items=tuple(map(turned, session.items)), id="two")
    seen = []
    for each in (replace(session, id="to build all widgets"), session, other):
        show(window, desk, each)
        for _ in range(votes):
            vote_something(desk)
        qtbot.waitUntil(screen.view.isVisible)
        qtbot.wait(50)
        image = window.centralWidget().grab().toImage()
        seen.append((texts_of(window), image))
    _, (first_texts, first_image), (second_texts, second_image) = seen
    assert second_texts == first_texts
    assert second_image == first_image


def vote_something(desk):
    from spatialstudio.domain.audit_session import Answer, Preference

    answers = {
        AuditTask.VERDICT: Answer(verdict=Outcome.PASS),
        AuditTask.SCORE: Answer(score=50.0),
        AuditTask.PREFERENCE: Answer(preferred=Preference.FIRST),
    }
    desk.vote(answers[desk.voting.session.task])


def test_the_comparison_notices_a_revealed_verdict(qtbot, window, screen, desk, runs):
    population = desk.file_population(runs)
    session = replace(
        plan_session(population, SessionPlan(rater="Ada", size=None)), created="2026", id="one"
    )
    other = replace(session, items=tuple(map(turned, session.items)), id="two")
    seen = []
    for each in (session, other):
        show(window, desk, each)
        desk.reveal()
        verdict = desk.voting.items[0].candidate.stratum.verdict.value
        qtbot.waitUntil(lambda verdict=verdict: verdict in screen.view._verdict.text())
        seen.append(texts_of(window))
    assert seen[0] != seen[1]


def test_file_names_hold_no_verdict(desk, begin):
    begin()
    ((path, _),) = desk.sessions.list()
    names = [path.name, *(Path(item.fields["image_path"]).name for item in desk.voting.items)]
    assert not any(each.value.lower() in name.lower() for each in Outcome for name in names)
    assert isinstance(desk.voting, Voting)
