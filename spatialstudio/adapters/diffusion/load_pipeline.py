"""Loading of diffusers models from local files: safetensors only, no network access."""

import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import Any

import diffusers
import numpy as np
import torch
from diffusers.loaders import single_file
from diffusers.utils import logging as diffusers_logging
from safetensors import SafetensorError, safe_open
from transformers import PreTrainedModel
from transformers.utils import logging as transformers_logging

from spatialstudio.adapters.device import is_out_of_memory, pick_dtype
from spatialstudio.adapters.diffusion.families import (
    FAMILIES,
    STABLE_DIFFUSION,
    Family,
)
from spatialstudio.adapters.diffusion.guidable_pipeline import GuidablePipeline
from spatialstudio.adapters.diffusion.invalid_numbers import InvalidNumbers, refuse_invalid
from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.adapters.diffusion.preview import EDM_SAMPLERS, is_flow
from spatialstudio.adapters.diffusion.text_streams import TextStream
from spatialstudio.adapters.diffusion.tokenizers import read_tokenizers
from spatialstudio.adapters.models.identify_file import BARE_INPUT, NEWER_CLIP, OLDER_CLIP
from spatialstudio.adapters.models.model_kinds import (
    DENOISER_PREFIX,
    MODEL_KINDS,
    current_name,
)
from spatialstudio.adapters.models.model_parts import (
    INDEX_FILE,
    TOKENIZER,
    check_parts,
    parts_in_use,
    parts_left_out,
    read_index,
    refuse_stray_shards,
    variant_of,
    weight_files,
)
from spatialstudio.adapters.models.model_settings import is_explained, unusable
from spatialstudio.adapters.models.pipeline_classes import import_pipeline
from spatialstudio.adapters.models.weight_hashes import hash_in_background
from spatialstudio.adapters.models.weight_limits import held_to_weights
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import (
    BackendError,
    ModelNotFound,
    RequestError,
)
from spatialstudio.domain.ports import ModelCard

SIGNS = {
    "vae": ("first_stage_model.", "vae."),
    "text_encoder": ("cond_stage_model.", "conditioner.embedders.0.", "text_encoders.clip_l."),
    "text_encoder_2": ("conditioner.embedders.1.", "text_encoders.clip_g."),
}
"""Weight name prefixes of the components that a single file may hold besides the denoiser."""

SIGNS_OF_CLASSES = {"T5EncoderModel": ("text_encoders.t5xxl.",)}
"""Prefixes of components identified by class: T5 is second in FLUX, third in Stable Diffusion 3."""


def read_pipeline(pipeline_class: Any, model: ModelCard, dtype: torch.dtype) -> Any:
    """Create the pipeline of a model; library errors are not translated.

    Args:
        pipeline_class: A diffusers pipeline class.
        model: A folder, or a single file with the folder that completes it.
        dtype: Data type of the weights.
    """
    check_parts(model.base or model.folder)
    with held_to_weights(all_files(model)):
        return _read(pipeline_class, model, dtype)


def _read(pipeline_class: Any, model: ModelCard, dtype: torch.dtype) -> Any:
    if model.base is None:
        return _read_folder(pipeline_class, model.folder, dtype, _without_weights(model.folder))
    others = _without_weights(model.base)
    if not hasattr(pipeline_class, "from_single_file"):
        own = _read_denoiser(pipeline_class, model.folder, model.base, dtype)
        return _read_folder(pipeline_class, model.base, dtype, others | own)
    denoiser = MODEL_KINDS[pipeline_class.__name__].denoiser
    signs = _signs(parts_in_use(read_index(model.base)))
    held = _held(model.folder, signs)
    missing = signs.keys() - held
    wanted = others | dict.fromkeys([denoiser, *held])
    rest = _read_folder(pipeline_class, model.base, dtype, wanted) if missing else None
    given = {name: getattr(rest, name) for name in missing}
    with patched_attribute(single_file, "load_single_file_checkpoint", _with_usual_names):
        return pipeline_class.from_single_file(
            str(model.folder),
            config=str(model.base),
            dtype=dtype,
            local_files_only=True,
            **others | given,
        )


def _with_usual_names(read: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Read a checkpoint with the names that diffusers knows.

    Old names of CLIP's weights are renamed; a file of only a UNet may omit its prefix.
    """
    weights = read(*args, **kwargs)
    if BARE_INPUT in weights:
        return {f"{DENOISER_PREFIX}{name}": weight for name, weight in weights.items()}
    return {
        name.replace(OLDER_CLIP, NEWER_CLIP)
        if name.startswith(OLDER_CLIP) and not name.startswith(NEWER_CLIP)
        else name: weight
        for name, weight in weights.items()
    }


def files_read(model: ModelCard) -> tuple[Path, ...]:
    """List the weight files of a model: its single file, or the files of its parts in order."""
    if model.folder.is_file():
        return (model.folder,)
    return weight_files(model.folder, parts_in_use(read_index(model.folder)))


def all_files(model: ModelCard) -> tuple[Path, ...]:
    """List all weight files of a model: its own and those of the folder that completes it."""
    if model.base is None:
        return files_read(model)
    return (*files_read(model), *weight_files(model.base, parts_in_use(read_index(model.base))))


def _read_denoiser(
    pipeline_class: Any, file: Path, base: Path, dtype: torch.dtype
) -> dict[str, Any]:
    """Load the denoiser from a file, keyed by its pipeline attribute; the folder sets its class."""
    name = MODEL_KINDS[pipeline_class.__name__].denoiser
    _, denoiser_class = pipeline_class.load_config(base)[name]
    denoiser = getattr(diffusers, denoiser_class).from_single_file(
        str(file), config=str(base), subfolder=name, dtype=dtype, local_files_only=True
    )
    return {name: denoiser}


def _read_folder(
    pipeline_class: Any, folder: Path, dtype: torch.dtype, given: Mapping[str, Any]
) -> Any:
    """Load a pipeline's weights from a folder, except for the given components."""
    parts = parts_in_use(read_index(folder))
    refuse_stray_shards(folder, parts)
    return pipeline_class.from_pretrained(
        folder,
        dtype=dtype,
        variant=variant_of(folder, parts),
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
        **given,
    )


def _without_weights(folder: Path) -> dict[str, Any]:
    """Load the tokenizers, and set the components that the model omits to None."""
    return dict.fromkeys(parts_left_out(read_index(folder))) | read_tokenizers(folder)


def _signs(parts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the weight name prefixes that identify components; others are left out.

    Args:
        parts: Component name to class name.
    """
    signs = {
        name: SIGNS_OF_CLASSES.get(class_name) or SIGNS.get(name, ())
        for name, class_name in parts.items()
    }
    return {name: own for name, own in signs.items() if own}


def _held(file: Path, signs: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Return the components other than the denoiser that a single file holds."""
    with safe_open(file, framework="pt") as content:
        names = list(content.keys())
    return {part for part, own in signs.items() if any(name.startswith(own) for name in names)}


NEEDED_PARTS = ("vae", "scheduler")
STEPS_OFFSET = "steps_offset"
FOR_LATENTS = {"clip_sample": False, "skip_prk_steps": True}
"""Overrides for schedulers configured for pixels: latents exceed [-1, 1] and are not clipped, and
PNDM starts as in Stable Diffusion, with one extra call instead of nine."""

ENDS_IN_NOISE: Mapping[str, Any] = {"rescale_betas_zero_snr": True, "timestep_spacing": "trailing"}
"""Scheduler settings of models trained with zero terminal SNR (Lin et al. 2023,
arXiv:2305.08891)."""

SIGNS_OF_DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    OverflowError,
    RuntimeError,
    SafetensorError,
    AttributeError,  # the library has no such class
    ImportError,  # the class needs another library
)


@dataclass(frozen=True, eq=False)
class LoadedPipeline(GuidablePipeline):
    """A pipeline that is ready to generate.

    Attributes:
        folder: Source of the weights: a folder or one file.
        device: Device it runs on.
        own_scheduler: The scheduler that came with the model.
        weights_hash: Hash of the weights, available once they are read.
    """

    folder: Path
    device: torch.device
    own_scheduler: Any
    weights_hash: Future[str]

    def set_scheduler(self, scheduler_id: str, prediction_type: str = "", steps: int = 0) -> None:
        """Replace the pipeline's scheduler with a new one.

        Args:
            scheduler_id: diffusers class name; empty for the model's own.
            prediction_type: What the denoiser predicts, one of ``PREDICTION_TYPES``; empty for what
                the model's scheduler states.
            steps: Number of denoising steps; 0 if unknown.

        Raises:
            RequestError: The model does not support this scheduler or prediction type.
        """
        if prediction_type and is_flow(self.own_scheduler):
            raise RequestError(
                "The model predicts a flow, so its prediction type cannot be chosen.",
                hint="Leave the prediction type at the model's default.",
            )
        changes = {"prediction_type": prediction_type} if prediction_type else {}
        kinds = {type(self.own_scheduler).__name__: type(self.own_scheduler)}
        if scheduler_id:
            others = [kind for kind in self.own_scheduler.compatibles if kind not in EDM_SAMPLERS]
            kinds |= {kind.__name__: kind for kind in others}
        kind = kinds.get(scheduler_id or type(self.own_scheduler).__name__)
        if kind is None:
            raise RequestError(
                f'The model does not support the sampler "{scheduler_id}".',
                hint=f"Choose one of {', '.join(sorted(kinds))}.",
            )
        try:
            config = {**FOR_LATENTS, **self.own_scheduler.config} | changes
            scheduler = kind.from_config(config)
            if _starts_beyond_training(scheduler, steps):
                scheduler = kind.from_config(config | {STEPS_OFFSET: 0})
            self.pipeline.scheduler = scheduler
        except ImportError as error:
            raise RequestError(
                f'The sampler "{scheduler_id}" needs a library that is not installed.',
                hint="Choose another sampler, or the model's default.",
            ) from error

    def count_steps(self, wanted: int) -> int:
        """Return how many steps the scheduler makes when asked for ``wanted``; PNDM adds one.

        Raises:
            RequestError: It needs more steps.
        """
        scheduler = self.pipeline.scheduler
        config = {**scheduler.config, "use_dynamic_shifting": False}  # depends on the picture size
        trial = type(scheduler).from_config(config)
        try:
            with np.errstate(invalid="ignore"):
                trial.set_timesteps(wanted)
            refuse_invalid(trial.timesteps)
            _refuse_equal_levels(trial)
        except (ValueError, InvalidNumbers) as error:
            noun = "step" if wanted == 1 else "steps"
            trained = config.get("num_train_timesteps")
            change = "fewer" if trained is not None and 2 * wanted > trained else "more"
            raise RequestError(
                f"The sampler does not support {wanted} {noun}.",
                hint=f"Use {change} steps, or another sampler.",
            ) from error
        return -(-len(trial.timesteps) // int(trial.order))


def _starts_beyond_training(scheduler: Any, steps: int) -> bool:
    """Return True if the offset moves the first step beyond the training times.

    Samplers without noise levels look their values up by time, as far as the model was trained:
    1,000 steps with an offset of 1 begin at time 1,000, where 999 is the last.
    """
    config = scheduler.config
    if hasattr(scheduler, "sigmas") or not steps or not config.get(STEPS_OFFSET):
        return False
    trained = int(config.num_train_timesteps)
    return (steps - 1) * (trained // steps) + int(config[STEPS_OFFSET]) >= trained


def _refuse_equal_levels(scheduler: Any) -> None:
    """Refuse equal noise levels in samplers that divide by the difference of two of them.

    Raises:
        ValueError: There are more steps than noise levels.
    """
    if hasattr(scheduler, "lambda_t"):
        levels = scheduler.sigmas[:-1]
        if bool((levels[1:] >= levels[:-1]).any()):
            raise ValueError(levels)


def import_libraries() -> None:
    """Import the libraries of the embedded models, which takes longer than loading them."""
    _import_pipeline(STABLE_DIFFUSION)


def load_pipeline(
    model: ModelCard, device: torch.device, *, offload: Saving | None = None
) -> LoadedPipeline:
    """Load a model with frozen weights, in the data type that suits the device.

    Args:
        model: The model to load.
        device: Device to run on.
        offload: ``OFFLOAD`` keeps idle components in main memory, ``OFFLOAD_LAYERS`` idle layers;
            None keeps everything on the device.

    Raises:
        ModelNotFound: The folder is missing or damaged, or holds no safetensors.
        BackendError: The model's family is not supported.
        RequestError: The model's data type is not supported.
    """
    family = family_of(model)
    pipeline_class = _import_pipeline(family)
    dtype = pick_dtype(device, model.size_bytes, model.dtype)
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # for old folders
            pipeline = read_pipeline(pipeline_class, model, dtype)
        _check_weights(pipeline)
    except SIGNS_OF_DAMAGE as error:
        if is_out_of_memory(error):
            raise
        raise damaged(model, error) from error
    pipeline.set_progress_bar_config(disable=True)
    if model.ends_in_noise:
        scheduler = pipeline.scheduler
        pipeline.scheduler = scheduler.from_config(scheduler.config, **ENDS_IN_NOISE)
    weights_hash = hash_in_background(files_read(model))
    loaded = LoadedPipeline(
        pipeline, family, model.folder, device, pipeline.scheduler, weights_hash
    )
    for part in loaded.modules:
        part.requires_grad_(False).eval()
        if isinstance(part, diffusers.ModelMixin) and next(part.parameters()).dtype is not dtype:
            part.to(dtype)  # diffusers leaves SD3 in the data type of its file
    if offload is Saving.OFFLOAD:
        pipeline.enable_model_cpu_offload(device=device)
    elif offload is Saving.OFFLOAD_LAYERS:
        pipeline.enable_sequential_cpu_offload(device=device)
    else:
        pipeline.to(device)
    return loaded


def _check_weights(pipeline: Any) -> None:
    """Reject a pipeline of which the libraries found a weight in no file.

    Tied weights, such as the embeddings of T5, are stored once; of single files, diffusers reads
    only that one.

    Raises:
        NotImplementedError: A weight has no values; diffusers raises the same for its own models.
    """
    modules = [part for part in pipeline.components.values() if isinstance(part, torch.nn.Module)]
    for part in modules:
        if isinstance(part, PreTrainedModel):
            part.tie_weights()
    if any(weight.is_meta for part in modules for weight in part.parameters()):
        raise NotImplementedError


def load_streams(model: ModelCard) -> tuple[TextStream, ...]:
    """Load only a model's tokenizers and describe how they are used.

    Raises:
        ModelNotFound: The folder is missing or damaged.
        BackendError: The model's family is not supported.
    """
    family = family_of(model)
    try:
        return family.streams(read_tokenizers(model.base or model.folder))
    except SIGNS_OF_DAMAGE as error:
        raise damaged(model, error) from error


def _import_pipeline(family: Family) -> Any:
    """Import a pipeline class, which diffusers does lazily."""
    for library in (diffusers_logging, transformers_logging):
        logging: Any = library
        logging.set_verbosity(logging.CRITICAL)  # failures are raised as our own errors
        logging.disable_progress_bar()
    # NOTE: the usual lock is a semaphore of the system, which a killed process leaves behind
    import_module("tqdm.auto").tqdm.set_lock(RLock())
    return import_pipeline(family.pipeline_class)


def family_of(model: ModelCard) -> Family:
    """Return the family of a model.

    Raises:
        ModelNotFound: The model is damaged or missing.
        BackendError: Its family is not supported.
    """
    folder = model.base or model.folder
    if not (folder / INDEX_FILE).is_file() or not model.folder.exists():
        raise ModelNotFound(
            f'The files of the model "{model.id}" were moved or deleted.',
            hint=f"Restore {model.folder.name}, or choose another model.",
        )
    try:
        index = read_index(folder)
        class_name = current_name(index["_class_name"])
        parts = parts_in_use(index)
    except SIGNS_OF_DAMAGE as error:
        raise damaged(model, error) from error
    if not all((folder / part).is_dir() for part in parts):
        raise damaged(model)
    if class_name not in FAMILIES:
        raise BackendError(
            f'The model "{model.id}" is not supported: its class is {class_name}.',
            hint=f"Supported classes: {', '.join(FAMILIES)}.",
        )
    family = FAMILIES[class_name]
    reads_text = any(part.startswith(TOKENIZER) for part in parts)
    if not (reads_text and parts.keys() >= {family.kind.denoiser, *NEEDED_PARTS}):
        raise damaged(model)
    return family


def damaged(model: ModelCard, error: Exception | None = None) -> ModelNotFound:
    """Return the error for a model whose files cannot be used.

    Args:
        model: The model.
        error: Exception raised while reading it; None if something is missing.
    """
    if isinstance(error, NotImplementedError):
        return ModelNotFound(
            f'The model "{model.id}" is damaged: weights are missing from its files.',
            hint="Download it again from its maker.",
        )
    if error is not None and is_explained(error):
        return unusable(f'model "{model.id}"', error)
    return ModelNotFound(
        f'The model "{model.id}" is damaged or has no safetensors weights.',
        hint="Reinstall or download it again. Pickle files are never loaded.",
    )
