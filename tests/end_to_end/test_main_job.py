"""The main job: a prompt becomes a guided, inspected and judged picture, safe on disk."""

import json
from pathlib import Path

import numpy as np
import pytest

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.jobs.messages import PictureJudged
from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.application.paths import HOME_VARIABLE
from spatialstudio.application.session import RunStored
from spatialstudio.application.storage.storage import Reproduced
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationFinished,
    GenerationStarted,
    GuidanceSettings,
    NoiseSearch,
    StepEvent,
)
from spatialstudio.domain.library import Sameness
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.stage.widgets.empty_stage import EXAMPLES, Example
from spatialstudio.ui.window import demo, tour
from tests.comparing import to_the_bit
from tests.fakes import last_call
from tests.format_reader import assert_same_arrays

PROMPT = "a photo of a dog to the left of a car"
SEED = 7
STEPS = 4
DEMO = Example(prompt=demo.PROMPT, seed=demo.SEED)
TOUR = Example(prompt=tour.PROMPT, seed=tour.SEED)
RUN_ENDINGS = {".png", ".strace", ".json"}


def outcomes(run):
    return [verdict.outcome for verdict in run.evaluation.verdicts]


class Heard(list):
    """Everything a studio said during one job."""

    def of(self, *kinds):
        return [event for event in self if isinstance(event, kinds)]

    @property
    def last(self):
        """Since the last start: without the trial of guidance."""
        return Heard(last_call(self))

    @property
    def image(self):
        return self.of(GenerationFinished)[0].image

    @property
    def path(self):
        return self.of(RunStored)[0].path


def draw(studio, **changes):
    """Draw the prompt and listen; ``changes`` go into the request."""
    heard = Heard()
    studio.use_scene(studio.parse_for_model(PROMPT))
    request = with_values(studio.new_request(seed=SEED, steps=STEPS), **changes)
    unsubscribe = studio.bus.subscribe(heard.append)
    studio.generate(request)
    unsubscribe()
    return heard


@pytest.fixture(scope="module")
def drawn(studio):
    return draw(studio)


def test_every_step_shows_its_maps_its_preview_and_its_pos(drawn):
    steps = drawn.last.of(StepEvent)
    assert [event.step for event in steps] == list(range(STEPS))
    assert all(set(event.attention.maps) == {"m1", "m2"} for event in steps)
    assert all(event.preview.shape == drawn.image.shape for event in steps)
    assert all(0 <= event.pos["r1"] <= 1 for event in steps)


def test_guidance_acts_on_the_first_steps_only(drawn):
    lengths = [event.step_size for event in drawn.last.of(StepEvent)]
    assert lengths[0] > 0
    assert lengths[-1] is None


def test_a_finished_run_is_stored_as_plain_files(drawn):
    files = [path for path in drawn.path.parent.iterdir() if path.stem == drawn.path.stem]
    assert {path.suffix for path in files} == RUN_ENDINGS


def test_a_reopened_run_equals_the_run_drawn(drawn):
    record, events = RunFiles().load(drawn.path)
    lived = drawn.last.of(GenerationStarted, StepEvent, GenerationFinished)
    assert to_the_bit(events) == to_the_bit(tuple(lived))
    assert to_the_bit(record.evaluation) == to_the_bit(drawn.of(PictureJudged)[0].evaluation)


def test_the_reader_of_the_guide_agrees_with_open_run(drawn, home, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    arrays = assert_same_arrays(drawn.path)
    assert arrays["map_after/m1"].shape == (STEPS, 16, 16)
    assert not np.array_equal(arrays["map_before/m1"], arrays["map_after/m1"])


def test_the_studio_opens_a_stored_run_as_if_it_had_just_ended(studio, drawn):
    run = studio.open_run(drawn.path)
    assert run.is_over
    assert [event.step for event in run.steps] == list(range(STEPS))
    assert np.array_equal(run.image, drawn.image)


def test_the_same_request_draws_the_same_picture(studio, drawn):
    assert np.array_equal(draw(studio).image, drawn.image)


def test_a_search_is_run_again_exactly_by_drawing_its_best_picture_alone(studio):
    search = NoiseSearch(candidates=3, enough=2.0)
    searched = draw(studio, search=search, guidance=GuidanceSettings())
    best = searched.of(GenerationFinished)[0].candidates[0].seed
    assert best != SEED
    assert searched.path.stem.endswith(f"_{best}")
    assert studio.session.run.request.sampling.seed == best
    heard = Heard()
    unsubscribe = studio.bus.subscribe(heard.append)
    studio.run_again(searched.path)
    unsubscribe()
    assert len(heard.of(GenerationStarted)) == 1
    assert np.array_equal(heard.image, searched.image)
    assert [told.comparison.sameness for told in heard.of(Reproduced)] == [Sameness.SAME]


def test_looking_on_does_not_change_the_picture(studio, drawn):
    unseen = CaptureSettings(attention_every=0, preview_every=0)
    assert np.array_equal(draw(studio, capture=unseen).image, drawn.image)


def test_guidance_changes_the_picture(studio, drawn):
    request = drawn_without_guidance(studio)
    assert not np.array_equal(request.image, drawn.image)


def drawn_without_guidance(studio):
    heard = Heard()
    studio.use_scene(studio.parse_for_model(PROMPT))
    unsubscribe = studio.bus.subscribe(heard.append)
    studio.generate(studio.new_request(seed=SEED, steps=STEPS, guided=False))
    unsubscribe()
    return heard


def test_a_cancelled_run_leaves_nothing_and_the_next_one_is_drawn(studio, drawn):
    before = set(studio.runs_folder.rglob("*"))

    def stop_after_the_first_step(event):
        if isinstance(event, StepEvent):
            studio.cancel()

    unsubscribe = studio.bus.subscribe(stop_after_the_first_step)
    stopped = draw(studio)
    unsubscribe()
    assert len(stopped.of(StepEvent)) == 1
    assert set(studio.runs_folder.rglob("*")) == before
    assert draw(studio).path.exists()


def test_guidance_can_be_switched_off_in_the_terminal(terminal, tmp_path):
    done = terminal("generate", PROMPT, "--steps", 1, "--guidance", "none", "--out", tmp_path)
    assert done.code == 0
    assert {path.suffix for path in tmp_path.iterdir()} == RUN_ENDINGS
    record, _ = RunFiles().load(tmp_path)
    (step,) = record.trace
    assert step.step_size is None


def test_judging_a_stored_picture_again_gives_the_stored_verdict(terminal, drawn):
    done = terminal("evaluate", drawn.path, "--prompt", PROMPT, "--json")
    assert done.code == 0
    stored = json.loads(drawn.path.with_suffix(".json").read_text())["evaluation"]["verdicts"]
    assert json.loads(done.out)["verdicts"][0]["outcome"] == stored[0]["outcome"]


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, id=example.prompt, marks=[pytest.mark.slow] if place else [])
        for place, example in enumerate((*EXAMPLES, DEMO, TOUR))
    ],
)
def test_an_example_fails_without_guidance_and_holds_with_it(studio, example):
    studio.use_scene(studio.parse_for_model(example.prompt))
    settings = with_values(usual_settings(studio.model()), seed=example.seed)
    (request,) = studio.requests(settings)
    studio.generate(request, with_baseline=True)
    guided, baseline = studio.session.run, studio.session.baseline
    assert (guided.request.sampling.seed, baseline.request.sampling.seed) == (
        example.seed,
        example.seed,
    )
    assert set(outcomes(guided)) == {Outcome.PASS}
    assert Outcome.FAIL in outcomes(baseline)


def test_the_readme_draws_the_examples_with_their_seeds():
    words = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f'generate "{EXAMPLES[0].prompt}" --seed {EXAMPLES[0].seed} ' in words
    assert f"`{tour.PROMPT}`" in words


def test_the_terminal_draws_the_promised_picture_stores_and_judges_it(terminal, tmp_path):
    done = terminal("generate", PROMPT, "--seed", SEED, "--guidance", "psg", "--out", tmp_path)
    assert done.code == 0
    assert {path.suffix for path in tmp_path.iterdir()} == RUN_ENDINGS
    record, _ = RunFiles().load(tmp_path)
    assert record.request.sampling.seed == SEED
    assert len(record.trace) == record.request.sampling.steps
    assert outcomes(record) == [Outcome.PASS]


def test_a_separate_process_generates_and_judges_from_any_folder(shell, tmp_path):
    done = shell("generate", PROMPT, "--steps", 1, "--out", "here", "--json")
    assert done.code == 0
    assert "torchvision" not in done.err
    picture = Path(json.loads(done.out)["picture"])
    assert picture.parent == tmp_path / "here"
    assert RunFiles().load(picture)[0].request.scene.prompt.text == PROMPT
