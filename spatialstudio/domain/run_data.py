"""Arrays and numbers of a run under stable names, with axes, units and moments.

The names are part of the Python API and of every export: a new name may be added, an existing one
keeps its meaning.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.attention import AttentionFile, Moment
from spatialstudio.domain.frozen import frozen

AnyArray: TypeAlias = npt.NDArray[Any]
Plain: TypeAlias = str | int | float | bool | list["Plain"] | dict[str, "Plain"] | None
"""A JSON value."""

LAYER_PREFIX = "layer/"
"""Beginning of the names of recorded layers' arrays."""
LAYER_BEFORE_PREFIX = "layer_before/"
"""Beginning of the names of their arrays before the updates of steps on which guidance was due."""
SELF_PREFIX, SELF_BEFORE_PREFIX = "self_attention/", "self_attention_before/"
"""The same for self-attention."""
BEFORE, AFTER = "before", "after"
MOMENT_NAMES: Mapping[Moment, str] = {Moment.BEFORE: BEFORE, Moment.AFTER: AFTER}
"""Names of the moments in arrays, tables and scripts."""


@frozen(eq=False)
class RunArray:
    """One array of a run. Created by the application; read block by block.

    Attributes:
        name: Stable name, such as "map_after/m1".
        shape: Its shape.
        dtype: NumPy's name of its number type.
        axes: Name of each axis: "captured_step", "head", "token", "y", "x". "due_step" instead of
            the first has only the steps on which guidance was due, ``steps`` in ``about``.
        meaning: One sentence.
        unit: Unit of the values; empty for names and indices.
        details: Moment, word, token positions, layers and normalisation, as JSON values.
        blocks: Yields the values in order, in pieces along the first axis; raises StoreError if
            they cannot be read.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    axes: tuple[str, ...]
    meaning: str
    unit: str
    details: Mapping[str, Plain]
    blocks: Callable[[], Iterator[AnyArray]]

    @property
    def about(self) -> dict[str, Plain]:
        """The description of the array as JSON."""
        return {
            "meaning": self.meaning,
            "axes": list(self.axes),
            "shape": list(self.shape),
            "dtype": self.dtype,
            "unit": self.unit,
            **self.details,
        }

    def read(self) -> AnyArray:
        """Return all values.

        Raises:
            StoreError: They cannot be read.
        """
        if not self.shape:
            (whole,) = self.blocks()
            return whole
        found = list(self.blocks())
        return np.concatenate(found) if found else np.empty(self.shape, self.dtype)


def layer_array_name(file: AttentionFile, *, is_self: bool) -> str:
    """Return the name of a recorded layer's array."""
    ordinary, before = (
        (SELF_PREFIX, SELF_BEFORE_PREFIX) if is_self else (LAYER_PREFIX, LAYER_BEFORE_PREFIX)
    )
    return f"{before if file.steps_before else ordinary}{file.layer}"


class Number(NamedTuple):
    """One number of a run: a row of the long table. Empty cells are None.

    Attributes:
        run: Name of the run.
        step: Denoising step, from 0; None for numbers of the whole run.
        timestep: Time of the scheduler at this step; high is noisy.
        is_guided: Whether guidance updated the latents on this step.
        moment: "before" or "after" the step's updates; an unguided step has one reading, listed
            under both.
        layer: Recorded layer, mean over its heads; None for the recorded maps.
        word: Word of the prompt.
        word_id: Its id, such as "m1".
        relation: Relation in words.
        relation_id: Its id, such as "r1".
        measure: What was measured.
        value: The number; NaN where the run has none.
        unit: Its unit.
    """

    run: str
    step: int | None
    timestep: float | None
    is_guided: bool | None
    moment: str | None
    layer: str | None
    word: str | None
    word_id: str | None
    relation: str | None
    relation_id: str | None
    measure: str
    value: float
    unit: str


MEASURES: Mapping[str, tuple[str, str]] = {
    "pos": ("probability", "Probability of Superiority of a relation, ties counted half"),
    "overlap": ("share", "overlap of the maps of a relation's first two words, normalised"),
    "entropy": ("bits", "entropy of a word's map"),
    "centre_x": ("share of the width", "mean position of a word's map, from the left"),
    "centre_y": ("share of the height", "mean position of a word's map, from the top"),
    "spread": ("share of the sides", "root mean squared distance from the mean position"),
    "mass": ("summed probability", "sum of a word's map"),
    "peak": ("probability", "maximum of a word's map"),
    "guidance_loss": ("", "guidance loss of a step, before its updates"),
    "step_size": ("latent units", "applied step size, variance-preserving"),
    "guiding_passes": ("passes", "passes with gradient for guidance"),
    "clipped_updates": ("updates", "updates whose gradient was scaled down to the limit"),
    "pse": ("share", "PSE of a relation on the masks of the judged picture"),
    "confidence": ("share", "confidence of a relation's verdict"),
    "quality": ("probability", "held-out classifier's mean probability of the detected objects"),
}
"""Unit and meaning of each measure of the long table."""


@frozen(eq=False)
class RunData:
    """All arrays and numbers of one run. Created by the application.

    Attributes:
        run: Name of the run.
        about: Prompt, words, relations and moments, as JSON values.
        arrays: All arrays; the values of recorded layers stay on disk until they are read.
        numbers: Yields the rows of the long table, recorded layers included.
        missing: Sentence on recorded layers that cannot be read; empty if there are none.
    """

    run: str
    about: Mapping[str, Plain]
    arrays: tuple[RunArray, ...]
    numbers: Callable[[], Iterator[Number]]
    missing: str = ""


def whole(
    name: str,
    values: AnyArray,
    axes: Iterable[str],
    meaning: str,
    unit: str = "",
    details: Mapping[str, Plain] | None = None,
) -> RunArray:
    """Describe an array that is in memory."""
    return RunArray(
        name=name,
        shape=values.shape,
        dtype=values.dtype.name,
        axes=tuple(axes),
        meaning=meaning,
        unit=unit,
        details=details or {},
        blocks=lambda: iter((values,)),
    )
