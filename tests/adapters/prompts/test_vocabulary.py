import pytest

from spatialstudio.adapters.prompts.vocabulary import read_vocabulary
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
    "lenses": "lens",
    "daises": "dais",
    "arthritises": "arthritis",
    "blouses": "blouse",
    "quizzes": "quiz",
    "buzzes": "buzz",
    "toes": "toe",
    "olives": "olive",
    "thieves": "thief",
    "gruvves": "gruvve",
}


@pytest.fixture(scope="module")
def vocabulary():
    return read_vocabulary(resources_folder() / "prompts")


@pytest.mark.parametrize(("plural", "singular"), PLURALS.items())
def test_plurals_of_unknown_words_are_read(vocabulary, plural, singular):
    assert vocabulary.singular(plural) == singular


@pytest.mark.parametrize("word", ["virus", "glass", "omen", "is", "tennis", "gnu"])
def test_a_singular_is_unchanged(vocabulary, word):
    assert vocabulary.singular(word) == word
