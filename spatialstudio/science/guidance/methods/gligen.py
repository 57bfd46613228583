"""GLIGEN: grounding layers that read the phrase and the box of each object.

    tokens: h_i = MLP(f_text(phrase_i), Fourier(box_i)), box_i = (left, top, right, bottom), [0, 1]
    layers: v <- v + tanh(gamma) SelfAttention([v, h]) on the first fraction beta of the steps

There is no loss and no gradient: the weights of the grounding layers are trained, so the method
needs a model that has them. Its strength is beta, the fraction of the steps with grounding.

Source: Li et al. 2023, arXiv:2301.07093; beta and the boxes of two objects as in SpatialBench-UC
(Rostane 2026, arXiv:2601.13462). Ours: boxes of more objects, and boxes of sketched places.
"""

from collections.abc import Mapping

from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.science.guidance.method import ANY_FAMILY, GLIGEN, NO_STEP, GuidanceMethod
from spatialstudio.science.scenes.relation_boxes import ShareBox, relation_boxes

SKETCHED_SIDE = 0.3
"""Side of the box of a place sketched without a size, fraction of the image side."""

MOST_OBJECTS = 30
"""Number of boxes that the grounding layers were trained with."""

_PUBLISHED = GuidanceSettings(strength=0.3, last_step=NO_STEP)

METHOD = GuidanceMethod(
    id="gligen",
    label="GLIGEN",
    description=(
        "Gives each object a box derived from the relations or the sketch. Needs a GLIGEN model. "
        "The strength is the fraction of steps with grounding."
    ),
    order=7,
    presets={
        Preset.RECOMMENDED: {ANY_FAMILY: _PUBLISHED},
        Preset.SPATIALBENCH_UC: {GLIGEN: _PUBLISHED},
    },
)


def grounded_boxes(scene: SceneGraph, settings: GuidanceSettings) -> Mapping[MentionId, ShareBox]:
    """Return the box of each object that is sketched or in a relation, in prompt order.

    Args:
        scene: Muted relations and relations in depth give no box.
        settings: A sketched place gives the box instead of the relations.
    """
    boxes = dict(relation_boxes([each for each in scene.relations if not each.is_muted]))
    for target in settings.targets if settings.is_sketched else ():
        half = (target.size or SKETCHED_SIDE) / 2
        boxes[target.mention_id] = ShareBox(
            left=max(target.x - half, 0.0),
            top=max(target.y - half, 0.0),
            right=min(target.x + half, 1.0),
            bottom=min(target.y + half, 1.0),
        )
    named = [mention.id for mention in scene.mentions if mention.id in boxes]
    return {mention_id: boxes[mention_id] for mention_id in named[:MOST_OBJECTS]}
