"""A fake hub, a cache and small repositories."""

import json

import pytest
from huggingface_hub import close_session

from spatialstudio.adapters.hub.hub import HuggingFaceHub
from spatialstudio.adapters.hub.hub_client import Patience
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.resources import resources_folder
from tests.adapters.hub.fake_hub import FakeHub

QUICK = Patience(waits_s=(0.01,) * 3, short_waits_s=(0.01, 0.01))
IMPATIENT = Patience(answer_s=0.2, waits_s=(0.01,), short_waits_s=())
WEIGHTS = bytes(range(256)) * 2000


def pickled(word):
    """Return weights that differ by a word; nothing reads them."""
    return word.encode() + WEIGHTS


DIFFUSERS = {
    "model_index.json": json.dumps(
        {
            "_class_name": "StableDiffusionPipeline",
            "unet": ["diffusers", "UNet2DConditionModel"],
            "vae": ["diffusers", "AutoencoderKL"],
            "scheduler": ["diffusers", "DDIMScheduler"],
            "tokenizer": ["transformers", "CLIPTokenizer"],
            "text_encoder": ["transformers", "CLIPTextModel"],
        }
    ).encode(),
    "unet/config.json": b'{"sample_size": 64, "in_channels": 4, "out_channels": 4}',
    "unet/diffusion_pytorch_model.safetensors": pickled("unet"),
    "vae/config.json": b'{"block_out_channels": [1, 2, 3, 4]}',
    "vae/diffusion_pytorch_model.safetensors": pickled("vae"),
    "scheduler/scheduler_config.json": b'{"_class_name": "DDIMScheduler"}',
    "tokenizer/merges.txt": b"#version: 0.2\n",
    "text_encoder/config.json": b"{}",
    "text_encoder/model.safetensors": pickled("text encoder"),
    "README.md": b"# A model\n",
    "unet/diffusion_pytorch_model.bin": b"a pickle",
}
DETECTOR = {
    "config.json": b'{"architectures": ["OwlViTForObjectDetection"]}',
    "model.safetensors": pickled("detector"),
    "pytorch_model.bin": b"a pickle",
}


@pytest.fixture(autouse=True)
def no_token_of_the_user(monkeypatch, tmp_path):
    """Keep the machine's own token and address out of the tests."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "no token"))
    yield
    close_session()


@pytest.fixture
def fake():
    with FakeHub() as fake:
        fake.add("maker/model", DIFFUSERS)
        yield fake


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "hub"


@pytest.fixture
def surroundings(tmp_path):
    folders = (resources_folder() / "models", tmp_path / "models")
    return Surroundings(
        resources=resources_folder(),
        model_folders=folders,
        cache=tmp_path / "cache",
        settings=tmp_path / "settings",
    )


@pytest.fixture
def hub(fake, cache, surroundings):
    return HuggingFaceHub(surroundings, cache, fake.url, QUICK)


@pytest.fixture
def impatient_hub(fake, cache, surroundings):
    return HuggingFaceHub(surroundings, cache, fake.url, IMPATIENT)
