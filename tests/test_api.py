"""The Python API on a user's own pipeline, pictures and arrays. The families: test_families.py."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import DDIMScheduler, DDPMPipeline, StableDiffusionPipeline, UNet2DModel
from PIL import Image

from spatialstudio.api import evaluate, guide, open_run, pos, pse, read, watch
from spatialstudio.application import plugins
from spatialstudio.application.paths import HOME_VARIABLE, StudioPaths
from spatialstudio.application.studio import Studio
from spatialstudio.cli.commands import run as run_command
from spatialstudio.domain.errors import (
    BackendError,
    EmptyMapError,
    ImageError,
    NoDetectorChosen,
    OutOfMemory,
    PluginError,
    PromptError,
    RequestError,
    SettingsError,
    StoreError,
)
from spatialstudio.domain.scene import ABOVE, relation_types
from spatialstudio.domain.verdict import Outcome
from tests.adapters.diffusion.tiny_pipeline import save_tiny_pipeline

ROOT = Path(__file__).parents[1]
STORED_RUN = ROOT / "tests" / "golden" / "run_of_schema_1"
PROMPT = "a dog to the left of a car"
RELATION = "dog to the left of car"
STRONG = {"strength": 500.0}
FLAT = np.ones((2, 2))
LOWER = np.array([[1.0, 0.0], [1.0, 0.0]])
OVER = replace(ABOVE, id="over", phrase="hovering over")

pytestmark = pytest.mark.filterwarnings(  # diffusers 0.42 with numpy 2
    "ignore:__array_:DeprecationWarning"
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))


@pytest.fixture(scope="module")
def pipe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own") / "tiny"
    save_tiny_pipeline(folder)
    pipeline = StableDiffusionPipeline.from_pretrained(folder)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


@pytest.fixture
def draw(pipe):
    def run(prompt=PROMPT, seed=7, **more):
        settings = {
            "num_inference_steps": 2,
            "output_type": "np",
            "height": 64,
            "width": 64,
            "generator": torch.Generator().manual_seed(seed),
        }
        return pipe(prompt, **settings | more).images

    return run


def test_importing_loads_neither_numpy_nor_a_model_library():
    code = "import spatialstudio.api, sys; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    unwanted = {"numpy", "torch", "diffusers", "transformers", "PIL", "PySide6"}
    assert "spatialstudio.api" in result.stdout.split()
    assert unwanted.isdisjoint(result.stdout.split())


def test_guidance_raises_pos_and_the_run_records_it(pipe, draw):
    plain = draw()
    with guide(pipe, PROMPT, **STRONG) as run:
        guided = draw()
    assert not np.array_equal(guided, plain)
    assert run.is_guided
    assert run.notes == ()
    assert [*run.pos] == [RELATION]
    assert run.pos[RELATION].shape == (2,)
    assert run.pos_after[RELATION][0] > run.pos[RELATION][0]
    assert run.final_pos["r1"] == run.pos_after["r1"][-1]
    assert run.maps["dog"].shape == (2, 8, 8)
    assert not np.array_equal(run.maps["dog"][0], run.maps_after["dog"][0])
    assert run.map_steps == (0, 1)
    assert run.guidance.strength == 500
    assert RELATION in repr(run)


def test_watching_leaves_the_picture_and_records(pipe, draw):
    plain = draw()
    with watch(pipe, PROMPT, previews=True) as run:
        assert np.array_equal(draw(), plain)
    assert not run.is_guided
    assert run.steps[0].preview is not None
    assert np.array_equal(run.pos[RELATION], run.pos_after[RELATION])


def test_the_maps_of_each_layer_average_to_the_maps(pipe, draw):
    plain = draw()
    with watch(pipe, PROMPT, layers=True) as run:
        assert np.array_equal(draw(), plain)
    assert all(maps["dog"].shape[0] == 2 for maps in run.layer_maps.values())
    guiding = [run.layer_maps[name]["dog"] for name in run.steps[0].attention.layers]
    np.testing.assert_allclose(np.mean(guiding, axis=0), run.maps["dog"], rtol=1e-4, atol=1e-6)


def test_layers_are_recorded_on_request_only(pipe, draw):
    with guide(pipe, PROMPT, layers=True, **STRONG) as run:
        guided = draw()
    with guide(pipe, PROMPT, **STRONG) as other:
        assert np.array_equal(draw(), guided)
    assert len(run.layer_maps) > len(run.steps[0].attention.layers)
    assert other.layer_maps == {}


def test_layers_are_refused_where_no_pass_could_show_them(pipe, draw):
    with guide(pipe, PROMPT, layers=True, reuses_prediction=True), pytest.raises(RequestError):
        draw()


@pytest.mark.parametrize("output_type", ["np", "pil", "pt"])
def test_a_run_is_saved_as_the_program_does(pipe, draw, tmp_path, output_type):
    with guide(pipe, PROMPT, **STRONG) as run:
        draw(negative_prompt="tea", output_type=output_type)
    path = run.save(tmp_path / "runs")
    stored = open_run(path)
    request = stored.record.request
    assert (request.sampling.seed, request.sampling.steps) == (7, 2)
    assert (request.width, request.height) == (64, 64)
    assert request.scene.prompt.negative == "tea"
    assert request.sampling.guidance == run.guidance
    assert stored.image.shape == (64, 64, 3)
    np.testing.assert_allclose(stored.pos[RELATION], run.pos[RELATION])
    assert stored.maps["dog"].shape == run.maps["dog"].shape


def test_a_saved_run_is_judged_again_by_the_terminal(pipe, draw, tmp_path):
    with watch(pipe, PROMPT) as run:
        image = draw()[0]
    judged = evaluate(image, PROMPT, judges="stickers", device="cpu")
    path = run.save(tmp_path / "runs", evaluation=judged)
    assert open_run(path).evaluation.outcome == judged.outcome
    assert Studio.open("inline", StudioPaths.usual()).open_run(path).evaluation is not None
    assert run_command(["judge-again", str(path)]) == 0


def test_a_run_without_a_seed_or_a_call_is_not_saved(pipe, draw, tmp_path):
    with watch(pipe, PROMPT) as run:
        with pytest.raises(RequestError, match="no finished call"):
            run.save(tmp_path)
        draw(generator=None)
        with pytest.raises(RequestError, match="seed is unknown"):
            run.save(tmp_path)
        draw(output_type="latent")
        with pytest.raises(ImageError):
            run.save(tmp_path)
    assert run.save(tmp_path, image=np.zeros((64, 64, 3), np.uint8)).exists()


def test_every_call_of_a_block_is_recorded(pipe, draw):
    with guide(pipe, PROMPT) as run:
        assert run.calls == run.steps == ()
        draw()
        draw(num_inference_steps=3)
    assert [len(pictures[0].steps) for pictures in run.calls] == [2, 3]
    assert len(run.steps) == 3


def test_each_picture_of_a_call_has_its_own_recording(pipe, draw):
    generators = [torch.Generator().manual_seed(seed) for seed in (7, 8)]
    with guide(pipe, PROMPT, **STRONG) as run:
        draw(num_images_per_prompt=2, generator=generators[0])
        alone = [picture.pos[RELATION] for picture in run.pictures]
        draw([PROMPT, PROMPT], generator=generators)
    assert len(run.pictures) == 2
    assert not np.array_equal(*alone)
    assert all(picture.is_guided for picture in run.pictures)


def test_a_longer_prompt_is_guided_by_the_same_words(pipe, draw):
    with watch(pipe, PROMPT) as run:
        draw(f"tea, {PROMPT}, tea")
        together = run.maps
    with watch(pipe, f"tea, {PROMPT}, tea") as whole:
        draw(f"tea, {PROMPT}, tea")
    np.testing.assert_allclose(together["dog"], whole.maps["dog"], atol=1e-6)


@pytest.mark.parametrize("prompt", ["a tea", [PROMPT, "a tea"], f"{PROMPT}s"])
def test_another_prompt_is_refused_and_the_next_call_works(pipe, draw, prompt):
    with guide(pipe, PROMPT) as run:
        with pytest.raises(RequestError) as refusal:
            draw(prompt)
        draw()
    assert refusal.value.hint
    assert len(run.calls) == 1


def test_embeddings_stand_for_the_prompt_of_the_block(pipe, draw):
    words, nothing = pipe.encode_prompt(PROMPT, "cpu", 1, True)
    with guide(pipe, PROMPT, **STRONG) as run:
        by_prompt = draw()
        by_words = draw(None, prompt_embeds=words, negative_prompt_embeds=nothing)
    assert np.array_equal(by_prompt, by_words)
    assert len(run.calls) == 2


def test_names_only_draws_the_objects_without_the_relation(pipe, draw):
    with guide(pipe, PROMPT, names_only=True, strength=1e-9) as run:
        named = draw()
    assert run.prompt == "a dog and a car"
    np.testing.assert_allclose(named, draw("a dog and a car"), atol=1e-4)


def test_embeddings_cannot_stand_for_the_names_alone(pipe, draw):
    words, nothing = pipe.encode_prompt(PROMPT, "cpu", 1, True)
    with guide(pipe, PROMPT, names_only=True), pytest.raises(RequestError, match="embeddings"):
        draw(None, prompt_embeds=words, negative_prompt_embeds=nothing)


def test_inference_mode_is_refused_with_guidance_and_allowed_without(pipe, draw):
    plain = draw()
    with guide(pipe, PROMPT), torch.inference_mode(), pytest.raises(RequestError) as refusal:
        draw()
    assert "inference_mode" in refusal.value.message
    with watch(pipe, PROMPT) as run, torch.inference_mode():
        assert np.array_equal(draw(), plain)
    assert len(run.steps) == 2


class PassingOn(StableDiffusionPipeline):
    """A user's pipeline that passes arguments on."""

    def __call__(self, *args, shout=False, **kwargs):
        self.has_shouted = shout
        return super().__call__(*args, **kwargs)


def test_a_subclass_may_pass_arguments_on(pipe, draw):
    with guide(pipe, PROMPT, **STRONG) as plain:
        guided = draw()
    own = PassingOn(**pipe.components, requires_safety_checker=False)
    own.set_progress_bar_config(disable=True)
    settings = {
        "num_inference_steps": 2,
        "generator": torch.Generator().manual_seed(7),
        "output_type": "np",
    }
    with guide(own, PROMPT, **STRONG) as run:
        image = own(PROMPT, 64, 64, shout=True, **settings).images
    assert np.array_equal(image, guided)
    assert own.has_shouted
    assert len(run.steps) == len(plain.steps) == 2


def test_a_refused_call_is_not_recorded(pipe, draw):
    with guide(pipe, PROMPT) as run:
        draw()
        with pytest.raises(ValueError, match="divisible by 8"):
            draw(height=63)
    assert [len(pictures[0].steps) for pictures in run.calls] == [2]
    assert run.steps


def test_too_little_memory_is_reported_in_a_sentence(pipe, draw, monkeypatch):
    def fail(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")

    monkeypatch.setattr(pipe.vae, "decode", fail)
    with guide(pipe, PROMPT), pytest.raises(OutOfMemory) as error:
        draw()
    assert error.value.hint


def test_invalid_numbers_are_recorded_without_guidance(pipe, draw, monkeypatch):
    step = pipe.scheduler.step

    def spoil(*args, **kwargs):
        sample, *others = step(*args, **kwargs)
        return (sample * float("nan"), *others)

    monkeypatch.setattr(pipe.scheduler, "step", spoil)
    with watch(pipe, PROMPT) as run:
        draw(output_type="latent")
    assert np.isnan(run.pos[RELATION][1])
    with guide(pipe, PROMPT), pytest.raises(BackendError, match="invalid numbers"):
        draw(output_type="latent")


def test_no_strength_is_noted(pipe):
    with guide(pipe, PROMPT, strength=0) as run:
        pass
    assert run.notes == ("The strength is 0: the pipeline runs without guidance.",)


def test_weights_that_are_replaced_in_a_call_take_gradients_again(pipe, draw, monkeypatch):
    layer = pipe.unet.conv_out
    run = layer.forward

    def replace_weights(inputs):
        layer.bias = torch.nn.Parameter(layer.bias.detach(), layer.bias.requires_grad)
        return run(inputs)

    monkeypatch.setattr(layer, "forward", replace_weights)
    with guide(pipe, PROMPT):
        draw()
    assert all(weights.requires_grad for weights in pipe.unet.parameters())


def test_options_of_a_method_are_settings(pipe, draw):
    with guide(pipe, PROMPT, method="psg-presence", presence_weight=0.5) as run:
        draw()
    assert run.guidance.options["presence_weight"] == 0.5


def test_places_are_targets_of_the_guidance(pipe):
    places = {"dog": (0.3, 0.5), "car": (0.7, 0.5, 0.25)}
    with guide(pipe, "a dog and a car", places=places, target_weight=0.6) as run:
        assert not [note for note in run.notes if "nothing to guide" in note]
    with pytest.raises(RequestError, match='does not mention "cat"'):
        guide(pipe, PROMPT, places={"cat": (0.1, 0.1)}).__enter__()
    with pytest.raises(RequestError, match="place cannot be 7"):
        guide(pipe, PROMPT, places={"dog": (7, 0.1)}).__enter__()


def test_the_innermost_of_nested_blocks_is_in_effect(pipe, draw):
    plain = draw()
    with guide(pipe, PROMPT, **STRONG) as outer:
        guided = draw()
        with watch(pipe, PROMPT) as inner:
            assert np.array_equal(draw(), plain)
        assert np.array_equal(draw(), guided)
    assert (len(outer.calls), len(inner.calls)) == (2, 1)
    assert type(pipe) is StableDiffusionPipeline


def test_a_user_may_end_blocks_in_another_order(pipe, draw):
    first, second = guide(pipe, PROMPT), watch(pipe, PROMPT)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert type(pipe) is not StableDiffusionPipeline
    second.__exit__(None, None, None)
    assert type(pipe) is StableDiffusionPipeline


def test_the_pipelines_own_error_passes_and_the_pipeline_is_restored(pipe, draw):
    with pytest.raises(ValueError, match="divisible by 8"), guide(pipe, PROMPT):
        draw(height=63)
    with pytest.raises(TypeError, match="prompt"), guide(pipe, PROMPT):
        pipe(PROMPT, prompt=PROMPT)
    assert type(pipe) is StableDiffusionPipeline
    assert "forward" not in vars(pipe.unet)


def test_an_unguidable_prompt_is_not_guided_and_noted(pipe, draw):
    plain = draw("a dog")
    with guide(pipe, "a dog", **STRONG) as run:
        assert np.array_equal(draw("a dog"), plain)
    assert "nothing to guide" in run.notes[-1]
    assert run.maps["dog"].shape == (2, 8, 8)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"method": "magic"}, RequestError),
        ({"preset": "mine"}, RequestError),
        ({"preset": "published", "method": "psg-presence"}, RequestError),
        ({"strength": -1.0}, RequestError),
        ({"goal": 2}, RequestError),
        ({"goal": "high"}, RequestError),
        ({"unit": "miles"}, RequestError),
        ({"colour": "red"}, RequestError),
        ({"presence_weight": 0.1}, RequestError),
        ({"method": "psg-presence", "presence_weight": -1}, RequestError),
        ({"prompt": "a dog left of a car, the car left of the dog"}, PromptError),
        ({"prompt": f"{'tea ' * 30}{PROMPT}"}, PromptError),
    ],
)
def test_a_block_that_cannot_be_guided_is_refused_with_a_hint(pipe, settings, error):
    with pytest.raises(error) as refusal, guide(pipe, **{"prompt": PROMPT} | settings):
        pytest.fail("The block is open.")
    assert refusal.value.hint
    assert type(pipe) is StableDiffusionPipeline


def test_a_pipeline_of_another_kind_is_refused():
    unet = UNet2DModel(
        sample_size=8,
        block_out_channels=(32,),
        down_block_types=("DownBlock2D",),
        up_block_types=("UpBlock2D",),
    )
    other = DDPMPipeline(unet, DDIMScheduler())
    with pytest.raises(BackendError, match="DDPMPipeline") as refusal, watch(other, PROMPT):
        pytest.fail("The block is open.")
    assert "FluxPipeline" in refusal.value.hint


def test_a_compiled_denoiser_is_refused(pipe, monkeypatch):
    monkeypatch.setattr(pipe.unet, "_compiled_call_impl", pipe.unet.forward)
    with pytest.raises(BackendError, match="compiled"), guide(pipe, PROMPT):
        pytest.fail("The block is open.")


def test_a_prompt_is_read():
    scene = read(PROMPT)
    (relation,) = scene.relations
    assert [mention.head for mention in scene.mentions] == ["dog", "car"]
    assert scene.sentence(relation) == RELATION


def test_a_read_scene_stands_for_its_prompt(pipe, draw):
    with watch(pipe, read(PROMPT)) as run:
        draw()
    assert [*run.maps] == ["dog", "car"]


def test_pos_and_pse_of_masks():
    left, right = np.zeros((2, 4, 4), bool)
    left[:, 0] = right[:, 3] = True
    assert pos(left, right) == 1
    assert pos(right, left) == 0
    assert pos(left, left) == 0.5
    assert pse(left, right, relation="to the left of") == 1
    assert pse(left, left) == 0
    middle = np.zeros((4, 4), bool)
    middle[:, 1] = True
    assert pos(middle, left, right, relation="between") == 1
    depth = np.tile(np.arange(4), (4, 1))
    assert pos(left, right, relation="in_front_of", depth=depth) == 1


def test_pos_knows_the_relations_of_plugins_before_anything_is_read(monkeypatch):
    registered = []

    def install():
        if not registered:
            registered.append(OVER.id)
            relation_types.register(OVER)

    monkeypatch.setattr(plugins, "installed_plugins", install)
    try:
        assert pos(LOWER.T, LOWER.T[::-1], relation="hovering over") > 0.5
    finally:
        relation_types.unregister(OVER.id)


def test_pos_of_a_stack_of_maps():
    generator = np.random.default_rng(0)
    one, other = generator.random((2, 3, 4, 5))
    assert pos(one, other, relation="above").shape == (3,)
    np.testing.assert_allclose(pos(one, other) + pos(other, one), 1)


@pytest.mark.parametrize(
    ("maps", "relation", "error"),
    [
        ((FLAT, 0 * FLAT), "left_of", EmptyMapError),
        ((FLAT, np.ones((2, 3))), "left_of", RequestError),
        ((np.ones(2), np.ones(2)), "left_of", RequestError),
        ((FLAT, -FLAT), "left_of", RequestError),
        ((FLAT, FLAT * np.nan), "left_of", RequestError),
        ((FLAT, FLAT), "between", RequestError),
        ((FLAT, FLAT, FLAT), "left_of", RequestError),
        ((FLAT, FLAT), "behind", RequestError),
        ((FLAT, FLAT), "beyond", PluginError),
    ],
)
def test_maps_that_cannot_be_compared_are_refused(maps, relation, error):
    with pytest.raises(error):
        pos(*maps, relation=relation)


def test_a_stored_run_opens_without_a_model():
    run = open_run(STORED_RUN)
    assert run.image.shape[-1] == 3
    assert len(run.steps) > 0
    assert run.pos
    assert run.maps
    assert run.record.request.sampling.seed >= 0
    assert run.evaluation.outcome in Outcome


def test_a_file_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(StoreError):
        open_run(tmp_path / "nothing.png")


@pytest.fixture(scope="module")
def sticker_picture():
    return open_run(STORED_RUN).image


def test_without_a_suitable_detector_there_is_no_verdict(sticker_picture):
    with pytest.raises(NoDetectorChosen) as refusal:
        evaluate(sticker_picture, PROMPT)
    assert refusal.value.hint


def test_metrics_are_computed_by_name(sticker_picture):
    names = ["visor:mended", "da"]
    judged = evaluate(sticker_picture, PROMPT, judges="stickers", metrics=names)
    assert judged.metrics["visor"][RELATION] in (True, False)
    assert 0 <= judged.pse[RELATION] <= 1
    assert 0 <= judged.values["da_score"] <= 1
    assert evaluate(sticker_picture, PROMPT, judges="stickers").metrics == {}


@pytest.mark.parametrize(
    ("image", "settings", "error"),
    [
        (np.zeros((4, 4, 3)), {"judges": "stickers", "metrics": ["taste"]}, SettingsError),
        (np.zeros((4, 4, 3)), {"judges": "stickers", "device": "tpu:0"}, RequestError),
        (np.zeros((4, 4)), {"judges": "stickers"}, ImageError),
        (np.full((4, 4, 3), 300), {"judges": "stickers"}, ImageError),
        (np.zeros((4, 4, 3)), {"judges": "stickers", "margin": 7}, SettingsError),
        (np.zeros((4, 4, 3)), {"judges": "stickers", "colour": 7}, SettingsError),
        (np.zeros((4, 4, 3)), {"judges": {"cook": "x"}}, RequestError),
    ],
)
def test_what_cannot_be_evaluated_is_refused(image, settings, error):
    with pytest.raises(error):
        evaluate(image, PROMPT, **settings)


def test_the_example_of_the_readme_works(monkeypatch):
    """It draws with the embedded model from the checkout and judges the picture."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.S)
    names = {}
    monkeypatch.chdir(ROOT)
    exec(compile(example, "README.md", "exec"), names)
    assert names["run"].final_pos[RELATION] > 0.9
    assert names["verdict"].outcome is Outcome.PASS
    again = evaluate(
        Image.fromarray(np.asarray(names["image"])),
        PROMPT,
        judges="stickers",
        checker="recommended",
        margin=0.6,
    )
    assert again.verdicts["r1"].outcome is Outcome.UNDECIDABLE
    assert again.verdicts["r1"].reason is not None
    assert "UNDECIDABLE" in repr(again)


def test_the_examples_of_the_guide_run(pipe, monkeypatch, tmp_path):
    text = (ROOT / "resources" / "guide" / "api.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.S)
    monkeypatch.chdir(tmp_path)
    names = {"pipe": partial(pipe, num_inference_steps=2)}
    code = "\n".join(examples).replace("guide(pipe", "guide(pipe.func")
    exec(compile(code, "api.md", "exec"), names)
    assert names["path"].is_file()
    assert names["judged"].metrics["visor"]
