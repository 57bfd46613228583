"""Tests of the triples extractor."""

import pytest
from triples_reader import TriplesReader

from spatialstudio.plugin_api import Prompt, PromptError


def read(text):
    scene = TriplesReader().extract(Prompt(text=text))
    claims = [
        (relation.type.id, *(scene.mention(end).phrase for end in relation.ends))
        for relation in scene.relations
    ]
    return claims, [note.span.of(text) for note in scene.notes]


def test_triples_are_read_by_id_and_by_phrase():
    claims, notes = read("a red cup | above | the dog; dog | left_of | car\ncar | near | dog")
    assert claims == [
        ("above", "red cup", "dog"),
        ("left_of", "dog", "car"),
        ("near", "car", "dog"),
    ]
    assert notes == []


def test_between_takes_two_objects():
    claims, notes = read("dog | between | a car and a cup; dog | between | car")
    assert claims == [("between", "dog", "car", "cup")]
    assert notes == ["dog | between | car"]


def test_other_words_become_notes():
    assert read("a dog on the moon; dog | eats | car")[1] == [
        "a dog on the moon",
        "dog | eats | car",
    ]


def test_an_empty_prompt_is_rejected():
    with pytest.raises(PromptError):
        read(" ")
