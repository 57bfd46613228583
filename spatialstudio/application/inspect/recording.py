"""What a notebook gets of a run and of a judged picture. Imports numpy when it is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from spatialstudio.domain.arrays import FloatMap, RgbImage
    from spatialstudio.domain.attention import Moment
    from spatialstudio.domain.generation import GuidanceSettings, StepEvent
    from spatialstudio.domain.record import RunRecord
    from spatialstudio.domain.relation import SceneGraph
    from spatialstudio.domain.verdict import Evaluation, Outcome, Verdict

ValueT = TypeVar("ValueT")


class Named(Mapping[str, ValueT]):
    """Values by name in words ("dog", "dog to the left of car"); ids ("m1", "r1") work as well.

    Args:
        values: By id or name.
        names: Of each id, unique.
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
    """What was recorded while one picture was drawn.

    Args:
        scene: What the picture should show.
        steps: Of its denoising.

    Attributes:
        scene: What was read of the prompt: ``mentions``, ``relations``, ``notes``.
    """

    def __init__(self, scene: SceneGraph, steps: tuple[StepEvent, ...]) -> None:
        self.scene = scene
        self._steps = steps

    @property
    def prompt(self) -> str:
        """The text that was drawn."""
        return self.scene.prompt.text

    @property
    def steps(self) -> tuple[StepEvent, ...]:
        """Every step that has ended: PoS, loss, step size, guiding passes, maps, preview."""
        return self._steps

    @property
    def pos(self) -> Named[npt.NDArray[np.float64]]:
        """PoS of each relation that maps can show, (steps,) in [0, 1], before a step's updates."""
        return self._pos_at("BEFORE")

    @property
    def pos_after(self) -> Named[npt.NDArray[np.float64]]:
        """Like ``pos``, after a step's updates; equal to it where guidance did not act."""
        return self._pos_at("AFTER")

    @property
    def final_pos(self) -> Named[float]:
        """PoS of each relation on the last step, [0, 1], as last read."""
        values = {name: float(chances[-1]) for name, chances in self.pos_after.items()}
        return Named(values, _relation_names(self.scene))

    @property
    def maps(self) -> Named[FloatMap]:
        """Attention to each object's words, (recorded steps, h, w) in [0, 1], before the updates.

        Mean over the heads and layers that are read, of the prompt's half of the batch.
        """
        return self._maps_at("BEFORE")

    @property
    def maps_after(self) -> Named[FloatMap]:
        """Like ``maps``, after a step's updates; equal to it where guidance did not act."""
        return self._maps_at("AFTER")

    @property
    def map_steps(self) -> tuple[int, ...]:
        """The steps, from 0, of which ``maps`` holds a map."""
        return tuple(event.step for event in self.steps if event.attention is not None)

    @property
    def is_guided(self) -> bool:
        """Whether guidance has moved the picture."""
        return any(event.is_guided for event in self.steps)

    def _pos_at(self, moment: str) -> Named[npt.NDArray[np.float64]]:
        import numpy as np

        readings = [event.pos_at(_moment(moment)) or event.pos for event in self.steps]
        known = dict.fromkeys(each for reading in readings for each in reading)
        chances = {
            each: np.array([reading.get(each, np.nan) for reading in readings]) for each in known
        }
        return Named(chances, _relation_names(self.scene))

    def _maps_at(self, moment: str) -> Named[FloatMap]:
        import numpy as np

        taken = [
            event.attention_at(_moment(moment)) or event.attention
            for event in self.steps
            if event.attention is not None
        ]
        known = dict.fromkeys(each for snapshot in taken if snapshot for each in snapshot.maps)
        maps = {each: np.stack([shot.maps[each] for shot in taken if shot]) for each in known}
        return Named(maps, _mention_names(self.scene))

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} of {self.prompt!r}, {len(self.steps)} steps"]
        after = self.pos_after
        lines += [
            f"  {name}: PoS {chances[0]:.2f} -> {after[name][-1]:.2f}"
            for name, chances in self.pos.items()
        ]
        return "\n".join(lines)


class Run(Recording):
    """What was recorded inside a block of ``guide`` or ``watch``.

    ``steps``, ``pos`` and ``maps`` are those of the last call's first picture.

    Args:
        scene: Of the block.
        notes: See below.
        calls: Of the pipeline; grows while the block is open.

    Attributes:
        notes: What was not understood of the prompt, and what guidance cannot do for it.
    """

    def __init__(
        self, scene: SceneGraph, notes: tuple[str, ...], calls: Sequence[RecordedCall]
    ) -> None:
        super().__init__(scene, ())
        self.notes = notes
        self._calls = calls

    @property
    def steps(self) -> tuple[StepEvent, ...]:
        """Every step of the last call that has ended; empty before the first call."""
        return self.pictures[0].steps if self._calls else ()

    @property
    def prompt(self) -> str:
        """The text that the last call drew; before the first call, that of the block."""
        return self._calls[-1].scene.prompt.text if self._calls else self.scene.prompt.text

    @property
    def pictures(self) -> tuple[Recording, ...]:
        """A recording for each picture of the last call."""
        return self.calls[-1] if self._calls else ()

    @property
    def calls(self) -> tuple[tuple[Recording, ...], ...]:
        """The recordings of every call of the pipeline, in order; of a failed one, up to then."""
        return tuple(call.recordings() for call in self._calls)

    @property
    def guidance(self) -> GuidanceSettings | None:
        """How the last call was guided; None before the first call."""
        return self._calls[-1].guidance if self._calls else None


class StoredRun(Recording):
    """A run that the program has stored.

    Attributes:
        record: All that the program knows of it: request, environment, token spans, times.
        image: (H, W, 3) uint8; None where the picture is gone.
    """

    def __init__(
        self, record: RunRecord, steps: tuple[StepEvent, ...], image: RgbImage | None
    ) -> None:
        super().__init__(record.request.scene, steps)
        self.record = record
        self.image = image

    @property
    def evaluation(self) -> EvaluatedPicture | None:
        """The stored verdicts; None when the picture was not judged."""
        stored = self.record.evaluation
        return None if stored is None else EvaluatedPicture(self.scene, stored)


class EvaluatedPicture:
    """The verdicts on a picture.

    Attributes:
        scene: What the picture should show.
        evaluation: All that was found: detections, masks, settings, DA-score.
    """

    def __init__(self, scene: SceneGraph, evaluation: Evaluation) -> None:
        self.scene = scene
        self.evaluation = evaluation

    @property
    def verdicts(self) -> Named[Verdict]:
        """A verdict for each relation: ``outcome``, ``reason``, ``confidence``, ``measurement``."""
        values = {verdict.relation_id: verdict for verdict in self.evaluation.verdicts}
        return Named(values, _relation_names(self.scene))

    @property
    def outcome(self) -> Outcome | None:
        """FAIL when one relation failed, else UNDECIDABLE when one is; None without relations."""
        from spatialstudio.domain.verdict import joint_outcome

        return joint_outcome(verdict.outcome for verdict in self.evaluation.verdicts)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} of {self.scene.prompt.text!r}"]
        for name, verdict in self.verdicts.items():
            reason = "" if verdict.reason is None else f" ({verdict.reason.value})"
            lines.append(
                f"  {name}: {verdict.outcome.value}{reason}, confidence {verdict.confidence:.2f}"
            )
        return "\n".join(lines)


class RecordedCall:
    """One call of a pipeline inside a block.

    Args:
        scene: Its mentions stand in the prompt of the call.
        guidance: How it was guided.
        pictures: How many it draws.

    Attributes:
        events: One for each picture, step by step.
    """

    def __init__(self, scene: SceneGraph, guidance: GuidanceSettings, pictures: int) -> None:
        self.scene = scene
        self.guidance = guidance
        self.pictures = pictures
        self.events: list[tuple[StepEvent, ...]] = []

    def recordings(self) -> tuple[Recording, ...]:
        """Return a recording for each picture."""
        return tuple(
            Recording(self.scene, tuple(events[number] for events in self.events))
            for number in range(self.pictures)
        )


def _relation_names(scene: SceneGraph) -> dict[Any, str]:
    """Name relations in words; of those that read the same, all but the first by their ids."""
    names: dict[Any, str] = {}
    for relation in scene.relations:
        sentence = scene.sentence(relation)
        names[relation.id] = relation.id if sentence in names.values() else sentence
    return names


def _mention_names(scene: SceneGraph) -> dict[Any, str]:
    return {mention.id: scene.name(mention.id) for mention in scene.mentions}


def _moment(name: str) -> Moment:
    from spatialstudio.domain.attention import Moment

    return Moment[name]
