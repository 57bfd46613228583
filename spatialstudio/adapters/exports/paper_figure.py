"""Figures for papers: maps of several runs over the steps, a numbered scale, and PoS curves."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from math import ceil, floor, log10
from pathlib import Path

import numpy as np
from PIL import ImageFont

from spatialstudio.adapters.exports.figure_parts import (
    Pixels,
    caption,
    heat_colours,
    steps_shown,
)
from spatialstudio.adapters.exports.layer_runs import runs_of_layers
from spatialstudio.adapters.exports.lettering import ELLIPSIS, font_files, width_of
from spatialstudio.adapters.exports.sheets import round_numbers
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.attention import MapScale, Moment
from spatialstudio.domain.derived_requests import has_baseline
from spatialstudio.domain.drawing import Anchor, Drawing, Item, Line, Raster, Text, box
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import ExportedRun, ExportLook
from spatialstudio.domain.figure_template import INCH, LEAST_TYPE, FigureTemplate
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import moment_read
from spatialstudio.domain.scene import ObjectMention
from spatialstudio.science.guidance.methods import is_left_unguided

EDGE = 2.0
GAP = 2.0
LABEL_SHARE = 0.24
"""Largest share of the width for the row labels."""
LEADING = 1.3
BAR_HEIGHT = 5.0
SAMPLE = 14.0
"""Length of a line in the legend."""
MAP_PIXELS = 256
"""Least side of a drawn map; its cells are repeated, so that no viewer blurs them."""
PLOT_RATIO = 0.42
"""Height of the curves over their width."""
HAIRLINE, CURVE = 0.5, 1.1
EVEN = 0.5
"""PoS of two distributions without an order."""
POS_TICKS = (0.0, EVEN, 1.0)
GUIDANCE_LAYERS = "Attention is the mean over heads and guidance layers."
MOST_TICKS = 6
MOST_NAMED = 4
"""Largest number of layers that a caption names."""
ABSENT = "n/a"
ROUNDING = 1e-6
MEASURED = 100
"""Font size at which text is measured."""

Measure = Callable[[str, float], float]
"""Function from a text and a font size in points to its width in points."""


@frozen(eq=False)
class _Rows:
    """One run of the figure: its label and the mentions whose maps are shown."""

    run: ExportedRun
    label: str
    mentions: tuple[ObjectMention, ...]


@frozen
class _Series:
    """A curve and its entry in the legend; without colour, the shading of guided steps."""

    name: str
    colour: str
    points: tuple[tuple[int, float], ...] = ()
    is_dashed: bool = False


class PaperFigure:
    """Lays out a figure in points, the same for every output format.

    Args:
        runs: The runs, from top to bottom.
        look: Colours, and the template.
        fonts: The folder of fonts, to measure text.

    Raises:
        ExportError: No run has a map of the words at the steps.
    """

    def __init__(self, runs: Sequence[ExportedRun], look: ExportLook, fonts: Path) -> None:
        self._template, self._palette = look.template, look.palette
        self._measure = measure_with(font_files(look.template.font, fonts)[0])
        if self._template.layers:
            runs, self._moment = runs_of_layers(runs, self._template.layers, self._template.moment)
        else:
            self._moment = common_moment(runs, self._template.moment)
        self._rows = tuple(
            _Rows(run=run, label=label, mentions=mentions_of(run, self._template))
            for run, label in zip(runs, labels_of(runs), strict=True)
        )
        self._steps = self._chosen_steps()
        self._peak = self._shared_peak()
        self._size = self._template.type_size
        self._small = max(self._size - 1, LEAST_TYPE)
        self._width = self._template.width * INCH
        names = [mention.phrase for rows in self._rows for mention in rows.mentions]
        needed = max(self._measure(name, self._size) for name in [*names, self._scale_name, "Step"])
        self._left = EDGE + min(needed, LABEL_SHARE * self._width) + 2 * GAP
        self._cell = (self._right - self._left - GAP * (len(self._steps) - 1)) / len(self._steps)

    def draw(self) -> Drawing:
        """Draw the figure."""
        items: list[Item] = []
        y = EDGE
        for part in (self._maps, self._scale, self._curves, self._footer):
            found, y = part(y)
            items += found
        first = self._rows[0].run.record.request.scene.prompt.text
        return Drawing(
            width=self._width,
            height=y + EDGE,
            ground=self._palette.colours["raised"],
            items=tuple(items),
            font=self._template.font,
            title=first,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that name the steps of the template that the figure does not show."""
        absent = sorted({step for step in self._template.steps if step - 1 not in self._steps})
        beyond = [step for step in absent if step - 1 > self._last]
        unread = [step for step in absent if step - 1 <= self._last]
        notes = []
        if beyond:
            notes.append(f"{_steps_in_words(beyond)} not shown: the last step is {self._last + 1}.")
        if unread:
            notes.append(f"{_steps_in_words(unread)} not shown: no maps of these words.")
        return tuple(notes)

    @property
    def _right(self) -> float:
        return self._width - EDGE - self._size / 2

    @property
    def _scale_name(self) -> str:
        is_own = self._template.scale is MapScale.PER_MAP
        return "Share of max." if is_own else "Attention"

    @property
    def _reading(self) -> str:
        return f"Guided steps: read {self._moment.value}." if self._guided else ""

    def _measure_small(self, text: str) -> float:
        return self._measure(text, self._small)

    @property
    def _line(self) -> float:
        return self._size * LEADING

    def _maps(self, top: float) -> tuple[list[Item], float]:
        items: list[Item] = [self._label("Step", top + self._size)]
        y = top + self._line
        widest = max(self._measure(f"{step + 1}", self._size) for step in self._steps)
        for column in range(0, len(self._steps), ceil((widest + GAP) / (self._cell + GAP))):
            at = (self._column(column) + self._cell / 2, top + self._size)
            items.append(self._text(at, f"{self._steps[column] + 1}", Anchor.MIDDLE))
        for rows in self._rows:
            if len(self._rows) > 1:
                name = self._fit(rows.label, self._right - self._left, self._size)
                items.append(replace(self._text((self._left, y + self._size), name), is_bold=True))
                y += self._line
            for mention in rows.mentions:
                height = self._cell_height(rows.run)
                pitch = max(height, self._size)
                baseline = y + pitch / 2 + 0.36 * self._size
                items.append(self._label(mention.phrase, baseline))
                items += self._row(rows.run, mention, (y + (pitch - height) / 2, height))
                y += pitch + GAP
        return items, y

    def _row(
        self, run: ExportedRun, mention: ObjectMention, place: tuple[float, float]
    ) -> Iterator[Item]:
        y, height = place
        for column, step in enumerate(self._steps):
            x, weights = self._column(column), self._map(run, mention, step)
            if weights is not None:
                pixels = self._coloured(weights)
                yield Raster(at=(x, y), width=self._cell, height=height, pixels=pixels)
            else:
                edge, corners = self._palette.colours["line"], box(x, y, self._cell, height)
                yield Line(points=corners, colour=edge, width=HAIRLINE, is_closed=True)
                if self._measure(ABSENT, self._small) < self._cell:
                    middle = (x + self._cell / 2, y + height / 2 + 0.36 * self._small)
                    yield self._text(middle, ABSENT, Anchor.MIDDLE, is_small=True)

    def _scale(self, top: float) -> tuple[list[Item], float]:
        top += 2 * GAP
        is_own = self._template.scale is MapScale.PER_MAP
        high = 1.0 if is_own or self._peak <= 0 else self._peak
        ramp = np.linspace(0, 1, 256)[None]
        length = self._right - self._left
        title = self._label(self._scale_name, top + BAR_HEIGHT)
        if title.text != self._scale_name:  # no room beside the scale
            name = self._fit(self._scale_name, self._width - 2 * EDGE, self._size)
            title = self._text((EDGE, top + self._size), name)
            top += self._line
        items: list[Item] = [
            title,
            Raster(
                at=(self._left, top),
                width=length,
                height=BAR_HEIGHT,
                pixels=heat_colours(ramp, self._palette),
            ),
        ]
        bottom = top + BAR_HEIGHT
        items += self._ticks(high, bottom)
        y = bottom + GAP + self._small * LEADING
        for line in lines_within(self._reading, length, self._measure_small):
            name = self._fit(line, length, self._small)
            items.append(self._text((self._left, y + self._small), name, is_small=True))
            y += self._small * LEADING
        return items, y

    def _ticks(self, high: float, top: float) -> Iterator[Item]:
        """Number the colour scale at round values, and at its maximum."""
        length = self._right - self._left
        last = f"{high:.2g}"
        free = self._right - self._measure(last, self._small) - self._small / 2
        for tick in ticks_up_to(high, most=4 if length > 2 * INCH else 2):
            x, name = self._left + length * tick / high, f"{tick:g}"
            if x + self._measure(name, self._small) / 2 < free:
                yield self._rule((x, top), (x, top + GAP))
                yield self._text((x, top + GAP + self._small), name, Anchor.MIDDLE, is_small=True)
        yield self._rule((self._right, top), (self._right, top + GAP))
        yield self._text((self._right, top + GAP + self._small), last, Anchor.END, is_small=True)

    def _curves(self, top: float) -> tuple[list[Item], float]:
        series = list(self._series())
        if not self._template.has_curves or not series:
            return [], top
        top += self._line
        length = self._right - self._left
        height = min(length * PLOT_RATIO, 2 * INCH)
        items = [*self._guided_area(top, height), *self._axes(top, height)]
        for each in series:
            points = tuple(
                (self._step_x(step), top + height * (1 - pos)) for step, pos in each.points
            )
            items.append(
                Line(points=points, colour=each.colour, width=CURVE, is_dashed=each.is_dashed)
            )
        legend, y = self._legend(series, top + height + 2 * self._small * LEADING + 3 * GAP)
        return [*items, *legend], y

    def _axes(self, top: float, height: float) -> Iterator[Item]:
        bottom = top + height
        for tick in POS_TICKS:
            y = top + height * (1 - tick)
            yield self._rule((self._left - GAP, y), (self._left, y))
            if tick == EVEN:
                grid = ((self._left, y), (self._right, y))
                edge = self._palette.colours["line"]
                yield Line(points=grid, colour=edge, width=HAIRLINE, is_dashed=True)
            at = (self._left - 2 * GAP, y + 0.36 * self._small)
            yield self._text(at, f"{tick:g}", Anchor.END, is_small=True)
        yield self._rule((self._left, top), (self._left, bottom))
        yield self._rule((self._left, bottom), (self._right, bottom))
        most = min(MOST_TICKS, floor((self._right - self._left) / (3 * self._small)))
        for number in round_numbers(self._last + 1, max(most, 2)):
            x = self._step_x(number - 1)
            yield self._rule((x, bottom), (x, bottom + GAP))
            at = (x, bottom + GAP + self._small)
            yield self._text(at, str(number), Anchor.MIDDLE, is_small=True)
        middle = (self._left + self._right) / 2
        below = bottom + GAP + self._small * (1 + LEADING)
        title = self._fit("Denoising step", self._right - self._left, self._small)
        yield self._text((middle, below), title, Anchor.MIDDLE, is_small=True)
        yield self._text((EDGE, top + height * 0.25 + 0.36 * self._size), "PoS")

    def _guided_area(self, top: float, height: float) -> Iterator[Item]:
        """Shade from the first to the last guided step of any run."""
        if guided := self._guided:
            half = (self._step_x(1) - self._left) / 2
            left = max(self._step_x(min(guided)) - half, self._left)
            right = min(self._step_x(max(guided)) + half, self._right)
            area = box(left, top, right - left, height)
            yield Line(points=area, fill=self._palette.colours["hover"], is_closed=True)

    def _legend(self, series: Sequence[_Series], top: float) -> tuple[list[Item], float]:
        """Name curves and shading in rows, in the order of the curves."""
        length = self._right - self._left
        items: list[Item] = []
        x, y = self._left, top
        shaded = [_Series(name="guided steps", colour="")] if self._guided else []
        for each in (*series, *shaded):
            name = self._fit(each.name, length - SAMPLE - 2 * GAP, self._size)
            needed = SAMPLE + 2 * GAP + self._measure(name, self._size)
            if x > self._left and x + needed > self._right:
                x, y = self._left, y + self._line
            items.append(self._sample(each, (x, y + 0.64 * self._size)))
            items.append(self._text((x + SAMPLE + 2 * GAP, y + self._size), name))
            x += needed + self._size
        return items, y + self._line

    def _sample(self, series: _Series, at: tuple[float, float]) -> Line:
        (x, y), half = at, 0.36 * self._size
        if not series.colour:
            corners = box(x, y - half, SAMPLE, 2 * half)
            return Line(points=corners, fill=self._palette.colours["hover"], is_closed=True)
        ends = ((x, y), (x + SAMPLE, y))
        return Line(points=ends, colour=series.colour, width=CURVE, is_dashed=series.is_dashed)

    @property
    def _guided(self) -> list[int]:
        return [event.step for rows in self._rows for event in rows.run.steps if event.is_guided]

    def _footer(self, top: float) -> tuple[list[Item], float]:
        if not self._template.has_footer:
            return [], top
        texts = caption_lines([rows.run for rows in self._rows], self._template)
        room, measure = self._width - 2 * EDGE, self._measure_small
        lines = [line for text in texts for line in lines_within(text, room, measure)]
        step = self._small * LEADING
        places = [(EDGE, top + GAP + step * (number + 1)) for number in range(len(lines))]
        items: list[Item] = [
            self._text(at, line, is_small=True) for at, line in zip(places, lines, strict=True)
        ]
        return items, top + GAP + step * len(lines) + GAP

    def _series(self) -> Iterator[_Series]:
        """Yield the curve of each relation of each run; baselines are dashed."""
        colours = map(self._palette.mention, count())
        for rows in self._rows:
            scene = rows.run.record.request.scene
            for relation in scene.relations:
                points = tuple(
                    (event.step, float(event.pos_at(self._moment)[relation.id]))
                    for event in rows.run.steps
                    if relation.id in event.pos_at(self._moment)
                )
                parts = [rows.label] * (len(self._rows) > 1)
                if len(scene.relations) > 1 or len(self._rows) == 1:
                    parts.append(scene.sentence(relation))
                if len(points) > 1:
                    yield _Series(
                        name=": ".join(parts),
                        colour=next(colours),
                        points=points,
                        is_dashed=is_baseline(rows.run),
                    )

    def _chosen_steps(self) -> tuple[int, ...]:
        shown = {
            event.step
            for rows in self._rows
            for event in rows.run.steps
            if (read := event.attention_at(self._moment))
            and any(mention.id in read.maps for mention in rows.mentions)
        }
        wanted = sorted({step - 1 for step in self._template.steps} & shown)
        chosen = wanted if self._template.steps else steps_shown(sorted(shown), 4)
        if not chosen:
            raise ExportError(
                "No run has attention maps of these words at these steps.",
                hint="Choose other words or steps, or generate with attention recording.",
            )
        return tuple(chosen)

    def _shared_peak(self) -> float:
        if self._template.scale is MapScale.ABSOLUTE:
            return 1.0
        shown = (
            self._map(rows.run, mention, step)
            for rows in self._rows
            for mention in rows.mentions
            for step in self._steps
        )
        return max(float(each.max(initial=0)) for each in shown if each is not None)

    def _map(self, run: ExportedRun, mention: ObjectMention, step: int) -> FloatMap | None:
        for event in run.steps:
            read = event.attention_at(self._moment) if event.step == step else None
            if read is not None:
                return read.maps.get(mention.id)
        return None

    def _coloured(self, weights: FloatMap) -> Pixels:
        is_own = self._template.scale is MapScale.PER_MAP
        peak = float(weights.max(initial=0)) if is_own else self._peak
        pixels = heat_colours(weights / (peak or 1.0), self._palette)
        times = ceil(MAP_PIXELS / min(weights.shape))
        return pixels.repeat(times, 0).repeat(times, 1)

    @property
    def _last(self) -> int:
        return max(event.step for rows in self._rows for event in rows.run.steps)

    def _step_x(self, step: int) -> float:
        return self._left + (self._right - self._left) * step / max(self._last, 1)

    def _column(self, number: int) -> float:
        return self._left + number * (self._cell + GAP)

    def _cell_height(self, run: ExportedRun) -> float:
        return self._cell * float(run.image.shape[0] / run.image.shape[1])

    def _label(self, text: str, baseline: float) -> Text:
        """Draw a label left of the maps, shortened to its column."""
        room = self._left - 2 * GAP - EDGE
        return self._text((EDGE, baseline), self._fit(text, room, self._size))

    def _text(
        self,
        at: tuple[float, float],
        text: str,
        anchor: Anchor = Anchor.START,
        *,
        is_small: bool = False,
    ) -> Text:
        size = self._small if is_small else self._size
        return Text(
            at=at, text=text, colour=self._palette.colours["text"], size=size, anchor=anchor
        )

    def _rule(self, start: tuple[float, float], end: tuple[float, float]) -> Line:
        colour = self._palette.colours["text"]
        return Line(points=(start, end), colour=colour, width=HAIRLINE)

    def _fit(self, text: str, room: float, size: float) -> str:
        if self._measure(text, size) <= room + ROUNDING:
            return text
        while text and self._measure(text + ELLIPSIS, size) > room:
            text = text[:-1]
        return f"{text.rstrip()}{ELLIPSIS}"


def mentions_of(run: ExportedRun, template: FigureTemplate) -> tuple[ObjectMention, ...]:
    """Return the mentions of a template's words, or those of the run's relations."""
    scene = run.record.request.scene
    if not template.words:
        related = {end for relation in scene.relations for end in relation.ends}
        chosen = tuple(each for each in scene.mentions if each.id in related)
        return chosen or scene.mentions
    wanted = [word.strip().casefold() for word in template.words]
    return tuple(
        mention
        for word in wanted
        for mention in scene.mentions
        if word in {mention.phrase.casefold(), mention.head.casefold()}
    )


def common_moment(runs: Sequence[ExportedRun], wanted: Moment) -> Moment:
    """Return the moment at which all runs can be shown, so that moments do not mix."""
    read = {moment_read(run.steps, wanted) for run in runs}
    return Moment.BEFORE if Moment.BEFORE in read else wanted


def is_baseline(run: ExportedRun) -> bool:
    """Return whether a run was generated without guidance and steering."""
    return not has_baseline(run.record.request)


def labels_of(runs: Sequence[ExportedRun]) -> tuple[str, ...]:
    """Name runs, with seed and step size where they differ.

    The names are "Guided", "Guidance not needed" (by its trial), "Steered" and "Baseline".
    """
    samplings = [run.record.request.sampling for run in runs]
    seeds = {each.seed for each in samplings}
    strengths = {each.guidance.strength for each in samplings if each.guidance.is_on}
    labels = []
    for run, sampling in zip(runs, samplings, strict=True):
        parts = ["Baseline" if is_baseline(run) else "Steered"]
        if sampling.guidance.is_on:
            passes = [step.guiding_passes for step in run.steps]
            is_unguided = is_left_unguided(run.record.request, passes)
            parts = ["Guidance not needed" if is_unguided else "Guided"]
            if len(strengths) > 1:
                parts.append(f"step size {sampling.guidance.strength:g}")
        if len(seeds) > 1:
            parts.append(f"seed {sampling.seed}")
        labels.append(", ".join(parts))
    return tuple(labels)


def caption_lines(runs: Sequence[ExportedRun], template: FigureTemplate) -> tuple[str, ...]:
    """Describe maps, scale, moment, prompts and settings in sentences."""
    scales = {
        MapScale.PER_MAP: "each map scaled to its own maximum",
        MapScale.SHARED: "one colour scale for all maps",
        MapScale.ABSOLUTE: "colour scale from 0 to 1",
    }
    first = f"Cross-attention maps over the denoising steps, {scales[template.scale]}."
    curves = (
        "Below, PoS (probability of superiority) over the steps." if template.has_curves else ""
    )
    if template.layers:
        layers = layers_in_words(template.layers)
        runs, moment = runs_of_layers(runs, template.layers, template.moment)
    else:
        layers, moment = GUIDANCE_LAYERS, common_moment(runs, template.moment)
    is_guided = any(event.is_guided for run in runs for event in run.steps)
    reading = f"Attention and PoS of guided steps are read {moment.value}." if is_guided else ""
    named = zip(labels_of(runs), runs, strict=True)
    settings = (f"{label}: {'; '.join(caption(run))}." for label, run in named)
    return tuple(filter(None, (first, layers, curves, reading, *settings)))


def layers_in_words(layers: Sequence[str]) -> str:
    """Name the recorded layers that are averaged, or count them if there are many."""
    if len(layers) > MOST_NAMED:
        return f"Attention is the mean of {len(layers)} recorded layers."
    if len(layers) == 1:
        return f"Attention of the layer {layers[0]}."
    return f"Attention is the mean of the layers {', '.join(layers)}."


def ticks_up_to(high: float, most: int, low: float = 0.0) -> tuple[float, ...]:
    """Return round numbers within [low, high], at most ``most`` intervals; high is above low."""
    span = high - low
    power = 10.0 ** floor(log10(span / most))
    spacing = next(f * power for f in (1, 2, 5, 10, 20) if span / (f * power) <= most + 1e-9)
    first, last = ceil(low / spacing - 1e-9), floor(high / spacing + 1e-9)
    return tuple(float(f"{spacing * n:.9g}") for n in range(first, last + 1))


def lines_within(text: str, room: float, measure: Callable[[str], float]) -> list[str]:
    """Wrap a text at a width in points between words; words that are wider are cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and measure(longer) <= room:
            lines[-1] = longer
        elif measure(word) <= room:
            lines.append(word)
        else:
            lines += _cut(word, room, measure)
    return lines


def _cut(word: str, room: float, measure: Callable[[str], float]) -> list[str]:
    """Cut a word into parts of at most a width, at least one letter each."""
    parts = [""]
    for letter in word:
        if parts[-1] and measure(parts[-1] + letter) > room:
            parts.append("")
        parts[-1] += letter
    return parts


def measure_with(path: Path) -> Measure:
    """Return a function that measures text in a font; full-width letters count as such."""
    font = ImageFont.truetype(str(path), MEASURED)

    @cache
    def measure(text: str, size: float) -> float:
        own = float(font.getlength(text)) * size / MEASURED
        return own if text.isascii() else max(own, width_of(text, size))

    return measure


def paper_figure(runs: Sequence[ExportedRun], look: ExportLook, fonts: Path) -> Drawing:
    """Draw runs by the look's template; arguments and errors as for ``PaperFigure``."""
    return PaperFigure(runs, look, fonts).draw()


def _steps_in_words(steps: Sequence[int]) -> str:
    """Return the subject and verb of a sentence: "Steps 10 and 20 are"."""
    if len(steps) == 1:
        return f"Step {steps[0]} is"
    return f"Steps {', '.join(map(str, steps[:-1]))} and {steps[-1]} are"
