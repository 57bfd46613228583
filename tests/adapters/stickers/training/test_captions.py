from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.backgrounds import PLACES, Backdrop
from spatialstudio.adapters.stickers.training.captions import (
    CaptionSettings,
    holds,
    write_caption,
)
from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
)

ALWAYS_RELATED = CaptionSettings(
    empty_share=0.0, relation_share=1.0, opening_share=0.0, other_word_share=0.0
)


@pytest.mark.parametrize(
    ("relation", "truth"),
    [(LEFT_OF, True), (RIGHT_OF, False), (ABOVE, False), (BEHIND, False), (NEAR, False)],
    ids=lambda value: getattr(value, "id", value),
)
def test_a_caption_states_clear_relations_only(cat_left_of_car, relation, truth):
    cat, car = cat_left_of_car.placements
    assert holds(relation, cat, car, CaptionSettings()) is truth


def test_in_front_means_nearer(dog_in_front_of_house):
    house, dog = dog_in_front_of_house.placements
    assert holds(IN_FRONT_OF, dog, house, CaptionSettings())


def test_a_stated_relation_is_true(cat_left_of_car):
    texts = {
        write_caption(cat_left_of_car, np.random.default_rng(seed), ALWAYS_RELATED).text
        for seed in range(40)
    }
    assert {("left" in text, text.index("cat") < text.index("car")) for text in texts} == {
        (True, True),
        (False, False),
    }


def test_every_object_is_named(random_scenes):
    rng = np.random.default_rng(1)
    settings = CaptionSettings(empty_share=0.0)
    named = [set(write_caption(scene, rng, settings).owners) - {None} for scene in random_scenes]
    assert named == [set(range(len(scene.placements))) for scene in random_scenes]


def test_some_captions_are_empty(cat_left_of_car):
    rng = np.random.default_rng(2)
    captions = [write_caption(cat_left_of_car, rng) for _ in range(300)]
    assert np.mean([not caption.words for caption in captions]) == pytest.approx(0.1, abs=0.05)


@pytest.mark.parametrize("place", PLACES)
def test_a_place_is_named_at_the_end(cat_left_of_car, place):
    there = replace(cat_left_of_car, backdrop=Backdrop(seed=1, place=place))
    settings = CaptionSettings(empty_share=0.0, place_share=1.0, full_stop_share=0.0)
    assert write_caption(there, np.random.default_rng(3), settings).text.endswith(
        PLACES[place].phrases
    )


def test_most_captions_of_a_place_name_it(cat_left_of_car):
    rng = np.random.default_rng(4)
    scene = replace(cat_left_of_car, backdrop=Backdrop(seed=1, place="space"))
    texts = [write_caption(scene, rng).text for _ in range(300)]
    assert np.mean(["space" in text for text in texts]) == pytest.approx(0.72, abs=0.08)
