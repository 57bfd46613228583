import json
import shutil
from dataclasses import replace
from threading import RLock

import pytest
import torch
from diffusers import EulerDiscreteScheduler, FluxTransformer2DModel
from tqdm.auto import tqdm

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.load_pipeline import load_pipeline, load_streams
from spatialstudio.adapters.models.model_files import ModelFolders, read_card
from spatialstudio.adapters.models.model_kinds import MODEL_KINDS
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import ModelNotFound, RequestError
from spatialstudio.domain.generation import GuidanceSettings, StepEvent
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.flux_file import save_flux_file
from tests.adapters.diffusion.sd3_file import save_sd3_file
from tests.adapters.diffusion.single_file import same_weights, save_single_file
from tests.adapters.diffusion.tiny_families import (
    TINY_FAMILIES,
    build_tiny_family,
    save_tiny_family,
)
from tests.fakes import events_of

CPU = torch.device("cpu")
STRONG = GuidanceSettings(method_id="psg", strength=500.0)


@pytest.fixture(scope="module")
def pipeline():
    return build_tiny_family(TINY_FAMILIES[0])


@pytest.fixture(scope="module")
def whole(pipeline, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "tiny"
    pipeline.save_pretrained(folder)
    return folder


@pytest.fixture
def bare(whole, tmp_path):
    """A folder of configurations and tokenizers alone."""
    shutil.copytree(whole, tmp_path / "file", ignore=shutil.ignore_patterns("*.safetensors"))
    return tmp_path / "file"


def cards_of(*roots, caches=()):
    return ModelFolders(roots, caches).cards()


def test_progress_bars_of_libraries_leave_no_semaphore_behind_when_the_process_is_killed(whole):
    (card,) = cards_of(whole.parent)
    loaded = load_pipeline(card, CPU)
    loaded.pipeline.progress_bar(total=1).close()
    assert isinstance(tqdm.get_lock(), type(RLock()))


def test_a_single_file_is_completed_by_the_folder_beside_it(pipeline, bare, tmp_path):
    save_single_file(pipeline, tmp_path / "file.safetensors")
    (card,) = cards_of(tmp_path)
    loaded = load_pipeline(card, CPU)
    assert (card.id, card.native_size) == ("file", 32)
    assert same_weights(loaded.pipeline.unet, pipeline.unet)
    assert same_weights(loaded.pipeline.vae, pipeline.vae)
    assert same_weights(loaded.pipeline.text_encoder, pipeline.text_encoder)
    assert load_streams(card)[0].limit == loaded.streams[0].limit


def test_a_single_file_without_a_folder_takes_a_model_of_its_kind_for_a_pattern(
    pipeline, whole, tmp_path
):
    save_single_file(pipeline, tmp_path / "other.safetensors")
    named = {card.id: card for card in cards_of(whole.parent, tmp_path)}
    assert named["other"].base == whole
    assert same_weights(load_pipeline(named["other"], CPU).pipeline.unet, pipeline.unet)


FROM_FILES = [tiny for tiny in TINY_FAMILIES if MODEL_KINDS[tiny.pipeline_class].reads_files]


@pytest.mark.parametrize("tiny", FROM_FILES, ids=lambda tiny: tiny.pipeline_class)
def test_every_family_takes_its_denoiser_from_a_file_and_the_rest_from_a_folder(
    tiny, tiny_folder, tmp_path
):
    shutil.copytree(tiny_folder(tiny.pipeline_class), tmp_path / "file")
    original = load_pipeline(read_card(tmp_path / "file"), CPU)
    part = tmp_path / "file" / original.family.kind.denoiser
    (part / "diffusion_pytorch_model.safetensors").rename(tmp_path / "file.safetensors")
    (card,) = cards_of(tmp_path)
    loaded = load_pipeline(card, CPU)
    assert same_weights(loaded.denoiser, original.denoiser)
    assert same_weights(loaded.pipeline.text_encoder, original.pipeline.text_encoder)
    assert same_weights(loaded.pipeline.vae, original.pipeline.vae)


@pytest.mark.parametrize(
    "held",
    [{"text_encoder": "clip_l"}, {"text_encoder": "clip_l", "text_encoder_3": "t5xxl"}],
    ids=["CLIP", "CLIP and T5"],
)
def test_a_file_of_sd3_with_some_encoders_takes_the_others_from_the_folder(tmp_path, held):
    tiny = next(one for one in TINY_FAMILIES if one.pipeline_class == "StableDiffusion3Pipeline")
    makers, folder = build_tiny_family(tiny), build_tiny_family(tiny)
    for part in (folder.transformer, *(getattr(folder, name) for name in held)):
        torch.nn.utils.vector_to_parameters(
            torch.zeros(sum(weight.numel() for weight in part.parameters())), part.parameters()
        )
    folder.save_pretrained(tmp_path / "file")
    encoders = {place: getattr(makers, name) for name, place in held.items()}
    save_sd3_file(makers.transformer, tmp_path / "file.safetensors", encoders)
    (card,) = cards_of(tmp_path)
    loaded = load_pipeline(card, CPU).pipeline
    assert same_weights(loaded.transformer, makers.transformer)
    assert same_weights(loaded.text_encoder.text_model, makers.text_encoder.text_model)
    assert same_weights(loaded.text_encoder_2, folder.text_encoder_2)
    t5 = makers.text_encoder_3 if "text_encoder_3" in held else folder.text_encoder_3
    assert same_weights(loaded.text_encoder_3, t5)


@pytest.fixture(scope="module")
def makers_flux():
    """A block of each kind, as wide as FLUX.1 dev: its makers' files are of one width alone."""
    with torch.device("meta"):
        transformer = FluxTransformer2DModel(
            in_channels=16,
            num_layers=1,
            num_single_layers=1,
            joint_attention_dim=32,
            pooled_projection_dim=16,
            guidance_embeds=True,
        )
    torch.manual_seed(0)
    state = {
        name: torch.randn(weight.shape[-1:], dtype=torch.bfloat16).expand(weight.shape)
        for name, weight in transformer.state_dict().items()
    }
    transformer.load_state_dict(state, assign=True)
    return transformer


@pytest.mark.slow
def test_a_flux_transformer_is_read_by_the_names_of_its_makers(makers_flux, tmp_path):
    tiny = next(tiny for tiny in TINY_FAMILIES if tiny.pipeline_class == "FluxPipeline")
    save_tiny_family(tiny, tmp_path / "file")
    makers_flux.save_config(tmp_path / "file" / "transformer")
    (tmp_path / "file" / "transformer" / "diffusion_pytorch_model.safetensors").unlink()
    save_flux_file(makers_flux, tmp_path / "file.safetensors")
    (card,) = cards_of(tmp_path)
    loaded = load_pipeline(replace(card, dtype="bfloat16"), CPU)
    assert same_weights(loaded.denoiser, makers_flux)


def test_a_damaged_single_file_is_told(bare, tmp_path):
    file = tmp_path / "file.safetensors"
    file.write_bytes((10**9).to_bytes(8, "little") + b"{")
    assert "damaged" in str(ModelFolders([tmp_path]).damaged()["file"])


def test_a_single_file_that_was_cut_short_after_it_was_listed_is_told(pipeline, bare, tmp_path):
    file = tmp_path / "file.safetensors"
    save_single_file(pipeline, file)
    (card,) = cards_of(tmp_path)
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ModelNotFound, match="damaged"):
        load_pipeline(card, CPU)


@pytest.fixture
def cache(whole, tmp_path):
    """The layout of the Hugging Face hub's cache: snapshots of links to blobs."""
    model = tmp_path / "hub" / "models--maker--tiny"
    snapshot = model / "snapshots" / "abc123"
    for file in (file for file in whole.rglob("*") if file.is_file()):
        blob = model / "blobs" / f"{abs(hash(file))}"
        blob.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, blob)
        link = snapshot / file.relative_to(whole)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(blob)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("abc123", encoding="utf-8")
    (model / "snapshots" / "older").mkdir()
    return tmp_path / "hub"


def test_a_model_in_the_hubs_cache_is_found_and_loaded(cache, pipeline):
    (card,) = cards_of(caches=[cache])
    assert card.id == "maker/tiny"
    assert same_weights(load_pipeline(card, CPU).pipeline.unet, pipeline.unet)


def test_a_model_whose_parts_wait_off_the_device_is_loaded(whole):
    loaded = load_pipeline(read_card(whole), torch.device("cuda"), offload=Saving.OFFLOAD)
    parts = [loaded.pipeline.unet, loaded.pipeline.vae, loaded.pipeline.text_encoder]
    assert [part.device.type for part in parts] == ["cpu"] * 3
    assert all(hasattr(part, "_hf_hook") for part in parts)


def test_what_else_lies_in_the_hubs_cache_is_passed_over(cache):
    index = cache / "models--maker--tiny/snapshots/abc123/model_index.json"
    content = json.loads(index.read_text(encoding="utf-8")) | {"_class_name": "AudioPipeline"}
    index.unlink()
    index.write_text(json.dumps(content), encoding="utf-8")
    (cache / "models--maker--words" / "snapshots" / "1").mkdir(parents=True)
    shelf = ModelFolders([], [cache])
    assert shelf.cards() == ()
    assert shelf.damaged() == {}


def test_pickled_weights_in_the_hubs_cache_are_told_of_by_their_makers_name(cache):
    for file in cache.rglob("unet/*.safetensors"):
        file.rename(file.with_suffix(".bin"))
    ((name, damage),) = ModelFolders([], [cache]).damaged().items()
    assert name == "maker/tiny"
    assert '"maker/tiny" contains pickle files' in damage.message


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_weights_of_half_precision_are_guided_by_maps_in_full(whole, tmp_path, dtype, tiny_request):
    shutil.copytree(whole, tmp_path / "half")
    (tmp_path / "half" / "studio.toml").write_text(f'dtype = "{dtype}"', encoding="utf-8")
    (card,) = cards_of(tmp_path)
    backend = DiffusersBackend(tmp_path / "archives")
    free = events_of(backend, tiny_request, card)
    asked = with_values(tiny_request, guidance=STRONG)
    guided = events_of(backend, asked, card)
    assert str(backend._loaded.denoiser.dtype) == f"torch.{dtype}"
    assert {weights.dtype.name for weights in guided[2].attention.maps.values()} == {"float32"}
    assert guided[-2].pos["r1"] > free[-2].pos["r1"] + 0.01


def test_gradients_of_half_precision_do_not_vanish(whole, tiny_request):
    card, steps = read_card(whole), {}
    faint = GuidanceSettings(method_id="psg", strength=500.0, last_step=0)
    request = with_values(tiny_request, guidance=faint)
    for dtype in ("float32", "float16"):
        backend = DiffusersBackend(whole.parent / "archives")
        events = events_of(backend, request, replace(card, dtype=dtype))
        steps[dtype] = next(event for event in events if isinstance(event, StepEvent))
    full, half = (steps[dtype] for dtype in ("float32", "float16"))
    raised = full.pos_after["r1"] - full.pos["r1"]
    assert raised > 0.005
    assert half.pos_after["r1"] - half.pos["r1"] == pytest.approx(raised, rel=0.2)


def test_a_number_format_that_nobody_knows_is_refused(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "odd")
    (tmp_path / "odd" / "studio.toml").write_text('dtype = "int3"', encoding="utf-8")
    (card,) = cards_of(tmp_path)
    with pytest.raises(RequestError, match="int3"):
        load_pipeline(card, CPU)


@pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning")  # diffusers 0.42 with numpy 2
@pytest.mark.parametrize("scheduler_id", ["DDIMScheduler", "DDPMScheduler"])
def test_samplers_made_for_pixels_do_not_clip_latents(loaded, scheduler_id):
    silent = replace(loaded, own_scheduler=EulerDiscreteScheduler())
    silent.set_scheduler(scheduler_id)
    assert not silent.pipeline.scheduler.config.clip_sample
