from dataclasses import replace

import pytest

from spatialstudio.application.compose.token_counter import (
    TokenCounter,
    count_of,
    cut_off,
)
from spatialstudio.application.events import EventBus
from spatialstudio.application.jobs.messages import TokensRead
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.scene import TextSpan
from tests.fakes import WORD_LIMIT, FakeBackend, scene_of
from tests.ui.scripted_engine import STICKERS


@pytest.fixture
def bus():
    return EventBus()


@pytest.fixture
def asked():
    return []


@pytest.fixture
def counter(bus, asked):
    return TokenCounter(asked.append, bus.subscribe)


def told(scene):
    """Tell what the fake backend reads of a scene's prompt."""
    readings = FakeBackend().read_tokens(scene.prompt.text, STICKERS)
    return TokensRead(prompt=scene.prompt.text, model_id="fake", readings=readings)


def long_scene():
    """A scene whose second thing lies beyond the limit."""
    scene = scene_of()
    text = scene.prompt.text.replace("left of", "left " + "very " * WORD_LIMIT + "of")
    thing = replace(scene.mentions[1], span=TextSpan(start=text.index("car"), stop=len(text)))
    prompt = replace(scene.prompt, text=text)
    return replace(scene, prompt=prompt, mentions=(scene.mentions[0], thing))


def test_the_tokens_of_a_prompt_are_requested(counter, asked):
    counter.read("a dog", STICKERS)
    assert [(question.prompt, question.model) for question in asked] == [("a dog", STICKERS)]


def test_an_empty_prompt_is_not_requested(counter, asked):
    counter.read("  ", STICKERS)
    assert asked == []


def test_a_scene_within_the_token_limit_passes(counter, bus):
    scene = scene_of()
    bus.publish(told(scene))
    assert counter.whole(scene) is scene


def test_an_object_beyond_the_limit_is_rejected_by_name(counter, bus):
    scene = long_scene()
    bus.publish(told(scene))
    with pytest.raises(PromptError, match='"car" is beyond the limit'):
        counter.whole(scene)


def test_an_object_without_a_relation_may_be_cut_off(counter, bus):
    scene = replace(long_scene(), relations=())
    bus.publish(told(scene))
    assert counter.whole(scene) is scene


def test_the_count_of_another_prompt_is_ignored(counter, bus):
    bus.publish(told(long_scene()))
    scene = scene_of()
    assert counter.whole(scene) is scene


def test_the_encoder_that_reads_the_most_tokens_counts():
    (reading,) = FakeBackend().read_tokens("a dog and a car", STICKERS)
    short = replace(reading, encoder_id="short", read=2, limit=2)
    count = count_of((short, reading))
    assert (count.read, count.limit, len(count.tokens)) == (15, WORD_LIMIT, 5)


def test_a_partly_cut_object_is_cut_off():
    scene = scene_of()
    car = scene.mentions[1]
    assert cut_off(scene, car.span.stop - 1) == (car,)


def test_an_object_that_is_cut_off_twice_is_named_once(counter, bus):
    scene = long_scene()
    again = replace(scene.mentions[1], id="m3")
    relation = replace(scene.relations[0], id="r2", object="m3")
    twice = replace(
        scene, mentions=(*scene.mentions, again), relations=(*scene.relations, relation)
    )
    bus.publish(told(twice))
    with pytest.raises(PromptError) as refused:
        counter.whole(twice)
    assert refused.value.message.count('"car"') == 1
