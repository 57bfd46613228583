"""The tables of held layouts count what they say, and rows are completed by later starts."""

import argparse
import json
from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.domain.generation import (
    PSG,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    RequestId,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.steering import Steering
from spatialstudio.science.guidance import steering
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.science.guidance.steering import particle_counts
from tests.fakes import scene_of, step_of
from tests.performance.compare_layouts import draw_variant, harm_table, second_table, table
from tests.performance.guidance_variants import ABLATIONS, VARIANTS, all_variants
from tests.performance.shared_rows import make_rows, read_rows
from tests.performance.studio_pictures import DrawnRequest
from tests.ui.scripted_engine import STICKERS, evaluation_of

REQUEST = GenerationRequest(
    id=RequestId("r"), scene=scene_of(), backend_id="diffusers", model=ModelRef(id="stickers")
)
PASS, FAIL, ABSTAINS = "PASS", "FAIL", "UNDECIDABLE"


def row(number, variant, outcomes, found=(1, 1)):
    return {
        "id": f"pairs-{number}",
        "variant": variant,
        "list": "pairs",
        "outcomes": outcomes,
        "recommended": outcomes,
        "found": list(found),
        "placed": [outcome == PASS for outcome in outcomes],
        "pse": [float(outcome == PASS) for outcome in outcomes],
        "top_chances": [0.9] * len(found),
        "recognised": len(found),
        "passes": 20,
        "processor_s": 1.0,
    }


@pytest.fixture
def rows():
    plain = [row(n, "none", [PASS] if n < 5 else [FAIL]) for n in range(10)]
    guided = [row(n, "psg", [PASS]) for n in range(1, 10)]
    return [*plain, row(0, "psg", [ABSTAINS], found=(1, 0)), *guided]


def cells(line):
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


def test_the_table_counts_passes_and_missing_objects(rows):
    *_, plain, guided = table(rows)
    assert cells(plain)[:4] == ["pairs", "none", "10", "50.0 [23.7, 76.3]"]
    assert cells(guided)[3].startswith("90.0 [")
    assert cells(guided)[5].startswith("10.0 [")


def test_every_relation_of_a_picture_must_pass():
    *_, line = table([row(0, "psg", [PASS, FAIL])])
    assert cells(line)[3].startswith("0.0 [")


def test_harm_counts_only_pictures_that_pass_unguided(rows):
    *_, line = harm_table(rows)
    variant, unguided, harmed, failed, abstained, missing = cells(line)
    assert (variant, unguided, failed, abstained, missing) == ("psg", "5", "0", "1", "1")
    assert harmed.startswith("1: 20.0 [")


def test_the_second_verifier_is_compared_where_it_has_judged():
    judged = [
        row(n, "psg", [PASS]) | {"second": [PASS if n else FAIL], "second_found": [1, 1]}
        for n in range(10)
    ]
    *_, line = second_table([*judged, row(10, "psg", [FAIL])])
    assert cells(line)[2] == "10"
    assert cells(line)[3].startswith("100.0 [")
    assert cells(line)[4].startswith("90.0 [")
    assert cells(line)[5].startswith("-10.0 [")


@pytest.mark.parametrize("passes", [30, 40, 60])
@pytest.mark.parametrize("name", ["psg", "boxdiff", "attend-excite", "long", "best"])
def test_variants_plan_as_many_passes_as_wanted(name, passes):
    assert sum(map(planned_passes, VARIANTS[name].requests(REQUEST, passes))) == passes


@pytest.mark.parametrize(("passes", "particles"), [(30, 4), (40, 7), (60, 12)])
def test_resampling_starts_with_as_many_particles_as_the_passes_allow(passes, particles):
    (request,) = VARIANTS["resampling"].requests(REQUEST, passes)
    counts = particle_counts(request.steering, request.sampling.steps)
    assert (counts[0], counts[-1]) == (particles, 1)
    assert passes - particles < sum(counts) <= passes


def planned_passes(request):
    guidance = request.sampling.guidance
    if guidance.last_step is None:
        return request.sampling.steps
    return request.sampling.steps + (guidance.last_step + 1) * guidance.inner_updates


def test_own_guidance_of_the_studio_is_not_changed():
    request = with_values(REQUEST, guidance=GuidanceSettings(method_id=PSG, strength=3))
    assert VARIANTS["ours"].requests(request, 30) == (request,)


@pytest.mark.parametrize("name", [name for name in VARIANTS if name not in ("ours", "resampling")])
def test_only_the_studio_steers_by_itself(name):
    steered = replace(REQUEST, steering=Steering(particles=4))
    planned = VARIANTS[name].requests(steered, 30)
    assert not any(request.steering.is_on for request in planned)
    assert VARIANTS["ours"].requests(steered, 30) == (steered,)


def test_a_file_adds_variants(tmp_path):
    path = tmp_path / "variants.py"
    path.write_text(
        "from dataclasses import replace\n"
        "VARIANTS = {'resting': lambda guidance: replace(guidance, goal=0.9)}\n"
    )
    (request,) = all_variants(path)["resting"].requests(REQUEST, 30)
    assert request.sampling.guidance.goal == 0.9


def test_ablations_are_no_methods_of_the_studio():
    assert ABLATIONS
    assert not any(variant.id in GUIDANCE_METHODS for variant in ABLATIONS)


def options(folder, worker):
    return argparse.Namespace(folder=folder, workers=1, worker=worker)


def make(numbers):
    return ({"id": number, "variant": "none"} for number in numbers)


def test_workers_share_the_tasks(tmp_path):
    for number in range(2):
        make_rows(options(tmp_path, (number, 2)), "", list(range(5)), make)
    assert sorted(row["id"] for row in read_rows(tmp_path)) == [0, 1, 2, 3, 4]
    assert len((tmp_path / "rows-0-of-2.jsonl").read_text().splitlines()) == 3


def test_later_values_of_a_picture_are_joined(tmp_path):
    make_rows(options(tmp_path, (0, 1)), "", [1], make)
    make_rows(
        options(tmp_path, (1, 2)),
        "",
        [0, 1],
        lambda own: ({**each, "second": []} for each in make(own)),
    )
    assert read_rows(tmp_path) == [{"id": 1, "variant": "none", "second": []}]


def test_a_truncated_line_is_no_row_and_harms_no_later_one(tmp_path):
    path = tmp_path / "rows-0-of-1.jsonl"
    path.write_text(json.dumps({"id": 1, "variant": "none"}) + '\n{"id": 2, "var')
    assert [row["id"] for row in read_rows(tmp_path)] == [1]
    make_rows(options(tmp_path, (0, 1)), "", [3], make)
    assert [row["id"] for row in read_rows(tmp_path)] == [1, 3]


class BenchOfScores:
    """Draws pictures that show the second object with the scores of a script."""

    card = STICKERS

    def __init__(self, *scores):
        self.scores, self.requests = scores, []

    def draw(self, request):
        self.requests.append(request)
        passes = steering.planned_passes(request.scene, request.sampling)
        steps = tuple(
            replace(step_of(request, number), guiding_passes=spent - 1)
            for number, spent in enumerate(passes)
        )
        image = np.full((8, 8, 3), len(self.requests), np.uint8)
        return DrawnRequest(image=image, steps=steps, processor_s=1.0)

    def judge(self, image, scene):
        evaluation = evaluation_of(scene, image)
        dog, car = evaluation.perception.detections
        seen = (dog, replace(car, score=self.scores[len(self.requests) - 1]))
        return replace(evaluation, perception=replace(evaluation.perception, detections=seen))


@pytest.mark.parametrize(
    ("passes", "scores", "rounds", "best"),
    [
        (20, (0.3,), 1, 1),
        (60, (0.3, 0.5), 2, 2),
        (60, (0.3, 0.2), 2, 1),
        (400, (0.3, 0.5, 0.9), 3, 3),
    ],
    ids=["one round", "two rounds", "the first is best", "enough"],
)
def test_a_refined_variant_draws_the_rounds_that_the_passes_allow(passes, scores, rounds, best):
    bench = BenchOfScores(*scores)

    judged = draw_variant(bench, VARIANTS["refine"], REQUEST, passes)

    assert len(bench.requests) == rounds
    assert judged.passes <= passes
    assert int(judged.image[0, 0, 0]) == best
    assert [each.sampling.guidance.is_on for each in bench.requests] == [
        number > 0 for number in range(rounds)
    ]
