from dataclasses import replace
from math import isnan, nan

import pytest

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.interval import IntervalMethod
from spatialstudio.science.statistics.intervals import mean_t
from spatialstudio.science.statistics.study import (
    PASSES,
    StudyRun,
    make_study,
    number_title,
    setting_label,
    settings_of,
    varied_settings,
    with_metrics,
)


def run(strength, seed, pos, prompt="a cat left of a dog", **values):
    method = None if strength == 0 else "psg"
    settings = {"prompt": prompt, "method": method, "strength": strength, "seed": seed, "steps": 9}
    return StudyRun(run=f"{strength}-{seed}", settings=settings, values={"pos": pos, **values})


@pytest.fixture
def runs():
    """Three seeds at two strengths; one run has no PoS, one no guided partner."""
    return [
        run(5.0, 0, 0.9, passes=1.0),
        run(0.0, 0, 0.4, passes=0.0),
        run(5.0, 1, nan),
        run(0.0, 1, 0.6, passes=1.0),
        run(0.0, 2, 0.2, passes=0.0),
    ]


def test_settings_without_effect_are_no_difference(runs):
    assert varied_settings(runs) == ("strength", "seed")


def test_runs_are_grouped_by_the_settings_that_differ_except_the_seed(runs):
    study = make_study(runs, measures=("pos",))
    assert study.by == ("strength",)
    assert [(group.settings, group.runs) for group in study.groups] == [
        ({"strength": 0.0}, 3),
        ({"strength": 5.0}, 2),
    ]


def test_a_group_states_its_mean_interval_and_missing_values(runs):
    plain, guided = make_study(runs, measures=("pos", PASSES)).groups
    assert plain.figures["pos"] == mean_t([0.4, 0.6, 0.2], within=(0, 1))
    assert (guided.figures["pos"].n, guided.figures["pos"].missing) == (1, 1)
    assert plain.figures[PASSES].value == pytest.approx(1 / 3)
    assert plain.figures[PASSES].method is IntervalMethod.WILSON


def test_intervals_of_metrics_within_zero_and_one_are_cut(runs):
    for factor, within in ((1, (0, 1)), (10, None)):
        scored = [
            replace(run, values={**run.values, "own": factor * score})
            for run, score in zip(runs, (1.0, 1.0, 1.0, 0.2, 0.9), strict=True)
        ]
        plain, _ = make_study(scored, measures=("own",)).groups
        values = [run.values["own"] for run in plain_runs(scored)]
        assert plain.figures["own"] == mean_t(values, within=within)


def test_intervals_do_not_depend_on_the_order_of_the_runs():
    runs = [
        run(strength, seed, (seed * 7 % 5 + strength) / 20, f"{number} cats")
        for strength in (0.0, 5.0)
        for number in range(3)
        for seed in range(5)
    ]
    studies = [make_study(each, measures=("pos",)) for each in (runs, runs[::-1])]
    assert studies[0].groups == studies[1].groups


def plain_runs(runs):
    return [run for run in runs if run.settings["strength"] == 0]


def test_differences_are_paired_by_the_other_settings(runs):
    plain, guided = make_study(runs, measures=("pos", PASSES)).groups
    assert plain.differences == {}
    found = guided.differences["pos"]
    assert found.value == pytest.approx(0.5)
    assert (found.n, found.missing) == (1, 2)
    assert (guided.exact_p, guided.holm_p) == (1, 1)


def test_the_reference_can_be_chosen(runs):
    study = make_study(runs, measures=("pos",), reference={"strength": "5"})
    assert study.reference == {"strength": 5.0}
    assert study.groups[0].differences["pos"].value == pytest.approx(-0.5)


def settings_and_differences(study):
    return {
        tuple(group.settings.values()): group.differences["pos"].value
        for group in study.groups
        if group.differences
    }


def test_the_reference_has_otherwise_the_same_settings():
    runs = [
        run(strength, seed, start + strength * slope + seed / 10, prompt)
        for prompt, start, slope in (("a", 0.0, 1.0), ("b", 50.0, 2.0))
        for strength in (0.0, 5.0)
        for seed in range(3)
    ]
    by, measures = ("strength", "prompt"), ("pos",)
    study = make_study(runs, by=by, measures=measures, reference={"strength": "0"})
    assert settings_and_differences(study) == {(5.0, "a"): 5.0, (5.0, "b"): 10.0}
    assert study.reference == {"strength": 0.0}

    lacking = [run for run in runs if run.settings["prompt"] == "a" or run.settings["strength"]]
    study = make_study(lacking, by=by, measures=measures, reference={"strength": "0"})
    assert settings_and_differences(study) == {(5.0, "a"): 5.0}
    assert "1 group has no reference group, and no differences." in study.notes

    every = {"strength": "0", "prompt": "a"}
    study = make_study(runs, by=by, measures=measures, reference=every)
    assert len(settings_and_differences(study)) == 3
    assert study.reference == {"strength": 0.0, "prompt": "a"}


def test_the_baseline_is_the_reference_of_all_methods():
    plain, *guided = (run(strength, 0, strength) for strength in (0.0, 5.0, 7.0))
    other = [replace(run, settings={**run.settings, "method": "layout"}) for run in guided]
    runs, by = [plain, *guided, *other], ("method", "strength")
    study = make_study(runs, by=by, measures=("pos",), reference={"strength": "0"})
    assert [*settings_and_differences(study).values()] == [5, 7, 5, 7]

    study = make_study(runs, by=by, measures=("pos",), reference={"strength": "5"})
    assert settings_and_differences(study) == {("layout", 7.0): 2, ("psg", 7.0): 2}
    assert "1 group has no reference group, and no differences." in study.notes


def test_methods_that_differ_are_named_with_their_groups():
    runs = [
        run(strength, seed, seed / 10, prompt)
        for strength, prompts in ((0.0, "ab"), (5.0, "ab"), (7.0, "a"), (9.0, "a"))
        for prompt in prompts
        for seed in range(2 if prompt == "a" else 4)
    ]
    study = make_study(runs, by=("strength",), measures=("pos", PASSES))
    words = "cluster bootstrap by prompt (0, 5); Student's t (7, 9)"
    assert study.methods({"pos": "PoS", PASSES: "PASS"}) == f"PoS: {words}. PASS: none"
    study = make_study(runs[-4:], by=("strength", "prompt"), measures=("pos",))
    assert study.methods({"pos": "PoS"}) == "PoS: Student's t"
    assert study.groups[0].name == "strength=7 prompt=a"


def test_several_prompts_are_resampled_as_wholes():
    runs = [
        run(strength, seed, number + strength + seed, prompt)
        for number, prompt in enumerate(["a", "b", "c"])
        for strength in (0.0, 5.0)
        for seed in range(4)
    ]
    plain, guided = make_study(runs, measures=("pos",)).groups
    assert plain.figures["pos"].method is IntervalMethod.CLUSTER_BOOTSTRAP
    difference = guided.differences["pos"]
    assert difference.text == "5.000 (no interval: equal values)"
    assert (difference.n, difference.missing) == (12, 0)


@pytest.mark.parametrize("prompts", [("a",), ("a", "b")])
def test_equal_values_have_no_interval(prompts):
    runs = [
        run(strength, seed, 0.1 + strength / 10, prompt, passes=1.0)
        for prompt in prompts
        for strength in (0.0, 5.0)
        for seed in range(3)
    ]
    plain, guided = make_study(runs, measures=("pos", PASSES)).groups
    assert plain.figures["pos"].text == "0.100 (no interval: equal values)"
    assert guided.differences["pos"].text == "0.500 (no interval: equal values)"
    assert guided.differences[PASSES].text == "0.000 (no interval: equal values)"


def test_equal_verdicts_of_one_prompt_have_wilsons_interval():
    runs = [run(strength, seed, 0.5, passes=1.0) for strength in (0.0, 5.0) for seed in range(3)]
    figure = make_study(runs, measures=(PASSES,)).groups[0].figures[PASSES]
    assert (figure.method, figure.high) == (IntervalMethod.WILSON, 1)
    assert figure.low == pytest.approx(0.4385, abs=1e-4)


def test_runs_can_be_grouped_by_prompt():
    runs = [run(5.0, seed, 0.5, prompt) for prompt in ("a", "b") for seed in (0, 1)]
    study = make_study(runs, by=("prompt",), measures=("pos",))
    assert [group.settings["prompt"] for group in study.groups] == ["a", "b"]
    assert study.groups[0].figures["pos"].method is IntervalMethod.T


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"by": ("colour",)}, 'setting "colour"'),
        ({"measures": ("beauty",)}, 'number "beauty"'),
        ({"reference": {"strength": "7"}}, "strength=7"),
    ],
    ids=["setting", "number", "reference"],
)
def test_unknown_names_are_rejected(runs, choice, message):
    with pytest.raises(SettingsError, match=message):
        make_study(runs, **choice)


def test_runs_of_one_recipe_are_counted_once(runs):
    poor, rich = (replace(runs[1], run=name, recipe="same") for name in ("poor", "rich"))
    poor = replace(poor, values={"pos": 0.4, PASSES: nan})
    study = make_study([*runs[2:], poor, rich, poor], measures=("pos",))
    assert [run.run for run in study.runs] == ["5.0-1", "0.0-1", "0.0-2", "rich"]
    figure = study.groups[0].figures["pos"]
    assert (figure.value, figure.n) == (pytest.approx(0.4), 3)
    assert study.notes == ("Not counted: 2 runs repeat the prompt, seed and settings of another.",)


def test_runs_left_unguided_by_their_trial_are_said(runs):
    left = [replace(run, is_left_unguided=True) for run in runs[:2]]
    study = make_study([*left, *runs[2:]])
    assert study.notes == ("2 of 5 runs needed no guidance, by their trials.",)
    assert make_study(runs).notes == ()


@pytest.mark.parametrize(("pairs", "is_noted"), [(1, False), (2, True), (9, True), (10, False)])
def test_intervals_of_fewer_than_ten_pairs_are_said_to_be_too_narrow(pairs, is_noted):
    runs = [
        run(strength, seed, seed / 20 * strength)
        for strength in (0.0, 5.0)
        for seed in range(pairs)
    ]
    note = "Some differences have fewer than 10 pairs: their intervals are too narrow."
    assert make_study(runs, measures=("pos",)).notes == ((note,) if is_noted else ())
    assert make_study(runs, measures=("pos",)).run_notes == ()


@pytest.mark.parametrize(("prompts", "is_noted"), [(1, False), (2, True), (9, True), (10, False)])
def test_intervals_over_fewer_than_ten_prompts_are_said_to_be_too_narrow(prompts, is_noted):
    runs = [
        run(strength, seed, (seed + number) / 20, f"{number} cats")
        for strength in (0.0, 5.0)
        for number in range(prompts)
        for seed in range(10)
    ]
    study = make_study(runs, measures=("pos",))
    note = f"Some intervals are over {prompts} prompts: below 10 they are too narrow."
    assert study.notes == study.figure_notes == ((note,) if is_noted else ())
    assert study.run_notes == ()


def test_metrics_are_computed_only_if_named_and_nan_if_missing(runs):
    asked = []

    def scores(names):
        asked.append(names)
        return {"visor": 0.5, "hrs": 1.0}

    assert with_metrics(runs[0], ("pos", PASSES), scores).values == runs[0].values
    found = with_metrics(runs[0], ("pos", "visor", "geneval"), scores)
    assert asked == [["visor", "geneval"]]
    assert (found.value("pos"), found.value("visor")) == (0.9, 0.5)
    assert isnan(found.values["geneval"])
    assert "hrs" not in found.values


def test_a_setting_has_the_name_of_its_field_in_the_form():
    names = ("strength", "loras", "search.candidates", "steering.particles")
    assert [*map(setting_label, names)] == ["Step size", "LoRAs", "Noise search", "Particles"]


def test_only_shares_among_the_metrics_have_the_unit_share():
    assert number_title("visor", "VISOR") == "VISOR (share)"
    assert number_title("da", "DA-score") == "DA-score"
    assert number_title("compbench", "T2I-CompBench") == "T2I-CompBench"
    assert number_title("step_size") == "Applied step size (latent units)"


def test_a_study_needs_runs():
    with pytest.raises(SettingsError, match="no runs"):
        make_study([])


def test_guidance_settings_of_an_unguided_request_have_no_effect(unguided_request, guided_request):
    off, on = settings_of(unguided_request), settings_of(guided_request)
    assert (off["strength"], off["method"], off["decay"]) == (0.0, None, None)
    assert (on["strength"], on["method"]) == (5.0, "psg")
    assert on["decay"] == guided_request.sampling.guidance.decay
    assert on["model.id"] == guided_request.model.id


@pytest.fixture
def guided_request(unguided_request):
    from spatialstudio.domain.generation import GuidanceSettings
    from spatialstudio.domain.run_settings import with_values

    return with_values(unguided_request, guidance=GuidanceSettings(method_id="psg", strength=5.0))


@pytest.fixture
def unguided_request():
    from spatialstudio.domain.generation import GenerationRequest, ModelRef
    from spatialstudio.domain.scene import Prompt, SceneGraph

    scene = SceneGraph(prompt=Prompt(text="a cat"), mentions=(), relations=(), extractor_id="x")
    return GenerationRequest(id="1", scene=scene, backend_id="b", model=ModelRef(id="m"))
