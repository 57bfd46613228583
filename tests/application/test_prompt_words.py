from spatialstudio.application.prompt_words import words_of
from tests.fakes import scene_of


def test_things_stand_among_the_other_words_in_the_order_of_the_text():
    words = words_of(scene_of("dog", "car"))
    assert [word.text for word in words] == [
        *("a", "photo", "of", "a", "dog", "to", "the", "left", "of", "a", "car"),
    ]
    assert [word.key for word in words if word.is_mention] == ["m1", "m2"]


def test_a_repeated_word_has_a_key_and_a_hue_of_its_own():
    words = [word for word in words_of(scene_of()) if word.text == "a"]
    assert len(words) == len({word.key for word in words}) == len({word.hue for word in words}) == 3


def test_the_words_of_a_thing_are_one():
    words = words_of(scene_of("red dog", "car"))
    assert "red dog" in [word.text for word in words]
    assert "red" not in [word.text for word in words]


def test_things_have_the_first_hues():
    assert [word.hue for word in words_of(scene_of()) if word.is_mention] == [0, 1]
