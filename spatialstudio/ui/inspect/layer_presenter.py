"""Converts measurements of recorded layers into a heat map and sentences."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from spatialstudio.application.inspect.captured_layers import layers_read
from spatialstudio.application.inspect.layer_maps import LayersAveraged, run_on_layers
from spatialstudio.application.inspect.layer_table import (
    LayerTable,
    course_of_maps,
    settled_steps,
)
from spatialstudio.application.inspect.step_numbers import Column, Measure, moment_of
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import LayerChoice, Moment
from spatialstudio.domain.evidence import DOUBTFUL_POS, SURE_POS
from spatialstudio.ui.inspect.block_presenter import block_of, guiding_layers, labels_of
from spatialstudio.ui.inspect.widgets.layer_heat_map import HeatContents, HeatCurve
from spatialstudio.ui.widgets.plot import Values
from spatialstudio.ui.widgets.texts import tr

LAYER_MEASURES = {
    Measure.POS: "PoS on each layer's maps; ties count half",
    Measure.ENTROPY: "Entropy of the word's map in bits; low for concentrated attention",
    Measure.MASS: "Attention to the word: mean probability over the layer's positions",
    Measure.OVERLAP: "Overlap of the relation's two maps: 0 disjoint, 1 identical",
}
"""The measures of the heat map and their tips."""
FORMATS = {Measure.MASS: ".3g"}
ONCE = "Each step has one reading: guidance did not act."
READ = {
    Moment.BEFORE: "Guided steps were read before their latent updates.",
    Moment.AFTER: "Guided steps were read after their latent updates.",
}

DECIDED_IN_NONE = "Decided in no layer: PoS ends below {sure} in all {count}."
DECIDED_IN_SOME = (
    "Decided in {some} of {count} layers, where PoS stays at {sure} or more; "
    "first, from step {step}, in {first}."
)
CONTRADICTED = (
    "Decided in no layer: PoS ends below {sure} in all {count}, at {doubtful} or less in {some}."
)
DECIDED_AT_ONCE = "Decided in all {count} layers at step {step}: PoS stays at {sure} or more."


def measure_choices() -> dict[object, tuple[str, str]]:
    """Return the options of a ``Segments``: the measures."""
    return {each: (tr(each.value), tr(tip)) for each, tip in LAYER_MEASURES.items()}


def heat_contents(
    table: LayerTable,
    run: OpenRun,
    column: Column,
    choice: LayerChoice,
    curves: tuple[HeatCurve, ...],
    *,
    is_difference: bool,
) -> HeatContents:
    """Return the heat map of a column.

    Args:
        table: Measurements of the run, or their difference from a second run's.
        run: The open run, for its steps and guiding layers.
        column: What is shown; in the table.
        choice: The chosen layers and head; no layers for the guiding ones.
        curves: Curves of the same column over the steps.
        is_difference: Whether the values are signed.
    """
    values = np.full((len(table.layers), max(run.total_steps, table.steps[-1] + 1)), np.nan)
    values[:, list(table.steps)] = table.at(column, choice.head)
    low, high = _range(column.measure, values, is_difference=is_difference)
    guiding = guiding_layers(run)
    chosen = choice.layers or guiding
    return HeatContents(
        measure=tr(column.measure.value),
        layers=table.layers,
        labels=labels_of(table.layers),
        blocks=tuple(block_of(name) for name in table.layers),
        values=values,
        low=low,
        high=high,
        is_diverging=is_difference or column.measure is Measure.POS,
        number_format=("+" if is_difference else "") + FORMATS.get(column.measure, ".2f"),
        guiding=_indices(table, guiding),
        chosen=_indices(table, chosen),
        curves=curves,
    )


def curves_of(
    run: OpenRun, averaged: LayersAveraged | None, column: Column, wanted: Moment
) -> tuple[HeatCurve, ...]:
    """Return the curves of the chosen layers, if they differ, and of the guiding layers.

    Both are of the moment at which the layers were captured, so that readings before and after a
    step's updates do not mix.

    Args:
        run: The shown run.
        averaged: Its maps averaged over chosen layers; None for the guiding layers only.
        column: What is measured.
        wanted: The preferred moment.
    """
    moment = layers_read(run, wanted) or wanted
    curves = []
    if averaged is not None and averaged.moment in {moment, None}:
        shown = run_on_layers(run, averaged)
        curves.append(HeatCurve(tr("Chosen layers"), course_of_maps(shown, column, moment)))
    if moment_of(run, moment) is moment:
        points = course_of_maps(run, column, moment)
        curves.append(HeatCurve(tr("Guidance layers"), points, is_reference=averaged is not None))
    return tuple(curves)


def curves_in_words(curves: tuple[HeatCurve, ...]) -> str:
    """Return a legend of two curves; empty for fewer."""
    if len(curves) < 2:  # noqa: PLR2004 - one needs no legend
        return ""
    chosen, reference = sorted(curves, key=lambda curve: curve.is_reference)
    words = tr("Solid curve: {chosen}; dashed: {reference}.")
    return words.format(chosen=chosen.name.lower(), reference=reference.name.lower())


def difference_of_curves(
    first: tuple[HeatCurve, ...], second: tuple[HeatCurve, ...]
) -> tuple[HeatCurve, ...]:
    """Return the first curves minus the second of the same name, at common steps."""
    others = {curve.name: dict(curve.points) for curve in second}
    return tuple(
        replace(
            curve,
            points=tuple(
                (step, value - others[curve.name][step])
                for step, value in curve.points
                if step in others[curve.name]
            ),
        )
        for curve in first
        if curve.name in others
    )


def reading_in_words(table: LayerTable) -> str:
    """Return when within guided steps the layers were read."""
    return tr(ONCE if table.moment is None else READ[table.moment])


def settled_in_words(table: LayerTable, run: OpenRun, column: Column, head: int | None) -> str:
    """Describe in which layers, and from which step, a relation's side is decided."""
    if column.measure is not Measure.POS:
        return ""
    pos = table.at(column, head)
    found = settled_steps(pos)
    known = [place for place in found if place is not None]
    if not known:
        opposed = _opposed(pos)
        return tr(CONTRADICTED if opposed else DECIDED_IN_NONE).format(
            count=len(found), sure=SURE_POS, doubtful=DOUBTFUL_POS, some=opposed
        )
    earliest = min(known)
    first = [layer for layer, place in zip(table.layers, found, strict=True) if place == earliest]
    is_same = len(first) == len(found)
    said = tr(DECIDED_AT_ONCE if is_same else DECIDED_IN_SOME).format(
        some=len(known),
        count=len(found),
        first=_first_named(first, guiding_layers(run)),
        step=table.steps[earliest] + 1,
        sure=SURE_POS,
    )
    guiding = _indices(table, guiding_layers(run))
    if not guiding or is_same:
        return said
    settled = sum(found[each] is not None for each in guiding)
    own = tr("Of the layers that guidance reads: {some} of {count}.")
    return f"{said} {own.format(count=len(guiding), some=settled)}"


def _opposed(pos: Values) -> int:
    """Return the number of layers whose PoS ends at ``DOUBTFUL_POS`` or below.

    Args:
        pos: (layers, steps) in [0, 1], or NaN.
    """
    known = pos[:, ~np.isnan(pos).all(0)]
    return int((known[:, -1] <= DOUBTFUL_POS).sum()) if known.size else 0


def _first_named(layers: Sequence[str], guiding: Collection[str]) -> str:
    """Return one name, which may be long, of a guiding layer if any, and the number of others."""
    first, *others = sorted(layers, key=lambda name: name not in guiding)
    if first in guiding:
        named = tr("{name}, which guidance reads").format(name=first)
    else:
        named = tr("{name}, which guidance does not read").format(name=first) if guiding else first
    return (
        tr("{named}, and {count} more").format(named=named, count=len(others)) if others else named
    )


def deciding_layers(table: LayerTable, run: OpenRun, column: Column, head: int | None) -> str:
    """List the layers that decide a relation, the earliest first, one per line."""
    if column.measure is not Measure.POS:
        return ""
    guiding = guiding_layers(run)
    settled = zip(table.layers, settled_steps(table.at(column, head)), strict=True)
    found = [(place, layer) for layer, place in settled if place is not None]
    own, other = (
        tr("from step {step}: {layer} (guidance reads it)"),
        tr("from step {step}: {layer}"),
    )
    return "\n".join(
        (own if layer in guiding else other).format(step=table.steps[place] + 1, layer=layer)
        for place, layer in sorted(found, key=lambda pair: pair[0])
    )


def cell_in_words(contents: HeatContents, layer: int, step: int) -> str:
    """Describe the value of a layer at a step."""
    if layer >= len(contents.layers) or step >= contents.step_count:
        return ""
    value = float(contents.values[layer, step])
    said = contents.said(value) if isfinite(value) else tr("not measured")
    return tr("Step {step}, {layer}: {measure} {value}.").format(
        step=step + 1, layer=contents.layers[layer], measure=contents.measure, value=said
    )


def largest_in_words(contents: HeatContents) -> str:
    """Describe where two runs differ most; empty if nothing was measured."""
    known = np.nan_to_num(abs(contents.values))
    if not known.any():
        return ""
    layer, step = np.unravel_index(int(known.argmax()), known.shape)
    return tr("Largest difference: {value} in {layer}, step {step}.").format(
        value=contents.said(float(contents.values[layer, step])),
        layer=contents.layers[layer],
        step=int(step) + 1,
    )


def _range(measure: Measure, values: Values, *, is_difference: bool) -> tuple[float, float]:
    """Return the values of the first and the last colour."""
    known = values[np.isfinite(values)]
    if is_difference:
        top = 1.0 if measure is Measure.POS else float(abs(known).max(initial=0.0)) or 1.0
        return -top, top
    if measure in (Measure.POS, Measure.OVERLAP):
        return 0.0, 1.0
    high = float(known.max(initial=0.0)) or 1.0
    low = float(known.min(initial=high)) if measure is Measure.ENTROPY else 0.0
    return (low, high) if high > low else (0.0, high)


def _indices(table: LayerTable, layers: frozenset[str]) -> frozenset[int]:
    return frozenset(place for place, name in enumerate(table.layers) if name in layers)
