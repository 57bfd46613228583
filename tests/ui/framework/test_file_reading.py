"""What others wrote is read and decoded outside the GUI thread; the latest read is shown."""

import os
import threading

import pytest
from PIL import Image, PngImagePlugin
from PySide6.QtWidgets import QFileDialog

from spatialstudio.adapters import images
from spatialstudio.adapters.storage.metadata import picture_texts
from spatialstudio.adapters.storage.stores import json_codec, state_files, trace
from spatialstudio.application.jobs.background_jobs import BackgroundJobEnded
from spatialstudio.ui.framework.file_reading import FileReading, Subject
from spatialstudio.ui.gallery import commands as gallery_commands
from spatialstudio.ui.gallery.gallery_panel import GalleryPanel
from spatialstudio.ui.run import commands as run_commands
from spatialstudio.ui.widgets.toast_cards import ToastCard
from spatialstudio.ui.window.workspaces import EVALUATE, GALLERY

DECODERS = (
    (images, "bounded_image"),
    (trace, "bounded_image"),
    (trace, "open_archive"),
    (json_codec, "open_archive"),
    (picture_texts, "png_chunks"),
    (images, "png_chunks"),
    (state_files, "read_json"),
)
"""Where the bytes of pictures, traces and settings are decoded."""


@pytest.fixture
def threads(drawn, studio, monkeypatch):
    """The threads in which anything is decoded, after a run was drawn and stored."""
    seen = []

    def watch(module, name):
        work = getattr(module, name)

        def watched(*arguments, **options):
            seen.append(threading.current_thread())
            return work(*arguments, **options)

        monkeypatch.setattr(module, name, watched)

    drawn.make_docks()
    studio.storage.own_judge_sets()  # a setting of the user, read once on first use
    for module, name in DECODERS:
        watch(module, name)
    return seen


@pytest.fixture
def stored(qtbot, drawn, studio):
    """The picture of the run that was drawn."""
    qtbot.waitUntil(lambda: studio.session.run.path is not None)
    return studio.session.run.path


@pytest.fixture
def telling(tmp_path):
    """A picture from elsewhere that tells its prompt."""
    texts = PngImagePlugin.PngInfo()
    texts.add_text("parameters", "a cat above a dog\nSteps: 20, Sampler: Euler, Seed: 7")
    path = tmp_path / "telling.png"
    Image.new("RGB", (16, 16)).save(path, pnginfo=texts)
    return path


def assert_outside(threads):
    assert threads
    assert threading.main_thread() not in threads


def test_a_dropped_picture_is_decoded_outside(qtbot, drawn, studio, telling, threads):
    drawn.use_workspace(EVALUATE)
    drawn.open_path(telling)
    qtbot.waitUntil(lambda: studio.session.run.image.shape == (16, 16, 3))
    assert_outside(threads)


def test_a_run_is_decoded_outside(qtbot, drawn, studio, stored, threads):
    before = studio.session.run
    drawn.open_path(stored)
    qtbot.waitUntil(lambda: studio.session.run is not before)
    assert studio.session.run.path == stored
    assert_outside(threads)


def test_a_run_of_the_gallery_is_decoded_outside(qtbot, drawn, studio, stored, threads):
    drawn.use_workspace(GALLERY)
    before = studio.session.run
    panel = drawn.panel(GalleryPanel)
    qtbot.waitUntil(lambda: panel.grid.current is not None)
    drawn.context.actions[gallery_commands.OPEN].trigger()
    qtbot.waitUntil(lambda: studio.session.run is not before)
    assert_outside(threads)


def test_compared_runs_are_decoded_outside(qtbot, drawn, stored, threads):
    drawn.use_workspace(GALLERY)
    panel = drawn.panel(GalleryPanel)
    qtbot.waitUntil(lambda: panel.grid.current is not None)
    drawn.context.actions[gallery_commands.COMPARE].trigger()
    qtbot.waitUntil(lambda: any(thread.name.startswith("reading") for thread in threads))
    assert_outside(threads)


def test_a_run_to_draw_again_is_decoded_outside(qtbot, drawn, engine, stored, threads):
    before = len(engine.jobs)
    drawn.use_workspace(GALLERY)
    panel = drawn.panel(GalleryPanel)
    qtbot.waitUntil(lambda: panel.grid.current is not None)
    drawn.context.actions[gallery_commands.RUN_AGAIN].trigger()
    qtbot.waitUntil(lambda: len(engine.jobs) > before)
    assert_outside(threads)


def test_settings_are_parsed_outside(qtbot, drawn, tmp_path, threads, monkeypatch):
    path = tmp_path / "theirs.json"
    path.write_text("[]")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    drawn.context.actions[run_commands.OPEN_SETTINGS].trigger()
    qtbot.waitUntil(lambda: bool(threads))
    assert_outside(threads)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_gets_a_sentence_and_blocks_nothing(qtbot, window, tmp_path, make):
    path = tmp_path / "odd.png"
    make(path)
    window.open_path(path)
    qtbot.waitUntil(lambda: bool(window.findChildren(ToastCard)))


class BackgroundJobs:
    """Runs nothing; numbers what was asked."""

    def __init__(self):
        self.titles, self.cancelled = [], []

    def run(self, title, _work):
        self.titles.append(title)
        return len(self.titles)

    def cancel(self, job_id):
        self.cancelled.append(job_id)


def test_the_latest_read_of_a_subject_wins():
    background_jobs, shown = BackgroundJobs(), []
    reading = FileReading(lambda: background_jobs)
    for number in (1, 2):
        reading.read(Subject.STAGE, str(number), int, shown.append, shown.append)
    reading.read(Subject.SECOND_RUN, "3", int, shown.append, shown.append)
    for number in (1, 2, 3):
        reading.handle(BackgroundJobEnded(job_id=number, result=number))
    assert shown == [2, 3]
    assert background_jobs.cancelled == [1]
