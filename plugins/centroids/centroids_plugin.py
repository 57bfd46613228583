"""Adds the metric "centroids": whether the masks' centroids satisfy the relation.

Metrics on boxes compare the centres of boxes; a tail or a shadow shifts those, but hardly the
centroid.
"""

import numpy as np

from spatialstudio.plugin_api import (
    API_VERSION,
    Axis,
    AxisClaim,
    Evaluation,
    MentionId,
    Metric,
    Perception,
    Plugin,
    Relation,
    SceneGraph,
)


def holds(relation: Relation, _scene: SceneGraph, evaluation: Evaluation, _: object) -> bool | None:
    """Return True if a 2D order relation holds; None for other relations, False without masks."""
    if not relation.type.is_order_in_plane:
        return None
    places = [_centroid_xy(end, evaluation.perception) for end in relation.ends]
    if places[0] is None or places[1] is None:
        return False
    return all(_is_met(claim, places[0], places[1]) for claim in relation.type.claims)


def _is_met(claim: AxisClaim, subject: tuple[float, float], other: tuple[float, float]) -> bool:
    place = 0 if claim.axis is Axis.X else 1
    first, second = (subject, other) if claim.subject_first else (other, subject)
    return first[place] < second[place]


def _centroid_xy(mention_id: MentionId, perception: Perception) -> tuple[float, float] | None:
    """Return the centroid of a mention's best mask, in pixels; None without a mask."""
    masks = perception.masks_of(mention_id)
    if not masks or not masks[0].pixels.any():
        return None
    rows, columns = np.nonzero(masks[0].pixels)
    return float(columns.mean()), float(rows.mean())


METRIC = Metric(
    id="centroids",
    label="Centroids",
    help="Whether the centres of mass of the masks stand as the relation claims.",
    of_relation=holds,
    is_yes_no=True,
)

PLUGIN = Plugin(name="Centroid accuracy", api_version=API_VERSION, metrics=(METRIC,))
