from dataclasses import replace

import pytest

from spatialstudio.domain.derived_requests import (
    best_request,
    is_baseline_of,
    unguided,
    with_savings,
)
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.generation import (
    CandidateScore,
    CaptureSettings,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    NoiseSearch,
    SamplingSettings,
)
from spatialstudio.domain.run_settings import with_values
from tests.fakes import scene_of

PSG = GuidanceSettings(method_id="psg", strength=5)


@pytest.fixture
def request_with_guidance():
    return GenerationRequest(
        id="guided",
        scene=scene_of(),
        backend_id="fake",
        model=ModelRef(id="fake"),
        sampling=SamplingSettings(seed=7, guidance=PSG),
    )


def test_the_baseline_differs_only_in_guidance(request_with_guidance):
    baseline = unguided(request_with_guidance, "plain")
    assert baseline.sampling.guidance.strength == 0
    assert (baseline.id, baseline.sampling.seed, baseline.scene) == (
        "plain",
        request_with_guidance.sampling.seed,
        request_with_guidance.scene,
    )


@pytest.mark.parametrize("change", [{"seed": 8}, {"steps": 30}, {"guidance": PSG}])
def test_only_the_same_picture_without_guidance_is_the_baseline(request_with_guidance, change):
    baseline = replace(unguided(request_with_guidance, "plain"), parent_run_id="earlier")
    assert is_baseline_of(baseline, request_with_guidance)
    assert is_baseline_of(
        with_values(baseline, guidance=GuidanceSettings(decay=0.25)), request_with_guidance
    )
    assert not is_baseline_of(with_values(baseline, **change), request_with_guidance)


@pytest.mark.parametrize(
    ("ours", "theirs", "is_same"),
    [
        ({"revision": "1"}, {"revision": "2"}, False),
        ({"sha256": "a"}, {"sha256": "b"}, False),
        ({"sha256": "a"}, {}, True),
    ],
    ids=["revision", "hash", "unknown hash"],
)
def test_a_baseline_is_drawn_with_the_same_weights(request_with_guidance, ours, theirs, is_same):
    request = replace(request_with_guidance, model=ModelRef(id="fake", **ours))
    baseline = replace(unguided(request, "plain"), model=ModelRef(id="fake", **theirs))
    assert is_baseline_of(baseline, request) is is_same


def test_what_is_recorded_does_not_change_the_baseline(request_with_guidance):
    baseline = unguided(request_with_guidance, "plain")
    other = replace(baseline, capture=CaptureSettings(attention_every=5))
    assert is_baseline_of(other, request_with_guidance)


def test_the_baseline_of_a_search_is_its_first_picture_unguided(request_with_guidance):
    searched = replace(request_with_guidance, search=NoiseSearch(candidates=8))
    spared_one = with_values(request_with_guidance, savings=(Saving.SEARCH,))
    alone = unguided(request_with_guidance, "plain")
    assert unguided(searched, "plain") == unguided(spared_one, "plain") == alone


def test_without_relations_guidance_is_not_replaced_by_a_search():
    asked = GenerationRequest(
        id="plain",
        scene=replace(scene_of(), relations=()),
        backend_id="fake",
        model=ModelRef(id="fake"),
        sampling=SamplingSettings(savings=(Saving.SEARCH,)),
    )
    assert with_savings(asked).search.candidates == 1


@pytest.mark.parametrize(
    ("saving", "every", "checkpointing", "candidates", "method_id"),
    [
        (Saving.CHECKPOINTING, 1, True, 1, "psg"),
        (Saving.EVERY_SECOND_STEP, 2, False, 1, "psg"),
        (Saving.SEARCH, 1, False, 4, "none"),
        (Saving.TILING, 1, False, 1, "psg"),
    ],
    ids=lambda each: getattr(each, "value", str(each)),
)
def test_a_requests_settings_follow_its_savings(
    request_with_guidance, saving, every, checkpointing, candidates, method_id
):
    made = with_savings(with_values(request_with_guidance, savings=(saving,)))
    guidance = made.sampling.guidance
    assert (guidance.every, guidance.checkpointing) == (every, checkpointing)
    assert (made.search.candidates, guidance.method_id) == (candidates, method_id)


RANKED = tuple(
    CandidateScore(seed=seed, pse=pse, lead=0.0, found=2, sureness=0.5, second=1.0)
    for seed, pse in ((9, 0.8), (7, 0.2))
)


def test_the_picture_chosen_by_a_search_is_requested_by_its_seed(request_with_guidance):
    searched = replace(request_with_guidance, search=NoiseSearch(candidates=8, enough=0.5))
    best = best_request(searched, RANKED)
    assert best == with_values(request_with_guidance, seed=9)
    assert best_request(best, RANKED) == best
    assert best_request(searched, ()) == searched


def test_the_best_picture_of_a_search_instead_of_gradients_is_unguided(request_with_guidance):
    savings = (Saving.SEARCH, Saving.TILING)
    best = best_request(with_values(request_with_guidance, savings=savings), RANKED)
    assert with_savings(best) == best
    assert best == with_values(unguided(best, best.id), savings=(Saving.TILING,))
    assert best.sampling.seed == 9
