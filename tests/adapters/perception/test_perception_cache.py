import os

import numpy as np
import pytest

from spatialstudio.adapters.perception.perception_cache import (
    NullPerceptionStore,
    PerceptionFiles,
    build,
)
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.scene import MentionId
from spatialstudio.domain.verdict import (
    Box,
    DepthMap,
    Detection,
    Mask,
    Perception,
)

RANDOM = np.random.default_rng(0)


def perception_of(width=13, masks=2, *, depth=True):
    """Make what could have been seen in a picture whose width is no multiple of eight."""
    return Perception(
        image_sha256="ab" * 32,
        height=7,
        width=width,
        detections=tuple(
            Detection(
                mention_id=MentionId("m1"),
                label="dog",
                score=1 / 3 + number / 7,
                box=Box(left=0.1, top=1 / 3, right=5, bottom=6),
                detector_id="d",
            )
            for number in range(2)
        ),
        masks=tuple(
            Mask(
                mention_id=MentionId("m1"),
                pixels=RANDOM.random((7, width)) > 0.5,
                score=1 / 3,
                source_id="s",
            )
            for _ in range(masks)
        ),
        depth=DepthMap(values=RANDOM.random((7, width), np.float32), estimator_id="e")
        if depth
        else None,
        missing_classes=("unicorn",),
        cut=0.35,
    )


@pytest.fixture
def store(tmp_path):
    return PerceptionFiles(tmp_path / "cache" / "perceptions")


@pytest.mark.parametrize("seen", [perception_of(), perception_of(masks=0, depth=False)])
def test_a_stored_perception_is_read_back_unchanged(store, seen):
    store.keep("key", seen)
    found = store.find("key")
    assert found.detections == seen.detections
    facts = (found.image_sha256, found.height, found.width, found.cut, found.missing_classes)
    assert facts == (seen.image_sha256, seen.height, seen.width, seen.cut, seen.missing_classes)
    assert len(found.masks) == len(seen.masks)


def test_masks_and_depth_are_exact(store):
    seen = perception_of()
    store.keep("key", seen)
    found = store.find("key")
    np.testing.assert_array_equal(found.masks[1].pixels, seen.masks[1].pixels)
    np.testing.assert_array_equal(found.depth.values, seen.depth.values)
    assert found.depth.values.dtype == np.float32
    assert found.masks[1].source_id == "s"


def test_an_unknown_key_is_not_found(store):
    assert store.find("key") is None


@pytest.fixture
def file(store, tmp_path):
    store.keep("key", perception_of())
    (path,) = (tmp_path / "cache" / "perceptions").iterdir()
    return path


@pytest.mark.parametrize("left", [0, 10, 300, -1], ids=str)
def test_a_truncated_file_is_deleted(store, file, left):
    content = file.read_bytes()
    file.write_bytes(content[:left])
    assert store.find("key") is None
    assert not file.exists()


@pytest.mark.parametrize("place", [60, 200, 500, 900])
def test_a_file_with_a_flipped_bit_is_no_perception(store, file, place):
    whole = store.find("key")
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    found = store.find("key")
    assert found is None or found.detections == whole.detections


def test_the_least_recently_used_perceptions_are_deleted(tmp_path):
    folder = tmp_path / "few"
    store = PerceptionFiles(folder)
    store.keep("a", perception_of())
    size = (folder / "a.npz").stat().st_size
    store = PerceptionFiles(folder, most_bytes=int(2.5 * size))
    store.keep("b", perception_of())
    os.utime(folder / "a.npz", (1, 1))
    os.utime(folder / "b.npz", (2, 2))
    assert store.find("a") is not None  # which makes "b" the oldest
    store.keep("c", perception_of())
    assert sorted(path.stem for path in folder.iterdir()) == ["a", "c"]


def test_a_read_only_folder_does_not_raise(tmp_path):
    (tmp_path / "file").write_text("taken")
    store = PerceptionFiles(tmp_path / "file" / "perceptions")
    store.keep("key", perception_of())
    assert store.find("key") is None


def test_without_a_cache_nothing_is_stored(tmp_path):
    store = build(Surroundings(resources=tmp_path, model_folders=()))
    assert isinstance(store, NullPerceptionStore)
    store.keep("key", perception_of())
    assert store.find("key") is None


def test_the_folder_holds_only_complete_perceptions(store, file):
    store.keep("other", perception_of())
    assert sorted(path.name for path in file.parent.iterdir()) == ["key.npz", "other.npz"]
