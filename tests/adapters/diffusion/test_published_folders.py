"""Folders as their makers publish them, which differ from those that diffusers writes."""

import json
import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
import transformers
from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.load_pipeline import load_pipeline, load_streams
from spatialstudio.adapters.diffusion.token_spans import token_spans, words_by_position
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.domain.errors import (
    BackendError,
    ModelNotFound,
    RequestError,
)
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    RequestId,
    SamplingSettings,
)
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.tiny_families import (
    TINY_FAMILIES,
    build_tiny_family,
    flux2_klein,
    save_tiny_family,
)
from tests.adapters.diffusion.tiny_tokenizers import publish_as_merges, publish_as_pieces
from tests.fakes import events_of, scene_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning"),  # diffusers 0.42, numpy 2
    pytest.mark.filterwarnings("ignore:`upcast_vae"),  # which its own pipeline calls
]

CPU = torch.device("cpu")
SCENE = scene_of()
TEXT = SCENE.prompt.text
TINY = {tiny.pipeline_class: tiny for tiny in TINY_FAMILIES}


@pytest.fixture
def publish(tiny_folder, tmp_path):
    """Save a tiny model, its parts changed before and its folder afterwards."""

    def make(pipeline_class, change=None, **saving):
        if change is None and not saving:
            return shutil.copytree(tiny_folder(pipeline_class), tmp_path / "model")
        pipeline = build_tiny_family(TINY[pipeline_class])
        if change is not None:
            change(pipeline)
        pipeline.save_pretrained(tmp_path / "model", **saving)
        return tmp_path / "model"

    return make


def change_index(folder, **parts):
    file = folder / "model_index.json"
    index = json.loads(file.read_text(encoding="utf-8")) | parts
    file.write_text(json.dumps(index), encoding="utf-8")


def draw(folder, tmp_path, **changes):
    request = GenerationRequest(
        id=RequestId("run"),
        scene=SCENE,
        backend_id="diffusers",
        model=ModelRef(id="model"),
        sampling=SamplingSettings(seed=7, steps=2),
        capture=CaptureSettings(attention_every=0, preview_every=0),
    )
    backend = DiffusersBackend(tmp_path / "archives")
    return events_of(backend, with_values(request, **changes), read_card(folder))


def test_t5_is_read_from_its_pieces_alone_as_from_a_whole_tokenizer(publish):
    folder = publish("PixArtAlphaPipeline")
    card = read_card(folder)
    (whole,) = load_streams(card)
    publish_as_pieces(folder / "tokenizer")
    (pieces,) = load_pipeline(card, CPU).streams
    assert pieces.tokenizer(TEXT).input_ids == whole.tokenizer(TEXT).input_ids
    assert token_spans([pieces], TEXT, SCENE.mentions) == token_spans(
        load_streams(card), TEXT, SCENE.mentions
    )
    assert token_spans([pieces], TEXT, SCENE.mentions) == token_spans([whole], TEXT, SCENE.mentions)


def test_settings_of_t5_are_kept_where_pieces_are_read(publish):
    folder = publish("PixArtAlphaPipeline") / "tokenizer"
    publish_as_pieces(folder)
    config = {"extra_ids": 3, "model_max_length": 77, "eos_token": {"content": "</s>"}}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    (stream,) = load_streams(read_card(folder.parent))
    first = stream.tokenizer.convert_tokens_to_ids("<extra_id_0>")
    assert stream.tokenizer.model_max_length == 77
    assert (stream.tokenizer.eos_token, first) == ("</s>", len(stream.tokenizer) - 1)


def test_damaged_pieces_are_told(publish):
    folder = publish("PixArtAlphaPipeline")
    publish_as_pieces(folder / "tokenizer")
    file = folder / "tokenizer" / "spiece.model"
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(ModelNotFound, match="damaged"):
        load_streams(read_card(folder))


@pytest.mark.parametrize("config", [[], {"extra_ids": 10**8}, {"extra_ids": -1}])
def test_settings_of_t5_that_cannot_be_are_told(publish, config):
    folder = publish("PixArtAlphaPipeline")
    publish_as_pieces(folder / "tokenizer")
    (folder / "tokenizer/tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelNotFound, match="damaged"):
        load_streams(read_card(folder))


def test_no_words_are_made_up_for_a_tokenizer_whose_files_are_missing(publish):
    folder = publish("StableDiffusionPipeline")
    (folder / "tokenizer" / "tokenizer.json").unlink()
    with pytest.raises(ModelNotFound, match="damaged"):
        load_streams(read_card(folder))


def test_code_in_a_tokenizers_folder_is_never_run_nor_asked_for(publish, monkeypatch):
    folder = publish("StableDiffusionPipeline")
    change_index(folder, tokenizer=["transformers", "OwnTokenizer"])
    (folder / "tokenizer" / "own.py").write_text("raise SystemExit", encoding="utf-8")
    own = {"auto_map": {"AutoTokenizer": ["own.Own", "own.Own"]}, "tokenizer_class": "Own"}
    (folder / "tokenizer/tokenizer_config.json").write_text(json.dumps(own), encoding="utf-8")
    monkeypatch.setattr("builtins.input", pytest.fail)
    with pytest.raises(ModelNotFound, match="custom code"):
        load_streams(read_card(folder))


@pytest.mark.parametrize("shard", ["../../model.safetensors", "pytorch_model.bin"])
def test_lists_of_shards_lead_to_safetensors_beside_them_alone(publish, shard):
    folder = publish("StableDiffusionPipeline")
    encoder = folder / "text_encoder"
    listed = {"metadata": {}, "weight_map": dict.fromkeys(["a", "b"], shard)}
    (encoder / "model.safetensors.index.json").write_text(json.dumps(listed), encoding="utf-8")
    with pytest.raises(ModelNotFound, match="damaged"):
        load_pipeline(read_card(folder), CPU)


@pytest.mark.parametrize("part", ["unet", "vae", "scheduler", "tokenizer", "text_encoder"])
def test_a_model_without_a_part_that_it_needs_is_told(publish, part):
    folder = publish("StableDiffusionPipeline")
    change_index(folder, **{part: [None, None]})
    with pytest.raises(ModelNotFound, match="damaged"):
        load_pipeline(read_card(folder), CPU)


@pytest.mark.parametrize(
    "told", [["nolib", "Own"], ["diffusers", "NoSuchUNet"], ["transformers", "pipeline"]]
)
def test_a_part_of_a_class_that_no_library_has_is_told(publish, told):
    folder = publish("StableDiffusionPipeline")
    change_index(folder, unet=told, tokenizer=told)
    with pytest.raises(ModelNotFound, match="damaged"):
        load_pipeline(read_card(folder), CPU)


@pytest.mark.parametrize("pipeline_class", ["StableDiffusionPipeline", "QwenImagePipeline"])
def test_vocabulary_and_merges_are_a_tokenizer_as_well(publish, pipeline_class):
    folder = publish(pipeline_class)
    whole = token_spans(load_streams(read_card(folder)), TEXT, SCENE.mentions)
    publish_as_merges(folder / "tokenizer")
    assert token_spans(load_streams(read_card(folder)), TEXT, SCENE.mentions) == whole


def test_sd3_is_drawn_without_t5_whose_places_stay_empty(publish, tmp_path):
    folder = publish("StableDiffusion3Pipeline")
    change_index(folder, text_encoder_3=[None, None])
    shutil.rmtree(folder / "text_encoder_3")
    started, *_, finished = draw(folder, tmp_path)
    streams = load_streams(read_card(folder))
    assert {span.encoder_id for span in started.token_spans} == {"text_encoder", "text_encoder_2"}
    assert len(words_by_position(streams, TEXT, with_filling=True)) == streams[0].limit + 256
    assert finished.image.std() > 0


def test_the_first_encoder_of_sdxl_may_be_left_out_whatever_lies_in_its_folder(publish):
    folder = publish("StableDiffusionXLPipeline")
    change_index(folder, text_encoder=[None, None], tokenizer=[None, None])
    for file in (folder / "text_encoder").glob("*.safetensors"):
        file.rename(file.with_suffix(".bin"))
    loaded = load_pipeline(read_card(folder), CPU)
    assert [stream.encoder_id for stream in loaded.streams] == ["text_encoder_2"]
    assert loaded.pipeline.text_encoder is None


def test_weights_of_half_size_are_read_where_nothing_else_was_downloaded(publish, tmp_path):
    folder = publish("StableDiffusionXLPipeline", variant="fp16", max_shard_size="40KB")
    card = read_card(folder)
    assert card.size_bytes == sum(
        file.stat().st_size for file in folder.glob("*/*.fp16*.safetensors")
    )
    assert load_pipeline(card, CPU).denoiser.dtype is torch.float32
    assert draw(folder, tmp_path)[-1].setup.weights_sha256


def test_weights_of_half_size_beside_whole_ones_count_for_nothing(publish):
    folder = publish("StableDiffusionPipeline")
    alone = read_card(folder)
    hashed = load_pipeline(alone, CPU).weights_hash.result()
    whole = folder / "unet" / "diffusion_pytorch_model.safetensors"
    shutil.copy(whole, whole.with_name("diffusion_pytorch_model.fp16.safetensors"))
    assert read_card(folder) == alone
    assert load_pipeline(alone, CPU).weights_hash.result() == hashed


def with_checker(pipeline, threshold):
    small = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2}
    part = {**small, "num_hidden_layers": 1}
    config = transformers.CLIPConfig(
        text_config=part, vision_config={**part, "patch_size": 56}, projection_dim=8
    )
    checker = StableDiffusionSafetyChecker(config)
    checker.concept_embeds_weights.data.fill_(threshold)
    checker.special_care_embeds_weights.data.fill_(2)
    processor = transformers.CLIPImageProcessorPil()
    pipeline.register_modules(safety_checker=checker, feature_extractor=processor)


def test_a_picture_that_the_model_withholds_is_told_of_and_never_shown_black(publish, tmp_path):
    folder = publish("StableDiffusionPipeline", lambda pipeline: with_checker(pipeline, -2.0))
    with pytest.raises(BackendError, match="safety checker rejected"):
        draw(folder, tmp_path)


def test_a_picture_that_the_model_lets_pass_is_as_without_its_checker(publish, tmp_path):
    folder = publish("StableDiffusionPipeline", lambda pipeline: with_checker(pipeline, 2.0))
    checked = draw(folder, tmp_path)[-1].image
    change_index(folder, safety_checker=[None, None])
    assert np.array_equal(draw(folder, tmp_path)[-1].image, checked)


def test_a_class_that_was_renamed_is_known_by_its_former_name(publish, tmp_path):
    folder = publish("Lumina2Pipeline")
    change_index(folder, _class_name="Lumina2Text2ImgPipeline")
    card = read_card(folder)
    assert card.pipeline_class == "Lumina2Pipeline"
    assert load_pipeline(card, CPU).family.pipeline_class == "Lumina2Pipeline"


def test_an_encoder_whose_configuration_leaves_out_the_size_of_heads_is_estimated(
    publish, tmp_path
):
    folder = publish("QwenImagePipeline")
    file = folder / "text_encoder" / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    del config["text_config"]["head_dim"]
    file.write_text(json.dumps(config), encoding="utf-8")
    started = draw(folder, tmp_path, height=64, width=64)[0]
    assert started.memory.weights_bytes > 0


@pytest.mark.parametrize(
    ("layers", "arguments"),
    [(4, {"text_encoder_out_layers": (1, 2, 3)}), (28, {})],
    ids=["shallow", "as deep as published"],
)
def test_flux2_reads_layers_that_its_encoder_has(tmp_path, layers, arguments):
    folder = tmp_path / "model"
    tiny = replace(TINY["Flux2KleinPipeline"], build=partial(flux2_klein, layers))
    save_tiny_family(tiny, folder)
    loaded = load_pipeline(read_card(folder), CPU)
    assert loaded.family.own_arguments(loaded.pipeline) == arguments
    guidance = GuidanceSettings(method_id="psg", strength=20.0)
    step = draw(folder, tmp_path, height=64, width=64, guidance=guidance)[2]
    assert step.pos_after["r1"] > step.pos["r1"]


@pytest.mark.parametrize(
    ("pipeline_class", "multiple"), [("StableDiffusionPipeline", 8), ("SanaPipeline", 32)]
)
def test_sides_that_the_pipeline_itself_refuses_are_refused_in_words(
    publish, tmp_path, pipeline_class, multiple
):
    folder = publish(pipeline_class)
    with pytest.raises(RequestError, match=f"multiples of {multiple} pixels"):
        draw(folder, tmp_path, height=64, width=64 + multiple // 2)


def test_a_step_too_few_for_the_noise_to_end_somewhere_is_refused(publish, tmp_path):
    def end_in_noise(pipeline):
        pipeline.scheduler.register_to_config(shift_terminal=0.02)

    folder = publish("QwenImagePipeline", end_in_noise)
    with pytest.raises(RequestError, match="does not support 1 step"):
        draw(folder, tmp_path, height=64, width=64, steps=1)


def test_all_that_z_image_attends_to_is_kept_its_own_filling_too(publish):
    streams = load_streams(read_card(publish("ZImagePipeline")))
    places = words_by_position(streams, TEXT, with_filling=True)
    assert len(places) % 32 == 0
    assert list(places) == list(range(len(places)))
    assert set(list(places.values())[-1:]) == {""}


def test_a_size_is_chosen_whose_places_the_model_can_tell_apart(publish):
    folder = publish("ZImagePipeline")
    assert read_card(folder).native_size == 128 * 2
    file = folder / "transformer" / "config.json"
    config = json.loads(file.read_text(encoding="utf-8")) | {"axes_lens": [256, 16, 16]}
    file.write_text(json.dumps(config), encoding="utf-8")
    card = read_card(folder)
    assert card.native_size == 16 * 2 * 2
    assert load_pipeline(card, CPU).native_side == card.native_size


def test_a_model_that_is_told_the_scale_takes_no_negative_prompt(publish, tmp_path):
    folder = publish("StableDiffusionPipeline", tell_scale)
    negative = replace(SCENE, prompt=replace(SCENE.prompt, negative="tea"))
    with pytest.raises(RequestError, match="not support negative prompts"):
        draw(folder, tmp_path, scene=negative)
    assert draw(folder, tmp_path)[-1].image.std() > 0


def tell_scale(pipeline):
    unet = pipeline.unet
    pipeline.register_modules(unet=unet.from_config(unet.config, time_cond_proj_dim=16))


def test_a_folder_from_long_ago_is_read_without_a_word(publish):
    folder = publish("StableDiffusionPipeline")
    file = folder / "scheduler" / "scheduler_config.json"
    config = json.loads(file.read_text(encoding="utf-8")) | {"steps_offset": 0}
    file.write_text(json.dumps(config), encoding="utf-8")
    assert load_pipeline(read_card(folder), CPU).own_scheduler.config.steps_offset == 1
