"""Noise search: which picture is kept, when the search ends, and what is reported."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from spatialstudio.application.engine.generate_image import (
    draw_image,
    picture_rater,
    search_image,
)
from spatialstudio.application.evaluate.evaluate_image import JudgeSet
from spatialstudio.application.jobs.messages import GenerateJob
from spatialstudio.domain.errors import Cancelled, RequestError
from spatialstudio.domain.generation import (
    MAX_SEED,
    CandidateJudged,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    NoiseSearch,
    PromptEncoded,
    SamplingSettings,
    StepEvent,
)
from spatialstudio.domain.repair import LocalRepair, Region
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import BEHIND, IN_FRONT_OF
from spatialstudio.domain.steering import Steering
from tests.fakes import (
    SIDE,
    CountingToken,
    FakeBackend,
    FakeDepth,
    FakeDetector,
    counted_scene,
    scene_of,
)

SCENE = scene_of("dog", "car")


@dataclass
class PickyDetector:
    """Sees both objects in their places in pictures of the good seeds, and nothing in others."""

    good: set
    id: str = "picky"
    real: FakeDetector = field(default_factory=FakeDetector)

    def detect(self, image, mentions):
        is_good = int(image[0, 0, 0]) in self.good
        return self.real.detect(image, mentions if is_good else ())


@pytest.fixture
def request_of_four():
    return GenerationRequest(
        id="x",
        scene=SCENE,
        backend_id="fake",
        model=ModelRef(id="fake"),
        sampling=SamplingSettings(seed=10, steps=2),
        search=NoiseSearch(candidates=4),
    )


@pytest.fixture
def search(request_of_four):
    def run(good, token=None, second=None, **changes):
        judges = JudgeSet(detector=PickyDetector(good=good), depth=FakeDepth(), second=second)
        request = with_values(request_of_four, **changes)
        events = []
        job = GenerateJob(request=request, model=None)
        finished = search_image(job, FakeBackend(), judges, token or CountingToken(), events.append)
        return [*events, finished]

    return run


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def test_seeds_follow_each_other_until_a_picture_is_good_enough(search):
    judged = of(CandidateJudged, search({12}))
    assert [event.score.seed for event in judged] == [10, 11, 12]
    assert [event.score.pse for event in judged] == [0, 0, 1]
    assert [event.number for event in judged] == [1, 2, 3]


def test_the_best_picture_is_finished(search):
    (finished,) = of(GenerationFinished, search({12}))
    assert np.all(finished.image == 12)
    assert [score.seed for score in finished.candidates] == [12, 10, 11]
    assert finished.seconds == pytest.approx(1.5)


def test_without_a_good_picture_all_are_drawn_and_the_first_is_returned(search):
    events = search(set())
    assert len(of(CandidateJudged, events)) == 4
    assert np.all(of(GenerationFinished, events)[0].image == 10)


def test_the_events_of_the_best_picture_come_last(search):
    events = search({11}, search=NoiseSearch(candidates=3, enough=2.0))
    kinds = [type(event) for event in events[-5:]]
    assert kinds == [
        GenerationStarted,
        PromptEncoded,
        StepEvent,
        StepEvent,
        GenerationFinished,
    ]
    assert len(of(GenerationStarted, events)) == 4


def test_the_events_of_the_last_picture_are_not_repeated(search):
    assert len(of(GenerationStarted, search({12}))) == 3


def test_the_second_verifier_is_reported_separately(search):
    second = PickyDetector(good=set())
    (finished,) = of(GenerationFinished, search({10}, second=second))
    assert (finished.candidates[0].pse, finished.candidates[0].second) == (1, 0)


def test_seeds_wrap_around(search):
    judged = of(
        CandidateJudged,
        search({255, 0}, seed=MAX_SEED, search=NoiseSearch(candidates=2, enough=2.0)),
    )
    assert [event.score.seed for event in judged] == [MAX_SEED, 0]


def test_a_cancelled_search_draws_no_further(search):
    with pytest.raises(Cancelled):
        search(set(), token=CountingToken(stop_at=5))


@pytest.fixture
def judges():
    return JudgeSet(detector=FakeDetector(), depth=FakeDepth(), store=RaisingStore())


class RaisingStore:
    """A cache that must not be used: a predicted picture is seen once."""

    def find(self, key):
        pytest.fail("A predicted picture was looked up.")

    def keep(self, key, perception):
        pytest.fail("A predicted picture was kept.")


def drawn(request, judges, backend):
    job = GenerateJob(request=request, model=None)
    draw_image(job, backend, judges, CountingToken(), [].append)
    return backend


def test_particles_are_rated_by_the_judge_set_in_depth(request_of_four, judges):
    scene = scene_of(relation_type=IN_FRONT_OF)
    request = replace(request_of_four, steering=Steering(particles=2), scene=scene)
    (rate,) = drawn(request, judges, FakeBackend()).raters
    picture = np.zeros((16, 16, 3), np.uint8)
    behind = picture_rater(scene_of(relation_type=BEHIND), judges, CountingToken())
    assert rate(picture, {}) == 1
    assert behind(picture, {}) == 0


def test_particles_with_a_wrong_count_are_rated_lower(judges):
    picture = np.zeros((SIDE, SIDE, 3), np.uint8)
    dog, dogs = (
        picture_rater(scene, judges, CountingToken())(picture, {})
        for scene in (scene_of(), counted_scene())
    )
    assert dogs == pytest.approx(dog / 3)


def test_only_steered_pictures_have_a_rater(request_of_four, judges):
    assert drawn(request_of_four, judges, FakeBackend()).raters == [None]


def test_without_a_judge_set_particles_are_rated_by_the_backend_alone(request_of_four):
    request = replace(request_of_four, steering=Steering(particles=2))
    assert drawn(request, None, FakeBackend()).raters == [None]


def test_a_backend_without_steering_and_repair_draws_a_single_picture(request_of_four, judges):
    class OlderBackend(FakeBackend):
        def generate(self, request, model, token, report):
            return super().generate(request, model, token, report)

    request = replace(request_of_four, steering=Steering(particles=2))
    assert drawn(request, judges, OlderBackend()).raters == [None]
    region = Region(x=0, y=0, width=1, height=1)
    repair = LocalRepair(start="earlier", sha256="", regions=(region,))
    with pytest.raises(RequestError, match="does not support local repair"):
        drawn(replace(request_of_four, repair=repair), judges, OlderBackend())


def test_rating_stops_when_the_run_is_cancelled(judges):
    rate = picture_rater(SCENE, judges, CountingToken(stop_at=1))
    with pytest.raises(Cancelled):
        rate(np.zeros((16, 16, 3), np.uint8), {})
