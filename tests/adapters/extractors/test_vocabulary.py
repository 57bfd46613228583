import subprocess
import sys

import pytest

from spatialstudio.adapters.extractors.vocabulary import read_vocabulary
from spatialstudio.application.paths import resources_folder

PLURALS = {
    "avalanches": "avalanche",
    "benches": "bench",
    "caches": "cache",
    "mustaches": "mustache",
    "oboes": "oboe",
    "horseshoes": "horseshoe",
    "tornadoes": "tornado",
    "canvases": "canvas",
    "crises": "crisis",
    "octopuses": "octopus",
    "recluses": "recluse",
    "warehouses": "warehouse",
    "chives": "chive",
    "werewolves": "werewolf",
    "stoves": "stove",
    "boxes": "box",
    "thrushes": "thrush",
    "harpies": "harpy",
    "ploughmen": "ploughman",
    "gadgets": "gadget",
}


@pytest.fixture(scope="module")
def vocabulary():
    return read_vocabulary(resources_folder() / "prompts")


@pytest.mark.parametrize(("plural", "singular"), PLURALS.items())
def test_plurals_of_strangers_are_read(vocabulary, plural, singular):
    assert vocabulary.singular(plural) == singular


def test_doubtful_plurals_are_settled_without_weaving_in_checks_of_types():
    code = (
        "import typeguard; before = typeguard.typechecked;"
        "from spatialstudio.adapters.extractors.plurals import singular_of;"
        "assert singular_of('gruvves') == 'gruvve';"
        "import inflect; assert typeguard.typechecked is before;"
        "print(*inflect.engine.singular_noun.__code__.co_varnames)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "text" in done.stdout.split()
    assert "memo" not in done.stdout


@pytest.mark.parametrize("word", ["virus", "glass", "omen", "is", "tennis", "gnu"])
def test_a_singular_stays_as_it_is(vocabulary, word):
    assert vocabulary.singular(word) == word
