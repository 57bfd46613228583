"""The command ``repair``."""

import json

import numpy as np
import pytest
from PIL import Image

from spatialstudio.domain.errors import DetectorError, OutOfMemory
from spatialstudio.domain.repair import Region
from tests.cli.conftest import InterruptedBackend
from tests.fakes import FakeBackend, FakeDetector

PROMPT = "a dog to the left of a car"
LEFT = "0,0.1,0.5,0.8"


class DoglessDetector(FakeDetector):
    """Finds the car only."""

    def detect(self, image, mentions):
        seen = super().detect(image, mentions)
        return type(seen)(detections=seen.detections[1:], masks=seen.masks[1:])


class UnreachableDetector(FakeDetector):
    """Is on a server that does not answer."""

    def detect(self, image, mentions):
        raise DetectorError("The server does not answer.", hint="Start it.")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "pictures"


@pytest.fixture
def picture(terminal, folder):
    terminal("generate", PROMPT, "--seed", 7, "--out", folder)
    (stored,) = folder.glob("*.png")
    return stored


@pytest.fixture
def asked(registry):
    return lambda: registry.backend_made.requests[-1]


def test_the_failed_object_is_redrawn_where_its_relation_holds(terminal, registry, folder, asked):
    registry.detector_made = DoglessDetector()
    terminal("generate", PROMPT, "--seed", 7, "--out", folder)
    (picture,) = folder.glob("*.png")

    done = terminal("repair", picture, "--out", folder)

    assert "Redrawing dog in 0." in done.err
    (region,) = asked().repair.regions
    assert region.x + region.width / 2 < 0.5
    (target,) = asked().sampling.guidance.targets
    assert (target.mention_id, asked().sampling.guidance.method_id) == ("m1", "layout")
    assert asked().sampling.seed == 7
    assert asked().parent_run_id == picture.stem
    with Image.open(picture) as stored:
        assert np.array_equal(registry.backend_made.starts[-1], np.array(stored))
    assert len(list(folder.glob("*.png"))) == 2


def test_a_region_and_an_object_can_be_given(terminal, picture, folder, asked):
    options = ("--region", LEFT, "--object", "car", "--seed", 9, "--feather", 0.1)
    done = terminal("repair", picture, *options, "--out", folder)
    assert done.code == 0
    assert asked().repair.regions == (Region(x=0, y=0.1, width=0.5, height=0.8),)
    assert asked().repair.feather == 0.1
    assert asked().sampling.seed == 9
    (target,) = asked().sampling.guidance.targets
    assert (target.mention_id, target.x, target.y) == ("m2", 0.25, 0.5)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "Every relation of the picture passes"),
        (("--region", "0,0,2,1"), "outside the picture or is too small"),
        (("--region", "0,0,nan,1"), "outside the picture or is too small"),
        (("--region", LEFT, "--feather", "0.9"), "cannot fade over 0.9"),
        (("--region", LEFT, "--object", "whale"), "whale"),
    ],
    ids=["nothing failed", "too large", "no number", "feather", "object"],
)
def test_what_cannot_be_repaired_is_explained(terminal, picture, registry, options, told):
    drawn = len(registry.backend_made.requests)
    done = terminal("repair", picture, *options)
    assert done.code != 0
    assert told in done.err
    assert len(registry.backend_made.requests) == drawn


@pytest.mark.parametrize("end", ["memory", "interrupt", "judge"])
def test_a_repair_that_ended_early_keeps_the_picture_and_is_drawn_once(
    terminal, registry, picture, folder, end
):
    backend, detector = registry.backend_made, registry.detector_made
    before = picture.read_bytes()
    words = ("repair", picture, "--region", LEFT, "--out", folder, "--json")
    if end == "memory":
        memory = OutOfMemory("Not enough memory.", hint="Close other programs.")
        registry.backend_made = FakeBackend(error=memory)
    elif end == "interrupt":
        registry.backend_made = InterruptedBackend()
    else:
        registry.detector_made = UnreachableDetector()

    failed = terminal(*words)
    registry.backend_made, registry.detector_made = backend, detector
    done = terminal(*words)

    assert failed.code == {"memory": 1, "interrupt": 130, "judge": 1}[end]
    assert picture.read_bytes() == before
    assert done.code == 0
    assert json.loads(done.out)["verdicts"]
    assert len(list(folder.glob("*.png"))) == 2
    assert len(backend.requests) == 2  # the picture, and its repair once
    with Image.open(picture) as stored:
        assert np.array_equal(backend.starts[-1], np.array(stored))


def test_a_damaged_picture_of_another_repair_is_passed_over(terminal, registry, picture, folder):
    detector, registry.detector_made = registry.detector_made, UnreachableDetector()
    terminal("repair", picture, "--region", "0.5,0.1,0.5,0.8", "--out", folder)
    registry.detector_made = detector
    (unjudged,) = {*folder.glob("*.png")} - {picture}
    unjudged.with_suffix(".strace").write_bytes(b"damaged")

    assert terminal("repair", picture, "--region", LEFT, "--out", folder).code == 0


def test_a_region_of_three_numbers_is_a_usage_error(terminal, picture):
    with pytest.raises(SystemExit) as refusal:
        terminal("repair", picture, "--region", "0,0,1")
    assert refusal.value.code == 2


def test_a_repair_is_reproduced_with_its_start(terminal, picture, folder, registry):
    terminal("repair", picture, "--region", LEFT, "--out", folder)
    (repaired,) = {*folder.glob("*.png")} - {picture}

    done = terminal("runs", "again", repaired, "--library", folder)

    assert done.code == 0
    assert np.array_equal(*registry.backend_made.starts[-2:])


def test_a_repair_without_its_start_is_not_reproduced(terminal, picture, folder, registry):
    terminal("repair", picture, "--region", LEFT, "--out", folder)
    (repaired,) = {*folder.glob("*.png")} - {picture}
    drawn = len(registry.backend_made.requests)
    Image.new("RGB", (8, 8)).save(picture)
    changed = terminal("runs", "again", repaired, "--library", folder)
    picture.unlink()
    gone = terminal("runs", "again", repaired, "--library", folder)

    assert (changed.code, gone.code) == (1, 1)
    assert "has changed since its repair" in changed.err
    assert "is not in the library" in gone.err
    assert len(registry.backend_made.requests) == drawn
