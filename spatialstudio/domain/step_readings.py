"""The two readings of a guided step, and which of them all steps of a run have."""

from collections.abc import Iterable

from spatialstudio.domain.attention import Moment
from spatialstudio.domain.generation import StepEvent


def moment_read(steps: Iterable[StepEvent], wanted: Moment) -> Moment | None:
    """Return the moment at which all of a run's steps can be shown, so that none are mixed.

    Args:
        steps: Of one run.
        wanted: The moment asked for.

    Returns:
        ``BEFORE`` where a guided step was captured before its updates alone; None where no step was
        guided, as all were read once.
    """
    guided = [event for event in steps if event.is_guided]
    if not guided:
        return None
    has_after = all(
        event.attention_after is not None if event.attention is not None else event.pos_after
        for event in guided
    )
    return wanted if has_after else Moment.BEFORE
