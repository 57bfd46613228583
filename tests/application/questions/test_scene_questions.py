import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.storage.metadata.reader import PictureMetadata
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.plugins import open_registry
from spatialstudio.application.questions.question_files import read_question_file
from spatialstudio.application.questions.questions import Questions
from spatialstudio.application.questions.scene_questions import SceneQuestionJob, edited_question
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.multiple_choice import QuestionSet
from tests.science.questions.choice_sets import line

PICTURE = np.random.default_rng(0).integers(0, 256, (8, 12, 3), np.uint8)
ONE = QuestionSet(
    id="../../up",
    scene="prompt",
    prompt="a dog to the left of a car",
    questions=(edited_question("Is it  day?", ("yes", "", " no "), 2),),
    types=("Object",),
)


@pytest.fixture
def questions(tmp_path):
    registry = open_registry(StudioPaths.within(tmp_path / "home").surroundings)
    return Questions(registry, judges=None, shows_stickers=None, cache=None)


def files_in(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_an_edited_question_has_plain_spaces_and_none_last():
    (question,) = ONE.questions
    assert question.text == "Is it day? Options: A: yes, C: no, E: None"
    assert question.key == "C"


def test_questions_and_picture_are_stored_under_an_id_of_their_own(questions, tmp_path):
    made = questions.store_for_asking(tmp_path / "asked", ONE, PICTURE, "")
    (stored,) = read_question_file(made.data)
    assert stored.questions == ONE.questions
    assert [path.stem for path in made.pictures.iterdir()] == [stored.id]
    assert all(path.is_relative_to(tmp_path / "asked") for path in files_in(tmp_path))


@pytest.mark.parametrize("model_id", ["stickers", ""])
def test_the_stored_picture_names_the_model_that_generated_it(questions, tmp_path, model_id):
    made = questions.store_for_asking(tmp_path, ONE, PICTURE, model_id)
    (path,) = made.pictures.iterdir()
    settings = PictureMetadata().read(path)
    assert (settings.model if settings else "") == model_id
    np.testing.assert_array_equal(np.asarray(Image.open(path)), PICTURE)


def test_equal_questions_on_an_equal_picture_continue_and_others_begin_anew(questions, tmp_path):
    made = questions.store_for_asking(tmp_path, ONE, PICTURE, "")
    assert questions.store_for_asking(tmp_path, ONE, PICTURE, "") == made
    other = replace(ONE, questions=(edited_question("Is it night?", ("yes", "no"), 0),))
    assert questions.store_for_asking(tmp_path, other, PICTURE, "") != made
    assert questions.store_for_asking(tmp_path, ONE, 255 - PICTURE, "") != made


@pytest.mark.parametrize(
    "question",
    [
        edited_question("Options: A: what?", ("a", "b"), 0),
        edited_question("What?", ("a, B: b", "c"), 0),
        edited_question("What?", ("", ""), 0),
        edited_question("x" * 20_000, ("a", "b"), 0),
    ],
    ids=["stem", "option", "empty", "long"],
)
def test_questions_that_would_be_read_otherwise_are_not_stored(questions, tmp_path, question):
    with pytest.raises(SettingsError, match="cannot be written in one line"):
        questions.store(tmp_path / "own.jsonl", [replace(ONE, questions=(question,))])
    assert not (tmp_path / "own.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (json.dumps(line(1)) + "\n" + json.dumps(line(2)), "questions on 2 prompts"),
        ("[" * 5000, "it is not JSON"),
        ('{"id": 1}', "is not a text"),
    ],
    ids=["two", "deep", "type"],
)
def test_a_file_that_cannot_be_edited_is_explained(questions, tmp_path, content, reason):
    events = []
    path = tmp_path / "data.jsonl"
    path.write_text(content)
    job = SceneQuestionJob(questions, lambda _: None, events.append)
    job.read(path)
    job.wait()
    (event,) = events
    assert event.result is None
    assert reason in event.error.message
