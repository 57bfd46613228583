"""Folders of runs of questions, asked by fakes."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

from spatialstudio.application.questions.question_folder import AskPlan, begin_run
from spatialstudio.application.questions.question_run import QuestionRun
from spatialstudio.domain.multiple_choice import AskSettings
from tests.application.questions.answerers import save_pictures
from tests.fakes import CountingToken
from tests.science.questions.choice_sets import line


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def read(path):
    return np.asarray(Image.open(path))


class FakeQuestions:
    """Stands for ``Questions``: asks a fake, and writes no answers in the published form."""

    def __init__(self, answerer):
        self.own = answerer
        self.finished = []

    def answerer(self, _choice, _pictures):
        return self.own

    def begin(self, folder, plan):
        return begin_run(folder, plan, write)

    def ask(self, run, answerer, token):
        return QuestionRun.ask(run, answerer, read, token)

    def finish(self, folder):
        self.finished.append(folder)


def plan_in(folder, count=2, **changed):
    """A plan with data and pictures in a folder."""
    data = folder / "data.jsonl"
    data.write_text("".join(json.dumps(line(n + 1)) + "\n" for n in range(count)))
    pictures = save_pictures(folder / "pictures", [f"{n + 1:06}" for n in range(count)])
    values = {
        "answerer_id": "fake",
        "model_key": "fake model",
        "settings": AskSettings(),
        "method": "psg",
        **changed,
    }
    return AskPlan(data=data, pictures=pictures, **values)


def asked_folder(folder, answerer, **changed):
    """Ask about two pictures; return the folder of the run."""
    run = begin_run(folder / "run", plan_in(folder, **changed), write)
    list(run.ask(answerer, read, CountingToken()))
    return folder / "run"
