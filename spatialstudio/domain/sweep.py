"""Sweeps: images of one prompt whose settings vary along one or two axes."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, NewType

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.options import Option, OptionKind

SweepId = NewType("SweepId", str)


@frozen(kw_only=False, eq=False)
class SweepField:
    """A numeric setting that can be swept; fields with the same id are equal.

    Attributes:
        id: Name in files: that of a run setting, or of an option of the guidance method.
        title: Name on the axis of a grid.
        is_whole: Whether it accepts whole numbers only.
        can_be_negative: Whether it accepts numbers below 0.
    """

    id: str
    title: str
    is_whole: bool = False
    can_be_negative: bool = False

    SEED: ClassVar["SweepField"]
    STEPS: ClassVar["SweepField"]
    WIDTH: ClassVar["SweepField"]
    HEIGHT: ClassVar["SweepField"]
    GUIDANCE_SCALE: ClassVar["SweepField"]
    STRENGTH: ClassVar["SweepField"]
    DECAY: ClassVar["SweepField"]
    GUIDED_STEPS: ClassVar["SweepField"]
    EVERY: ClassVar["SweepField"]
    INNER_UPDATES: ClassVar["SweepField"]
    GOAL: ClassVar["SweepField"]
    TARGET_WEIGHT: ClassVar["SweepField"]
    PARTICLES: ClassVar["SweepField"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SweepField) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


SweepField.SEED = SweepField("seed", "Seed", is_whole=True)
SweepField.STEPS = SweepField("steps", "Steps", is_whole=True)
SweepField.WIDTH = SweepField("width", "Width", is_whole=True)
SweepField.HEIGHT = SweepField("height", "Height", is_whole=True)
SweepField.GUIDANCE_SCALE = SweepField("guidance_scale", "CFG scale")
SweepField.STRENGTH = SweepField("strength", "Step size")
SweepField.DECAY = SweepField("decay", "Decay")
SweepField.GUIDED_STEPS = SweepField("guided_steps", "Guided steps", is_whole=True)
SweepField.EVERY = SweepField("every", "Guide every", is_whole=True)
SweepField.INNER_UPDATES = SweepField("inner_updates", "Updates", is_whole=True)
SweepField.GOAL = SweepField("goal", "Pause at PoS")
SweepField.TARGET_WEIGHT = SweepField("target_weight", "Weight of the sketched places")
SweepField.PARTICLES = SweepField("particles", "Particles", is_whole=True)

RUN_FIELDS: Mapping[str, SweepField] = {
    field.id: field
    for field in (
        SweepField.SEED,
        SweepField.STEPS,
        SweepField.WIDTH,
        SweepField.HEIGHT,
        SweepField.GUIDANCE_SCALE,
        SweepField.STRENGTH,
        SweepField.DECAY,
        SweepField.GUIDED_STEPS,
        SweepField.EVERY,
        SweepField.INNER_UPDATES,
        SweepField.GOAL,
        SweepField.TARGET_WEIGHT,
        SweepField.PARTICLES,
    )
}
"""Fields of every run, by id. Values are set in this order, so that the number of steps is set
before the guided steps; options of the guidance method follow."""


def sweep_field(field_id: str) -> SweepField:
    """Return the field with an id; for an option, the title is derived from the id."""
    title = field_id.replace("_", " ").capitalize()
    return RUN_FIELDS.get(field_id) or SweepField(field_id, title)


def option_field(option: Option) -> SweepField:
    """Return the field of a guidance method's option."""
    is_whole = option.kind in {OptionKind.INT, OptionKind.BOOL}
    can_be_negative = option.is_number and (option.minimum is None or option.minimum < 0)
    return SweepField(option.id, option.label, is_whole, can_be_negative)


@frozen
class SweepAxis:
    """A field and its distinct values, in order."""

    field: SweepField
    values: tuple[float, ...]


@frozen
class SweepPlan:
    """The axes of a sweep; without rows the images form a single row."""

    columns: SweepAxis
    rows: SweepAxis | None = None

    @property
    def axes(self) -> tuple[SweepAxis, ...]:
        """The column axis and, if present, the row axis."""
        return (self.columns,) if self.rows is None else (self.columns, self.rows)

    @property
    def pictures(self) -> int:
        """Number of images."""
        return len(self.columns.values) * (len(self.rows.values) if self.rows else 1)


@frozen
class SweepPoint:
    """One value of one field."""

    field: SweepField
    value: float

    @property
    def label(self) -> str:
        """The value as an axis label: "7", "2.5"."""
        return f"{self.value:.0f}" if self.field.is_whole else f"{self.value:g}"


@frozen
class SweepCell:
    """Position of an image in its sweep; stored in the run record.

    Attributes:
        sweep_id: Id of the sweep.
        column: Value of its column.
        row: Value of its row; None for a single row.
    """

    sweep_id: SweepId
    column: SweepPoint
    row: SweepPoint | None = None


@frozen
class SweepSides:
    """Axis values of a grid, in ascending order.

    Attributes:
        columns: At least one.
        rows: A single None where there is no row axis.
    """

    columns: tuple[SweepPoint, ...]
    rows: tuple[SweepPoint | None, ...]

    def place(self, cell: SweepCell) -> tuple[int, int]:
        """Return the row and column index of a cell."""
        return self.rows.index(cell.row), self.columns.index(cell.column)


def sides_of(cells: Iterable[SweepCell]) -> SweepSides:
    """Return the axis values of the grid of a sweep's cells; at least one cell."""
    cells = tuple(cells)
    columns = {cell.column for cell in cells}
    rows = {cell.row for cell in cells}
    return SweepSides(
        columns=tuple(sorted(columns, key=lambda point: point.value)),
        rows=tuple(sorted(rows, key=lambda point: point.value if point else 0)),
    )
