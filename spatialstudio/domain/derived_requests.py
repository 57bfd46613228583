"""Requests made from a request, such as its baseline, and comparison of their settings."""

from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.domain.devices import MemoryFix, Saving
from spatialstudio.domain.generation import (
    CandidateScore,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    NoiseSearch,
    RequestId,
)
from spatialstudio.domain.steering import ONE_PARTICLE

FEW_CANDIDATES = 4
"""Number of candidates of a search that replaces guidance."""


def unguided(request: GenerationRequest, request_id: RequestId) -> GenerationRequest:
    """Return the baseline of a request: the same seed without guidance, steering and search."""
    plain = _alone(request)
    sampling = replace(plain.sampling, guidance=GuidanceSettings())
    return replace(plain, id=request_id, sampling=sampling, steering=ONE_PARTICLE, sweep=None)


def has_baseline(request: GenerationRequest) -> bool:
    """Return True if guidance or steering is expected to change the image."""
    used = with_savings(request)
    return used.sampling.guidance.is_on or used.steering.is_on


def is_baseline_of(plain: GenerationRequest, request: GenerationRequest) -> bool:
    """Return True if a request generates the baseline of another one, whatever is recorded."""
    if has_baseline(plain) or is_search(plain) or not _are_same(plain.model, request.model):
        return False
    own, wanted = (unguided(each, each.id) for each in (plain, request))
    return drawn_settings(replace(own, capture=wanted.capture)) == drawn_settings(wanted)


def drawn_settings(request: GenerationRequest) -> GenerationRequest:
    """Return a request without ids and sweep, and with the model's name only."""
    model = ModelRef(id=request.model.id)
    return replace(request, id=RequestId(""), parent_run_id="", sweep=None, model=model)


def candidate_count(request: GenerationRequest) -> int:
    """Return the maximum number of search candidates, set directly or by a memory saving."""
    return with_savings(request).search.candidates


def is_search(request: GenerationRequest) -> bool:
    """Return True if the request searches over more than one candidate."""
    return candidate_count(request) > 1


def best_request(
    request: GenerationRequest, candidates: Sequence[CandidateScore]
) -> GenerationRequest:
    """Return the request that reproduces the best image of a search alone, bit for bit.

    Args:
        request: The request of the search.
        candidates: Candidates of the search, best first; if empty, the request is returned as is.
    """
    if not candidates:
        return request
    alone = _alone(with_savings(request))
    return replace(alone, sampling=replace(alone.sampling, seed=candidates[0].seed))


def with_memory_fix(request: GenerationRequest, fix: MemoryFix) -> GenerationRequest:
    """Return a request with the savings and size of a fix in addition to its own."""
    height, width = fix.size or (request.height, request.width)
    savings = (*request.sampling.savings, *fix.savings)
    return replace(
        request, sampling=replace(request.sampling, savings=savings), height=height, width=width
    )


def with_savings(request: GenerationRequest) -> GenerationRequest:
    """Return a request with its savings applied to its settings, except the backend's savings.

    In a scene without relations a search has no objective, so none replaces the guidance.
    """
    guidance, search, steering = request.sampling.guidance, request.search, request.steering
    if Saving.CHECKPOINTING in request.sampling.savings:
        guidance = replace(guidance, checkpointing=True)
    if Saving.EVERY_SECOND_STEP in request.sampling.savings:
        guidance = replace(guidance, every=max(guidance.every, 2))
    if Saving.SEARCH in request.sampling.savings:
        guidance, steering = GuidanceSettings(), ONE_PARTICLE
        if request.scene.relations:
            search = replace(search, candidates=max(search.candidates, FEW_CANDIDATES))
    sampling = replace(request.sampling, guidance=guidance)
    return replace(request, sampling=sampling, search=search, steering=steering)


def _are_same(model: ModelRef, other: ModelRef) -> bool:
    """Return True if the revisions, and the hashes where both are known, are equal."""
    hashes = {model.sha256, other.sha256} - {""}
    return model.revision == other.revision and len(hashes) <= 1


def _alone(request: GenerationRequest) -> GenerationRequest:
    savings = tuple(saving for saving in request.sampling.savings if saving is not Saving.SEARCH)
    return replace(
        request, search=NoiseSearch(), sampling=replace(request.sampling, savings=savings)
    )
