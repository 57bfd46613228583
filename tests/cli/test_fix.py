"""The command ``fix``."""

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from spatialstudio.domain.errors import DetectorError, OutOfMemory
from tests.cli.conftest import InterruptedBackend
from tests.fakes import FakeBackend, FakeDetector

PROMPT = "a dog to the left of a car"


@dataclass
class SwappingDetector(FakeDetector):
    """Sees the relation wrong until so many pictures are drawn."""

    backend: FakeBackend = field(default_factory=FakeBackend)
    right_from: int = 3

    def detect(self, image, mentions):
        seen = super().detect(image, mentions)
        if len(self.backend.requests) >= self.right_from:
            return seen
        (dog, car), (dogs, cars) = seen.detections, seen.masks
        return replace(
            seen,
            detections=(replace(dog, box=car.box), replace(car, box=dog.box)),
            masks=(replace(dogs, pixels=cars.pixels), replace(cars, pixels=dogs.pixels)),
        )


@dataclass
class VanishingDetector(SwappingDetector):
    """Cannot be reached from so many pictures on."""

    gone_from: int = 3

    def detect(self, image, mentions):
        if len(self.backend.requests) >= self.gone_from:
            raise DetectorError("The server does not answer.", hint="Start it.")
        return super().detect(image, mentions)


@dataclass
class FailingBackend(FakeBackend):
    """Runs out of memory in one of its pictures, counted from 1."""

    fails_in: int = 2

    def generate(self, request, model, token, report, rate=None, start=None):
        is_due = len(self.requests) + 1 == self.fails_in
        self.error = (
            OutOfMemory("Not enough memory.", hint="Close other programs.") if is_due else None
        )
        return super().generate(request, model, token, report, rate, start)


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "pictures"


@pytest.fixture
def start(terminal, registry, runs):
    """The picture of a run that fails; the given one after it is right."""

    def draw(right_from=100, backend=None):
        registry.backend_made = backend or FakeBackend()
        registry.detector_made = SwappingDetector(
            backend=registry.backend_made, right_from=right_from
        )
        return json.loads(terminal("generate", PROMPT, "--out", runs, "--json").out)["picture"]

    return draw


def test_attempts_are_runs_of_one_family_and_the_first_that_passes_ends_it(
    terminal, registry, runs, start
):
    picture = start(right_from=3)

    done = terminal("fix", picture, "--out", runs, "--json")

    answer = json.loads(done.out)
    assert done.code == 0
    assert answer["reason"] == "place"
    assert [each["outcome"] for each in answer["attempts"]] == ["FAIL", "PASS"]
    assert answer["best"] == answer["attempts"][1]["picture"]
    assert answer["start"]["picture"] == picture
    assert [each["text"] for each in answer["attempts"][1]["assertions"]] == [
        "there is a dog",
        "the dog is to the left of the car",
        "there is a car",
    ]
    _, *attempts = registry.backend_made.requests
    assert {each.parent_run_id for each in attempts} == {picture.split("/")[-1][:-4]}


def test_the_budget_is_shown_first_and_a_plan_draws_nothing(terminal, registry, start):
    picture = start()

    done = terminal("fix", picture, "--plan", "--budget", 2)

    assert done.code == 0
    assert "An object is in the wrong place. (dog, car)" in done.out
    assert "At most 2 pictures, about 1 s" in done.out
    assert len(registry.backend_made.requests) == 1


def test_a_picture_that_cannot_be_repaired_stays(terminal, start, runs):
    picture = start()

    done = terminal("fix", picture, "--budget", 2, "--out", runs)

    assert done.code == 1
    assert "0. Start: FAIL  (best)" in done.out
    assert re.search(r"Picture 2 of at most 2 \(.+\): FAIL", done.err)


def test_a_larger_budget_continues_a_fix_whose_budget_is_spent(terminal, start, runs):
    picture = start(right_from=5)
    terminal("fix", picture, "--budget", 2, "--out", runs)

    done = terminal("fix", picture, "--budget", 4, "--out", runs, "--json")

    answer = json.loads(done.out)
    assert done.code == 0
    assert [each["outcome"] for each in answer["attempts"]] == ["FAIL", "FAIL", "FAIL", "PASS"]


def test_a_failure_keeps_the_pictures_so_far_and_the_fix_continues(terminal, registry, runs, start):
    picture = start(right_from=4, backend=FailingBackend(fails_in=3))

    failed = terminal("fix", picture, "--out", runs, "--json")
    done = terminal("fix", picture, "--out", runs, "--json")

    assert failed.code == 1
    assert "Not enough memory." in failed.err
    assert f'Continue with: spatialstudio fix "{picture}" --out "{runs}"' in failed.err
    first, second = (json.loads(each.out)["attempts"] for each in (failed, done))
    assert [each["outcome"] for each in first] == ["FAIL", None]
    assert [each["outcome"] for each in second] == ["FAIL", "PASS"]
    assert second[0] == first[0]


def test_judges_that_are_gone_keep_the_pictures_which_are_judged_when_the_fix_continues(
    terminal, registry, runs, start
):
    picture = start(right_from=3)
    detector = registry.detector_made
    registry.detector_made = VanishingDetector(backend=registry.backend_made, right_from=100)

    failed = terminal("fix", picture, "--out", runs, "--json")
    registry.detector_made = detector
    done = terminal("fix", picture, "--out", runs, "--json")

    first, second = (json.loads(each.out)["attempts"] for each in (failed, done))
    assert failed.code == 1
    assert [each["outcome"] for each in first] == ["FAIL", None]
    assert first[1]["picture"]
    assert first[1]["problem"]
    assert [each["outcome"] for each in second] == ["FAIL", "PASS"]
    assert second[1]["picture"] == first[1]["picture"]
    assert len(registry.backend_made.requests) == 3


def test_an_attempt_without_verdict_and_file_is_drawn_again(terminal, registry, runs, start):
    picture = start(right_from=3)
    detector = registry.detector_made
    registry.detector_made = VanishingDetector(backend=registry.backend_made, right_from=100)
    failed = terminal("fix", picture, "--out", runs, "--json")
    registry.detector_made = detector
    Path(json.loads(failed.out)["attempts"][1]["picture"]).unlink()

    done = terminal("fix", picture, "--out", runs, "--json")

    assert done.code == 0
    assert len(registry.backend_made.requests) == 4


def test_an_interrupted_fix_continues(terminal, registry, runs, start):
    picture = start()
    registry.backend_made = InterruptedBackend()

    stopped = terminal("fix", picture, "--out", runs)
    registry.backend_made = FakeBackend()
    registry.detector_made = FakeDetector()
    done = terminal("fix", picture, "--out", runs, "--json")

    assert stopped.code == 130
    assert done.code == 0
    assert len(json.loads(done.out)["attempts"]) == 1


def test_a_picture_without_guidance_has_no_style_to_restore(terminal, registry, runs):
    drawn = terminal("generate", PROMPT, "--guidance", "none", "--out", runs, "--json")
    picture = json.loads(drawn.out)["picture"]

    done = terminal("fix", picture, "--reason", "style")

    assert done.code != 0
    assert "without guidance" in done.err


@pytest.mark.parametrize("words", [("--budget", 0), ("--reason", "nonsense")])
def test_wrong_values_are_user_errors(terminal, registry, start, words):
    picture = start()

    try:
        code = terminal("fix", picture, *words).code
    except SystemExit as stop:
        code = stop.code

    assert code not in (0, None)
    assert len(registry.backend_made.requests) == 1


def test_what_is_no_stored_run_is_a_user_error(terminal, tmp_path):
    other = tmp_path / "note.txt"
    other.write_text("no run")

    assert "not a stored run" in terminal("fix", other).err
