import numpy as np
import pytest

from spatialstudio.adapters.stickers.rendered_scenes import StickerScenes
from spatialstudio.domain.known_scene import KnownObject, KnownScene
from spatialstudio.domain.multiple_choice import COUNTING, SUB_DOMAINS
from spatialstudio.science.checker.instances import Region
from spatialstudio.science.questions.choice_answers import ShownObjects, answer
from spatialstudio.science.questions.perception_answers import CannotTellError
from spatialstudio.science.questions.rendered_questions import questions_of_scene
from spatialstudio.science.questions.spatialgeneval import read_set, set_row

SIDE = 100
NAMES = ("dog", "cat", "car", "bus", "tree", "cup", "ball", "star")


def thing(name, box, whole=None, **facts):
    """An object whose visible part fills a box: left, top, right, bottom."""
    masks = []
    for left, top, right, bottom in (box, whole or box):
        mask = np.zeros((SIDE, SIDE), np.bool_)
        mask[top:bottom, left:right] = True
        masks.append(mask)
    return KnownObject(name=name, plural=f"{name}s", visible=masks[0], whole=masks[1], **facts)


def asked(*objects, seed=0):
    """Return the right option of each question on a scene, by its stem."""
    scene = KnownScene(
        image=np.zeros((SIDE, SIDE, 3), np.uint8), objects=objects, prompt="", kind="flat"
    )
    made = questions_of_scene(scene, "1", NAMES, np.random.default_rng(seed))
    return {each.stem: dict(each.options)[each.key] for each in made.questions}


def test_position_layout_size_and_number_follow_from_the_masks():
    found = asked(thing("dog", (0, 5, 20, 25)), thing("cat", (60, 55, 90, 85)))
    assert found["Which of these objects takes up the most space in the picture?"] == "cat"
    assert found["How many dogs are in the picture?"] == "1"
    part = {"dog": "in the upper left", "cat": "in the lower right"}
    (stem,) = [each for each in found if each.startswith("In which part")]
    assert found[stem] == next(text for name, text in part.items() if name in stem)
    assert not any(each.startswith("Where is") for each in found)  # they lie diagonally


def test_a_position_is_asked_where_one_axis_dominates():
    found = asked(thing("dog", (0, 40, 20, 60)), thing("cat", (60, 42, 90, 62)))
    expected = {
        "Where is the dog in relation to the cat?": "to the left of it",
        "Where is the cat in relation to the dog?": "to the right of it",
    }
    (stem,) = [each for each in found if each.startswith("Where is")]
    assert found[stem] == expected[stem]


def test_order_and_proximity_need_three_objects():
    found = asked(
        thing("dog", (0, 0, 10, 10)), thing("cat", (30, 0, 40, 10)), thing("car", (85, 0, 95, 10))
    )
    assert found["In which order are these objects from left to right?"] == "dog, cat, car"
    closest = [each for each in found if "closest to the" in each]
    assert found[closest[0]] in {"cat", "dog"}


def test_a_hidden_object_names_what_hides_it():
    found = asked(thing("dog", (0, 0, 30, 20), whole=(0, 0, 30, 30)), thing("cat", (0, 20, 40, 50)))
    hiding = {stem: right for stem, right in found.items() if "hides" in stem}
    assert hiding == {"Which of these objects partly hides the dog?": "cat"}


def test_nothing_hides_an_object_that_is_apart():
    found = asked(thing("dog", (0, 0, 30, 30)), thing("cat", (60, 60, 90, 90)))
    assert "no object" in found.values()


def test_depth_and_orientation_are_asked_where_they_are_defined():
    near = thing("dog", (0, 40, 40, 80), depth=0.2, faces_left=True)
    far = thing("cat", (60, 20, 80, 40), depth=0.7)
    found = asked(near, far)
    assert found["Which of these objects is nearest to the viewer?"] == "dog"
    assert found["Which way does the dog face?"] == "to the left"
    mirrored = thing("dog", (0, 40, 40, 80), faces_left=False)
    assert asked(mirrored, thing("cat", (60, 20, 80, 40)))["Which way does the dog face?"] == (
        "to the right"
    )


def test_repeated_objects_are_counted_and_never_named_alone():
    found = asked(
        *(thing("dog", (left, 0, left + 20, 20)) for left in (0, 35, 70)),
        thing("cat", (40, 60, 60, 80)),
    )
    assert found["How many dogs are in the picture?"] == "3"
    assert not any("the dog" in stem for stem in found)


@pytest.fixture(scope="module")
def rendered():
    renderer = StickerScenes()
    return [
        (
            scene,
            questions_of_scene(scene, f"{seed:06}", renderer.names, np.random.default_rng(seed)),
        )
        for seed in range(60)
        for scene in [renderer.render(seed)]
    ]


def test_rendered_questions_have_the_form_of_the_data(rendered):
    for _, made in rendered:
        assert read_set(set_row(made)) == made
        assert set(made.types) <= {*SUB_DOMAINS, COUNTING}
        assert all(not each.defects for each in made.questions)


def test_keys_of_rendered_questions_favour_no_letter(rendered):
    keys = [each.key for _, made in rendered for each in made.questions if len(each.options) == 5]
    assert np.allclose([keys.count(letter) / len(keys) for letter in "ABCD"], 0.25, atol=0.08)


def test_every_sub_domain_that_a_still_shows_is_asked_about(rendered):
    found = {name for _, made in rendered for name in made.types}
    assert found == {*SUB_DOMAINS, COUNTING} - {"Attribute", "Motion", "Causal"}


def test_equal_seeds_render_equal_scenes():
    first, second = (StickerScenes().render(5) for _ in range(2))
    assert np.array_equal(first.image, second.image)


def test_with_perfect_masks_the_perception_is_never_wrong(rendered):
    """Masks and depth of the renderer: only the rules of the answers are tested."""
    right = wrong = abstained = 0
    for scene, made in rendered:
        regions = {each.name: [] for each in scene.objects}
        for each in scene.objects:
            region = Region(pixels=each.visible, score=1.0, has_mask=True)
            regions[each.name].append(region)
        absent = dict.fromkeys(StickerScenes().names, ())
        plurals = {each.plural: regions[each.name] for each in scene.objects}
        depth = np.full(scene.image.shape[:2], 1.0, np.float32)
        for each in scene.objects:
            depth[each.visible] = each.depth if each.depth is not None else 0.5
        shown = ShownObjects(
            height=depth.shape[0],
            width=depth.shape[1],
            regions={**absent, **regions, **plurals},
            depth=depth,
        )
        for question in made.questions:
            try:
                letter, _ = answer(question, shown)
                right += letter == question.key
                wrong += letter != question.key
            except CannotTellError:
                abstained += 1
    assert wrong == 0
    assert right > 4 * abstained
