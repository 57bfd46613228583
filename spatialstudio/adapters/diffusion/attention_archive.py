"""Disk archive of a run's attention, written step by step during denoising.

One memory-mapped NumPy file per layer, float16 or float32; no layer is held in memory as a whole.
The maps that relations need are small and travel with the step events; the archive holds the rest.
"""

import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch

from spatialstudio.adapters.attention_cache import make_room
from spatialstudio.adapters.diffusion.attention_layers import AttentionLayer, TextPlace, map_size
from spatialstudio.adapters.diffusion.attention_tap import LayerAttention, tapped
from spatialstudio.adapters.diffusion.denoiser_call import CallLayout, DenoiserCall
from spatialstudio.adapters.diffusion.load_pipeline import LoadedPipeline
from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.adapters.diffusion.pipeline_arguments import picture_size
from spatialstudio.adapters.diffusion.token_spans import words_by_position
from spatialstudio.domain.attention import (
    MOST_PLACES,
    AttentionDetail,
    AttentionFile,
    Moment,
    TextLayer,
)
from spatialstudio.domain.errors import RequestError, StoreError
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.scene import MentionId, TokenSpan
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from spatialstudio.science.pos.attention_maps import mention_maps

if TYPE_CHECKING:
    from spatialstudio.domain.arrays import FloatMap

ARRAY_ENDING = ".npy"

_Array: TypeAlias = "np.memmap[Any, np.dtype[Any]]"


def plan_archive(
    loaded: LoadedPipeline,
    request: GenerationRequest,
    total_steps: int,
    folder: Path,
    updates: GuidanceSchedule | None,
) -> "AttentionArchive":
    """Plan which attention of a run is stored; nothing is written yet.

    Args:
        loaded: The model.
        request: Sets how much attention is stored.
        total_steps: Denoising steps of the run.
        folder: Output folder, used by this run only.
        updates: Schedule of updates that a pass on the updated latents follows; their steps are
            also read before the updates. None without such updates.

    Raises:
        RequestError: The run makes no passes whose attention can be stored, or the model has no
            self-attention that can be.
    """
    capture = request.capture
    if not (capture.stores_words or capture.stores_places):
        return AttentionArchive(folder, (), (), ())
    if request.sampling.guidance.reuses_prediction:
        raise RequestError(
            (
                "Attention to every word cannot be recorded when guidance passes replace "
                "regular passes."
            ),
            hint="Reduce the recorded attention, or use separate guidance passes.",
        )
    words = words_by_position(
        loaded.streams,
        request.scene.prompt.text,
        with_filling=capture.detail is AttentionDetail.EVERYTHING,
    )
    stored = range(0, total_steps, capture.attention_every)
    before = () if updates is None else tuple(filter(updates.guides, stored))
    layers: list[AttentionLayer] = []
    files: list[AttentionFile] = []
    if capture.stores_words:
        layers += loaded.text_layers
        files += _files_of(loaded, request, tuple(words.values()), len(stored))
    if capture.stores_places:
        own = _small_self_layers(loaded, request)
        layers += own
        files += [_self_file(loaded, request, layer, len(stored)) for layer in own]
    files += [_read_before(file, before) for file in files if before]
    return AttentionArchive(folder, layers, tuple(words), files, capture.attention_every)


def _small_self_layers(
    loaded: LoadedPipeline, request: GenerationRequest
) -> tuple[AttentionLayer, ...]:
    """Return the self-attention layers that are small enough to be stored.

    Raises:
        RequestError: There is none.
    """
    latent_size = loaded.latent_size(*picture_size(loaded, request))
    small = tuple(
        layer
        for layer in loaded.self_layers
        if math.prod(map_size(*latent_size, layer.level)) <= MOST_PLACES
    )
    if not small:
        raise RequestError(
            f"The model has no self-attention layer of at most {MOST_PLACES} positions.",
            hint="Do not record self-attention with this model, or draw a smaller picture.",
        )
    return small


def _self_file(
    loaded: LoadedPipeline, request: GenerationRequest, layer: AttentionLayer, steps: int
) -> AttentionFile:
    """Return the file of a self-attention layer, of every stored step."""
    height, width = map_size(*loaded.latent_size(*picture_size(loaded, request)), layer.level)
    return AttentionFile(
        layer=layer.name,
        name=f"self-{layer.name}{ARRAY_ENDING}",
        words=(),
        shape=(steps, 1, height * width, height, width),
        dtype=_dtype(request),
    )


def _dtype(request: GenerationRequest) -> str:
    return "float32" if request.capture.full_precision else "float16"


def _files_of(
    loaded: LoadedPipeline, request: GenerationRequest, words: tuple[str, ...], steps: int
) -> list[AttentionFile]:
    """Return the file of each layer that attends to the text, of every stored step."""
    capture = request.capture
    keeps_all = capture.detail is AttentionDetail.EVERYTHING
    latent_size = loaded.latent_size(*picture_size(loaded, request))
    return [
        AttentionFile(
            layer=layer.name,
            name=f"{number:03}-{layer.name}{ARRAY_ENDING}",
            words=words,
            shape=(
                steps,
                int(layer.module.heads) if keeps_all else 1,  # type: ignore[arg-type]
                len(words),
                *map_size(*latent_size, layer.level),
            ),
            dtype=_dtype(request),
        )
        for number, layer in enumerate(loaded.text_layers)
    ]


def _read_before(file: AttentionFile, steps: tuple[int, ...]) -> AttentionFile:
    name = f"{file.name.removesuffix(ARRAY_ENDING)}.before{ARRAY_ENDING}"
    return replace(file, name=name, shape=(len(steps), *file.shape[1:]), steps_before=steps)


def text_layers(loaded: LoadedPipeline, request: GenerationRequest) -> tuple[TextLayer, ...]:
    """List the layers that attend to the text for a request, whether stored or not."""
    return layers_at(loaded, *picture_size(loaded, request))


def layers_at(loaded: LoadedPipeline, height: int, width: int) -> tuple[TextLayer, ...]:
    """List the layers that attend to the text at a picture size in pixels."""
    latent_size = loaded.latent_size(height, width)
    return tuple(
        TextLayer(name=layer.name, shape=map_size(*latent_size, layer.level))
        for layer in loaded.text_layers
    )


class StepTap:
    """Captures layers in the first call of each due step; guidance passes are skipped.

    Args:
        layers: The captured layers; empty to capture nothing.
        reads_before: Whether steps are also captured before their updates.
    """

    def __init__(self, layers: Sequence[AttentionLayer], *, reads_before: bool = False) -> None:
        self._layers = tuple(layers)
        self._reads_before = reads_before
        self._is_due = True
        self._is_before = False

    @contextmanager
    def attached(self, denoiser: torch.nn.Module, calls: CallLayout) -> Iterator[None]:
        """Patch the denoiser inside the block.

        Raises:
            StoreError: Files cannot be written.
        """

        def denoise(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            call = DenoiserCall(calls, args, kwargs)
            if not (self._layers and self._is_due) or torch.is_grad_enabled():
                return call.run(forward)
            self._is_due = self._is_before
            take, size = self._begin_step(call), call.latent_size
            with tapped(self._layers, take, latent_size=size, row=call.first_row):
                return call.run(forward)

        with patched_attribute(denoiser, "forward", denoise):
            yield

    def see_before(self, run: Callable[[], Any]) -> None:
        """Capture the layers before a step's updates, if the step is captured.

        Args:
            run: Makes a pass of the conditional half on the latents before the updates.
        """
        if not (self._reads_before and self._layers and self._is_due):
            return
        self._is_before = True
        try:
            with torch.no_grad():
                run()
        finally:
            self._is_before = False

    def expect_step(self, *, is_due: bool) -> None:
        """Mark the end of a step and set whether the next one is captured."""
        self._is_due = is_due

    def _begin_step(self, call: DenoiserCall) -> Callable[[LayerAttention], None]:
        """Return the function that takes each layer of a step, in order."""
        raise NotImplementedError


class LayerReader(StepTap):
    """Attention maps of each mention in each layer, of the first picture of a call.

    Args:
        layers: All layers that attend to the text.
        spans: Token spans of the mentions in the text that the denoiser attends to.

    Attributes:
        steps: Maps (h, w) of each step, by layer name and mention: mean over heads and tokens.
        before: Like ``steps``, before the updates of a guided step; of other steps the same maps.
    """

    def __init__(self, layers: Sequence[AttentionLayer], spans: Sequence[TokenSpan]) -> None:
        super().__init__(layers if spans else (), reads_before=True)
        self._columns = sorted({index for span in spans for index in span.indices})
        self._places: dict[MentionId, list[int]] = {}
        for span in spans:
            known = self._places.setdefault(span.mention_id, [])
            places = [self._columns.index(each) for each in span.indices]
            known += [place for place in places if place not in known]
        self.steps: list[dict[str, Mapping[MentionId, FloatMap]]] = []
        self.before: list[dict[str, Mapping[MentionId, FloatMap]]] = []

    @property
    def readings(self) -> "Mapping[Moment, list[dict[str, Mapping[MentionId, FloatMap]]]]":
        """The maps of each step at both moments; grows with the steps."""
        return {Moment.BEFORE: self.before, Moment.AFTER: self.steps}

    def _begin_step(self, call: DenoiserCall) -> Callable[[LayerAttention], None]:
        maps: dict[str, Mapping[MentionId, FloatMap]] = {}
        if not self._is_before:
            self.steps.append(maps)
        if len(self.before) < len(self.steps) or self._is_before:
            self.before.append(maps)
        layers = iter(self._layers)

        def take(seen: LayerAttention) -> None:
            layer = next(layers)
            shape = map_size(*call.latent_size, layer.level)
            mean = seen.probabilities().mean(0)[:, self._columns]
            columns = mean.transpose(0, 1).reshape(-1, *shape).float().numpy(force=True)
            maps[layer.name] = mention_maps(columns, self._places)

        return take


class AttentionArchive(StepTap):
    """The attention files of one run. Not thread-safe: use on the model's thread.

    Args:
        folder: Created at the first stored step; no other writer may use it.
        layers: The layers that attend to the text, and the self-attention layers.
        columns: Stored text positions, in the word order of the files.
        every: Interval of the stored steps.
        files: The planned files: one per layer, then those read before updates, one per layer.

    Attributes:
        files: The planned files, of text and self-attention.
    """

    def __init__(
        self,
        folder: Path,
        layers: Sequence[AttentionLayer],
        columns: Sequence[int],
        files: Sequence[AttentionFile],
        every: int = 1,
    ) -> None:
        self._steps_before = next((each.steps_before for each in files if each.steps_before), ())
        super().__init__(layers, reads_before=bool(self._steps_before))
        self.files = tuple(files)
        self._folder = folder
        self._columns = tuple(columns)
        self._every = every
        self._own = {layer.name for layer in layers if layer.text is TextPlace.NONE}
        self._arrays: dict[str, _Array] = {}
        self._arrays_before: dict[str, _Array] = {}
        self._row = 0
        self._rows_before = 0

    @property
    def text_files(self) -> tuple[AttentionFile, ...]:
        """The files of layers that attend to the text."""
        return tuple(file for file in self.files if file.layer not in self._own)

    @property
    def self_files(self) -> tuple[AttentionFile, ...]:
        """The files of self-attention layers."""
        return tuple(file for file in self.files if file.layer in self._own)

    def make_room(self) -> int:
        """Remove the oldest runs of the cache if this one does not fit; return their number."""
        if not self.files:
            return 0
        shutil.rmtree(self._folder, ignore_errors=True)  # of a trial of this run
        return make_room(self._folder.parent, sum(file.size_bytes for file in self.files))

    def _begin_step(self, call: DenoiserCall) -> Callable[[LayerAttention], None]:  # noqa: ARG002
        """Return the sink of a pass; before updates if there are any, then of the ordinary pass."""
        self._open()
        places = []
        if self._is_due_before():
            places.append((self._arrays_before, self._rows_before))
            self._rows_before += 1
        if not self._is_before:
            places.append((self._arrays, self._row))
            self._row += 1
        return _Sink(places, self._columns).take

    def _is_due_before(self) -> bool:
        """Return True until the step's reading before its updates is stored."""
        done, step = self._rows_before, self._row * self._every
        return done < len(self._steps_before) and self._steps_before[done] == step

    def _open(self) -> None:
        if self._arrays:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for file in self.files:
                arrays = self._arrays_before if file.steps_before else self._arrays
                arrays[file.layer] = np.lib.format.open_memmap(
                    self._folder / file.name, mode="w+", dtype=file.dtype, shape=file.shape
                )
        except OSError as error:
            raise StoreError(
                "The attention cannot be written to disk.",
                hint="Free some disk space, or reduce the recorded attention.",
            ) from error


class _Sink:
    """Writes the layers of one pass to their files as they arrive.

    Args:
        places: Arrays of the layers by name, and the row that is written.
        columns: Stored text positions.
    """

    def __init__(
        self, places: Sequence[tuple[Mapping[str, _Array], int]], columns: Sequence[int]
    ) -> None:
        self._places = places
        self._columns = list(columns)

    def take(self, seen: LayerAttention) -> None:
        """Write the attention of a layer without keeping it in memory."""
        probabilities = seen.probabilities()
        for arrays, row in self._places:
            array = arrays[seen.layer.name]
            _, heads, *shape = array.shape
            kept = probabilities if heads > 1 else probabilities.mean(0, keepdim=True)
            if seen.layer.text is not TextPlace.NONE:
                kept = kept[..., self._columns].transpose(1, 2)
            array[row] = kept.reshape(heads, *shape).cpu().numpy()  # rounds to the file's type
