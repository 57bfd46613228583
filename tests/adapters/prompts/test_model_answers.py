from time import process_time

import pytest

from spatialstudio.adapters.prompts.model_answers import json_objects
from tests.call_counts import calls_of

SIZE = 100_000
BROKEN = ['{"a":', '{"a":[1,', "{", '{"a', '{"a":x']


def seconds_to_read(text):
    start = process_time()
    list(json_objects(text))
    return process_time() - start


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": {"b": 1}}', [{"a": {"b": 1}}]),
        ('See {x}: {"a": 1} and {"b": 2}.', [{"a": 1}, {"b": 2}]),
        ('{"a": [{"b": 1}, {"c": 2}, {"d', [{"b": 1}, {"c": 2}]),
        ("{" * 20 + '{"a": 1}', [{"a": 1}]),
        ("no JSON", []),
    ],
)
def test_complete_objects_are_found_in_broken_json(text, found):
    assert list(json_objects(text)) == found


@pytest.mark.parametrize("part", BROKEN)
def test_parsing_broken_json_stops_after_some_attempts(part):
    text = part * (SIZE // len(part))
    assert calls_of(lambda: list(json_objects(text))) < SIZE / 10


@pytest.mark.slow
@pytest.mark.parametrize("part", BROKEN)
def test_broken_json_takes_little_more_time_than_valid_json(part):
    broken, whole = part * (SIZE // len(part)), '{"a":1} ' * (SIZE // 8)
    assert min(seconds_to_read(broken) / seconds_to_read(whole) for _ in range(3)) < 10
