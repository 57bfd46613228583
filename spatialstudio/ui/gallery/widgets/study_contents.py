"""What the dialog and the plot of a study show."""

from spatialstudio.domain.frozen import frozen


@frozen
class StudyPoint:
    """A group of the plot.

    Attributes:
        name: Its settings.
        value: Its mean; NaN without values.
        low: Lower bound of its interval; NaN if there is none.
        high: Upper bound.
        said: Its value and interval in words.
    """

    name: str
    value: float
    low: float
    high: float
    said: str


@frozen
class StudyContents:
    """What the dialog shows of a study.

    Attributes:
        columns: Headers of the table, with their tips.
        rows: Cells of each group.
        points: The groups of the plot.
        names: Of the number, and of the settings that form the groups.
        bounds: Range that the plot's axis contains at least; None for that of the values.
        groups: Names of the groups, for the choice of the reference.
        reference: Index of the reference group.
        notes: Sentences below the table.
    """

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    points: tuple[StudyPoint, ...]
    names: tuple[str, str]
    bounds: tuple[float, float] | None
    groups: tuple[str, ...]
    reference: int
    notes: str
