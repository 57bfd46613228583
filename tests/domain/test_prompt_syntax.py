import random
from pathlib import Path

import pytest

from spatialstudio.adapters.prompts.grammar import build
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.prompt_syntax import (
    drawn_prompt,
    drawn_scene,
    typed_scene,
    without_syntax,
)
from spatialstudio.domain.scene import Prompt, SceneGraph, TextSpan

RESOURCES = Path(__file__).parents[2] / "resources"
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
EFFECTIVE = (
    *(("({}:1.3)", 1.3), ("(({}))", 1.21), ("((({})))", 1.331), ("[{}]", 0.909091)),
    *(("({}:0.8)", 0.8), ("(({}:1.1))", 1.21), ("[[{}]]", 0.826446), ("({}:1.0)", 1)),
    *(("{}", 1), ("({}:-0.5)", -0.5)),
)
TAGS = ("<lora:foo:0.8>", "<lora:a b_c-2:1>", "<lyco:x:0.5>", "<hypernet:y:1>", "<LoRA:z:0.2:0.4>")
GENERATED = 1000
TENTHS = [
    *(0, 1, 2),
    *(pytest.param(tenth, marks=pytest.mark.slow) for tenth in range(3, 10)),  # more of the same
]


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


@pytest.mark.parametrize("tenth", TENTHS)
def test_weights_change_no_relation_and_no_span(read, tenth):
    for seed in range(tenth, GENERATED, 10):
        plain, typed, origins = weighted(seed)

        def place(span, origins=origins):
            return TextSpan(start=origins[span.start], stop=origins[span.stop - 1] + 1)

        scene = read(typed)
        assert claims(scene) == claims(read(plain), place)
        assert scene.prompt.text == typed
        assert scene.relations


@pytest.mark.parametrize("tenth", TENTHS)
def test_the_drawn_prompt_has_the_relations_and_spans_of_the_prompt_without_weights(read, tenth):
    for seed in range(tenth, GENERATED, 10):
        plain, typed, weights = weighted_by_effect(seed)
        scene, _ = drawn_scene(read(typed))
        assert scene.prompt.text == plain
        assert claims(scene) == claims(read(plain))
        found = {each.span.of(plain): round(each.weight, 6) for each in scene.prompt.weights}
        assert found == weights
        again = typed_scene(scene)
        assert claims(again) == claims(read(typed))


def weighted_by_effect(seed):
    """A prompt with weights that are drawn with, without them, and its weights by word."""
    chance = random.Random(seed)
    first, second = chance.sample(THINGS, 2)
    plain, typed, weights = "", "", {}
    for words in ("a ", first, f" {chance.choice(RELATIONS)} ", "a ", second):
        form, weight = chance.choice(EFFECTIVE) if words in {first, second} else ("{}", 1)
        plain, typed = plain + words, typed + form.format(words)
        if weight != 1:
            weights[words] = weight
    return plain, typed + chance.choice(("", " <lora:foo:0.8>", ", <lora:a>")), weights


@pytest.mark.parametrize(
    "typed",
    [
        "(a cat:1.0) to the left of a dog",
        "a (cat:1) to the (left:1.00) of a (dog:1.0)",
        "((a cat:1) to the left of (a dog:1.0):1)",
    ],
)
def test_a_weight_of_1_is_dropped(read, typed):
    plain = "a cat to the left of a dog"
    scene, _ = drawn_scene(read(typed))
    assert (scene.prompt.text, scene.prompt.weights) == (plain, ())
    assert claims(scene) == claims(drawn_scene(read(plain))[0])


def test_a_prompt_without_syntax_is_the_same_object(read):
    scene = read("a cat (black) to the left of a dog, 10:30")
    assert drawn_scene(scene) == (scene, ())


@pytest.mark.parametrize(
    ("typed", "text", "loras"),
    [
        ("<lora:a:1>, a cat", "a cat", [("a", 1)]),
        ("a cat, <lora:a>, <lora:b:0.2>, night", "a cat, night", [("a", 1), ("b", 0.2)]),
        ("a cat, <lora:a:1> <lora:b:0>", "a cat", [("a", 1), ("b", 0)]),
        ("<lora:a:1><lora:b:-0.5> x", "x", [("a", 1), ("b", -0.5)]),
        ("cat<LORA:my file_v2:99>dog", "cat dog", [("my file_v2", 10)]),
        ("a <lora:> cat <lora:x:y:z>", "a <lora:> cat <lora:x:y:z>", []),
    ],
)
def test_loras_leave_no_trace_in_the_text(typed, text, loras):
    plain = drawn_prompt(typed)
    assert plain.text == text
    assert [(each.name, each.weight) for each in plain.loras] == loras


@pytest.mark.parametrize(
    ("typed", "text", "weights"),
    [
        ("(a (red:1.2) cat:1.5) z", "a red cat z", [("a", 1.5), ("red", 1.8), ("cat", 1.5)]),
        ("(((x))) ((cat:1.3)", "x (cat", [("x", 1.331), ("cat", 1.3)]),
        ("(cat:99) [[dog]]", "cat dog", [("cat", 10), ("dog", 0.826446)]),
        (r"a \(cat\) [a:0.5]", "a (cat) [a:0.5]", []),
        ("(cat)1.3 dog++ [a|b]", "(cat)1.3 dog++ [a|b]", []),
    ],
)
def test_weights_multiply_and_unbalanced_brackets_are_literal(typed, text, weights):
    plain = drawn_prompt(typed)
    assert plain.text == text
    assert [(each.span.of(text), round(each.weight, 6)) for each in plain.weights] == weights


def test_a_prompt_with_only_loras_has_no_text():
    scene = SceneGraph(
        prompt=Prompt(text="<lora:a:1>"), mentions=(), relations=(), extractor_id="x"
    )
    with pytest.raises(PromptError, match="only LoRAs"):
        drawn_scene(scene)


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
def test_syntax_is_removed(typed, plain):
    found = without_syntax(typed)
    assert found.text == plain
    assert found.notes or found.text != typed
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
def test_prose_is_unchanged(text):
    found = without_syntax(text)
    assert (found.text, found.notes) == (text, ())
    assert found.origins == tuple(range(len(text)))


def test_a_note_names_each_kind_of_syntax_once_with_its_position(read):
    text = "cat++ left of a (dog:1.2) <lyco:x:1> <lora:x:1>"
    told = {note.message: note.span.of(text) for note in read(text).notes}
    assert told == {
        'Weights such as "cat++" have no effect; write "(cat:1.3)".': "cat++",
        '"<lyco:x:1>" has no effect: only the chosen model and LoRAs draw.': "<lyco:x:1>",
    }


def test_a_prompt_of_syntax_alone_is_empty(read):
    with pytest.raises(PromptError, match="empty"):
        read("<lora:x:1>")


@pytest.mark.parametrize(
    "text", ["(" * 5000, "[a" * 5000 + "]" * 5000, "<lora:" * 3000, "a::" * 3000]
)
def test_deep_nesting_is_parsed(text):
    for found in (without_syntax(text), drawn_prompt(text)):
        assert len(found.text) == len(found.origins)


def test_tokens_are_mapped_to_the_typed_prompt_with_syntax_at_its_end():
    typed = "a (cat:1.3) <lora:x:1>"
    plain = drawn_prompt(typed)
    spans = plain.typed_spans((TextSpan(start=0, stop=1), TextSpan(start=2, stop=5)))
    assert [each.of(typed) for each in spans] == ["a", "cat:1.3) <lora:x:1>"]
    assert drawn_prompt("a cat").typed_spans((TextSpan(start=2, stop=5),))[0].stop == 5
