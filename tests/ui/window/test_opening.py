"""Pictures from elsewhere: their own prompt, the one that stands there, or none at all."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, PngImagePlugin
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from spatialstudio.application.jobs.messages import EvaluateJob
from spatialstudio.application.session import RunState
from spatialstudio.domain.errors import ImageError
from spatialstudio.domain.judge_choice import (
    DEFAULT_JUDGE_SET,
    STICKER_JUDGES,
    UNSUITED,
    UsedJudgeSet,
)
from spatialstudio.ui.evaluate.evaluation_panel import EvaluationPanel
from spatialstudio.ui.window.open_picture import open_picture
from tests.sticker_pictures import save_sticker_picture
from tests.ui.judged_runs import CAR, DOG, judged_run

THEIRS = "a cat to the left of a dog"
GET = "Download a judge set…"
PIXELS = np.full((8, 8, 3), 90, np.uint8)

CHECKER = "Checker: SpatialBench-UC as published"


def saved(path, prompt=""):
    """Write a picture, with a prompt told as AUTOMATIC1111 does."""
    texts = PngImagePlugin.PngInfo()
    if prompt:
        texts.add_text("parameters", f"{prompt}\nSteps: 20, Sampler: Euler, Seed: 7, Size: 8x8")
    Image.fromarray(PIXELS).save(path, pnginfo=texts)
    return path


def open_file(context, path):
    open_picture(context, context.studio.pictures.read(path))


@pytest.fixture(autouse=True)
def chosen(studio):
    """The detector that the user chose for all pictures."""
    studio.judges = STICKER_JUDGES


@pytest.fixture
def plain(tmp_path):
    return saved(tmp_path / "plain.png")


@pytest.fixture
def telling(tmp_path):
    return saved(tmp_path / "telling.png", THEIRS)


@pytest.fixture
def offers(context):
    """The messages that were shown."""
    told = []
    context.toasts.toast_raised.connect(told.append)
    return told


@pytest.fixture
def panel(qtbot, context):
    panel = EvaluationPanel(context)
    qtbot.addWidget(panel)
    panel.show()
    return panel


def follow(panel, studio):
    for event in studio.session.present():
        panel.handle(event)


def claims(engine):
    assert all(isinstance(job, EvaluateJob) for job in engine.jobs)
    return [job.scene.prompt.text for job in engine.jobs]


def test_a_picture_is_judged_by_the_current_prompt(context, engine, studio, plain):
    studio.use_prompt("a dog above a car")
    open_file(context, plain)
    assert claims(engine) == ["a dog above a car"]
    assert np.array_equal(engine.jobs[0].image, PIXELS)


def test_a_foreign_prompt_is_offered_and_taken_only_when_asked(
    context, engine, studio, telling, offers
):
    studio.use_prompt("a dog above a car")
    open_file(context, telling)
    assert claims(engine) == ["a dog above a car"]
    (toast,) = offers
    assert THEIRS in toast.message
    toast.offers[0].accept()
    assert claims(engine)[1:] == [THEIRS]
    assert studio.session.scene.prompt.text == THEIRS


def test_without_a_prompt_the_picture_is_shown_and_theirs_offered(
    context, engine, studio, telling, offers
):
    open_file(context, telling)
    assert engine.jobs == []
    assert np.array_equal(studio.session.run.image, PIXELS)
    assert offers[0].offers[0].text == "Judge with it"


def test_unsupported_relations_are_not_offered(context, tmp_path, offers):
    open_file(context, saved(tmp_path / "odd.png", "masterpiece, best quality"))
    assert offers == []


def test_what_is_no_picture_is_told(context, tmp_path):
    path = tmp_path / "notes.png"
    path.write_text("no picture")
    with pytest.raises(ImageError):
        context.studio.pictures.read(path)


def test_a_shown_picture_waits_for_words_and_is_judged_by_them(
    qtbot, context, engine, studio, plain, panel
):
    open_file(context, plain)
    follow(panel, studio)
    button = next(each for each in buttons(panel) if each.text() != GET)
    assert not button.isVisible()
    studio.use_prompt(THEIRS)
    follow(panel, studio)
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert claims(engine) == [THEIRS]


def test_a_judged_picture_is_judged_again_only_by_other_words(context, studio, panel):
    run = judged_run(DOG, CAR)
    studio.use_scene(run.scene)
    studio.session.open(run)
    follow(panel, studio)
    buttons = [each for each in panel.findChildren(QPushButton) if each.isVisible()]
    assert [each.text() for each in buttons] == []


def test_muting_a_relation_gives_nothing_new_to_judge(context, studio, panel):
    run = judged_run(DOG, CAR)
    muted = [replace(each, is_muted=True) for each in run.scene.relations]
    studio.session.open(run)
    studio.use_scene(replace(run.scene, relations=tuple(muted)))
    follow(panel, studio)
    assert not any(each.isVisible() for each in panel.findChildren(QPushButton))


def test_without_a_model_the_picture_is_shown_and_its_way_out_offered(
    qtbot, window, engine, studio, telling, monkeypatch
):
    monkeypatch.setattr(studio.model_list, "_cards", ())
    told = []
    window.context.toasts.toast_raised.connect(told.append)
    window.open_path(telling)
    qtbot.waitUntil(lambda: bool(told))
    assert np.array_equal(studio.session.run.image, PIXELS)
    (toast,) = told
    assert "No model" in toast.message
    offers = ["Get a model…", "Open models folder", "Refresh"]
    assert [each.text for each in toast.offers] == offers


def test_a_picture_of_unknown_origin_has_no_verdict_until_a_detector_is_chosen(
    context, engine, studio, plain, panel
):
    studio.judges = DEFAULT_JUDGE_SET
    studio.use_prompt("a dog above a car")
    open_file(context, plain)
    follow(panel, studio)
    assert engine.jobs == []
    assert studio.session.run.state is RunState.DONE
    assert studio.session.run.evaluation is None
    shown = [label.text() for label in panel.findChildren(QLabel)]
    assert any("The picture is not judged" in text for text in shown)
    (get,) = [each for each in buttons(panel) if not each.isHidden()]
    assert get.text() == GET
    asked = []
    context.window_signals.models_asked.connect(asked.append)
    get.click()
    assert "IDEA-Research/grounding-dino-base" in asked[0]
    studio.judges = replace(DEFAULT_JUDGE_SET, second_id="dino")
    context.window_signals.judges_chosen.emit()
    panel.judge_again()
    (job,) = engine.jobs
    assert (job.judges.detector_id, job.judges.second_id) == ("dino", None)


def test_a_picture_that_a_sticker_model_drew_is_judged_by_the_sticker_models(
    context, engine, studio, tmp_path
):
    studio.judges = DEFAULT_JUDGE_SET
    open_file(context, save_sticker_picture(tmp_path / "own.png", PIXELS, THEIRS))
    (job,) = engine.jobs
    assert job.judges == STICKER_JUDGES


def test_the_panel_says_which_detector_looked(context, studio, panel):
    run = judged_run(DOG, CAR)
    seen = replace(run.evaluation.perception, detector_id="owl")
    studio.session.open(replace(run, evaluation=replace(run.evaluation, perception=seen)))
    follow(panel, studio)
    words = f"Judged with owl\n{CHECKER}"
    assert words in [label.text() for label in panel.findChildren(QLabel)]


def test_the_verdict_names_the_judge_set_and_its_models(context, studio, panel):
    used = UsedJudgeSet(
        id="open-vocabulary", models={"detector": "org/owl 0123456789ab", "depth": "my depth"}
    )
    open_judged(studio, used)
    follow(panel, studio)
    shown = [label.text() for label in panel.findChildren(QLabel) if not label.isHidden()]
    words = f"Judged with Open vocabulary\nDetector: org/owl\nDepth model: my depth\n{CHECKER}"
    assert words in shown
    assert UNSUITED not in shown


def test_a_verdict_of_sticker_models_on_another_picture_carries_a_warning(studio, panel):
    used = UsedJudgeSet(id="stickers", models={"detector": "sticker-segmenter"}, is_unsuited=True)
    open_judged(studio, used)
    follow(panel, studio)
    shown = [label.text() for label in panel.findChildren(QLabel) if not label.isHidden()]
    assert UNSUITED in shown


def test_judging_again_is_offered_where_the_stored_set_differs_from_the_chosen_one(studio, panel):
    models = {"detector": "sticker-segmenter", "depth": "sticker-depth"}
    studio.use_prompt("a dog to the left of a car")
    open_judged(studio, UsedJudgeSet(id="coco", models={"detector": "org/detr"}))
    follow(panel, studio)
    assert [each for each in buttons(panel) if each.text() == "Judge again" and shows(each)]
    open_judged(studio, UsedJudgeSet(id="stickers", models=models))
    follow(panel, studio)
    assert not [each for each in buttons(panel) if each.text() == "Judge again" and shows(each)]


def open_judged(studio, used):
    """Open a picture judged with the current prompt by this judge set."""
    run = judged_run(DOG, CAR, scene=studio.session.scene)
    studio.session.open(replace(run, evaluation=replace(run.evaluation, judge_set=used)))


def buttons(panel):
    return panel.findChildren(QPushButton)


def shows(widget):
    return not widget.isHidden()
