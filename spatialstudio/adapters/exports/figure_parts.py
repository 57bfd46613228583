"""Shared parts of figures: heat maps, legend, caption, layers over a picture."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageColor

from spatialstudio.adapters.exports.lettering import (
    elided,
    width_of,
    wrap_lines,
)
from spatialstudio.domain.arrays import (
    BoolMask,
    FloatMap,
    RgbImage,
)
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.drawing import (
    Anchor,
    Drawing,
    Item,
    Line,
    Raster,
    Text,
    box,
)
from spatialstudio.domain.export import ExportedRun, ExportLook, FigureCaption
from spatialstudio.domain.generation import StepEvent, moment_read
from spatialstudio.domain.palette import HEAT_STOPS, Palette
from spatialstudio.domain.scene import MentionId, ObjectMention, RelationId
from spatialstudio.domain.verdict import Outcome

MARGIN = 16.0
LINE_HEIGHT = 12.0
SMALL, NORMAL, LARGE = 7.5, 9.0, 11.0
MASK_OPACITY = 0.35
_MARKS = {Outcome.PASS: "good", Outcome.FAIL: "bad", Outcome.UNDECIDABLE: "unsure"}
SIGNS = {Outcome.PASS: "●", Outcome.FAIL: "▲", Outcome.UNDECIDABLE: "◆"}
_OPAQUE = 255

Pixels = npt.NDArray[np.uint8]


def shown_mentions(run: ExportedRun, look: ExportLook) -> tuple[tuple[int, ObjectMention], ...]:
    """Return the mentions whose layers are shown, each with its colour index."""
    scene, wanted = run.record.request.scene, look.mention_ids
    hues = scene.hues
    return tuple((hues[m.id], m) for m in scene.mentions if wanted is None or m.id in wanted)


def map_at(run: ExportedRun, mention_id: MentionId, step: int | None) -> FloatMap | None:
    """Return a mention's map at a step, or at its last one, after updates if available."""
    moment = moment_shown(run)
    for event in reversed(run.steps):
        attention = event.attention_at(moment)
        if attention and mention_id in attention.maps and step in (None, event.step):
            return attention.maps[mention_id]
    return None


def pos_read(run: ExportedRun, event: StepEvent) -> Mapping[RelationId, float]:
    """Return a step's PoS from the same reading as ``map_at``."""
    return event.pos_at(moment_shown(run))


def moment_shown(run: ExportedRun) -> Moment:
    """Return which reading of guided steps figures show: after the updates if available."""
    return moment_read(run.steps, Moment.AFTER) or Moment.AFTER


def reading_of(run: ExportedRun) -> str:
    """Describe when maps and PoS of guided steps were read; empty if no step is guided."""
    moment = moment_read(run.steps, Moment.AFTER)
    return "" if moment is None else f"Attention and PoS of guided steps {moment.value}."


def heat(weights: FloatMap, palette: Palette) -> Pixels:
    """Draw a map in the theme's heat colours, from 0 to its own peak; (h, w, 3)."""
    return heat_colours(weights / _peak(weights), palette)


def heat_colours(shares: npt.NDArray[np.floating], palette: Palette) -> Pixels:
    """Draw values in [0, 1] in the theme's heat colours; (h, w, 3)."""
    stops = np.array(
        [ImageColor.getrgb(palette.colours[f"heat_{n}"]) for n in range(1, HEAT_STOPS + 1)]
    )
    places = np.linspace(0, 1, HEAT_STOPS)
    channels = [np.interp(shares, places, stops[:, channel]) for channel in range(3)]
    return np.stack(channels, -1).round().astype(np.uint8)


def veil(weights: FloatMap, colour: str, size: tuple[int, int]) -> Pixels:
    """Draw a map as a single-colour overlay; (H, W, 4), opaque at its peak."""
    shares = weights / _peak(weights)
    levels = Image.fromarray((shares * _OPAQUE).round().astype(np.uint8))
    opacity = np.array(levels.resize((size[1], size[0]), Image.Resampling.BICUBIC))
    return _with_opacity(opacity * 0.7, colour)


def tint(mask: BoolMask, colour: str) -> Pixels:
    """Draw a mask as a single-colour overlay; (H, W, 4)."""
    return _with_opacity(mask * (MASK_OPACITY * _OPAQUE), colour)


def legend(
    mentions: Sequence[tuple[int, ObjectMention]],
    look: ExportLook,
    at: tuple[float, float],
    width: float,
) -> Iterator[Item]:
    """Draw the legend of mention colours in rows that fit a width, in row order."""
    (x, y), swatch = at, NORMAL + 4
    for number, mention in mentions:
        colour = look.palette.mention(number)
        name = short_name(mention, width - swatch, NORMAL)
        needed = swatch + width_of(name, NORMAL)
        if x > at[0] and x + needed > at[0] + width:
            x, y = at[0], y + LINE_HEIGHT + 2
        yield Line(points=box(x, y - NORMAL + 1, NORMAL, NORMAL), fill=colour, is_closed=True)
        yield Text(at=(x + swatch, y), text=name, colour=look.palette.colours["text"])
        x += needed + 12


def short_name(mention: ObjectMention, width: float, size: float) -> str:
    """Return a mention's phrase if it fits a width in points, else its noun."""
    is_short = width_of(mention.phrase, size) <= width
    return mention.phrase if is_short else elided(mention.head, width, size)


def outcome_mark(
    outcome: Outcome, palette: Palette, at: tuple[float, float], size: float = NORMAL
) -> Text:
    """Draw an outcome as shape, word and colour: "● PASS"."""
    word = f"{SIGNS[outcome]} {outcome.value}"
    colour = palette.colours[_MARKS[outcome]]
    return Text(at=at, text=word, colour=colour, size=size, is_bold=True)


def heat_scale(palette: Palette, at: tuple[float, float], width: float) -> Iterator[Item]:
    """Draw the heat colour scale with its limits."""
    x, y = at
    ramp = np.linspace(0, 1, 64, dtype=np.float32)[None]
    yield Raster(at=(x, y), width=width, height=6, pixels=heat(ramp, palette))
    muted = palette.colours["muted"]
    yield Text(at=(x, y + 14), text="0", colour=muted, size=SMALL)
    end, label = (x + width, y + 14), "each map scaled to its own maximum"
    yield Text(at=end, text=label, colour=muted, size=SMALL, anchor=Anchor.END)


def caption(run: ExportedRun) -> tuple[str, str]:
    """Return prompt and settings as caption texts."""
    record = run.record
    request, guidance = record.request, record.request.sampling.guidance
    if record.origin is not None:
        known = [record.origin.name, judged_by(run), record.id]
        return f"“{request.scene.prompt.text}”", "; ".join(filter(None, known))
    held = f"{guidance.method_id}, step size {guidance.strength:g}"
    if not guidance.is_on:
        held = "guidance off"
    settings = (
        f"{request.model.id}, seed {request.sampling.seed}, {request.sampling.steps} steps, "
        f"CFG scale {request.guidance_scale:g}, {held}; {made_with(run)}; {record.id}"
    )
    return f"“{request.scene.prompt.text}”", "; ".join(filter(None, [settings, warning_on(run)]))


def judged_by(run: ExportedRun) -> str:
    """Return the judge set of a run as text, with its warning; empty if it is not recorded."""
    used = run.record.evaluation.judge_set if run.record.evaluation else None
    if used is None:
        return ""
    models = ", ".join(name.split()[0] for name in dict.fromkeys(used.models.values()))
    judges = f"judged by {used.id or 'chosen models'} ({models})"
    return f"{judges}; {used.warning}" if used.warning else judges


def warning_on(run: ExportedRun) -> str:
    """Return the warning on a run's verdicts; empty without one."""
    used = run.record.evaluation.judge_set if run.record.evaluation else None
    return used.warning if used else ""


def made_with(run: ExportedRun) -> str:
    """Return program, library and device as text."""
    made = run.record.environment
    return f"Spatial Studio {made.app}, torch {made.libraries.get('torch', '?')}, {made.device}"


def captioned(
    run: ExportedRun,
    look: ExportLook,
    items: Sequence[Item],
    width: float,
    height: float,
    texts: tuple[str, ...] = (),
) -> Drawing:
    """Add a caption below a figure.

    Args:
        run: The run.
        look: Colours of the figure.
        items: Items of the figure, which ends at ``height``.
        width: Width of the whole, points.
        height: Height of the figure, points.
        texts: Caption texts; empty for the run's prompt and settings.
    """
    lines = texts or caption(run)
    title = run.record.request.scene.prompt.text
    return with_caption(items, FigureCaption(title=title, lines=lines), look, width, height)


def with_caption(
    items: Sequence[Item], caption: FigureCaption, look: ExportLook, width: float, height: float
) -> Drawing:
    """Add a caption below the items of a figure, which is ``width`` wide and ends at ``height``."""
    room = width - 2 * MARGIN
    lines = [line for text in caption.lines if text for line in wrap_lines(text, room, SMALL)]
    muted = look.palette.colours["muted"]
    written = tuple(
        Text(at=(MARGIN, height + LINE_HEIGHT * (i + 1)), text=line, colour=muted, size=SMALL)
        for i, line in enumerate(lines)
    )
    return Drawing(
        width=width,
        height=height + LINE_HEIGHT * len(lines) + MARGIN,
        ground=look.palette.colours["raised"],
        items=(*items, *written),
        title=caption.title,
    )


def steps_shown(steps: Sequence[int], most: int) -> tuple[int, ...]:
    """Select evenly spaced steps, including the first and the last."""
    if len(steps) <= most:
        return tuple(steps)
    places = np.linspace(0, len(steps) - 1, most).round().astype(int)
    return tuple(steps[place] for place in places)


def _peak(weights: FloatMap) -> float:
    """Return the divisor of a map: its peak, or one if it is empty."""
    return float(weights.max(initial=0)) or 1.0


def _with_opacity(opacity: npt.NDArray[np.generic], colour: str) -> Pixels:
    plane = np.empty((*opacity.shape, 4), np.uint8)
    plane[..., :3] = ImageColor.getrgb(colour)
    plane[..., 3] = np.asarray(opacity, np.float64).clip(0, _OPAQUE).astype(np.uint8)
    return plane


def picture(image: RgbImage, at: tuple[float, float], width: float) -> Raster:
    """Place a picture in its aspect ratio."""
    height = width * image.shape[0] / image.shape[1]
    return Raster(at=at, width=width, height=height, pixels=image)
