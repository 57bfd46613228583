from dataclasses import dataclass, field, replace
from threading import Event

import pytest

from spatialstudio.adapters.extractors.grammar import GrammarExtractor
from spatialstudio.adapters.stores.state_files import PlainStateFiles
from spatialstudio.application.engine.inline import InlineEngine
from spatialstudio.application.paths import StudioPaths, resources_folder
from spatialstudio.application.second_reader import ReadAgain, SecondReader
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import Cancelled, PromptError
from spatialstudio.domain.prompt import Prompt
from spatialstudio.domain.relation import BEHIND

TEXT = "a cat above a dog"
GRAMMAR = GrammarExtractor(resources_folder() / "prompts")


@dataclass
class PatientGrammar:
    """Reads as the grammar does, when it is let; every relation as behind."""

    id: str = "llm"
    may_read: Event = field(default_factory=Event)
    error: Exception | None = None

    def extract(self, prompt, token=None):
        while not self.may_read.wait(0.01):
            token.raise_if_cancelled()
        if self.error is not None:
            raise self.error
        read = GRAMMAR.extract(prompt)
        relations = tuple(replace(each, type=BEHIND) for each in read.relations)
        return replace(read, relations=relations, extractor_id=self.id)


@dataclass
class ExtractorsOnly:
    """A registry of the grammar, a patient reader and what drafts are kept by."""

    patient: PatientGrammar

    def extractor(self, adapter_id):
        return GRAMMAR

    def patient_extractor(self, adapter_id):
        return self.patient

    def state(self, adapter_id):
        return PlainStateFiles()


@pytest.fixture
def patient():
    return PatientGrammar()


@pytest.fixture
def published():
    return []


@pytest.fixture
def reader(patient, published):
    return SecondReader(lambda: patient, published.append, pause_s=0.01)


def test_what_is_still_being_typed_is_not_read(patient, published):
    patient.may_read.set()
    reader = SecondReader(lambda: patient, published.append, pause_s=60.0)
    reader.read(Prompt(text="a ca"))
    reader.cancel()
    reader.wait()
    assert not published


def test_a_reading_is_published_when_it_comes(reader, patient, published):
    reader.read(Prompt(text=TEXT))
    assert not published
    patient.may_read.set()
    reader.wait()
    (event,) = published
    assert isinstance(event, ReadAgain)
    assert event.scene.extractor_id == "llm"


def test_a_new_prompt_stops_the_reading_before(reader, patient, published):
    reader.read(Prompt(text=TEXT))
    reader.read(Prompt(text="a car near a bus"))
    patient.may_read.set()
    reader.wait()
    assert [event.scene.prompt.text for event in published] == ["a car near a bus"]


@pytest.mark.parametrize("error", [PromptError("Empty."), Cancelled()])
def test_a_reading_that_fails_says_nothing(reader, patient, published, error):
    patient.error = error
    patient.may_read.set()
    reader.read(Prompt(text=TEXT))
    reader.wait()
    assert not published


def test_the_studio_compares_and_takes_offers_up(tmp_path, patient):
    studio = Studio(
        ExtractorsOnly(patient), InlineEngine(lambda: None), StudioPaths.within(tmp_path)
    )
    shown = studio.parse(TEXT)
    studio.edit_scene(shown)
    patient.may_read.set()
    later = patient.extract(Prompt(text=TEXT))
    addition, removal = studio.compare_with_scene(later)
    assert studio.session.scene is shown
    studio.accept(addition)
    studio.accept(removal)
    assert [each.type for each in studio.session.scene.relations] == [BEHIND]
    assert studio.compare_with_scene(later) == ()
    assert studio.session.scene.extractor_id == "llm"
