"""After a failure there is a sentence, and a button for each thing that helps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QPushButton

from spatialstudio.adapters.storage.metadata.reader import PictureMetadata
from spatialstudio.application.jobs.messages import EngineStopped
from spatialstudio.application.session import StoreFailed
from spatialstudio.domain.devices import MemoryFix, Saving
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import GenerationFailed, GenerationFinished
from spatialstudio.ui.widgets.toast_cards import ToastCard
from spatialstudio.ui.window.window_commands import shown_settings
from tests.ui.scripted_engine import PROMPT, STEPS, picture_of

TILES = MemoryFix(savings=(Saving.TILING,), peak_bytes=3_100_000_000)
PROCESSOR = MemoryFix(savings=(Saving.PROCESSOR,))
TROUBLE = ErrorReport(title="Drawing", message="It failed.", hint="Try again.")
TOO_LITTLE = ErrorReport(
    title="Drawing", message="There is too little memory.", fixes=(TILES, PROCESSOR)
)
FULL = ErrorReport(title="Storing", message="The disk is full.")


@pytest.fixture
def running(window, engine):
    """The window while it draws a picture without a baseline, another one waiting."""
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    window.generation.generate()
    return window


def offers(window):
    """Return the buttons of the messages in sight, by their words."""
    cards = [card for card in window.findChildren(ToastCard) if card.isVisible()]
    return {each.text(): each for card in cards for each in card.findChildren(QPushButton)}


def test_too_little_memory_brings_fixes_that_are_applied_at_one_click(
    qtbot, running, engine, studio
):
    first = engine.jobs[0].job_id
    engine.report(GenerationFailed(request_id=first, error=TOO_LITTLE))
    qtbot.waitUntil(lambda: len(offers(running)) > 1)
    assert {"Tiled VAE decoding: 3.1 GB", "Generate on the CPU"} <= set(offers(running))
    engine.play(engine.jobs[1])
    qtbot.waitUntil(lambda: studio.queue.entry(first).state.value == "failed")
    offers(running)["Tiled VAE decoding: 3.1 GB"].click()
    (again,) = [entry for entry in studio.queue.entries if entry.id == first]
    assert again.requests[0].sampling.savings == (Saving.TILING,)
    assert running.generation.settings.sampling.savings == (Saving.TILING,)


def test_a_smaller_picture_is_drawn_at_one_click(qtbot, running, engine, studio):
    smaller = MemoryFix(size=(64, 96), peak_bytes=900_000_000)
    too_little = replace(TOO_LITTLE, fixes=(smaller,))
    for job in engine.jobs[:2]:
        engine.report(GenerationFailed(request_id=job.job_id, error=too_little))
    words = "Generate 96 × 64 pixels: 900 MB"  # noqa: RUF001
    qtbot.waitUntil(lambda: words in offers(running))
    offers(running)[words].click()
    request = studio.queue.entry(engine.jobs[0].job_id).requests[0]
    assert (request.height, request.width, request.sampling.savings) == (64, 96, ())
    settings = running.generation.settings
    assert (settings.height, settings.width) == (64, 96)


def test_picture_and_baseline_that_fail_alike_are_told_once(qtbot, running, engine, studio):
    guided, baseline = engine.jobs[:2]
    for job in (guided, baseline):
        engine.report(GenerationFailed(request_id=job.job_id, error=TROUBLE))
    qtbot.waitUntil(lambda: studio.queue.entry(guided.job_id).state.value == "failed")
    assert [toast.message for toast in running.context.toasts.earlier] == ["It failed."]


def test_a_fix_that_is_clicked_while_the_baseline_is_drawn_is_applied_after_it(
    qtbot, running, engine, studio
):
    guided, baseline = engine.jobs
    engine.report(GenerationFailed(request_id=guided.job_id, error=TOO_LITTLE))
    qtbot.waitUntil(lambda: "Generate on the CPU" in offers(running))
    assert studio.queue.running.id == guided.job_id
    offers(running)["Generate on the CPU"].click()
    running.generation.generate()  # the next pictures use the CPU, too
    assert studio.queue.waiting[-1].requests[0].sampling.savings == (Saving.PROCESSOR,)
    engine.play(baseline)
    qtbot.waitUntil(lambda: studio.queue.entry(guided.job_id).state.value == "waiting")
    assert studio.queue.entry(guided.job_id).requests[0].sampling.savings == (Saving.PROCESSOR,)


def test_a_dead_engine_leaves_all_that_waits_and_what_it_drew_can_be_drawn_again(
    qtbot, running, engine, studio
):
    guided, baseline = engine.jobs
    engine.report(EngineStopped(error=TROUBLE, lost=guided.job_id))
    engine.play(baseline)
    qtbot.waitUntil(lambda: "Retry" in offers(running))
    qtbot.waitUntil(lambda: studio.queue.entry(guided.job_id).state.value == "failed")
    assert studio.queue.running is not None
    offers(running)["Retry"].click()
    assert [entry.id for entry in studio.queue.waiting] == [guided.job_id]


def test_a_picture_that_could_not_be_stored_can_be_saved_elsewhere(
    qtbot, running, engine, tmp_path, monkeypatch
):
    target = tmp_path / "elsewhere.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    job = engine.jobs[0]
    picture = picture_of(3)
    engine.play(job, steps=STEPS)
    engine.report(
        GenerationFinished(request_id=job.job_id, image=picture, seconds=1.0, peak_memory_bytes=1)
    )
    recovered = Path(tmp_path / "recovery" / "picture.png")
    running.context.studio.bus.publish(
        StoreFailed(request_id=job.job_id, error=FULL, recovered=recovered)
    )
    qtbot.waitUntil(lambda: "Save as…" in offers(running))
    offers(running)["Save as…"].click()
    assert np.array_equal(np.asarray(Image.open(target)), picture)
    told = PictureMetadata().read(target)
    assert told.prompt == PROMPT
    assert told.record
    assert told.is_marked_as_generated


def test_the_recovery_copy_can_be_shown(qtbot, running, engine, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(QDesktopServices, "openUrl", shown.append)
    recovered = tmp_path / "recovery" / "picture.png"
    failure = StoreFailed(request_id=engine.jobs[0].job_id, error=FULL, recovered=recovered)
    running.context.studio.bus.publish(failure)
    qtbot.waitUntil(lambda: "Show the copy" in offers(running))
    offers(running)["Show the copy"].click()
    assert [url.toLocalFile() for url in shown] == [str(recovered.parent)]


def test_guided_picture_and_baseline_on_a_full_disk_are_one_message(
    qtbot, running, engine, studio, tmp_path
):
    guided, baseline = engine.jobs[:2]
    for job in (guided, baseline):
        recovered = tmp_path / f"{job.job_id}.png"
        studio.bus.publish(StoreFailed(request_id=job.job_id, error=FULL, recovered=recovered))
    qtbot.waitUntil(lambda: bool(offers(running)))
    (card,) = [card for card in running.findChildren(ToastCard) if card.isVisible()]
    assert "recovery copy" in card.toast.hint


def test_a_picture_that_is_stored_nowhere_is_named_and_leads_to_the_setting(
    qtbot, running, engine, studio
):
    studio.bus.publish(StoreFailed(request_id=engine.jobs[0].job_id, error=FULL))
    qtbot.waitUntil(lambda: "Choose a folder…" in offers(running))
    (card,) = [card for card in running.findChildren(ToastCard) if card.isVisible()]
    assert "not been saved" in card.toast.hint
    offers(running)["Choose a folder…"].click()
    assert shown_settings(running) == ("Pictures",)


def test_a_library_that_cannot_be_written_leads_to_its_setting(qtbot, window, studio, tmp_path):
    studio.storage.runs_folder = tmp_path / "file"
    studio.storage.runs_folder.write_text("taken")
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    qtbot.waitUntil(lambda: "Choose a folder…" in offers(window))
    offers(window)["Choose a folder…"].click()
    assert shown_settings(window) == ("Pictures",)
