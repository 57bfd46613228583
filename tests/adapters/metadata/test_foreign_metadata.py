"""Pictures of other programs tell their settings, and no file makes a reader stumble."""

import json
import random
import time
from io import BytesIO

import pytest
from PIL import ExifTags, Image, PngImagePlugin

from spatialstudio.adapters.metadata import a1111
from spatialstudio.adapters.metadata.reader import settings_in
from tests.adapters.metadata.foreign import (
    A1111,
    COMFYUI,
    COMFYUI_CIRCLE,
    FOOOCUS,
    SAMPLES,
    SWARMUI,
)
from tests.adapters.metadata.spoilt_files import spoilt

WANTED = {
    "a1111": ("a1111", 1234567890, 28, 7.5, 768, 512, "v1-5-pruned-emaonly"),
    **dict.fromkeys(
        ("a1111 templates", "a1111 windows"),
        ("a1111", 1234567890, 28, 7.5, 768, 512, "v1-5-pruned-emaonly"),
    ),
    "forge": ("a1111", 42, 20, 1.0, 896, 1152, "flux1-dev-bnb-nf4"),
    "invokeai": ("invokeai", 987654321, 30, 6.0, 1024, 768, "juggernaut"),
    "invokeai 2": ("invokeai", 11, 50, 7.5, 512, 512, "stable-diffusion-1.5"),
    "invokeai 1": ("invokeai", 4242, 50, 7.5, 512, 448, ""),
    "comfyui workflow": ("comfyui", 77, 22, 6.5, 640, 448, "dreams.safetensors"),
    "comfyui": ("comfyui", 156680208700286, 20, 8.0, 512, 640, "v1-5-pruned-emaonly.ckpt"),
    "comfyui flux": ("comfyui", 219670278747233, 20, 3.5, 1024, 1024, "flux1-dev.safetensors"),
    "swarmui": ("swarmui", 555, 24, 7.0, 1024, 1024, "OfficialStableDiffusion/sd_xl_base_1.0"),
    "fooocus": ("fooocus", 7446150, 30, 4.0, 1152, 896, "juggernautXL_v8Rundiffusion"),
}
PROMPTS = {
    "a1111": "a red cup on a table, (best quality:1.2), <lora:tiny:0.8>\nsecond line",
    **dict.fromkeys(
        ("a1111 templates", "a1111 windows"),
        "a red cup on a table, (best quality:1.2), <lora:tiny:0.8>\nsecond line",
    ),
    "forge": "a house",
    "invokeai": "a tree beside a river",
    "invokeai 2": "a tree",
    "invokeai 1": 'a "fine" tree on a hill',
    "comfyui workflow": "a pond",
    "comfyui": "a bottle",
    "comfyui flux": "a bottle",
    "swarmui": "a lamp above a bed",
    "fooocus": "a fox under a bench",
}


def png_with(texts):
    chunks = PngImagePlugin.PngInfo()
    for name, text in texts.items():
        chunks.add_text(name, text)
    buffer = BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "PNG", pnginfo=chunks)
    return buffer.getvalue()


def with_exif(kind, tag, value, *, is_inner=True):
    exif = Image.Exif()
    (exif.get_ifd(ExifTags.IFD.Exif) if is_inner else exif)[tag] = value
    buffer = BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, kind, exif=exif)
    return buffer.getvalue()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_of_every_dialect_is_understood(name):
    told = settings_in(png_with(SAMPLES[name]))
    assert told.prompt == PROMPTS[name]
    assert WANTED[name] == (
        *(told.dialect, told.seed, told.steps, told.guidance_scale),
        *(told.width, told.height, told.model),
    )


def test_what_has_no_field_is_kept_beside():
    told = settings_in(png_with(SAMPLES["a1111"]))
    assert told.negative == 'blurry, "low" quality'
    assert (told.sampler, told.scheduler) == ("DPM++ 2M", "Karras")
    assert told.extras["Lora hashes"] == "tiny: 0123abc, other: 99"


@pytest.mark.parametrize(
    ("name", "negative"),
    [
        ("a1111 templates", 'blurry, "low" quality'),
        ("a1111 windows", 'blurry, "low" quality'),
        ("invokeai 1", "blurry, dull"),
        ("comfyui workflow", "text, watermark"),
    ],
)
def test_what_was_not_wanted_is_told_apart(name, negative):
    assert settings_in(png_with(SAMPLES[name])).negative == negative


def test_an_old_command_may_stand_close():
    text = '"a tree" -s50 -W512 -H512 -C7.5 -Ak_euler_a -S-3'
    told = settings_in(png_with({"Dream": text}))
    assert (told.steps, told.width, told.sampler, told.seed) == (50, 512, "k_euler_a", None)


def test_a_node_that_passes_both_prompts_on_mixes_them_not():
    control = {"positive": ["6", 0], "negative": ["7", 0], "strength": 1.0}
    graph = {
        **COMFYUI,
        "3": {
            "class_type": "KSampler",
            "inputs": COMFYUI["3"]["inputs"] | {"positive": ["20", 0], "negative": ["20", 1]},
        },
        "20": {"class_type": "ControlNetApplyAdvanced", "inputs": control},
    }
    told = settings_in(png_with({"prompt": json.dumps(graph)}))
    assert (told.prompt, told.negative) == ("a bottle", "watermark")


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
@pytest.mark.parametrize("order", ["utf-16-be", "utf-16-le"])
def test_parameters_in_exif_are_read_in_either_byte_order(kind, order):
    comment = b"UNICODE\0" + A1111.replace("cup", "杯子").encode(order)
    told = settings_in(with_exif(kind, ExifTags.Base.UserComment, comment))
    assert told.seed == 1234567890
    assert "杯子" in told.prompt


@pytest.mark.parametrize(("plain", "dialect"), [(SWARMUI, "swarmui"), (FOOOCUS, "fooocus")])
def test_json_in_exif_is_read(plain, dialect):
    comment = b"ASCII\0\0\0" + json.dumps(plain).encode()
    assert settings_in(with_exif("JPEG", ExifTags.Base.UserComment, comment)).dialect == dialect


def test_a_graph_in_exif_is_read():
    text = f"prompt:{json.dumps(COMFYUI)}"
    content = with_exif("WEBP", ExifTags.Base.Model, text, is_inner=False)
    assert settings_in(content).seed == 156680208700286


def test_a_graph_that_goes_in_circles_ends():
    told = settings_in(png_with({"prompt": json.dumps(COMFYUI_CIRCLE)}))
    assert (told.seed, told.prompt) == (1, "")


@pytest.mark.parametrize(
    "texts",
    [
        {"parameters": "just a remark"},
        {"parameters": "Steps: many, Seed: none"},
        {"parameters": "{" * 5000},
        {"parameters": '{"sui_image_params": 3}'},
        {"prompt": "[]"},
        {"prompt": '{"1": {"inputs": {"seed": {}, "positive": [[], 0]}}}'},
        {"invokeai_metadata": '{"seed": "9' + "9" * 5000 + '", "model": []}'},
        {"sd-metadata": '{"image": {"prompt": 7}}'},
        {"spatial_studio": '{"request": {"scene": [], "model": null}}'},
        {"Comment": "x"},
        {"Dream": '"a tree" -S -S -S x -'},
        {"Dream": '"' + "\\\\" * 5000},
        {"workflow": '{"nodes": [{"id": [], "inputs": [7], "widgets_values": 3}], "links": [[]]}'},
        {"workflow": '{"nodes": {"a": 1}, "links": [[1, {}, [], 4]]}'},
    ],
    ids=range(14),
)
def test_odd_texts_are_no_error(texts):
    told = settings_in(png_with(texts))
    assert told is None or told.seed is None


def test_a_line_of_a_million_signs_is_read_at_once():
    line = 'a: "' + "\\" * 300_000 + "b-c /" * 100_000
    started = time.process_time()
    assert a1111.read({"parameters": f"x\nSteps: 1, Seed: 2, {line}"}) is not None
    assert time.process_time() - started < 5


def test_five_hundred_spoilt_files_are_no_error():
    chance = random.Random(7)
    seeds = [png_with(SAMPLES[name]) for name in SAMPLES]
    seeds.append(
        with_exif("JPEG", ExifTags.Base.UserComment, b"UNICODE\0" + A1111.encode("utf-16"))
    )
    seeds.append(with_exif("WEBP", ExifTags.Base.UserComment, json.dumps(FOOOCUS).encode()))
    told = [settings_in(spoilt(chance.choice(seeds), chance)) for _ in range(500)]
    assert 0 < sum(settings is not None for settings in told) < 500
