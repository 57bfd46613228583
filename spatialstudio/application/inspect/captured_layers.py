"""The recorded layers of a run, read at one moment: before or after the updates of guided steps."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import AttentionFile, LayerChoice, LayerValues, Moment
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings, RequestId, StepEvent
from spatialstudio.science.guidance.methods import reads_after

ReadLayer = Callable[[AttentionFile], LayerValues]
"""Opens the file of a layer; raises StoreError."""


class LayerRows:
    """One recorded layer at one moment; its rows are read from disk when they are asked for.

    Args:
        values: (stored steps, heads, words, h, w) of the ordinary passes.
        before: Like ``values``, of some steps before their updates; None for the ordinary passes.
        places: Index in ``values`` of each row of ``before``.
    """

    def __init__(
        self, values: LayerValues, before: LayerValues | None = None, places: Sequence[int] = ()
    ) -> None:
        self._values = values
        self._before = before
        self._rows = {place: row for row, place in enumerate(places)}

    @property
    def shape(self) -> tuple[int, ...]:
        """(stored steps, heads, words, h, w)."""
        return self._values.shape

    def between(self, start: int, stop: int) -> LayerValues:
        """Return the rows of some stored steps, (rows, heads, words, h, w)."""
        block = self._values[start:stop]
        own = [place for place in self._rows if start <= place < stop]
        if self._before is None or not own:
            return block
        block = np.array(block)
        for place in own:
            block[place - start] = self._before[self._rows[place]]
        return block


@frozen(eq=False)
class CapturedLayers:
    """The recorded layers of a run.

    Attributes:
        files: Their files, in execution order; those read before updates come last.
        read: Opens a file.
        every: Interval of the stored steps.
    """

    files: tuple[AttentionFile, ...]
    read: ReadLayer
    every: int = 1

    @property
    def layers(self) -> tuple[AttentionFile, ...]:
        """The file of each layer's ordinary passes."""
        return ordinary(self.files)

    def open(self, file: AttentionFile, moment: Moment) -> LayerRows:
        """Open one of ``layers`` at a moment.

        Raises:
            StoreError: The layer cannot be read.
        """
        values = self.read(file)
        if moment is Moment.BEFORE:
            for other in self.files:
                if other.steps_before and other.layer == file.layer:
                    places = [step // self.every for step in other.steps_before]
                    if other.shape != (len(places), *file.shape[1:]):
                        raise StoreError(
                            f'The layer "{file.layer}" of this run is damaged.',
                            hint="Generate the picture again with all layers.",
                        )
                    return LayerRows(values, self.read(other), places)
        return LayerRows(values)

    def having(self, choice: LayerChoice) -> tuple[AttentionFile, ...]:
        """Return the selected layers that contain the selected head.

        Raises:
            StoreError: There is none.
        """
        chosen = tuple(
            file
            for file in self.layers
            if file.layer in choice.layers and (choice.head is None or choice.head < file.heads)
        )
        if not chosen:
            raise StoreError(
                "The selected layers do not have this attention head.",
                hint="Select another head or other layers.",
            )
        return chosen


def ordinary(files: Sequence[AttentionFile]) -> tuple[AttentionFile, ...]:
    """Return the files of ordinary passes, one per recorded layer."""
    return tuple(file for file in files if not file.steps_before)


def captured_layers(
    run: OpenRun, read: Callable[[RequestId, AttentionFile], LayerValues]
) -> CapturedLayers:
    """Return the recorded layers of a run.

    Args:
        run: The run.
        read: Opens a file of a request, as ``AttentionFiles.read`` does.
    """
    every = run.request.capture.attention_every if run.request else 1
    return CapturedLayers(files=run.attention_files, read=partial(read, run.id), every=every or 1)


def layers_read(run: OpenRun, wanted: Moment) -> Moment | None:
    """Return ``moment_of_layers`` of a run; None for a run without a request."""
    if run.request is None:
        return None
    guidance = run.request.sampling.guidance
    return moment_of_layers(run.attention_files, guidance, run.steps, wanted)


def moment_of_layers(
    files: Sequence[AttentionFile],
    guidance: GuidanceSettings,
    steps: Sequence[StepEvent],
    wanted: Moment,
) -> Moment | None:
    """Return the moment within guided steps at which recorded layers can be read.

    The ordinary pass, whose prediction the sampler uses, runs on the updated latents; methods that
    correct the predicted noise instead leave the latents unchanged.

    Returns:
        The wanted moment if both were captured, else the only one; None if no step was guided.
    """
    if not any(event.is_guided for event in steps):
        return None
    if any(file.steps_before for file in files):
        return wanted
    return Moment.AFTER if reads_after(guidance) else Moment.BEFORE
