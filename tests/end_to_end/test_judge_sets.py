"""The judge sets at every entry point: real models with tiny random weights, real processors."""

import logging

import pytest

from spatialstudio.application.engine.worker import InlineEngine
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.studio import Studio
from spatialstudio.domain.judge_choice import (
    DEFAULT_JUDGE_SET,
    JUDGE_SETS,
    STICKERS,
    JudgeSetChoice,
)
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID
from tests.adapters.perception.tiny_models import write_model
from tests.adapters.questions.tiny_blip import save_tiny_blip
from tests.fakes import FakeDetector
from tests.judging_entry_points import ENTRY_POINTS, NEVER, EntryPoints, PhotoRegistry

PROMPT = "a dog in front of a teddy bear, a person, a motorbike and a tv"
MODELS = ("grounding-dino", "sam2", "depth-anything", "rt-detr", "mask2former")
EXPECTED = {
    "open-vocabulary": {
        "detector": "grounding-dino",
        "segmenter": "sam2",
        "depth": "depth-anything",
        "answerer": "blip",
    },
    "coco": {
        "detector": "mask2former",
        "second_detector": "rt-detr",
        "depth": "depth-anything",
        "answerer": "blip",
    },
    "spatialbench-uc": {"detector": "rt-detr", "second_detector": "grounding-dino"},
}


@pytest.fixture(scope="session")
def judge_models(tmp_path_factory):
    """A folder with the models of all judge sets."""
    root = tmp_path_factory.mktemp("judge models")
    logging.getLogger("transformers").setLevel(logging.CRITICAL)
    for name in MODELS:
        write_model(name, root / name)
    save_tiny_blip(root / "blip")
    return root


@pytest.fixture
def entry_points(tmp_path, capsys, monkeypatch):
    """Make the entry points of a registry."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "no cache"))

    def make(registry):
        paths = StudioPaths.within(tmp_path / "home")

        def open_studio(runs_folder):
            engine = InlineEngine(lambda: registry)
            return Studio(registry, engine, paths, runs_folder)

        return EntryPoints(open_studio, tmp_path, PROMPT, capsys, monkeypatch)

    return make


@pytest.fixture(scope="session")
def all_sets(judge_models):
    """A registry with the models of all judge sets, which stay loaded."""
    return PhotoRegistry(judge_models, NEVER)


@pytest.mark.parametrize("set_id", EXPECTED)
@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_a_judge_set_judges_with_its_models_and_their_processors(
    entry_points, all_sets, entry_point, set_id
):
    choice = JudgeSetChoice(set_id=set_id, cut=0.0)  # random weights are sure of nothing
    evaluation = entry_points(all_sets).judge(entry_point, choice)
    used, seen = evaluation.judge_set, evaluation.perception
    assert used.id == set_id
    assert {task: name.split()[0] for task, name in used.models.items()} == EXPECTED[set_id]
    assert not used.is_unsuited
    assert seen.detector_id == EXPECTED[set_id]["detector"]
    assert seen.missing_classes == ()
    assert {each.detector_id for each in seen.detections} == {seen.detector_id}
    assert bool(seen.masks) == (set_id != "spatialbench-uc")
    assert (seen.depth is not None) == (set_id != "spatialbench-uc")
    assert evaluation.da_score.source_id == EXPECTED[set_id].get("answerer", PERCEPTION_ID)
    assert evaluation.verdicts


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_without_a_choice_the_first_installed_set_judges(entry_points, all_sets, entry_point):
    evaluation = entry_points(all_sets).judge(entry_point, DEFAULT_JUDGE_SET)
    assert evaluation.judge_set.id == JUDGE_SETS[1].id == "open-vocabulary"


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_sticker_models_never_judge_another_picture_by_default(entry_points, tmp_path, entry_point):
    nothing = tmp_path / "no models"
    assert entry_points(PhotoRegistry(nothing, NEVER)).judge(entry_point, DEFAULT_JUDGE_SET) is None


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_sticker_models_chosen_by_hand_mark_the_verdict(entry_points, tmp_path, entry_point):
    choice = JudgeSetChoice(set_id=STICKERS.id)
    registry = PhotoRegistry(tmp_path / "no models", FakeDetector())
    evaluation = entry_points(registry).judge(entry_point, choice)
    assert evaluation.judge_set.is_unsuited
    assert "supports sticker pictures only" in evaluation.judge_set.warning
    assert evaluation.verdicts


def test_spatialbench_uc_keeps_its_threshold(entry_points, all_sets):
    choice = JudgeSetChoice(set_id="spatialbench-uc")
    evaluation = entry_points(all_sets).judge("window: open a picture", choice)
    assert evaluation.judge_set.cut == 0.5
    assert evaluation.perception.cut == 0.5
