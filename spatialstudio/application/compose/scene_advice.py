"""Stage 1: contradictions and redundancies of a scene, with suggested fixes."""

from enum import Enum

from spatialstudio.application.compose.read_prompt import with_relation_removed
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import RelationId, SceneGraph, TextSpan
from spatialstudio.science.scenes.consistency import (
    Contradiction,
    Redundancy,
    contradictions_of,
    redundancies_of,
)


class AdviceKind(Enum):
    """Severity; the value is the displayed word."""

    CONTRADICTION = "contradiction"
    """No image can satisfy the relations."""
    REDUNDANCY = "redundancy"
    """Harmless redundancy."""


@frozen
class Advice:
    """A problem of a scene. Created by ``advice_on`` only.

    Attributes:
        kind: Severity.
        message: One sentence for the user.
        relation_ids: The relations concerned.
        spans: Spans of the relations in the prompt; none for relations added by hand.
        fix: Label of the button that applies the fix.
        leaves_out: The relation that the fix removes.
    """

    kind: AdviceKind
    message: str
    relation_ids: tuple[RelationId, ...]
    spans: tuple[TextSpan, ...]
    fix: str
    leaves_out: RelationId


def advice_on(scene: SceneGraph) -> tuple[Advice, ...]:
    """List the contradictions, then the redundancies."""
    return (
        *(
            _advice(AdviceKind.CONTRADICTION, found, found.relation_ids)
            for found in contradictions_of(scene)
        ),
        *(
            _advice(AdviceKind.REDUNDANCY, found, (found.relation_id,))
            for found in redundancies_of(scene)
        ),
    )


def follow(advice: Advice, scene: SceneGraph) -> SceneGraph:
    """Apply the fix of an advice; the prompt is rewritten."""
    return with_relation_removed(scene, advice.leaves_out)


def _advice(
    kind: AdviceKind, found: Contradiction | Redundancy, concerned: tuple[RelationId, ...]
) -> Advice:
    return Advice(
        kind=kind,
        message=found.message,
        relation_ids=concerned,
        spans=found.spans,
        fix=found.fix.message,
        leaves_out=found.fix.relation_id,
    )
