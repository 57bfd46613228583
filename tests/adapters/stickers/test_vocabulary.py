import pytest

from spatialstudio.adapters.stickers.vocabulary import object_number, sticker_objects


def test_there_are_seventy_two_objects():
    assert len({thing.name for thing in sticker_objects()}) == 72


@pytest.mark.parametrize(
    ("name", "number"), [("airplane", 0), ("zebra", 32), ("robot", 39), ("penguin", 71)]
)
def test_class_numbers_match_the_weights(name, number):
    assert object_number(name) == number


def test_each_word_names_one_object():
    words = [word for thing in sticker_objects() for word in thing.words]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("sofa", "couch"),
        ("Planes", "airplane"),
        ("fire  hydrants", "fire hydrant"),
        ("TV", "tv"),
        ("phones", "cell phone"),
    ],
)
def test_a_word_in_any_form_finds_its_object(word, name):
    assert sticker_objects()[object_number(word)].name == name


def test_an_unknown_word_finds_nothing():
    assert object_number("xylophone") is None
