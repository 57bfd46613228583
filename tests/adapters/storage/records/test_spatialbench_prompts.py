import json
from hashlib import sha256
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.records.spatialbench_uc import read_objects
from spatialstudio.domain.errors import StoreError
from spatialstudio.science.benchmark.prompts import draw_prompts

RESOURCES = Path(__file__).parents[4] / "resources"
PUBLISHED_SHA256 = "e13c0ed8f962acb7fed702c689e384184759f17317373bce0ef633667c244d8d"


@pytest.fixture
def objects():
    return read_objects(RESOURCES)


def test_the_published_prompts_are_reproduced_to_the_byte(objects):
    assert sha256(draw_prompts(objects)).hexdigest() == PUBLISHED_SHA256


def test_another_seed_gives_other_prompts_of_the_same_structure(objects):
    lines = [json.loads(line) for line in draw_prompts(objects, seed=1).splitlines()]
    assert sha256(draw_prompts(objects, seed=1)).hexdigest() != PUBLISHED_SHA256
    assert len(lines) == 200
    assert lines[0]["counterfactual"]["prompt"] == lines[1]["prompt"]


def test_missing_objects_are_reported(tmp_path):
    with pytest.raises(StoreError):
        read_objects(tmp_path)
