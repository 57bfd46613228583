"""Converts a run's attention into what the stage shows: words, maps, crossings, legends."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

from spatialstudio.application.compose.prompt_words import PromptWord, words_of
from spatialstudio.application.inspect.layer_maps import (
    LayersAveraged,
    peak_of_averages,
    run_on_layers,
)
from spatialstudio.application.inspect.map_reading import (
    Maps,
    RelationReading,
    difference_of,
    isolines_of,
    map_in_words,
    peak_of,
    read_relation,
    reading_at,
    relation_between,
    top_of,
)
from spatialstudio.application.inspect.step_numbers import moment_of
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.attention import (
    LayerChoice,
    MapScale,
    Moment,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId, StepEvent
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.ui.framework.map_view import (
    MapLook,
    MapSource,
    MapView,
)
from spatialstudio.ui.stage.widgets.map_grid import GridRow
from spatialstudio.ui.stage.widgets.map_legend import LegendEntry
from spatialstudio.ui.stage.widgets.word_chips import WordTag
from spatialstudio.ui.widgets.picture_layers import (
    Crossing,
    IsolineLayer,
    MapLayer,
)
from spatialstudio.ui.widgets.texts import tr

PAIR = 2
MAP_SOURCE_TIPS = {
    MapSource.FIRST: "The open run",
    MapSource.SECOND: "The baseline or second run",
    MapSource.DIFFERENCE: "The open run minus the second run",
}
READ = {
    Moment.BEFORE: "Recorded before the step's latent updates",
    Moment.AFTER: "Recorded after the step's latent updates",
}
LAYERS_ONLY = "Layers were recorded at this moment only."
RUN_ONLY = "This run was recorded at this moment only."
NO_MAP = "No map was recorded for this word: by default, only objects have maps"


@frozen
class MapSelection:
    """Which maps are shown, and how.

    Attributes:
        words: Words chosen by the user; empty for those of the first relation.
        look: How they are drawn.
        peak: Maximum of all maps that share one scale; 0 where none do.
        averages: Averaged maps over parts of the model, by run.
        is_chosen: Whether the user chose these parts, which replaces the guiding layers' maps.
    """

    words: tuple[MentionId, ...] = ()
    look: MapLook = field(default_factory=MapLook)
    peak: float = 0.0
    averages: Mapping[RequestId, LayersAveraged] = field(default_factory=dict)
    is_chosen: bool = False


def map_selection(maps: MapView, *runs: OpenRun | None) -> MapSelection:
    """Return the map selection with one scale for the given runs."""
    there = [run for run in runs if run is not None]
    averages = {run.id: maps.averages[run.id] for run in there if run.id in maps.averages}
    is_chosen = maps.choice != LayerChoice()
    peak = 0.0
    if maps.look.scale is MapScale.SHARED:
        peak = peak_of_averages(averages.values()) if is_chosen and averages else peak_of(there)
    return MapSelection(
        words=maps.words,
        look=maps.look,
        peak=peak,
        averages=averages,
        is_chosen=is_chosen,
    )


def maps_at(run: OpenRun, step: int, selection: MapSelection) -> Maps:
    """Return a run's maps at a step, all of one reading; empty if not captured."""
    event = step_at(run, step)
    own = _own_maps(event, shown_moment(run, selection))
    average = selection.averages.get(run.id)
    if average is None:
        return own
    every = average.at(step)
    if selection.is_chosen:
        return {**own, **every}
    is_mixed = event is not None and event.is_guided
    is_mixed = is_mixed and average.moment is not shown_moment(run, selection)
    return own if is_mixed else {**every, **own}


def shown_moment(run: OpenRun, selection: MapSelection) -> Moment:
    """Return when within guided steps the shown maps were read, whichever layers they average."""
    if selection.is_chosen and run.id in selection.averages:
        return selection.averages[run.id].moment or selection.look.moment
    return moment_of(run, selection.look.moment)


def on_chosen_layers(run: OpenRun, selection: MapSelection) -> OpenRun:
    """Return the run as the chosen layers show it; the run itself while none are chosen."""
    averaged = selection.averages.get(run.id) if selection.is_chosen else None
    return run if averaged is None else run_on_layers(run, averaged)


def layers_in_words(run: OpenRun, selection: MapSelection) -> str:
    """Return how many of a run's layers are averaged; empty for the layers of guidance."""
    averaged = selection.averages.get(run.id) if selection.is_chosen else None
    if averaged is None:
        return ""
    words, head = tr("Chosen layers: {count} of {total}"), averaged.choice.head
    if head is not None:
        words = tr("Chosen layers: {count} of {total}, head {head}")
    count, total = len(averaged.choice.layers), len(run.text_layers)
    return words.format(count=count, total=total, head=None if head is None else head + 1)


def moment_note(run: OpenRun, step: int, selection: MapSelection) -> str:
    """Return a note on when within a step the shown maps were read."""
    event = step_at(run, step)
    if event is None:
        return ""
    if not event.is_guided:
        return tr("This step has no latent updates, so attention was recorded once.")
    moment = shown_moment(run, selection)
    sentence = f"{tr(READ[moment])}."
    if moment is selection.look.moment:
        return sentence
    is_layers = selection.is_chosen and run.id in selection.averages
    return f"{sentence} {tr(LAYERS_ONLY if is_layers else RUN_ONLY)}"


def _own_maps(event: StepEvent | None, moment: Moment) -> Maps:
    attention = None if event is None else event.attention_at(moment)
    return {} if attention is None else attention.maps


def step_at(run: OpenRun, step: int) -> StepEvent | None:
    """Return the event of a step; None if the step has not run."""
    return next((event for event in run.steps if event.step == step), None)


def shown_words(scene: SceneGraph, selection: MapSelection) -> tuple[MentionId, ...]:
    """Return the chosen words that are in the scene, else those of the first relation."""
    known = {word.key for word in words_of(scene)}
    if asked := tuple(word for word in selection.words if word in known):
        return asked
    if scene.relations:
        return scene.relations[0].ends
    return tuple(mention.id for mention in scene.mentions)


def hues_of(scene: SceneGraph) -> Mapping[MentionId, int]:
    """Return the hue of each word of a scene."""
    return {word.key: word.hue for word in words_of(scene)}


def map_layers(
    scene: SceneGraph, maps: Maps, words: Iterable[MentionId], selection: MapSelection
) -> tuple[MapLayer, ...]:
    """Return the map layers of some words; words without a map are left out."""
    hues = hues_of(scene)
    return tuple(
        MapLayer(
            hue=hues[word],
            weights=maps[word],
            top=top_of(maps[word], selection.look.scale, selection.peak),
            isolines=_isolines(maps[word]) if selection.look.has_isolines else (),
        )
        for word in words
        if word in maps
    )


def shown_relation(
    scene: SceneGraph, maps: Maps, words: tuple[MentionId, ...]
) -> RelationReading | None:
    """Return the map reading of the relation of two words; None if they share no relation."""
    if len(words) != PAIR:
        return None
    relation = relation_between(scene, *words)
    return None if relation is None else read_relation(relation, scene, maps)


def crossings_of(reading: RelationReading | None, scene: SceneGraph) -> tuple[Crossing, ...]:
    """Return the cumulative curves of a relation as draw data."""
    hues = hues_of(scene)
    return tuple(
        Crossing(
            axis=axis.axis,
            hues=(hues[axis.first], hues[axis.second]),
            rising=axis.rising,
            falling=axis.falling,
            place=axis.line.place,
            share=axis.line.share,
        )
        for axis in (reading.axes if reading else ())
    )


def maps_in_words(scene: SceneGraph, maps: Maps, words: Iterable[MentionId]) -> str:
    """Describe the maps of some words, and the relation of two."""
    words = tuple(words)
    texts = {word.key: word.text for word in words_of(scene)}
    said = [map_in_words(texts[word], maps[word]) for word in words if word in maps]
    reading = shown_relation(scene, maps, words)
    if reading is not None and said:
        said += [reading.sentence, *reading.details]
    return " ".join(said)


def words_to_script(
    run: OpenRun, step: int, selection: MapSelection
) -> tuple[tuple[MentionId, ...], LayerChoice | None]:
    """Return the shown words that have maps, and the layers a script averages to reproduce them.

    None for the layers where the step's original maps are shown.
    """
    maps = maps_at(run, step, selection)
    words = tuple(word for word in shown_words(run.scene, selection) if word in maps)
    average = selection.averages.get(run.id)
    own = _own_maps(step_at(run, step), shown_moment(run, selection))
    if average is None or (not selection.is_chosen and own.keys() >= set(words)):
        return words, None
    return words, average.choice


def word_tags(run: OpenRun, maps: Maps) -> tuple[WordTag, ...]:
    """Return the chips of a run's words; chips without a map give the reason."""
    return tuple(_tag(word, maps) for word in words_of(run.scene))


def map_source_choices() -> dict[object, tuple[str, str]]:
    """Return the options of a ``Segments``: either run, or their difference."""
    return {source: (tr(source.value), tr(tip)) for source, tip in MAP_SOURCE_TIPS.items()}


def grid_rows(
    run: OpenRun, second: OpenRun | None, selection: MapSelection, pins: Collection[MentionId]
) -> tuple[GridRow, ...]:
    """Return a row for each word that has maps, objects first.

    Args:
        run: The open run.
        second: The second run; None shows the open run only.
        selection: Selects one of the runs or their difference.
        pins: The pinned words.
    """
    source = selection.look.source if second is not None else MapSource.FIRST
    shown = second if second is not None and source is MapSource.SECOND else run
    by_step, words = _maps_by_step(shown, selection), words_of(shown.scene)
    if second is not None and source is MapSource.DIFFERENCE:
        others = _maps_by_step(second, selection)
        both = by_step.keys() & others.keys()
        by_step = {step: difference_of(by_step[step], others[step]) for step in sorted(both)}
        names = {(word.key, word.text) for word in words_of(second.scene)}
        words = tuple(word for word in words if (word.key, word.text) in names)
    rows = (
        _row(word, by_step, selection, word.key in pins, is_signed=source is MapSource.DIFFERENCE)
        for word in sorted(words, key=lambda word: not word.is_mention)
    )
    return tuple(row for row in rows if row.maps)


def legend_of(
    scene: SceneGraph, maps: Maps, words: Iterable[MentionId], selection: MapSelection
) -> tuple[LegendEntry, ...]:
    """Return the colour scale of each shown map."""
    entries = {word.key: (word.text, word.hue) for word in words_of(scene)}
    return tuple(
        LegendEntry(*entries[word], top_of(maps[word], selection.look.scale, selection.peak))
        for word in words
        if word in maps
    )


def place_in_words(
    scene: SceneGraph, maps: Maps, words: Iterable[MentionId], x: float, y: float
) -> str:
    """Describe the shown maps' values at x, y, given as fractions of the picture's sides."""
    texts = {word.key: word.text for word in words_of(scene)}
    readings = ((texts[word], reading_at(maps[word], x, y)) for word in words if word in maps)
    template = tr("{word} {value:.4f} ({share:.2%} of the map's mass)")
    return "   ".join(
        template.format(word=text, value=reading.value, share=reading.share)
        for text, reading in readings
    )


def _maps_by_step(run: OpenRun, selection: MapSelection) -> Mapping[int, Maps]:
    return {
        event.step: maps for event in run.steps if (maps := maps_at(run, event.step, selection))
    }


def _row(
    word: PromptWord,
    by_step: Mapping[int, Maps],
    selection: MapSelection,
    is_pinned: bool,
    *,
    is_signed: bool,
) -> GridRow:
    own = {step: maps[word.key] for step, maps in by_step.items() if word.key in maps}
    tops = {
        step: top_of(abs(one), selection.look.scale, selection.peak) for step, one in own.items()
    }
    return GridRow(
        word.key, word.text, word.hue, own, tops, is_pinned=is_pinned, is_signed=is_signed
    )


def _isolines(weights: FloatMap) -> tuple[IsolineLayer, ...]:
    return tuple(IsolineLayer(line.share, line.pieces) for line in isolines_of(weights))


def _tag(word: PromptWord, maps: Maps) -> WordTag:
    reason = "" if word.is_mention or word.key in maps else tr(NO_MAP)
    is_quiet = not (word.is_mention or word.is_named_again)
    return WordTag(word.key, word.text, word.hue, is_quiet=is_quiet, reason=reason)
