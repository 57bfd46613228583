import json

import pytest

from spatialstudio.adapters.chat.server import ServerSettings
from spatialstudio.adapters.prompts.choice_questions import LanguageModelQuestionWriter
from spatialstudio.adapters.prompts.grammar import build
from spatialstudio.application.paths import StudioPaths
from spatialstudio.domain.errors import Cancelled
from spatialstudio.domain.scene import Prompt
from spatialstudio.science.questions.prompt_questions import questions_of_prompt
from tests.adapters.loopback import LoopbackServer, says, sends
from tests.fakes import CountingToken

SCENE = build(StudioPaths.usual().surroundings).extract(
    Prompt(text="a red car to the left of a dog")
)
RULES = questions_of_prompt(SCENE, ("cat", "bus", "cup"))
PLACE = {
    "sub_domain": "Position",
    "question": "Where is the car in relation to the dog?",
    "right": "to the left of it",
    "wrong": ["above it", "below it", "to the right of it"],
}
MOOD = {**PLACE, "sub_domain": "Causal", "question": "Why does the dog bark?", "right": "the car"}


def row(**changed):
    return {**PLACE, **changed}


def written(*replies, token=None):
    with LoopbackServer(*replies) as server:
        settings = ServerSettings(url=server.url, model="m", first_wait_s=0.01, attempts=1)
        writer = LanguageModelQuestionWriter(settings, "instruction")
        return writer.write(SCENE, RULES, token or CountingToken()), server.questions


def answers(*rows):
    return says(json.dumps({"questions": rows}))


def test_questions_of_the_model_get_random_letters_and_keep_their_key():
    made, (request,) = written(answers(PLACE, MOOD))
    place, mood = made.questions.questions
    assert dict(place.options)[place.key] == "to the left of it"
    assert made.questions.types == ("Position", "Causal")
    assert (made.source_id, made.notes) == ("llm", ())
    assert len(made.mentions[0]) == 2
    assert mood.options[-1] == ("E", "None")
    assert json.loads(request["messages"][1]["content"]) == {"text": SCENE.prompt.text}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (row(right="above it", wrong=["to the left of it"]), "does not state"),
        (row(question="Where is the cow in relation to the dog?"), "does not name the cow"),
        (row(right="to the left of it, B: up"), "one line"),
        (row(wrong=["to the left of it"]), "same text"),
        (row(question="What? Options: A: a, B: b"), "one line"),
    ],
    ids=["wrong key", "unknown object", "marks", "repeated", "options"],
)
def test_questions_that_contradict_the_scene_are_left_out_with_a_note(changed, reason):
    made, _ = written(answers(MOOD, changed))
    assert len(made.questions.questions) == 1
    assert reason in made.notes[0]


@pytest.mark.parametrize(
    "reply",
    [
        says("sorry"),
        answers({**PLACE, "wrong": []}),
        answers({**PLACE, "right": 7}),
        answers({**PLACE, "question": "x" * 301}),
        answers("row"),
        sends(b"", 500),
        sends(b"x" * 300_000),
    ],
    ids=["prose", "no wrong", "number", "long", "text", "500", "endless"],
)
def test_without_usable_questions_those_of_the_rules_stay_with_a_note(reply):
    made, _ = written(reply)
    assert made.questions == RULES.questions
    assert "follow from the parsed scene" in made.notes[-1]


def test_without_a_server_the_rules_write():
    made = LanguageModelQuestionWriter(None, "").write(SCENE, RULES, CountingToken())
    assert made.questions == RULES.questions
    assert "No language model" in made.notes[-1]


def test_writing_can_be_cancelled():
    with pytest.raises(Cancelled):
        written(answers(PLACE), token=CountingToken(stop_at=1))


def test_at_most_twenty_questions_are_kept():
    made, _ = written(answers(*[MOOD] * 30))
    assert len(made.questions.questions) <= 20
