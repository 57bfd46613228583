"""Arrays and numbers of a stored run for exports and notebooks; see ``domain.run_data``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.application.inspect.captured_layers import (
    moment_of_layers,
)
from spatialstudio.application.inspect.layer_maps import places_of, pos_on_maps
from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.attention import AttentionFile, Moment
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.library import RunRecord
from spatialstudio.domain.run_data import (
    AFTER,
    BEFORE,
    MEASURES,
    MOMENT_NAMES,
    AnyArray,
    Number,
    Plain,
    RunArray,
    RunData,
    layer_array_name,
    whole,
)
from spatialstudio.domain.scene import MentionId, Relation, RelationId
from spatialstudio.science.pos.map_numbers import map_numbers, map_overlap
from spatialstudio.science.pos.pse import pse_of

ReadLayer = Callable[[AttentionFile], AnyArray]
"""Opens a recorded layer, (stored steps, heads, tokens, h, w); raises StoreError."""

FLANKS = 2
PROBABILITY = "probability"
NOT_NORMALISED = "none: attention probabilities, not rescaled over the picture"
MAP_AXES = ("captured_step", "y", "x")
LAYER_AXES = ("captured_step", "head", "token", "y", "x")
CROSS = "Cross-attention of one layer."
CROSS_BEFORE = "The layer before the updates of the steps on which guidance was due."
SELF = "Self-attention of one layer: from the place (place_y, place_x) to each (y, x), sum 1."
SELF_BEFORE = "Self-attention before the updates of the steps on which guidance was due."
SELF_AXES = ("captured_step", "place_y", "place_x", "y", "x")
DUE_STEP = "due_step"
"""First axis of layers read before updates: a row for each step on which guidance was due."""


def run_data(
    record: RunRecord,
    steps: Sequence[StepEvent],
    image: RgbImage | None,
    read_layer: ReadLayer,
    tick: Callable[[], object] = lambda: None,
) -> RunData:
    """Return the arrays and numbers of a run.

    Args:
        record: The run's record, with its evaluation.
        steps: Its steps, in order.
        image: (H, W, 3) uint8; None if the picture is missing.
        read_layer: Opens a recorded layer.
        tick: Called between blocks of values; may raise ``Cancelled``.
    """
    found = _Captured(record, steps, read_layer, tick)
    arrays = (*_plain_arrays(record, steps, image), *_map_arrays(record, steps), *found.arrays())
    return RunData(
        run=record.id,
        about=_about(record, steps),
        arrays=arrays,
        numbers=partial(_numbers, record, steps, found, tick),
        missing=found.missing,
    )


def _about(record: RunRecord, steps: Sequence[StepEvent]) -> Mapping[str, Plain]:
    scene = record.request.scene
    return {
        "run": record.id,
        "created": record.created.isoformat(),
        "prompt": scene.prompt.text,
        "words": {each.id: each.phrase for each in scene.mentions},
        "token_indices": {each.id: _tokens(record, each.id) for each in scene.mentions},
        "relations": {
            each.id: {"text": scene.sentence(each), "type": each.type.id, "ends": list(each.ends)}
            for each in scene.relations
        },
        "moments": {BEFORE: Moment.BEFORE.value, AFTER: Moment.AFTER.value},
        "guided_steps": [event.step for event in steps if event.is_guided],
    }


def _tokens(record: RunRecord, mention_id: MentionId) -> Plain:
    """Return the token positions of a mention by text encoder."""
    return {
        span.encoder_id: list(span.indices)
        for span in record.token_spans
        if span.mention_id == mention_id
    }


def _plain_arrays(
    record: RunRecord, steps: Sequence[StepEvent], image: RgbImage | None
) -> Iterator[RunArray]:
    step_axis = ("step",)
    if image is not None:
        yield whole("picture", image, ("y", "x", "channel"), "The picture, RGB.", "0 to 255")
    yield whole(
        "steps", np.array([e.step for e in steps], np.int64), step_axis, "Denoising steps, from 0."
    )
    yield whole(
        "timesteps",
        np.array([e.timestep for e in steps], np.float64),
        step_axis,
        "Time of the scheduler at each step; high is noisy.",
    )
    yield whole(
        "captured_steps",
        np.array([e.step for e in steps if e.attention], np.int64),
        ("captured_step",),
        "Steps of the maps.",
    )
    yield whole(
        "guided_steps",
        np.array([e.step for e in steps if e.is_guided], np.int64),
        ("guided_step",),
        "Steps on which guidance updated the latents.",
    )
    evaluation = record.evaluation
    for number, mask in enumerate(evaluation.perception.masks if evaluation else ()):
        yield whole(
            f"mask/{mask.mention_id}/{number}",
            mask.pixels,
            ("y", "x"),
            "Mask of a detected instance; its number counts the masks of all objects.",
            details={"word_id": mask.mention_id, "score": float(mask.score)},
        )


def _map_arrays(record: RunRecord, steps: Sequence[StepEvent]) -> Iterator[RunArray]:
    """Yield maps and PoS of both moments; NaN where a guided step has no such reading."""
    scene = record.request.scene
    captured = [event for event in steps if event.attention]
    layers: Plain = list(captured[0].attention.layers) if captured and captured[0].attention else []
    names = {each.id: each.phrase for each in scene.mentions}
    for word in dict.fromkeys(key for e in captured if e.attention for key in e.attention.maps):
        for moment, name in MOMENT_NAMES.items():
            maps = [_map_read(event, moment, word) for event in captured]
            known = [each for each in maps if each is not None]
            if len(known) < len(maps) or len({each.shape for each in known}) != 1:
                continue
            yield whole(
                f"map_{name}/{word}",
                np.stack(known),
                MAP_AXES,
                f"Cross-attention to a word {moment.value}, mean over tokens, heads and layers.",
                PROBABILITY,
                {
                    "moment": name,
                    "word": names.get(word, ""),
                    "word_id": word,
                    "token_indices": _tokens(record, word),
                    "layers": layers,
                    "heads": "mean",
                    "normalisation": NOT_NORMALISED,
                },
            )
    for relation in scene.relations:
        for moment, name in MOMENT_NAMES.items():
            course = [event.pos_at(moment).get(relation.id, np.nan) for event in steps]
            yield whole(
                f"pos_{name}/{relation.id}",
                np.array(course, np.float64),
                ("step",),
                f"PoS of a relation {moment.value}, ties half.",
                PROBABILITY,
                {
                    "moment": name,
                    "relation": scene.sentence(relation),
                    "relation_id": relation.id,
                    "ends": list(relation.ends),
                },
            )


def _map_read(event: StepEvent, moment: Moment, word: MentionId) -> FloatMap | None:
    """Return a map of a reading; NaN if there was no such reading, None without the word."""
    own = event.attention.maps.get(word) if event.attention else None
    attention = event.attention_at(moment)
    if own is None or attention is None:
        return None if own is None else np.full_like(own, np.nan)
    return attention.maps.get(word)


@frozen(eq=False)
class _LayerStep:
    """Maps of one recorded layer at one step.

    Attributes:
        layer: Name of the layer.
        event: The step.
        moments: Names of the moments that the reading stands for.
        maps: (h, w) by word, mean over heads and tokens.
    """

    layer: str
    event: StepEvent
    moments: tuple[str, ...]
    maps: Mapping[MentionId, FloatMap]


class _Captured:
    """The recorded layers of a run that can be read."""

    def __init__(
        self,
        record: RunRecord,
        steps: Sequence[StepEvent],
        read_layer: ReadLayer,
        tick: Callable[[], object],
    ) -> None:
        self._record = record
        self._read, self._tick = read_layer, tick
        every = record.request.capture.attention_every or 1
        self._events = {event.step: event for event in steps[::every]}
        guidance = record.request.sampling.guidance
        self._moment, self._own_moment = (
            moment_of_layers(files, guidance, steps, Moment.AFTER) or Moment.AFTER
            for files in (record.attention_files, record.self_attention_files)
        )
        self.files, self.missing = record.attention_files, ""
        self._self_files = record.self_attention_files
        try:
            for file in record.layer_files:
                read_layer(file)
        except StoreError as error:
            self.missing, self.files = f"{error.message} {error.hint}", ()
            self._self_files = ()

    def arrays(self) -> Iterator[RunArray]:
        """Yield a description of each layer; its values stay on disk."""
        words = words_of(self._record.request.scene)
        for file in self.files:
            places: Plain = {
                str(w): list(found) for w, found in places_of(words, file.words).items()
            }
            about = self._about(file, self._moment)
            yield RunArray(
                name=layer_array_name(file, is_self=False),
                shape=file.shape,
                dtype=file.dtype,
                axes=_axes_of(file, LAYER_AXES),
                meaning=CROSS_BEFORE if file.steps_before else CROSS,
                unit=PROBABILITY,
                details={**about, "tokens": list(file.words), "token_positions": places},
                blocks=partial(self._blocks, file),
            )
        for file in self._self_files:
            yield self._self_array(file)

    def _self_array(self, file: AttentionFile) -> RunArray:
        """Return self-attention with the attending place as two axes."""
        steps, _, _, height, width = file.shape
        shape = (height, width, height, width)
        return RunArray(
            name=layer_array_name(file, is_self=True),
            shape=(steps, *shape),
            dtype=file.dtype,
            axes=_axes_of(file, SELF_AXES),
            meaning=SELF_BEFORE if file.steps_before else SELF,
            unit=PROBABILITY,
            details=self._about(file, self._own_moment),
            blocks=lambda: (block.reshape(-1, *shape) for block in self._blocks(file)),
        )

    def _about(self, file: AttentionFile, ordinary: Moment) -> dict[str, Plain]:
        moment = Moment.BEFORE if file.steps_before else ordinary
        return {
            "layer": file.layer,
            "moment_on_guided_steps": MOMENT_NAMES[moment],
            "steps": list(self._steps_of(file)),
            "heads": file.heads if file.heads > 1 else "mean",
            "normalisation": NOT_NORMALISED,
        }

    def steps(self) -> Iterator[_LayerStep]:
        """Yield the maps of the words in each layer at each captured step."""
        words = words_of(self._record.request.scene)
        for file in self.files:
            places = places_of(words, file.words)
            for step, block in zip(self._steps_of(file), self._blocks(file), strict=False):
                event = self._events[step]
                values = np.asarray(block[0], np.float32)
                yield _LayerStep(
                    layer=file.layer,
                    event=event,
                    moments=self._moments(file, event),
                    maps={word: values[:, own].mean((0, 1)) for word, own in places.items()},
                )

    def _moments(self, file: AttentionFile, event: StepEvent) -> tuple[str, ...]:
        """Return the moments that a row of a file stands for."""
        if not event.is_guided:
            return () if file.steps_before else (BEFORE, AFTER)
        return (BEFORE,) if file.steps_before else (MOMENT_NAMES[self._moment],)

    def _steps_of(self, file: AttentionFile) -> tuple[int, ...]:
        """Return the step of each row of a file; rows of steps that did not run have none."""
        known = file.steps_before or tuple(self._events)
        return tuple(step for step in known if step in self._events)

    def _blocks(self, file: AttentionFile) -> Iterator[AnyArray]:
        """Yield one step at a time, so that no layer is in memory as a whole."""
        array = self._read(file)
        for step in range(len(array)):
            self._tick()
            yield np.array(array[step : step + 1])


def _axes_of(file: AttentionFile, axes: tuple[str, ...]) -> tuple[str, ...]:
    return (DUE_STEP, *axes[1:]) if file.steps_before else axes


def _numbers(
    record: RunRecord,
    steps: Sequence[StepEvent],
    captured: _Captured,
    tick: Callable[[], object],
) -> Iterator[Number]:
    row = _Rows(record)
    for event in steps:
        tick()
        yield from row.of_step(event)
        for moment, name in MOMENT_NAMES.items():
            attention = event.attention_at(moment)
            for_event = row.at(event, name, None)
            if attention is not None:
                yield from row.of_words(for_event, attention.maps)
            yield from row.of_relations(
                for_event, attention.maps if attention else {}, event.pos_at(moment)
            )
    for each in captured.steps():
        for name in each.moments:
            at = row.at(each.event, name, each.layer)
            yield from row.of_words(at, each.maps)
            yield from row.of_relations(at, each.maps, pos_on_maps(record.request.scene, each.maps))
    yield from row.of_run()


class _Rows:
    """Makes the rows of one run's table."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._scene = record.request.scene
        self._names = {word.key: word.text for word in words_of(self._scene)}
        self._empty = Number(record.id, *(None,) * 9, measure="", value=np.nan, unit="")

    def at(self, event: StepEvent, moment: str | None, layer: str | None) -> Number:
        """Return a row without a measure."""
        return self._empty._replace(
            step=event.step,
            timestep=float(event.timestep),
            is_guided=event.is_guided,
            moment=moment,
            layer=layer,
        )

    def of_step(self, event: StepEvent) -> Iterator[Number]:
        """Yield the numbers of guidance on a guided step."""
        at = self.at(event, None, None)
        if event.is_guided:
            yield from _measured(
                at,
                guidance_loss=event.guidance_loss,
                step_size=event.step_size,
                guiding_passes=event.guiding_passes,
                clipped_updates=event.clipped_updates,
            )

    def of_words(self, at: Number, maps: Mapping[MentionId, FloatMap]) -> Iterator[Number]:
        """Yield the statistics of each word's map."""
        for word, weights in maps.items():
            own = at._replace(word=self._names.get(word, word), word_id=word)
            numbers = map_numbers(weights)
            if numbers is not None:
                x, y = numbers.centre_xy
                yield from _measured(
                    own, entropy=numbers.entropy, centre_x=x, centre_y=y, spread=numbers.spread
                )
            mass = float(weights.sum(dtype=np.float64))
            yield from _measured(own, mass=mass, peak=float(weights.max()))

    def of_relations(
        self, at: Number, maps: Mapping[MentionId, FloatMap], pos: Mapping[RelationId, float]
    ) -> Iterator[Number]:
        """Yield PoS and overlap of each relation."""
        for relation in self._scene.relations:
            own = self._of(at, relation)
            ends = [maps[end] for end in relation.ends[:FLANKS] if end in maps]
            overlap = map_overlap(*ends) if len(ends) == FLANKS else None
            yield from _measured(own, pos=pos.get(relation.id), overlap=overlap)

    def of_run(self) -> Iterator[Number]:
        """Yield the numbers of the judged picture."""
        evaluation = self._record.evaluation
        if evaluation is not None:
            yield from _measured(self._empty, quality=evaluation.quality)
        verdicts = {each.relation_id: each for each in self._record.verdicts}
        for relation in self._scene.relations:
            if evaluation is not None and relation.id in verdicts:
                yield from _measured(
                    self._of(self._empty, relation),
                    pse=pse_of(relation, evaluation),
                    confidence=verdicts[relation.id].confidence,
                )

    def _of(self, at: Number, relation: Relation) -> Number:
        return at._replace(relation=self._scene.sentence(relation), relation_id=relation.id)


def _measured(at: Number, **values: float | None) -> Iterator[Number]:
    """Yield one row per number; numbers that were not measured have no row."""
    for measure, value in values.items():
        if value is not None:
            yield at._replace(measure=measure, value=float(value), unit=MEASURES[measure][0])
