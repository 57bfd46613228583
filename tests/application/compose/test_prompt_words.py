from dataclasses import replace

from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.domain.scene import TextSpan
from tests.fakes import scene_of


def test_objects_and_other_words_are_in_the_order_of_the_text():
    words = words_of(scene_of("dog", "car"))
    assert [word.text for word in words] == [
        *("a", "photo", "of", "a", "dog", "to", "the", "left", "of", "a", "car"),
    ]
    assert [word.key for word in words if word.is_mention] == ["m1", "m2"]


def test_a_repeated_word_has_a_separate_key_and_hue():
    words = [word for word in words_of(scene_of()) if word.text == "a"]
    assert len(words) == len({word.key for word in words}) == len({word.hue for word in words}) == 3


def test_the_words_of_an_object_are_one_entry():
    words = words_of(scene_of("red dog", "car"))
    assert "red dog" in [word.text for word in words]
    assert "red" not in [word.text for word in words]


def test_objects_have_the_first_hues():
    assert [word.hue for word in words_of(scene_of()) if word.is_mention] == [0, 1]


def test_a_repeated_object_is_a_separate_entry_in_the_same_hue():
    scene = scene_of()
    text = f"{scene.prompt.text}, the car above a lamp"
    again = TextSpan(start=text.rindex("car"), stop=text.rindex("car") + 3)
    dog, car = scene.mentions
    scene = replace(
        scene,
        prompt=replace(scene.prompt, text=text),
        mentions=(dog, replace(car, named_again=(again,))),
    )
    cars = [word for word in words_of(scene) if word.text == "car"]
    assert [(word.is_mention, word.is_named_again) for word in cars] == [
        *((True, False), (False, True)),
    ]
    assert len({word.key for word in cars}) == 2
    assert {word.hue for word in cars} == {1}


def test_an_object_keeps_its_hue_when_the_order_changes():
    scene = scene_of()
    turned = replace(scene, mentions=scene.mentions[::-1])
    assert {word.key: word.hue for word in words_of(turned) if word.is_mention} == {
        "m1": 0,
        "m2": 1,
    }
