"""Seconds per picture in earlier benchmarks, by model, steps and guidance, for estimates."""

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import fmean

from spatialstudio.application.benchmark.benchmarks import OpenPlan
from spatialstudio.application.benchmark.runner import ItemFiles
from spatialstudio.application.run.estimates import kind_of
from spatialstudio.domain.benchmark_plan import PlanEstimate
from spatialstudio.domain.derived_requests import candidate_count, with_savings
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.refinement import RefineRules
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited, read_regular

TIMES_FILE = "benchmark_times.json"
"""In the cache."""
PICTURES = 50
"""Pictures of a method that its time is measured on."""


def cost_key(request: GenerationRequest, refine: RefineRules | None) -> str:
    """Return the settings that determine the time of a picture, in words.

    Args:
        request: One of the requests of a method.
        refine: Rules of a refined method; None for others.
    """
    sampling = request.sampling
    guidance = sampling.guidance
    method = f"{guidance.method_id} {guidance.inner_updates}" if guidance.is_on else "none"
    particles = with_savings(request).steering.particles
    return (
        f"{kind_of(request)}, {sampling.steps} steps, {method}, "
        f"{candidate_count(request)} candidates, {particles} particles, "
        f"{refine.rounds if refine else 1} rounds"
    )


def read_times(cache: Path) -> Mapping[str, float]:
    """Return seconds per picture by ``cost_key``; none if the file is missing or damaged."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        plain = parse_limited(read_regular(cache / TIMES_FILE, MEBIBYTE))
        return {str(key): float(seconds) for key, seconds in plain.items()}
    return {}


def learn_times(items: ItemFiles, cache: Path) -> None:
    """Store the mean time of drawing and judging a picture of each method that has drawn some."""
    times = dict(read_times(cache))
    for name, key in _keys(items.opened).items():
        own = (item for item in items.opened.drawable if item.method.name == name)
        records = filter(None, (items.store.item(item.key) for item in own))
        with suppress(KeyError, TypeError, ValueError):  # a damaged record, or none
            times[key] = fmean(
                float(record["seconds"]) + float(record.get("judging_seconds") or 0.0)
                for record in islice(records, PICTURES)
            )
    with suppress(StoreError):  # estimates can be learned again
        items.store.files.write(cache / TIMES_FILE, json.dumps(times).encode())


def expected_seconds(opened: OpenPlan, times: Mapping[str, float]) -> Mapping[str, float]:
    """Return the expected seconds per picture by method; methods that were never drawn lack."""
    return {name: times[key] for name, key in _keys(opened).items() if key in times}


def with_times(estimate: PlanEstimate, opened: OpenPlan, cache: Path) -> PlanEstimate:
    """Return an estimate whose unknown time is that of earlier benchmarks, if all methods have one.

    Args:
        estimate: The estimate of a plan.
        opened: The plan.
        cache: Folder of the stored times.
    """
    known = expected_seconds(opened, read_times(cache))
    pictures = Counter(item.method.name for item in opened.drawable)
    if estimate.seconds is not None or not pictures.keys() <= known.keys():
        return estimate
    return replace(estimate, seconds=sum(known[name] * count for name, count in pictures.items()))


def _keys(opened: OpenPlan) -> Mapping[str, str]:
    """Return the ``cost_key`` of each method that can draw."""
    rules = {method.name: method.refine for method in opened.plan.methods}
    return {name: cost_key(request, rules[name]) for name, request in opened.examples.items()}
