"""Sheets over the steps: attention maps, previews and PoS curves."""

from collections.abc import Iterator, Sequence

from spatialstudio.adapters.exports.figure_parts import (
    LARGE,
    LINE_HEIGHT,
    MARGIN,
    NORMAL,
    SMALL,
    caption,
    captioned,
    heat,
    heat_scale,
    made_with,
    map_at,
    outcome_mark,
    picture,
    pos_read,
    reading_of,
    shown_mentions,
    steps_shown,
)
from spatialstudio.adapters.exports.lettering import elided, wrap_lines
from spatialstudio.domain.drawing import (
    Anchor,
    Drawing,
    Item,
    Line,
    Raster,
    Text,
    box,
)
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import ExportedRun, ExportLook
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.sweep import (
    SweepCell,
    SweepField,
    SweepSides,
    sides_of,
)

CELL = 72.0
GAP = 6.0
NAME_WIDTH = 64.0
SCALE_COLUMNS = 2
"""Width of the map scale in cells, and minimum width of the sheet."""
PLOT_WIDTH, PLOT_HEIGHT = 400.0, 220.0
PLOT_TOP = MARGIN + LINE_HEIGHT
"""Top of the plot, below its title."""
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
ROUND = (1, 2, 5)


def attention_sheet(run: ExportedRun, look: ExportLook) -> Drawing:
    """Arrange the maps of every mention over the steps.

    Raises:
        ExportError: The run has no maps.
    """
    captured = [event.step for event in run.steps if event.attention]
    steps = steps_shown(captured, look.columns)
    mentions = shown_mentions(run, look)
    if not steps or not mentions:
        raise ExportError(
            "The run has no attention maps.", hint="Generate it again with attention recording."
        )
    text = look.palette.colours["text"]
    items: list[Item] = list(_step_names(steps, look, MARGIN + NAME_WIDTH))
    y = MARGIN + LINE_HEIGHT
    for _, mention in mentions:
        items += _row_name(mention.phrase, text, y)
        for column, step in enumerate(steps):
            weights = map_at(run, mention.id, step)
            if weights is not None:
                at = (MARGIN + NAME_WIDTH + column * (CELL + GAP), y)
                pixels = heat(weights, look.palette)
                items.append(Raster(at=at, width=CELL, height=CELL, pixels=pixels))
        y += CELL + GAP
    items += heat_scale(look.palette, (MARGIN + NAME_WIDTH, y + 4), SCALE_COLUMNS * CELL)
    columns = max(len(steps), SCALE_COLUMNS)
    width = 2 * MARGIN + NAME_WIDTH + columns * (CELL + GAP) - GAP
    return captioned(run, look, items, width, y + 20, (*caption(run), reading_of(run)))


def _row_name(name: str, colour: str, top: float) -> Iterator[Item]:
    """Draw a name next to a row of maps, vertically centred, in as many lines as fit."""
    lines = wrap_lines(name, NAME_WIDTH - GAP, NORMAL)[: int(CELL / LINE_HEIGHT)]
    first = top + (CELL - (len(lines) - 1) * LINE_HEIGHT + NORMAL) / 2
    for place, line in enumerate(lines):
        yield Text(at=(MARGIN, first + place * LINE_HEIGHT), text=line, colour=colour)


def storyboard(run: ExportedRun, look: ExportLook) -> Drawing:
    """Arrange the previews side by side, the finished picture last.

    Raises:
        ExportError: The run has no previews.
    """
    previews = {event.step: event.preview for event in run.steps if event.preview is not None}
    if not previews:
        raise ExportError("The run has no previews.", hint="Generate it again with previews.")
    steps = steps_shown(sorted(previews), look.columns)
    items: list[Item] = list(_step_names(steps, look, MARGIN))
    y = MARGIN + LINE_HEIGHT
    for column, pixels in enumerate([*(previews[step] for step in steps), run.image]):
        at = (MARGIN + column * (CELL + GAP), y)
        items.append(Raster(at=at, width=CELL, height=CELL, pixels=pixels))
    last = MARGIN + len(steps) * (CELL + GAP)
    items.append(
        Text(at=(last, y - 4), text="picture", colour=look.palette.colours["muted"], size=SMALL)
    )
    return captioned(run, look, items, last + CELL + MARGIN, y + CELL + 4)


def curves(run: ExportedRun, look: ExportLook) -> Drawing:
    """Plot PoS of every relation over the steps; guided steps are shaded.

    Raises:
        ExportError: The run has no PoS.
    """
    if not any(event.pos for event in run.steps):
        raise ExportError(
            "The run has no relation with a recorded PoS.", hint=("Choose another run.")
        )
    items: list[Item] = [*_guided(run, look), *_axes(run, look), *_lines(run, look)]
    relations = run.record.request.scene.relations
    legend_height = LINE_HEIGHT * max(len(relations) + bool(_guided_steps(run)) - 1, 0)
    height = PLOT_TOP + PLOT_HEIGHT + 3 * MARGIN + legend_height
    texts = (*caption(run), reading_of(run))
    return captioned(run, look, items, PLOT_WIDTH + 3 * MARGIN, height, texts)


def curve_point(run: ExportedRun, step: int, pos: float) -> tuple[float, float]:
    """Return the plot position of a step's PoS, points."""
    last = max(len(run.steps) - 1, 1)
    return (2 * MARGIN + PLOT_WIDTH * step / last, PLOT_TOP + PLOT_HEIGHT * (1 - pos))


def _lines(run: ExportedRun, look: ExportLook) -> Iterator[Item]:
    scene = run.record.request.scene
    hues = scene.relation_hues
    for number, relation in enumerate(scene.relations):
        points = tuple(
            curve_point(run, event.step, float(pos_read(run, event)[relation.id]))
            for event in run.steps
            if relation.id in pos_read(run, event)
        )
        colour = look.palette.mention(hues[relation.id])
        if len(points) > 1:
            yield Line(points=points, colour=colour, width=1.5)
        y = PLOT_TOP + PLOT_HEIGHT + 2.5 * MARGIN + number * LINE_HEIGHT
        yield Line(points=((2 * MARGIN, y - 3), (2 * MARGIN + 14, y - 3)), colour=colour, width=2)
        text = look.palette.colours["text"]
        sentence = elided(scene.sentence(relation), PLOT_WIDTH - 20, NORMAL)
        yield Text(at=(2 * MARGIN + 20, y), text=sentence, colour=text)


def _axes(run: ExportedRun, look: ExportLook) -> Iterator[Item]:
    muted, line = look.palette.colours["muted"], look.palette.colours["line"]
    for tick in TICKS:
        left, right = curve_point(run, 0, tick), (2 * MARGIN + PLOT_WIDTH, 0.0)
        yield Line(points=(left, (right[0], left[1])), colour=line, width=0.5)
        at = (left[0] - 4, left[1] + 3)
        yield Text(at=at, text=f"{tick:g}", colour=muted, size=SMALL, anchor=Anchor.END)
    for number in round_numbers(len(run.steps), look.columns):
        x, y = curve_point(run, number - 1, 0.0)
        at = (x, y + LINE_HEIGHT)
        yield Text(at=at, text=str(number), colour=muted, size=SMALL, anchor=Anchor.MIDDLE)
    yield Text(at=(2 * MARGIN, PLOT_TOP - 4), text="PoS over the steps", colour=muted, size=SMALL)


def round_numbers(last: int, most: int) -> tuple[int, ...]:
    """Choose 1 and round numbers up to the last, limited in count to stay readable."""
    powers = (10**power for power in range(len(str(last))))
    spacing = next(
        (factor * power for power in powers for factor in ROUND if last / (factor * power) < most),
        last,
    )
    return tuple(dict.fromkeys((1, *range(spacing, last + 1, spacing))))


def _guided(run: ExportedRun, look: ExportLook) -> Iterator[Item]:
    if guided := _guided_steps(run):
        left, top = curve_point(run, min(guided), 1.0)
        right, bottom = curve_point(run, max(guided), 0.0)
        area = box(left, top, max(right - left, 1.0), bottom - top)
        fill, text = look.palette.colours["hover"], look.palette.colours["text"]
        yield Line(points=area, fill=fill, is_closed=True)
        rows = len(run.record.request.scene.relations)
        y = PLOT_TOP + PLOT_HEIGHT + 2.5 * MARGIN + rows * LINE_HEIGHT
        yield Line(points=box(2 * MARGIN, y - NORMAL + 1, 14, NORMAL), fill=fill, is_closed=True)
        yield Text(at=(2 * MARGIN + 20, y), text="guided steps", colour=text)


def _guided_steps(run: ExportedRun) -> list[int]:
    return [event.step for event in run.steps if event.step_size is not None]


def _step_names(steps: tuple[int, ...], look: ExportLook, left: float) -> Iterator[Item]:
    for column, step in enumerate(steps):
        at = (left + column * (CELL + GAP), MARGIN + LINE_HEIGHT - 4)
        yield Text(at=at, text=f"step {step + 1}", colour=look.palette.colours["muted"], size=SMALL)


SWEEP_CELL = 104.0
SWEEP_GAP = 10.0
SIDE_WIDTH = 76.0
"""Width of the row labels."""
MARK_HEIGHT = 13.0
SWEEP_TOP = MARGIN + 2 * LINE_HEIGHT + 8
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
    width = 2 * MARGIN + _side(sides) + len(sides.columns) * (SWEEP_CELL + SWEEP_GAP)
    bottom = SWEEP_TOP + len(sides.rows) * (height + SWEEP_GAP)
    return captioned(runs[0], look, items, width, bottom, _caption(runs, sides))


def _titles(sides: SweepSides, look: ExportLook) -> Iterator[Item]:
    colour = look.palette.colours["text"]
    at = (MARGIN + _side(sides), MARGIN + NORMAL)
    title = sides.columns[0].field.title
    yield Text(at=at, text=title, colour=colour, size=LARGE, is_bold=True)
    if first := sides.rows[0]:
        below = (MARGIN, SWEEP_TOP - LABEL_RISE)
        yield Text(at=below, text=first.field.title, colour=colour, size=LARGE, is_bold=True)


def _labels(sides: SweepSides, look: ExportLook, height: float) -> Iterator[Item]:
    muted = look.palette.colours["muted"]
    for place, column in enumerate(sides.columns):
        x = MARGIN + _side(sides) + place * (SWEEP_CELL + SWEEP_GAP) + SWEEP_CELL / 2
        anchor = Anchor.MIDDLE
        at = (x, SWEEP_TOP - LABEL_RISE)
        yield Text(at=at, text=column.label, colour=muted, size=NORMAL, anchor=anchor)
    for place, row in enumerate(sides.rows):
        if row is not None:
            y = SWEEP_TOP + place * (height + SWEEP_GAP) + (height - MARK_HEIGHT) / 2
            yield Text(at=(MARGIN, y), text=row.label, colour=muted, size=NORMAL)


def _cell(run: ExportedRun, look: ExportLook, corner: tuple[float, float]) -> Iterator[Item]:
    shown = picture(run.image, corner, SWEEP_CELL)
    yield shown
    yield Line(
        points=box(*corner, shown.width, shown.height),
        colour=look.palette.colours["line"],
        width=0.5,
        is_closed=True,
    )
    outcome = run.record.evaluation.outcome if run.record.evaluation else None
    below = (corner[0], corner[1] + shown.height + MARK_HEIGHT - 3)
    if outcome is not None:
        yield outcome_mark(outcome, look.palette, below, SMALL)


def _corner(sides: SweepSides, cell: SweepCell, height: float) -> tuple[float, float]:
    row, column = sides.place(cell)
    return MARGIN + _side(sides) + column * (SWEEP_CELL + SWEEP_GAP), SWEEP_TOP + row * (
        height + SWEEP_GAP
    )


def _side(sides: SweepSides) -> float:
    return 0.0 if sides.rows[0] is None else SIDE_WIDTH


def _cell_height(runs: Sequence[ExportedRun]) -> float:
    """Return the height of the tallest picture with its mark."""
    ratios = [float(run.image.shape[0] / run.image.shape[1]) for run in runs]
    return SWEEP_CELL * max(ratios) + MARK_HEIGHT


def _caption(runs: Sequence[ExportedRun], sides: SweepSides) -> tuple[str, ...]:
    """Return the prompt and the settings that are the same for all runs."""
    requests = [run.record.request for run in runs]
    differ = {point.field for point in (*sides.columns, *sides.rows) if point is not None}
    guided = [each.sampling.guidance for each in requests if each.sampling.guidance.is_on]
    settings: dict[SweepField, list[str]] = {
        SweepField.SEED: [f"seed {each.sampling.seed}" for each in requests],
        SweepField.STEPS: [f"{each.sampling.steps} steps" for each in requests],
        SweepField.GUIDANCE_SCALE: [f"CFG scale {each.guidance_scale:g}" for each in requests],
        SweepField.STRENGTH: [f"step size {each.strength:g}" for each in guided],
    }
    same = [
        texts[0]
        for field, texts in settings.items()
        if field not in differ and len(set(texts)) == 1
    ]
    words = ", ".join([requests[0].model.id, _guidance_in_words(requests), *same])
    return f"“{requests[0].scene.prompt.text}”", f"{words}; {made_with(runs[0])}"


def _guidance_in_words(requests: Sequence[GenerationRequest]) -> str:
    """Return the methods of the guided runs, and in how many runs guidance is off."""
    guidances = [each.sampling.guidance for each in requests]
    guided = [each.method_id for each in guidances if each.is_on]
    off = len(requests) - len(guided)
    if not guided:
        return "guidance off"
    methods = " and ".join(dict.fromkeys(guided))
    return f"{methods} (off in {off} of {len(requests)})" if off else methods
