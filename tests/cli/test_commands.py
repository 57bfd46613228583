import json
from dataclasses import replace
from importlib import metadata
from math import dist

import numpy as np
import pytest
from PIL import Image

from spatialstudio.application.models.model_lists import choose_guidance
from spatialstudio.application.plugins import DisabledPlugin, LoadedPlugin, Plugins
from spatialstudio.application.studio import Studio
from spatialstudio.application.torch_builds import Machine, NvidiaCards
from spatialstudio.cli.commands import run
from spatialstudio.cli.guidance_options import attention_detail
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import (
    BackendError,
    DetectorError,
    ModelNotFound,
    PromptError,
    SettingsError,
)
from spatialstudio.domain.generation import UNGUIDED, GuidanceSettings, PlaceTarget
from spatialstudio.domain.steering import Potential, Steering, StepReward
from spatialstudio.plugin_api import API_VERSION, AdapterEntry, Plugin
from tests.cli.conftest import CARD, FakeShelf, InterruptedBackend
from tests.fakes import WORD_LIMIT
from tests.sticker_pictures import save_sticker_picture

PROMPT = "a photo of a dog to the left of a car"


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "my runs"


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "grey.png"
    save_sticker_picture(path, np.full((16, 16, 3), 128, np.uint8))
    return path


def test_parse_prints_the_scene(terminal):
    done = terminal("parse", "a dog left of a car, above it a unicorn without wings")
    assert done.code == 0
    assert "r1  dog to the left of car" in done.out
    assert "r2  unicorn above car" in done.out
    assert 'Note: I do not understand "without wings".' in done.out


def test_parse_prints_json(terminal):
    answer = json.loads(terminal("parse", "two red cars between a dog and a cat", "--json").out)
    assert [thing["head"] for thing in answer["objects"]] == ["car", "dog", "cat"]
    assert answer["objects"][0]["attributes"] == ["red"]
    (relation,) = answer["relations"]
    assert (relation["subject"], relation["object"]) == ("car", ["dog", "cat"])
    assert relation["span"] == [13, 20]
    assert answer["notes"] == answer["contradictions"] == []


def test_parse_prints_contradictions(terminal):
    done = terminal("parse", "a dog left of a car and right of the car")
    assert done.code == 0
    assert "Contradiction: " in done.out


def test_parse_prints_the_token_positions_of_a_model(terminal):
    answer = json.loads(terminal("parse", PROMPT, "--model", "fake", "--json").out)
    assert [thing["tokens"] for thing in answer["objects"]] == [[1], [2]]
    assert "(tokens 1)" in terminal("parse", PROMPT, "--model", "fake").out


def test_generate_stores_the_run_and_prints_the_verdict(terminal, runs):
    done = terminal("generate", PROMPT, "--seed", 7, "--out", runs)
    assert done.code == 0
    assert "PASS: dog to the left of car" in done.out
    (picture,) = runs.glob("*.png")
    assert str(picture) in done.out
    assert done.err == ""


def test_words_beyond_the_token_limit_are_reported(terminal, runs):
    wordy = ", ".join([PROMPT, *["warm light"] * WORD_LIMIT])
    done = terminal("generate", wordy, "--out", runs, "--json")
    assert done.code == 0
    assert json.loads(done.out)["prompt"] == wordy
    assert 'The prompt is too long: "light, warm light' in done.err


def test_generate_prints_json(terminal, runs):
    answer = json.loads(terminal("generate", PROMPT, "--seed", 7, "--out", runs, "--json").out)
    assert (answer["seed"], answer["guidance"], answer["device"]) == (7, "layout", "cpu")
    assert [verdict["outcome"] for verdict in answer["verdicts"]] == ["PASS"]
    assert answer["picture"].startswith(str(runs))


def test_options_set_the_request(terminal, registry, runs):
    terminal("generate", PROMPT, "--steps", 3, "--strength", 1.5, "--out", runs)
    terminal("generate", PROMPT, "--guidance", "none", "--out", runs)
    guided, plain = registry.backend_made.requests
    assert (guided.sampling.steps, guided.sampling.guidance.strength) == (3, 1.5)
    assert plain.sampling.guidance.method_id == "none"


def test_places_set_the_request_and_the_result_says_how_far_off_they_are(terminal, registry, runs):
    typed = ["--place", "dog=0.3,0.5", "--place", "car=0.7,0.5,0.25", "--place-weight", "0.6"]
    done = terminal("generate", "a dog and a car", *typed, "--out", runs)
    (request,) = registry.backend_made.requests
    assert request.sampling.guidance.method_id == "layout"
    assert request.sampling.guidance.target_weight == 0.6
    assert request.sampling.guidance.targets == (
        PlaceTarget(mention_id="m1", x=0.3, y=0.5),
        PlaceTarget(mention_id="m2", x=0.7, y=0.5, size=0.25),
    )
    assert "dog: " in done.out
    assert "of the side from its place" in done.out
    (picture,) = runs.glob("*.png")
    shown = json.loads(terminal("runs", "show", picture, "--json").out)["runs"][0]
    assert (shown["places"][1]["phrase"], shown["places"][1]["size"]) == ("car", 0.25)
    assert shown["places"][1]["distance"] == pytest.approx(
        dist((0.7, 0.5), [shown["places"][1]["found"][axis] for axis in "xy"])
    )


ONLY_DEPTH = "a dog behind a car"


WITH_PSG = ("--guidance", "psg")


def test_a_method_without_depth_leaves_it_alone_and_suggests_a_search(terminal, registry, runs):
    suggestions = [
        "does not act on depth" in terminal("generate", *words, "--out", runs).err
        for words in (
            [ONLY_DEPTH, *WITH_PSG, "--particles", 1],
            [ONLY_DEPTH, *WITH_PSG],
            [ONLY_DEPTH, "--guidance", "none"],
            [PROMPT, *WITH_PSG],
            [ONLY_DEPTH],
        )
    ]
    methods = [each.sampling.guidance.method_id for each in registry.backend_made.requests]
    assert suggestions == [True, False, False, False, False]
    assert methods == ["none", "none", "none", "psg", "layout"]


def test_depth_is_steered_where_guidance_does_not_act_on_it(terminal, registry, runs):
    for words in (
        [ONLY_DEPTH, *WITH_PSG],
        [ONLY_DEPTH, "--guidance", "none"],
        [ONLY_DEPTH, *WITH_PSG, "--strength", 0],
        [ONLY_DEPTH],
    ):
        terminal("generate", *words, "--out", runs)
    terminal("generate", PROMPT, "--out", runs)
    steered = [request.steering.is_on for request in registry.backend_made.requests]
    assert steered == [True, False, False, False, False]


def test_steering_options_set_the_request(terminal, registry, runs):
    numbers = ["--steer-keep", 0.5, "--steer-start", 0.1, "--steer-stop", 0.6, "--steer-every", 0.3]
    kinds = ["--steer-strength", 5, "--steer-potential", "sum", "--steer-reward", "attention"]
    terminal("generate", PROMPT, "--particles", 4, *numbers, *kinds, "--out", runs)
    (request,) = registry.backend_made.requests
    assert request.steering == Steering(
        particles=4,
        keep=0.5,
        start=0.1,
        stop=0.6,
        every=0.3,
        strength=5,
        potential=Potential.SUM,
        rewards=(StepReward.ATTENTION,),
    )


def test_a_search_is_not_suggested_to_a_search(terminal, runs):
    done = terminal("generate", "a dog behind a car", "--search", 2, "--out", runs)
    assert done.code == 0
    assert "--search" not in done.err


def test_without_options_the_request_has_the_preset_of_the_method(terminal, registry, runs):
    done = terminal("generate", PROMPT, "--out", runs)
    assert done.code == 0, done.err
    (request,) = registry.backend_made.requests
    recommended = choose_guidance("layout", CARD, request.sampling.steps)
    assert recommended.inner_updates > 1
    assert request.sampling.guidance == recommended


def test_guidance_options_set_the_request(terminal, registry, runs):
    typed = ["--guidance", "boxdiff", "--goal", "0.9", "--one-by-one", "--names-only"]
    others = ["--paper-loss", "--reuse-prediction", "--checkpointing", "--out", runs]
    when = ["--guided-steps", 3, "--every", 2, "--inner-updates", 4]
    terminal("generate", PROMPT, *typed, *others, *when)
    (request,) = registry.backend_made.requests
    assert request.sampling.guidance == GuidanceSettings(
        method_id="boxdiff",
        strength=20,
        last_step=2,
        every=2,
        inner_updates=4,
        goal=0.9,
        one_by_one=True,
        names_only=True,
        reuses_prediction=True,
        checkpointing=True,
    )


def test_zero_strength_disables_guidance(terminal, registry, runs):
    done = terminal("generate", PROMPT, "--strength", 0, "--names-only", "--out", runs)
    (request,) = registry.backend_made.requests
    assert (request.sampling.guidance.method_id, request.sampling.guidance.names_only) == (
        UNGUIDED,
        True,
    )
    assert "depth" not in done.err


def test_memory_savings_and_layers_set_the_request(terminal, registry, runs):
    typed = ["--save-memory", "checkpointing", "--save-memory", "every second step"]
    typed += [
        "--float32-attention",
        "--self-attention",
        "--guidance-layer",
        "mid",
        "--guidance-layer",
        "up",
    ]
    terminal("generate", PROMPT, *typed, "--keep-attention", "all layers", "--out", runs)
    (request,) = registry.backend_made.requests
    assert request.sampling.savings == (Saving.CHECKPOINTING, Saving.EVERY_SECOND_STEP)
    assert (request.sampling.guidance.checkpointing, request.sampling.guidance.every) == (True, 2)
    assert request.capture.detail is AttentionDetail.EVERY_WORD
    assert request.capture.full_precision
    assert request.capture.self_attention
    assert request.sampling.guidance.layers == ("mid", "up")


@pytest.mark.parametrize("detail", AttentionDetail)
def test_recorded_attention_is_named_as_in_the_window_or_as_stored(detail):
    for text in (detail.title, detail.title.lower(), detail.value):
        assert attention_detail(text) is detail


def test_device_and_number_format_set_the_request(terminal, registry, runs):
    typed = ["--device", "cpu", "--number-format", "bfloat16"]
    terminal("generate", PROMPT, *typed, "--out", runs)
    (request,) = registry.backend_made.requests
    assert (request.sampling.device, request.sampling.dtype) == ("cpu", "bfloat16")


def test_sampling_options_set_the_request(terminal, registry, runs):
    typed = ["--sampler", "euler", "--guidance-scale", "2.5", "--negative", "fog"]
    terminal("generate", PROMPT, *typed, "--out", runs)
    (request,) = registry.backend_made.requests
    assert (request.sampling.scheduler_id, request.guidance_scale) == (
        "EulerDiscreteScheduler",
        2.5,
    )
    assert request.scene.prompt.negative == "fog"


def test_a_search_ends_early_and_prints_what_it_compared(terminal, registry, runs):
    done = terminal("generate", PROMPT, "--search", 4, "--out", runs)
    assert len(registry.backend_made.requests) == 1
    assert "1. seed 0: PSE 1.00, 100% of the relations pass" in done.out


def test_a_search_draws_up_to_its_limit(terminal, registry, runs):
    typed = ["--search", 3, "--enough", 2, "--out", runs, "--json"]
    answer = json.loads(terminal("generate", PROMPT, *typed).out)
    assert [score["seed"] for score in answer["candidates"]] == [0, 1, 2]
    assert len(registry.backend_made.requests) == 3


def test_evaluate_judges_a_picture(terminal, picture):
    done = terminal("evaluate", picture, "--prompt", PROMPT)
    assert done.code == 0
    assert done.out.startswith("PASS: dog to the left of car\n  The centre of the dog is ")


def test_evaluate_prints_counts_and_colours_with_their_values(terminal, picture):
    done = terminal("evaluate", picture, "--prompt", "three dogs", "--no-store")
    assert done.out.splitlines()[:3] == [
        "FAIL: dog: count, three",
        "  1 instance of dog found; the prompt requires three.",
        "  confidence 0.90",
    ]
    assert "  there are three dogs: 0.00" in done.out.splitlines()
    told = json.loads(
        terminal("evaluate", picture, "--prompt", "three dogs", "--no-store", "--json").out
    )
    (verdict,) = told["mention_verdicts"]
    assert (verdict["required"], verdict["count"], told["outcome"]) == ("three", 1, "FAIL")


def test_evaluate_without_a_relation_judges_nothing(terminal, picture):
    done = terminal("evaluate", picture, "--prompt", "a dog", "--no-store")
    assert done.code == 0
    assert done.out.splitlines() == [
        "DA-score 0.90",
        "  there is a dog: 0.90",
        "There is no relation, count or colour to judge.",
    ]


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        (["parse", ""], "empty"),
        (["generate", "a unicorn left of a dog"], "unicorn"),
        (["generate", "a dog left of itself"], "itself"),
        (["generate", PROMPT, "--seed", "-1"], "seed"),
        (["generate"], "--prompts"),
        (["generate", PROMPT, "--search", "0"], "search"),
        (["generate", PROMPT, "--goal", "0.4"], "pause"),
        (["generate", PROMPT, "--preset", "published"], 'no preset "published"'),
        (["generate", "a dog", "--search", "2"], "at least one relation"),
        (["generate", PROMPT, "--width", "130"], "130"),
        (["generate", PROMPT, "--place", "bird=0.1,0.2"], 'does not mention "bird"'),
        (["generate", PROMPT, "--place", "dog=1.2,0.2"], "place cannot be 1.2"),
        (["generate", PROMPT, "--place", "dog=0,0", "--place", "dog=1,1"], "placed twice"),
        (["generate", PROMPT, "--place", "dog=0,0", "--place-weight", "2"], "cannot be 2"),
        (["generate", PROMPT, "--place", "dog=0,0", "--guidance", "none"], "requires guidance"),
        (["generate", PROMPT, "--height", "9000"], "9000"),
        (["generate", PROMPT, "--model", "nothing"], "nothing"),
        (["evaluate", "nothing.png", "--prompt", PROMPT], "nothing.png"),
    ],
)
def test_a_user_error_exits_with_two_and_a_message_with_a_hint(terminal, words, telling):
    done = terminal(*words)
    assert done.code == 2
    assert done.out == ""
    assert telling in done.err
    assert len(done.err.splitlines()) == 2


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["dance"],
        ["generate", "a", "--seed", "x"],
        ["generate", PROMPT, "--place", "dog"],
        ["generate", PROMPT, "--place", "dog=0.1"],
        ["generate", PROMPT, "--place", "dog=left,up"],
    ],
)
def test_unreadable_input_exits_with_two(terminal, words):
    with pytest.raises(SystemExit) as ended:
        terminal(*words)
    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BackendError("The model is tired.", hint="Let it rest."), 1),
        (PromptError("The prompt is too long.", hint="Say less."), 2),
        (ZeroDivisionError("by zero"), 1),
    ],
    ids=["failure", "mistake", "bug"],
)
def test_a_failed_generation_prints_no_traceback(terminal, registry, runs, error, code):
    registry.backend_made.error = error
    done = terminal("generate", PROMPT, "--out", runs)
    assert done.code == code
    assert done.out == ""
    assert len(done.err.splitlines()) == 2
    assert list(runs.iterdir()) == []


def test_a_traceback_is_printed_on_request(terminal, registry, runs):
    registry.backend_made.error = ZeroDivisionError("by zero")
    assert "Traceback" in terminal("generate", PROMPT, "--out", runs, "--debug").err


def test_a_picture_that_cannot_be_judged_is_stored(terminal, registry, runs):
    registry.detector_made.error = DetectorError("The detector is missing.", hint="Reinstall.")
    done = terminal("generate", PROMPT, "--out", runs)
    assert done.code == 1
    (picture,) = runs.glob("*.png")
    assert str(picture) in done.out
    assert done.err == "The detector is missing.\nReinstall.\n"


def test_ctrl_c_stops_the_run_and_leaves_nothing(terminal, registry, runs):
    registry.backend_made = InterruptedBackend()
    done = terminal("generate", PROMPT, "--out", runs)
    assert done.code == 130
    assert done.err == "Stopped.\n"
    assert list(runs.iterdir()) == []


def test_training_reports_progress_on_standard_error(terminal, tmp_path):
    done = terminal("train-stickers", "--preset", "smoke", "--work", "w", "--out", tmp_path)
    assert done.code == 0
    assert done.err == "training smoke in w\n"
    assert str(tmp_path) in done.out


def test_existing_models_are_replaced_only_on_request(terminal, tmp_path):
    (tmp_path / "config.json").write_text("mine")
    words = ("train-stickers", "--work", tmp_path / "work", "--out", tmp_path)
    done = terminal(*words)
    assert done.code == 2
    assert "--overwrite" in done.err
    assert terminal(*words, "--overwrite").code == 0


def test_an_unknown_preset_is_a_user_error(terminal, registry):
    registry.trainer_made.error = SettingsError("There is no preset.", hint="Choose full.")
    assert terminal("train-stickers", "--preset", "huge").code == 2


@pytest.fixture
def no_search_for_devices(monkeypatch):
    """Keep the doctor from importing torch in a process; one test below lists the devices."""
    monkeypatch.setattr("spatialstudio.cli.doctor.TRY_DEVICE", "print('cpu')")


@pytest.mark.usefixtures("no_search_for_devices")
def test_a_damaged_model_is_reported_by_every_command(terminal, registry):
    damage = ModelNotFound('The model folder "mine" is damaged.', hint="Install it again.")
    registry.shelf_made = FakeShelf(broken={"mine": damage})
    assert terminal("generate", PROMPT, "--model", "mine").err.startswith(damage.message)
    assert damage.message in terminal("doctor").out


@pytest.mark.usefixtures("no_search_for_devices")
def test_the_doctor_lists_plugins_and_why_others_are_disabled(terminal, monkeypatch):
    plugin = Plugin(
        name="Mine",
        api_version=API_VERSION,
        adapters=(AdapterEntry(kind="detector", id="mine", make="mine:build"),),
    )
    plugins = Plugins(
        loaded=(LoadedPlugin(plugin=plugin, version="1.2"),),
        disabled=(DisabledPlugin(name="Old", version="0.1", reason="It is too old."),),
    )
    monkeypatch.setattr(Studio, "plugins", plugins)
    done = terminal("doctor", "--json")
    rows = [row for row in json.loads(done.out)["findings"] if row["name"] == "plugin"]
    assert [(row["value"], row["problem"]) for row in rows] == [
        ('Mine 1.2: detector "mine"', False),
        ("Old 0.1 is disabled. It is too old.", True),
    ]


@pytest.mark.usefixtures("no_search_for_devices")
def test_the_doctor_prints_the_command_for_a_card_that_torch_does_not_use(terminal, monkeypatch):
    cards = NvidiaCards(driver=(580, 95), capabilities=((8, 9),))
    machine = Machine(system="win32", architecture="amd64", nvidia=cards)
    monkeypatch.setattr("spatialstudio.cli.doctor.describe_machine", lambda environment: machine)
    cpu_build = ("2.13.0+cpu", False)
    monkeypatch.setattr("spatialstudio.cli.doctor.installed_torch", lambda: cpu_build)
    done = terminal("doctor")
    assert done.code == 1
    assert "NVIDIA card present, but torch is a CPU build. Run: " in done.out
    assert "/cu130 torch==" in done.out


@pytest.mark.usefixtures("no_search_for_devices")
def test_the_doctor_shows_why_nvidia_smi_reports_no_card(terminal, monkeypatch):
    machine = Machine(system="linux", architecture="x86_64", problem="It reports no card.")
    monkeypatch.setattr("spatialstudio.cli.doctor.describe_machine", lambda environment: machine)
    assert "It reports no card." in terminal("doctor").out


@pytest.mark.usefixtures("no_search_for_devices")
def test_the_doctor_names_the_libraries_that_the_window_misses(terminal, monkeypatch):
    missing = ("Qt needs libxcb-icccm.so.4.", "Install them: sudo apt-get install libxcb-icccm4")
    monkeypatch.setattr("spatialstudio.cli.doctor.window_obstacle", lambda environment: missing)
    done = terminal("doctor", "--json")
    findings = {row["name"]: row for row in json.loads(done.out)["findings"]}
    assert findings["window"]["value"] == " ".join(missing)
    assert findings["window"]["problem"]


def test_the_version_is_the_installed_package_version(capsys):
    with pytest.raises(SystemExit) as end:
        run(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"spatialstudio {metadata.version('spatialstudio')}\n"


def test_the_doctor_names_a_missing_model(terminal, registry):
    registry.shelf_made = FakeShelf(models=())
    done = terminal("doctor", "--json")
    findings = {row["name"]: row for row in json.loads(done.out)["findings"]}
    assert findings["model"] == {"name": "model", "value": "none found", "problem": True}
    assert findings["device"]["value"].split(", ")[-1] == "cpu"
    assert done.code == 1


@pytest.fixture
def foreign(tmp_path):
    """A picture that does not say who drew it."""
    path = tmp_path / "foreign.png"
    Image.fromarray(np.full((16, 16, 3), 128, np.uint8)).save(path)
    return path


def is_judged(done):
    """Whether a verdict was told."""
    return any(outcome in done.out for outcome in ("PASS:", "FAIL:", "UNDECIDABLE:"))


@pytest.mark.parametrize("more", [[], ["--metrics", "checker"]], ids=["one", "many"])
def test_a_picture_by_another_model_is_not_judged_by_default(terminal, foreign, more):
    done = terminal("evaluate", str(foreign), "--prompt", PROMPT, *more)
    assert done.code != 0
    assert "The picture is not judged" in done.out + done.err
    assert not is_judged(done)


def test_the_sticker_models_judge_any_picture_if_chosen(terminal, foreign):
    done = terminal("evaluate", str(foreign), "--prompt", PROMPT, "--detector", "sticker-segmenter")
    assert done.code == 0
    assert is_judged(done)
    assert "supports sticker pictures only" in done.out


def test_a_picture_of_another_model_is_drawn_and_stored_without_a_verdict(terminal, registry):
    registry.shelf_made.models = (replace(CARD, known_objects={}),)
    done = terminal("generate", PROMPT)
    assert done.code == 0
    assert "saved to" in done.out
    assert "The picture is not judged" in done.err
    assert not is_judged(done)


def test_a_missing_judge_model_is_reported_before_generation(terminal, registry, monkeypatch):
    def missing(name):
        raise ModelNotFound(f'The segmenter "{name}" is not installed.', hint="Download it.")

    monkeypatch.setattr(registry, "segmenter", missing)
    done = terminal("generate", PROMPT, "--segmenter", "maker/sam")
    assert done.code == 2
    assert 'The segmenter "maker/sam" is not installed.' in done.err
    assert "saved to" not in done.out


def test_a_search_among_pictures_of_another_model_needs_a_detector(terminal, registry):
    registry.shelf_made.models = (replace(CARD, known_objects={}),)
    done = terminal("generate", PROMPT, "--search", "2")
    assert done.code != 0
    assert "The picture is not judged" in done.err
