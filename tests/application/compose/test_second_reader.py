from dataclasses import dataclass, field, replace
from threading import Event

import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.adapters.storage.stores.state_files import PlainStateFiles
from spatialstudio.application.compose.compare_readings import accept
from spatialstudio.application.compose.language_model import ReadAgain, SecondReader
from spatialstudio.application.engine.worker import InlineEngine
from spatialstudio.application.paths import StudioPaths, resources_folder
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import Cancelled, PromptError
from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    Note,
    Prompt,
    Relation,
    TextSpan,
)

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

    def cancellable_extractor(self, adapter_id):
        return self.patient

    def state(self, adapter_id):
        return PlainStateFiles()

    def ids(self, kind):
        return ()


@pytest.fixture
def patient():
    return PatientGrammar()


@pytest.fixture
def published():
    return []


@pytest.fixture
def reader(patient, published):
    return SecondReader(lambda: patient, published.append, pause_s=0.01)


def test_a_prompt_is_not_read_while_it_is_typed(patient, published):
    patient.may_read.set()
    reader = SecondReader(lambda: patient, published.append, pause_s=60.0)
    reader.read(Prompt(text="a ca"))
    reader.cancel()
    reader.wait()
    assert not published


def test_a_reading_is_published_when_it_arrives(reader, patient, published):
    reader.read(Prompt(text=TEXT))
    assert not published
    patient.may_read.set()
    reader.wait()
    (event,) = published
    assert isinstance(event, ReadAgain)
    assert event.scene.extractor_id == "llm"


def test_a_new_prompt_cancels_the_previous_reading(reader, patient, published):
    reader.read(Prompt(text=TEXT))
    reader.read(Prompt(text="a car near a bus"))
    patient.may_read.set()
    reader.wait()
    assert [event.scene.prompt.text for event in published] == ["a car near a bus"]


def test_the_failure_of_the_model_is_reported_with_the_fallback(reader, patient, published):
    patient.may_read.set()
    patient.extract = lambda prompt, token: replace(
        GRAMMAR.extract(prompt), notes=(Note(message="It is busy."), Note(message="I see."))
    )
    reader.read(Prompt(text=TEXT))
    reader.wait()
    (event,) = published
    assert event.failure == Note(message="It is busy.")
    assert event.scene.notes == (Note(message="I see."),)


@pytest.mark.parametrize("error", [PromptError("Empty."), Cancelled()])
def test_a_failed_reading_publishes_nothing(reader, patient, published, error):
    patient.error = error
    patient.may_read.set()
    reader.read(Prompt(text=TEXT))
    reader.wait()
    assert not published


@pytest.fixture
def studio(tmp_path, patient):
    engine = InlineEngine(lambda: None)
    return Studio(ExtractorsOnly(patient), engine, StudioPaths.within(tmp_path))


def test_the_studio_compares_and_accepts_offers(studio, patient):
    shown = studio.parse_prompt(TEXT)
    studio.use_scene(shown)
    patient.may_read.set()
    later = patient.extract(Prompt(text=TEXT))
    addition, removal = studio.compare_with_scene(later).offers
    assert studio.session.scene is shown
    studio.use_scene(accept(accept(shown, addition), removal))
    assert [each.type for each in studio.session.scene.relations] == [BEHIND]
    assert studio.compare_with_scene(later).offers == ()
    assert studio.session.scene.extractor_id == "llm"


def test_objects_the_model_cannot_draw_are_reported_and_the_rest_is_offered(studio):
    shown = studio.parse_prompt("a dog left of a car, Zorp above the car")
    studio.use_scene(shown)
    dog, car = (each for each in shown.mentions if each.head in ("dog", "car"))
    zorp = replace(dog, id="m9", phrase="Zorp", head="zorp", span=TextSpan(start=21, stop=25))
    claims = [(dog.id, BEHIND, car.id), (zorp.id, ABOVE, car.id)]
    later = replace(
        shown,
        extractor_id="llm",
        mentions=(dog, car, zorp),
        relations=tuple(
            Relation(id=f"r{number}", type=kind, subject=subject, object=thing)
            for number, (subject, kind, thing) in enumerate(claims)
        ),
    )
    compared = studio.compare_with_scene(later, {"dog": "dog", "car": "car"})
    assert [offer.added.type for offer in compared.offers if offer.added] == [BEHIND]
    (told,) = compared.notes
    assert told.message == 'The image model does not support "Zorp".'
