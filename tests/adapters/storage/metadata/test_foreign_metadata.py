"""Settings are read from pictures of other programs, and malformed files are no error."""

import json
import random
import struct
import zlib
from io import BytesIO

import pytest
from PIL import ExifTags, Image, PngImagePlugin

from spatialstudio.adapters.storage.metadata import dialects, reader
from spatialstudio.adapters.storage.metadata.dialects import a1111
from spatialstudio.adapters.storage.metadata.reader import settings_in
from tests.adapters.storage.metadata.foreign import (
    A1111,
    COMFYUI,
    COMFYUI_CIRCLE,
    FOOOCUS,
    FOOOCUS_A1111,
    INVOKEAI,
    SAMPLES,
    SWARMUI,
)
from tests.adapters.storage.metadata.spoilt_files import spoilt

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
def test_a_sample_of_every_dialect_is_read(name):
    told = settings_in(png_with(SAMPLES[name]))
    assert told.prompt == PROMPTS[name]
    assert WANTED[name] == (
        *(told.dialect, told.seed, told.steps, told.guidance_scale),
        *(told.width, told.height, told.model),
    )


def test_unknown_fields_are_kept_separately():
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
def test_the_negative_prompt_is_separated(name, negative):
    assert settings_in(png_with(SAMPLES[name])).negative == negative


def test_options_of_an_old_command_need_no_space():
    text = '"a tree" -s50 -W512 -H512 -C7.5 -Ak_euler_a -S-3'
    told = settings_in(png_with({"Dream": text}))
    assert (told.steps, told.width, told.sampler, told.seed) == (50, 512, "k_euler_a", None)


def test_a_node_that_passes_both_prompts_does_not_mix_them():
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


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
@pytest.mark.parametrize(
    "text", [json.dumps(FOOOCUS), FOOOCUS_A1111], ids=["own scheme", "the other"]
)
def test_fooocus_writes_its_comment_among_the_outer_fields(kind, text):
    told = settings_in(with_exif(kind, ExifTags.Base.UserComment, text, is_inner=False))
    assert (told.prompt, told.negative, told.seed) == ("a fox under a bench", "ugly", 7446150)
    assert (told.scheduler, told.width, told.height) == ("karras", 1152, 896)


@pytest.mark.parametrize(("mark", "order"), [(b"\xff\xfe", "le"), (b"\xfe\xff", "be")])
def test_a_comment_may_have_a_byte_order_mark_and_an_odd_length(mark, order):
    comment = b"UNICODE\0" + mark + A1111.encode(f"utf-16-{order}") + b"\0"
    told = settings_in(with_exif("JPEG", ExifTags.Base.UserComment, comment))
    assert told.prompt == PROMPTS["a1111"]
    assert told.extras["Version"] == "v1.10.1"


def text_chunk(name, data):
    body = b"tEXt" + name + b"\0" + data
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


@pytest.mark.parametrize(("thing", "encoding"), [("杯子", "utf-8"), ("Kätzchen", "latin-1")])
def test_png_texts_are_decoded_correctly(thing, encoding):
    content = png_with({})
    place = content.index(b"IDAT") - 4
    chunk = text_chunk(b"parameters", A1111.replace("cup", thing).encode(encoding))
    told = settings_in(content[:place] + chunk + content[place:])
    assert told.prompt.startswith(f"a red {thing} on a table")


def test_settings_within_prompts_stay_in_the_prompt():
    unwanted = "Steps: wooden, broken: 2, Sampler: none, Seed: 1"
    text = A1111.replace('blurry, "low" quality', f"blurry\n{unwanted}\nugly")
    told = settings_in(png_with({"parameters": text}))
    assert told.negative == f"blurry\n{unwanted}\nugly"
    assert (told.seed, told.steps) == (1234567890, 28)


def test_a_list_among_the_settings_is_one_value():
    resources = '[{"type":"checkpoint","id":15236,"name":"Deliberate, the"},{"id":2}]'
    text = f"{A1111}, Civitai resources: {resources}, Odd: {{open, Last: 1"
    told = settings_in(png_with({"parameters": text}))
    assert told.extras["Civitai resources"] == resources
    assert (told.extras["Odd"], told.extras["Last"]) == ("{open", "1")


def graph_with(**nodes):
    return settings_in(png_with({"prompt": json.dumps(COMFYUI | nodes)}))


def test_a_zeroed_prompt_is_no_negative_prompt():
    nothing = {"class_type": "ConditioningZeroOut", "inputs": {"conditioning": ["6", 0]}}
    told = graph_with(**{"7": nothing})
    assert (told.prompt, told.negative) == ("a bottle", "")


def test_the_size_is_read_from_the_latents_and_not_from_the_text_encoder():
    texts = {"text_g": "a bottle", "text_l": "a bottle", "width": 2048, "height": 2048}
    told = graph_with(**{"6": {"class_type": "CLIPTextEncodeSDXL", "inputs": texts}})
    assert (told.width, told.height) == (512, 640)


def test_a_prompt_concatenated_from_two_texts_is_complete():
    halves = {"string_a": "a red", "string_b": "bottle", "delimiter": " "}
    told = graph_with(
        **{
            "6": {"class_type": "CLIPTextEncode", "inputs": {"text": ["51", 0]}},
            "51": {"class_type": "StringConcatenate", "inputs": halves},
        }
    )
    assert told.prompt == "a red bottle"


def test_a_model_may_be_given_by_name_only():
    told = settings_in(png_with({"invokeai_metadata": json.dumps(INVOKEAI | {"model": "sd-1"})}))
    assert told.model == "sd-1"


def test_a_graph_in_exif_is_read():
    text = f"prompt:{json.dumps(COMFYUI)}"
    content = with_exif("WEBP", ExifTags.Base.Model, text, is_inner=False)
    assert settings_in(content).seed == 156680208700286


def test_a_cyclic_graph_terminates():
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
def test_malformed_texts_are_no_error(texts):
    told = settings_in(png_with(texts))
    assert told is None or told.seed is None


def test_a_line_of_a_million_characters_is_read():
    line = 'a: "' + "\\" * 300_000 + "b-c /" * 100_000  # quadratic work would not end in hours
    assert a1111.read({"parameters": f"x\nSteps: 1, Seed: 2, {line}"}) is not None


def test_five_hundred_corrupted_files_are_no_error():
    chance = random.Random(7)
    seeds = [png_with(SAMPLES[name]) for name in SAMPLES]
    seeds.append(
        with_exif("JPEG", ExifTags.Base.UserComment, b"UNICODE\0" + A1111.encode("utf-16"))
    )
    seeds.append(with_exif("WEBP", ExifTags.Base.UserComment, json.dumps(FOOOCUS).encode()))
    told = [settings_in(spoilt(chance.choice(seeds), chance)) for _ in range(500)]
    assert 0 < sum(settings is not None for settings in told) < 500


DIALECT = """
from spatialstudio.adapters.storage.metadata.parse_values import Dialect
from spatialstudio.domain.picture_settings import PictureSettings


def read(texts):
    prompt = texts.get("my-prompt")
    return PictureSettings(dialect="mine", prompt=prompt) if prompt else None


DIALECTS = (Dialect(order=45, read=read),)
"""


def test_a_dialect_of_a_new_module_is_read(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(DIALECT)
    monkeypatch.setattr(dialects, "__path__", [*dialects.__path__, str(tmp_path)])
    monkeypatch.setattr(reader, "dialects", reader.dialects.__wrapped__)
    info = PngImagePlugin.PngInfo()
    info.add_text("my-prompt", "a cat above a dog")
    file = BytesIO()
    Image.new("RGB", (8, 8)).save(file, "PNG", pnginfo=info)
    settings = settings_in(file.getvalue())
    assert (settings.dialect, settings.prompt) == ("mine", "a cat above a dog")


def test_the_most_specific_dialects_are_tried_first():
    read = [each.read for each in reader.dialects()]
    names = [f"{each.__module__.rpartition('.')[2]}.{each.__name__}" for each in read]
    assert names == [
        *("own.read", "invokeai.read", "json_parameters.read_swarmui"),
        *("json_parameters.read_fooocus", "comfyui.read", "a1111.read"),
    ]
