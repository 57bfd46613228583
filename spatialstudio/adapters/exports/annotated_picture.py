"""The picture with its layers (maps, masks, boxes, marginals), legend and scale."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from spatialstudio.adapters.exports.figure_parts import (
    LINE_HEIGHT,
    MARGIN,
    NORMAL,
    SMALL,
    caption,
    captioned,
    legend,
    map_at,
    outcome_mark,
    picture,
    reading_of,
    shown_mentions,
    tint,
    veil,
)
from spatialstudio.adapters.exports.lettering import wrap_lines
from spatialstudio.domain.drawing import (
    Drawing,
    Item,
    Line,
    Raster,
    Text,
    box,
)
from spatialstudio.domain.export import (
    ExportedRun,
    ExportLayer,
    ExportLook,
)
from spatialstudio.domain.scene import Axis
from spatialstudio.science.checker.evidence import explain_mention
from spatialstudio.science.pos.superiority import marginal

SIDE = 384.0
"""Width of the picture, points."""

BAND = 40.0
"""Height of the marginals below the picture and width of those next to it, points."""


def annotated_picture(run: ExportedRun, look: ExportLook) -> Drawing:
    """Draw a run's picture with the selected layers, and verdicts and settings below it."""
    layers = layered_picture(run, look)
    room = layers.width - 2 * MARGIN
    items, y = list(layers.items), layers.height - MARGIN
    for verdict, evidence in zip(run.record.verdicts, run.evidence, strict=False):
        y += LINE_HEIGHT + 2
        items.append(outcome_mark(verdict.outcome, look.palette, (MARGIN, y)))
        for line in wrap_lines(evidence.sentence, room, NORMAL):
            y += LINE_HEIGHT
            items.append(Text(at=(MARGIN, y), text=line, colour=look.palette.colours["text"]))
    for judged in run.mention_verdicts:
        y += LINE_HEIGHT + 2
        items.append(outcome_mark(judged.outcome, look.palette, (MARGIN, y)))
        for line in wrap_lines(explain_mention(judged, run.record.request.scene), room, NORMAL):
            y += LINE_HEIGHT
            items.append(Text(at=(MARGIN, y), text=line, colour=look.palette.colours["text"]))
    shows_attention = not {ExportLayer.MAPS, ExportLayer.MARGINALS}.isdisjoint(look.layers)
    texts = (*caption(run), reading_of(run)) if shows_attention else ()
    return captioned(run, look, items, layers.width, y + 4, texts)


def layered_picture(run: ExportedRun, look: ExportLook) -> Drawing:
    """Draw a run's picture with the selected layers and their legend."""
    shown = picture(run.image, (MARGIN, MARGIN), SIDE)
    has_bands = ExportLayer.MARGINALS in look.layers and bool(tuple(_profiles(run, look)))
    band = BAND if has_bands else 0.0
    items: list[Item] = [shown, *_veils(run, look, shown), *_boxes(run, look, shown)]
    if has_bands:
        items += _marginals(run, look, shown)
    y = shown.at[1] + shown.height + band + LINE_HEIGHT + 4
    named = list(legend(shown_mentions(run, look), look, (MARGIN, y), SIDE + band))
    items += named
    y = max((item.at[1] for item in named if isinstance(item, Text)), default=y)
    if band:
        scale = "marginals: share of attention, each scaled to its own maximum"
        items.append(
            Text(
                at=(MARGIN, y + LINE_HEIGHT),
                text=scale,
                colour=look.palette.colours["muted"],
                size=SMALL,
            )
        )
        y += LINE_HEIGHT
    return Drawing(
        width=SIDE + band + 2 * MARGIN,
        height=y + MARGIN,
        ground=look.palette.colours["raised"],
        items=tuple(items),
        title=run.record.request.scene.prompt.text,
    )


def _veils(run: ExportedRun, look: ExportLook, shown: Raster) -> Iterator[Item]:
    for number, mention in shown_mentions(run, look):
        colour = look.palette.mention(number)
        weights = map_at(run, mention.id, look.step)
        if ExportLayer.MAPS in look.layers and weights is not None:
            height, width, _ = run.image.shape
            yield _over(shown, veil(weights, colour, (height, width)))
        if ExportLayer.MASKS in look.layers and run.record.evaluation:
            for mask in run.record.evaluation.perception.masks_of(mention.id)[:1]:
                yield _over(shown, tint(mask.pixels, colour))


def _over(shown: Raster, pixels: npt.NDArray[np.uint8]) -> Raster:
    return Raster(at=shown.at, width=shown.width, height=shown.height, pixels=pixels)


def _boxes(run: ExportedRun, look: ExportLook, shown: Raster) -> Iterator[Item]:
    if ExportLayer.BOXES not in look.layers or run.record.evaluation is None:
        return
    scale = shown.width / run.image.shape[1]
    for number, mention in shown_mentions(run, look):
        colour = look.palette.mention(number)
        for found in run.record.evaluation.perception.detections_of(mention.id)[:1]:
            x, y = shown.at[0] + found.box.left * scale, shown.at[1] + found.box.top * scale
            corners = box(x, y, found.box.width * scale, found.box.height * scale)
            yield Line(points=corners, colour=colour, width=1.5, is_closed=True)
            label = f"{found.label} {found.score:.2f}"
            at, ground = (x + 2, max(y - 3, NORMAL)), look.palette.colours["raised"]
            yield Text(at=at, text=label, colour=colour, is_bold=True, halo=ground)


def _profiles(
    run: ExportedRun, look: ExportLook
) -> Iterator[tuple[str, npt.NDArray[np.generic], npt.NDArray[np.generic]]]:
    for number, mention in shown_mentions(run, look):
        weights = map_at(run, mention.id, look.step)
        if weights is not None and weights.any():
            along_x, along_y = marginal(weights, Axis.X), marginal(weights, Axis.Y)
            yield look.palette.mention(number), along_x, along_y


def _marginals(run: ExportedRun, look: ExportLook, shown: Raster) -> Iterator[Item]:
    left, top = shown.at
    bottom, right = top + shown.height, left + shown.width
    for colour, along_x, along_y in _profiles(run, look):
        xs = left + (np.arange(len(along_x)) + 0.5) / len(along_x) * shown.width
        ys = bottom + 4 + (1 - along_x / along_x.max()) * (BAND - 8)
        yield Line(points=tuple(zip(xs.tolist(), ys.tolist(), strict=True)), colour=colour)
        ys = top + (np.arange(len(along_y)) + 0.5) / len(along_y) * shown.height
        xs = right + 4 + along_y / along_y.max() * (BAND - 8)
        yield Line(points=tuple(zip(xs.tolist(), ys.tolist(), strict=True)), colour=colour)
