"""Estimates of time, memory and disk space, learned from earlier runs and stored on disk."""

import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

from spatialstudio.application.jobs.messages import MemoryEstimated, PictureJudged
from spatialstudio.domain.derived_requests import candidate_count, is_search, with_savings
from spatialstudio.domain.devices import MemoryEstimate
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationRequest,
    GenerationStarted,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited, read_regular
from spatialstudio.domain.samplers import SCALE_OFF, TWO_CALLS
from spatialstudio.science.guidance.methods import trial_of
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from spatialstudio.science.guidance.steering import particle_counts

WEIGHT = 0.4
"""Weight of the newest step in the moving mean."""
ENOUGH = 2
"""Number of steps before an estimate is given."""


class RemainingTime:
    """Learns the time per step, and estimates the remaining time of runs.

    Attributes:
        pace: Seconds per step, by the number of its guiding passes; empty until measured.
    """

    def __init__(self) -> None:
        self.pace: dict[int, float] = {}
        self._last: float | None = None
        self._seen = 0

    def start(self, now: float) -> None:
        """Start timing a run; earlier measurements are kept.

        Args:
            now: Time of a monotonic clock, seconds.
        """
        self._last, self._seen = now, 0

    def observe(self, event: StepEvent, now: float) -> None:
        """Update the pace with a completed step."""
        if self._last is not None:
            took, passes = now - self._last, event.guiding_passes
            if event.particles is not None:
                took /= event.particles.passes
            before = self.pace.get(passes, took)
            self.pace[passes] = before + WEIGHT * (took - before)
        self._last = now
        self._seen += 1

    def seconds_left(self, request: GenerationRequest, steps_done: int) -> float | None:
        """Return the remaining time of a run without evaluation; None if unknown."""
        if not self.pace or (self._seen < ENOUGH and steps_done):
            return None
        counts = particle_counts(request.steering, request.sampling.steps)
        return sum(
            counts[step] * self._step_seconds(request, step)
            for step in range(steps_done, request.sampling.steps)
        )

    def trial_seconds(self, request: GenerationRequest) -> float:
        """Return the time of the steps that are taken again if the picture needs guidance."""
        return trial_steps(request) * self._seconds_of(0) if self.pace else 0.0

    def _step_seconds(self, request: GenerationRequest, step: int) -> float:
        passes = request.sampling.guidance.inner_updates if is_guided(request, step) else 0
        return self._seconds_of(passes)

    def _seconds_of(self, passes: int) -> float:
        """Return the time of a step; that of the most similar step if it was not measured."""
        return self.pace[min(self.pace, key=lambda known: abs(known - passes))]


def is_guided(request: GenerationRequest, step: int) -> bool:
    """Return True if guidance may act on a step of a request."""
    guidance = request.sampling.guidance
    return guidance.is_on and GuidanceSchedule(guidance, request.sampling.steps).guides(step)


def trial_steps(request: GenerationRequest) -> int:
    """Return how many steps of a request are tried without guidance."""
    trial = trial_of(request)
    return 0 if trial is None else trial.last_step(request.sampling.steps) + 1


log = logging.getLogger(__name__)

Kind: TypeAlias = str
"""Key of runs with equal cost: model, size, savings, device, dtype, calls and rows per call."""

PACE, REST, DEVICE = "pace_s", "rest_s", "device"
"""Keys in the file: seconds per step, seconds after the last step, and device."""


@frozen
class RunEstimate:
    """Estimated cost of runs.

    Attributes:
        seconds: Total time of all runs and search candidates, at most: trials and all candidates
            included, loading not; None if unknown.
        memory_bytes: Peak memory of the most demanding run; None if unknown.
        disk_bytes: Stored attention maps of all runs; a run of unknown size counts as the largest.
        run_disk_bytes: Stored attention maps of the largest run.
        guided_steps: First and last step, from 0, on which guidance may act; None for none.
        device: Device of the last such run, else the requested one; empty if unknown.
        candidates: Largest number of candidates per image; 1 without a search.
        particles: Number of particles of a steered picture; 1 without steering.
        leaves_depth: Whether all relations concern depth, which only steering and search can
            control, and there is neither.
    """

    seconds: float | None = None
    memory_bytes: int | None = None
    disk_bytes: int = 0
    run_disk_bytes: int = 0
    guided_steps: tuple[int, int] | None = None
    device: str = ""
    candidates: int = 1
    particles: int = 1
    leaves_depth: bool = False


class RunEstimates:
    """Learns and estimates the cost of runs. Lives on the GUI thread.

    Args:
        request_of: Returns a request by id; None if it is unknown.
        ask: Requests a memory estimate from the engine, which is answered to ``apply_event``.
        clock: Monotonic clock, seconds.
    """

    def __init__(
        self,
        request_of: Callable[[RequestId], GenerationRequest | None],
        ask: Callable[[GenerationRequest], None],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._request_of = request_of
        self._ask = ask
        self._asked: set[tuple[Kind, bool, str]] = set()
        self._now = clock
        self._paces: dict[Kind, RemainingTime] = {}
        self._rests: defaultdict[Kind, float] = defaultdict(float)
        self._devices: defaultdict[Kind, str] = defaultdict(str)
        self._memory: dict[tuple[Kind, bool, str], MemoryEstimate] = {}
        self._last_step_s = 0.0
        self._is_repeating = False

    def apply_event(self, event: object) -> None:
        """Learn from an event of a run."""
        if isinstance(event, MemoryEstimated):
            self.learn(event.request, event.memory)
        if not isinstance(event, GenerationStarted | StepEvent | PictureJudged):
            return
        request = self._request_of(event.request_id)
        if request is None:
            return
        kind, now = kind_of(request), self._now()
        match event:
            case GenerationStarted(is_repeated=True):
                self._is_repeating = True
            case GenerationStarted(memory=memory, device=device):
                self._is_repeating = False
                self._pace(kind).start(now)
                self._devices[kind] = device
                self._asked.clear()  # free memory differs with another model loaded
                if memory is not None:
                    self.learn(request, memory)
            case StepEvent() if not self._is_repeating:
                self._pace(kind).observe(event, now)
                self._last_step_s = now
            case PictureJudged():
                self._rests[kind] = now - self._last_step_s

    def learn(self, request: GenerationRequest, memory: MemoryEstimate) -> None:
        """Store the memory estimate of a request."""
        self._memory[memory_key(request)] = memory

    def seconds_left(self, request: GenerationRequest, steps_done: int) -> float | None:
        """Return the remaining time of a run without evaluation; None if unknown."""
        return self._pace(kind_of(request)).seconds_left(request, steps_done)

    def estimate(self, requests: Sequence[GenerationRequest]) -> RunEstimate:
        """Return the total cost of consecutive runs.

        Args:
            requests: At least one request, baselines included.
        """
        for request in requests if _is_stored(requests[0]) else requests[:1]:
            self._ask_for(request)
        memory = [self._memory.get(memory_key(request)) for request in requests]
        known = [each for each in memory if each is not None]
        largest = max((each.disk_bytes for each in known), default=0)
        guided = [
            step for step in range(requests[0].sampling.steps) if is_guided(requests[0], step)
        ]
        return RunEstimate(
            seconds=self._seconds(requests),
            memory_bytes=max((each.peak_bytes for each in known), default=None),
            disk_bytes=sum(largest if each is None else each.disk_bytes for each in memory),
            run_disk_bytes=largest,
            guided_steps=(guided[0], guided[-1]) if guided else None,
            device=self._devices[kind_of(requests[0])] or requests[0].sampling.device,
            candidates=candidate_count(requests[0]),
            particles=with_savings(requests[0]).steering.particles,
            leaves_depth=_claims_depth_alone(requests[0]),
        )

    def _ask_for(self, request: GenerationRequest) -> None:
        key = memory_key(request)
        if key not in self._memory and key not in self._asked:
            self._asked.add(key)
            self._ask(request)

    def read(self, path: Path) -> None:
        """Read stored measurements; a file that is not readable is ignored."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            plain = parse_limited(read_regular(path, MEBIBYTE))
            for kind, learnt in plain.items():
                pace = {int(passes): float(each) for passes, each in learnt[PACE].items()}
                self._rests[kind] = float(learnt[REST])
                self._devices[kind] = str(learnt[DEVICE])
                self._pace(kind).pace = pace

    def write(self, path: Path) -> None:
        """Write the measurements; a failure is only logged, as they can be learned again."""
        learnt = {
            kind: {
                PACE: known.pace,
                REST: self._rests[kind],
                DEVICE: self._devices[kind],
            }
            for kind, known in self._paces.items()
            if known.pace
        }
        if not learnt:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f".{uuid4().hex}.part")
            draft.write_text(json.dumps(learnt), encoding="utf-8")
            draft.replace(path)
        except OSError as error:
            log.warning("Run times could not be saved: %s", error)

    def _seconds(self, requests: Sequence[GenerationRequest]) -> float | None:
        total = 0.0
        for request in requests:
            seconds = self.seconds_left(request, 0)
            if seconds is None:
                return None
            kind = kind_of(request)
            seconds += self._pace(kind).trial_seconds(request) + self._rests[kind]
            total += candidate_count(request) * seconds
        return total

    def _pace(self, kind: Kind) -> RemainingTime:
        return self._paces.setdefault(kind, RemainingTime())


def _claims_depth_alone(request: GenerationRequest) -> bool:
    if is_search(request) or with_savings(request).steering.is_on:
        return False
    claims = [relation for relation in request.scene.relations if not relation.is_muted]
    return bool(claims) and all(relation.type.needs_depth for relation in claims)


def kind_of(request: GenerationRequest) -> Kind:
    """Return the settings that determine the time of a step, as the key in the file."""
    size = f"{request.width or ''}x{request.height or ''}"
    savings = "+".join(saving.value for saving in request.sampling.savings)
    place = f"{request.sampling.device} {request.sampling.dtype}"
    stages = "two calls" if request.sampling.scheduler_id in TWO_CALLS else ""
    halves = "" if request.guidance_scale > SCALE_OFF else "one half"
    return f"{request.model.id} {size} {savings} {place} {stages} {halves}".strip()


def memory_key(request: GenerationRequest) -> tuple[Kind, bool, str]:
    """Return the settings that determine the memory of a run."""
    guided = sum(is_guided(request, step) for step in range(request.sampling.steps))
    kind = f"{kind_of(request)} {request.steering.particles}"
    words = len(request.scene.prompt.text.split())  # each has a stored map
    stored = f"{request.capture} {request.sampling.steps} {guided} {words}"
    return (kind, guided > 0, stored * _is_stored(request))


def _is_stored(request: GenerationRequest) -> bool:
    return request.capture.stores_words or request.capture.stores_places
