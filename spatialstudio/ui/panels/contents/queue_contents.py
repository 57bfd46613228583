"""Turns entries of the queue into rows of the list and places of the film strip."""

from collections.abc import Sequence

from spatialstudio.application.queue_entry import EntryState, QueueEntry, outcome_of
from spatialstudio.ui.panels.contents.sweep_contents import cell_in_words
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.basic.array_images import rgb_image
from spatialstudio.ui.widgets.run.queue_list import QueueRow
from spatialstudio.ui.widgets.run.result_strip import Result

LOOKS = {
    EntryState.RUNNING: ("is drawn", "play", "accent"),
    EntryState.WAITING: ("waits", "queue", "muted"),
    EntryState.FAILED: ("failed", "warning", "bad"),
    EntryState.CANCELLED: ("cancelled", "cancel", "muted"),
    EntryState.INTERRUPTED: ("interrupted", "warning", "warning"),
}
"""The states that the queue lists: a word, an icon and its colour."""

ORDER = (
    EntryState.RUNNING,
    EntryState.WAITING,
    EntryState.INTERRUPTED,
    EntryState.FAILED,
    EntryState.CANCELLED,
)


def rows_of(entries: Sequence[QueueEntry]) -> tuple[QueueRow, ...]:
    """Return what is not done: drawn, waiting, then what can be asked for again."""
    listed = [entry for state in ORDER for entry in entries if entry.state is state]
    return tuple(map(row_of, listed))


def row_of(entry: QueueEntry) -> QueueRow:
    """Return the row of an entry that is not done."""
    state, icon, role = LOOKS[entry.state]
    seed = tr("seed {seed}").format(seed=entry.seed)
    image, prompt = entry.run.image, entry.run.scene.prompt.text
    return QueueRow(
        key=entry.id,
        title=cell_in_words(entry.cell) if entry.cell else seed,
        detail=tr("With baseline: {prompt}").format(prompt=prompt) if entry.baseline else prompt,
        state=tr(state),
        icon=icon,
        role=role,
        picture=None if image is None else rgb_image(image),
        can_move=entry.state is EntryState.WAITING,
    )


def results_of(entries: Sequence[QueueEntry]) -> tuple[Result, ...]:
    """Return the film strip of what has a picture, the newest first."""
    over = (EntryState.DONE, EntryState.FAILED, EntryState.CANCELLED)
    done = [entry for entry in entries if entry.state in over and entry.run.image is not None]
    return tuple(map(result_of, reversed(done)))


def result_of(entry: QueueEntry) -> Result:
    """Return the place of an entry in the film strip."""
    seen = [(run, run.image) for run in entry.runs if run.image is not None]
    outcomes = tuple(outcome_of(run) for run, _ in seen)
    seed = tr("seed {seed}").format(seed=entry.seed)
    told = [tr("not judged") if each is None else each.value for each in outcomes]
    verdict = (
        tr("{guided}, baseline {plain}").format(guided=told[0], plain=told[1])
        if len(told) > 1
        else told[0]
    )
    return Result(
        key=entry.id,
        pictures=tuple(rgb_image(image) for _, image in seen),
        outcomes=outcomes,
        caption=str(entry.seed),
        words=f"{seed}, {verdict}: {entry.run.scene.prompt.text}",
    )
