"""Monocular depth estimation with Depth Anything and DPT.

Sources: Yang et al. 2024, arXiv:2406.09414; Ranftl et al. 2021, arXiv:2103.13413. Both predict
inverse depth, larger is nearer, unless trained for metric depth; here larger is always farther.
"""

import numpy as np
from numpy.typing import NDArray

from spatialstudio.adapters.perception.detector import resized_smoothly
from spatialstudio.adapters.perception.lazy_model import (
    ModelInUse,
    as_numpy,
    pixels_of,
)
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole
from spatialstudio.domain.verdict import DepthMap

IN_METRES = "metric"


def build(card: PerceptionCard) -> "MonocularDepth":
    """Create the depth estimator of a model folder."""
    return MonocularDepth(card)


class MonocularDepth:
    """A depth estimator; implements ``DepthEstimator``."""

    def __init__(self, card: PerceptionCard) -> None:
        self._model = ModelInUse(card, "AutoModelForDepthEstimation", "AutoImageProcessor")
        self.id = self._model.id

    @property
    def signature(self) -> str:
        """Model, weights and settings, which determine the output for a picture."""
        return self._model.signature(None)

    def estimate(self, image: RgbImage) -> DepthMap:
        """Estimate depth, larger is farther; see ``DepthEstimator``."""
        with self._model.looking() as loaded:
            answer = loaded(**pixels_of(loaded.processor, image))
            grid = as_numpy(answer.predicted_depth[0])
            config = loaded.model.config
            in_metres = getattr(config, "depth_estimation_type", "") == IN_METRES
        values = resized_smoothly(grid, image.shape[:2])
        return DepthMap(
            values=values if in_metres else farther_from_nearer(values), estimator_id=self.id
        )


def farther_from_nearer(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Invert a map where larger is nearer; the nearest pixel becomes 0."""
    farther: NDArray[np.float32] = values.max() - values
    return farther


FAMILY = ModelFamily(
    role=PerceptionRole.DEPTH,
    architectures=(
        "DepthAnythingForDepthEstimation",
        "DPTForDepthEstimation",
    ),
    build=build,
)
