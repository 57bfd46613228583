"""Recordings of runs and evaluations for notebooks. Imports numpy on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from spatialstudio.domain.arrays import FloatMap, RgbImage
    from spatialstudio.domain.attention import AttentionFile, LayerValues, Moment
    from spatialstudio.domain.export import LoadedRun
    from spatialstudio.domain.generation import GuidanceSettings, StepEvent
    from spatialstudio.domain.library import RunRecord
    from spatialstudio.domain.metric import RelationAnswer
    from spatialstudio.domain.run_data import Number, RunArray, RunData
    from spatialstudio.domain.scene import RelationId, SceneGraph
    from spatialstudio.domain.verdict import Evaluation, Outcome, Verdict

ValueT = TypeVar("ValueT")

LayerReadings: TypeAlias = "Mapping[Moment, Sequence[Mapping[str, Mapping[Any, FloatMap]]]]"
"""Maps by layer and mention of each step, by moment."""

StoreRun: TypeAlias = "Callable[[Path, Any, Evaluation | None], Path]"
"""Writes a run into a folder, with an image (None for the returned one) and an evaluation."""
StorePicture: TypeAlias = "Callable[[int, Path, Any, Evaluation | None], Path]"
"""Writes the run of one image of a call, by number."""


class Named(Mapping[str, ValueT]):
    """Values by name ("dog", "dog to the left of car"); ids ("m1", "r1") also work.

    Args:
        values: Values by id or name.
        names: Unique name of each id.
    """

    def __init__(self, values: Mapping[Any, ValueT], names: Mapping[Any, str]) -> None:
        self._values = {names.get(each, each): value for each, value in values.items()}
        self._names = {str(each): name for each, name in names.items()}

    def __getitem__(self, key: str) -> ValueT:
        return self._values[self._names.get(key, key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class Recording:
    """Recorded data of one generated image.

    Args:
        scene: Scene of the prompt.
        steps: Denoising steps.
        layers: Maps by layer and mention, of each step, by moment.
        store: Writes the run; None if it cannot be saved.

    Attributes:
        scene: Scene of the prompt: ``mentions``, ``relations``, ``notes``.
    """

    def __init__(
        self,
        scene: SceneGraph,
        steps: tuple[StepEvent, ...],
        layers: LayerReadings | None = None,
        store: StoreRun | None = None,
    ) -> None:
        self.scene = scene
        self._steps = steps
        self._layers = layers or {}
        self._store = store

    @property
    def prompt(self) -> str:
        """The prompt of the image."""
        return self.scene.prompt.text

    @property
    def steps(self) -> tuple[StepEvent, ...]:
        """Completed steps: PoS, loss, step size, guidance passes, maps, preview."""
        return self._steps

    @property
    def pos(self) -> Named[npt.NDArray[np.float64]]:
        """PoS of each relation on attention maps, (steps,) in [0, 1], before a step's updates."""
        return self._pos_at("BEFORE")

    @property
    def pos_after(self) -> Named[npt.NDArray[np.float64]]:
        """Like ``pos``, after a step's updates; equal on steps without guidance."""
        return self._pos_at("AFTER")

    @property
    def final_pos(self) -> Named[float]:
        """PoS of each relation on the last step, [0, 1], from its last reading."""
        values = {name: float(chances[-1]) for name, chances in self.pos_after.items()}
        return Named(values, _relation_names(self.scene))

    @property
    def maps(self) -> Named[FloatMap]:
        """Attention to each mention, (recorded steps, h, w) in [0, 1], before the updates.

        Mean over the recorded heads and layers, of the conditional half of the batch.
        """
        return self._maps_at("BEFORE")

    @property
    def maps_after(self) -> Named[FloatMap]:
        """Like ``maps``, after a step's updates; equal on steps without guidance."""
        return self._maps_at("AFTER")

    @property
    def layer_maps(self) -> Mapping[str, Named[FloatMap]]:
        """Attention maps by layer, in execution order; empty unless ``layers=True`` was passed.

        Per layer like ``maps``, (steps, h, w) of each mention, with the layer's own resolution and
        from the pass whose prediction the sampler uses: on guided steps, after the updates.
        """
        return self._layers_at("AFTER")

    @property
    def layer_maps_before(self) -> Mapping[str, Named[FloatMap]]:
        """Like ``layer_maps``, before a step's updates; equal on steps without guidance."""
        return self._layers_at("BEFORE")

    def save(
        self,
        folder: str | Path,
        *,
        image: Any = None,
        evaluation: EvaluatedPicture | None = None,
    ) -> Path:
        """Write the run as the program does; ``open_run``, the window and the terminal open it.

        Args:
            folder: Folder of the files; created if missing.
            image: The image, a Pillow image or an array (H, W, 3); None for the image that the
                pipeline returned.
            evaluation: Stored with the run, for example for ``judge-again``.

        Returns:
            The image file.

        Raises:
            RequestError: The call is not finished or had no seeded generator.
            ImageError: The pipeline returned latents, and no image is given.
            StoreError: The folder cannot be written.
        """
        if self._store is None:
            raise _request_error(
                "There is no finished call to save.",
                "Call the pipeline inside the block first.",
            )
        judged = None if evaluation is None else evaluation.evaluation
        return self._store(Path(folder), image, judged)

    @property
    def map_steps(self) -> tuple[int, ...]:
        """The steps of ``maps``, from 0."""
        return tuple(event.step for event in self.steps if event.attention is not None)

    @property
    def is_guided(self) -> bool:
        """Whether guidance acted on any step."""
        return any(event.is_guided for event in self.steps)

    def _pos_at(self, moment: str) -> Named[npt.NDArray[np.float64]]:
        import numpy as np

        readings = [event.pos_at(_moment(moment)) or event.pos for event in self.steps]
        known = dict.fromkeys(each for reading in readings for each in reading)
        chances = {
            each: np.array([reading.get(each, np.nan) for reading in readings]) for each in known
        }
        return Named(chances, _relation_names(self.scene))

    def _layers_at(self, moment: str) -> Mapping[str, Named[FloatMap]]:
        import numpy as np

        names = {each.id: self.scene.name(each.id) for each in self.scene.mentions}
        steps = self._layers.get(_moment(moment), ())
        return {
            layer: Named(
                {each: np.stack([step[layer][each] for step in steps]) for each in maps}, names
            )
            for layer, maps in (steps[0] if steps else {}).items()
        }

    def _maps_at(self, moment: str) -> Named[FloatMap]:
        import numpy as np

        taken = [
            event.attention_at(_moment(moment)) or event.attention
            for event in self.steps
            if event.attention is not None
        ]
        known = dict.fromkeys(each for snapshot in taken if snapshot for each in snapshot.maps)
        maps = {each: np.stack([shot.maps[each] for shot in taken if shot]) for each in known}
        return Named(maps, {each.id: self.scene.name(each.id) for each in self.scene.mentions})

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} of {self.prompt!r}, {len(self.steps)} steps"]
        after = self.pos_after
        lines += [
            f"  {name}: PoS {chances[0]:.2f} -> {after[name][-1]:.2f}"
            for name, chances in self.pos.items()
        ]
        return "\n".join(lines)


class Run(Recording):
    """Recorded data of a ``guide`` or ``watch`` block.

    ``steps``, ``pos`` and ``maps`` are those of the last call's first image.

    Args:
        scene: Scene of the block.
        notes: See below.
        calls: Calls of the pipeline; grows while the block is open.

    Attributes:
        notes: Parts of the prompt that were not understood, and limits of the guidance.
    """

    def __init__(
        self, scene: SceneGraph, notes: tuple[str, ...], calls: Sequence[RecordedCall]
    ) -> None:
        super().__init__(scene, ())
        self.notes = notes
        self._calls = calls

    @property
    def steps(self) -> tuple[StepEvent, ...]:
        """Completed steps of the last call; empty before the first call."""
        return self.pictures[0].steps if self._calls else ()

    @property
    def layer_maps(self) -> Mapping[str, Named[FloatMap]]:
        """Attention maps by layer of the last call's first image; see ``Recording``."""
        return self.pictures[0].layer_maps if self._calls else {}

    @property
    def layer_maps_before(self) -> Mapping[str, Named[FloatMap]]:
        """Like ``layer_maps``, before a step's updates."""
        return self.pictures[0].layer_maps_before if self._calls else {}

    def save(
        self,
        folder: str | Path,
        *,
        image: Any = None,
        evaluation: EvaluatedPicture | None = None,
    ) -> Path:
        """Write the last call's first image and recording; see ``Recording.save``."""
        if not self._calls:
            return super().save(folder, image=image, evaluation=evaluation)
        return self.pictures[0].save(folder, image=image, evaluation=evaluation)

    @property
    def prompt(self) -> str:
        """The prompt of the last call; before the first call, that of the block."""
        return self._calls[-1].scene.prompt.text if self._calls else self.scene.prompt.text

    @property
    def pictures(self) -> tuple[Recording, ...]:
        """One recording per image of the last call."""
        return self.calls[-1] if self._calls else ()

    @property
    def calls(self) -> tuple[tuple[Recording, ...], ...]:
        """Recordings of each pipeline call in order; of a failed call, up to its failure."""
        return tuple(call.recordings() for call in self._calls)

    @property
    def guidance(self) -> GuidanceSettings | None:
        """Guidance settings of the last call; None before the first call."""
        return self._calls[-1].guidance if self._calls else None


class StoredRun(Recording):
    """A run stored by the application.

    Attributes:
        record: The run record: request, environment, token spans, times.
        image: (H, W, 3) uint8; None if the image file is missing.
        data: Its arrays and numbers under the names of every export.
    """

    def __init__(
        self,
        record: RunRecord,
        steps: tuple[StepEvent, ...],
        image: RgbImage | None,
        data: RunData,
        read_layer: Callable[[AttentionFile], LayerValues],
    ) -> None:
        super().__init__(record.request.scene, steps)
        self._read_layer = read_layer
        self.record = record
        self.image = image
        self.data = data

    @property
    def arrays(self) -> Mapping[str, RunArray]:
        """Arrays by name: "map_after/m1", "pos_before/r1"; ``read()`` returns the values."""
        return {array.name: array for array in self.data.arrays}

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The long table: one row per number, by step, moment, word, relation and layer."""
        return tuple(self.data.numbers())

    def mean_over_layers(
        self, layers: Iterable[str], head: int | None = None, moment: str = "after"
    ) -> Mapping[str, FloatMap]:
        """Average recorded layers as the window does.

        Args:
            layers: Names of recorded layers.
            head: Index of a head in each layer, from 0; None for the mean of all.
            moment: "before" or "after" the updates of guided steps; layers that were captured at
                one moment only are read at that one.

        Returns:
            (stored steps, h, w) by word id, not negative, at the finest resolution of the layers.

        Raises:
            StoreError: No recorded layer has this name and head, or one cannot be read.
        """
        from spatialstudio.application.compose.prompt_words import words_of
        from spatialstudio.application.inspect.captured_layers import CapturedLayers
        from spatialstudio.application.inspect.layer_maps import average_layers
        from spatialstudio.domain.attention import LayerChoice

        choice = LayerChoice(layers=frozenset(layers), head=head)
        captured = CapturedLayers(
            files=self.record.attention_files,
            read=self._read_layer,
            every=self.record.request.capture.attention_every or 1,
        )
        averaged = average_layers(captured, choice, words_of(self.scene), _moment(moment))
        return {str(word): maps for word, maps in averaged.items()}

    def read_maps(self, maps: Mapping[str, npt.ArrayLike]) -> tuple[tuple[str, ...], Named[float]]:
        """Describe maps of one step in the sentences of the window, and measure PoS on them.

        Args:
            maps: (h, w) by word id, not negative, of equal shape.

        Returns:
            Sentences on each map, and on the relation if there are two maps; PoS of each relation
            whose words all have a map that is not empty, in [0, 1].
        """
        import numpy as np

        from spatialstudio.application.inspect.layer_maps import pos_on_maps
        from spatialstudio.application.inspect.map_reading import sentences_on
        from spatialstudio.domain.scene import MentionId

        given = {MentionId(word): np.asarray(values) for word, values in maps.items()}
        return (
            sentences_on(self.scene, given),
            Named(pos_on_maps(self.scene, given), _relation_names(self.scene)),
        )

    @property
    def evaluation(self) -> EvaluatedPicture | None:
        """The stored evaluation; None if the image was not evaluated."""
        stored = self.record.evaluation
        return None if stored is None else EvaluatedPicture(self.scene, stored)


def open_stored(loaded: LoadedRun) -> StoredRun:
    """Return a stored run as arrays and tables."""
    from spatialstudio.application.inspect.run_data import run_data
    from spatialstudio.domain.generation import GenerationFinished, StepEvent

    record, read = loaded.record, loaded.read_layer
    steps = tuple(event for event in loaded.events if isinstance(event, StepEvent))
    images = [event.image for event in loaded.events if isinstance(event, GenerationFinished)]
    image = images[-1] if images else None
    return StoredRun(record, steps, image, run_data(record, steps, image, read), read)


class EvaluatedPicture:
    """The evaluation of an image.

    Attributes:
        scene: Scene of the prompt.
        evaluation: Detections, masks, settings and DA-score.
        values: Results of the requested metrics for the whole image: ``da_score``, ``mean_pse``.
    """

    def __init__(
        self,
        scene: SceneGraph,
        evaluation: Evaluation,
        scores: Mapping[str, Mapping[RelationId, RelationAnswer]] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        self.scene = scene
        self.evaluation = evaluation
        self.values = values or {}
        self._scores = scores or {}

    @property
    def pse(self) -> Named[float]:
        """PSE of each relation on masks, [0, 1]; 0 where an object was not detected."""
        from spatialstudio.science.pos.pse import pse_of

        values = {each.id: pse_of(each, self.evaluation) for each in self.scene.relations}
        return Named(values, _relation_names(self.scene))

    @property
    def metrics(self) -> Mapping[str, Named[RelationAnswer]]:
        """Score of each relation by metric: in [0, 1], True or False; None if not covered."""
        names = _relation_names(self.scene)
        return {metric: Named(scores, names) for metric, scores in self._scores.items()}

    @property
    def verdicts(self) -> Named[Verdict]:
        """Verdict of each relation: ``outcome``, ``reason``, ``confidence``, ``measurement``."""
        values = {verdict.relation_id: verdict for verdict in self.evaluation.verdicts}
        return Named(values, _relation_names(self.scene))

    @property
    def outcome(self) -> Outcome | None:
        """FAIL if a relation, count or colour failed, else UNDECIDABLE if one is, else PASS.

        None if the prompt states none of them.
        """
        return self.evaluation.outcome

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} of {self.scene.prompt.text!r}"]
        for name, verdict in self.verdicts.items():
            reason = "" if verdict.reason is None else f" ({verdict.reason.value})"
            lines.append(
                f"  {name}: {verdict.outcome.value}{reason}, confidence {verdict.confidence:.2f}"
            )
        for each in self.evaluation.mention_verdicts:
            doubt = "" if each.doubt is None else f" ({each.doubt.value})"
            about = f"{self.scene.detected_name(each.mention_id)}, {each.kind.value} {each.words}"
            lines.append(
                f"  {about}: {each.outcome.value}{doubt}, confidence {each.confidence:.2f}"
            )
        return "\n".join(lines)


class RecordedCall:
    """One call of a pipeline inside a block.

    Args:
        scene: Scene whose mentions occur in the call's prompt.
        guidance: Guidance settings of the call.
        pictures: Number of images of the call.
        layers: Maps by layer and mention of each step, of the first image, by moment; grows with
            the steps.

    Attributes:
        events: Step events of each image.
        store: Writes the run of an image, by number; None before the call has ended.
    """

    def __init__(
        self,
        scene: SceneGraph,
        guidance: GuidanceSettings,
        pictures: int,
        layers: LayerReadings | None = None,
    ) -> None:
        self.scene = scene
        self.guidance = guidance
        self.pictures = pictures
        self.layers = layers
        self.events: list[tuple[StepEvent, ...]] = []
        self.store: StorePicture | None = None

    def recordings(self) -> tuple[Recording, ...]:
        """Return one recording per image."""
        return tuple(self._recording(number) for number in range(self.pictures))

    def _recording(self, number: int) -> Recording:
        return Recording(
            self.scene,
            tuple(events[number] for events in self.events),
            None if number else self.layers,
            None if self.store is None else partial(self.store, number),
        )


def _relation_names(scene: SceneGraph) -> dict[Any, str]:
    """Return a name for each relation; of relations with equal names, later ones keep their ids."""
    names: dict[Any, str] = {}
    for relation in scene.relations:
        sentence = scene.sentence(relation)
        names[relation.id] = relation.id if sentence in names.values() else sentence
    return names


def _moment(name: str) -> Moment:
    from spatialstudio.domain.attention import Moment

    if name.upper() not in Moment.__members__:
        raise ValueError(f'The moment is "before" or "after", not "{name}".')
    return Moment[name.upper()]


def _request_error(message: str, hint: str) -> Exception:
    from spatialstudio.domain.errors import RequestError

    return RequestError(message, hint=hint)
