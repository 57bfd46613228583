import random
from pathlib import Path

import pytest

from spatialstudio.adapters.prompts.grammar import build
from spatialstudio.adapters.prompts.prompt_weights import without_weights
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.scene import Prompt, TextSpan

RESOURCES = Path(__file__).parents[3] / "resources"
THINGS = (
    *("cat", "dog", "red cup", "wooden chair", "teddy bear", "car", "white horse", "lamp"),
    *("green apple", "small boat", "book", "laptop"),
)
RELATIONS = (
    *("to the left of", "right of", "above", "below", "on top of", "in front of", "behind"),
    *("next to", "under", "to the right of", "near", "left of"),
)
ENDINGS = ("", ", best quality", ", oil painting", " in a garden", ", masterpiece, 4k")
WEIGHED = (
    *("({}:1.3)", "(({}))", "((({})))", "[{}]", "({}:0.8)", "(({}:1.1))", "( {} : 1.2 )"),
    *("[[{}]]", "{{{}}}", "({})1.3", "({})++", "[{}:0.5]", "({}:.9)", "({}:1)", "{}++"),
)
TAGS = ("<lora:foo:0.8>", "<lora:a b_c-2:1>", "<lyco:x:0.5>", "<hypernet:y:1>", "<LoRA:z:0.2:0.4>")
GENERATED = 300


def weighted(seed):
    """A prompt with and without weights, and the place of each plain character in the other."""
    chance = random.Random(seed)
    first, second = chance.sample(THINGS, 2)
    parts = [
        *("a ", first, " ", chance.choice(RELATIONS), " a ", second, chance.choice(ENDINGS)),
    ]
    typed, origins = "", []

    def add(text, *, is_plain):
        nonlocal typed
        if is_plain:
            origins.extend(range(len(typed), len(typed) + len(text)))
        typed += text

    for number, part in enumerate(parts):
        is_open = number in {1, 3, 5}
        form = chance.choice((*WEIGHED, "{}", "{}")) if is_open else "{}"
        before, after = form.format("\0").split("\0")
        add(before, is_plain=False)
        add(part, is_plain=True)
        add(after, is_plain=False)
        if number in {4, 6} and chance.random() < 0.4:
            add(f"{chance.choice(TAGS)} ", is_plain=False)
    if chance.random() < 0.3:
        typed = f"{typed} BREAK"
    if typed == "".join(parts):
        return weighted(seed + GENERATED)
    return "".join(parts), typed, origins


@pytest.fixture(scope="module")
def read():
    extractor = build(Surroundings(resources=RESOURCES, model_folders=()))
    return lambda text: extractor.extract(Prompt(text=text))


def claims(scene, place=lambda span: span):
    """What a scene claims, with the places of its words."""
    mentions = [(m.id, m.phrase, m.head, m.attributes, place(m.span)) for m in scene.mentions]
    relations = [(r.id, r.type.id, r.ends, place(r.span), r.is_implied) for r in scene.relations]
    return mentions, relations


@pytest.mark.parametrize("seed", range(GENERATED))
def test_weights_change_no_relation_and_no_place(read, seed):
    plain, typed, origins = weighted(seed)

    def place(span):
        return TextSpan(start=origins[span.start], stop=origins[span.stop - 1] + 1)

    scene = read(typed)
    assert claims(scene) == claims(read(plain), place)
    assert scene.prompt.text == typed
    assert scene.relations
    assert any("no effect yet" in note.message for note in scene.notes)


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("(cat:1.3) to the left of a dog", "cat to the left of a dog"),
        ("((a cat:1.2) left of (a dog:1.1):1.3)", "a cat left of a dog"),
        ("a cat to the (left:1.2) of a dog", "a cat to the left of a dog"),
        ("[cat:dog:0.5] left of a cup", "dog left of a cup"),
        ("[cat::0.5] above [:dog:5]", "cat above dog"),
        ("[cat|dog] left of {a cup|a hat}", "cat left of a cup"),
        (r"a cat \(animal\) left of a dog", "a cat (animal) left of a dog"),
        ("a (red:1.2)cat", "a red cat"),
        ("a cat::2 left of a dog:: above it::-0.5", "a cat left of a dog above it"),
        ("a cat AND a dog :1.2", "a cat AND a dog"),
        ("a cat BREAK above a dog", "a cat  above a dog"),
    ],
)
def test_syntax_is_left_out(typed, plain):
    found = without_weights(typed)
    assert found.text == plain
    assert found.notes
    kept = zip(found.text, found.origins, strict=True)
    assert all(letter == typed[place] or letter == " " for letter, place in kept)


@pytest.mark.parametrize(
    "text",
    [
        "a cat (black) on a mat",
        "(a cat) left of (a dog)",
        "a cat (very small) above a dog",
        "a clock (10:30) left of a dog",
        "a picture (ratio 16:9) of a cat",
        "two things: a cat and a dog",
        "((a cat) left of (a dog))",
        "a cat -- black -- on a mat",
        "A CAT AND A DOG DURING A COFFEE BREAK",
        "a cat, 1.5 m left of a dog",
        "a < b",
        "",
        ")))(((",
        "[] {} () (:1.3) [:]",
    ],
)
def test_prose_stays_as_it_is(text):
    found = without_weights(text)
    assert (found.text, found.notes) == (text, ())
    assert found.origins == tuple(range(len(text)))


def test_a_note_names_each_kind_of_syntax_once_and_points_at_it(read):
    text = "(cat:1.3) left of a (dog:1.2) <lora:x:1>"
    told = {note.message: note.span.of(text) for note in read(text).notes}
    assert told == {
        'Weights such as "(cat:1.3)" have no effect yet.': "(cat:1.3)",
        '"<lora:x:1>" has no effect yet: only the chosen model draws.': "<lora:x:1>",
    }


def test_a_prompt_of_syntax_alone_is_empty(read):
    with pytest.raises(PromptError, match="empty"):
        read("<lora:x:1>")


@pytest.mark.parametrize(
    "text", ["(" * 5000, "[a" * 5000 + "]" * 5000, "<lora:" * 3000, "a::" * 3000]
)
def test_hostile_nesting_is_read_at_once(text):
    found = without_weights(text)
    assert len(found.text) == len(found.origins)
