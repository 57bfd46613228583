"""Generation backend for diffusers pipelines, guided and recorded through hooks."""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch

from spatialstudio.adapters.device import (
    LARGE_MODEL_BYTES,
    free_memory,
    list_devices,
    memory_errors_explained,
    name_of,
    peak_memory_bytes,
    pick_device,
    pick_dtype,
    reset_peak_memory,
)
from spatialstudio.adapters.diffusion.attention_archive import (
    AttentionArchive,
    plan_archive,
    text_layers,
)
from spatialstudio.adapters.diffusion.denoiser_cost import denoiser_flops
from spatialstudio.adapters.diffusion.guided_call import (
    CallPlan,
    GuidedCall,
    followed_updates,
    is_due,
)
from spatialstudio.adapters.diffusion.invalid_numbers import refuse_invalid
from spatialstudio.adapters.diffusion.latent_updates import GuidanceNeeded
from spatialstudio.adapters.diffusion.load_pipeline import (
    LoadedPipeline,
    import_libraries,
    load_pipeline,
    load_streams,
)
from spatialstudio.adapters.diffusion.loras import (
    ActiveLora,
    active_loras,
    lora_bytes,
    lora_hashes,
    with_loras,
)
from spatialstudio.adapters.diffusion.masked_latents import (
    MaskedLatents,
    masked_latents,
    repaired_picture,
)
from spatialstudio.adapters.diffusion.memory_estimate import estimate_memory, out_of_memory, tiled
from spatialstudio.adapters.diffusion.model_outline import outline_layers
from spatialstudio.adapters.diffusion.particles import Lineages, Particles, decoded_one_by_one
from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.adapters.diffusion.pipeline_arguments import picture_size, pipeline_arguments
from spatialstudio.adapters.diffusion.text_streams import TextStream
from spatialstudio.adapters.diffusion.token_spans import (
    token_readings,
    token_spans,
)
from spatialstudio.adapters.diffusion.weighted_prompt import weighted_prompt
from spatialstudio.adapters.models.lora_files import LoraFolders
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import ATTENTION_FOLDER, ModelLayers
from spatialstudio.domain.devices import DeviceCard, MemoryEstimate, Saving
from spatialstudio.domain.errors import (
    BackendError,
    OutOfMemory,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelSetup,
    PromptEncoded,
    ReportEvent,
    StepEvent,
)
from spatialstudio.domain.ports import (
    CancelToken,
    LoraCatalog,
    ModelCard,
    Surroundings,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import SceneGraph, TokenReading, TokenSpan
from spatialstudio.domain.steering import RatePicture
from spatialstudio.science.guidance.methods import trial_of
from spatialstudio.science.guidance.noise_search import objects_only

WHITE = 255


def finished_picture(output: Any, lineages: Lineages) -> RgbImage:
    """Return the picture of the best particle, (H, W, 3), of a pipeline's output.

    Args:
        output: Pipeline output with pictures (H, W, 3) in [0, 1]. Stable Diffusion 1 also reports
            which of them its safety checker has blacked out.
        lineages: The particles of the run.

    Raises:
        BackendError: The safety checker withheld the picture, or it holds NaN or infinite values.
    """
    number = lineages.best
    withheld = getattr(output, "nsfw_content_detected", None)
    if withheld and withheld[number]:
        raise BackendError(
            "The model's safety checker rejected the picture.",
            hint="Use another seed or another prompt.",
        )
    colours: np.ndarray = output.images[number]
    refuse_invalid(torch.from_numpy(colours))
    return (colours * WHITE).round().astype(np.uint8)


KERNELS: Mapping[str, Callable[[], bool]] = {
    "flash": torch.backends.cuda.flash_sdp_enabled,
    "memory-efficient": torch.backends.cuda.mem_efficient_sdp_enabled,
    "cudnn": torch.backends.cuda.cudnn_sdp_enabled,
    "math": torch.backends.cuda.math_sdp_enabled,
}
"""Kernels that torch selects from on CUDA, where the selection can change a picture."""


def model_setup(
    denoiser: torch.nn.Module,
    device: torch.device,
    weights: Future[str],
    loras: Mapping[str, str] | None = None,
) -> ModelSetup:
    """Return the compute setup of a model; waits for the hash of its weights.

    Args:
        denoiser: The module that is called once per step.
        device: The device it runs on.
        weights: Hash of the weights; left out if the files are gone by now.
        loras: Hash of each LoRA by name.
    """
    dtype = next(denoiser.parameters()).dtype
    return ModelSetup(
        dtype=name_of(dtype),
        attention=_attention(denoiser, device),
        weights_sha256="" if weights.exception() else weights.result(),
        loras=loras,
        threads=torch.get_num_threads() if device.type == "cpu" else 0,
    )


def _attention(denoiser: torch.nn.Module, device: torch.device) -> str:
    """Name the attention processors of a denoiser and the kernels they use."""
    processors = (getattr(module, "processor", None) for module in denoiser.modules())
    names = sorted({type(each).__name__ for each in processors if each is not None})
    kernels = [name for name, is_on in KERNELS.items() if is_on()] if device.type == "cuda" else []
    return ", ".join(names) + (f" ({', '.join(kernels)})" if kernels else "")


def build(surroundings: Surroundings) -> "DiffusersBackend":
    """Create the backend and import its libraries; the first request loads a model."""
    import_libraries()
    cache = surroundings.cache or Path(tempfile.gettempdir())
    loras = LoraFolders(surroundings.model_folders, surroundings.settings)
    return DiffusersBackend(cache / ATTENTION_FOLDER, loras)


class DiffusersBackend:
    """A ``GenerationBackend`` that keeps the most recently loaded model.

    Args:
        archives: Root for attention archives; one subfolder per run, named by its id.
        loras: Where LoRAs are found; none by default.
    """

    id = "diffusers"

    def __init__(self, archives: Path, loras: LoraCatalog | None = None) -> None:
        self._archives = archives
        self._loras = loras or LoraFolders(())
        self._streams: tuple[Path, Sequence[TextStream]] | None = None
        self._loaded: LoadedPipeline | None = None
        self._loaded_as: _Wanted | None = None
        self._loading = Lock()

    def devices(self) -> tuple[DeviceCard, ...]:
        """List the available devices, fastest first."""
        return list_devices()

    def token_spans(self, scene: SceneGraph, model: ModelCard) -> tuple[TokenSpan, ...]:
        """Locate the mentions; see ``GenerationBackend``.

        Raises:
            BackendError: The model is damaged or missing.
            PromptError: A mention is beyond the text encoder's token limit.
        """
        return token_spans(self._streams_of(model), scene.prompt.text, scene.mentions)

    def read_tokens(self, prompt: str, model: ModelCard) -> tuple[TokenReading, ...]:
        """Tokenize a prompt; see ``GenerationBackend``.

        Raises:
            BackendError: The model is damaged or missing.
        """
        return token_readings(self._streams_of(model), prompt)

    def layers(self, model: ModelCard, height: int, width: int) -> ModelLayers:
        """List the layers that attend to the text; see ``GenerationBackend``.

        Raises:
            BackendError: The model is damaged or missing.
        """
        return outline_layers(model, height, width)

    def denoiser_flops(self, model: ModelCard, height: int, width: int) -> int | None:
        """Count the operations of a denoiser pass; see ``GenerationBackend``.

        Raises:
            BackendError: The model is damaged or missing.
        """
        return denoiser_flops(model, height, width)

    def estimate(self, request: GenerationRequest, model: ModelCard) -> MemoryEstimate | None:
        """Estimate memory from the loaded model; loads a small one if none is loaded.

        Raises:
            BackendError: The model is damaged or missing.
            RequestError: The model does not support the request.
        """
        loaded, loaded_as = self._loaded, self._loaded_as
        wanted = _wanted(request, model)
        if loaded is None and model.size_bytes < LARGE_MODEL_BYTES:
            loaded = self._ready(model, wanted)
        elif loaded is None or loaded_as is None or not loaded_as.is_like(wanted):
            return None
        dtype = pick_dtype(wanted.device, model.size_bytes, wanted.dtype)
        request = with_values(request, dtype=name_of(dtype))
        steps, guidance = request.sampling.steps, request.sampling.guidance
        plan = CallPlan(run_id=request.id, scene=request.scene, steps=steps, guidance=guidance)
        archive = plan_archive(loaded, request, steps, Path(), followed_updates(plan))
        return _estimate(loaded, request, archive, active_loras(request, self._loras, loaded))

    def generate(
        self,
        request: GenerationRequest,
        model: ModelCard,
        token: CancelToken,
        report: ReportEvent,
        rate: RatePicture | None = None,
        start: RgbImage | None = None,
    ) -> GenerationFinished:
        """Generate a picture; see ``GenerationBackend``.

        Raises:
            BackendError: The model is missing or damaged, memory runs out, or values become NaN or
                infinite.
            RequestError: The model does not support the request.
            PromptError: A mention is beyond the text encoder's token limit.
            Cancelled: The token was cancelled; no model call follows.
        """
        started = time.perf_counter()
        wanted = _wanted(request, model)
        device = wanted.device
        reset_peak_memory(device)
        token.raise_if_cancelled()
        try:
            with memory_errors_explained():
                loaded = self._ready(model, wanted)
                loras = active_loras(request, self._loras, loaded)
                is_tiled = Saving.TILING in request.sampling.savings
                with (
                    tiled(loaded.pipeline.vae, is_wanted=is_tiled),
                    with_loras(loaded, loras),
                ):
                    drawing = _Drawing(request, loaded, loras, token, report)
                    image = drawing.draw(self._archives / request.id, rate, start)
        except OutOfMemory as error:
            free_memory(device)
            raise out_of_memory(self._loaded, request, device) from error
        return GenerationFinished(
            request_id=request.id,
            image=image,
            seconds=time.perf_counter() - started,
            peak_memory_bytes=peak_memory_bytes(device),
            setup=model_setup(
                loaded.denoiser, loaded.device, loaded.weights_hash, lora_hashes(loras)
            ),
        )

    def _ready(self, model: ModelCard, wanted: "_Wanted") -> LoadedPipeline:
        with self._loading:
            if self._loaded is None or self._loaded_as != wanted:
                self._loaded = None  # free the previous model before loading the next
                own = replace(model, dtype=wanted.dtype)
                self._loaded = load_pipeline(own, wanted.device, offload=wanted.offload)
                self._loaded_as = wanted
            return self._loaded

    def _streams_of(self, model: ModelCard) -> Sequence[TextStream]:
        """Return the tokenizers of the loaded model, else the most recently requested ones."""
        loaded = self._loaded
        if loaded is not None and loaded.folder == model.folder:
            return loaded.streams
        if self._streams is None or self._streams[0] != model.folder:
            self._streams = (model.folder, load_streams(model))
        return self._streams[1]


OFFLOADS = (Saving.OFFLOAD_LAYERS, Saving.OFFLOAD)
"""Ways of keeping weights in main memory; the first that is chosen counts."""


@frozen(kw_only=False)
class _Wanted:
    """Load options for a request; an empty ``dtype`` selects the device's default."""

    folder: Path
    device: torch.device
    dtype: str
    offload: Saving | None

    def is_like(self, other: "_Wanted") -> bool:
        """Return True if folder and device match; dtype and offloading may differ."""
        return replace(self, offload=other.offload, dtype=other.dtype) == other


class _Drawing:
    """The execution of one request, from noise to picture."""

    def __init__(
        self,
        request: GenerationRequest,
        loaded: LoadedPipeline,
        loras: Sequence[ActiveLora],
        token: CancelToken,
        report: ReportEvent,
    ) -> None:
        sampling = request.sampling
        loaded.set_scheduler(sampling.scheduler_id, sampling.prediction_type, sampling.steps)
        if request.sampling.guidance.names_only:
            request = replace(request, scene=objects_only(request.scene))
        self._request = request
        self._loaded = loaded
        self._loras = loras
        self._token = token
        self._report_event = report
        self._total_steps = loaded.count_steps(request.sampling.steps)
        self._lineages = Lineages()

    def draw(
        self, archive_folder: Path, rate: RatePicture | None, start: RgbImage | None = None
    ) -> RgbImage:
        """Run the pipeline and report its steps; those of a trial that fails, too.

        Args:
            archive_folder: Folder of the stored attention.
            rate: Rates predicted pictures of particles.
            start: (H, W, 3), the picture that the request repairs; None for a whole picture.
        """
        repair = self._request.repair
        if repair is None or start is None:
            return self._draw(archive_folder, rate, None)
        size = picture_size(self._loaded, self._request)
        masked = masked_latents(self._loaded, repair, start, size)
        return repaired_picture(repair, start, self._draw(archive_folder, rate, masked))

    def _draw(
        self, archive_folder: Path, rate: RatePicture | None, masked: MaskedLatents | None
    ) -> RgbImage:
        request, particles = self._request, None
        if request.steering.is_on:
            particles = Particles(request.steering, request.sampling.seed, request.scene, rate)
        plan = CallPlan(
            run_id=request.id,
            scene=request.scene,
            steps=request.sampling.steps,
            guidance=request.sampling.guidance,
            capture=request.capture,
            pictures=request.steering.particles,
            particles=particles,
            masked=masked,
            smaller_maps=Saving.SMALLER_MAPS in request.sampling.savings,
            guidance_scale=request.guidance_scale,
        )
        if (trial := trial_of(request)) is not None:
            try:
                return self._run(replace(plan, trial=trial), archive_folder)
            except GuidanceNeeded:
                self._lineages = Lineages()
        return self._run(plan, archive_folder)

    def _run(self, plan: CallPlan, archive_folder: Path) -> RgbImage:
        """Make one call of the pipeline."""
        request, loaded, particles = self._request, self._loaded, plan.particles
        arguments = pipeline_arguments(loaded, request)
        if particles is not None:
            pictures = particles.pictures
            arguments |= {"generator": particles.generators, "num_images_per_prompt": pictures}
        updates = followed_updates(plan)
        archive = plan_archive(loaded, request, self._total_steps, archive_folder, updates)
        plan = replace(plan, layers=archive)
        call = GuidedCall(loaded, plan, self._token, partial(self._report_step, archive))
        started = GenerationStarted(
            request_id=request.id,
            total_steps=self._total_steps,
            token_spans=call.spans,
            device=str(loaded.device),
            attention_files=archive.text_files,
            self_attention_files=archive.self_files,
            text_layers=text_layers(loaded, request),
            memory=_estimate(loaded, request, archive, self._loras),
            removed_runs=archive.make_room(),
        )
        self._report(started)
        scheduler = loaded.pipeline.scheduler
        with (
            weighted_prompt(loaded, request.scene.prompt),
            archive.attached(loaded.denoiser, loaded.family.calls),
            call.attached(),
            nullcontext() if plan.masked is None else plan.masked.attached(scheduler),
            patched_attribute(scheduler, "set_timesteps", self._begin_denoising),
            decoded_one_by_one(loaded.pipeline.vae, particles),
        ):
            image = finished_picture(loaded.pipeline(**arguments), self._lineages)
        if self._lineages.differs:
            self._report(replace(started, is_repeated=True))
            for event in self._lineages.events:
                self._report(event)
        return image

    def _begin_denoising(
        self, set_timesteps: Callable[..., None], *args: object, **kwargs: object
    ) -> None:
        """Set the timesteps; pipelines call this right after they encode the prompt."""
        self._report(PromptEncoded(request_id=self._request.id))
        set_timesteps(*args, **kwargs)

    def _report_step(self, archive: AttentionArchive, events: tuple[StepEvent, ...]) -> None:
        event, *_ = events
        archive.expect_step(is_due=is_due(event.step + 1, self._request.capture.attention_every))
        self._lineages.add(events)
        self._report(event)

    def _report(self, event: GenerationEvent) -> None:
        self._report_event(event)
        self._token.raise_if_cancelled()


def _wanted(request: GenerationRequest, model: ModelCard) -> _Wanted:
    asked = request.sampling
    device = pick_device("cpu" if Saving.PROCESSOR in asked.savings else asked.device)
    chosen = (each for each in OFFLOADS if each in asked.savings and device.type != "cpu")
    return _Wanted(model.folder, device, asked.dtype or model.dtype, next(chosen, None))


def _estimate(
    loaded: LoadedPipeline,
    request: GenerationRequest,
    archive: AttentionArchive,
    loras: Sequence[ActiveLora],
) -> MemoryEstimate:
    kept = sum(file.size_bytes for file in archive.files)
    memory = estimate_memory(loaded, request)
    added = lora_bytes(loras, loaded.denoiser.dtype.itemsize)
    return replace(memory, disk_bytes=kept, weights_bytes=memory.weights_bytes + added)
