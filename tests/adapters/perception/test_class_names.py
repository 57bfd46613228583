import pytest

from spatialstudio.adapters.perception.class_names import classes_of

PUBLISHED = {0: "person", 3: "motorbike", 4: "aeroplane", 57: "sofa", 58: "pottedplant"}
PANOPTIC = {7: "sky-other-merged", 8: "grass-merged", 9: "dining table", 10: "dog"}


@pytest.mark.parametrize(
    ("head", "names", "number"),
    [
        ("person", PUBLISHED, 0),
        ("woman", PUBLISHED, 0),
        ("Motorcycle", PUBLISHED, 3),
        ("airplane", PUBLISHED, 4),
        ("couch", PUBLISHED, 57),
        ("potted plant", PUBLISHED, 58),
        ("sky", PANOPTIC, 7),
        ("grass", PANOPTIC, 8),
        ("table", PANOPTIC, 9),
    ],
)
def test_a_head_finds_its_class_under_any_published_name(head, names, number):
    assert classes_of([head], names) == {head: frozenset({number})}


def test_a_head_without_a_class_is_left_out():
    assert classes_of(["spaceship", "dog"], PANOPTIC) == {"dog": frozenset({10})}
