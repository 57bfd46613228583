from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.application.inspect.layer_maps import (
    LayerMaps,
    LayersAveraged,
    LayersMissing,
    peak_of_averages,
    places_of,
)
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import AttentionFile, LayerChoice
from spatialstudio.domain.errors import StoreError
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS

PIECES = ("a", "photo", "of", "a", "do", "g", "to", "the", "left", "of", "a", "car")
COARSE = AttentionFile(layer="mid", name="mid.npy", words=PIECES, shape=(2, 1, 12, 2, 2))
FINE = AttentionFile(layer="up", name="up.npy", words=PIECES, shape=(2, 1, 12, 4, 4))


class FilesInMemory:
    """Holds for each layer an array in which every value is the position of its word."""

    def __init__(self, missing=()):
        self.missing = missing

    def read(self, request_id, file):
        if file.layer in self.missing:
            raise StoreError("Gone.", hint="Draw it again.")
        positions = np.arange(len(file.words), dtype=np.float16)[:, None, None]
        return np.broadcast_to(positions, file.shape)


@pytest.fixture
def run():
    """A run that has kept two layers of every second step."""
    request = new_request(scene_of(), STICKERS, seed=1)
    request = replace(request, capture=replace(request.capture, attention_every=2))
    return OpenRun(
        id=request.id, scene=request.scene, request=request, attention_files=(COARSE, FINE)
    )


def choice_of(*layers, head=None):
    return LayerChoice(layers=frozenset(layers), head=head)


def averaged(run, layers, files=None, head=None):
    told = []
    maps = LayerMaps(lambda: files or FilesInMemory(), told.append)
    maps.average([run], choice_of(*layers, head=head))
    maps.wait()
    return told


def test_the_map_of_a_word_is_the_mean_of_its_tokens(run):
    (event,) = averaged(run, ["mid"])
    assert isinstance(event, LayersAveraged)
    assert event.maps["m1"] == pytest.approx(np.full((2, 2, 2), 4.5))
    assert event.maps["m2"] == pytest.approx(np.full((2, 2, 2), 11))


def test_layers_of_two_sizes_use_the_finer(run):
    (event,) = averaged(run, ["mid", "up"])
    assert event.maps["m2"].shape == (2, 4, 4)


def test_only_captured_steps_have_maps(run):
    (event,) = averaged(run, ["mid"])
    assert set(event.at(2)) == {word.key for word in words_of(run.scene)}
    assert event.at(1) == event.at(4) == {}


def test_missing_layers_are_reported(run):
    (event,) = averaged(run, ["mid"], FilesInMemory(missing=("mid",)))
    assert isinstance(event, LayersMissing)
    assert event.error.message == "Gone."


def test_a_cancelled_average_is_not_published(run):
    told = []
    maps = LayerMaps(FilesInMemory, told.append)
    maps.average([run], choice_of("mid"))
    maps.average([run], choice_of("up"))
    maps.close()
    assert len(told) <= 2
    assert all(event.choice != choice_of("mid") for event in told[1:])


class FilesOfHeads:
    """Holds for each layer an array in which every value is ten times its head, from 0."""

    def read(self, request_id, file):
        heads = 10 * np.arange(file.heads, dtype=np.float16)[:, None, None, None]
        return np.broadcast_to(heads, file.shape)


@pytest.fixture
def run_of_heads(run):
    """A run that has kept three heads of one layer, and five of another."""
    three = replace(COARSE, shape=(2, 3, 12, 2, 2))
    five = replace(FINE, shape=(2, 5, 12, 4, 4))
    return replace(run, attention_files=(three, five))


@pytest.mark.parametrize(("head", "value"), [(None, (10 + 20) / 2), (0, 0), (2, 20), (4, 40)])
def test_a_single_head_can_be_chosen_where_layers_have_it(run_of_heads, head, value):
    (event,) = averaged(run_of_heads, ["mid", "up"], FilesOfHeads(), head)
    assert event.maps["m1"][0] == pytest.approx(np.full((4, 4), value))


def test_a_head_that_no_layer_has_is_reported(run_of_heads):
    (event,) = averaged(run_of_heads, ["mid"], FilesOfHeads(), head=3)
    assert isinstance(event, LayersMissing)


def test_the_peak_is_the_highest_value_of_all_averages(run):
    assert peak_of_averages(averaged(run, ["mid"])) == pytest.approx(11)
    assert peak_of_averages([]) == 0


def test_repeated_words_are_distinguished():
    words = words_of(scene_of())
    places = places_of(words, PIECES)
    assert [places[word.key] for word in words if word.text == "a"] == [[0], [3], [10]]


def test_a_prompt_encoded_twice_counts_twice():
    places = places_of(words_of(scene_of()), PIECES + PIECES)
    assert places["m1"] == [4, 5, 16, 17]


def test_padding_belongs_to_no_word():
    assert places_of(words_of(scene_of()), ("", "a", "", "")) == {words_of(scene_of())[0].key: [1]}
