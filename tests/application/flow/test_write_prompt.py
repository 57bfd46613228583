import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialstudio.adapters.extractors.grammar import GrammarExtractor
from spatialstudio.application.flow.write_prompt import counterfactual, rewrite, write_prompt
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.prompt import MentionId, ObjectMention, Prompt, TextSpan
from spatialstudio.domain.relation import (
    BUILT_IN_TYPES,
    Relation,
    RelationId,
    SceneGraph,
    Shape,
)

THINGS = ("cat", "red cup", "fire hydrant", "umbrella", "unicorn", "garden gnome")

extractor = GrammarExtractor(resources_folder() / "prompts")


def read(text):
    return extractor.extract(Prompt(text=text))


def claims(scene):
    """All that a scene says, whatever its ids and spans."""
    things = sorted(mention.phrase for mention in scene.mentions)
    return things, sorted(scene.sentence(relation) for relation in scene.relations)


@st.composite
def scenes(draw):
    """Scenes of three to six different things and up to four relations between them."""
    names = draw(st.lists(st.sampled_from(THINGS), min_size=3, max_size=6, unique=True))
    mentions = tuple(
        ObjectMention(
            id=MentionId(f"m{number}"), phrase=name, head=name, span=TextSpan(start=0, stop=1)
        )
        for number, name in enumerate(names, 1)
    )
    ends = st.permutations([mention.id for mention in mentions])
    chosen = draw(st.lists(st.tuples(st.sampled_from(BUILT_IN_TYPES), ends), max_size=4))
    relations = tuple(
        Relation(
            id=RelationId(f"r{number}"),
            type=relation_type,
            subject=subject,
            object=thing,
            second_object=second if relation_type.shape is Shape.BETWEEN else None,
        )
        for number, (relation_type, (subject, thing, second, *_)) in enumerate(chosen, 1)
    )
    return SceneGraph(
        prompt=Prompt(text="?"), mentions=mentions, relations=relations, extractor_id="by hand"
    )


@settings(deadline=None, max_examples=300)
@given(scenes())
def test_what_is_written_reads_the_same(scene):
    assert claims(read(write_prompt(scene))) == claims(scene)


@settings(deadline=None)
@given(scenes())
def test_a_rewritten_scene_knows_where_its_words_stand(scene):
    written = rewrite(scene)
    text = written.prompt.text
    assert all(mention.span.of(text) == mention.phrase for mention in written.mentions)
    assert all(relation.span.of(text) == relation.type.phrase for relation in written.relations)
    starts = [mention.span.start for mention in written.mentions]
    assert starts == sorted(starts)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("an umbrella left of a unicorn", "an umbrella to the left of a unicorn"),
        ("a cat above a dog and left of a lamp", "a cat above a dog and to the left of a lamp"),
        ("a cat above a dog. The dog is near a lamp.", "a cat above a dog, the dog near a lamp"),
        ("a cat, a dog and a lamp", "a cat, a dog and a lamp"),
        ("A photo of a cat on a table.", "A photo of a cat above a table"),
        ("two dogs hidden by an apple", "two dogs behind an apple"),
        (
            "Ghibli style, a cat on a table. Oil on canvas, 8k",
            "Ghibli style, a cat above a table. Oil on canvas, 8k",
        ),
        ("a glass of wine left of an old jar", "a glass of wine to the left of an old jar"),
        ("a cat between a dog and a car in a box", "a cat between a dog and a car, with a box"),
    ],
)
def test_a_prompt_is_written_plainly(text, written):
    assert write_prompt(read(text)) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            "A photo of a cake to the left of an old bed, 4k",
            "A photo of an old bed to the right of a cake, 4k",
        ),
        ("a cat above a dog and near a car", "a dog below a cat, a car near the cat"),
        ("a cat between a dog and a car", "a cat between a dog and a car"),
    ],
)
def test_the_counterfactual_swaps_roles_and_inverts_relations(text, written):
    assert counterfactual(read(text)).prompt.text == written


@settings(deadline=None)
@given(scenes())
def test_the_counterfactual_of_the_counterfactual_is_the_scene(scene):
    assert claims(counterfactual(counterfactual(scene))) == claims(scene)
