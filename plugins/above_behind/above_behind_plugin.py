"""Adds the relation "above and behind", and its inverse.

Where the ground is visible, objects farther away appear higher in the image: a tower above and
behind a house. One claim compares height, the other depth, so its evaluation needs a depth model.
"""

from spatialstudio.plugin_api import API_VERSION, Axis, AxisClaim, Plugin, RelationType, Shape

ABOVE_BEHIND = RelationType(
    id="above_behind",
    phrase="above and behind",
    shape=Shape.ORDER,
    claims=(
        AxisClaim(axis=Axis.Y, subject_first=True),
        AxisClaim(axis=Axis.DEPTH, subject_first=False),
    ),
    inverse_id="below_in_front",
    words=("behind and above", "rising behind"),
)
BELOW_IN_FRONT = RelationType(
    id="below_in_front",
    phrase="below and in front of",
    shape=Shape.ORDER,
    claims=(
        AxisClaim(axis=Axis.Y, subject_first=False),
        AxisClaim(axis=Axis.DEPTH, subject_first=True),
    ),
    inverse_id="above_behind",
    words=("in front of and below",),
)

PLUGIN = Plugin(
    name="Above and behind",
    api_version=API_VERSION,
    relation_types=(ABOVE_BEHIND, BELOW_IN_FRONT),
)
