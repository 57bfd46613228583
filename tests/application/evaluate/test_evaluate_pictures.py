from functools import partial

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.images import PillowImages
from spatialstudio.application.evaluate.evaluate_image import JudgeSet, evaluate_image
from spatialstudio.application.evaluate.judging import (
    PictureTask,
    evaluate_pictures,
    list_tasks,
    read_prompts,
)
from spatialstudio.domain.errors import (
    Cancelled,
    DetectorError,
    ImageError,
    PromptError,
)
from spatialstudio.domain.ports import Seen
from spatialstudio.domain.verdict import Mask
from tests.fakes import CountingToken, FakeDepth, FakeDetector, scene_of

GREY = Image.new("RGB", (16, 12), (100, 100, 100))
NOISE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8))


def saved(picture, path, **options):
    picture.save(path, **options)
    return path


def rotated(path):
    exif = Image.Exif()
    exif[0x0112] = 6
    return saved(GREY, path, exif=exif)


GOOD = {
    "one.png": lambda path: saved(Image.new("RGB", (1, 1)), path),
    "grey.png": lambda path: saved(GREY.convert("L"), path),
    "palette.gif": lambda path: saved(GREY.convert("P"), path),
    "alpha.png": lambda path: saved(GREY.convert("RGBA"), path),
    "rotated.jpg": rotated,
    "moving.gif": lambda path: saved(GREY, path, save_all=True, append_images=[GREY, GREY]),
}
BAD = {
    "none.png": lambda path: path,
    "text.png": lambda path: path.write_text("no picture"),
    "cut.png": lambda path: path.write_bytes(saved(NOISE, path).read_bytes()[:2000]),
    "large.png": lambda path: saved(Image.new("1", (20_000, 20_000)), path),
}


class RaisingDetector(FakeDetector):
    def detect(self, image, mentions):
        raise RuntimeError("out of luck")


class CarelessDetector(FakeDetector):
    """Gives masks of another size than the picture."""

    def detect(self, image, mentions):
        seen = super().detect(image, mentions)
        masks = [
            Mask(
                mention_id=mask.mention_id,
                pixels=np.ones((3, 3), bool),
                score=mask.score,
                source_id="x",
            )
            for mask in seen.masks
        ]
        return Seen(detections=seen.detections, masks=tuple(masks))


def judged(*paths, detector=None, prompt="a dog left of a car", token=None):
    judges = JudgeSet(detector=detector or FakeDetector(), depth=FakeDepth())
    judge = partial(evaluate_image, judges=judges, token=token or CountingToken())
    tasks = [PictureTask(path=path, prompt=prompt) for path in paths]
    return list(evaluate_pictures(tasks, PillowImages(), lambda _: scene_of(), judge))


@pytest.mark.parametrize("name", GOOD)
def test_odd_pictures_are_judged(tmp_path, name):
    path = tmp_path / name
    GOOD[name](path)
    (row,) = judged(path)
    assert row.error is None
    assert len(row.evaluation.verdicts) == 1


@pytest.mark.parametrize("name", BAD)
def test_a_bad_picture_is_an_error_and_the_others_are_judged(tmp_path, name):
    bad, good = tmp_path / name, tmp_path / "good.png"
    BAD[name](bad)
    GOOD["grey.png"](good)
    first, second = judged(bad, good)
    assert first.evaluation is None
    assert name in first.error.message
    assert second.error is None


@pytest.mark.parametrize(
    ("detector", "telling"),
    [
        (FakeDetector(error=DetectorError("The model is damaged.")), "damaged"),
        (RaisingDetector(), "Unexpected error"),
        (CarelessDetector(), "whose size differs"),
    ],
    ids=["known", "unknown", "masks of another size"],
)
def test_a_detector_that_fails_gives_an_error_with_its_scene(tmp_path, detector, telling):
    path = saved(GREY, tmp_path / "a.png")
    (row,) = judged(path, detector=detector)
    assert telling in row.error.message
    assert len(row.scene.relations) == 1


def test_a_picture_without_a_prompt_is_an_error(tmp_path):
    (row,) = judged(saved(GREY, tmp_path / "a.png"), prompt=None)
    assert "There is no prompt for" in row.error.message


def test_the_user_can_stop_between_pictures(tmp_path):
    path = saved(GREY, tmp_path / "a.png")
    with pytest.raises(Cancelled):
        judged(path, path, token=CountingToken(stop_at=3))


def test_folders_are_searched_for_pictures_by_name(tmp_path):
    for name in ("b.png", "a.JPG", "notes.txt"):
        (tmp_path / name).write_text("")
    tasks = list_tasks([tmp_path], None, {"b": "a cat", "a.JPG": "a dog"})
    assert [(task.path.name, task.prompt) for task in tasks] == [
        ("a.JPG", "a dog"),
        ("b.png", "a cat"),
    ]


def test_a_folder_without_pictures_is_rejected(tmp_path):
    with pytest.raises(ImageError):
        list_tasks([tmp_path], "a dog", {})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.csv", "picture,prompt\na.png,a dog\n"),
        ("p.jsonl", '{"picture": "a.png", "prompt": "a dog"}\n\n'),
    ],
)
def test_prompts_are_read_from_tables_and_lines(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_prompts(tmp_path / name) == {"a.png": "a dog"}


@pytest.mark.parametrize(
    ("name", "text"), [("p.csv", "a,b\n1,2\n"), ("p.jsonl", "{"), ("p.jsonl", "[1]")]
)
def test_unreadable_prompts_are_rejected(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(PromptError):
        read_prompts(tmp_path / name)
