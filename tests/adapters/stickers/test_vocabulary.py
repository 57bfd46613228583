import pytest

from spatialstudio.adapters.stickers.vocabulary import object_number, sticker_objects


def test_there_are_forty_objects():
    assert len({thing.name for thing in sticker_objects()}) == 40


def test_no_word_names_two_objects():
    words = [word for thing in sticker_objects() for word in thing.words]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    ("word", "name"),
    [("sofa", "couch"), ("Planes", "airplane"), ("fire  hydrants", "fire hydrant"), ("TV", "tv")],
)
def test_a_word_in_any_form_finds_its_object(word, name):
    assert sticker_objects()[object_number(word)].name == name


def test_a_strange_word_finds_nothing():
    assert object_number("xylophone") is None
