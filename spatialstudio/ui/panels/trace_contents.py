"""Turns an open run into curves over its steps, and its progress into words."""

from spatialstudio.application.engine.messages import Phase
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.ui.panels.map_contents import step_at
from spatialstudio.ui.panels.stage_contents import hue_of
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.phase_bar import Progress
from spatialstudio.ui.widgets.pos_curve import PosCurve

PHASES = {
    Phase.LOADING: "Load",
    Phase.DENOISING: "Denoise",
    Phase.DECODING: "Decode",
    Phase.JUDGING: "Judge",
}
ENDED = {
    RunState.FAILED: "Failed",
    RunState.CANCELLED: "Cancelled",
    RunState.WAITING: "Waits for the engine",
}
A_MINUTE = 60


def pos_curves(run: OpenRun, *, is_baseline: bool = False) -> tuple[PosCurve, ...]:
    """Return one curve for each relation that was measured."""
    return tuple(
        PosCurve(
            name=run.scene.sentence(relation),
            hue=hue_of(run.scene, relation.subject),
            points=tuple(
                (event.step, event.pos[relation.id])
                for event in run.steps
                if relation.id in event.pos
            ),
            is_baseline=is_baseline,
        )
        for relation in run.scene.relations
    )


def guided_steps(run: OpenRun) -> tuple[int, ...]:
    """Return the steps on which guidance acted."""
    return tuple(event.step for event in run.steps if event.step_size is not None)


def step_name(run: OpenRun, step: int) -> str:
    """Return how to call a step: "Step 7 of 16"."""
    if not run.total_steps or step_at(run, step) is None:
        return ""
    return f"Step {step + 1} of {run.total_steps}"


def progress_of(run: OpenRun, job: str, seconds_left: float | None, waiting: int = 0) -> Progress:
    """Return how far a run is.

    Args:
        run: The one that goes on.
        job: What to call it; empty when there is only one.
        seconds_left: Until the picture is done; None when nobody knows.
        waiting: How many pictures come after it.
    """
    if run.phase is None:
        return Progress(message=_last_word(run))
    phases = tuple(PHASES) if run.request else (Phase.JUDGING,)
    is_denoising = run.phase is Phase.DENOISING and run.total_steps > 0
    done = len(run.steps)
    return Progress(
        job=job,
        phases=tuple(PHASES[phase] for phase in phases),
        current=phases.index(run.phase),
        detail=f"{done} of {run.total_steps}" if is_denoising else "",
        share=done / run.total_steps if is_denoising else None,
        remaining=_in_words(seconds_left),
        queue=tr("{count} waiting").format(count=waiting) if waiting else "",
    )


def _last_word(run: OpenRun) -> str:
    if run.state is not RunState.DONE:
        return ENDED.get(run.state, "")
    if run.seconds is None:
        return "Judged"
    return f"Done in {run.seconds:.1f} s"


def _in_words(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 1:
        return "less than 1 s left"
    if seconds < A_MINUTE:
        return f"about {seconds:.0f} s left"
    return f"about {seconds / A_MINUTE:.0f} min left"
