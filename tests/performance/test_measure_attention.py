"""Attention is held against the objects as the words say."""

import numpy as np
import pytest

from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.domain.attention import AttentionFile
from spatialstudio.domain.ports import Seen
from spatialstudio.domain.verdict import Mask
from tests.fakes import scene_of
from tests.performance.measure_attention import (
    NOUNS,
    Run,
    Share,
    object_region,
    shares_of,
    table,
    word_maps,
)

SIDE, PIXELS = 16, 128


class OneObject:
    """Finds the first of what it is asked for, in the picture's upper left quarter."""

    def detect(self, image, mentions):
        pixels = np.zeros(image.shape[:2], dtype=np.bool_)
        pixels[: PIXELS // 2, : PIXELS // 2] = True
        mask = Mask(mention_id=mentions[0].id, pixels=pixels, score=0.9, source_id="test")
        return Seen(detections=(), masks=(mask,), unknown_heads=())


def test_a_region_is_the_covered_cells_and_their_neighbours():
    pixels = np.zeros((PIXELS, PIXELS), dtype=np.bool_)
    pixels[40:48, 40:48] = True
    pixels[100, 100] = True
    region = object_region([pixels], SIDE)
    assert region.sum() == 9
    assert region[4:7, 4:7].all()


def test_nouns_are_held_against_their_own_object_and_words_against_all_that_were_found():
    scene = scene_of("dog", "car")
    even = np.full((SIDE, SIDE), 1 / SIDE**2, dtype=np.float32)
    corner = np.zeros((SIDE, SIDE), dtype=np.float32)
    corner[0, 0] = 1
    maps = {word.key: corner if word.is_mention else even for word in words_of(scene)}
    picture = np.zeros((PIXELS, PIXELS, 3), dtype=np.uint8)
    shares = list(shares_of(Run(image=picture, maps=maps), scene, OneObject()))
    nouns = [share for share in shares if share.name == NOUNS]
    assert [share.held for share in nouns] == [1]
    others = [share for share in shares if share.name != NOUNS]
    assert "left" in {share.name for share in others}
    assert all(share.held == pytest.approx(share.area) for share in others)


def test_maps_are_read_from_the_finest_layers_and_sum_to_one(tmp_path):
    scene = scene_of("dog", "car")
    words = words_of(scene)
    texts = tuple(word.text for word in words)
    files = []
    for side in (8, SIDE):
        shape = (2, 1, len(texts), side, side)
        np.save(tmp_path / f"{side}.npy", np.full(shape, 0.1, dtype=np.float16))
        files.append(AttentionFile(layer="x", name=f"{side}.npy", words=texts, shape=shape))
    maps = word_maps(tmp_path, tuple(files), words)
    assert maps.keys() == {word.key for word in words}
    assert all(one.shape == (SIDE, SIDE) for one in maps.values())
    assert all(one.sum() == pytest.approx(1) for one in maps.values())


def test_the_table_sets_the_mass_against_the_area():
    pictures = [[Share(name=NOUNS, held=0.8, area=0.2), Share(name="of", held=0.2, area=0.2)]] * 3
    _, nouns, of = table(pictures)
    assert "80.0 [80.0, 80.0]" in nouns
    assert "4.00 [4.00, 4.00]" in nouns
    assert "1.00 [1.00, 1.00]" in of
