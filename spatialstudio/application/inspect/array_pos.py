"""PoS of arrays that a notebook passes, with their checks."""

from typing import Any

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.errors import EmptyMapError, RequestError
from spatialstudio.domain.scene import RelationType, Shape
from spatialstudio.domain.verdict import DepthMap
from spatialstudio.science.pos.superiority import relation_pos, relation_pos_on_masks

_SIDES = 2


def pos_of_arrays(given: list[Any], kind: RelationType, depth: Any) -> Any:
    """Return the PoS of a relation on maps or masks.

    Args:
        given: (..., H, W) each: subject, object and, for "between", second object.
        kind: Type of the relation.
        depth: (H, W), larger is farther; for depth relations.

    Raises:
        EmptyMapError: A map sums to 0.
        RequestError: The arrays differ in shape or contain invalid values, or the relation requires
            another number of arrays, or depth.
    """
    maps = _maps(given, kind)
    return _depth_pos(kind, maps, depth) if kind.needs_depth else relation_pos(kind, maps)


def _depth_pos(kind: RelationType, maps: list[Any], depth: Any) -> float:
    if depth is None or maps[0].ndim != _SIDES:
        raise RequestError(
            f'The relation "{kind.id}" needs masks and a depth map.',
            hint="Pass depth=..., (H, W), and masks of the same size.",
        )
    (distances,) = _checked([depth])
    masks = [each > 0 for each in maps]
    if distances.shape != masks[0].shape:
        raise RequestError("The depth map and the masks differ in size.", hint="Resize it.")
    farness = DepthMap(values=distances.astype(np.float32), estimator_id="")
    chance = relation_pos_on_masks(kind, masks, farness)
    if chance is None:
        raise EmptyMapError("A mask is empty.", hint="Check that the object was detected.")
    return chance


def _maps(given: list[Any], kind: RelationType) -> list[npt.NDArray[np.float64]]:
    wanted = _SIDES + (kind.shape is Shape.BETWEEN)
    if len(given) != wanted:
        raise RequestError(
            f'The relation "{kind.id}" compares {wanted} maps, not {len(given)}.',
            hint='Pass a second object for "between" only.',
        )
    return _checked(given)


def _checked(given: list[Any]) -> list[npt.NDArray[np.float64]]:
    arrays = [np.asarray(each, dtype=np.float64) for each in given]
    if any(each.ndim < _SIDES or each.shape != arrays[0].shape for each in arrays):
        raise RequestError(
            "The maps differ in size.", hint="Pass arrays (..., H, W) of the same size."
        )
    if not all(np.isfinite(each).all() and (each >= 0).all() for each in arrays):
        raise RequestError(
            "A map contains a negative or invalid value.",
            hint="Pass masks, or maps of finite numbers.",
        )
    return arrays
