"""The catalogue of recommended models, and which files of a repository are downloaded."""

import re

import pytest

from spatialstudio.adapters.hub.catalogue import (
    is_safe_kind,
    read_catalogue,
    select_diffusers,
    select_transformers,
)
from spatialstudio.adapters.models.model_kinds import MODEL_KINDS
from spatialstudio.adapters.perception.model_catalog import families
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.hub import ModelTask, task_of
from spatialstudio.domain.judge_choice import JUDGE_SETS
from spatialstudio.domain.resources import resources_folder

ENTRIES = read_catalogue(resources_folder())
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
EACH = pytest.mark.parametrize("entry", ENTRIES, ids=[entry.id for entry in ENTRIES])


@pytest.mark.parametrize("name", ["id", "title", "repository"])
def test_no_two_entries_share_a_name(name):
    names = [getattr(entry, name).lower() for entry in ENTRIES]
    assert len(names) == len(set(names))


def test_there_is_a_model_for_every_task():
    assert {entry.task for entry in ENTRIES} == {*ModelTask} - {ModelTask.UNKNOWN}


@EACH
def test_the_studio_can_load_the_architecture(entry):
    kinds = {name: family.role.value for name, family in families().items()}
    known = {
        **dict.fromkeys(MODEL_KINDS, ModelTask.DIFFUSION.value),
        **kinds,
        "BlipForQuestionAnswering": ModelTask.ANSWERER.value,
    }
    assert known[entry.architecture] == entry.task.value


@EACH
def test_only_weights_and_settings_are_downloaded(entry):
    assert all(is_safe_kind(pattern) for pattern in entry.files)


@EACH
def test_licence_repository_and_memory_are_given(entry):
    assert REPOSITORY.fullmatch(entry.repository)
    assert entry.licence
    assert entry.licence_url.startswith("https://")
    assert entry.memory_gb > 0


@EACH
def test_models_that_draw_have_recommended_settings(entry):
    settings = (entry.steps, entry.size, entry.guidance_scale)
    assert all(settings) == (entry.task is ModelTask.DIFFUSION)


def test_every_model_that_a_judge_set_offers_is_listed():
    offered = {
        name
        for card in JUDGE_SETS
        for each in card.tasks.values()
        for name in each.models
        if REPOSITORY.fullmatch(name)
    }
    assert len(offered) > 10
    assert offered <= {entry.repository for entry in ENTRIES}


def test_models_for_non_commercial_use_say_so():
    titles = {entry.title for entry in ENTRIES if "-nc" in entry.licence}
    assert len(titles) == 2
    assert all("non-commercial" in title for title in titles)


@EACH
def test_the_task_is_known_from_the_architecture(entry):
    assert task_of(entry.architecture) is entry.task


def test_a_damaged_catalogue_is_named(tmp_path):
    with pytest.raises(SettingsError, match="catalogue cannot be read"):
        read_catalogue(tmp_path)


SDXL = (
    "model_index.json",
    "sd_xl_base_1.0.safetensors",
    "README.md",
    "unet/config.json",
    "unet/model.onnx",
    "unet/diffusion_pytorch_model.safetensors",
    "unet/diffusion_pytorch_model.fp16.safetensors",
    "vae/config.json",
    "vae/diffusion_pytorch_model.safetensors",
    "vae/diffusion_pytorch_model.fp16.safetensors",
    "vae/diffusion_pytorch_model.bin",
    "text_encoders/clip_g.safetensors",
    "tokenizer/merges.txt",
)
PARTS = ("unet", "vae", "tokenizer")


def test_half_precision_is_preferred_if_every_part_has_it():
    chosen = select_diffusers(SDXL, PARTS)
    assert set(chosen) == {
        "model_index.json",
        "unet/config.json",
        "unet/diffusion_pytorch_model.fp16.safetensors",
        "vae/config.json",
        "vae/diffusion_pytorch_model.fp16.safetensors",
        "tokenizer/merges.txt",
    }


def test_full_weights_are_used_if_a_part_has_no_variant():
    names = [name for name in SDXL if name != "vae/diffusion_pytorch_model.fp16.safetensors"]
    chosen = select_diffusers(names, PARTS)
    assert [name for name in chosen if name.endswith("safetensors")] == [
        "unet/diffusion_pytorch_model.safetensors",
        "vae/diffusion_pytorch_model.safetensors",
    ]


def test_the_patterns_of_the_catalogue_decide():
    chosen = select_diffusers(SDXL, PARTS, ("model_index.json", "*/*.json", "*/*.safetensors"))
    assert "unet/diffusion_pytorch_model.safetensors" in chosen
    assert "unet/diffusion_pytorch_model.fp16.safetensors" not in chosen


def test_a_model_of_transformers_is_downloaded_once():
    names = (
        *("config.json", "vocab.txt", "model.safetensors", "model.fp16.safetensors"),
        *("pytorch_model.bin", "sam2.1_hiera_tiny.pt", "onnx/model.json", "run.py"),
    )
    assert select_transformers(names) == ("config.json", "vocab.txt", "model.safetensors")


def test_shards_are_all_downloaded():
    shards = tuple(f"model-0000{number}-of-00002.safetensors" for number in (1, 2))
    names = ("config.json", "model.safetensors.index.json", *shards)
    assert select_transformers(names) == names
