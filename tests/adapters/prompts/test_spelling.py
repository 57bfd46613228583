import pytest

from spatialstudio.adapters.prompts.spelling import Speller
from spatialstudio.adapters.prompts.vocabulary import read_vocabulary
from spatialstudio.application.paths import resources_folder

speller = Speller(read_vocabulary(resources_folder() / "prompts"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a cat to the lfet of a dog", "a cat to the left of a dog"),
        ("a cat undr a dog", "a cat under a dog"),
        ("a cat besiide a dog", "a cat beside a dog"),
        ("a cat in fromt of a dog", "a cat in front of a dog"),
        ("teh cat infront of it", "the cat in front of it"),
        ("a boook and a bannana", "a book and a banana"),
        ("an elefant and a trakter", "an elephant and a tractor"),
        ("a tabke, a yelow 1girl", "a table, a yellow 1 girl"),
        ("a cst, a dgo and a fixh", "a cat, a dog and a fish"),
        ("a kat and a monkee on a palmtree", "a cat and a monkey on a palm tree"),
        (
            "on tp of it, in font of it, to the lift of it",
            "on top of it, in front of it, to the left of it",
        ),
        ("a bycicle and three umbrelas", "a bicycle and three umbrella"),
    ],
)
def test_a_misspelling_of_one_letter_is_corrected(written, meant):
    assert speller.correct(written).text == meant


@pytest.mark.parametrize(
    "text",
    [
        "a bright light at night",
        "it was with them from then on, and has been there for some time before we came back",
        "what could they have done over here without those who have not seen any of it",
        "a thunder storm, a fright, an elbow",
        "the closet of my brother",
        "a blob by Hopper",
        "a drover, a fencer and a slat",
        "a boa, a gnat, a rink, a clef and a nook",
        "a xylophonist and a gremlin",
        "4k, unreal engine, trending on artstation",
    ],
)
def test_correct_words_are_unchanged(text):
    assert speller.correct(text).text == text


@pytest.mark.parametrize("text", ["a cat infront of a dog", "a girafe abve a hous", "lfet"])
def test_corrections_keep_the_positions_of_letters(text):
    mended = speller.correct(text)
    assert len(mended.origins) == len(mended.text)
    assert list(mended.origins) == sorted(mended.origins)
    assert mended.span(0, len(mended.text)).of(text) == text
