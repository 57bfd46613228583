"""Groups a model's attention layers, of a run or before it, into blocks to pick."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import takewhile

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import ModelLayers, TextLayer
from spatialstudio.ui.inspect.widgets.block_picker import Block, BlockState

REPEATED = ".transformer_blocks"
"""Precedes the layer index within one block of a UNet."""
PARTS_OF_A_BLOCK = 2


def guiding_layers(run: OpenRun) -> frozenset[str]:
    """Return the layers averaged in every step event; empty before the first step."""
    for event in run.steps:
        if event.attention is not None:
            return frozenset(event.attention.layers)
    return frozenset()


def kept_layers(run: OpenRun) -> frozenset[str]:
    """Return the layers that a run stored individually."""
    return frozenset(file.layer for file in run.attention_files)


def heads_of(run: OpenRun, layers: frozenset[str]) -> int:
    """Return the number of heads selectable in these layers; 1 where none are stored."""
    return max((file.heads for file in run.attention_files if file.layer in layers), default=1)


def names_of(layers: Iterable[TextLayer]) -> frozenset[str]:
    """Return the layers' names."""
    return frozenset(layer.name for layer in layers)


def layers_of(layers: Iterable[TextLayer], key: str) -> frozenset[str]:
    """Return the layers of a block."""
    return frozenset(layer.name for layer in layers if block_of(layer.name) == key)


def layers_of_shape(layers: Iterable[TextLayer], shape: tuple[int, int]) -> frozenset[str]:
    """Return the layers whose maps have a resolution, (h, w)."""
    return frozenset(layer.name for layer in layers if layer.shape == shape)


def shapes_of(layers: Iterable[TextLayer]) -> tuple[tuple[int, int], ...]:
    """Return the resolutions of layers' maps, (h, w), the finest first."""
    return tuple(sorted({layer.shape for layer in layers}, reverse=True))


def blocks_of(run: OpenRun, chosen: frozenset[str]) -> tuple[Block, ...]:
    """Return the blocks of a run's model.

    Args:
        run: The run; it lists its model's layers when it starts.
        chosen: Layers to average; empty for the guiding ones.
    """
    included = chosen or guiding_layers(run)
    kept = kept_layers(run)
    return _blocks(run.text_layers, included, lambda names: _state(names, included, kept))


def blocks_to_come(model: ModelLayers, chosen: frozenset[str]) -> tuple[Block, ...]:
    """Return the blocks of a model before its first run.

    Args:
        model: Its layers.
        chosen: Layers to average; empty for the guiding ones.
    """
    wanted = chosen or model.guiding

    def state_of(names: set[str]) -> BlockState:
        return BlockState.LEFT_OUT if names.isdisjoint(wanted) else BlockState.WANTED

    return _blocks(model.layers, wanted, state_of)


def _blocks(
    layers: Iterable[TextLayer],
    selected: Collection[str],
    state_of: Callable[[set[str]], BlockState],
) -> tuple[Block, ...]:
    return tuple(
        Block(
            key=key,
            name=key.replace("_", " "),
            shape=own[0].shape,
            layers=len(own),
            state=state_of({layer.name for layer in own}),
            selected=sum(layer.name in selected for layer in own),
        )
        for key, own in _grouped(layers)
    )


def block_of(name: str) -> str:
    """Return the block of a layer: "up_blocks.1.attentions.0", or "transformer_blocks.7"."""
    head, found, _ = name.partition(REPEATED)
    if found and head:
        return head
    return ".".join(name.split(".")[:PARTS_OF_A_BLOCK])


def labels_of(layers: Sequence[str]) -> tuple[str, ...]:
    """Return a label of each layer: its block, and what follows the names' common beginning."""
    blocks = [block_of(name) for name in layers]
    labels = []
    for name, block in zip(layers, blocks, strict=True):
        same = [other.split(".") for other, its in zip(layers, blocks, strict=True) if its == block]
        shared = takewhile(lambda parts: len(set(parts)) == 1, zip(*same, strict=False))
        own = name.split(".")[len(tuple(shared)) :]
        labels.append(" ".join(filter(None, (block, ".".join(own)))))
    return tuple(labels)


def _grouped(layers: Iterable[TextLayer]) -> Iterator[tuple[str, list[TextLayer]]]:
    groups: dict[str, list[TextLayer]] = {}
    for layer in layers:
        groups.setdefault(block_of(layer.name), []).append(layer)
    yield from groups.items()


def _state(names: set[str], included: frozenset[str], kept: frozenset[str]) -> BlockState:
    is_included = not names.isdisjoint(included)
    if names <= kept:
        return BlockState.INCLUDED if is_included else BlockState.AVAILABLE
    return BlockState.MEAN_ONLY if is_included else BlockState.MISSING
