"""The plot of a study, with intervals."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from spatialstudio.adapters.exports.lettering import width_of
from spatialstudio.adapters.exports.study_plot import (
    EDGE,
    HEADROOM,
    PLOT_HEIGHT,
    study_of,
    study_plot,
)
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.drawing import Anchor, Line, Text
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import STUDY, StudyChoice
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.library import PictureOrigin
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.statistics.study import study_run

SAMPLE = Path(__file__).parents[2] / "golden" / "run_of_schema_1"


@pytest.fixture(scope="module")
def runs(exports):
    """The sample at two numbers of steps and two seeds, of which the first passes."""
    sample = exports.read(SAMPLE)

    def at(steps, seed):
        request = with_values(sample.record.request, steps=steps, seed=seed)
        outcome = Outcome.PASS if seed == 1 else Outcome.FAIL
        evaluation = sample.record.evaluation
        verdicts = tuple(replace(v, outcome=outcome, reason=None) for v in evaluation.verdicts)
        judged = replace(evaluation, verdicts=verdicts)
        return replace(sample, record=replace(sample.record, request=request, evaluation=judged))

    return [at(steps, seed) for steps in (10, 20) for seed in (1, 2)]


def with_prompt(run, text):
    scene = run.record.request.scene
    scene = replace(scene, prompt=replace(scene.prompt, text=text))
    request = replace(run.record.request, scene=scene)
    return replace(run, record=replace(run.record, request=request))


def texts(drawing):
    return [item.text for item in drawing.items if isinstance(item, Text)]


def test_each_group_has_a_name_and_each_number_a_panel(runs, exports):
    shown = texts(study_plot(runs, exports.look()))
    assert {"PoS (probability)", "PSE (share)", "10", "20", "Steps"} <= set(shown)
    assert "PASS (share of decided runs)" in shown
    caption = " ".join(shown)
    assert "over seed; runs by group: 2, 2" in caption
    assert "PASS (share of decided runs): Wilson score" in caption
    assert "differences" not in caption
    assert "; runs without a number: none." in caption
    unjudged = replace(runs[3], record=replace(runs[3].record, evaluation=None))
    lacking = " ".join(texts(study_plot([*runs[:3], unjudged], exports.look())))
    assert "runs without a number: PASS (share of decided runs) in 1." in lacking
    assert f"Prompt: {runs[0].record.request.scene.prompt.text}." in caption


def test_the_caption_notes_few_prompts_and_names_the_methods(runs, exports):
    choice = StudyChoice(numbers={"mass": "Mass"}, by=("steps",))
    several = [
        with_number(with_prompt(run, text), place + number)
        for number, run in enumerate(runs)
        for place, text in enumerate(("one", "two") if number < 2 else ("one",))
    ]
    caption = " ".join(texts(study_plot(several, replace(exports.look(), study=choice))))
    assert "Some intervals are over 2 prompts" in caption
    assert "Mass: cluster bootstrap by prompt (10); Student's t (20)." in caption


def with_number(run, value):
    """Return a run with a value of all numbers of its table."""
    numbers = [each._replace(value=value) for each in run.data.numbers()]
    return replace(run, data=replace(run.data, numbers=lambda: iter(numbers)))


def test_intervals_stay_inside_the_figure(runs, exports):
    drawing = study_plot(runs, exports.look())
    points = [point for item in drawing.items if isinstance(item, Line) for point in item.points]
    assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in points)


def heights(drawing):
    """Return each number on the vertical axis with its height in points, downwards."""
    ticks = [item for item in drawing.items if isinstance(item, Text) and item.anchor is Anchor.END]
    return {item.text: item.at[1] for item in ticks if item.text != "Steps"}


def test_the_axis_of_a_share_runs_from_zero_to_one(runs, exports):
    choice = StudyChoice(numbers={"pos": "PoS"})
    shown = heights(study_plot(runs, replace(exports.look(), study=choice)))
    assert list(shown) == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert shown["0"] - shown["1"] == pytest.approx(PLOT_HEIGHT / (1 + 2 * EDGE))


@pytest.mark.parametrize(("share", "top"), [(0.05, "0.05"), (0.99, "1"), (0.0, "1")])
def test_the_axis_of_small_shares_ends_above_the_largest(runs, exports, share, top):
    choice = StudyChoice(numbers={"overlap": "Overlap"})
    small = [with_number(run, share) for run in runs]
    shown = heights(study_plot(small, replace(exports.look(), study=choice)))
    assert next(iter(shown)) == "0"
    last = float(list(shown)[-1])
    assert last == pytest.approx(float(top), rel=0.25)
    assert last <= 1


def test_the_axis_of_another_number_follows_its_values(runs, exports):
    choice = StudyChoice(numbers={"mass": "Mass"})
    masses = [with_number(run, value) for run, value in zip(runs, (50, 54, 40, 44), strict=True)]
    drawing = study_plot(masses, replace(exports.look(), study=choice))
    ticks = [float(text) for text in heights(drawing)]
    assert min(ticks) > 0
    figures = [group.figures["mass"] for group in study_of(masses, choice).groups]
    low, high = min(each.low for each in figures), max(each.high for each in figures)
    lines = [item for item in drawing.items if isinstance(item, Line) and len(item.points) == 2]
    upright = [abs(a[1] - b[1]) for a, b in (line.points for line in lines) if a[0] == b[0]]
    share = (figures[0].high - figures[0].low) / (high - low) / (1 + 2 * HEADROOM)
    assert max(upright) == pytest.approx(PLOT_HEIGHT * share)


def test_lines_are_as_long_as_intervals(runs, exports):
    study = study_of(runs, StudyChoice())
    figure = study.groups[0].figures["passes"]
    drawing = study_plot(runs, exports.look())
    lines = [item for item in drawing.items if isinstance(item, Line) and len(item.points) == 2]
    upright = [abs(a[1] - b[1]) for a, b in (line.points for line in lines) if a[0] == b[0]]
    assert max(upright) == pytest.approx(PLOT_HEIGHT * (figure.high - figure.low) / (1 + 2 * EDGE))


def test_the_caption_keeps_abbreviations(runs, exports):
    def at(scale, steps):
        request = with_values(runs[0].record.request, guidance_scale=scale, steps=steps)
        return replace(runs[0], record=replace(runs[0].record, request=request))

    several = [at(scale, steps) for scale in (4.0, 7.0) for steps in (10, 20)]
    by_steps = replace(exports.look(), study=StudyChoice(by=("steps",)))
    assert "over CFG scale; runs" in " ".join(texts(study_plot(several, by_steps)))
    by_scale = replace(exports.look(), study=StudyChoice(by=("guidance_scale",)))
    assert "over steps; runs" in " ".join(texts(study_plot(several, by_scale)))


def test_a_plot_shows_the_chosen_numbers_and_groups(runs, exports):
    choice = StudyChoice(numbers={"pse": "PSE (share)", "visor": "VISOR"}, by=("seed",))
    with_scores = [replace(run, scores=lambda: {"visor": 0.5, "geneval": 1.0}) for run in runs]
    shown = texts(study_plot(with_scores, replace(exports.look(), study=choice)))
    assert {"PSE (share)", "VISOR", "1", "2", "Seed"} <= set(shown)
    assert not {"PoS (probability)", "Steps"} & set(shown)


def test_names_of_many_groups_do_not_overlap(runs, exports):
    def at(place):
        guidance = GuidanceSettings(method_id="psg", strength=place / 20)
        request = with_values(runs[0].record.request, guidance=guidance)
        return replace(runs[0], record=replace(runs[0].record, request=request))

    drawing = study_plot([at(place) for place in range(21)], exports.look())
    names = group_names(drawing)
    assert len(names) > 5
    assert {name.text for name in names} <= {f"{place / 20:g}" for place in range(21)}
    assert_apart(names)


def group_names(drawing):
    """Return the texts below the horizontal axis."""
    return [x for x in drawing.items if isinstance(x, Text) and x.anchor is Anchor.MIDDLE]


def assert_apart(names):
    for left, right in pairwise(names):
        needed = (width_of(left.text, left.size) + width_of(right.text, right.size)) / 2
        assert right.at[0] - left.at[0] > needed


def test_numbers_of_very_many_groups_do_not_overlap(runs, exports):
    prompts = [f"a dog to the left of car {place:03}" for place in range(60)]
    choice = StudyChoice(numbers={"pos": "PoS"}, by=("prompt",))
    many = [with_prompt(runs[0], prompt) for prompt in prompts]
    drawing = study_plot(many, replace(exports.look(), study=choice))
    names = group_names(drawing)
    numbers = [int(name.text) for name in names]
    strides = {after - before for before, after in pairwise(numbers)}
    assert len(strides) == 1
    assert 1 < strides.pop() < 6
    assert_apart(names)
    caption = " ".join(texts(drawing))
    assert all(f"{place}: {prompt}" in caption for place, prompt in enumerate(prompts, 1))


def test_long_names_of_groups_are_numbered_and_listed_in_the_caption(runs, exports):
    prompts = ("a small dog to the left of a large red car", "a black cat below an old table")
    choice = StudyChoice(numbers={"pos": "PoS"}, by=("steps", "prompt"))
    shown = texts(
        study_plot(
            [with_prompt(run, prompt) for prompt in prompts for run in runs],
            replace(exports.look(), study=choice),
        )
    )
    assert {"1", "2", "3", "4", "Group"} <= set(shown)
    caption = " ".join(shown)
    assert f"Groups by steps, prompt: 1: 10, {prompts[1]}; 2: 10, {prompts[0]}; 3: 20" in caption
    assert "…" not in caption


def test_a_reproduction_repeats_its_run_and_another_import_does_not(runs):
    record = runs[0].record
    again = replace(record.request, id="other", parent_run_id=record.id)
    assert _recipe(replace(record, id="again", request=again)) == _recipe(record)
    assert _recipe(runs[1].record) != _recipe(record)
    image = replace(record.artifacts[0], sha256="0" * 64)
    imports = [
        replace(record, origin=PictureOrigin(name="a.png"), artifacts=artifacts)
        for artifacts in (record.artifacts, (image,))
    ]
    assert _recipe(imports[0]) != _recipe(imports[1])


def test_baselines_are_one_recipe_for_all_guidance_settings(runs):
    record = runs[0].record
    baselines = [
        replace(record, request=with_values(record.request, guidance=guidance))
        for guidance in (GuidanceSettings(), GuidanceSettings(method_id="psg", strength=0.0))
    ]
    assert _recipe(baselines[0]) == _recipe(baselines[1])


@pytest.mark.parametrize(
    ("method", "passes", "is_left"), [("layout", 0, True), ("layout", 1, False), ("psg", 0, False)]
)
def test_a_run_whose_trial_gave_guidance_up_is_left_unguided(runs, method, passes, is_left):
    record = runs[0].record
    guidance = GuidanceSettings(method_id=method, strength=5.0)
    trace = [replace(step, guiding_passes=0) for step in record.trace]
    trace[-1] = replace(trace[-1], guiding_passes=passes)
    request = with_values(record.request, guidance=guidance)
    read = study_run(replace(record, request=request, trace=tuple(trace)), ())
    assert read.is_left_unguided is is_left


def _recipe(record):
    return study_run(record, ()).recipe


def test_runs_that_differ_in_the_seed_only_are_rejected(runs, exports):
    with pytest.raises(ExportError, match="do not differ"):
        study_plot(runs[:2], exports.look())


@pytest.mark.parametrize(("ending", "head"), [("png", b"\x89PNG"), ("svg", b"<"), ("pdf", b"%PDF")])
def test_a_study_plot_is_written_in_every_format(runs, exports, tmp_path, ending, head):
    target = tmp_path / f"study.{ending}"
    made = exports.exporter.make(runs, EXPORT_KINDS[STUDY], exports.look(), ending)
    exports.exporter.write(made, target)
    assert target.read_bytes().startswith(head)
