"""Families that are too large to be drawn here: full layouts are listed, with their memory."""

import pytest
import torch

from spatialstudio.adapters.diffusion.families import FAMILIES
from spatialstudio.adapters.diffusion.load_pipeline import LoadedPipeline
from spatialstudio.adapters.diffusion.memory_estimate import estimate_memory
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.adapters.models.pipeline_classes import import_pipeline
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.full_families import (
    FULL_FAMILIES,
    build_full,
    modules_of,
    parameters_of,
    size_in_bytes,
    weights_layout,
    write_full_folder,
)


@pytest.mark.parametrize("name", FULL_FAMILIES)
def test_a_full_layout_is_listed_with_the_memory_that_it_needs(name, tmp_path, tiny_request):
    family = FULL_FAMILIES[name]
    parts = build_full(family)
    write_full_folder(tmp_path / name, family.pipeline_class, parts)
    card = read_card(tmp_path / name)
    assert parameters_of(parts["transformer"]) == pytest.approx(family.billions * 1e9, rel=0.11)
    assert (card.pipeline_class, card.native_size) == (family.pipeline_class, 1024)
    assert card.size_bytes == pytest.approx(size_in_bytes(parts), rel=0.01)
    pipeline = import_pipeline(family.pipeline_class)(**parts)
    cuda = torch.device("cuda")
    known = FAMILIES[family.pipeline_class]
    loaded = LoadedPipeline(pipeline, known, card.folder, cuda, parts["scheduler"], None)
    request = with_values(tiny_request, height=1024, width=1024, dtype="bfloat16")
    estimate = estimate_memory(loaded, request)
    assert estimate.weights_bytes == pytest.approx(card.size_bytes, rel=0.05)
    waiting = estimate_memory(loaded, with_values(request, savings=(Saving.OFFLOAD,)))
    assert waiting.weights_bytes == max(loaded.part_sizes)
    assert sum(file.stat().st_blocks for file in tmp_path.rglob("*.safetensors")) < 20_000
    assert len(modules_of(parts)) == len(loaded.part_sizes)


def test_the_head_of_a_text_encoder_is_stored_unless_it_is_tied():
    """Qwen2.5-VL of Qwen-Image has a head of its own, Qwen3 of FLUX.2 shares its embeddings."""
    untied = weights_layout(build_full(FULL_FAMILIES["qwen-image"])["text_encoder"])
    tied = weights_layout(build_full(FULL_FAMILIES["flux.2-klein-4b"])["text_encoder"])
    assert untied["lm_head.weight"] == ("BF16", (152064, 3584))
    assert "lm_head.weight" not in tied
