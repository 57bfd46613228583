import json

import pytest

from spatialstudio.adapters.models.model_parts import (
    parts_in_use,
    parts_left_out,
    read_index,
    variant_of,
    weight_files,
)

INDEX = {
    "_class_name": "StableDiffusion3Pipeline",
    "requires_safety_checker": False,
    "transformer": ["diffusers", "SD3Transformer2DModel"],
    "text_encoder": ["transformers", "CLIPTextModelWithProjection"],
    "text_encoder_3": [None, None],
    "tokenizer": ["transformers", "CLIPTokenizer"],
    "tokenizer_3": ["transformers", "T5TokenizerFast"],
}


def write_weights(folder, *names):
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"123")
    return folder


def names_read(folder, *parts):
    return [str(file.relative_to(folder)) for file in weight_files(folder, parts)]


def test_null_parts_and_their_tokenizers_are_left_out(tmp_path):
    (tmp_path / "model_index.json").write_text(json.dumps(INDEX), encoding="utf-8")
    index = read_index(tmp_path)
    assert list(parts_in_use(index)) == ["transformer", "text_encoder", "tokenizer"]
    assert parts_left_out(index) == ("text_encoder_3", "tokenizer_3")


def test_full_weights_are_preferred_to_variants(tmp_path):
    folder = write_weights(
        tmp_path,
        "unet/diffusion_pytorch_model.safetensors",
        "unet/diffusion_pytorch_model.fp16.safetensors",
        "unet/diffusion_pytorch_model.non_ema.safetensors",
        "vae/diffusion_pytorch_model.safetensors",
        "vae_decoder/model.safetensors",
    )
    assert variant_of(folder, ["unet", "vae"]) is None
    assert names_read(folder, "vae", "unet") == [
        "unet/diffusion_pytorch_model.safetensors",
        "vae/diffusion_pytorch_model.safetensors",
    ]


@pytest.mark.parametrize(
    "shards",
    [
        ("model.fp16-00001-of-00002.safetensors", "model.fp16-00002-of-00002.safetensors"),
        ("model-00001-of-00002.fp16.safetensors", "model-00002-of-00002.fp16.safetensors"),
        ("model.fp16.safetensors",),
    ],
    ids=["shards", "shards as once named", "one file"],
)
def test_a_variant_is_read_if_there_are_no_full_weights(tmp_path, shards):
    own = [f"text_encoder/{shard}" for shard in shards]
    folder = write_weights(tmp_path, *own, "vae/diffusion_pytorch_model.safetensors")
    assert variant_of(folder, ["vae", "text_encoder"]) == "fp16"
    assert names_read(folder, "vae", "text_encoder") == [
        *own,
        "vae/diffusion_pytorch_model.safetensors",
    ]


def test_shards_count_as_full_weights(tmp_path):
    shards = [f"transformer/model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    folder = write_weights(tmp_path, *shards, "transformer/model.fp16.safetensors")
    assert variant_of(folder, ["transformer"]) is None
    assert names_read(folder, "transformer") == shards


def test_the_choice_of_a_variant_does_not_depend_on_the_order_of_parts(tmp_path):
    folder = write_weights(tmp_path, "unet/model.fp16.safetensors", "vae/model.bf16.safetensors")
    assert variant_of(folder, ["unet", "vae"]) == variant_of(folder, ["vae", "unet"]) == "fp16"


def test_names_that_leave_the_folder_are_no_parts():
    with pytest.raises(ValueError, match="out"):
        parts_in_use(INDEX | {"../out": ["diffusers", "AutoencoderKL"]})
