"""A trace is exact while it is small, and never much larger than its budget."""

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import numpy as np
import pytest

from spatialstudio.adapters.storage.stores.trace import (
    BUDGET_BYTES,
    TraceContent,
    pack_trace_arrays,
    read_members,
    unpack_trace_arrays,
    write_trace,
)
from spatialstudio.domain.errors import StoreError


@pytest.fixture
def noise():
    return np.random.default_rng(0)


def packed(content):
    """Pack arrays; return their members and what is read out of them again."""
    arrays = pack_trace_arrays(content)
    return arrays, unpack_trace_arrays(dict(arrays.members), "run.strace")


def run_of(noise, steps, map_side, side):
    maps = {
        f"{s}/attention/m1": noise.random((map_side, map_side), np.float32) for s in range(steps)
    }
    previews = {s: noise.integers(0, 256, (side, side, 3), np.uint8) for s in range(steps)}
    return TraceContent(maps=maps, previews=previews, picture=lambda: previews[0])


def largest_error(content, again):
    return max(np.abs(content.maps[name] - again.maps[name]).max() for name in content.maps)


def test_a_small_run_is_stored_to_the_bit(noise):
    content = run_of(noise, steps=4, map_side=16, side=64)
    arrays, again = packed(content)
    assert arrays.precision == {"maps": "float32", "preview_quality": 100}
    assert largest_error(content, again) == 0
    assert all(np.array_equal(again.previews[step], content.previews[step]) for step in range(4))
    assert np.array_equal(again.picture(), content.picture())


@pytest.mark.parametrize(
    ("steps", "kind", "error"), [(60, "float16", 2**-11), (120, "byte", 1 / 255)]
)
def test_maps_of_a_long_run_are_coarser_within_the_stated_tolerance(noise, steps, kind, error):
    content = run_of(noise, steps=steps, map_side=64, side=8)
    arrays, again = packed(content)
    assert arrays.precision["maps"] == kind
    assert 0 < largest_error(content, again) <= error


def test_maps_are_stored_again_without_further_loss(noise):
    _, once = packed(run_of(noise, steps=60, map_side=64, side=8))
    _, twice = packed(once)
    assert largest_error(once, twice) <= 1e-6


def test_large_previews_lose_quality_to_fit_the_size_budget(noise):
    still = np.linspace(0, 255, 384 * 384 * 3).astype(np.uint8).reshape(384, 384, 3)
    previews = {
        s: np.roll(still, 5 * s, 0) | noise.integers(0, 40, (384, 384, 1), np.uint8)
        for s in range(12)
    }
    content = TraceContent(maps={}, previews=previews, picture=lambda: still)
    arrays, again = packed(content)
    assert arrays.precision["preview_quality"] < 100
    assert len(write_trace({}, arrays)) <= BUDGET_BYTES
    assert again.previews.keys() == previews.keys()


@pytest.mark.parametrize("method", [ZIP_DEFLATED, ZIP_LZMA], ids=["deflate", "lzma"])
def test_noise_in_a_packed_member_is_damage(noise, method):
    buffer = BytesIO()
    with ZipFile(buffer, "w", method) as archive:
        archive.writestr("run.json", noise.bytes(500).hex())
    content = bytearray(buffer.getvalue())
    content[60:300] = b"\xff" * 240
    with pytest.raises(StoreError, match="is damaged"):
        read_members(bytes(content), "run.strace")


def test_equal_runs_give_equal_bytes():
    one, two = (run_of(np.random.default_rng(5), steps=2, map_side=8, side=8) for _ in range(2))
    assert write_trace({}, pack_trace_arrays(one)) == write_trace({}, pack_trace_arrays(two))


@pytest.mark.parametrize("value", [0.0, np.inf, np.nan])
def test_unusual_maps_are_unchanged(value):
    odd = np.full((4, 4), value, np.float32)
    content = TraceContent(
        maps={"0/attention/m1": odd}, previews={}, picture=lambda: np.zeros((1, 1, 3), np.uint8)
    )
    _, again = packed(content)
    assert np.array_equal(again.maps["0/attention/m1"], odd, equal_nan=True)
