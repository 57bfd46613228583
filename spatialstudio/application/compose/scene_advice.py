"""Stage 1: what in a scene contradicts itself or is said twice, and the step that mends it."""

from enum import Enum

from spatialstudio.application.compose.read_prompt import with_relation_removed
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import TextSpan
from spatialstudio.domain.relation import RelationId, SceneGraph
from spatialstudio.science.scenes.consistency import (
    Contradiction,
    Redundancy,
    contradictions_of,
    redundancies_of,
)


class AdviceKind(Enum):
    """How grave it is; the value is the word for it."""

    CONTRADICTION = "contradiction"
    """No picture can show it."""
    REDUNDANCY = "redundancy"
    """Harmless, but said twice."""


@frozen
class Advice:
    """One finding about a scene. Made by ``advice_on`` only.

    Attributes:
        kind: How grave it is.
        message: One sentence for the user.
        relation_ids: The relations concerned.
        spans: Where the prompt says them; relations set by hand have none.
        fix: The step that mends it, in words for a button.
        leaves_out: The relation that goes with this step.
    """

    kind: AdviceKind
    message: str
    relation_ids: tuple[RelationId, ...]
    spans: tuple[TextSpan, ...]
    fix: str
    leaves_out: RelationId


def advice_on(scene: SceneGraph) -> tuple[Advice, ...]:
    """List what contradicts itself, then what is said twice."""
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
    """Take the step that mends a scene; its prompt is written anew."""
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
