"""Every way to have a picture judged: window, terminal, Python API and gallery.

Each function gives a picture that no sticker model drew to one of them, and returns the evaluation;
None if the picture is not judged.
"""

import json
from pathlib import Path

import numpy as np
from PIL import Image

from spatialstudio import api
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.registry import BUILT_IN_MANIFEST, Registry, read_manifest
from spatialstudio.application.session import OpenRun
from spatialstudio.application.storage.run_writer import store_import
from spatialstudio.cli import commands
from spatialstudio.domain.errors import DetectorError, NoDetectorChosen
from spatialstudio.domain.judge_choice import STICKER_DETECTOR_ID
from spatialstudio.domain.library import PictureOrigin
from spatialstudio.domain.ports import ModelCard, Surroundings
from spatialstudio.domain.resources import resources_folder
from tests.fakes import FakeBackend, FakeDepth, FakeDetector

NEVER = FakeDetector(error=DetectorError("The sticker models were asked."))

PHOTOS = ModelCard(
    id="photos",
    title="Photos",
    backend_id="fake",
    folder=Path("photos"),
    size_bytes=1,
    licence="MIT",
    native_size=16,
    steps=1,
    guidance_scale=4.0,
    strength=5.0,
    known_objects={},
)
"""A generation model that draws other pictures than stickers."""


class Catalog:
    """Lists the model of photos."""

    def cards(self):
        return (PHOTOS,)

    def damaged(self):
        return {}


class PhotoRegistry(Registry):
    """The built-in adapters without a cache, with fakes for drawing and for the sticker models."""

    def __init__(self, models, sticker_detector):
        surroundings = Surroundings(resources=resources_folder(), model_folders=(models,))
        super().__init__(read_manifest(BUILT_IN_MANIFEST), surroundings)
        self._catalog = Catalog()
        self.sticker_detector = sticker_detector
        self._backend = FakeBackend()

    def model_catalog(self, adapter_id):
        return self._catalog

    def backend(self, adapter_id):
        return self._backend

    def detector(self, adapter_id):
        if adapter_id == STICKER_DETECTOR_ID:
            return self.sticker_detector
        return super().detector(adapter_id)

    def depth(self, adapter_id):
        return FakeDepth() if adapter_id == "sticker-depth" else super().depth(adapter_id)


class EntryPoints:
    """The entry points, around studios of one kind.

    Args:
        open_studio: Opens a studio that stores its runs in a folder.
        folder: Folder for pictures and runs.
        prompt: Prompt of the picture.
        capsys: Captures the output of the terminal.
        monkeypatch: Replaces the studio of the Python API.
    """

    def __init__(self, open_studio, folder, prompt, capsys, monkeypatch):
        self._open_studio = open_studio
        self._runs = folder / "runs"
        self._prompt = prompt
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self._picture = folder / "photo.png"
        noise = np.random.default_rng(0).integers(0, 256, (48, 80, 3), np.uint8)
        Image.fromarray(noise).save(self._picture)

    def judge(self, entry_point, choice):
        """Judge a picture by a choice of judge set at one entry point, by its name."""
        return ENTRY_POINTS[entry_point](self, choice)

    def window_generate(self, choice):
        studio = self._studio(choice)
        studio.use_prompt(self._prompt)
        studio.generate(studio.new_request(guided=False))
        return self._end(studio)

    def window_open(self, choice):
        studio = self._studio(choice)
        studio.pictures.judge(self._picture, studio.parse_prompt(self._prompt))
        return self._end(studio)

    def window_judge_again(self, choice):
        studio = self._studio(choice)
        studio.open_run(self._stored(studio))
        studio.pictures.judge_open(studio.session.scene)
        return self._end(studio)

    def gallery_batch(self, choice):
        studio = self._studio(choice)
        try:
            return studio.judge_stored(self._stored(studio), lambda: None)
        except NoDetectorChosen:
            return None
        finally:
            studio.close()

    def generate(self, choice):
        self._type("generate", self._prompt, "--guidance", "none", *_words(choice))
        return self._newest()

    def search(self, choice):
        self._type("generate", self._prompt, "--search", "2", *_words(choice))
        return self._newest()

    def evaluate(self, choice):
        self._type("evaluate", self._picture, "--prompt", self._prompt, *_words(choice))
        return self._newest()

    def evaluate_folder(self, choice):
        folder = self._picture.parent
        row = self._type("evaluate", folder, "--prompt", self._prompt, *_words(choice))
        assert len(row["pictures"]) == 1
        return self._newest()

    def judge_again(self, choice):
        studio = self._studio(choice)
        path = self._stored(studio)
        studio.close()
        self._type("judge-again", path, "--store", *_words(choice))
        return self._newest()

    def api(self, choice):
        studio = self._open_studio(self._runs)
        self._monkeypatch.setattr(api, "_studio", lambda: studio)
        models = {task.value: model for task, model in choice.models.items()}
        judges = choice.set_id or models
        try:
            judged = api.evaluate(
                self._picture, self._prompt, judges=judges, cut=choice.cut, metrics=["da"]
            )
        except NoDetectorChosen:
            return None
        return judged.evaluation

    def _studio(self, choice):
        studio = self._open_studio(self._runs)
        studio.judges = choice
        studio.bus.subscribe(studio.session.apply_event)
        studio.start()
        return studio

    def _end(self, studio):
        run = studio.session.run
        studio.close()
        assert run.evaluation or run.failure
        return run.evaluation

    def _stored(self, studio):
        """Store the picture without an evaluation, as a run of an unknown model."""
        scene = studio.parse_prompt(self._prompt)
        with Image.open(self._picture) as image:
            pixels = np.array(image)
        run = OpenRun(id="", scene=scene, image=pixels, origin=PictureOrigin(name="photo.png"))
        return store_import(run, RunFiles(), self._runs)

    def _type(self, *words):
        self._capsys.readouterr()
        into = {"generate": ["--out", self._runs], "evaluate": ["--library", self._runs]}
        line = [str(word) for word in (*words, *into.get(words[0], ()), "--json")]
        commands.run(line, self._open_studio)
        out = self._capsys.readouterr().out
        return json.loads(out) if out else {}

    def _newest(self):
        pictures = sorted(self._runs.rglob("*.png"))
        return RunFiles().load(pictures[-1])[0].evaluation if pictures else None


ENTRY_POINTS = {
    "window: generate": EntryPoints.window_generate,
    "window: open a picture": EntryPoints.window_open,
    "window: judge again": EntryPoints.window_judge_again,
    "gallery: batch": EntryPoints.gallery_batch,
    "terminal: generate": EntryPoints.generate,
    "terminal: search": EntryPoints.search,
    "terminal: evaluate a picture": EntryPoints.evaluate,
    "terminal: evaluate a folder": EntryPoints.evaluate_folder,
    "terminal: judge-again": EntryPoints.judge_again,
    "api: evaluate": EntryPoints.api,
}


def _words(choice):
    """Return a choice as options of the terminal."""
    words = ["--judge-set", choice.set_id] if choice.set_id else []
    return [*words, "--cut", choice.cut] if choice.cut is not None else words
