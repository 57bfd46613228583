import pytest

from tests.adapters.prompts.readings import notes, read


def ends(text):
    """List who stands how to whom, by the number of the mention: 1 is named first."""
    return [
        (int(subject[1:]), relation.type.id, *(int(end[1:]) for end in others))
        for relation in read(text).relations
        for subject, *others in [relation.ends]
    ]


@pytest.mark.parametrize(
    "flanks",
    [
        "the two unicorns",
        "the unicorns",
        "both unicorns",
        "the first unicorn and the second unicorn",
        "the first and the second",
        "them",
    ],
)
def test_two_objects_named_separately_can_be_referred_to_together(flanks):
    text = f"a unicorn to the left of another unicorn, a cat between {flanks}"
    assert ends(text) == [(1, "left_of", 2), (3, "between", 1, 2)]


def test_the_same_name_twice_in_a_list_is_two_objects():
    text = "a unicorn to the left of a unicorn, a cat between the unicorn and the unicorn"
    assert ends(text)[1:] in ([(3, "between", 1, 2)], [(3, "between", 2, 1)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a cup left of a cup, the first cup above a plate", [(1, "above", 3)]),
        ("a cup left of a cup, the second cup above a plate", [(2, "above", 3)]),
        ("a red cup left of a blue cup. The second one is on a plate", [(2, "above", 3)]),
        ("a cup left of a cup left of a cup, the third cup above a plate", [(3, "above", 4)]),
        ("a cup left of a cup left of a cup, the last cup above a plate", [(3, "above", 4)]),
        ("a dog beside another dog, the other dog under a tree", [(2, "below", 3)]),
        ("a cup left of a red cup, the cup above a plate", [(1, "above", 3)]),
        ("a cup left of a red cup, the red cup above a plate", [(2, "above", 3)]),
        ("a red cup and a cup. The cups are on a table", [(1, "above", 3), (2, "above", 3)]),
        ("a cup, a cup and a cup. The two cups are on a table", [(2, "above", 4), (3, "above", 4)]),
        ("a cat left of a cat. The cat is above the cat", [(2, "above", 1)]),
    ],
)
def test_objects_of_one_name_are_distinguished(text, expected):
    assert ends(text)[-len(expected) :] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a cup left of a plate, the second cup above a spoon", [(3, "above", 4)]),
        ("a cup left of a cup, the third cup above a spoon", [(3, "above", 4)]),
        ("a cup left of a cup, the three cups above a spoon", [(3, "above", 4)]),
        ("two cups, the first cup left of the second cup", [(2, "left_of", 3)]),
        ("one unicorn to the left of the other unicorn", [(1, "left_of", 2)]),
    ],
)
def test_an_object_without_an_antecedent_is_new(text, expected):
    assert ends(text)[-1:] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("three cups, the first near a jar, the last one on the first", (4, "above", 2)),
        ("two cups, the first near a jar, the other below the first one", (4, "below", 2)),
        ("two cats, one above the other, a dog behind the other", (4, "behind", 3)),
        ("two cats, one above the other. Two red cats, one above the other", (5, "above", 6)),
    ],
)
def test_one_of_several_can_be_referred_to_again(text, expected):
    assert ends(text)[-1] == expected


def test_several_named_at_once_stay_one_mention():
    text = "two cups on a tray, a red cup near a lamp, a spoon between the two cups"
    assert ends(text)[-1] == (5, "between", 1, 1)
    assert not notes(text)


@pytest.mark.parametrize("article", ["a second", "an hour", "a mile"])
def test_a_measure_may_be_part_of_a_name(article):
    assert ends(f"a cat above {article} unicorn") == [(1, "above", 2)]
    assert not ends(f"a cat waiting over {article}, next to")


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("a cat left of a dog, the dog above a bird", {"dog": ["dog"]}),
        ("cat left of dog, dog left of bird", {"dog": ["dog"]}),
        ("a red cup left of a cup, the red cup on a table", {"red cup": ["red cup"]}),
        ("a cup left of a cup, the second cup above a plate", {"cup": ["second cup"]}),
        ("a cat left of a dog and above a bird", {}),
        ("a cat left of a dog, both near a bird", {}),
    ],
)
def test_repeated_mentions_keep_their_spans(text, again):
    found = {
        each.phrase: [span.of(text) for span in each.named_again]
        for each in read(text).mentions
        if each.named_again
    }
    assert found == again


def test_the_first_mention_is_no_back_reference():
    (dog,) = [each for each in read("a dog above a cat, the dog barks").mentions if each.id == "m1"]
    assert dog.span not in dog.named_again
