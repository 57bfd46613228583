"""Converts an open run into the contents of the picture views and the map strip."""

from collections.abc import Collection, Mapping

from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.application.inspect.inspection import marginals
from spatialstudio.application.inspect.step_numbers import (
    moment_of,
    name_second,
    needed_no_guidance,
)
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.domain.verdict import AbstentionReason, Detection
from spatialstudio.ui.stage.map_presenter import (
    MapSelection,
    crossings_of,
    map_layers,
    maps_at,
    maps_in_words,
    shown_moment,
    shown_relation,
    shown_words,
    step_at,
)
from spatialstudio.ui.stage.widgets.map_strip import WordMaps
from spatialstudio.ui.widgets.picture_layers import (
    BoxLayer,
    Layer,
    MapLayer,
    MaskLayer,
    PictureScene,
    Profile,
)
from spatialstudio.ui.widgets.texts import tr

WAITING = {
    RunState.WAITING: "Waiting in the queue",
    RunState.RUNNING: "The model is being loaded",
    RunState.FAILED: "This picture could not be generated",
    RunState.CANCELLED: "Cancelled",
    RunState.DONE: "No picture",
}
HIDDEN = "Picture hidden"
NO_PREVIEW = "The picture appears at the end: this run has no previews"
MAPS_BEFORE_PREVIEW = "maps before, preview after the updates"
FOUND = frozenset({Layer.MASKS, Layer.BOXES})


def hue_of(scene: SceneGraph, mention_id: MentionId) -> int:
    """Return a mention's hue, which is the same in all views."""
    return scene.hues[mention_id]


def _absent_in_words(run: OpenRun) -> str:
    """Return why a run has no picture at a step."""
    is_drawing = run.state is RunState.RUNNING and bool(run.steps)
    return NO_PREVIEW if is_drawing else WAITING[run.state]


def shows_result(run: OpenRun, step: int) -> bool:
    """Return True if the finished picture is shown at this step, not a preview."""
    return run.image is not None and step >= len(run.steps) - 1


def step_seen(run: OpenRun, step: int, *, of_ending: bool) -> int:
    """Return the shown step of a run, at most the last one it reached.

    Args:
        run: Live, replayed, or evaluated only.
        step: The picked step.
        of_ending: Whether to show the last step, regardless of the picked one.
    """
    newest = max(len(run.steps) - 1, 0)
    return newest if of_ending else min(step, newest)


def picture_scene(
    run: OpenRun,
    step: int,
    selection: MapSelection,
    layers: Collection[Layer],
    title: str,
) -> PictureScene:
    """Return the content of one picture view.

    Once the picture is evaluated, masks and boxes replace maps that the user did not select.

    Args:
        run: Live, replayed, or evaluated only.
        step: The picked step.
        selection: Which maps are shown, and how.
        layers: Enabled layers.
        title: Title above the picture.
    """
    event = step_at(run, step)
    at_result = shows_result(run, step)
    picture = run.image if at_result else (event.preview if event else None)
    words = shown_words(run.scene, selection)
    found_things = at_result and not FOUND.isdisjoint(layers) and not selection.words
    maps = maps_at(run, step, selection) if Layer.MAPS in layers and not found_things else {}
    reading = shown_relation(run.scene, maps, words) if Layer.MARGINALS in layers else None
    drawn = map_layers(run.scene, maps, words, selection)
    brief = _remark(run, step, at_result=at_result)
    has_preview = not at_result and picture is not None and Layer.PICTURE in layers
    read = _read(event, run, selection, drawn, has_preview=has_preview)
    return PictureScene(
        title=title,
        remark=", ".join(filter(None, (brief, read))),
        brief_remark=brief,
        picture=picture if Layer.PICTURE in layers else None,
        waiting=tr(_absent_in_words(run) if picture is None else HIDDEN),
        maps=drawn,
        masks=_masks(run, words) if at_result and Layer.MASKS in layers else (),
        boxes=_boxes(run) if at_result and Layer.BOXES in layers else (),
        profiles=_profiles(run, drawn, words) if Layer.MARGINALS in layers else (),
        crossings=crossings_of(reading, run.scene) if selection.words else (),
        words=maps_in_words(run.scene, maps, words),
    )


def word_maps(
    run: OpenRun, second: OpenRun | None, step: int, wanted: Moment = Moment.AFTER
) -> tuple[WordMaps, ...]:
    """Return the tiles of the map strip at a step, of one reading."""
    own = _maps_read(run, step, wanted)
    other = _maps_read(second, step, wanted) if second else {}
    second_name = tr(name_second(run, second)) if second else ""
    return tuple(
        WordMaps(
            key=mention.id,
            phrase=mention.phrase,
            hue=hue_of(run.scene, mention.id),
            first=own.get(mention.id),
            second=other.get(mention.id),
            second_name=second_name,
        )
        for mention in run.scene.mentions
    )


def _remark(run: OpenRun, step: int, *, at_result: bool) -> str:
    if at_result or not run.steps:
        if run.request is None:
            return ""
        is_own = needed_no_guidance(run)
        words = tr("seed {seed}, no guidance needed") if is_own else tr("seed {seed}")
        return words.format(seed=run.request.sampling.seed)
    return tr("step {step} of {total}").format(step=step + 1, total=run.total_steps)


def _read(
    event: StepEvent | None,
    run: OpenRun,
    selection: MapSelection,
    drawn: tuple[MapLayer, ...],
    *,
    has_preview: bool,
) -> str:
    """Return a note on when within a guided step the drawn maps were read.

    A preview is the step's prediction after the latent updates, whenever the maps were read.
    """
    if event is None or not event.is_guided or not drawn:
        return ""
    moment = shown_moment(run, selection)
    if has_preview and moment is Moment.BEFORE:
        return tr(MAPS_BEFORE_PREVIEW)
    return tr(moment.value)


def _maps_read(run: OpenRun, step: int, wanted: Moment) -> Mapping[MentionId, FloatMap]:
    event = step_at(run, step)
    attention = None if event is None else event.attention_at(moment_of(run, wanted))
    return {} if attention is None else attention.maps


def _masks(run: OpenRun, words: tuple[MentionId, ...]) -> tuple[MaskLayer, ...]:
    if run.evaluation is None:
        return ()
    best = (run.evaluation.perception.masks_of(word)[:1] for word in words)
    return tuple(
        MaskLayer(hue_of(run.scene, mask.mention_id), mask.pixels) for own in best for mask in own
    )


def _boxes(run: OpenRun) -> tuple[BoxLayer, ...]:
    """Return each mention's best box above the score threshold, and its rival if ambiguous."""
    if run.evaluation is None:
        return ()
    perception, least = run.evaluation.perception, run.evaluation.checker.detection_score
    torn = {
        mention_id
        for verdict in run.evaluation.verdicts
        if verdict.reason is AbstentionReason.AMBIGUOUS_OBJECT
        for mention_id in verdict.about
    }
    return tuple(
        _box(run.scene, found, is_rival=rank > 0)
        for mention in run.scene.mentions
        for rank, found in enumerate(perception.detections_of(mention.id)[:2])
        if found.score >= least and (rank == 0 or mention.id in torn)
    )


def _box(scene: SceneGraph, found: Detection, *, is_rival: bool) -> BoxLayer:
    label = f"{found.label} {found.score:.2f}"
    return BoxLayer(hue_of(scene, found.mention_id), found.box, label, is_rival)


def _profiles(
    run: OpenRun, maps: tuple[MapLayer, ...], words: tuple[MentionId, ...]
) -> tuple[Profile, ...]:
    """Return the marginals of the maps, or of the masks if there are no maps."""
    weights = [(layer.hue, layer.weights) for layer in maps]
    if not weights:
        masks = _masks(run, words)
        weights = [(mask.hue, mask.pixels.astype("float32")) for mask in masks]
    names = {word.hue: word.text for word in words_of(run.scene)}
    return tuple(Profile(hue, *marginals(one), name=names.get(hue, "")) for hue, one in weights)
