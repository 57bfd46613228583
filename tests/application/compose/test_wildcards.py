"""Choices are made by the seed, from the prompt and from files that stay in their folder."""

import pytest

from spatialstudio.application.compose.wildcards import (
    Wildcards,
    has_choices,
    marked_syntax,
)
from spatialstudio.domain.errors import PromptError


@pytest.fixture
def wildcards(tmp_path):
    folder = tmp_path / "wildcards"
    (folder / "more").mkdir(parents=True)
    (folder / "animal.txt").write_text("\ufeffcat\n# no dog\n\ndog\n{red|blue} bird\n")
    (folder / "more" / "hair_colour.txt").write_text("brown\n")
    (folder / "loop.txt").write_text("a __loop__\n")
    (folder / "first.txt").write_text("__second__\n")
    (folder / "second.txt").write_text("__first__\n")
    (folder / "empty.txt").write_text("# nothing\n")
    (tmp_path / "secret.txt").write_text("secret\n")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "large.txt").write_bytes(b"x\n" * 2**20)
    return Wildcards(folder)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a {cat|dog} left of a __animal__", "a cat left of a cat"),
        ("{a {red|blue} cat|b}", "a red cat"),
        ("{cat}, __more/hair_colour__ hair", "cat, brown hair"),
        ("{|a} dog", " dog"),
        (r"\{a|b\} {} {1} {a|b", r"\{a|b\} {} {1} {a|b"),
        ("a__b__c", "a__b__c"),
    ],
)
def test_without_a_seed_the_first_alternative_is_chosen(wildcards, template, text):
    assert wildcards.resolved(template, None).text == text


def test_every_alternative_is_reachable_and_a_seed_is_deterministic(wildcards):
    template = "{a|b|c} __animal__"
    texts = {wildcards.resolved(template, seed).text for seed in range(100)}
    assert texts == {f"{x} {y}" for x in "abc" for y in ("cat", "dog", "red bird", "blue bird")}
    again = [wildcards.resolved(template, 7).text for _ in range(3)]
    assert len(set(again)) == 1


def test_the_choice_is_the_documented_one(wildcards):
    assert [wildcards.resolved("{a|b|c}", seed).text for seed in range(8)] == list("abcbccab")


def test_positions_point_into_the_template(wildcards):
    plain = wildcards.resolved("a {cat|dog} and __animal__", 3)
    start = plain.text.index("and")
    assert plain.origins[start] == "a {cat|dog} and".index("and")
    assert plain.origins[-1] == len("a {cat|dog} and __animal__") - 1
    assert list(plain.origins) == sorted(plain.origins)


@pytest.mark.parametrize(
    ("template", "trouble"),
    [
        ("__loop__", "contains itself"),
        ("__first__", "contains itself"),
        ("__empty__", "is empty"),
        ("__nothing__", "no readable file"),
        ("__link__", "no readable file"),
        ("__large__", "no readable file"),
        ("{" * 5000 + "a" + "}" * 5000, "nested more than"),
        ("{" + "x" * 21_000 + "|b}", "characters"),
    ],
)
def test_hostile_choices_are_rejected(wildcards, template, trouble):
    with pytest.raises(PromptError, match=trouble):
        wildcards.resolved(template, None)


def test_names_cannot_leave_the_folder(wildcards):
    assert not has_choices("__../secret__")
    with pytest.raises(PromptError, match="no readable file"):
        wildcards.lines("../secret")


def test_a_million_combinations_are_not_listed(wildcards):
    template = "{a|b}" * 2000
    assert len(wildcards.resolved(template, 1).text) == 2000


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("a (cat:1.3) left of a dog", ["(", ":1.3)"]),
        ("((cat)) [dog]", ["((", "))", "[", "]"]),
        ("a cat <lora:ink:0.8>", ["<lora:ink:0.8>"]),
        ("a {cat|dog} of __animal__", ["{", "|dog}", "__animal__"]),
        (r"a \(black\) cat", ["\\", "\\"]),
        ("a cat (black) left of a dog", []),
        ("", []),
    ],
)
def test_syntax_is_marked_where_it_is_typed(text, marked):
    assert [span.of(text) for span in marked_syntax(text)] == marked
