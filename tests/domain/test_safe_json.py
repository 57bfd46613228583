"""Tests of the limits on JSON from elsewhere."""

import json
import tracemalloc

import pytest

from spatialstudio.domain.safe_files import (
    MAX_DEPTH,
    MAX_MEMORY_BYTES,
    MAX_VALUES,
    JsonTooLarge,
    parse_limited,
)

WIDE = "😀".encode()


def test_ordinary_json_is_parsed():
    plain = {"name": "a cat 😀", "numbers": [1, 2.5, -3e9, None, True], "empty": {}}
    assert parse_limited(json.dumps(plain, ensure_ascii=False).encode()) == plain


def test_halves_of_surrogate_pairs_pass():
    assert parse_limited('"\ud83d"'.encode("utf-8", "surrogatepass")) == "\ud83d"


def test_the_maximum_nesting_depth_is_accepted():
    assert parse_limited(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is not None


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"[" * (MAX_DEPTH + 2) + b"]" * (MAX_DEPTH + 2), id="nested"),
        pytest.param(b"[" * 200_000, id="200,000 brackets"),
        pytest.param(b'{"a":' * 100_000 + b"0" + b"}" * 100_000, id="objects"),
        pytest.param(b"[" + b"[]," * MAX_VALUES + b"0]", id="empty lists"),
        pytest.param(b"[" + b"0," * MAX_VALUES + b"0]", id="numbers"),
        pytest.param(b'["' + b"a" * 30_000_000 + WIDE + b'"]', id="four bytes a character"),
    ],
)
def test_oversized_json_is_rejected(content):
    with pytest.raises(JsonTooLarge):
        parse_limited(content)


def test_a_limit_on_bytes_can_be_set():
    with pytest.raises(JsonTooLarge):
        parse_limited(b'"' + b"a" * 100 + b'"', max_bytes=100)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"[1", id="cut off"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b"[NaN]", id="NaN"),
        pytest.param(b"[1e999]", id="infinite"),
        pytest.param(b"[" + b"9" * 4000 + b"]", id="4000 digits"),
        pytest.param(b"[" + b"9" * 5000 + b"]", id="5000 digits"),
    ],
)
def test_invalid_json_is_rejected(content):
    with pytest.raises(ValueError):  # noqa: PT011 - the reader above words it
        parse_limited(content)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"[" + b'{"":0},' * (MAX_VALUES // 3 - 1) + b"0]", id="objects"),
        pytest.param(b"[" + b"[0]," * (MAX_VALUES // 2 - 1) + b"0]", id="lists"),
        pytest.param(b'["' + b"a" * 20_000_000 + WIDE + b'"]', id="four bytes a character"),
        pytest.param(b'["' + b"a" * 60_000_000 + b'"]', id="one text"),
    ],
)
def test_parsed_json_stays_within_the_estimated_memory(content):
    tracemalloc.start()
    try:
        parse_limited(content)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes + len(content) <= MAX_MEMORY_BYTES
