"""Converts models, devices, samplers, estimates and queue entries into display data."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from spatialstudio.application.run.estimates import RunEstimate
from spatialstudio.application.run.queue import (
    EntryState,
    QueueEntry,
    outcome_of,
)
from spatialstudio.application.studio import Studio
from spatialstudio.domain.attention import MOST_CACHE_BYTES
from spatialstudio.domain.derived_requests import has_baseline, unguided
from spatialstudio.domain.devices import NUMBER_FORMATS, DeviceCard, size_in_words
from spatialstudio.domain.errors import ModelNotFound, StudioError
from spatialstudio.domain.generation import GenerationRequest, RequestId
from spatialstudio.domain.ports import ModelCard, PerceptionCard, PerceptionRole
from spatialstudio.domain.run_settings import RunSettings
from spatialstudio.domain.samplers import sampler_title
from spatialstudio.domain.sweep import (
    SweepCell,
    SweepField,
    SweepPoint,
)
from spatialstudio.ui.run.widgets.fields import Choice
from spatialstudio.ui.run.widgets.queue_list import QueueRow
from spatialstudio.ui.run.widgets.result_strip import Result
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.texts import tr

FASTEST = ""


def device_choices(devices: Sequence[DeviceCard], chosen: str) -> tuple[Choice, ...]:
    """Return the device choices, including the selected one; a single device is the default.

    Args:
        devices: The fastest first; empty until known.
        chosen: Id of a device, available or not; empty for the fastest.
    """
    known = tuple(_choice_of(card) for card in devices)
    if len(known) == 1 and chosen in (FASTEST, known[0].id):
        return (replace(known[0], id=chosen),)
    fastest = Choice(id=FASTEST, title=tr("Fastest available"))
    if chosen in {FASTEST, *(choice.id for choice in known)}:
        return (fastest, *known)
    title = tr("{device}, not found").format(device=chosen) if known else chosen
    return (fastest, *known, Choice(id=chosen, title=title))


def format_choices(devices: Sequence[DeviceCard], device_id: str, chosen: str) -> tuple[str, ...]:
    """Return the number formats a device supports, and the selected one.

    Args:
        devices: The fastest first; empty until known.
        device_id: Device that generates pictures; empty for the fastest.
        chosen: One of ``NUMBER_FORMATS``; empty for the model's default.
    """
    cards = [card for card in devices if device_id in (FASTEST, card.id)]
    computed = cards[0].dtypes if cards else NUMBER_FORMATS
    return tuple(name for name in NUMBER_FORMATS if name in (*computed, chosen))


def device_in_words(device: DeviceCard) -> str:
    """Return "NVIDIA H100, 78.1 GB free" or "CPU, 2 cores, 5.1 GB free"."""
    parts = [device.name]
    if device.cores is not None:
        count = tr("1 core") if device.cores == 1 else tr("{count} cores")
        parts.append(count.format(count=device.cores))
    if device.free_bytes is not None:
        parts.append(tr("{size} free").format(size=size_in_words(device.free_bytes)))
    return ", ".join(parts)


def _choice_of(device: DeviceCard) -> Choice:
    tip = tr("{device}: supports {formats}").format(
        device=device.id, formats=", ".join(device.dtypes)
    )
    return Choice(id=device.id, title=device_in_words(device), tip=tip)


NO_MODEL = ""
NOBODY = ""
OWN = ""


def detector_choices(
    models: Sequence[PerceptionCard],
    damaged: Mapping[str, ModelNotFound],
    chosen: str,
    of_plugins: Sequence[str] = (),
) -> tuple[Choice, ...]:
    """Return the second detectors, "none" first, then the unusable ones.

    Args:
        models: All perception models.
        damaged: Errors of unusable models, by name.
        chosen: Id of a detector, available or not; empty for none.
        of_plugins: Ids of detectors from plugins.
    """
    detectors = [card for card in models if card.role is PerceptionRole.DETECTOR]
    usable = tuple(
        Choice(id=card.ref.id, title=card.ref.id, tip=card.architecture) for card in detectors
    )
    usable += tuple(Choice(id=each, title=each, tip=tr("Plugin")) for each in of_plugins)
    known = {NOBODY, *(choice.id for choice in usable), *damaged}
    gone = () if chosen in known else (_gone(chosen),)
    return (Choice(id=NOBODY, title=tr("None")), *usable, *gone, *_unusable(damaged))


def model_choices(
    models: Sequence[ModelCard], damaged: Mapping[str, ModelNotFound]
) -> tuple[Choice, ...]:
    """Return the model choices, then the unusable ones; at least one choice.

    Args:
        models: Models that can generate pictures.
        damaged: Errors of unusable models, by name.
    """
    none = (Choice(id=NO_MODEL, title=tr("No model installed"), is_usable=False),)
    usable = tuple(Choice(id=card.id, title=_model_in_words(card)) for card in models)
    return (usable or none) + _unusable(damaged)


def _model_in_words(model: ModelCard) -> str:
    """Return the title, for a single file with "Stable Diffusion XL" and "6.5 GB"."""
    facts = (model.title, model.family, size_in_words(model.size_bytes))
    return BETWEEN_FACTS.join(facts) if model.family else model.title


PREDICTIONS: Mapping[str, str] = {"epsilon": "noise (epsilon)", "v_prediction": "velocity (v)"}


def prediction_choices(model: ModelCard) -> tuple[Choice, ...]:
    """Return the prediction types of a model; empty if the model offers no choice."""
    if not model.prediction_type:
        return ()
    return tuple(Choice(id=name, title=tr(title)) for name, title in PREDICTIONS.items())


def prediction_note(model: ModelCard, settings: RunSettings) -> str:
    """Return a note on a prediction type that is assumed; empty if the file or the user states it.

    Args:
        model: The model.
        settings: The current settings.
    """
    is_assumed = settings.sampling.prediction_type in ("", model.prediction_type)
    if not model.prediction_type or model.is_prediction_known or not is_assumed:
        return ""
    return tr("The file does not state the type. If pictures are only noise, choose the other one.")


def sampler_choices(model: ModelCard, chosen: str) -> tuple[Choice, ...]:
    """Return the samplers of a model, its default first.

    Args:
        model: The model.
        chosen: Name of a sampler, known or not; empty for the model's default.
    """
    title = tr("Model's default")
    if model.samplers:
        title = tr("{sampler} (model's default)").format(sampler=sampler_title(model.samplers[0]))
    names = dict.fromkeys((*model.samplers[1:], *filter(None, [chosen])))
    others = (Choice(id=name, title=sampler_title(name)) for name in names)
    return (Choice(id=OWN, title=title), *others)


def _gone(name: str) -> Choice:
    return Choice(id=name, title=tr("{model}, not found").format(model=name), is_usable=False)


def _unusable(damaged: Mapping[str, ModelNotFound]) -> tuple[Choice, ...]:
    return tuple(
        Choice(id=name, title=why.message, tip=why.hint, is_usable=False)
        for name, why in damaged.items()
    )


A_MINUTE = 60
TENTHS_BELOW_S = 10
BETWEEN_FACTS = " · "
TOO_MUCH = "The cache holds at most {limit}: the oldest runs will lose their layers."
RUN_TOO_MUCH = "One run exceeds the cache of {limit}: all earlier runs will lose their layers."
BASELINE = RequestId("baseline")


def estimate_now(studio: Studio, settings: RunSettings | None) -> RunEstimate | None:
    """Return the cost estimate for the current prompt; None if it cannot be generated."""
    requests = list[GenerationRequest]()
    if settings is not None:
        with suppress(StudioError):  # reported in the prompt panel and on Generate
            requests += studio.requests(settings)
    if settings is None or not requests:
        return None
    if settings.with_baseline:
        requests += [unguided(each, BASELINE) for each in requests if has_baseline(each)]
    return studio.estimates.estimate(requests)


def estimate_in_words(estimate: RunEstimate, weights_bytes: int) -> str:
    """Return a line like "About 4 s · 310 MB · guided steps 1 to 8".

    Args:
        estimate: The estimate.
        weights_bytes: Size of the model; a lower bound for its memory.
    """
    facts = [cost_in_words(estimate, weights_bytes)]
    if estimate.guided_steps is not None:
        first, last = (step + 1 for step in estimate.guided_steps)
        steps = tr("guided step {first}") if first == last else tr("guided steps {first} to {last}")
        facts.append(steps.format(first=first, last=last))
    elif estimate.leaves_depth:
        facts.append(tr("guidance off: depth relations need particles or noise search"))
    elif estimate.particles == 1:
        facts.append(tr("guidance off"))
    if estimate.particles > 1:
        facts.append(tr("steered with {count} particles").format(count=estimate.particles))
    if estimate.candidates > 1:
        facts.append(tr("best of {count}").format(count=estimate.candidates))
    return BETWEEN_FACTS.join(facts)


def cost_in_words(estimate: RunEstimate, weights_bytes: int) -> str:
    """Return time and memory only: "About 4 s · 310 MB"."""
    if estimate.seconds is None:
        time = tr("Time not yet known")
    else:
        time = tr("About {time}").format(time=time_in_words(estimate.seconds))
    if estimate.memory_bytes is None:
        memory = tr("at least {size}").format(size=size_in_words(weights_bytes))
    else:
        memory = size_in_words(estimate.memory_bytes)
    return BETWEEN_FACTS.join((time, memory))


def kept_in_words(estimate: RunEstimate) -> str:
    """Return the size of the attention on disk, per run and in total; empty for none."""
    if not estimate.disk_bytes:
        return ""
    total, each = map(size_in_words, (estimate.disk_bytes, estimate.run_disk_bytes))
    said = tr("About {size} on disk for the largest run, {total} for all.")
    said = said.format(size=each, total=total)
    if estimate.disk_bytes == estimate.run_disk_bytes:
        said = tr("About {size} on disk.").format(size=total)
    if estimate.disk_bytes <= MOST_CACHE_BYTES:
        return said
    excess = RUN_TOO_MUCH if estimate.run_disk_bytes > MOST_CACHE_BYTES else TOO_MUCH
    return f"{said} {tr(excess).format(limit=size_in_words(MOST_CACHE_BYTES))}"


def time_in_words(seconds: float) -> str:
    """Return "4 s" or "3 min"."""
    if seconds < TENTHS_BELOW_S:
        return tr("{seconds} s").format(seconds=f"{max(seconds, 0.1):.1f}")
    if seconds < A_MINUTE:
        return tr("{seconds} s").format(seconds=round(seconds))
    return tr("{minutes} min").format(minutes=round(seconds / A_MINUTE))


LOOKS = {
    EntryState.RUNNING: ("running", "play", "accent"),
    EntryState.WAITING: ("waiting", "queue", "muted"),
    EntryState.FAILED: ("failed", "warning", "bad"),
    EntryState.CANCELLED: ("cancelled", "cancel", "muted"),
    EntryState.INTERRUPTED: ("interrupted", "warning", "warning"),
}
"""The states listed in the queue: a label, an icon and its colour."""

ORDER = (
    EntryState.RUNNING,
    EntryState.WAITING,
    EntryState.INTERRUPTED,
    EntryState.FAILED,
    EntryState.CANCELLED,
)


def rows_of(entries: Sequence[QueueEntry]) -> tuple[QueueRow, ...]:
    """Return the rows of unfinished entries: running, waiting, then retryable."""
    listed = [entry for state in ORDER for entry in entries if entry.state is state]
    return tuple(map(row_of, listed))


def row_of(entry: QueueEntry) -> QueueRow:
    """Return the row of an unfinished entry."""
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
    """Return the film strip's entries with a picture, the newest first."""
    over = (EntryState.DONE, EntryState.FAILED, EntryState.CANCELLED)
    done = [entry for entry in entries if entry.state in over and entry.run.image is not None]
    return tuple(map(result_of, reversed(done)))


def result_of(entry: QueueEntry) -> Result:
    """Return the film strip's item of an entry."""
    seen = [(run, run.image) for run in entry.runs if run.image is not None]
    outcomes = tuple(outcome_of(run) for run, _ in seen)
    seed = tr("seed {seed}").format(seed=entry.seed)
    names = [tr("not judged") if each is None else each.value for each in outcomes]
    verdict = (
        tr("{guided}, baseline {plain}").format(guided=names[0], plain=names[1])
        if len(names) > 1
        else names[0]
    )
    return Result(
        key=entry.id,
        pictures=tuple(rgb_image(image) for _, image in seen),
        outcomes=outcomes,
        caption=str(entry.seed),
        words=f"{seed}, {verdict}: {entry.run.scene.prompt.text}",
    )


def cell_in_words(cell: SweepCell) -> str:
    """Return the label of a sweep's cell: "Step size 5, Seed 3"."""
    points = [point for point in (cell.column, cell.row) if point is not None]
    return ", ".join(map(point_in_words, points))


def point_in_words(point: SweepPoint) -> str:
    """Return a value with its name: "Step size 5"; a seed in the usual form, "seed 3"."""
    if point.field == SweepField.SEED:
        return tr("seed {seed}").format(seed=point.label)
    return f"{tr(point.field.title)} {point.label}"
