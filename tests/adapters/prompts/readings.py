"""How the grammar reads a prompt, in the words of the prompt."""

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.scene import Prompt

extractor = GrammarExtractor(resources_folder() / "prompts")


def read(text):
    return extractor.extract(Prompt(text=text))


def claims(text):
    """List subject, relation and objects of all that a prompt claims."""
    scene = read(text)
    return [
        (
            scene.mention(relation.subject).phrase,
            relation.type,
            *(scene.mention(end).phrase for end in relation.ends[1:]),
        )
        for relation in scene.relations
    ]


def notes(text):
    """List what the reader says of a prompt."""
    return [note.message for note in read(text).notes]
