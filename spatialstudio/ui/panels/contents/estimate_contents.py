"""Says what a run will take, before it starts."""

from contextlib import suppress

from spatialstudio.application.run_estimates import RunEstimate
from spatialstudio.application.studio import Studio
from spatialstudio.domain.derived_requests import has_baseline, unguided
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import GenerationRequest, RequestId
from spatialstudio.domain.memory import size_in_words
from spatialstudio.domain.run_settings import RunSettings
from spatialstudio.ui.texts import tr

A_MINUTE = 60
TENTHS_BELOW_S = 10
BETWEEN_FACTS = " · "
BASELINE = RequestId("baseline")


def estimate_now(studio: Studio, settings: RunSettings | None) -> RunEstimate | None:
    """Return what pictures of the prompt as it stands will take; None where none can be drawn."""
    requests = list[GenerationRequest]()
    if settings is not None:
        with suppress(StudioError):  # it is told where it stands, and when one wants to draw
            requests += studio.requests(settings)
    if settings is None or not requests:
        return None
    if settings.with_baseline:
        requests += [unguided(each, BASELINE) for each in requests if has_baseline(each)]
    return studio.estimates.estimate(requests)


def estimate_in_words(estimate: RunEstimate, weights_bytes: int) -> str:
    """Return a line like "About 4 s · 310 MB · guided steps 1 to 8".

    Args:
        estimate: What is known.
        weights_bytes: Of the model; the least that it takes.
    """
    facts = [cost_in_words(estimate, weights_bytes)]
    if estimate.guided_steps is not None:
        first, last = (step + 1 for step in estimate.guided_steps)
        facts.append(tr("guided steps {first} to {last}").format(first=first, last=last))
    elif estimate.leaves_depth:
        facts.append(tr("not guided, as depth takes a search"))
    else:
        facts.append(tr("not guided"))
    if estimate.candidates > 1:
        facts.append(tr("best of {count}").format(count=estimate.candidates))
    return BETWEEN_FACTS.join(facts)


def cost_in_words(estimate: RunEstimate, weights_bytes: int) -> str:
    """Return time and memory alone: "About 4 s · 310 MB"."""
    if estimate.seconds is None:
        time = tr("Time not known yet")
    else:
        time = tr("About {time}").format(time=time_in_words(estimate.seconds))
    if estimate.memory_bytes is None:
        memory = tr("at least {size}").format(size=size_in_words(weights_bytes))
    else:
        memory = size_in_words(estimate.memory_bytes)
    return BETWEEN_FACTS.join((time, memory))


def time_in_words(seconds: float) -> str:
    """Return "4 s" or "3 min"."""
    if seconds < TENTHS_BELOW_S:
        return tr("{seconds} s").format(seconds=f"{max(seconds, 0.1):.1f}")
    if seconds < A_MINUTE:
        return tr("{seconds} s").format(seconds=round(seconds))
    return tr("{minutes} min").format(minutes=round(seconds / A_MINUTE))
