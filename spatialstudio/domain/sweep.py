"""Sweeps: pictures of one prompt whose settings differ along one axis or two."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, NewType

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.options import Option, OptionKind

SweepId = NewType("SweepId", str)


@frozen(kw_only=False, eq=False)
class SweepField:
    """A number that can differ from picture to picture; fields with the same id are equal.

    Attributes:
        id: Name in files: that of a setting of the run, or of an option of its guidance method.
        title: Name beside a grid.
        is_whole: Whether it takes whole numbers only.
        can_be_negative: Whether it takes numbers below 0.
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SweepField) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


SweepField.SEED = SweepField("seed", "Seed", is_whole=True)
SweepField.STEPS = SweepField("steps", "Steps", is_whole=True)
SweepField.WIDTH = SweepField("width", "Width", is_whole=True)
SweepField.HEIGHT = SweepField("height", "Height", is_whole=True)
SweepField.GUIDANCE_SCALE = SweepField("guidance_scale", "Guidance scale")
SweepField.STRENGTH = SweepField("strength", "Step size")
SweepField.DECAY = SweepField("decay", "Decay")
SweepField.GUIDED_STEPS = SweepField("guided_steps", "Guided steps", is_whole=True)
SweepField.EVERY = SweepField("every", "Guide every", is_whole=True)
SweepField.INNER_UPDATES = SweepField("inner_updates", "Updates", is_whole=True)
SweepField.GOAL = SweepField("goal", "Pause at PoS")

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
    )
}
"""Those of every run, by id. Values are set in this order, so that the number of steps is there
before those of its window; then come the options of the guidance method."""


def sweep_field(field_id: str) -> SweepField:
    """Return the field with an id; one of an option takes its title from the id."""
    title = field_id.replace("_", " ").capitalize()
    return RUN_FIELDS.get(field_id) or SweepField(field_id, title)


def option_field(option: Option) -> SweepField:
    """Return the field of a guidance method's option."""
    is_whole = option.kind in {OptionKind.INT, OptionKind.BOOL}
    can_be_negative = option.is_number and (option.minimum is None or option.minimum < 0)
    return SweepField(option.id, option.label, is_whole, can_be_negative)


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
