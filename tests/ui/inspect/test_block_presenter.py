from dataclasses import replace

import pytest

from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import (
    AttentionFile,
    AttentionSnapshot,
    TextLayer,
)
from spatialstudio.ui.inspect.block_presenter import (
    block_of,
    blocks_of,
    guiding_layers,
    labels_of,
    layers_of,
    layers_of_shape,
    shapes_of,
)
from spatialstudio.ui.inspect.widgets.block_picker import BlockState
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS, step_of

DOWN = "down_blocks.0.attentions.0.transformer_blocks.0.attn2"
DOWN_TOO = "down_blocks.0.attentions.0.transformer_blocks.1.attn2"
MIDDLE = "mid_block.attentions.0.transformer_blocks.0.attn2"
LAYERS = (
    TextLayer(name=DOWN, shape=(16, 16)),
    TextLayer(name=DOWN_TOO, shape=(16, 16)),
    TextLayer(name=MIDDLE, shape=(8, 8)),
)


@pytest.fixture
def run():
    """A run whose guiding layers are those of its first block; nothing else was kept."""
    request = new_request(scene_of(), STICKERS, seed=1)
    step = step_of(request, 0)
    maps = AttentionSnapshot(maps=step.attention.maps, layers=(DOWN, DOWN_TOO))
    return OpenRun(
        id=request.id,
        scene=request.scene,
        request=request,
        text_layers=LAYERS,
        steps=(replace(step, attention=maps),),
    )


@pytest.fixture
def kept(run):
    """The same run with every layer on disk."""
    files = tuple(
        AttentionFile(layer=layer.name, name="x.npy", words=(), shape=(1, 1, 0, *layer.shape))
        for layer in LAYERS
    )
    return replace(run, attention_files=files)


def states(run, chosen=frozenset()):
    return [block.state for block in blocks_of(run, chosen)]


@pytest.mark.parametrize(
    ("name", "block"),
    [
        (DOWN, "down_blocks.0.attentions.0"),
        (MIDDLE, "mid_block.attentions.0"),
        ("transformer_blocks.7.attn", "transformer_blocks.7"),
        ("single_transformer_blocks.12.attn", "single_transformer_blocks.12"),
    ],
)
def test_a_layer_belongs_to_a_block(name, block):
    assert block_of(name) == block


def test_layers_of_one_block_are_labelled_by_what_differs():
    block = "down_blocks.0.attentions.0"
    names = (
        f"{block}.transformer_blocks.0.attn1",
        f"{block}.transformer_blocks.0.attn2",
        "mid.1.a",
    )
    assert labels_of(names) == (f"{block} attn1", f"{block} attn2", "mid.1")


def test_layers_of_one_block_are_one_place(run):
    assert [(block.name, block.layers) for block in blocks_of(run, frozenset())] == [
        ("down blocks.0.attentions.0", 2),
        ("mid block.attentions.0", 1),
    ]


def test_of_a_run_that_kept_the_mean_only_nothing_can_be_picked(run):
    assert states(run) == [BlockState.MEAN_ONLY, BlockState.MISSING]


def test_of_a_run_that_kept_all_the_guiding_blocks_are_averaged_first(kept):
    assert states(kept) == [BlockState.INCLUDED, BlockState.AVAILABLE]


def test_what_was_chosen_is_averaged(kept):
    chosen = layers_of(kept.text_layers, "mid_block.attentions.0")
    assert states(kept, chosen) == [BlockState.AVAILABLE, BlockState.INCLUDED]
    assert [block.selected for block in blocks_of(kept, frozenset({DOWN}))] == [1, 0]


def test_layers_are_found_by_resolution(run):
    assert shapes_of(run.text_layers) == ((16, 16), (8, 8))
    assert layers_of_shape(run.text_layers, (8, 8)) == {MIDDLE}
    assert guiding_layers(run) == {DOWN, DOWN_TOO}
