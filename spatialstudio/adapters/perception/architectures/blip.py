"""BLIP question answerers of local folders and of the Hugging Face cache."""

from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole, QuestionAnswerer


def build(card: PerceptionCard) -> QuestionAnswerer:
    """Create the answerer of a model folder."""
    from spatialstudio.adapters.models.blip import BlipAnswerer

    return BlipAnswerer(lambda: card.folder, card.ref.id)


FAMILY = ModelFamily(
    role=PerceptionRole.ANSWERER,
    architectures=("BlipForQuestionAnswering",),
    build=build,
)
