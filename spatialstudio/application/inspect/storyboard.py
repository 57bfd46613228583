"""Storyboard of steps pinned by the user, in the user's order."""

from collections.abc import Callable
from itertools import count

from spatialstudio.application.inspect.step_numbers import moment_of
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import BoardFrame
from spatialstudio.domain.frozen import frozen

_NUMBERS = count(1)


@frozen(eq=False)
class BoardChanged:
    """The frames of the storyboard or their order changed."""

    frames: tuple[BoardFrame, ...]


class Storyboard:
    """Holds the pinned frames, independently of their runs.

    Args:
        publish: Receives ``BoardChanged``.
    """

    def __init__(self, publish: Callable[[object], None]) -> None:
        self._publish = publish
        self.frames: tuple[BoardFrame, ...] = ()

    def show(self, frames: tuple[BoardFrame, ...]) -> None:
        """Set the frames, in order."""
        self.frames = frames
        self._publish(BoardChanged(frames=frames))


def pinned(run: OpenRun, step: int, wanted: Moment = Moment.AFTER) -> BoardFrame:
    """Return a reading of a run's step as a frame.

    Raises:
        ExportError: The step has no preview.
    """
    event = next((each for each in run.steps if each.step == step), None)
    at_end = run.image is not None and step >= len(run.steps) - 1
    picture = run.image if at_end else (event.preview if event else None)
    if picture is None:
        raise ExportError("This step has no preview.", hint="Pin a step with a preview.")
    moment = moment_of(run, wanted)
    attention = event.attention_at(moment) if event is not None else None
    maps = attention.maps if attention is not None else {}
    pos = event.pos_at(moment) if event is not None else {}
    shown = [mention for mention in run.scene.mentions if mention.id in maps]
    return BoardFrame(
        id=f"frame-{next(_NUMBERS)}",
        step=step,
        caption=_caption(run, step, moment if event is not None and event.is_guided else None),
        prompt=run.scene.prompt.text,
        picture=picture,
        maps=tuple((m.phrase, maps[m.id]) for m in shown),
        hues=tuple(run.scene.hues[m.id] for m in shown),
        pos=tuple((run.scene.sentence(r), pos[r.id]) for r in run.scene.relations if r.id in pos),
    )


def _caption(run: OpenRun, step: int, moment: Moment | None) -> str:
    named = [f"Step {step + 1} of {run.total_steps}"] if run.total_steps else ["Picture"]
    if run.request is not None:
        named.append(f"seed {run.request.sampling.seed}")
    if moment is not None:
        named.append(f"recorded {moment.value}")
    return ", ".join(named)
