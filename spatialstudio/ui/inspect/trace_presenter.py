"""Converts an open run into curves over its steps and a progress report."""

from functools import lru_cache

from spatialstudio.application.inspect.step_numbers import (
    due_steps,
    goal_of,
    mean_pos,
    moment_in_words,
    moment_of,
    name_first,
    name_second,
    pos_bounds,
)
from spatialstudio.application.jobs.messages import Phase
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.scene import Relation
from spatialstudio.ui.inspect.widgets.pos_curve import (
    GuidanceMark,
    PosCurve,
    TimeContents,
    TimeLine,
)
from spatialstudio.ui.stage.map_presenter import step_at
from spatialstudio.ui.widgets.phase_bar import Progress
from spatialstudio.ui.widgets.texts import tr

PHASES = {
    Phase.LOADING: "Load",
    Phase.ENCODING: "Encode",
    Phase.DENOISING: "Denoise",
    Phase.DECODING: "Decode",
    Phase.LOOKING: "Segment",
    Phase.JUDGING: "Judge",
}
ENDED = {
    RunState.FAILED: "Failed",
    RunState.CANCELLED: "Cancelled",
    RunState.WAITING: "Waiting for the engine",
}
A_MINUTE = 60
SILENT_S = 2.0
"""Minimum time since the last event that is reported."""
RUNS_KEPT = 2
"""Size of the cache of curves: only the running one of two runs is read again at each step."""
REFINED = 2
"""Minimum passes of a refined step; a plain guided step makes fewer."""


def time_contents(
    run: OpenRun, second: OpenRun | None, wanted: Moment = Moment.AFTER, layers: str = ""
) -> TimeContents:
    """Return the chart's contents for a run and, if given, a second run.

    Args:
        run: The open run.
        second: The second run.
        wanted: The preferred moment of the readings.
        layers: The layers that are read, in words; empty for those of guidance.
    """
    first = _time_line(run, tr(name_first(run, second)), wanted)
    other = None if second is None else _time_line(second, tr(name_second(run, second)), wanted)
    return TimeContents(
        first=first,
        second=other,
        differences=() if other is None else _differences(first, other),
        step_count=run.total_steps if run.steps else 0,
        reading=". ".join(filter(None, (_reading_in_words(run, wanted), layers))),
    )


def span_in_words(
    run: OpenRun,
    second: OpenRun | None,
    span: tuple[int, int] | None,
    wanted: Moment = Moment.AFTER,
) -> str:
    """Describe the mean PoS over a range of steps, both ends inclusive."""
    if span is None:
        return ""
    first, last = span
    text = tr("Mean of steps {first} to {last}:").format(first=first + 1, last=last + 1)
    means, second_means = mean_pos(run, first, last, wanted), {}
    if second is not None:
        named = mean_pos(second, first, last, wanted)
        by_id = {relation.id: relation for relation in second.scene.relations}
        second_means = {second.scene.sentence(by_id[key]): value for key, value in named.items()}
    parts = []
    for relation in run.scene.relations:
        if relation.id in means:
            sentence = run.scene.sentence(relation)
            part = f"{sentence} {means[relation.id]:.2f}"
            if second is not None and sentence in second_means:
                part += f" ({tr(name_second(run, second))} {second_means[sentence]:.2f})"
            parts.append(part)
    return f"{text} {', '.join(parts)}" if parts else ""


def _reading_in_words(run: OpenRun, wanted: Moment) -> str:
    text = moment_in_words(run, wanted)
    return tr("PoS {when}").format(when=text[:1].lower() + text[1:]) if text else ""


@lru_cache(maxsize=RUNS_KEPT)
def _time_line(run: OpenRun, name: str, wanted: Moment) -> TimeLine:
    by_step = {event.step: event for event in run.steps}
    marks = (
        GuidanceMark(
            step=step,
            loss=by_step[step].guidance_loss,
            step_size=by_step[step].step_size,
            passes=by_step[step].guiding_passes,
            clipped=by_step[step].clipped_updates,
        )
        for step in due_steps(run)
    )
    hues, moment = run.scene.relation_hues, moment_of(run, wanted)
    curves = tuple(_curve(run, each, hues[each.id], moment) for each in run.scene.relations)
    return TimeLine(name=name, curves=curves, marks=tuple(marks), goal=goal_of(run))


def _curve(run: OpenRun, relation: Relation, hue: int, moment: Moment) -> PosCurve:
    measured = [event for event in run.steps if relation.id in event.pos_at(moment)]
    bounds = ((event.step, pos_bounds(event, relation, moment)) for event in measured)
    return PosCurve(
        name=run.scene.sentence(relation),
        hue=hue,
        points=tuple((event.step, event.pos_at(moment)[relation.id]) for event in measured),
        bounds=tuple((step, *ends) for step, ends in bounds if ends is not None),
    )


def _differences(first: TimeLine, second: TimeLine) -> tuple[PosCurve, ...]:
    """Return the first run's PoS minus the second's, where both were measured."""
    others = {curve.name: dict(curve.points) for curve in second.curves}
    return tuple(
        PosCurve(
            name=curve.name,
            hue=curve.hue,
            points=tuple(
                (step, value - others[curve.name][step])
                for step, value in curve.points
                if step in others[curve.name]
            ),
        )
        for curve in first.curves
        if curve.name in others
    )


def step_name(run: OpenRun, step: int) -> str:
    """Return a step's label: "Step 7 of 16"."""
    if not run.total_steps or step_at(run, step) is None:
        return ""
    return f"Step {step + 1} of {run.total_steps}"


def progress_of(
    run: OpenRun, job: str, seconds_left: float | None, waiting: int = 0, silent_s: float = 0.0
) -> Progress:
    """Return the progress of a run.

    Args:
        run: The active run.
        job: Its label; empty when it is the only one.
        seconds_left: Until the picture is done; None if unknown.
        waiting: Number of queued pictures after it.
        silent_s: Seconds since its last event; reported when large.
    """
    if run.phase is None:
        return Progress(message=_last_word(run))
    phases = tuple(PHASES) if run.request else (Phase.LOOKING, Phase.JUDGING)
    done, total = _parts(run)
    silence = tr("{seconds} s").format(seconds=round(silent_s)) if silent_s >= SILENT_S else ""
    counted = _detail(done, total, _passes(run)) if total else ""
    return Progress(
        job=job,
        phases=tuple(tr(PHASES[phase]) for phase in phases),
        current=phases.index(run.phase),
        detail=" · ".join(filter(None, (counted, silence))),
        share=done / total if total else None,
        remaining=_in_words(seconds_left),
        queue=tr("{count} waiting").format(count=waiting) if waiting else "",
    )


def _parts(run: OpenRun) -> tuple[int, int]:
    """Return the done and total parts of the phase; 0 of 0 if not counted."""
    if run.phase is Phase.DENOISING:
        return len(run.steps), run.total_steps
    return run.parts or (0, 0)


def _passes(run: OpenRun) -> int:
    """Return the number of guidance passes in the last finished step."""
    is_denoising = run.phase is Phase.DENOISING and bool(run.steps)
    return run.steps[-1].guiding_passes if is_denoising else 0


def _last_word(run: OpenRun) -> str:
    if run.state is not RunState.DONE:
        return tr(ENDED[run.state]) if run.state in ENDED else ""
    if run.seconds is None:
        return tr("Opened, not judged" if run.evaluation is None else "Judged")
    return tr("Generated in {seconds} s").format(seconds=f"{run.seconds:.1f}")


def _detail(done: int, total: int, passes: int) -> str:
    counted = tr("{done} of {total}").format(done=done, total=total)
    if passes < REFINED:
        return counted
    return tr("{counted}, {passes} refinement passes").format(counted=counted, passes=passes)


def _in_words(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 1:
        return tr("less than 1 s left")
    if seconds < A_MINUTE:
        return tr("about {seconds} s left").format(seconds=round(seconds))
    return tr("about {minutes} min left").format(minutes=round(seconds / A_MINUTE))
