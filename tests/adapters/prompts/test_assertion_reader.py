import json

import pytest

from spatialstudio.adapters.chat.server import ServerSettings
from spatialstudio.adapters.prompts.assertions import LanguageModelAssertionReader
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.assertion import AssertionKind
from spatialstudio.domain.errors import Cancelled
from spatialstudio.science.questions.da_score import assertions_of
from tests.adapters.loopback import LoopbackServer, says, sends, stalls
from tests.fakes import CountingToken, scene_of

INSTRUCTION = (resources_folder() / "prompts" / "assertions.md").read_text(encoding="utf-8")
SECRET = "sk-very-secret"
SCENE = scene_of("dog", "car")


def row(statement, kind="thing", *about, attribute="", **more):
    question = f"is it true that {statement}?"
    return {
        "statement": statement,
        "question": question,
        "kind": kind,
        "about": list(about),
        "attribute": attribute,
        **more,
    }


FULL = (
    row("there is a dog", "thing", "dog"),
    row("there is a car", "thing", "a car"),
    row("the dog is red", "attribute", "the dog", attribute="red"),
    row("the dog is to the left of the car", "relation", "dog", "car"),
    row("it is night", "other"),
)


def answer(*rows):
    return says(json.dumps({"assertions": rows}))


def read(*replies, scene=SCENE, token=None, **changes):
    """Have a prompt taken apart while a server gives these replies."""
    with LoopbackServer(*replies) as server:
        settings = ServerSettings(
            url=server.url, model="small", key=SECRET, first_wait_s=0.01, **changes
        )
        reader = LanguageModelAssertionReader(settings, INSTRUCTION)
        return reader.read(scene, token or CountingToken())


def test_statements_are_linked_to_the_scene():
    told = read(answer(*FULL))
    assert [item.kind for item in told.items] == [
        *(AssertionKind.THING, AssertionKind.THING, AssertionKind.ATTRIBUTE),
        *(AssertionKind.RELATION, AssertionKind.OTHER),
    ]
    assert [item.mention_id for item in told.items] == ["m1", "m2", "m1", "m1", None]
    assert (told.items[2].attribute, told.items[3].relation_id) == ("red", "r1")
    assert told.items[4].question == "is it true that it is night?"
    assert (told.source_id, told.notes) == ("llm", ())


@pytest.mark.parametrize(
    "untied",
    [
        row("there is a whale", "thing", "whale"),
        row("the car is right of the dog", "relation", "car", "dog"),
        row("the dog runs", "attribute", "dog"),
        row("a dog", "creature", "dog"),
        row("a dog", "thing", about="dog"),
        row("a dog", "thing", about=[["dog"]]),
        {"statement": "a dog", "question": "a dog?"},
    ],
    ids=["unknown", "swapped", "no attribute", "no kind", "no list", "nested", "bare"],
)
def test_a_statement_about_no_object_of_the_scene_is_kept(untied):
    (item,) = read(answer(untied)).items
    assert (item.kind, item.mention_id, item.relation_id) == (AssertionKind.OTHER, None, None)
    assert item.question.endswith("?")


def test_valid_parts_of_an_answer_are_kept():
    told = read(answer(FULL[0], FULL[0], {"statement": 5}, "dog", row(""), row("x" * 999)))
    assert [item.text for item in told.items] == ["there is a dog"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (says("I cannot do that."), "returned no assertions"),
        (answer(), "returned no assertions"),
        (says('{"assertions": "none"}'), "returned no assertions"),
        (says(None, refusal="No."), "refused to answer"),
        (sends(b"", 401), "rejected the API key"),
        (sends(b"", 429), "is busy"),
        (sends(b"", 500), "fails"),
    ],
    ids=["prose", "empty", "no list", "refusal", "401", "429", "500"],
)
def test_after_any_failure_the_scene_gives_the_assertions_with_a_note(reply, reason):
    told = read(reply)
    assert told.items == assertions_of(SCENE).items
    assert told.source_id == "scene"
    assert reason in told.notes[0]
    assert SECRET not in told.notes[0]


def test_a_stalled_server_times_out():
    assert "did not respond in time" in read(stalls, timeout_s=0.2).notes[0]


def test_a_server_that_rejects_the_schema_is_asked_without_it():
    assert len(read(sends(b"", 400), answer(*FULL)).items) == len(FULL)


def test_the_same_prompt_is_requested_once():
    with LoopbackServer(answer(*FULL)) as server:
        settings = ServerSettings(url=server.url, model="small")
        reader = LanguageModelAssertionReader(settings, INSTRUCTION)
        first, second = (reader.read(SCENE, CountingToken()) for _ in range(2))
        assert first is second
        (asked,) = server.questions
    assert asked["response_format"]["json_schema"]["name"] == "assertions"
    assert json.loads(asked["messages"][1]["content"]) == {"text": SCENE.prompt.text}


def test_without_a_server_the_scene_gives_the_assertions():
    told = LanguageModelAssertionReader(None, INSTRUCTION).read(SCENE, CountingToken())
    assert "No language model is configured" in told.notes[0]


def test_waiting_can_be_cancelled():
    with pytest.raises(Cancelled):
        read(answer(*FULL), token=CountingToken(stop_at=1))


def test_an_unreadable_answer_is_asked_for_once_more():
    assert read(says("I cannot."), answer(FULL[0])).source_id == "llm"
