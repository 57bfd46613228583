from threading import Event

import pytest

from spatialstudio.application.compose.language_model import (
    KeyLookedUp,
    LanguageModel,
    ServerKept,
    ServerTried,
)
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.servers import ServerChoice
from tests.server_fakes import FakeServerDesk

CHOICE = ServerChoice(url="http://127.0.0.1:9/v1", model="small")


@pytest.fixture
def choices():
    return FakeServerDesk()


@pytest.fixture
def published():
    return []


@pytest.fixture
def renewed():
    return Event()


@pytest.fixture
def language_model(choices, published, renewed):
    model = LanguageModel(lambda: choices, published.append, renewed.set)
    yield model
    choices.may_answer.set()
    model.wait()


def test_a_choice_is_stored_and_extractors_are_rebuilt(language_model, choices, published, renewed):
    language_model.keep(CHOICE, "secret")
    language_model.wait()
    assert published == [ServerKept()]
    assert renewed.is_set()
    assert language_model.choice == CHOICE
    assert choices.keys == {CHOICE.url: "secret"}


def test_a_choice_that_cannot_be_stored_is_reported(language_model, choices, published, renewed):
    choices.error = SettingsError("No keyring.", hint="Use the environment.")
    language_model.keep(CHOICE, "secret")
    language_model.wait()
    assert published == [ServerKept(problem="No keyring. Use the environment.")]
    assert not renewed.is_set()


def test_looking_for_a_key_reports_whether_one_is_stored(language_model, choices, published):
    language_model.look_up_key(CHOICE.url)
    language_model.wait()
    assert published == [KeyLookedUp(url=CHOICE.url, is_known=False)]


def test_a_test_runs_in_the_background(language_model, choices, published):
    language_model.try_out(CHOICE, None)
    assert not published
    choices.may_answer.set()
    language_model.wait()
    assert published == [ServerTried(message="It answers.", works=True)]


def test_a_failing_server_is_reported(language_model, choices, published):
    choices.error = SettingsError("It is silent.")
    choices.may_answer.set()
    language_model.try_out(CHOICE, None)
    language_model.wait()
    assert published == [ServerTried(message="It is silent.", works=False)]


def test_a_cancelled_test_reports_nothing(language_model, published):
    language_model.try_out(CHOICE, None)
    language_model.cancel()
    language_model.wait()
    assert not published


def test_only_the_latest_test_is_reported(language_model, choices, published):
    language_model.try_out(CHOICE, None)
    language_model.try_out(CHOICE, None)
    choices.may_answer.set()
    language_model.wait()
    assert len(published) == 1
