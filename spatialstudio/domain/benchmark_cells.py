"""The cells of a benchmark: one for each prompt, method and seed, with its state and results."""

from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.benchmark_plan import BenchmarkPrompt
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.library import Truth, Whole
from spatialstudio.domain.scene import RelationType
from spatialstudio.domain.verdict import Outcome

Codes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
NO_REASON = -1


class CellState(IntEnum):
    """State of a cell; that of a judged one is its outcome."""

    WAITING = 0
    DRAWN = 1
    """Drawn, not judged yet."""
    PASS = 2
    FAIL = 3
    UNDECIDABLE = 4
    FAILED = 5
    """Drawing or judging failed."""
    UNUSABLE = 6
    """The prompt or a setting does not fit the model."""

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of a judged cell; None for others."""
        return OUTCOME_OF.get(self)


OUTCOME_OF: Mapping[CellState, Outcome] = {
    CellState.PASS: Outcome.PASS,
    CellState.FAIL: Outcome.FAIL,
    CellState.UNDECIDABLE: Outcome.UNDECIDABLE,
}
STATE_OF = {outcome: state for state, outcome in OUTCOME_OF.items()}
JUDGED = tuple(OUTCOME_OF)


@frozen(eq=False)
class CellGrid:
    """The axes of a benchmark; cells are numbered by method, then prompt, then seed.

    Attributes:
        prompts: P prompts.
        methods: M names.
        models: M model ids; empty for the embedded model.
        guidance: M ids of guidance methods, or "none".
        seeds: S seeds.
        relations: For each prompt its relations, as type, subject and object.
    """

    prompts: tuple[BenchmarkPrompt, ...]
    methods: tuple[str, ...]
    models: tuple[str, ...]
    guidance: tuple[str, ...]
    seeds: tuple[int, ...]
    relations: tuple[tuple[tuple[RelationType, str, str], ...], ...]

    def __len__(self) -> int:
        return len(self.methods) * len(self.prompts) * len(self.seeds)

    @property
    def most_relations(self) -> int:
        """Largest number of relations of a prompt, at least 1."""
        return max(map(len, self.relations), default=1) or 1

    def cell(self, method: int, prompt: int, seed: int) -> int:
        """Return the number of a cell."""
        return (method * len(self.prompts) + prompt) * len(self.seeds) + seed

    def place(self, cell: int) -> tuple[int, int, int]:
        """Return the indices of method, prompt and seed of a cell."""
        rest, seed = divmod(cell, len(self.seeds))
        return *divmod(rest, len(self.prompts)), seed

    def places(self, cells: Whole | None = None) -> tuple[Whole, Whole, Whole]:
        """Return the (N,) indices of method, prompt and seed of cells; of all without any."""
        numbers = np.arange(len(self)) if cells is None else cells
        rest, seed = np.divmod(numbers, max(len(self.seeds), 1))
        method, prompt = np.divmod(rest, max(len(self.prompts), 1))
        return method, prompt, seed


@frozen(eq=False)
class CellTable:
    """The results of all cells by one judge set, N cells and at most R relations of a prompt.

    A snapshot: arrays are not written to once it is created. May cross threads.

    Attributes:
        grid: The axes.
        state: (N,) values of ``CellState``.
        outcome: (N, R) states of the relations, ``WAITING`` where there is no verdict.
        reason: (N, R) index in ``reasons``; ``NO_REASON`` for none.
        reasons: Abstention reasons.
        confidence: (N, R), [0, 1]; NaN where there is no verdict.
        pse: (N, R), [0, 1]; NaN where it was not measured.
        seconds: (N,) drawing time; NaN before.
        passes: (N,) denoiser passes; NaN before.
        device: (N,) index in ``devices``; -1 before.
        devices: Names of devices.
        pictures: Pictures by cell.
        causes: Why cells failed or cannot be drawn, by cell.
    """

    grid: CellGrid
    state: Codes
    outcome: Codes
    reason: npt.NDArray[np.int16]
    reasons: tuple[str, ...]
    confidence: Floats
    pse: Floats
    seconds: Floats
    passes: Floats
    device: npt.NDArray[np.int16]
    devices: tuple[str, ...]
    pictures: Mapping[int, Path]
    causes: Mapping[int, str]

    @classmethod
    def empty(cls, grid: CellGrid) -> "CellTable":
        """Return a table whose cells all wait."""
        cells, shape = len(grid), (len(grid), grid.most_relations)
        return cls(
            grid=grid,
            state=np.zeros(cells, np.uint8),
            outcome=np.zeros(shape, np.uint8),
            reason=np.full(shape, NO_REASON, np.int16),
            reasons=(),
            confidence=np.full(shape, np.nan, np.float32),
            pse=np.full(shape, np.nan, np.float32),
            seconds=np.full(cells, np.nan, np.float32),
            passes=np.full(cells, np.nan, np.float32),
            device=np.full(cells, -1, np.int16),
            devices=(),
            pictures={},
            causes={},
        )

    @property
    def is_judged(self) -> Truth:
        """(N,) whether a cell has an outcome."""
        return np.isin(self.state, JUDGED)

    @property
    def is_left(self) -> Truth:
        """(N,) whether a cell is still to be drawn or judged; without relations, to be drawn."""
        _, prompt, _ = self.grid.places()
        has_relations = np.array([bool(each) for each in self.grid.relations], bool)[prompt]
        is_unjudged = (self.state == CellState.DRAWN) & has_relations
        is_left: Truth = (self.state == CellState.WAITING) | is_unjudged
        return is_left

    def count(self, state: CellState) -> int:
        """Return the number of cells in a state."""
        return int((self.state == state).sum())

    def state_of(self, cell: int) -> CellState:
        """Return the state of a cell."""
        return CellState(int(self.state[cell]))

    def reasons_of(self, cell: int) -> tuple[str, ...]:
        """Return the distinct abstention reasons of a cell."""
        found = (self.reasons[each] for each in self.reason[cell] if each != NO_REASON)
        return tuple(dict.fromkeys(found))
