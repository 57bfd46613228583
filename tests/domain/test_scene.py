import pytest

from spatialstudio.domain.errors import PluginError
from spatialstudio.domain.scene import (
    ABOVE_LEFT_OF,
    BETWEEN,
    BUILT_IN_TYPES,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    Axis,
    AxisClaim,
    ObjectMention,
    Prompt,
    Relation,
    RelationTypes,
    SceneGraph,
    Shape,
    TextSpan,
    TokenSpan,
    relation_types,
)

EVERY_TYPE = pytest.mark.parametrize("relation_type", BUILT_IN_TYPES, ids=lambda known: known.id)


def relation(relation_type=LEFT_OF, subject="cat", other="dog", second_object=None):
    return Relation(
        id="r", type=relation_type, subject=subject, object=other, second_object=second_object
    )


def scene(*relations):
    mentions = tuple(
        ObjectMention(id=name, phrase=f"red {name}", head=name, span=TextSpan(start=0, stop=3))
        for name in ("cat", "dog", "cup")
    )
    return SceneGraph(
        prompt=Prompt(text="a test"), mentions=mentions, relations=relations, extractor_id="test"
    )


@EVERY_TYPE
def test_the_inverse_of_the_inverse_is_the_relation_itself(relation_type):
    inverse = relation_types.inverse(relation_type)
    assert relation_types.inverse(inverse) is relation_type


@EVERY_TYPE
def test_the_inverse_swaps_every_claim(relation_type):
    turned = {AxisClaim(claim.axis, not claim.subject_first) for claim in relation_type.claims}
    assert set(relation_types.inverse(relation_type).claims) == turned


@EVERY_TYPE
def test_only_order_relations_make_claims(relation_type):
    assert bool(relation_type.claims) is (relation_type.shape is Shape.ORDER)


@EVERY_TYPE
def test_only_symmetric_types_invert_to_themselves(relation_type):
    assert relation_type.is_symmetric is (relation_type.shape is not Shape.ORDER)


@pytest.mark.parametrize(
    ("relation_type", "axis"),
    [(LEFT_OF, Axis.X), (IN_FRONT_OF, Axis.DEPTH), (ABOVE_LEFT_OF, None), (NEAR, None)],
    ids=lambda value: getattr(value, "id", ""),
)
def test_a_type_has_an_axis_when_it_compares_along_one(relation_type, axis):
    assert relation_type.axis is axis


def test_only_depth_needs_depth():
    assert IN_FRONT_OF.needs_depth
    assert not ABOVE_LEFT_OF.needs_depth


def test_types_are_found_by_id_in_the_order_of_registration():
    types = RelationTypes([RIGHT_OF, LEFT_OF])
    assert list(types) == [RIGHT_OF, LEFT_OF]
    assert types[LEFT_OF.id] is LEFT_OF


def test_a_type_cannot_be_registered_twice():
    with pytest.raises(PluginError, match="twice"):
        list(RelationTypes([LEFT_OF, LEFT_OF]))


def test_an_unknown_type_lists_the_known_ones():
    with pytest.raises(PluginError) as caught:
        RelationTypes([LEFT_OF])["beyond"]
    assert LEFT_OF.id in caught.value.hint


@pytest.mark.parametrize(
    ("relation_type", "second_object"),
    [(BETWEEN, None), (LEFT_OF, "cup")],
    ids=["between without", "left with"],
)
def test_only_between_takes_a_second_object(relation_type, second_object):
    with pytest.raises(ValueError, match="second object"):
        relation(relation_type, second_object=second_object)


def test_the_subject_is_the_first_end():
    assert relation().ends == ("cat", "dog")
    assert relation(BETWEEN, second_object="cup").ends == ("cat", "dog", "cup")


def test_a_relation_names_mentions_of_its_scene():
    with pytest.raises(ValueError, match="not in the scene"):
        scene(relation(other="bird"))


def test_a_scene_finds_its_mentions():
    assert scene().mention("dog").phrase == "red dog"


def test_an_unknown_mention_is_rejected():
    with pytest.raises(KeyError):
        scene().mention("bird")


@pytest.mark.parametrize(
    ("claimed", "sentence"),
    [
        (relation(), "red cat to the left of red dog"),
        (relation(BETWEEN, second_object="cup"), "red cat between red dog and red cup"),
    ],
    ids=["left", "between"],
)
def test_a_relation_is_written_in_words(claimed, sentence):
    assert scene(claimed).sentence(claimed) == sentence


def scene_of_named(*phrases):
    mentions = tuple(
        ObjectMention(id=f"m{place}", phrase=name, head=name, span=TextSpan(start=0, stop=1))
        for place, name in enumerate(phrases)
    )
    return SceneGraph(
        prompt=Prompt(text="a test"), mentions=mentions, relations=(), extractor_id="test"
    )


def test_objects_of_equal_name_are_distinguished_by_position():
    named = scene_of_named("dog", "red dog", "Dog", "cat", "dog")
    names = [named.name(mention.id) for mention in named.mentions]
    assert names == ["first dog", "red dog", "second Dog", "cat", "third dog"]
    crowd = scene_of_named(*["dog"] * 13)
    assert [crowd.name(f"m{place}") for place in (11, 12)] == ["twelfth dog", "dog 13"]


def test_a_relation_of_equal_names_is_written_with_and_without_positions():
    twins = scene_of_named("dog", "dog")
    claim = relation(LEFT_OF, "m1", "m0")
    assert twins.sentence(claim) == "second dog to the left of first dog"
    assert twins.plain_sentence(claim) == "dog to the left of dog"


def test_relations_with_the_same_subject_have_different_colours():
    def claim(name, *ends):
        return Relation(id=name, type=LEFT_OF, subject=ends[0], object=ends[1])

    scene = SceneGraph(
        prompt=Prompt(text="a b c"),
        mentions=tuple(
            ObjectMention(id=f"m{n}", phrase=name, head=name, span=TextSpan(start=n, stop=n + 1))
            for n, name in enumerate("abc", start=1)
        ),
        relations=(
            claim("r1", "m1", "m2"),
            claim("r2", "m1", "m3"),
            claim("r3", "m2", "m1"),
            claim("r4", "m1", "m2"),
        ),
        extractor_id="fake",
    )
    assert scene.relation_hues == {"r1": 0, "r2": 2, "r3": 1, "r4": 0}


def test_a_span_extracts_its_characters():
    assert TextSpan(start=2, stop=5).of("a cat sat") == "cat"


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (3, 3), (4, 3)])
def test_a_span_is_never_empty_or_reversed(start, stop):
    with pytest.raises(ValueError, match="start < stop"):
        TextSpan(start=start, stop=stop)


def test_a_token_span_is_never_empty():
    with pytest.raises(ValueError, match="at least one"):
        TokenSpan(mention_id="cat", encoder_id="text_encoder", indices=())


@pytest.mark.parametrize(
    ("phrase", "head", "count"),
    [
        ("three birds", "bird", "three"),
        ("12 red cats", "cat", "12"),
        ("two dozen eggs", "egg", "two dozen"),
        ("Twenty-one dogs", "dog", "Twenty-one"),
        ("several", "several", ""),
        ("blue car", "car", ""),
        ("single bed", "single bed", ""),
    ],
)
def test_a_count_is_read_from_the_words_before_the_head(phrase, head, count):
    span = TextSpan(start=0, stop=len(phrase))
    assert ObjectMention(id="m1", phrase=phrase, head=head, span=span).count == count
