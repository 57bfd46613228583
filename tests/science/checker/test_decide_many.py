import time
from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    BELOW,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
)
from spatialstudio.domain.verdict import (
    RECOMMENDED,
    REPRODUCE,
    Box,
    Detection,
    Looks,
)
from spatialstudio.science.checker.decide import decide_relation
from spatialstudio.science.checker.decide_many import (
    OUTCOMES,
    REASONS,
    StoredRecord,
    decide_many,
    tabulate,
)
from tests.science.seen_things import SIDE, perception, relation, seen

TYPES = (LEFT_OF, RIGHT_OF, ABOVE, BELOW)
COUNT = 400
MANY = 100_000
BOUND_S = 1.0


def random_detection(chance, mention):
    left, top = chance.uniform(0, 70, 2)
    width, height = chance.uniform(2, 60, 2)
    box = Box(left=left, top=top, right=left + width, bottom=top + height)
    score = float(chance.choice([0.15, 0.5, 0.55, 0.9]) + chance.uniform(0, 0.04))
    return Detection(mention_id=mention, label=mention, score=score, box=box, detector_id="fake")


def random_look(chance):
    counts = chance.choice([0, 1, 1, 1, 2, 3], 2)
    names = ["dog"] * counts[0] + ["car"] * counts[1]
    return perception(*(random_detection(chance, name) for name in names))


def random_record(chance):
    looks = Looks(
        second=chance.choice([None, random_look(chance)]),
        stability=chance.choice([None, chance.uniform(0.3, 1)]),
    )
    kind = TYPES[chance.integers(len(TYPES))]
    return StoredRecord(relation=relation(kind), perception=random_look(chance), looks=looks)


@pytest.fixture(scope="module")
def records():
    chance = np.random.default_rng(0)
    return [random_record(chance) for _ in range(COUNT)]


SETTINGS = [
    pytest.param(REPRODUCE, id="reproduce"),
    pytest.param(RECOMMENDED, id="recommended"),
    pytest.param(replace(REPRODUCE, margin=0.02, detection_score=0.6), id="other thresholds"),
    pytest.param(
        replace(RECOMMENDED, overlap_bars_vertical=True, max_overlap_iou=0.1, min_agreement=0.7),
        id="strict",
    ),
    pytest.param(replace(REPRODUCE, min_area_fraction=0.2, ambiguity_delta=0.5), id="coarse"),
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_table_gives_the_verdicts_of_its_records(records, settings):
    decisions = decide_many(tabulate(records), settings)
    verdicts = [decide_relation(r.relation, r.perception, settings, r.looks) for r in records]
    assert [OUTCOMES[code] for code in decisions.outcome] == [v.outcome for v in verdicts]
    assert [REASONS[code] for code in decisions.reason] == [v.reason for v in verdicts]
    confidences = [verdict.confidence for verdict in verdicts]
    assert decisions.confidence == pytest.approx(confidences, abs=1e-12)


def test_the_random_records_cover_every_reason(records):
    found = {
        int(code)
        for settings in (
            replace(REPRODUCE, max_overlap_iou=0.2),
            RECOMMENDED,
            replace(REPRODUCE, min_confidence=0.7),
        )
        for code in decide_many(tabulate(records), settings).reason
    }
    assert found == set(range(len(REASONS)))


def test_an_empty_perception_is_missing():
    record = StoredRecord(relation=relation(), perception=perception(), looks=Looks())
    (code,) = decide_many(tabulate([record]), REPRODUCE).reason
    assert REASONS[code].value == "missing"


def test_a_delta_equal_to_the_margin_is_undecidable_in_a_table_too():
    look = perception(seen("dog", 50, 50), seen("car", 50, 60))
    record = StoredRecord(relation=relation(ABOVE), perception=look, looks=Looks())
    (code,) = decide_many(tabulate([record]), REPRODUCE).reason
    assert REASONS[code].value == "near_boundary"
    assert SIDE == 100


def test_a_relation_without_a_table_form_is_rejected():
    record = StoredRecord(relation=relation(NEAR), perception=perception(), looks=Looks())
    with pytest.raises(ValueError, match="Only"):
        tabulate([record])


@pytest.mark.slow
@pytest.mark.parametrize("settings", [REPRODUCE, RECOMMENDED], ids=lambda s: s.preset)
def test_a_hundred_thousand_records_are_judged_in_a_second(records, settings):
    table = tabulate(records * (MANY // COUNT))
    started = time.process_time()
    decisions = decide_many(table, settings)
    assert time.process_time() - started <= BOUND_S
    assert len(decisions.outcome) == MANY
