"""Converts a scene into what the prompt editor, chips, graph and sketch show."""

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath, QTransform

from spatialstudio.application.compose.edit_relations import why
from spatialstudio.application.compose.layouts import Places
from spatialstudio.application.compose.scene_advice import (
    Advice,
    AdviceKind,
    advice_on,
)
from spatialstudio.application.inspect.inspection import places_in_words, run_placements
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.run_settings import SketchedPlaces
from spatialstudio.domain.scene import (
    Axis,
    RelationId,
    RelationType,
    SceneGraph,
    Shape,
    relation_types,
)
from spatialstudio.domain.verdict import Mask
from spatialstudio.ui.compose.widgets.found_marks import FoundMark
from spatialstudio.ui.compose.widgets.layout_sketch import Blob, Link
from spatialstudio.ui.compose.widgets.prompt_editor import MarkedWord
from spatialstudio.ui.compose.widgets.relation_chip import ChipClaim
from spatialstudio.ui.compose.widgets.relation_chips import ChipRow
from spatialstudio.ui.compose.widgets.relation_wheel import Choice
from spatialstudio.ui.compose.widgets.word_handle import ThingWord
from spatialstudio.ui.widgets.array_images import mask_outline

FLANKED = 3
"""Number of objects in a "between" relation."""


def things_of(scene: SceneGraph) -> tuple[ThingWord, ...]:
    """Return the objects of a scene as words, in text order."""
    hues = scene.hues
    return tuple(
        ThingWord(mention.id, mention.phrase, hues[mention.id]) for mention in scene.mentions
    )


def marked_words(scene: SceneGraph) -> tuple[MarkedWord, ...]:
    """Return the spans of the prompt that name objects, including repeated mentions."""
    hues = scene.hues
    return tuple(
        MarkedWord(span.start, span.stop, hues[mention.id], mention.id)
        for mention in scene.mentions
        for span in (mention.span, *mention.named_again)
    )


def chip_rows(scene: SceneGraph) -> tuple[ChipRow, ...]:
    """Return the relations of a scene as chips, with their contradictions."""
    doubts = doubts_of(scene)
    offered = tuple(
        choice_of(kind)
        for kind in relation_types
        if kind.shape is not Shape.BETWEEN or len(scene.mentions) >= FLANKED
    )
    words = {thing.key: thing for thing in things_of(scene)}
    return tuple(
        ChipRow(
            relation.id,
            ChipClaim(
                ends=tuple(words[end] for end in relation.ends),
                chosen=choice_of(relation.type),
                inverse=choice_of(relation_types.inverse(relation.type)),
                weight=relation.weight,
                is_muted=relation.is_muted,
                doubt=doubts[relation.id].message if relation.id in doubts else "",
                fix=doubts[relation.id].fix if relation.id in doubts else "",
                why=why(scene, relation),
                is_first=relation is scene.relations[0],
                is_last=relation is scene.relations[-1],
            ),
            offered,
        )
        for relation in scene.relations
    )


def sketch_blobs(
    scene: SceneGraph, places: Places, held: SketchedPlaces | None = None
) -> tuple[Blob, ...]:
    """Return the objects of a scene as blobs at their positions; those with a target are held."""
    hues = scene.hues
    targets = {each.mention_id: each for each in held.targets} if held else {}
    return tuple(
        Blob(
            *(mention.id, mention.phrase, hues[mention.id], *places[mention.id]),
            is_held=(target := targets.get(mention.id)) is not None,
            size=target.size if target else None,
        )
        for mention in scene.mentions
    )


def found_marks(run: OpenRun | None) -> tuple[FoundMark, ...]:
    """Return where the objects of an evaluated run with sketched places are; else none."""
    if run is None or run.evaluation is None:
        return ()
    hues, perception = run.scene.hues, run.evaluation.perception
    marks = []
    for placement, words in zip(run_placements(run), places_in_words(run), strict=True):
        target, found, distance = placement.target, placement.found, placement.distance
        masks = perception.masks_of(target.mention_id)
        marks.append(
            FoundMark(
                key=target.mention_id,
                phrase=run.scene.mention(target.mention_id).phrase,
                hue=hues[target.mention_id],
                target=QPointF(*target.place),
                found=QPointF(found.x, found.y) if found else None,
                outline=_outline(masks[0] if masks else None, found.box if found else None),
                distance="" if distance is None else f"{distance * 100:.0f} %",
                sentence=f"{words}.",
            )
        )
    return tuple(marks)


def _outline(mask: Mask | None, box: tuple[float, float, float, float] | None) -> QPainterPath:
    """Return the border of a mask, else of a box, in fractions of the sides; empty for neither."""
    if mask is not None:
        height, width = mask.pixels.shape
        return QTransform.fromScale(1 / width, 1 / height).map(mask_outline(mask.pixels))
    path = QPainterPath()
    if box is not None:
        left, top, right, bottom = box
        path.addRect(left, top, right - left, bottom - top)
    return path


def sketch_links(scene: SceneGraph) -> tuple[Link, ...]:
    """Return the relations of a scene as lines between its objects."""
    doubts = doubts_of(scene)
    return tuple(
        Link(
            relation.id,
            relation.ends,
            relation.type.phrase,
            scene.sentence(relation),
            is_muted=relation.is_muted,
            is_doubtful=relation.id in doubts,
        )
        for relation in scene.relations
    )


def doubts_of(scene: SceneGraph) -> dict[RelationId, Advice]:
    """Return the contradictions, by each relation concerned."""
    grave = [each for each in advice_on(scene) if each.kind is AdviceKind.CONTRADICTION]
    return {name: advice for advice in reversed(grave) for name in advice.relation_ids}


def choice_of(kind: RelationType) -> Choice:
    """Return a relation type with its direction around the object."""
    if not kind.claims or kind.needs_depth:
        return Choice(kind.id, kind.phrase)
    sides = {Axis.X: 0, Axis.Y: 0}
    for claim in kind.claims:
        sides[claim.axis] = -1 if claim.subject_first else 1
    return Choice(kind.id, kind.phrase, (sides[Axis.X], sides[Axis.Y]))
