"""Grounding DINO detector, with boxes assigned to names by their exact tokens.

Source: Liu et al. 2023, arXiv:2303.05499. The published code names a box by all tokens above a
threshold, which merges phrases ("dog a bear") and truncates names ("fire"). Here the tokens of
each name come from the tokenizer's offsets: a box belongs to the name with the most probable
token, whose probability is its score.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spatialstudio.adapters.perception.detector import (
    CandidateSettings,
    Finding,
    ModelDetector,
    box_within,
    open_vocabulary,
)
from spatialstudio.adapters.perception.lazy_model import (
    Loaded,
    ModelInUse,
    as_numpy,
    pixels_of,
)
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole
from spatialstudio.domain.scene import TextSpan

PUBLISHED = CandidateSettings(cut=0.35)
"""The box threshold of SpatialBench-UC and of PSE's evaluation."""


@frozen
class Query:
    """The text query for several heads.

    Attributes:
        text: "a dog. a fire hydrant."
        spans: Span of each head in the text, in order.
    """

    text: str
    spans: tuple[TextSpan, ...]


def build(
    card: PerceptionCard, settings: CandidateSettings = PUBLISHED
) -> ModelDetector[CandidateSettings]:
    """Create the detector of a model folder."""
    model = ModelInUse(card, "AutoModelForZeroShotObjectDetection", "AutoProcessor")
    return ModelDetector(model, settings, open_vocabulary(_instances))


def query_for(heads: Sequence[str]) -> Query:
    """Build the query for several heads, in the format of SpatialBench-UC."""
    text = ""
    spans = []
    for head in heads:
        start = len(text) + len("a ")
        text += f"a {head.lower()}. "
        spans.append(TextSpan(start=start, stop=start + len(head)))
    return Query(text=text.rstrip(), spans=tuple(spans))


def tokens_of(span: TextSpan, offsets: Sequence[tuple[int, int]]) -> list[int]:
    """Return the positions of the tokens that overlap a span."""
    return [
        position
        for position, (start, stop) in enumerate(offsets)
        if start < span.stop and stop > span.start
    ]


def scores_of_heads(
    token_scores: NDArray[np.float32], query: Query, offsets: Sequence[tuple[int, int]]
) -> NDArray[np.float32]:
    """Score every box for every head.

    Args:
        token_scores: (boxes, tokens), [0, 1].
        query: The query.
        offsets: Start and stop of each token's characters in the text; equal for special tokens.

    Returns:
        (boxes, heads), [0, 1]; 0 for a truncated head.
    """
    columns = [tokens_of(span, offsets) for span in query.spans]
    return np.stack(
        [
            token_scores[:, own].max(1) if own else np.zeros(len(token_scores), np.float32)
            for own in columns
        ],
        axis=1,
    )


def _instances(
    loaded: Loaded, image: RgbImage, heads: Sequence[str], _: CandidateSettings
) -> list[Finding]:
    query = query_for(heads)
    words = loaded.processor.tokenizer(
        query.text,
        return_offsets_mapping=True,
        return_token_type_ids=True,
        truncation=True,
        max_length=loaded.model.config.max_text_len,
        return_tensors="pt",
    )
    offsets = words.pop("offset_mapping")[0].tolist()
    answer = loaded(**words, **pixels_of(loaded.processor.image_processor, image))
    token_scores = as_numpy(answer.logits[0].sigmoid())[:, : len(offsets)]
    scores = scores_of_heads(token_scores, query, offsets)
    height, width = image.shape[:2]
    centers, sides = np.split(as_numpy(answer.pred_boxes[0]), 2, axis=1)
    edges = np.hstack([centers - sides / 2, centers + sides / 2]) * [width, height, width, height]
    return [
        Finding(
            head=heads[best],
            label=heads[best],
            score=float(scores[box, best]),
            box=box_within(edges[box], (height, width)),
        )
        for box, best in enumerate(scores.argmax(1))
    ]


FAMILY = ModelFamily(
    role=PerceptionRole.DETECTOR,
    architectures=("GroundingDinoForObjectDetection",),
    build=build,
)
