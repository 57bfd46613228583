import pytest

from spatialstudio.application.compose.layouts import LAYOUTS, things_of
from spatialstudio.application.paths import resources_folder
from spatialstudio.application.plugins import open_registry
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.scene import Prompt
from tests.fakes import scene_of


@pytest.fixture(scope="module")
def grammar():
    surroundings = Surroundings(resources=resources_folder(), model_folders=())
    return open_registry(surroundings).extractor("grammar")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_each_layout_is_read_as_it_is_drawn(layout, grammar):
    scene = grammar.extract(Prompt(text=layout.prompt()))
    assert len(scene.mentions) == len(layout.spots)
    assert len(scene.relations) >= 1
    assert scene.notes == ()


def test_there_are_twelve_templates():
    assert len({layout.name for layout in LAYOUTS}) == 12


def test_the_objects_of_the_prompt_are_arranged_by_the_template():
    (between,) = [layout for layout in LAYOUTS if layout.name == "Between"]
    assert between.prompt(("apple", "red car")) == "an apple between a red car and a dog"


def test_objects_are_listed_once():
    assert things_of(None) == ()
    assert len(things_of(scene_of())) == 2
