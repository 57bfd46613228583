"""Files of weights are identified by the names and shapes that their makers publish."""

import json

import pytest

from spatialstudio.adapters.models.identify_file import (
    EPSILON,
    SD_1,
    SD_2,
    SDXL,
    V_PREDICTION,
    FileKind,
    identify_file,
)
from spatialstudio.adapters.models.model_files import ModelFolders, read_file_card
from spatialstudio.domain.errors import ModelNotFound
from tests.adapters.diffusion.true_layouts import SHIPPED, layout_of, parts_of
from tests.sparse_weights import write_sparse

UNET = "model.diffusion_model."
FIRST_WEIGHT = f"{UNET}input_blocks.0.0.weight"
FOLDERS = {
    SD_1: "stable-diffusion-1.5",
    SD_2: "stable-diffusion-2.1",
    SDXL: "stable-diffusion-xl",
}


@pytest.fixture(scope="module")
def layouts():
    return {family: layout_of(SHIPPED / folder) for family, folder in FOLDERS.items()}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize(
    ("family", "sizes"),
    [
        (SD_1, {"unet": 859_520_964, "vae": 83_653_863, "text_encoder": 123_060_480}),
        (SD_2, {"unet": 865_910_724, "vae": 83_653_863, "text_encoder": 340_387_840}),
        (
            SDXL,
            {
                "unet": 2_567_463_684,
                "vae": 83_653_863,
                "text_encoder": 123_060_480,
                "text_encoder_2": 694_659_840,
            },
        ),
    ],
    ids=["SD 1.5", "SD 2.1", "SDXL"],
)
def test_shipped_configurations_have_the_published_numbers_of_parameters(family, sizes):
    parts = parts_of(SHIPPED / FOLDERS[family])
    assert {
        name: sum(weight.numel() for weight in part.parameters()) for name, part in parts.items()
    } == sizes


@pytest.mark.parametrize(
    ("family", "side", "prediction"),
    [(SD_1, 512, EPSILON), (SD_2, 768, V_PREDICTION), (SDXL, 1024, EPSILON)],
    ids=["SD 1.5", "SD 2.1", "SDXL"],
)
def test_a_checkpoint_is_listed_with_family_size_and_default_prediction_type(
    layouts, file, family, side, prediction
):
    write_sparse(file, layouts[family])
    (card,) = ModelFolders([file.parent]).cards()
    assert (card.id, card.family, card.native_size) == ("model", family, side)
    assert card.size_bytes == file.stat().st_size
    assert (card.prediction_type, card.is_prediction_known) == (prediction, False)
    assert card.base.name == FOLDERS[family]


@pytest.mark.parametrize(
    ("family", "metadata", "prediction"),
    [
        (SD_2, {"modelspec.prediction_type": "epsilon"}, EPSILON),
        (SD_2, {"modelspec.architecture": "stable-diffusion-v2-512"}, EPSILON),
        (SD_2, {"modelspec.architecture": "stable-diffusion-v2-768-v"}, V_PREDICTION),
        (SD_2, {"ss_v2": "True", "ss_v_parameterization": "False"}, EPSILON),
        (SDXL, {"modelspec.prediction_type": "v"}, V_PREDICTION),
        (SD_1, {"ss_v_parameterization": "True"}, V_PREDICTION),
        (SD_2, {"modelspec.prediction_type": "unheard of"}, ""),
    ],
)
def test_the_prediction_type_is_read_from_metadata(layouts, file, family, metadata, prediction):
    write_sparse(file, layouts[family], metadata)
    assert identify_file(file).prediction_type == prediction


def test_marks_of_sdxl_trainers_state_v_prediction_and_zero_terminal_snr(layouts, file):
    write_sparse(file, layouts[SDXL] | {"v_pred": ("F32", (0,)), "ztsnr": ("F32", (0,))})
    card = read_file_card(file, ())
    assert (card.prediction_type, card.is_prediction_known) == (V_PREDICTION, True)
    assert card.ends_in_noise
    assert "HeunDiscreteScheduler" not in card.samplers


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("dreamshaperXL_v21TurboDPMSDE", (8, 1.0)),
        ("sdxl_lightning_8step", (8, 1.0)),
        ("Hyper-SDXL", (8, 1.0)),
        ("sdxl-LCM", (8, 1.0)),
        ("hyperrealism", (50, 5.0)),
        ("calcmix", (50, 5.0)),
    ],
)
def test_names_of_distilled_checkpoints_recommend_few_steps(layouts, tmp_path, name, settings):
    card = read_file_card(write_sparse(tmp_path / f"{name}.safetensors", layouts[SDXL]), ())
    assert (card.steps, card.guidance_scale) == settings


def test_the_base_model_of_stable_diffusion_2_has_its_own_size(layouts, file):
    write_sparse(file, layouts[SD_2], {"modelspec.prediction_type": "epsilon"})
    assert read_file_card(file, ()).native_size == 512


def test_ema_weights_are_ignored(layouts, file):
    averaged = {
        f"model_ema.{name.removeprefix('model.').replace('.', '')}": entry
        for name, entry in only(layouts[SD_1], UNET).items()
    }
    write_sparse(file, layouts[SD_1] | averaged)
    assert read_file_card(file, ()).family == SD_1


@pytest.mark.parametrize("family", FOLDERS)
def test_checkpoints_in_8_bit_floats_without_scales_are_listed(layouts, file, family):
    small = {name: ("F8_E4M3", shape) for name, (_, shape) in layouts[family].items()}
    write_sparse(file, small)
    assert read_file_card(file, ()).family == family


def test_size_and_licence_are_read_from_metadata(layouts, file):
    stated = {"modelspec.resolution": "896x896", "modelspec.license": "OpenRAIL-M"}
    write_sparse(file, layouts[SD_1], stated)
    card = read_file_card(file, ())
    assert (card.native_size, card.licence) == (896, "OpenRAIL-M")


# --- wrong files -----------------------------------------------------------------------------


def with_channels(layout, channels):
    dtype, (width, _, *sides) = layout[FIRST_WEIGHT]
    return layout | {FIRST_WEIGHT: (dtype, (width, channels, *sides))}


def only(layout, *prefixes):
    return {name: entry for name, entry in layout.items() if name.startswith(prefixes)}


def refiner(layout):
    refined = {
        name: (dtype, tuple(1280 if "attn2.to_k" in name and i else n for i, n in enumerate(shape)))
        for name, (dtype, shape) in only(layout, UNET, "first_stage_model.").items()
    }
    second = only(layout, "conditioner.embedders.1.")
    moved = {name.replace("embedders.1.", "embedders.0."): each for name, each in second.items()}
    return refined | moved


def fp16(*shapes, **named):
    return {name: ("F16", shape) for name, shape in named.items()} | {
        name: ("F16", shape) for name, shape in shapes
    }


KOHYA = "lora_unet_input_blocks_4_1_transformer_blocks_0_attn2_to_k"
PEFT = "transformer.double_blocks.0.img_attn.qkv"
FLUX = fp16(
    ("double_blocks.0.img_mod.lin.weight", (18432, 3072)),
    ("double_blocks.0.img_attn.qkv.weight", (9216, 3072)),
    ("img_in.weight", (3072, 64)),
)
WRONG = {
    "refiner": (
        lambda known: refiner(known[SDXL]),
        "contains the refiner of SDXL, not a text-to-image model",
    ),
    "inpainting": (
        lambda known: with_channels(known[SD_1], 9),
        "contains an inpainting model for Stable Diffusion 1.5, not a text-to-image model",
    ),
    "inpainting of SDXL": (
        lambda known: with_channels(known[SDXL], 9),
        "contains an inpainting model for Stable Diffusion XL",
    ),
    "depth": (lambda known: with_channels(known[SD_2], 5), "contains a depth-conditioned model"),
    "pix2pix": (
        lambda known: with_channels(known[SD_1], 8),
        "contains a model that edits pictures by instruction",
    ),
    "x4 upscaler": (
        lambda known: with_channels(known[SD_2], 7),
        "contains an upscaling diffusion model",
    ),
    "variations": (
        lambda known: known[SD_2] | fp16(("embedder.model.visual.proj", (1280, 1024))),
        "contains a model for variations of pictures",
    ),
    "kohya LoRA": (
        lambda _: fp16(
            (f"{KOHYA}.lora_down.weight", (16, 2048)),
            (f"{KOHYA}.lora_up.weight", (640, 16)),
            (f"{KOHYA}.alpha", ()),
        ),
        "contains a LoRA for Stable Diffusion XL, not a complete model",
    ),
    "peft LoRA": (
        lambda _: fp16(
            (f"{PEFT}.lora_A.weight", (16, 3072)), (f"{PEFT}.lora_B.weight", (9216, 16))
        ),
        "contains a LoRA for FLUX.1",
    ),
    "LoHa": (lambda _: fp16((f"{KOHYA}.hada_w1_a", (640, 8))), "contains a LoRA"),
    "autoencoder": (
        lambda known: {
            name.removeprefix("first_stage_model."): each
            for name, each in only(known[SDXL], "first_stage_model.").items()
        },
        "contains an autoencoder, not a complete model",
    ),
    "ControlNet": (
        lambda known: {
            name.replace(UNET, "control_model."): each
            for name, each in only(known[SD_1], f"{UNET}input_blocks", f"{UNET}middle").items()
        },
        "contains a ControlNet",
    ),
    "diffusers ControlNet": (
        lambda _: fp16(
            ("conv_in.weight", (320, 4, 3, 3)),
            ("controlnet_cond_embedding.conv_in.weight", (16, 3, 3, 3)),
        ),
        "contains a ControlNet",
    ),
    "embedding": (lambda _: fp16(emb_params=(8, 768)), "contains a textual inversion embedding"),
    "embedding of SDXL": (
        lambda _: fp16(clip_g=(4, 1280), clip_l=(4, 768)),
        "contains a textual inversion embedding",
    ),
    "IP adapter": (
        lambda _: fp16(("image_proj.proj.weight", (3072, 1024))),
        "contains an image adapter",
    ),
    "motion module": (
        lambda _: fp16(("down_blocks.0.motion_modules.0.norm.weight", (320,))),
        "contains a motion module",
    ),
    "T5": (
        lambda _: fp16(("encoder.block.0.layer.0.SelfAttention.q.weight", (4096, 4096))),
        "contains a text encoder",
    ),
    "CLIP": (
        lambda known: {
            name.removeprefix("cond_stage_model.transformer."): each
            for name, each in only(known[SD_1], "cond_stage_model.transformer.").items()
        },
        "contains a text encoder",
    ),
    "upscaler": (
        lambda _: fp16(
            ("model.0.weight", (64, 3, 3, 3)),
            ("model.1.sub.0.RDB1.conv1.0.weight", (32, 64, 3, 3)),
        ),
        "contains an upscaler",
    ),
    "another family": (
        lambda _: fp16(("head.modulation", (1, 2, 5120))),
        "contains weights of Wan, a family that is not supported",
    ),
    "FLUX.1 Fill": (
        lambda _: FLUX | fp16(("img_in.weight", (3072, 384))),
        "contains an inpainting model for FLUX.1",
    ),
    "transformer only": (
        lambda _: FLUX,
        "contains only the denoiser of FLUX.1; the other parts are missing",
    ),
    "all parts of FLUX.1": (
        lambda known: {
            **{f"{UNET}{name}": each for name, each in FLUX.items()},
            **fp16(("text_encoders.t5xxl.transformer.encoder.block.0.layer.0.q.weight", (8, 8))),
            **fp16(("vae.decoder.conv_in.weight", (512, 16, 3, 3))),
        },
        "contains a complete checkpoint of FLUX.1; its configuration is missing",
    ),
    "UNet only": (
        lambda known: only(known[SDXL], UNET),
        "contains only the denoiser of Stable Diffusion XL; the other parts are missing",
    ),
    "UNet without prefix": (
        lambda known: {
            name.removeprefix(UNET): each for name, each in only(known[SDXL], UNET).items()
        },
        "contains only the denoiser of Stable Diffusion XL; the other parts are missing",
    ),
    "no text encoders": (
        lambda known: only(known[SDXL], UNET, "first_stage_model."),
        "contains only the denoiser of Stable Diffusion XL; the other parts are missing",
    ),
    "fp8 transformer": (
        lambda _: {name: ("F8_E4M3", shape) for name, (_, shape) in FLUX.items()},
        "contains only the denoiser of FLUX.1; the other parts are missing",
    ),
    "no autoencoder": (
        lambda known: only(known[SD_1], UNET, "cond_stage_model."),
        "contains only the denoiser of Stable Diffusion 1.5; the other parts are missing",
    ),
    "SSD-1B": (
        lambda known: {
            name: each for name, each in known[SDXL].items() if "middle_block.1" not in name
        },
        "contains a checkpoint with fewer layers of Stable Diffusion XL",
    ),
    "fp8 with scales": (
        lambda _: FLUX | fp16(("double_blocks.0.img_attn.qkv.scale_weight", ())),
        "contains quantized weights of FLUX.1, which cannot be loaded",
    ),
    "nf4": (
        lambda known: known[SDXL] | {f"{UNET}out.2.weight.absmax": ("U8", (90,))},
        "contains quantized weights of Stable Diffusion XL",
    ),
    "averaged weights only": (
        lambda known: {
            f"model_ema.{name.removeprefix('model.').replace('.', '')}": each
            for name, each in only(known[SD_1], UNET).items()
        },
        "contains only the averaged (EMA) weights of a checkpoint",
    ),
    "text encoder of transformers 5": (
        lambda _: fp16(
            ("embeddings.token_embedding.weight", (49408, 768)),
            ("encoder.layers.0.mlp.fc1.weight", (3072, 768)),
        ),
        "contains a text encoder",
    ),
    "ControlNet in the form of a LoRA": (
        lambda _: fp16(("lora_controlnet", ()), ("input_blocks.1.0.in_layers.2.up", (320, 128))),
        "contains a ControlNet",
    ),
    "IP adapter with LoRA": (
        lambda _: fp16(
            ("image_proj.proj.0.weight", (8192, 512)),
            ("ip_adapter.0.to_q_lora.down.weight", (128, 320)),
        ),
        "contains an image adapter",
    ),
    "IP adapter of FLUX.1": (
        lambda _: fp16(
            ("double_blocks.0.processor.ip_adapter_double_stream_k_proj.weight", (3072, 4096))
        ),
        "contains an image adapter for FLUX.1",
    ),
    "FLUX.1 Redux": (lambda _: fp16(("redux_up.weight", (12288, 1152))), "an image adapter"),
    "T2I adapter": (
        lambda _: fp16(
            ("conv_in.weight", (320, 768, 3, 3)), ("body.0.block1.weight", (320, 320, 3, 3))
        ),
        "contains an image adapter",
    ),
    "FLUX.1 Fill of diffusers": (
        lambda _: fp16(
            ("single_transformer_blocks.0.attn.to_q.weight", (3072, 3072)),
            ("x_embedder.weight", (3072, 384)),
        ),
        "contains an inpainting model for FLUX.1",
    ),
    "SVD": (
        lambda known: (
            with_channels(known[SD_2], 8)
            | fp16((f"{UNET}input_blocks.1.1.time_stack.0.attn1.to_k.weight", (320, 320)))
        ),
        "contains weights of Stable Video Diffusion, a family that is not supported",
    ),
    "GLIGEN": (
        lambda known: known[SD_1] | fp16((f"{UNET}position_net.null_positive_feature", (768,))),
        "contains weights of GLIGEN",
    ),
    "LCM": (
        lambda known: known[SD_1] | fp16((f"{UNET}time_embed.cond_proj.weight", (320, 256))),
        "contains weights of a latent consistency model (LCM)",
    ),
    "Kandinsky": (
        lambda _: fp16(
            ("conv_in.weight", (384, 4, 3, 3)), ("add_embedding.image_norm.weight", (768,))
        ),
        "contains weights of Kandinsky 2",
    ),
    "upscaler of BasicSR": (
        lambda _: fp16(("params_ema.conv_first.weight", (64, 3, 3, 3))),
        "contains an upscaler",
    ),
    "hypernetwork": (
        lambda _: fp16(("768.0.linear.0.weight", (1536, 768)), ("768.0.linear.0.bias", (1536,))),
        "contains a hypernetwork",
    ),
    "first weight missing": (
        lambda known: {name: each for name, each in known[SDXL].items() if name != FIRST_WEIGHT},
        "is damaged: weights are missing from it",
    ),
    "no weights": (lambda _: {}, "is damaged: it has no weights"),
    "unknown": (
        lambda _: fp16(("layer1.0.conv1.weight", (64, 64, 1, 1))),
        'The architecture of the model in "model.safetensors" is unknown',
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_no_checkpoint_is_named_with_a_next_step(layouts, file, name):
    build, message = WRONG[name]
    write_sparse(file, build(layouts))
    with pytest.raises(ModelNotFound) as caught:
        read_file_card(file, ())
    assert message in caught.value.message
    assert caught.value.hint.endswith(".")
    assert caught.value.hint.count(". ") == 0


BYTES = {
    "empty": (b"", "is empty"),
    "web page": (b"<!DOCTYPE html><html>404</html>", "is a web page, not a model"),
    "LFS pointer": (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(64), "is a picture, not a model"),
    "error message": (b'{"error": "Invalid token"}', "is a text file in JSON, not a model"),
    "GGUF": (b"GGUF\x03\x00\x00\x00" + bytes(64), "contains weights in GGUF"),
    "zipped pickle": (b"PK\x03\x04" + bytes(64), "is a pickle file, which can execute code"),
    "old pickle": (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19." + bytes(9), "is a pickle"),
    "noise": (bytes(range(7, 107)), "is damaged"),
    "header cut": ((500).to_bytes(8, "little") + b'{"a": ', "is damaged: it was cut short"),
}


@pytest.mark.parametrize("name", BYTES)
def test_a_damaged_or_renamed_file_is_named(file, name):
    content, message = BYTES[name]
    file.write_bytes(content)
    problem = identify_file(file).problem
    assert message in problem.message
    assert problem.hint


@pytest.mark.parametrize("name", ["model.ckpt", "model.pt", "model.gguf"])
def test_files_of_other_formats_are_listed_with_the_reason(tmp_path, name):
    (tmp_path / name).write_bytes(b"GGUF" if name.endswith("gguf") else b"PK\x03\x04")
    assert list(ModelFolders([tmp_path]).damaged()) == [name]


def test_a_truncated_file_is_named(layouts, file):
    write_sparse(file, layouts[SD_1], cut=1000)
    content = identify_file(file)
    assert content.kind is FileKind.DAMAGED
    assert "was cut short" in content.problem.message


def test_a_safetensors_header_whose_length_looks_like_another_format_is_read(file):
    layout = fp16(("conv.weight", (1,)))
    write_sparse(file, layout)
    length = int.from_bytes(file.read_bytes()[:8], "little")
    write_sparse(file, layout, {"x": " " * (0x0280 - length - len('"__metadata__": {"x": ""}, '))})
    assert file.read_bytes()[:2] == b"\x80\x02"
    assert identify_file(file).kind is FileKind.UNKNOWN


@pytest.mark.parametrize(
    "entry",
    [{}, {"dtype": "F16", "shape": 5, "data_offsets": [0, 0]}, {"dtype": "F16", "shape": [1]}, 7],
)
def test_a_header_without_shapes_or_offsets_is_damaged(file, entry):
    header = json.dumps({"weight": entry}).encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header)
    assert identify_file(file).kind is FileKind.DAMAGED


def place(shape, start, stop, dtype="F16"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


@pytest.mark.parametrize(
    "entries",
    [
        [place([2], 0, 4), place([2], 0, 4)],
        [place([2], 0, 4), place([2], 2, 6)],
        [place([2], 0, 4), place([2], 8, 12)],
        [place([3], 0, 4)],
        [place([2**62, 2**62], 0, 4)],
        [place([-1, -2], 0, 4)],
        [place([2.0], 0, 4)],
        [place([2], -4, 0)],
        [place([2], 0, 4, ["F16"])],
    ],
    ids=["same place", "overlap", "hole", "size", "huge", "negative", "part", "before", "format"],
)
def test_tensors_that_do_not_follow_each_other_are_damage(file, entries):
    names = (FIRST_WEIGHT, "other")
    header = json.dumps(dict(zip(names, entries, strict=False))).encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header + bytes(16))
    content = identify_file(file)
    assert content.kind is FileKind.DAMAGED
    assert content.problem.hint


def test_a_header_longer_than_any_file_is_damage(file):
    file.write_bytes((2**63).to_bytes(8, "little") + b'{"a": 1}')
    assert identify_file(file).kind is FileKind.DAMAGED


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(ModelNotFound, match="no file"):
        identify_file(tmp_path / "gone.safetensors")


def test_a_unet_with_the_names_of_diffusers_is_known(file):
    unet = parts_of(SHIPPED / FOLDERS[SD_2])["unet"]
    names = {name: ("F16", tuple(weight.shape)) for name, weight in unet.state_dict().items()}
    content = identify_file(write_sparse(file, names))
    assert (content.kind, content.family) == (FileKind.DENOISER, SD_2)
