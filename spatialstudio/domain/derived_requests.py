"""Requests made of others: the baseline, the best of a search, and those that take less memory."""

from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.domain.generation import (
    CandidateScore,
    GenerationRequest,
    GuidanceSettings,
    NoiseSearch,
    RequestId,
)
from spatialstudio.domain.memory import MemoryFix, Saving

FEW_CANDIDATES = 4
"""How many pictures a search draws that stands in for guidance."""


def unguided(request: GenerationRequest, request_id: RequestId) -> GenerationRequest:
    """Return the same request without guidance and search: the baseline of the same seed."""
    plain = replace(_alone(request), guidance=GuidanceSettings())
    return replace(plain, id=request_id, sweep=None)


def has_baseline(request: GenerationRequest) -> bool:
    """Tell whether the picture would be another without guidance, as far as can be foreseen."""
    return spared(request).guidance.strength > 0


def tries(request: GenerationRequest) -> int:
    """Return how many pictures may be drawn to choose from, as asked for or to save memory."""
    return spared(request).search.candidates


def is_search(request: GenerationRequest) -> bool:
    """Tell whether there are pictures to choose from."""
    return tries(request) > 1


def of_best(request: GenerationRequest, candidates: Sequence[CandidateScore]) -> GenerationRequest:
    """Return what draws the picture that a search kept, alone and the same to the bit.

    Args:
        request: What was asked for.
        candidates: Of the search, best first; empty without one, and the request stays as it is.
    """
    if not candidates:
        return request
    return replace(_alone(spared(request)), seed=candidates[0].seed)


def fitted(request: GenerationRequest, fix: MemoryFix) -> GenerationRequest:
    """Return a request that gives up what a fix says, beside what it gives up already."""
    height, width = fix.size or (request.height, request.width)
    savings = (*request.savings, *fix.savings)
    return replace(request, savings=savings, height=height, width=width)


def spared(request: GenerationRequest) -> GenerationRequest:
    """Return a request whose settings follow its savings; those of the backend stay with it.

    A scene without relations gives a search nothing to go by, so none stands in for its guidance.
    """
    guidance, search = request.guidance, request.search
    if Saving.CHECKPOINTING in request.savings:
        guidance = replace(guidance, checkpointing=True)
    if Saving.EVERY_SECOND_STEP in request.savings:
        guidance = replace(guidance, every=max(guidance.every, 2))
    if Saving.SEARCH in request.savings:
        guidance = GuidanceSettings()
        if request.scene.relations:
            search = replace(search, candidates=max(search.candidates, FEW_CANDIDATES))
    return replace(request, guidance=guidance, search=search)


def _alone(request: GenerationRequest) -> GenerationRequest:
    """Return a request of a single picture, whatever it would be chosen from."""
    savings = tuple(saving for saving in request.savings if saving is not Saving.SEARCH)
    return replace(request, search=NoiseSearch(), savings=savings)
