"""The facts of a run: seed, model, steps, time, folder."""

from collections.abc import Iterator, Sequence

from spatialstudio.application.gallery.compare_runs import SHORT_HASH
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.generation import (
    CandidateScore,
    GenerationRequest,
    ModelSetup,
)
from spatialstudio.domain.samplers import sampler_title
from spatialstudio.ui.widgets.texts import tr


def facts_of(run: OpenRun) -> tuple[tuple[str, str], ...]:
    """Return what a run was made with, names and values."""
    facts: list[tuple[str, str]] = []
    if (request := run.request) is not None:
        guidance = request.sampling.guidance
        facts += [
            (tr("Seed"), str(request.sampling.seed)),
            (tr("Model"), request.model.id),
            (tr("Steps"), _steps_in_words(request)),
            (tr("Guidance"), _guidance_in_words(guidance.strength)),
        ]
    if run.candidates:
        facts.append((tr("Search"), _search_in_words(run.candidates)))
    if run.image is not None:
        height, width = run.image.shape[:2]
        size = tr("{width} × {height} pixels")  # noqa: RUF001 - the right sign
        facts.append((tr("Size"), size.format(width=width, height=height)))
    if run.seconds is not None:
        time = tr("{seconds} s on {device}")
        told = time.format(seconds=f"{run.seconds:.1f}", device=run.device or "cpu")
        facts.append((tr("Time"), told))
    facts += setup_facts(run.setup)
    if run.folder is not None:
        facts.append((tr("Folder"), str(run.folder)))
    return tuple(facts)


def setup_facts(setup: ModelSetup) -> Iterator[tuple[str, str]]:
    """Tell how the model computed, as far as it was noted."""
    told = (
        (tr("Numbers"), setup.dtype),
        (tr("Attention"), setup.attention),
        (tr("Weights"), setup.weights_sha256[:SHORT_HASH]),
    )
    return ((name, value) for name, value in told if value)


def _search_in_words(candidates: Sequence[CandidateScore]) -> str:
    """Say of how many the picture is the best, and what the verifier says that did not choose."""
    told = tr("best of {count}; the checker accepts {share} of its relations")
    return told.format(count=len(candidates), share=f"{candidates[0].second:.0%}")


def _steps_in_words(request: GenerationRequest) -> str:
    if not request.sampling.scheduler_id:
        return str(request.sampling.steps)
    sampler = sampler_title(request.sampling.scheduler_id)
    return tr("{steps} by {sampler}").format(steps=request.sampling.steps, sampler=sampler)


def _guidance_in_words(strength: float) -> str:
    return tr("step size {size}").format(size=f"{strength:g}") if strength else tr("off")
