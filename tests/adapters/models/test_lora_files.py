"""LoRAs are found and their families identified from headers; other files are named."""

import pytest
import torch
from safetensors.torch import save_file

from spatialstudio.adapters.models.lora_files import LoraFolders, read_lora_card
from spatialstudio.adapters.models.program_folders import store_folders
from spatialstudio.domain.errors import ModelNotFound

UNET = "unet.down_blocks.1.attentions.0.transformer_blocks.0"
KOHYA = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0"


def pair(module, inside, names=("lora_A", "lora_B")):
    down, up = names
    return {
        f"{module}.{down}.weight": torch.zeros(2, inside),
        f"{module}.{up}.weight": torch.zeros(8, 2),
    }


OF_KOHYA = ("lora_down", "lora_up")


@pytest.mark.parametrize(
    ("weights", "family"),
    [
        (pair(f"{UNET}.attn2.to_k", 768), "Stable Diffusion 1.5"),
        (pair(f"{UNET}.attn2.to_v", 1024), "Stable Diffusion 2.1"),
        (pair(f"{UNET}.attn2.to_k", 2048), "Stable Diffusion XL"),
        (pair(f"{KOHYA}_attn2_to_k", 768, OF_KOHYA), "Stable Diffusion 1.5"),
        (pair(f"{KOHYA}_attn2_to_k", 2048, OF_KOHYA), "Stable Diffusion XL"),
        (pair("lora_te2_text_model_encoder_layers_0_mlp_fc1", 8, OF_KOHYA), "Stable Diffusion XL"),
        (pair("lora_unet_double_blocks_0_img_attn_qkv", 3072, OF_KOHYA), "FLUX.1"),
        (pair("transformer.single_transformer_blocks.0.attn.to_q", 3072), "FLUX.1"),
        (pair("base_model.model.transformer_blocks.0.attn.to_q", 3072), "FLUX.1"),
        (pair("transformer.transformer_blocks.0.attn.to_q", 1536), "Stable Diffusion 3"),
        (pair("transformer.single_transformer_blocks.0.attn.to_qkv_mlp_proj", 3072), "FLUX.2"),
        (pair(f"{UNET}.attn1.to_q", 32), ""),
    ],
)
def test_the_family_is_identified_by_names_and_shapes(tmp_path, weights, family):
    save_file(weights, tmp_path / "style.safetensors")
    assert read_lora_card(tmp_path / "style.safetensors").family == family


@pytest.mark.parametrize(
    ("weights", "trouble"),
    [
        ({"a.hada_w1_a": torch.zeros(2, 2)}, "a LoHa"),
        ({"a.lokr_w1": torch.zeros(2, 2)}, "a LoKr"),
        (pair("unet.a", 8) | {"unet.a.dora_scale": torch.zeros(8, 1)}, "a DoRA"),
        (pair("unet.a", 8) | {"unet.a.lora_magnitude_vector": torch.zeros(8)}, "a DoRA"),
        (pair("unet.a", 8) | {"unet.a.lora_mid.weight": torch.zeros(2, 2, 3, 3)}, "in Tucker"),
        (pair("lora_te3_encoder_block_0_layer_0_SelfAttention_q", 8), "the T5 text encoder"),
        (pair("text_encoder_2.encoder.block.0.layer.1.wo", 8), "the T5 text encoder"),
        ({"a.oft_blocks": torch.zeros(2, 2, 2)}, "an OFT"),
        ({key: value.to(torch.int8) for key, value in pair("unet.a", 8).items()}, "to integers"),
        (
            {
                "unet.a.lora_A.weight": torch.zeros(0, 8),
                "unet.a.lora_B.weight": torch.zeros(8, 0),
            },
            "weights without values",
        ),
        ({"encoder.conv_in.weight": torch.zeros(2, 2)}, "not a usable LoRA"),
        ({"unet.a.lora_A.weight": torch.zeros(2, 8)}, "not a usable LoRA"),
        (pair("unet.a", 8) | {"unet.norm.weight": torch.zeros(8)}, "not a usable LoRA"),
    ],
)
def test_other_files_are_named(tmp_path, weights, trouble):
    (tmp_path / "loras").mkdir()
    save_file(weights, tmp_path / "loras" / "style.safetensors")
    folders = LoraFolders([tmp_path])
    assert folders.cards() == ()
    with pytest.raises(ModelNotFound, match=trouble):
        folders.card("style")


def test_loras_of_a_program_that_the_user_has_added_are_found(tmp_path):
    checkpoints = tmp_path / "ComfyUI" / "models" / "checkpoints"
    checkpoints.mkdir(parents=True)
    folders = LoraFolders([], tmp_path / "settings")
    assert folders.cards() == ()
    (checkpoints.parent / "loras").mkdir()
    save_file(pair("unet.a", 8), checkpoints.parent / "loras" / "ink.safetensors")
    store_folders(tmp_path / "settings", (checkpoints,))
    assert [card.name for card in folders.cards()] == ["ink"]


def test_a_damaged_file_and_a_pickle_are_named(tmp_path):
    (tmp_path / "loras").mkdir()
    (tmp_path / "loras" / "cut.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{}")
    (tmp_path / "loras" / "old.pt").write_bytes(b"\x80\x02.")
    folders = LoraFolders([tmp_path])
    with pytest.raises(ModelNotFound, match='LoRA "cut" is damaged'):
        folders.card("cut")
    with pytest.raises(ModelNotFound, match="pickle file"):
        folders.card("old")


def test_an_unknown_name_suggests_a_close_one(tmp_path):
    (tmp_path / "loras" / "styles").mkdir(parents=True)
    save_file(pair("unet.a", 8), tmp_path / "loras" / "styles" / "watercolour.safetensors")
    with pytest.raises(ModelNotFound) as caught:
        LoraFolders([tmp_path]).card("watercolor")
    assert 'write "watercolour"' in caught.value.hint


@pytest.mark.parametrize(
    ("root", "folder"),
    [
        ("models", "models/loras"),
        ("ComfyUI", "ComfyUI/models/loras"),
        ("ComfyUI/models/checkpoints", "ComfyUI/models/loras"),
        ("webui", "webui/models/Lora"),
        ("webui/models/Stable-diffusion", "webui/models/Lora"),
    ],
)
def test_folders_of_other_programs_are_searched(tmp_path, root, folder):
    (tmp_path / root).mkdir(parents=True)
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    save_file(pair("unet.a", 8), tmp_path / folder / "style.safetensors")
    assert [card.name for card in LoraFolders([tmp_path / root]).cards()] == ["style"]
