"""The command ``refine``."""

import json
from dataclasses import dataclass, field, replace

import pytest

from spatialstudio.domain.errors import DetectorError, OutOfMemory
from tests.cli.conftest import InterruptedBackend
from tests.fakes import FakeBackend, FakeDetector

PROMPT = "a dog to the left of a car"


@dataclass
class RisingDetector(FakeDetector):
    """Finds the car with another score in each picture."""

    backend: FakeBackend = field(default_factory=FakeBackend)
    scores: tuple[float, ...] = (0.3, 0.4, 0.5, 0.6, 0.7)

    def detect(self, image, mentions):
        seen = super().detect(image, mentions)
        score = self.scores[len(self.backend.requests) - 1]
        dog, car = seen.detections
        return replace(seen, detections=(dog, replace(car, score=score)))


@dataclass
class VanishingDetector(RisingDetector):
    """Is on a server that does not answer from one picture on, counted from 1."""

    gone_from: int = 2

    def detect(self, image, mentions):
        if len(self.backend.requests) >= self.gone_from:
            raise DetectorError("The server does not answer.", hint="Start it.")
        return super().detect(image, mentions)


@dataclass
class FailingBackend(FakeBackend):
    """Fails in one of its pictures, counted from 1."""

    fails_in: int = 2

    def generate(self, request, model, token, report, rate=None):
        self.error = None
        if len(self.requests) + 1 == self.fails_in:
            self.error = OutOfMemory("Not enough memory.", hint="Close other programs.")
        return super().generate(request, model, token, report, rate)


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "pictures"


def with_scores(registry, *scores, backend=None):
    registry.backend_made = backend or FakeBackend()
    registry.detector_made = RisingDetector(backend=registry.backend_made, scores=scores)


def texts(registry):
    return [request.scene.prompt.as_typed for request in registry.backend_made.requests]


def test_a_missing_object_is_weighted_until_it_is_there(terminal, registry, runs):
    with_scores(registry, 0.3, 0.5, 0.9)

    done = terminal("refine", PROMPT, "--seed", 7, "--out", runs, "--json")

    answer = json.loads(done.out)
    assert done.code == 0
    assert (answer["is_over"], answer["best"], len(answer["rounds"])) == (True, 3, 3)
    assert texts(registry) == [
        PROMPT,
        "a dog to the left of a (car:1.1)",
        "a dog to the left of a (car:1.21)",
    ]
    requests = registry.backend_made.requests
    assert {request.sampling.seed for request in requests} == {7}
    assert [request.sampling.guidance.method_id for request in requests] == [
        "none",
        "weighted-presence",
        "weighted-presence",
    ]
    assert requests[2].sampling.guidance.mention_weights == {"m1": 0, "m2": 2}
    assert [row["weight"] for row in answer["rounds"][2]["assertions"]] == [1, 1, 3]


def test_the_rounds_are_runs_of_one_family(terminal, registry, runs):
    with_scores(registry, 0.3, 0.5, 0.9)

    answer = json.loads(terminal("refine", PROMPT, "--out", runs, "--json").out)

    pictures = [row["picture"] for row in answer["rounds"]]
    assert answer["picture"] == pictures[2]
    assert sorted(map(str, runs.glob("*.png"))) == sorted(pictures)
    first, *others = registry.backend_made.requests
    assert first.parent_run_id == ""
    assert {request.parent_run_id for request in others} == {pictures[0].split("/")[-1][:-4]}


def test_at_most_so_many_pictures_are_drawn_and_the_best_is_kept(terminal, registry, runs):
    with_scores(registry, 0.3, 0.6, 0.5)

    done = terminal("refine", PROMPT, "--rounds", 3, "--out", runs)

    assert done.code == 0
    assert len(texts(registry)) == 3
    assert "Picture 2: DA-score 0.68  (best)" in done.out
    assert "Picture 3 of at most 3" in done.err


def test_the_parts_are_switchable(terminal, registry, runs):
    with_scores(registry, 0.3, 0.3, 0.3, 0.3)

    terminal("refine", PROMPT, "--rounds", 2, "--no-weights", "--out", runs)
    terminal("refine", PROMPT, "--rounds", 2, "--no-attention", "--out", runs)

    _, unweighted, _, unguided = registry.backend_made.requests
    assert unweighted.scene.prompt.weights == ()
    assert unweighted.sampling.guidance.method_id == "weighted-presence"
    assert unguided.scene.prompt.weights != ()
    assert unguided.sampling.guidance.method_id == "none"


def test_the_published_loop_draws_as_the_authors_code_does(terminal, registry, runs):
    with_scores(registry, 0.3, 0.3)

    prompt = "a photo of a dog to the left of a car"
    terminal("refine", prompt, "--published", "--rounds", 2, "--out", runs)

    first, second = registry.backend_made.requests
    assert first.scene.prompt.text == "a photo of [a dog to the left of a car"
    assert first.sampling.guidance.mention_weights == {"m1": 0, "m2": 0}
    (weight,) = second.scene.prompt.weights
    assert (weight.span.of(second.scene.prompt.text), weight.weight) == ("to the left of", 1.21)


def test_a_stored_run_is_the_first_round(terminal, registry, runs):
    with_scores(registry, 0.3, 0.9)
    drawn = json.loads(terminal("generate", PROMPT, "--out", runs, "--json").out)

    answer = json.loads(terminal("refine", drawn["picture"], "--out", runs, "--json").out)

    assert len(registry.backend_made.requests) == 2
    assert answer["rounds"][0]["picture"] == drawn["picture"]
    assert answer["best"] == 2


def test_a_failure_keeps_the_pictures_so_far_and_the_loop_continues(terminal, registry, runs):
    with_scores(registry, 0.3, 0.3, 0.5, 0.9, backend=FailingBackend())

    failed = terminal("refine", PROMPT, "--out", runs, "--json")
    (picture,) = [row["picture"] for row in json.loads(failed.out)["rounds"] if row["picture"]]
    done = terminal("refine", picture, "--out", runs, "--json")

    answer = json.loads(done.out)
    assert failed.code == 1
    assert "Not enough memory." in failed.err
    assert f'spatialstudio refine "{picture}"' in failed.err
    assert done.code == 0
    assert "Continuing a refinement with 2 pictures" in done.err
    assert answer["rounds"][0]["picture"] == picture
    assert (len(answer["rounds"]), answer["best"]) == (3, 3)
    assert texts(registry)[1] == texts(registry)[2]


def test_an_interrupted_loop_continues(terminal, registry, runs):
    with_scores(registry, 0.3, 0.4)
    terminal("refine", PROMPT, "--rounds", 2, "--out", runs)
    (picture, *_) = sorted(runs.glob("*.png"))
    with_scores(registry, 0.3, backend=InterruptedBackend())

    stopped = terminal("refine", picture, "--restart", "--out", runs)
    with_scores(registry, 0.9)
    done = terminal("refine", picture, "--out", runs, "--json")

    assert stopped.code == 130
    assert done.code == 0
    assert json.loads(done.out)["is_over"]


def test_a_server_that_is_gone_keeps_the_pictures_so_far_and_the_loop_continues(
    terminal, registry, runs
):
    with_scores(registry, 0.3, 0.3, 0.5, 0.9)
    detector = registry.detector_made
    registry.detector_made = VanishingDetector(backend=registry.backend_made, gone_from=2)

    failed = terminal("refine", PROMPT, "--out", runs, "--json")
    registry.detector_made = detector
    first, lost = json.loads(failed.out)["rounds"]
    done = terminal("refine", first["picture"], "--out", runs, "--json")

    answer = json.loads(done.out)
    assert failed.code == 1
    assert (lost["da_score"], lost["problem"]) == (None, "The server does not answer.")
    assert "Continuing a refinement" in done.err
    assert answer["rounds"][0] == first
    assert answer["rounds"][1]["picture"] == lost["picture"]
    assert (answer["is_over"], answer["best"]) == (True, 4)
    assert len(texts(registry)) == 4


def test_stored_answers_are_replayed_by_other_rules_without_drawing(terminal, registry, runs):
    with_scores(registry, 0.3, 0.6, 0.5)
    terminal("refine", PROMPT, "--rounds", 3, "--out", runs)
    picture = sorted(runs.glob("*.png"))[0]

    answer = json.loads(
        terminal(
            "refine", picture, "--replay", "--rounds", 2, "--da-set", "thing_weight=3", "--json"
        ).out
    )

    assert len(texts(registry)) == 3
    assert answer["best"] == 2
    assert answer["is_over"]
    # weights 3 for two objects and 1 for the relation: (3 * 0.9 + 0.54 + 3 * 0.6) / 7
    assert answer["rounds"][1]["da_score"] == pytest.approx(5.04 / 7)


@pytest.mark.parametrize(
    "words",
    [("refine", PROMPT, "--rounds", 0), ("refine", PROMPT, "--replay")],
    ids=["rounds", "replay"],
)
def test_what_cannot_be_refined_is_a_user_error(terminal, registry, words):
    done = terminal(*words)

    assert done.code != 0
    assert registry.backend_made.requests == []
