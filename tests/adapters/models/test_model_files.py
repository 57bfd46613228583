import json
from pathlib import Path

import pytest

from spatialstudio.adapters.models import model_settings
from spatialstudio.adapters.models.identify_file import INPUT
from spatialstudio.adapters.models.model_files import (
    ModelFolders,
    hub_caches,
    read_card,
)
from spatialstudio.adapters.models.model_kinds import MODEL_KINDS
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.samplers import alternative_samplers
from tests.sparse_weights import write_sparse

OBJECTS = """
[[objects]]
name = "couch"
plural = "couches"
synonyms = ["sofa", "sofas"]
"""


def write_model(folder: Path, advice: str = "", weights: str = "model.safetensors") -> Path:
    """Write what a card is read from: a folder of two parts with three bytes of weights each."""
    for part, config in (
        ("unet", {"sample_size": 64}),
        ("vae", {"block_out_channels": [1, 2, 3, 4]}),
    ):
        (folder / part).mkdir(parents=True)
        (folder / part / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (folder / part / weights).write_bytes(b"123")
    index = {"_class_name": "StableDiffusionPipeline", "unet": ["d", "U"], "vae": ["d", "V"]}
    (folder / "model_index.json").write_text(json.dumps(index), encoding="utf-8")
    if advice:
        (folder / "studio.toml").write_text(advice, encoding="utf-8")
    return folder


def test_a_plain_diffusers_folder_gets_the_default_settings(tmp_path):
    card = read_card(write_model(tmp_path / "my-model"))
    assert (card.id, card.title, card.backend_id) == ("my-model", "my-model", "diffusers")
    assert (card.steps, card.guidance_scale, card.strength) == (50, 7.5, 20.0)
    assert card.native_size == 512
    assert card.size_bytes == 6
    assert card.known_objects == {}


def test_recommended_settings_next_to_the_model_are_used(tmp_path):
    advice = 'id = "x"\ntitle = "X"\nlicence = "MIT"\nsteps = 16\nstrength = 5.0'
    card = read_card(write_model(tmp_path / "my-model", advice))
    assert (card.id, card.title, card.licence) == ("x", "X", "MIT")
    assert (card.steps, card.guidance_scale, card.strength) == (16, 7.5, 5.0)


@pytest.mark.parametrize(
    ("config", "samplers"),
    [
        ({"_class_name": "EulerDiscreteScheduler"}, alternative_samplers("EulerDiscreteScheduler")),
        ({"_class_name": "LCMScheduler"}, ("LCMScheduler",)),
        (
            {"_class_name": "DPMSolverMultistepScheduler", "use_flow_sigmas": True},
            ("DPMSolverMultistepScheduler",),
        ),
        (
            {"_class_name": "DPMSolverMultistepScheduler", "prediction_type": "flow_prediction"},
            ("DPMSolverMultistepScheduler",),
        ),
        (
            {"_class_name": "DDPMScheduler", "beta_schedule": "squaredcos_cap_v2"},
            alternative_samplers("DDPMScheduler", begins_in_noise=True),
        ),
        ({}, ()),
    ],
)
def test_samplers_are_interchangeable_except_with_flow_matching(tmp_path, config, samplers):
    folder = write_model(tmp_path / "m")
    (folder / "scheduler").mkdir()
    (folder / "scheduler" / "scheduler_config.json").write_text(json.dumps(config), "utf-8")
    assert read_card(folder).samplers == samplers


def test_every_synonym_maps_to_the_trained_object(tmp_path):
    (tmp_path / "objects.toml").write_text(OBJECTS, encoding="utf-8")
    card = read_card(write_model(tmp_path / "m", 'objects = "../objects.toml"'))
    assert card.known_objects == dict.fromkeys(["couch", "couches", "sofa", "sofas"], "couch")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model_index.json", "{"),
        ("model_index.json", "[" * 100_000),
        ("model_index.json", '{"_class_name": "StableDiffusionPipeline", "../out": ["d", "X"]}'),
        ("unet/config.json", "{}"),
        ("unet/config.json", '{"sample_size": 1e999}'),
        ("unet/config.json", '{"sample_size": 1000000}'),
        ("vae/config.json", "[1]"),
        ("vae/config.json", '{"block_out_channels": []}'),
        ("scheduler/scheduler_config.json", "[]"),
        ("studio.toml", "steps ="),
        ("studio.toml", "steps = inf"),
        ("studio.toml", "speed = 9"),
        ("studio.toml", 'steps = "many"'),
        ("studio.toml", 'objects = "nowhere.toml"'),
    ],
    ids=[
        "index",
        "deep index",
        "index that leads out",
        "configuration",
        "endless size",
        "size beyond all",
        "autoencoder",
        "autoencoder without levels",
        "sampler",
        "advice",
        "endless advice",
        "unknown advice",
        "wrong advice",
        "objects",
    ],
)
def test_a_damaged_folder_is_reported(tmp_path, file, content):
    folder = write_model(tmp_path / "m")
    (folder / "scheduler").mkdir()
    (folder / file).write_text(content, encoding="utf-8")
    with pytest.raises(ModelNotFound, match='"m" is damaged'):
        read_card(folder)


def test_a_part_without_a_class_is_left_out(tmp_path):
    folder = write_model(tmp_path / "m")
    index = json.loads((folder / "model_index.json").read_text(encoding="utf-8"))
    (folder / "model_index.json").write_text(json.dumps(index | {"image_encoder": []}), "utf-8")
    assert read_card(folder).size_bytes == 6


def test_settings_written_by_a_windows_editor_are_read(tmp_path):
    folder = write_model(tmp_path / "m")
    (folder / "studio.toml").write_bytes(b'\xef\xbb\xbftitle = "X"\r\nsteps = 4\r\n')
    card = read_card(folder)
    assert (card.title, card.steps) == ("X", 4)


def test_an_unreadable_folder_is_reported(tmp_path, monkeypatch):
    def forbid(*_):
        raise PermissionError

    folder = write_model(tmp_path / "m")
    monkeypatch.setattr(model_settings, "read_regular", forbid)
    with pytest.raises(ModelNotFound, match='permission to read the model folder "m"'):
        read_card(folder)


def test_an_inpainting_model_is_rejected(tmp_path):
    folder = write_model(tmp_path / "m")
    config = {"sample_size": 64, "in_channels": 9, "out_channels": 4}
    (folder / "unet" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelNotFound, match="requires an input picture"):
        read_card(folder)


def test_pickled_weights_are_rejected(tmp_path):
    with pytest.raises(ModelNotFound, match="contains pickle files"):
        read_card(write_model(tmp_path / "m", weights="pytorch_model.bin"))


def test_the_catalog_lists_valid_models_of_all_roots_in_order(tmp_path):
    write_model(tmp_path / "shipped" / "b")
    write_model(tmp_path / "own" / "a")
    write_model(tmp_path / "own" / "broken", "steps =")
    (tmp_path / "own" / "no model").mkdir()
    shelf = ModelFolders([tmp_path / "shipped", tmp_path / "own", tmp_path / "nowhere"])
    assert [card.id for card in shelf.cards()] == ["b", "a"]
    assert list(shelf.damaged()) == ["broken"]


def test_the_first_root_wins_for_two_models_of_one_id(tmp_path):
    first = write_model(tmp_path / "shipped" / "m")
    write_model(tmp_path / "own" / "m")
    (card,) = ModelFolders([tmp_path / "shipped", tmp_path / "own"]).cards()
    assert card.folder == first


SIZES = {
    "PixArtSigmaPipeline": ({"sample_size": 128}, {"block_out_channels": [1] * 4}, 1024),
    "SanaPipeline": ({"sample_size": 32}, {"encoder_block_out_channels": [1] * 6}, 1024),
    "QwenImagePipeline": ({}, {"temperal_downsample": [False, True, True]}, 1024),
    "Lumina2Pipeline": ({"sample_size": 128}, {"block_out_channels": [1] * 3}, 1024),
}


@pytest.mark.parametrize("kind", SIZES)
def test_every_family_has_its_size_and_default_settings(tmp_path, kind):
    folder = write_model(tmp_path / "m")
    denoiser, autoencoder, side = SIZES[kind]
    index = {"_class_name": kind, "transformer": ["d", "T"], "vae": ["d", "V"]}
    (folder / "unet").rename(folder / "transformer")
    for file, content in (
        ("model_index.json", index),
        ("transformer/config.json", denoiser),
        ("vae/config.json", autoencoder),
    ):
        (folder / file).write_text(json.dumps(content), encoding="utf-8")
    card = read_card(folder)
    wanted = MODEL_KINDS[kind]
    assert (card.pipeline_class, card.native_size) == (kind, side)
    assert (card.steps, card.strength) == (wanted.steps, wanted.strength)


@pytest.mark.parametrize(
    ("kind", "setting", "few"),
    [("FluxPipeline", "guidance_embeds", False), ("Flux2KleinPipeline", "is_distilled", True)],
)
def test_distilled_models_use_few_steps(tmp_path, kind, setting, few):
    folder = write_model_of(kind, tmp_path / "m")
    for value, settings in ((few, (4, 1.0)), (not few, usual_settings(kind))):
        file = folder / "transformer" / "config.json"
        file.write_text(json.dumps({setting: value}), encoding="utf-8")
        card = read_card(folder)
        assert (card.steps, card.guidance_scale) == settings


def usual_settings(kind):
    return MODEL_KINDS[kind].steps, MODEL_KINDS[kind].guidance_scale


def test_an_unsupported_model_class_is_reported(tmp_path):
    folder = write_model(tmp_path / "m")
    (folder / "model_index.json").write_text('{"_class_name": "AudioPipeline"}', encoding="utf-8")
    with pytest.raises(ModelNotFound, match="not supported: its class is AudioPipeline"):
        read_card(folder)


def write_header(file: Path, *names: str) -> Path:
    """Write a file of small weights of these names."""
    return write_sparse(file, dict.fromkeys(names, ("F16", (1, 4, 1, 1))))


def write_model_of(kind: str, folder: Path) -> Path:
    write_model(folder)
    (folder / "unet").rename(folder / "transformer")
    index = {"_class_name": kind, "transformer": ["d", "T"], "vae": ["d", "V"]}
    (folder / "model_index.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


@pytest.mark.parametrize("prefix", ["", "model.diffusion_model."], ids=["maker's", "prefixed"])
@pytest.mark.parametrize(
    ("weight", "kind"),
    [
        ("double_blocks.0.img_mod.lin.weight", "FluxPipeline"),
        ("joint_blocks.0.x_block.attn.qkv.weight", "StableDiffusion3Pipeline"),
        ("double_stream_modulation_img.lin.weight", None),
    ],
    ids=["FLUX.1", "SD3", "FLUX.2"],
)
def test_a_single_file_is_identified_by_its_weights_with_and_without_a_prefix(
    tmp_path, prefix, weight, kind
):
    for each in ("FluxPipeline", "StableDiffusion3Pipeline"):
        write_model_of(each, tmp_path / each)
    write_header(
        tmp_path / "file.safetensors",
        prefix + weight,
        f"{prefix}double_blocks.0.img_attn.qkv.weight",
    )
    cards = {card.id: card.pipeline_class for card in ModelFolders([tmp_path]).cards()}
    assert cards.get("file") == kind


def write_unet(file, width):
    """Write the header of a UNet without its prefix that attends to text of a width."""
    attends = "input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight"
    shapes = {"input_blocks.0.0.weight": (320, 4, 3, 3), attends: (320, width)}
    return write_sparse(file, {name: ("F16", shape) for name, shape in shapes.items()})


def with_denoiser(folder, name, **values):
    config = json.loads((folder / name / "config.json").read_text("utf-8"))
    (folder / name / "config.json").write_text(json.dumps(config | values), encoding="utf-8")


@pytest.mark.parametrize(("width", "base"), [(768, "sd-1.5"), (1024, "sd-2.1")])
def test_a_unet_is_completed_by_a_model_that_attends_to_text_of_its_width(tmp_path, width, base):
    for name, other in (("sd-1.5", 768), ("sd-2.1", 1024)):
        with_denoiser(write_model(tmp_path / name), "unet", cross_attention_dim=other)
    write_unet(tmp_path / "unet.safetensors", width)
    cards = {card.id: card for card in ModelFolders([tmp_path]).cards()}
    assert cards["unet"].base == tmp_path / base


def test_a_unet_is_not_completed_by_the_folder_of_another_family(tmp_path):
    with_denoiser(write_model(tmp_path / "unet"), "unet", cross_attention_dim=1024)
    write_unet(tmp_path / "unet.safetensors", 768)
    told = ModelFolders([tmp_path]).damaged()["unet"]
    assert 'folder "unet" is of another model than the file "unet.safetensors"' in told.message
    assert "only the denoiser of Stable Diffusion 1.5" in told.message


@pytest.mark.parametrize("has_guidance", [True, False], ids=["dev", "schnell"])
def test_flux_dev_and_schnell_do_not_complete_each_other(tmp_path, has_guidance):
    for name, embeds in (("dev", True), ("schnell", False)):
        write_model_of("FluxPipeline", tmp_path / name)
        with_denoiser(tmp_path / name, "transformer", guidance_embeds=embeds)
    guidance = ("guidance_in.in_layer.weight",) if has_guidance else ()
    write_header(tmp_path / "file.safetensors", "double_blocks.0.img_mod.lin.weight", *guidance)
    cards = {card.id: card for card in ModelFolders([tmp_path]).cards()}
    assert cards["file"].base.name == ("dev" if has_guidance else "schnell")


def test_a_folder_with_a_dot_in_its_name_belongs_only_to_the_file_of_that_name(tmp_path):
    write_model(tmp_path / "FLUX.1-dev")
    write_header(tmp_path / "FLUX.safetensors", "x")
    shelf = ModelFolders([tmp_path])
    assert [card.id for card in shelf.cards()] == ["FLUX.1-dev"]
    write_header(tmp_path / "FLUX.1-dev.safetensors", "x")
    (card,) = shelf.cards()
    assert card.folder == tmp_path / "FLUX.1-dev.safetensors"
    assert card.base == tmp_path / "FLUX.1-dev"


def test_a_single_file_of_a_family_that_needs_a_folder_is_reported(tmp_path):
    write_model_of("PixArtSigmaPipeline", tmp_path / "file")
    write_header(tmp_path / "file.safetensors", "blocks.0.attn.qkv.weight")
    told = ModelFolders([tmp_path]).damaged()["file"]
    assert "PixArtSigmaPipeline models need a complete diffusers folder" in str(told)
    assert "file/transformer" in told.hint


@pytest.mark.parametrize("name", ["v1-5-pruned", "stickers"], ids=["another", "beside"])
def test_a_model_that_lists_its_objects_never_completes_a_single_file(tmp_path, name):
    (tmp_path / "objects.toml").write_text(OBJECTS, encoding="utf-8")
    write_model(tmp_path / "stickers", 'objects = "../objects.toml"')
    write_header(tmp_path / f"{name}.safetensors", INPUT)
    shelf = ModelFolders([tmp_path])
    assert name not in [card.id for card in shelf.cards() if card.base]
    assert "the other parts are missing" in str(shelf.damaged()[name])
    assert "StableDiffusionPipeline" in shelf.damaged()[name].hint


def test_a_single_file_without_a_companion_folder_is_reported(tmp_path):
    write_header(tmp_path / "alone.safetensors", INPUT)
    shelf = ModelFolders([tmp_path])
    assert shelf.cards() == ()
    assert 'named "alone"' in shelf.damaged()["alone"].hint


@pytest.mark.parametrize("header", [b"[1, 2]", b"5", b"[" * 100_000, b""])
def test_a_single_file_with_a_wrong_header_is_damaged(tmp_path, header):
    content = len(header).to_bytes(8, "little") + header
    (tmp_path / "file.safetensors").write_bytes(content)
    told = ModelFolders([tmp_path]).damaged()["file"]
    assert "damaged" in str(told)


def test_a_header_longer_than_the_format_allows_is_not_read(tmp_path, monkeypatch):
    write_header(tmp_path / "file.safetensors", "x")
    monkeypatch.setattr(model_settings, "MAX_HEADER_BYTES", 3)
    assert "damaged" in str(ModelFolders([tmp_path]).damaged()["file"])


@pytest.mark.parametrize("branch", [b"\xff\xfe", b"nowhere", b"../../../m"])
def test_downloads_with_a_dangling_branch_are_skipped(tmp_path, branch):
    write_model(tmp_path / "m")
    refs = tmp_path / "hub" / "models--a--b" / "refs"
    refs.mkdir(parents=True)
    (refs.parent / "snapshots").mkdir()
    (refs / "main").write_bytes(branch)
    shelf = ModelFolders([tmp_path], [tmp_path / "hub"])
    assert [card.id for card in shelf.cards()] == ["m"]
    assert shelf.damaged() == {}


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ({"HF_HUB_CACHE": "/a"}, ["/a"]),
        ({"HF_HUB_CACHE": ""}, []),
        ({"HF_HOME": "/b"}, ["/b/hub"]),
        ({"XDG_CACHE_HOME": "/c"}, ["/c/huggingface/hub"]),
    ],
    ids=["cache", "none", "home", "system"],
)
def test_the_hub_cache_is_found_where_its_libraries_put_it(monkeypatch, named, found):
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert [folder.as_posix() for folder in hub_caches()] == found
