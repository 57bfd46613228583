"""In the window, sticker models judge other pictures only if chosen by hand, with a warning."""

from dataclasses import replace
from functools import partial
from threading import Thread

import numpy as np
import pytest
from huggingface_hub import close_session
from PIL import Image
from PySide6.QtWidgets import QLabel, QListWidget, QPushButton

from spatialstudio.application.engine.worker import InlineEngine
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.studio import Studio
from spatialstudio.domain.judge_choice import UNSUITED
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.ui.evaluate.checker_panel import CheckerPanel
from spatialstudio.ui.evaluate.evaluation_panel import EvaluationPanel
from spatialstudio.ui.evaluate.judge_set_panel import JudgeSetPanel
from spatialstudio.ui.gallery.commands import JUDGE_STORED
from spatialstudio.ui.gallery.gallery_details_panel import GalleryDetailsPanel
from spatialstudio.ui.gallery.gallery_panel import GalleryPanel
from spatialstudio.ui.models.models_dialog import NAME_ROLE, ModelsDialog
from spatialstudio.ui.run.commands import TAKE_SETTINGS
from spatialstudio.ui.run.widgets.fields import ChoiceField
from spatialstudio.ui.window.workspaces import EVALUATE, GALLERY
from tests.adapters.perception.tiny_models import write_model
from tests.end_to_end.published_models import files_in
from tests.fakes import FakeDetector
from tests.hub_fakes import FakeHub, hub_in, without_token_of_the_user
from tests.judging_entry_points import PhotoRegistry
from tests.ui.by_name import named

PROMPT = "a dog to the left of a car"
DETECTOR = "IDEA-Research/grounding-dino-tiny"


class Person:
    """Uses the entry points of a window, and reads the verdict on the open picture."""

    def __init__(self, qtbot, window, folder):
        self._qtbot = qtbot
        self._window = window
        self._folder = folder
        self._studio = window.context.studio

    def generate(self):
        return self._judged(self._window.generation.generate)

    def generate_with_the_settings_of_the_picture(self):
        self._window.context.actions[TAKE_SETTINGS].trigger()
        return self.generate()

    def search(self):
        settings = self._window.generation._settings
        self._window.generation._take(with_values(settings, candidates=2))
        verdict = self.generate()
        self._window.generation._take(settings)
        return verdict

    def open_a_picture(self):
        photo = self._folder / "photo.png"
        Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(photo)
        return self._judged(lambda: self._window.open_path(photo))

    def judge_a_stored_run_again(self):
        (newest, *_) = self._drawn()
        self._judged(lambda: self._window.open_path(newest))
        self._window.panel(EvaluationPanel).judge_again()
        self._qtbot.waitUntil(lambda: self._studio.session.run.is_over)
        return self._studio.session.run.evaluation

    def judge_in_batch(self):
        self._window.use_workspace(GALLERY)
        gallery = self._window.findChild(GalleryPanel)
        self._qtbot.waitUntil(lambda: gallery.grid.current is not None)
        before = len(self.toasts())
        self._window.context.actions[JUDGE_STORED].trigger()
        self._qtbot.waitUntil(lambda: len(self.toasts()) > before)
        self._window.use_workspace(EVALUATE)
        return self._studio.read_run(self._window.context.gallery.current.path).evaluation

    def choose(self, set_id):
        panel = self._window.panel(JudgeSetPanel)
        field = named(panel, ChoiceField, "Judge set")
        self._qtbot.waitUntil(lambda: field.findData(set_id) > 0)
        field.setCurrentIndex(field.findData(set_id))

    def save_a_preset(self, name):
        settings = replace(REPRODUCE, min_confidence=0.9)
        self._studio.storage.checker_presets.save(name, settings, {})
        self._window.context.window_signals.preset_saved.emit(name)

    def choose_preset(self, name):
        field = named(self._window.panel(CheckerPanel), ChoiceField, "Preset of the checker")
        field.setCurrentIndex(field.findData(name))

    def press(self, text):
        panel = self._window.panel(EvaluationPanel)
        self._qtbot.waitUntil(lambda: text in shown_buttons(panel))
        shown_buttons(panel)[text].click()

    def judge(self):
        return self.press_judged("Judge the picture")

    def press_judged(self, text):
        return self._judged(lambda: self.press(text))

    def download_with(self, start):
        self._studio.downloads._start_download = start

    def fetch(self, repository):
        """Download a model on the Models page, which lists it first or later."""
        dialog = self._window.findChild(ModelsDialog)
        models = named(dialog, QListWidget, "Models")
        names = [models.item(row).data(NAME_ROLE) for row in range(models.count())]
        models.setCurrentRow(names.index(repository))
        shown_buttons(dialog)["Download"].click()
        self._qtbot.waitUntil(lambda: "Verify" in shown_buttons(dialog))
        dialog.close()

    def reads(self, panel):
        shown = (label for label in self._window.panel(panel).findChildren(QLabel))
        return [label.text() for label in shown if not label.isHidden()]

    def toasts(self):
        return [toast.message for toast in self._window.context.toasts.earlier]

    def offers(self):
        return [offer.text for offer in self._window.context.toasts.earlier[-1].offers]

    def _drawn(self):
        library = self._studio.library
        library.refresh()
        return [entry.path for entry in library.entries(library.list("-is:imported"))]

    def _judged(self, act):
        session = self._studio.session
        before = session.run
        act()
        self._qtbot.waitUntil(lambda: session.run is not before and session.run.is_over)
        self._qtbot.waitUntil(lambda: session.baseline is None or session.baseline.is_over)
        return session.run.evaluation


def shown_buttons(widget):
    return {each.text(): each for each in widget.findChildren(QPushButton) if each.isVisible()}


ENTRY_POINTS = (
    Person.generate,
    Person.generate_with_the_settings_of_the_picture,
    Person.search,
    Person.open_a_picture,
    Person.generate,
    Person.judge_a_stored_run_again,
    Person.judge_in_batch,
)


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A model of photos, and no judge set but that of the stickers."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return PhotoRegistry(tmp_path / "no models", FakeDetector())


@pytest.fixture
def person(qtbot, window_of, registry, tmp_path):
    """A person at a window that generates photos."""
    engine = InlineEngine(lambda: registry)
    studio = Studio(registry, engine, StudioPaths.within(tmp_path / "home"))
    window = window_of(studio)
    window.use_workspace(EVALUATE)
    window.prompt.use_prompt(PROMPT)
    yield Person(qtbot, window, tmp_path)
    studio.close()


def test_sticker_models_judge_no_photo_by_default(qtbot, person):
    words = "The picture is not judged: no installed judge set suits it."
    person.generate()
    assert person.toasts() == [words]  # one for the picture and its baseline
    assert [act(person) for act in ENTRY_POINTS] == [None] * len(ENTRY_POINTS)
    qtbot.waitUntil(lambda: any(words in text for text in person.reads(EvaluationPanel)))
    assert UNSUITED not in person.reads(EvaluationPanel)
    judged = [text for text in person.toasts() if "runs judged" in text]
    assert judged == ["0 runs judged, 8 with errors."]  # the closed stack of the prompt
    assert person.offers() == ["Download a judge set…"]


def test_sticker_models_chosen_by_hand_judge_photos_with_a_warning(qtbot, person):
    person.choose("stickers")
    evaluations = [act(person) for act in ENTRY_POINTS]
    assert all(each.judge_set.is_unsuited for each in evaluations)
    qtbot.waitUntil(lambda: UNSUITED in person.reads(EvaluationPanel))
    assert UNSUITED in person.reads(GalleryDetailsPanel)


def test_a_preset_saved_in_the_window_judges_the_picture_again(qtbot, person):
    person.choose("stickers")
    person.generate()
    person.save_a_preset("strict")
    person.choose_preset("strict")
    assert person.press_judged("Judge again").checker.preset == "strict"
    qtbot.waitUntil(lambda: "Checker: strict" in "\n".join(person.reads(EvaluationPanel)))


@pytest.fixture
def hub(registry, tmp_path, monkeypatch):
    """A hub on loopback that publishes a detector."""
    without_token_of_the_user(monkeypatch, tmp_path)
    write_model("grounding-dino", tmp_path / "published")
    with FakeHub() as server:
        server.add(DETECTOR, files_in(tmp_path / "published"))
        hub = hub_in(tmp_path, server.url)
        monkeypatch.setattr(registry, "model_hub", lambda _id: hub)
        yield server
    close_session()


class Download(Thread):
    """A download in a thread, as the window runs it in a process."""

    def __init__(self, hub, plan, report):
        super().__init__(daemon=True)
        self._arguments = hub, plan, report
        self.start()

    def run(self):
        hub, plan, report = self._arguments
        hub.download(plan, report, CancelFlag())
        report(None)


def test_a_picture_is_judged_after_the_download_that_its_button_offers(
    qtbot, hub, person, registry, monkeypatch
):
    asked = []
    monkeypatch.setattr(
        "spatialstudio.ui.models.models_dialog.is_confirmed",
        lambda *question: asked.append(question[1:]) or True,
    )
    person.download_with(partial(Download, registry.model_hub("")))
    assert person.generate() is None
    drawn = len(registry.backend("").requests)
    person.press("Download a judge set…")
    person.fetch(DETECTOR)
    ((question, facts, _),) = asked
    assert question == f"Download {DETECTOR}?"
    assert "Size: " in facts
    assert "Licence: apache-2.0" in facts
    evaluation = person.judge()
    assert evaluation.judge_set.id == "open-vocabulary"
    assert evaluation.judge_set.models["detector"].startswith(f"{DETECTOR} ")
    assert len(evaluation.verdicts) == 1
    assert len(registry.backend("").requests) == drawn
