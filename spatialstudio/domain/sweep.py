"""Sweeps: pictures of one prompt whose settings differ along one axis or two."""

from collections.abc import Iterable
from enum import Enum
from typing import NewType

from spatialstudio.domain.frozen import frozen

SweepId = NewType("SweepId", str)


class SweepField(Enum):
    """A number that can differ from picture to picture; the value is its name in files.

    Values are set in this order, so that the number of steps is there before those of its window.
    """

    SEED = "seed"
    STEPS = "steps"
    WIDTH = "width"
    HEIGHT = "height"
    GUIDANCE_SCALE = "guidance_scale"
    STRENGTH = "strength"
    DECAY = "decay"
    GUIDED_STEPS = "guided_steps"
    EVERY = "every"
    INNER_UPDATES = "inner_updates"
    GOAL = "goal"
    PRESENCE_WEIGHT = "presence_weight"

    @property
    def title(self) -> str:
        """What it is called beside a grid."""
        return TITLES[self]

    @property
    def is_whole(self) -> bool:
        """Whether it takes whole numbers only."""
        return self in WHOLE


TITLES = {
    SweepField.SEED: "Seed",
    SweepField.STEPS: "Steps",
    SweepField.WIDTH: "Width",
    SweepField.HEIGHT: "Height",
    SweepField.GUIDANCE_SCALE: "Guidance scale",
    SweepField.STRENGTH: "Step size",
    SweepField.DECAY: "Decay",
    SweepField.GUIDED_STEPS: "Guided steps",
    SweepField.EVERY: "Guide every",
    SweepField.INNER_UPDATES: "Updates",
    SweepField.GOAL: "Rest at PoS",
    SweepField.PRESENCE_WEIGHT: "Presence weight",
}
WHOLE = frozenset(
    {
        SweepField.SEED,
        SweepField.STEPS,
        SweepField.WIDTH,
        SweepField.HEIGHT,
        SweepField.GUIDED_STEPS,
        SweepField.EVERY,
        SweepField.INNER_UPDATES,
    }
)


@frozen
class SweepAxis:
    """A field and the values that it takes, in order, each once."""

    field: SweepField
    values: tuple[float, ...]


@frozen
class SweepPlan:
    """What shall be swept; without rows the pictures stand in one line."""

    columns: SweepAxis
    rows: SweepAxis | None = None

    @property
    def axes(self) -> tuple[SweepAxis, ...]:
        """The columns' and, where there is one, the rows'."""
        return (self.columns,) if self.rows is None else (self.columns, self.rows)

    @property
    def pictures(self) -> int:
        """How many pictures it takes."""
        return len(self.columns.values) * (len(self.rows.values) if self.rows else 1)


@frozen
class SweepPoint:
    """One value of one field."""

    field: SweepField
    value: float

    @property
    def label(self) -> str:
        """The value as it stands beside a grid: "7", "2.5"."""
        return f"{self.value:.0f}" if self.field.is_whole else f"{self.value:g}"


@frozen
class SweepCell:
    """Where a picture stands in its sweep; kept in the record of its run.

    Attributes:
        sweep_id: All pictures of the sweep have the same.
        column: What tells its column from the others.
        row: What tells its row; None where there is only one.
    """

    sweep_id: SweepId
    column: SweepPoint
    row: SweepPoint | None = None


@frozen
class SweepSides:
    """What stands along the sides of a grid, each side from small to large.

    Attributes:
        columns: At least one.
        rows: One None where there are no rows.
    """

    columns: tuple[SweepPoint, ...]
    rows: tuple[SweepPoint | None, ...]

    def place(self, cell: SweepCell) -> tuple[int, int]:
        """Return the row and the column of a cell."""
        return self.rows.index(cell.row), self.columns.index(cell.column)


def sides_of(cells: Iterable[SweepCell]) -> SweepSides:
    """Return the sides of the grid that the cells of one sweep make; at least one cell."""
    cells = tuple(cells)
    columns = {cell.column for cell in cells}
    rows = {cell.row for cell in cells}
    return SweepSides(
        columns=tuple(sorted(columns, key=lambda point: point.value)),
        rows=tuple(sorted(rows, key=lambda point: point.value if point else 0)),
    )
