from dataclasses import replace

import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.compose.compare_readings import (
    Offer,
    accept,
    compare_readings,
    is_typed_on,
    keep_taken_up,
    not_dismissed,
)
from spatialstudio.application.compose.read_prompt import with_relation_type
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BEHIND,
    BELOW,
    BY_HAND,
    LEFT_OF,
    Basis,
    MentionId,
    Note,
    ObjectMention,
    Prompt,
    Relation,
    RelationId,
    TextSpan,
)

extractor = GrammarExtractor(resources_folder() / "prompts")


def read(text):
    return extractor.extract(Prompt(text=text))


def later(shown, *relations, mentions=()):
    """A reading of the same prompt by a language model, with these (subject, type, object)."""
    return replace(
        shown,
        extractor_id="llm",
        notes=(Note(message="Read again."),),
        mentions=(*shown.mentions, *mentions),
        relations=tuple(
            Relation(
                id=RelationId(f"r{number}"),
                type=relation_type,
                subject=MentionId(subject),
                object=MentionId(thing),
                span=TextSpan(start=0, stop=1),
            )
            for number, (subject, relation_type, thing) in enumerate(relations, 1)
        ),
    )


@pytest.fixture
def shown():
    return read("a cat above a dog, a car")


@pytest.mark.parametrize("claim", [("m1", ABOVE, "m2"), ("m2", BELOW, "m1")])
def test_a_reading_that_agrees_replaces_the_first(shown, claim):
    compared = compare_readings(shown, later(shown, claim))
    assert not compared.offers
    assert compared.scene.extractor_id == "llm"
    assert compared.scene.relations == shown.relations
    assert [note.message for note in compared.scene.notes] == ["Read again."]


def test_a_diagonal_agrees_with_its_parts():
    shown = read("a cat above and to the left of a dog")
    parts = later(shown, ("m1", LEFT_OF, "m2"), ("m1", ABOVE, "m2"))
    assert shown.relations[0].type is ABOVE_LEFT_OF
    assert not compare_readings(shown, parts).offers


def test_differences_are_offered_and_the_scene_stays(shown):
    compared = compare_readings(shown, later(shown, ("m3", BEHIND, "m2")))
    assert compared.scene is shown
    assert [offer.message for offer in compared.offers] == [
        'It may also state "car behind dog".',
        'It may not state "cat above dog".',
    ]


def test_offers_are_accepted_one_by_one(shown):
    addition, removal = compare_readings(shown, later(shown, ("m3", BEHIND, "m2"))).offers
    both = accept(shown, addition)
    assert [both.sentence(each) for each in both.relations] == ["cat above dog", "car behind dog"]
    assert len({each.id for each in both.relations}) == 2
    only = accept(both, removal)
    assert [only.sentence(each) for each in only.relations] == ["car behind dog"]
    assert only.prompt == shown.prompt


def test_an_object_named_only_by_the_later_reading_comes_with_its_relation(shown):
    zorp = ObjectMention(
        id=MentionId("m9"), phrase="a", head="zorp", span=TextSpan(start=0, stop=1)
    )
    (offer, _) = compare_readings(
        shown, later(shown, ("m9", LEFT_OF, "m1"), mentions=(zorp,))
    ).offers
    scene = accept(shown, offer)
    assert [mention.head for mention in scene.mentions] == ["zorp", "cat", "dog", "car"]
    assert scene.mention(scene.relations[-1].subject).head == "zorp"


def test_relations_set_by_hand_are_never_disputed(shown):
    by_hand = replace(shown, relations=(replace(shown.relations[0], source=BY_HAND),))
    assert not compare_readings(by_hand, later(by_hand)).offers


def test_a_reading_of_another_text_is_ignored(shown):
    edited = with_relation_type(shown, "r1", LEFT_OF)
    compared = compare_readings(edited, later(shown, ("m3", BEHIND, "m2")))
    assert compared.scene is edited
    assert not compared.offers


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"is_implied": True}, 'It may imply "car behind dog" without stating it.'),
        ({"span": None}, '"car behind dog", which is not in the prompt.'),
        ({"is_unconfirmed": True}, '"car behind dog", which the grammar cannot confirm.'),
    ],
    ids=["implied", "unsaid", "unconfirmed"],
)
def test_an_offer_names_the_basis_of_its_relation(shown, changes, told):
    read_again = later(shown, ("m1", ABOVE, "m2"), ("m3", BEHIND, "m2"))
    *first, last = read_again.relations
    claimed = replace(read_again, relations=(*first, replace(last, **changes)))
    (offer,) = compare_readings(shown, claimed).offers
    assert told in offer.message
    assert accept(shown, offer).relations[-1].basis is replace(last, **changes).basis


def disputed(shown, claim):
    """A reading that agrees with the scene, and disputes it by one more claim."""
    read = later(shown, ("m1", ABOVE, "m2"))
    (relation,) = later(shown, claim).relations
    doubtful = replace(relation, span=TextSpan(start=6, stop=11), is_unconfirmed=True)
    return replace(read, disputed=(doubtful,))


def test_a_claim_that_the_words_contradict_is_offered_as_a_replacement(shown):
    compared = compare_readings(shown, disputed(shown, ("m1", BELOW, "m2")))
    assert compared.scene is shown
    (offer,) = compared.offers
    assert offer.message == (
        'The language model interprets "above" as "cat below dog"; '
        'the grammar finds "cat above dog".'
    )
    taken = accept(shown, offer)
    assert [taken.sentence(each) for each in taken.relations] == ["cat below dog"]
    assert taken.relations[0].basis is Basis.UNCONFIRMED


def test_an_accepted_disputed_claim_stays_while_typing_continues(shown):
    (offer,) = compare_readings(shown, disputed(shown, ("m1", BELOW, "m2"))).offers
    before = accept(shown, offer)
    scene = keep_taken_up(read("a cat above a dog, a car, at night"), before)
    assert [scene.sentence(each) for each in scene.relations] == ["cat below dog"]


def test_a_disputed_claim_never_removes_relations_set_by_hand(shown):
    by_hand = replace(shown, relations=(replace(shown.relations[0], source=BY_HAND),))
    (offer,) = compare_readings(by_hand, disputed(by_hand, ("m1", BELOW, "m2"))).offers
    assert offer.removed is None


def test_an_accepted_disputed_claim_is_not_offered_again(shown):
    later_scene = disputed(shown, ("m1", BELOW, "m2"))
    (offer,) = compare_readings(shown, later_scene).offers
    again = compare_readings(accept(shown, offer), replace(later_scene, relations=()))
    assert again.offers == ()


def taken_up(text, **changes):
    """A scene after its user took up that the car is behind the dog."""
    scene = read(text)
    dog, car = (next(m.id for m in scene.mentions if m.head == head) for head in ("dog", "car"))
    claimed = later(scene, (car, BEHIND, dog))
    relation = replace(claimed.relations[0], **changes)
    offers = compare_readings(scene, replace(claimed, relations=(relation,))).offers
    return accept(scene, next(offer for offer in offers if offer.added is not None))


@pytest.mark.parametrize(
    "text",
    [
        "a cat above a dog, a car, a lamp",
        "a photo of a cat above a dog, a car",
        "a cat above a red dog, a car",
    ],
    ids=["at the end", "at the beginning", "amid"],
)
def test_an_accepted_offer_stays_while_typing_continues(text):
    before = taken_up("a cat above a dog, a car", span=None)
    kept = keep_taken_up(read(text), before).relations[-1]
    assert (kept.type, kept.source) == (BEHIND, "llm")


@pytest.mark.parametrize(
    "text",
    ["a cat above a dog, a lamp", "a horse left of a bus with a dog and a car"],
    ids=["its thing has gone", "another prompt"],
)
def test_an_accepted_offer_is_removed_with_its_words(text):
    before = taken_up("a cat above a dog, a car", span=None)
    assert all(each.type is not BEHIND for each in keep_taken_up(read(text), before).relations)


def test_the_spans_of_an_accepted_offer_follow_the_text():
    before = taken_up("a cat above a dog, a car hides", span=TextSpan(start=25, stop=30))
    after = read("a small cat above a dog, a car hides")
    assert keep_taken_up(after, before).relations[-1].span.of(after.prompt.text) == "hides"


def test_an_accepted_offer_is_not_disputed():
    scene = taken_up("a cat above a dog, a car")
    offers = compare_readings(scene, later(scene)).offers
    assert [offer.message for offer in offers] == ['It may not state "cat above dog".']


@pytest.mark.parametrize(
    ("dismissed", "kept"),
    [([], ["a", "b", "a"]), (["a"], ["b", "a"]), (["a", "a"], ["b"]), (["c", "b"], ["a", "a"])],
)
def test_a_dismissed_offer_is_not_offered_again(dismissed, kept):
    offers = [Offer(message=message) for message in "aba"]
    assert [each.message for each in not_dismissed(offers, dismissed)] == kept


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ("a cat left of a dog", True),
        ("a cat left of a dog at night", True),
        ("a black cat left of a dog", True),
        ("two huge rocks under a bird", False),
        ("", False),
    ],
)
def test_a_prompt_with_a_small_edit_is_the_same_prompt(text, is_same):
    assert is_typed_on("a cat left of a dog", text) is is_same
