"""The grid of a sweep: pictures with verdicts, with the varied settings along the axes."""

from collections.abc import Iterator, Sequence

from spatialstudio.adapters.exports.figure_parts import (
    LARGE,
    LINE_HEIGHT,
    MARGIN,
    NORMAL,
    SMALL,
    captioned,
    made_with,
    outcome_mark,
    picture,
)
from spatialstudio.domain.drawing import (
    Anchor,
    Drawing,
    Item,
    Line,
    Text,
    box,
)
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import ExportedRun, ExportLook
from spatialstudio.domain.sweep import (
    SweepCell,
    SweepField,
    SweepSides,
    sides_of,
)
from spatialstudio.domain.verdict import joint_outcome

CELL = 104.0
GAP = 10.0
SIDE_WIDTH = 76.0
"""Width of the row labels."""
MARK_HEIGHT = 13.0
TOP = MARGIN + 2 * LINE_HEIGHT + 8
"""Top of the pictures, below the titles."""
LABEL_RISE = 6.0


def sweep_sheet(runs: Sequence[ExportedRun], look: ExportLook) -> Drawing:
    """Arrange the pictures of one sweep by the varied settings.

    Raises:
        ExportError: The runs do not belong to one sweep.
    """
    cells = [run.record.request.sweep for run in runs]
    swept = [cell for cell in cells if cell is not None]
    if not swept or len(swept) < len(runs) or len({cell.sweep_id for cell in swept}) > 1:
        raise ExportError(
            "The runs are not a sweep.", hint="Choose runs of one sweep, or another kind of export."
        )
    sides = sides_of(swept)
    height = _cell_height(runs)
    items: list[Item] = [*_titles(sides, look), *_labels(sides, look, height)]
    for run, cell in zip(runs, swept, strict=True):
        items += _cell(run, look, _corner(sides, cell, height))
    width = 2 * MARGIN + _side(sides) + len(sides.columns) * (CELL + GAP)
    bottom = TOP + len(sides.rows) * (height + GAP)
    return captioned(runs[0], look, items, width, bottom, _caption(runs, sides))


def _titles(sides: SweepSides, look: ExportLook) -> Iterator[Item]:
    colour = look.palette.colours["text"]
    at = (MARGIN + _side(sides), MARGIN + NORMAL)
    title = sides.columns[0].field.title
    yield Text(at=at, text=title, colour=colour, size=LARGE, is_bold=True)
    if first := sides.rows[0]:
        below = (MARGIN, TOP - LABEL_RISE)
        yield Text(at=below, text=first.field.title, colour=colour, size=LARGE, is_bold=True)


def _labels(sides: SweepSides, look: ExportLook, height: float) -> Iterator[Item]:
    muted = look.palette.colours["muted"]
    for place, column in enumerate(sides.columns):
        x = MARGIN + _side(sides) + place * (CELL + GAP) + CELL / 2
        anchor = Anchor.MIDDLE
        at = (x, TOP - LABEL_RISE)
        yield Text(at=at, text=column.label, colour=muted, size=NORMAL, anchor=anchor)
    for place, row in enumerate(sides.rows):
        if row is not None:
            y = TOP + place * (height + GAP) + (height - MARK_HEIGHT) / 2
            yield Text(at=(MARGIN, y), text=row.label, colour=muted, size=NORMAL)


def _cell(run: ExportedRun, look: ExportLook, corner: tuple[float, float]) -> Iterator[Item]:
    shown = picture(run.image, corner, CELL)
    yield shown
    yield Line(
        points=box(*corner, shown.width, shown.height),
        colour=look.palette.colours["line"],
        width=0.5,
        is_closed=True,
    )
    verdicts = run.record.evaluation.verdicts if run.record.evaluation else ()
    outcome = joint_outcome(verdict.outcome for verdict in verdicts)
    below = (corner[0], corner[1] + shown.height + MARK_HEIGHT - 3)
    if outcome is not None:
        yield outcome_mark(outcome, look.palette, below, SMALL)


def _corner(sides: SweepSides, cell: SweepCell, height: float) -> tuple[float, float]:
    row, column = sides.place(cell)
    return MARGIN + _side(sides) + column * (CELL + GAP), TOP + row * (height + GAP)


def _side(sides: SweepSides) -> float:
    return 0.0 if sides.rows[0] is None else SIDE_WIDTH


def _cell_height(runs: Sequence[ExportedRun]) -> float:
    """Return the height of the tallest picture with its mark."""
    ratios = [float(run.image.shape[0] / run.image.shape[1]) for run in runs]
    return CELL * max(ratios) + MARK_HEIGHT


def _caption(runs: Sequence[ExportedRun], sides: SweepSides) -> tuple[str, ...]:
    """Return the prompt and the settings that are the same for all runs."""
    request = runs[0].record.request
    guidance = request.sampling.guidance
    differ = {point.field for point in (*sides.columns, *sides.rows) if point is not None}
    in_words = {
        SweepField.SEED: f"seed {request.sampling.seed}",
        SweepField.STEPS: f"{request.sampling.steps} steps",
        SweepField.GUIDANCE_SCALE: f"guidance scale {request.guidance_scale:g}",
        SweepField.STRENGTH: f"step size {guidance.strength:g}",
    }
    same = [text for field, text in in_words.items() if field not in differ]
    settings = ", ".join([request.model.id, guidance.method_id, *same])
    return f"“{request.scene.prompt.text}”", f"{settings}; {made_with(runs[0])}"
