import subprocess
import sys

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
        "from spatialstudio.adapters.prompts.vocabulary import singular_of;"
        "assert singular_of('gruvves') == 'gruvve';"
        "import inflect; assert typeguard.typechecked is before;"
        "print(*inflect.engine.singular_noun.__code__.co_varnames)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "text" in done.stdout.split()
    assert "memo" not in done.stdout


TWO_THREADS = """
import sys, threading, typeguard
from spatialstudio.adapters.prompts.vocabulary import singular_of

class AsksMeanwhile:
    def find_spec(self, name, path=None, target=None):
        if name == "inflect" and other.ident is None:
            other.start()
            other.join(0.3)

checks, told = typeguard.typechecked, []
other = threading.Thread(target=lambda: told.append(singular_of("gruvves")))
sys.meta_path.insert(0, AsksMeanwhile())
told.append(singular_of("blorves"))
other.join()
assert typeguard.typechecked is checks
print(*sorted(told))
"""


def test_two_threads_may_ask_at_once():
    code = [sys.executable, "-c", TWO_THREADS]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["blorve", "gruvve"]


@pytest.mark.parametrize("word", ["virus", "glass", "omen", "is", "tennis", "gnu"])
def test_a_singular_stays_as_it_is(vocabulary, word):
    assert vocabulary.singular(word) == word
