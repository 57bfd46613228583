import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.compose.write_prompt import (
    EITHER_SIDE,
    counterfactual,
    rewrite,
    write_prompt,
)
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.scene import (
    BUILT_IN_TYPES,
    MentionId,
    ObjectMention,
    Prompt,
    Relation,
    RelationId,
    SceneGraph,
    Shape,
    TextSpan,
)

THINGS = (
    ("cat", "cat"),
    ("another", "cat"),
    ("cup", "cup"),
    ("red cup", "cup"),
    ("other cup", "cup"),
    ("fire hydrant", "fire hydrant"),
    ("umbrella", "umbrella"),
    ("right-hand mirror", "mirror"),
    ("garden gnome", "garden gnome"),
    ("one", "unicorn"),
    ("the other", "unicorn"),
    ("second unicorn", "unicorn"),
    ("brown one", "bear"),
    ("the first", "bear"),
    ("bear", "bear"),
)
SEVERAL = (("two cars", "car"), ("green trees", "tree"))
GROUPS = (("two unicorns", "unicorn"), ("Three bears", "bear"), ("two green cups", "cup"))

extractor = GrammarExtractor(resources_folder() / "prompts")


def read(text):
    return extractor.extract(Prompt(text=text))


def claims(scene):
    """All that a scene says, whatever its ids: what is named where, and how it stands."""
    things = {mention.id: (mention.span.start, mention.phrase) for mention in scene.mentions}
    relations = [
        (relation.type.id, *(things[end] for end in relation.ends)) for relation in scene.relations
    ]
    return sorted(things.values()), sorted(relations)


def _flank(relation_type, mention_id):
    return mention_id if relation_type.shape is Shape.BETWEEN else None


@st.composite
def scenes(draw):
    """Scenes of three to seven things, many of them alike, and up to five relations.

    Groups stand in none: they are told of by their members.
    """
    names = draw(st.lists(st.sampled_from(THINGS + SEVERAL), min_size=3, max_size=7, unique=True))
    groups = draw(st.lists(st.sampled_from(GROUPS), unique=True))
    mentions = tuple(
        ObjectMention(
            id=MentionId(f"m{number}"),
            phrase=phrase,
            head=head,
            is_plural=(phrase, head) in SEVERAL + GROUPS,
            span=TextSpan(start=0, stop=1),
        )
        for number, (phrase, head) in enumerate([*names, *groups], 1)
    )
    ends = st.permutations([each.id for each in mentions[: len(names)]])
    kinds = st.sampled_from(BUILT_IN_TYPES)
    chosen = draw(st.lists(st.tuples(kinds, ends, st.booleans()), max_size=5))
    relations = tuple(
        Relation(
            id=RelationId(f"r{number}"),
            type=relation_type,
            subject=subject,
            object=thing,
            second_object=_flank(relation_type, thing if is_on_both_sides else second),
        )
        for number, (relation_type, (subject, thing, second, *_), is_on_both_sides) in enumerate(
            chosen, 1
        )
    )
    return SceneGraph(
        prompt=Prompt(text="?"), mentions=mentions, relations=relations, extractor_id="by hand"
    )


@settings(max_examples=3 * settings.default.max_examples)
@given(scenes())
def test_a_written_prompt_is_read_back_unchanged(scene):
    said = rewrite(scene)
    assert claims(read(said.prompt.text)) == claims(said)


@given(scenes())
def test_a_written_scene_is_equal_except_for_pronouns(scene):
    said = rewrite(scene)
    kept = {each.id: each.head for each in scene.mentions}
    assert {each.id: each.head for each in said.mentions} == kept
    assert [(each.type, each.ends) for each in said.relations] == [
        (each.type, each.ends) for each in scene.relations
    ]


@given(scenes())
def test_a_rewritten_scene_has_the_spans_of_its_words(scene):
    written = rewrite(scene)
    text = written.prompt.text
    assert all(mention.span.of(text) == mention.phrase for mention in written.mentions)
    assert all(
        relation.span.of(text) in {relation.type.phrase, EITHER_SIDE}
        for relation in written.relations
    )
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
        ("a bed with a lamp on either side", "a lamp on either side of a bed"),
        (
            "two cups, one to the left of the plate and the other to the right of it",
            "two cups, a cup to the left of a plate, a cup to the right of the plate",
        ),
        (
            "Two bears, one brown and one white, the brown one to the left of the white one",
            "Two bears, a brown bear to the left of a white bear",
        ),
        ("two red cups next to blue ones", "two red cups near blue cups"),
        (
            "Not a cat to the left of a dog, but a dog to the left of a cat",
            "a dog to the left of a cat, with a dog",
        ),
        ("a photo of a pair of lamps near a bed", "a photo of a pair of lamps near a bed"),
        ("a pair of lamps on both sides of a bed", "a bed between a pair of lamps"),
        (
            "a cat left of another cat, the other cat left of a third cat",
            "a cat to the left of a cat, the second cat to the left of a cat",
        ),
        (
            "a unicorn next to a unicorn, a dog between the two unicorns",
            "a unicorn near a unicorn, a dog between the first unicorn and the second unicorn",
        ),
        (
            "three cups, the first near a jar, the second on a tray, the last one under the first",
            "three cups, a cup near a jar, a cup above a tray, a cup below the first cup",
        ),
        (
            "two cups, the second cup left of the first cup",
            "two cups, a cup to the left of a cup",
        ),
        ("a first cup near a second cup", "a first cup near a second cup"),
        ("a cat on the other table", "a cat above a table"),
    ],
)
def test_a_prompt_is_written_in_plain_phrases(text, written):
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


@given(scenes())
def test_the_counterfactual_of_the_counterfactual_is_the_scene(scene):
    there_and_back = counterfactual(counterfactual(scene))
    assert [(each.id, each.type, each.ends) for each in there_and_back.relations] == [
        (each.id, each.type, each.ends) for each in scene.relations
    ]
