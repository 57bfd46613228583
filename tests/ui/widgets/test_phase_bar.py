import pytest
from PySide6.QtWidgets import QLabel, QProgressBar

from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.phase_bar import PhaseBar, Progress

PHASES = ("Load", "Denoise", "Judge")


@pytest.fixture
def bar(qtbot):
    bar = PhaseBar()
    qtbot.addWidget(bar)
    bar.show()
    return bar


def seen(bar):
    return [label.text() for label in bar.findChildren(QLabel) if label.isVisible()]


def test_the_current_phase_tells_its_detail(bar):
    bar.show_progress(Progress("Guided", PHASES, 1, "7 of 16", 0.5, "about 3 s left"))
    assert {"Guided", "Load", "Denoise 7 of 16", "Judge", "about 3 s left"} <= set(seen(bar))


def meters(bar):
    """Return the bars of the phases; those that only keep the height are hidden."""
    bars = bar.findChildren(QProgressBar)
    return {each.accessibleName(): each for each in bars if not each.parentWidget().isHidden()}


def test_each_phase_has_a_separate_bar(bar):
    bar.show_progress(Progress(phases=PHASES, current=1, share=0.5))
    shares = [meter.value() / meter.maximum() for meter in meters(bar).values()]
    assert shares == pytest.approx([1.0, 0.5, 0.0])


def test_an_unknown_share_keeps_moving(bar):
    bar.show_progress(Progress(phases=PHASES, current=1))
    found = meters(bar)
    assert found["Denoise"].maximum() == 0
    assert found["Judge"].maximum() > 0


def test_when_nothing_runs_only_the_message_is_left(bar):
    bar.show_progress(Progress("Guided", PHASES, 1))
    bar.show_progress(Progress(message="Generated in 2.5 s"))
    assert [text for text in seen(bar) if text] == ["Generated in 2.5 s"]
    assert not any(meter.isVisible() for meter in meters(bar).values())


def test_progress_can_be_heard(bar):
    bar.show_progress(Progress("Guided", PHASES, 1, "7 of 16"))
    assert bar.accessibleDescription() == "Guided Denoise 7 of 16"


def test_the_message_gives_way_to_the_time_left(bar):
    bar.show_progress(Progress(message="Ready."))
    bar.show_progress(Progress("Guided", PHASES, 1, remaining="about 3 s left"))
    assert "Ready." not in seen(bar)
    assert "about 3 s left" in seen(bar)


def test_a_narrow_bar_names_the_current_phase_without_widening(qtbot, bar):
    long = Progress("Guided", PHASES, 1, "7 of 16", 0.5, "about 3 s left", "3 waiting")
    bar.resize(em(80), bar.height())
    bar.show_progress(long)
    names = {label.text(): label for label in bar.findChildren(QLabel)}
    qtbot.waitUntil(lambda: names["Judge"].width() > 0)
    bar.resize(em(26), bar.height())
    qtbot.waitUntil(lambda: names["Judge"].width() == 0)
    assert names["Denoise 7 of 16"].width() >= names["Denoise 7 of 16"].sizeHint().width()
    assert bar.minimumSizeHint().width() <= em(12)
    bar.resize(em(80), bar.height())
    qtbot.waitUntil(lambda: names["Judge"].width() > 0)
