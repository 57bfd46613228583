"""Vision language models on this machine, from their folders to the report of a run.

The models have the layouts of the published ones, with tiny random weights and real processors.
"""

import json

import pytest

from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.plugins import open_registry
from spatialstudio.application.questions.question_folder import AskPlan
from spatialstudio.application.questions.questions import Questions
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.multiple_choice import AskSettings, VoteRules
from tests.adapters.perception.tiny_vision_models import KINDS, save_tiny_model
from tests.application.questions.answerers import save_pictures
from tests.science.questions.choice_sets import line

RULES = VoteRules(rollouts=1, attempts=2, votes=1, reads_first_character=True)


@pytest.fixture
def questions(tmp_path):
    paths = StudioPaths.within(tmp_path / "home")
    registry = open_registry(paths.surroundings)
    return Questions(registry, judges=None, shows_stickers=None, cache=paths.cache)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_folder_answers_and_a_second_run_costs_nothing(
    questions, tmp_path, monkeypatch, kind
):
    monkeypatch.setattr(
        "spatialstudio.adapters.perception.architectures.vision_language.REPLY_TOKENS", 2
    )
    save_tiny_model(tmp_path / "home" / "models" / kind, kind)
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(line(1)))
    pictures = save_pictures(tmp_path / "pictures", ["000001"])
    answerer = questions.answerer(JudgeSetChoice(answerer_id=kind), pictures)
    plan = AskPlan(
        data=data,
        pictures=pictures,
        answerer_id=kind,
        model_key=answerer.model_key,
        settings=AskSettings(rules=RULES),
    )
    costs = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        run = questions.begin(folder, plan)
        *_, last = questions.ask(run, answerer, CancelFlag())
        questions.finish(folder)
        report = json.loads((folder / "report.json").read_text())
        assert (report["answerer"], last.failed) == (kind, {})
        costs.append(report["cost"])
    first, second = costs
    assert (first["replies"], first["failures"]) == (2, 0)  # random words are no valid rollout
    assert first["tokens_in"] > 0
    assert 0 < first["tokens_out"] <= 2 * 2 * 10
    assert (second["replies"], second["tokens_in"], second["cached"]) == (0, 0, 2)
