"""Real adapters, real files, the studio's own registry: from pictures in a folder to verdicts."""

import json
import shutil

import numpy as np
import pytest
import torch
from PIL import Image

from spatialstudio.adapters import questions
from spatialstudio.adapters.perturbations import PillowPerturber
from spatialstudio.application.engine.worker import InlineEngine
from spatialstudio.application.evaluate.evaluate_image import JudgeSet, evaluate_image
from spatialstudio.application.jobs.messages import (
    EvaluateJob,
    JobFailed,
    PictureJudged,
)
from spatialstudio.application.paths import HOME_VARIABLE, StudioPaths
from spatialstudio.application.plugins import open_registry
from spatialstudio.application.studio import Studio
from spatialstudio.cli.commands import run
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.ports import PerceptionRole, Surroundings
from spatialstudio.domain.verdict import Outcome
from tests.fakes import CountingToken, FakeDepth, scene_of

GREY = Image.new("RGB", (64, 48), (100, 100, 100))
SURE, NEVER = 9.0, -30.0


@pytest.fixture
def home(tmp_path, monkeypatch, models):
    """A home of the user's with some models, and none in the hub's cache."""
    place = tmp_path / "home"
    for name in ("detr", "grounding-dino", "sam2", "dpt"):
        shutil.copytree(models(name), place / "models" / name)
    monkeypatch.setenv(HOME_VARIABLE, str(place))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "no cache"))
    return place


@pytest.fixture
def pictures(tmp_path):
    """One picture of each kind that is odd or bad."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    exif = Image.Exif()
    exif[0x0112] = 6
    GREY.save(folder / "rotated.jpg", exif=exif)
    GREY.convert("L").save(folder / "grey.png")
    GREY.convert("P").save(folder / "palette.gif")
    GREY.convert("RGBA").save(folder / "alpha.png")
    GREY.save(folder / "moving.gif", save_all=True, append_images=[GREY.rotate(90)])
    Image.new("RGB", (1, 1)).save(folder / "one.png")
    Image.new("1", (20_000, 20_000)).save(folder / "large.png")
    (folder / "text.png").write_text("no picture")
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(folder / "cut.png")
    (folder / "cut.png").write_bytes((folder / "cut.png").read_bytes()[:2000])
    return folder


def test_every_picture_of_a_folder_gets_a_row_and_bad_ones_a_reason(home, pictures, capsys):
    code = run(
        [
            *("evaluate", str(pictures), "--prompt", "a person in front of a dog", "--json"),
            *("--detector", "detr", "--segmenter", "sam2", "--depth", "dpt"),
        ]
    )
    rows = json.loads(capsys.readouterr().out)["pictures"]
    errors = {row["picture"].rsplit("/", 1)[-1]: row["error"] for row in rows}
    assert code == 1
    assert len(errors) == 9
    assert {name for name, error in errors.items() if error} == {"large.png", "text.png", "cut.png"}
    assert all(row["models"]["detector"].startswith("detr ") for row in rows)


def test_perceptions_are_cached_between_calls(home, pictures, capsys):
    words = ["evaluate", str(pictures / "grey.png"), "--prompt", "a person left of a dog", "--json"]
    run([*words, "--detector", "detr"])
    first = json.loads(capsys.readouterr().out)["pictures"]
    kept = sorted((home / "cache" / "perceptions").iterdir())
    (home / "models" / "detr" / "preprocessor_config.json").unlink()
    run([*words, "--detector", "detr"])
    assert json.loads(capsys.readouterr().out)["pictures"] == first
    assert sorted((home / "cache" / "perceptions").iterdir()) == kept != []


def test_the_studio_lists_perception_models_and_damaged_ones(home):
    (home / "models" / "sam2" / "model.safetensors").unlink()
    studio = Studio.open("inline")
    listed = {card.ref.id: card.role for card in studio.perception_models}
    assert listed == {
        "detr": PerceptionRole.DETECTOR,
        "dpt": PerceptionRole.DEPTH,
        "grounding-dino": PerceptionRole.DETECTOR,
    }
    assert list(studio.damaged_perception_models) == ["sam2"]


def test_a_detector_of_a_new_module_is_listed_and_judges(home, pictures, capsys, add_blind_model):
    blind = add_blind_model(home / "models")
    assert blind in [card.ref.id for card in Studio.open("inline").perception_models]
    words = ["evaluate", str(pictures / "grey.png"), "--prompt", "a person left of a dog", "--json"]
    run([*words, "--detector", blind])
    (picture,) = json.loads(capsys.readouterr().out)["pictures"]
    assert [each["outcome"] for each in picture["verdicts"]] == ["UNDECIDABLE"]
    assert picture["models"]["detector"].startswith(blind)


ANSWERER = """
from spatialstudio.domain.assertion import QuestionAnswer, YesNoChances


class AlwaysYes:
    id = "always-yes"

    def answer(self, image, questions, token):
        chances = YesNoChances(log_yes=0.0, log_no=-30.0)
        return tuple(QuestionAnswer(chances=chances) for _ in questions)


def build(surroundings):
    return AlwaysYes()
"""


def test_an_answerer_of_a_new_module_is_listed_and_used(
    home, pictures, capsys, tmp_path, monkeypatch
):
    folder = tmp_path / "new modules"
    folder.mkdir()
    (folder / "always_yes.py").write_text(ANSWERER)
    monkeypatch.setattr(questions, "__path__", [*questions.__path__, str(folder)])
    words = ["evaluate", str(pictures / "grey.png"), "--prompt", "a person left of a dog", "--json"]
    run([*words, "--detector", "detr", "--questions", "always-yes"])
    (picture,) = json.loads(capsys.readouterr().out)["pictures"]
    assert picture["answered_by"] == "always-yes"
    assert picture["da_score"] == pytest.approx(1)


def test_the_engine_judges_with_the_chosen_models(home):
    paths = StudioPaths.usual()
    surroundings = Surroundings(
        resources=paths.resources, model_folders=paths.model_folders, cache=paths.cache
    )
    reports = []
    engine = InlineEngine(lambda: open_registry(surroundings))
    engine.start(reports.append)
    for number, detector in enumerate(("detr", "nothing")):
        engine.submit(
            EvaluateJob(
                job_id=RequestId(str(number)),
                image=np.full((48, 64, 3), 100, np.uint8),
                scene=scene_of("person", "dog"),
                judges=JudgeSetChoice(detector_id=detector),
            )
        )
    engine.close()
    judged, failed = (report for report in reports if isinstance(report, PictureJudged | JobFailed))
    assert judged.evaluation.perception.cut == 0.5
    assert "nothing" in failed.error.message


def sees_with_logits(detector, image, scene, answer):
    """Have a detector's model answer with made-up boxes, as if the weights were good."""
    detector.detect(image, scene.mentions)
    detector._model._loaded.model.register_forward_hook(lambda _module, _given, out: answer(out))
    return detector


@pytest.fixture
def two_detectors(made):
    """DETR sees a person left of a dog; Grounding DINO the same, half a box further right."""
    scene, image = scene_of("person", "dog"), np.full((100, 100, 3), 100, np.uint8)

    def transformer(out):
        out.logits = torch.full_like(out.logits, NEVER)
        out.logits[0, :, -1] = SURE
        out.logits[0, 0, 0] = out.logits[0, 1, 1] = 2 * SURE
        out.pred_boxes = torch.zeros_like(out.pred_boxes)
        out.pred_boxes[0, :2] = torch.tensor([[0.2, 0.5, 0.2, 0.4], [0.8, 0.5, 0.2, 0.4]])
        return out

    def grounded(out):
        out.logits = torch.full_like(out.logits, NEVER)
        out.logits[0, 0, 2] = out.logits[0, 1, 5] = SURE  # [CLS] a person . a dog . [SEP]
        out.pred_boxes = torch.zeros_like(out.pred_boxes)
        out.pred_boxes[0, :2] = torch.tensor([[0.3, 0.5, 0.2, 0.4], [0.9, 0.5, 0.2, 0.4]])
        return out

    first = sees_with_logits(made("detr"), image, scene, transformer)
    second = sees_with_logits(made("grounding-dino"), image, scene, grounded)
    return scene, image, first, second


def test_agreement_of_two_detectors_includes_the_overlap_of_their_boxes(two_detectors):
    scene, image, first, second = two_detectors
    judges = JudgeSet(detector=first, second=second, depth=FakeDepth(), perturber=PillowPerturber())
    (verdict,) = evaluate_image(image, scene, judges, CountingToken()).verdicts
    assert verdict.outcome is Outcome.PASS
    assert verdict.measurement.delta == pytest.approx(-0.6, abs=1e-6)
    # Half for verdict and side, a quarter of the IoU 1/3 for each end.
    assert verdict.components.agreement == pytest.approx(0.5 + 0.25 / 3 + 0.25 / 3, abs=1e-6)
