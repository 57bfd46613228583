"""The facts of a run: seed, model, steps, time, folder."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from spatialstudio.application.gallery.compare_runs import SHORT_HASH
from spatialstudio.application.inspect.inspection import places_in_words
from spatialstudio.application.inspect.step_numbers import needed_no_guidance
from spatialstudio.application.session import OpenRun, RunChanged
from spatialstudio.domain.generation import (
    SAMPLING_OPTIONS,
    UNGUIDED,
    CandidateScore,
    GenerationRequest,
    ModelSetup,
    SamplingSettings,
)
from spatialstudio.domain.samplers import sampler_title
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.fact_list import FactList
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

STATED_BY_SETUP = frozenset(each.name for each in fields(ModelSetup))
"""Options whose effective values the model setup states."""


def facts_of(run: OpenRun) -> tuple[tuple[str, str], ...]:
    """Return the generation settings of a run, as names and values."""
    facts: list[tuple[str, str]] = []
    if (request := run.request) is not None:
        guidance, prompt = request.sampling.guidance, request.scene.prompt
        is_unguided = needed_no_guidance(run)
        words = guidance_in_words(
            guidance.method_id, guidance.strength, is_left_unguided=is_unguided
        )
        if prompt.typed or prompt.template:
            facts.append((tr("Prompt"), prompt.as_typed))
        facts += [
            (tr("Seed"), str(request.sampling.seed)),
            (tr("Model"), request.model.id),
            (tr("Steps"), _steps_in_words(request)),
            (tr("Guidance"), words),
        ]
        if is_unguided:
            text = tr("needed no guidance; with 0 as Trial without guidance it is guided")
            facts.append((tr("Trial"), text))
        facts += _way_facts(request)
    if places := places_in_words(run):
        facts.append((tr("Sketched places"), "; ".join(places)))
    if run.candidates:
        facts.append((tr("Noise search"), _search_in_words(run.candidates)))
    if run.image is not None:
        height, width = run.image.shape[:2]
        size = tr("{width} × {height} pixels")  # noqa: RUF001 - a multiplication sign
        facts.append((tr("Size"), size.format(width=width, height=height)))
    if run.seconds is not None:
        time = tr("{seconds} s on {device}")
        text = time.format(seconds=f"{run.seconds:.1f}", device=run.device or "cpu")
        facts.append((tr("Time"), text))
    facts += setup_facts(run.setup)
    if request is not None:
        facts += option_facts(request.sampling)
    if run.folder is not None:
        facts.append((tr("Folder"), str(run.folder)))
    return tuple(facts)


def guidance_in_words(method_id: str, strength: float, *, is_left_unguided: bool = False) -> str:
    """Return the guidance of a run: "layout, step size 100".

    Args:
        method_id: Guidance method.
        strength: Guidance strength.
        is_left_unguided: Whether its trial is known to have needed no guidance.
    """
    if method_id == UNGUIDED or not strength:
        return tr("off")
    words = tr("{method}, step size {size:g}")
    if is_left_unguided:
        words = tr("{method}, step size {size:g}, not needed")
    return words.format(method=method_id, size=strength)


def option_facts(sampling: SamplingSettings) -> Iterator[tuple[str, str]]:
    """Yield the non-default options of a run that no other fact states."""
    for option in SAMPLING_OPTIONS:
        value = option.in_words(getattr(sampling, option.id))
        if value and option.id not in STATED_BY_SETUP:
            yield tr(option.label), value
    if sampling.loras:
        yield tr("LoRAs"), ", ".join(f"{each.name} {each.weight:g}" for each in sampling.loras)


def setup_facts(setup: ModelSetup) -> Iterator[tuple[str, str]]:
    """Yield the compute settings of the model, as far as recorded."""
    text = (
        (tr("Precision"), setup.dtype),
        (tr("Attention"), setup.attention),
        (tr("CPU threads"), str(setup.threads or "")),
        (tr("Weights"), setup.weights_sha256[:SHORT_HASH]),
    )
    return ((name, value) for name, value in text if value)


def _way_facts(request: GenerationRequest) -> Iterator[tuple[str, str]]:
    """Yield how a picture was drawn, if not in one piece from one noise."""
    if request.steering.is_on:
        yield tr("Steering"), tr("{count} particles").format(count=request.steering.particles)
    if request.repair is not None:
        text = tr("{left}, {top} to {right}, {bottom}")
        regions = (
            text.format(
                left=f"{each.x:.2f}",
                top=f"{each.y:.2f}",
                right=f"{each.right:.2f}",
                bottom=f"{each.bottom:.2f}",
            )
            for each in request.repair.regions
        )
        yield tr("Local repair"), "; ".join(regions)


def _search_in_words(candidates: Sequence[CandidateScore]) -> str:
    """Describe the size of a noise search and the score of its second verifier."""
    text = tr("best of {count}; {share} of its relations pass")
    return text.format(count=len(candidates), share=f"{candidates[0].second:.0%}")


def _steps_in_words(request: GenerationRequest) -> str:
    if not request.sampling.scheduler_id:
        return str(request.sampling.steps)
    sampler = sampler_title(request.sampling.scheduler_id)
    return tr("{steps} by {sampler}").format(steps=request.sampling.steps, sampler=sampler)


class DetailsPanel(Panel):
    """Shows seed, model, time and folder of the open run."""

    title = "Details"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._waiting = TextLabel(tr("Seed, time and folder of the open run."), Tone.MUTED)
        self._facts = FactList()
        self._clock = VisibleFrameClock(self._draw, self)
        column(self._waiting, self._facts, within=self)

    def handle(self, event: object) -> None:
        """Follow the run."""
        match event:
            case RunChanged():
                self._clock.request()

    def _draw(self) -> None:
        if (run := self._session.run) is not None:
            self._waiting.hide()
            self._facts.show_facts(facts_of(run))
