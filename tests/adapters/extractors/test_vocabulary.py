import inflect
import pytest

from spatialstudio.adapters.extractors.vocabulary import read_vocabulary
from spatialstudio.application.paths import resources_folder

PLURALS = {
    "ches": "avalanches beaches benches breeches caches churches cloches coaches headaches niches "
    "peaches porches quiches sandwiches watches",
    "oes": "canoes dominoes echoes floes heroes horseshoes mangoes oboes potatoes shoes tiptoes "
    "toes tomatoes tornadoes volcanoes",
    "ses": "atlases blouses buses canvases cases causes cheeses choruses circuses crises fuses "
    "gases glasses greenhouses hippopotamuses horses houses irises lenses mantises mattresses "
    "muses noses nurses oases octopuses purses recluses rhinoceroses roses spouses statuses "
    "trellises vases viruses walruses warehouses",
    "ves": "caves chives curves doves gloves graves hives knives leaves loaves natives olives "
    "sleeves shelves stoves waves werewolves wives wolves",
}


@pytest.fixture(scope="module")
def vocabulary():
    return read_vocabulary(resources_folder() / "prompts")


@pytest.mark.parametrize("words", PLURALS.values(), ids=PLURALS)
def test_plurals_of_strangers_are_read_as_inflect_reads_them(vocabulary, words):
    inflection = inflect.engine()
    plurals = words.split()
    read = {plural: vocabulary.singular(plural) for plural in plurals}
    assert read == {plural: inflection.singular_noun(plural) for plural in plurals}


@pytest.mark.parametrize("word", ["virus", "glass", "omen", "is", "tennis", "gnu"])
def test_a_singular_stays_as_it_is(vocabulary, word):
    assert vocabulary.singular(word) == word
