"""Single-file checkpoints of the original layouts are drawn with, without a folder beside them."""

import socket
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.load_pipeline import load_pipeline, load_streams
from spatialstudio.adapters.models.identify_file import EPSILON, SD_1, SD_2, SDXL, V_PREDICTION
from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.domain.errors import ModelNotFound, RequestError
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.single_file import original_weights, same_weights
from tests.adapters.diffusion.true_layouts import random_parts, shrink_shipped
from tests.fakes import events_of

pytestmark = pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning")  # diffusers 0.42

CPU = torch.device("cpu")
UNET = "model.diffusion_model."
GUIDED = GuidanceSettings(method_id="psg", strength=200.0, last_step=1)
FOLDERS = {
    SD_1: "stable-diffusion-1.5",
    SD_2: "stable-diffusion-2.1",
    SDXL: "stable-diffusion-xl",
}
BESIDE_WEIGHTS = {
    "alphas_cumprod": torch.zeros(1000),
    "cond_stage_model.transformer.text_model.embeddings.position_ids": torch.arange(77)[None],
    "model_ema.decay": torch.zeros(()),
}
"""Tensors that published files hold besides the weights."""


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    return shrink_shipped(tmp_path_factory.mktemp("shipped") / "checkpoints")


@pytest.fixture(scope="module", params=FOLDERS, ids=["SD 1.5", "SD 2.1", "SDXL"])
def checkpoint(request, shipped, tmp_path_factory):
    """A small checkpoint in its original layout: models by name, and its card."""
    parts = random_parts(shipped / FOLDERS[request.param])
    weights = original_weights(parts) | (BESIDE_WEIGHTS if request.param == SD_1 else {})
    folder = tmp_path_factory.mktemp("models")
    save_file(
        {name: weight.contiguous() for name, weight in weights.items()},
        folder / "model.safetensors",
    )
    (card,) = ModelFolders([folder], shipped=shipped).cards()
    assert card.family == request.param
    return parts, card


@pytest.fixture(scope="module")
def loaded_checkpoint(checkpoint):
    """The pipeline of the checkpoint, whose scheduler alone may be changed."""
    _, card = checkpoint
    return load_pipeline(card, CPU)


@pytest.fixture
def no_network(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("network"))


def test_a_checkpoint_is_loaded_and_drawn_with_guidance(
    checkpoint, tmp_path, tiny_request, no_network
):
    parts, card = checkpoint
    backend = DiffusersBackend(tmp_path)
    changes = {"steps": 2, "height": 64, "width": 64, "prediction_type": card.prediction_type}
    free = events_of(backend, with_values(tiny_request, **changes), card)
    guided = events_of(backend, with_values(tiny_request, guidance=GUIDED, **changes), card)
    loaded = backend._loaded
    for name, part in parts.items():
        assert same_weights(getattr(loaded.pipeline, name), part.float())
        part.half()
    assert not loaded.own_scheduler.config.get("rescale_betas_zero_snr")
    assert guided[-1].image.std() > 0
    assert guided[-2].pos["r1"] > free[-2].pos["r1"]


@pytest.mark.parametrize("checkpoint", [SD_1], indirect=True, ids=["SD 1.5"])
def test_old_names_of_clip_are_read(checkpoint, shipped, tmp_path):
    parts, card = checkpoint
    weights = {
        name.replace("cond_stage_model.transformer.text_model.", "cond_stage_model.transformer."): w
        for name, w in load_file(card.folder).items()
    }
    save_file(weights, tmp_path / "old.safetensors")
    (old,) = ModelFolders([tmp_path], shipped=shipped).cards()
    loaded = load_pipeline(old, CPU).pipeline
    assert same_weights(loaded.text_encoder, parts["text_encoder"].float())
    parts["text_encoder"].half()


def test_a_unet_without_prefix_is_completed_by_the_folder_beside_it(
    checkpoint, loaded_checkpoint, tmp_path
):
    parts, card = checkpoint
    loaded_checkpoint.pipeline.save_pretrained(tmp_path / "file")
    weights = {
        name.removeprefix(UNET): -weight
        for name, weight in load_file(card.folder).items()
        if name.startswith(UNET)
    }
    save_file(weights, tmp_path / "file.safetensors")
    (found,) = ModelFolders([tmp_path]).cards()
    loaded = load_pipeline(found, CPU).pipeline.unet.state_dict()
    original = parts["unet"].state_dict()
    assert loaded.keys() == original.keys()
    assert all(torch.equal(loaded[name], -weight.float()) for name, weight in original.items())


def test_the_words_are_those_of_clip(checkpoint):
    _, card = checkpoint
    for stream in load_streams(card):
        tokens = stream.tokenizer("a photograph of an astronaut riding a horse").input_ids
        assert tokens == [49406, 320, 8853, 539, 550, 18376, 6765, 320, 4558, 49407]
        assert len(stream.tokenizer) == 49408
        assert stream.limit == 77


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a photo of a cat", [320, 1125, 539, 320, 2368]),
        ("Hello   World?\n", [3306, 1002, 286]),
        ("two's 12", [1237, 568, 272, 273]),
    ],
)
def test_tokens_agree_with_open_clip(shipped, text, tokens):
    from spatialstudio.adapters.diffusion.tokenizers import read_tokenizers

    tokenizer = read_tokenizers(shipped / "stable-diffusion-2.1")["tokenizer"]
    assert tokenizer(text, add_special_tokens=False).input_ids == tokens
    assert (tokenizer.pad_token, tokenizer.pad_token_id) == ("!", 0)


@pytest.mark.parametrize("checkpoint", [SD_2], indirect=True, ids=["SD 2.1"])
def test_the_prediction_type_of_a_request_changes_the_scheduler(loaded_checkpoint):
    loaded = loaded_checkpoint
    for prediction_type in (EPSILON, V_PREDICTION):
        loaded.set_scheduler("", prediction_type)
        assert loaded.pipeline.scheduler.config.prediction_type == prediction_type
    loaded.set_scheduler("EulerDiscreteScheduler", EPSILON)
    assert loaded.pipeline.scheduler.config.prediction_type == EPSILON
    assert loaded.own_scheduler.config.prediction_type == V_PREDICTION


@pytest.mark.parametrize("checkpoint", [SDXL], indirect=True, ids=["SDXL"])
def test_zero_terminal_snr_is_set_where_the_file_states_it(checkpoint):
    _, card = checkpoint
    loaded = load_pipeline(replace(card, ends_in_noise=True), CPU)
    config = loaded.own_scheduler.config
    assert (config.rescale_betas_zero_snr, config.timestep_spacing) == (True, "trailing")


@pytest.mark.parametrize("checkpoint", [SD_1], indirect=True, ids=["SD 1.5"])
@pytest.mark.parametrize(
    "name",
    [
        "model.diffusion_model.out.0.bias",
        "first_stage_model.decoder.norm_out.bias",
        "cond_stage_model.transformer.text_model.final_layer_norm.bias",
    ],
)
def test_a_checkpoint_that_lacks_a_weight_is_damaged(checkpoint, shipped, tmp_path, name):
    _, card = checkpoint
    weights = load_file(card.folder)
    del weights[name]
    save_file(weights, tmp_path / "cut.safetensors")
    (cut,) = ModelFolders([tmp_path], shipped=shipped).cards()
    with pytest.raises(ModelNotFound, match="weights are missing"):
        load_pipeline(cut, CPU)


def test_the_prediction_type_of_a_flow_cannot_be_chosen(loaded):
    from diffusers import FlowMatchEulerDiscreteScheduler

    flow = replace(loaded, own_scheduler=FlowMatchEulerDiscreteScheduler())
    with pytest.raises(RequestError, match="predicts a flow"):
        flow.set_scheduler("", EPSILON)
