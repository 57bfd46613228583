import pytest

from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import GenerationFailed
from spatialstudio.ui.window.demo import Demo
from tests.ui.scripted_engine import PROMPT


@pytest.fixture
def demo(window, studio, tmp_path):
    demo = Demo(window, studio.session, tmp_path)
    demo.begin(PROMPT, 7)
    yield demo
    demo.close()


def test_the_demo_leaves_two_runs_and_a_screenshot(qtbot, capsys, demo, engine, tmp_path):
    qtbot.waitUntil(lambda: len(engine.jobs) == 2)
    with qtbot.waitSignal(demo.ended) as ended:
        for job in engine.jobs:
            engine.play(job)
    assert ended.args == [0]
    assert (tmp_path / "screenshot.png").stat().st_size > 10_000
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "run",
        "run",
        "screenshot",
    ]


def test_a_failure_ends_the_demo_with_a_sentence(qtbot, capsys, demo, engine):
    qtbot.waitUntil(lambda: len(engine.jobs) == 2)
    report = ErrorReport(title="Drawing", message="The model is damaged.", hint="Reinstall.")
    with qtbot.waitSignal(demo.ended) as ended:
        engine.report(GenerationFailed(request_id=engine.jobs[0].job_id, error=report))
    assert ended.args == [1]
    assert capsys.readouterr().err == "The model is damaged. Reinstall.\n"
