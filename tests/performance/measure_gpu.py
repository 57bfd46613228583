"""Measures runs of full-size models of random weights on an accelerator; needs no network, no disk.

    python -m tests.performance.measure_gpu --json measured.json
    python -m tests.performance.measure_gpu sd-1.5 flux.1-dev --seconds 540
    python -m tests.performance.measure_gpu --tiny --device cpu

For each model: time of a plain step, of a step with recorded attention and of a guided step; peak
memory beside the estimate; both ways of offloading; whether guidance stays finite in float16 and
bfloat16; how long cancelling takes; and, for Stable Diffusion 1.5, a guided step of
Attend-and-Excite and one of diffusers' own pipeline. Weights are made on the device; folders with
sparse weights stand for the files. The report is written after every measurement, so that a command
that is stopped leaves what it has; measurements that would begin after ``--seconds`` are left out.
"""

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import diffusers
import torch
import transformers

from spatialstudio.adapters.device import pick_device
from spatialstudio.adapters.diffusion import load_pipeline
from spatialstudio.adapters.diffusion.attention_layers import map_size
from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.adapters.models.model_parts import parts_in_use, read_index
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import Cancelled, StudioError
from spatialstudio.domain.generation import (
    CaptureSettings,
    GuidanceSettings,
    SamplingSettings,
    StepEvent,
)
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.full_families import (
    FULL_FAMILIES,
    scheduler,
    write_full_folder,
)
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES, build_tiny_family
from tests.adapters.diffusion.true_layouts import SHIPPED, parts_of
from tests.fakes import CountingToken, diffusers_request, scene_of

SHIPPED_FAMILIES = {
    "sd-1.5": ("StableDiffusionPipeline", "stable-diffusion-1.5", 512),
    "sdxl": ("StableDiffusionXLPipeline", "stable-diffusion-xl", 1024),
}
MODELS = (*SHIPPED_FAMILIES, "sd-3.5-medium", "flux.1-dev")
TINY = {
    "sd-1.5": "StableDiffusionPipeline",
    "sdxl": "StableDiffusionXLPipeline",
    "sd-3.5-medium": "StableDiffusion3Pipeline",
    "flux.1-dev": "FluxPipeline",
}
FULL_SIDE = 1024
NOISE = 0.02
STEP_SIZE = 20.0
SILENT = CaptureSettings(attention_every=0, preview_every=0)
RECORDED = CaptureSettings(attention_every=1, preview_every=0)
CANCELS, LONG = (2, 3, 5), 200
"""Steps after which runs are cancelled, and their requested steps."""


def main(arguments=None):
    options = read_options(arguments)
    device = pick_device(options.device)
    report = {"device": device_name(device), "torch": torch.__version__, "models": {}}
    for name in options.models or MODELS:
        rows = report["models"][name] = []
        show(f"{name} on {report['device']}")
        with tempfile.TemporaryDirectory() as folder:
            model = RandomModel(name, Path(folder), device, options)
            for what, measure in MEASUREMENTS.items():
                rows.append({"what": what, **measured(measure, model, options)})
                show(row_in_words(rows[-1]))
                options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0


def read_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", choices=MODELS, default=[])
    parser.add_argument("--device", default="", help="cuda, mps or cpu (default: the fastest)")
    parser.add_argument("--tiny", action="store_true", help="models of a few thousand weights")
    parser.add_argument("--side", type=int, help="of the picture, pixels (default: the model's)")
    parser.add_argument("--layers", type=int, default=1000, help="at most, of SD 3.5 and FLUX.1")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=540, help="begin nothing after this time")
    parser.add_argument("--json", type=Path, default=Path("measured.json"))
    options = parser.parse_args(arguments)
    options.until = time.monotonic() + options.seconds
    return options


def measured(measure, model, options):
    """Return the figures of one measurement, or why there are none."""
    if time.monotonic() > options.until:
        return {"left out": "no time left"}
    try:
        return measure(model, options.steps)
    except StudioError as error:
        return {"error": error.message}
    finally:
        if model.device.type == "cuda":
            torch.cuda.empty_cache()


class RandomModel:
    """A model of random weights, drawn with by the program's own backend."""

    def __init__(self, name, folder, device, options):
        self.name, self.device, self.is_tiny = name, device, options.tiny
        describe = tiny_model if options.tiny else full_model
        self.pipeline_class, self._build, side = describe(name, options.layers)
        self.side = options.side or side
        self._archives = folder / "archives"
        self._backend = None
        if self.is_tiny:
            build_tiny_family(tiny_family(name)).save_pretrained(folder / name)
        else:
            with torch.device("meta"):
                parts = self._build()
            write_full_folder(folder / name, self.pipeline_class, parts)
        self.card = read_card(folder / name)

    def draw(self, *, token=None, **changes):
        """Draw; return the events, the time of each step in seconds, and peak memory in bytes.

        The first step is left out of the times: it encodes the prompt.
        """
        request = with_values(self._request(), **changes)
        events, times = [], []
        first_time = self._backend is None
        self._backend = self._backend or DiffusersBackend(self._archives)

        def report(event):
            self.synchronize()
            events.append(event)
            if isinstance(event, StepEvent):
                times.append(time.perf_counter())

        with self._made_on_device():
            if first_time:  # makes the kernels ready
                warm = replace(request, capture=SILENT)
                self._backend.generate(
                    with_values(warm, steps=2), self.card, CountingToken(), lambda _: None
                )
            finished = self._backend.generate(request, self.card, token or CountingToken(), report)
        steps = [later - earlier for earlier, later in pairwise(times)]
        return events, steps, finished.peak_memory_bytes

    def loaded_again(self):
        """Forget the loaded model, before one with other settings is loaded."""
        self._backend = None

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    @property
    def loaded(self):
        return self._backend._loaded

    def _request(self):
        height, width = tiny_family(self.name).size if self.is_tiny else (self.side, self.side)
        sampling = SamplingSettings(seed=7, device=self.device.type)
        return diffusers_request(self.card, sampling, height=height, width=width, capture=SILENT)

    @contextmanager
    def _made_on_device(self):
        """Replace reading the weights from files; the rest of loading is the program's."""
        if self.is_tiny:
            yield
            return

        def read(pipeline_class, _card, dtype):
            return pipeline_class(**self._parts(dtype))

        with patch.object(load_pipeline, "read_pipeline", read):
            yield

    def _parts(self, dtype):
        """Build the parts on the device, with weights that are nowhere zero."""
        torch.manual_seed(0)
        usual = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            with torch.device(self.device):
                parts = self._build()
        finally:
            torch.set_default_dtype(usual)
        denoiser = parts.get("transformer") or parts["unet"]
        with torch.no_grad():
            for weights in denoiser.parameters():
                weights.add_(torch.randn_like(weights), alpha=NOISE)
        return parts


def tiny_family(name):
    return next(tiny for tiny in TINY_FAMILIES if tiny.pipeline_class == TINY[name])


def tiny_model(name, _):
    return TINY[name], None, None


def full_model(name, layers):
    """Return the pipeline class, a function that builds the parts, and the side of a picture."""
    if name not in SHIPPED_FAMILIES:
        family = FULL_FAMILIES[name]
        return family.pipeline_class, lambda: family.build(layers), FULL_SIDE
    pipeline_class, folder, side = SHIPPED_FAMILIES[name]
    return pipeline_class, lambda: shipped_parts(SHIPPED / folder), side


def shipped_parts(base):
    """Return the parts of a shipped configuration on the current device."""
    parts = parts_of(base, torch.get_default_device())
    for name, class_name in parts_in_use(read_index(base)).items():
        if name.startswith("tokenizer"):
            parts[name] = getattr(transformers, class_name).from_pretrained(base / name)
        elif name == "scheduler":
            kind = getattr(diffusers, class_name)
            parts[name] = scheduler(kind.from_pretrained, pretrained_model_name_or_path=base / name)
    optional = {"safety_checker": None, "feature_extractor": None, "image_encoder": None}
    return parts | (optional if "text_encoder_2" not in parts else {})


def guided(steps, method="psg", **settings):
    return GuidanceSettings(method_id=method, strength=STEP_SIZE, last_step=steps - 1, **settings)


# --- measurements ----------------------------------------------------------------------------


def time_steps(model, steps):
    """Compare a plain step with a recorded and with a guided one."""
    _, plain, _ = model.draw(steps=steps)
    _, recorded, _ = model.draw(steps=steps, capture=RECORDED)
    events, led, _ = model.draw(steps=steps, guidance=guided(steps))
    base = statistics.median(plain)
    return {
        "plain step, s": base,
        "recorded / plain": statistics.median(recorded) / base,
        "guided / plain": statistics.median(led) / base,
        "guided steps": sum(event.guidance_loss is not None for event in steps_of(events)),
    }


def compare_memory(model, steps):
    """Compare peak memory with the estimate: plain, guided, guided with checkpointing."""
    kinds = {
        "plain": {},
        "guided": {"guidance": guided(steps)},
        "checkpointed": {"guidance": guided(steps, checkpointing=True)},
    }
    figures = {}
    for name, changes in kinds.items():
        (started, *_), _, peak = model.draw(steps=2, **changes)
        figures |= {f"{name}, GB": peak / 1e9, f"{name}, estimated GB": estimated(started)}
    return figures


def offload(model, _):
    """Draw a guided picture with each way of offloading."""
    if model.device.type == "cpu":
        return {"left out": "the processor has no memory to offload to"}
    figures = {}
    for saving in (Saving.OFFLOAD, Saving.OFFLOAD_LAYERS):
        model.loaded_again()
        (started, *_), took, peak = model.draw(steps=3, guidance=guided(3), savings=(saving,))
        figures |= {
            f"{saving.value}, step in s": statistics.median(took),
            f"{saving.value}, GB": peak / 1e9,
            f"{saving.value}, estimated GB": estimated(started),
        }
    model.loaded_again()
    return figures


def check_formats(model, _):
    """Guide in both half-precision formats; a value that is not finite raises an error."""
    figures = {}
    for number_format in ("float16", "bfloat16"):
        model.loaded_again()
        events, _, _ = model.draw(steps=3, guidance=guided(3), dtype=number_format)
        losses = [event.guidance_loss for event in steps_of(events)]
        figures[f"{number_format}, losses"] = losses
        figures[f"{number_format}, finite"] = all(torch.tensor(losses).isfinite().tolist())
    model.loaded_again()
    return figures


def time_cancelling(model, _):
    """Cancel guided runs from another thread, at any moment of a step."""
    model.draw(steps=2)
    _, took, _ = model.draw(steps=3, guidance=guided(3))
    seconds = []
    for count, share in zip(CANCELS, (0.1, 0.5, 0.9), strict=True):
        token = TimedToken()
        wait = (count + share) * statistics.median(took)
        timer = threading.Timer(wait, token.cancel)
        timer.start()
        try:
            model.draw(steps=LONG, guidance=guided(LONG), token=token)
        except Cancelled:
            model.synchronize()
            seconds.append(time.perf_counter() - token.cancelled_at)
        timer.join()
    return {"longest, s": max(seconds), "guided step, s": statistics.median(took)}


class TimedToken:
    """A token that remembers when it was cancelled."""

    cancelled_at = None

    def cancel(self):
        self.cancelled_at = time.perf_counter()

    def raise_if_cancelled(self):
        if self.cancelled_at is not None:
            raise Cancelled


def compare_attend_excite(model, steps):
    """Compare guided steps of Attend-and-Excite with those of diffusers' own pipeline."""
    if model.pipeline_class != "StableDiffusionPipeline":
        return {"left out": "diffusers has it for Stable Diffusion only"}
    events, ours, our_peak = model.draw(steps=steps, guidance=guided(steps, "attend-excite"))
    words = [index for span in events[0].token_spans for index in span.indices]
    theirs, their_peak = draw_theirs(model, words, steps)
    return {
        "ours, s": statistics.median(ours),
        "theirs, s": statistics.median(theirs),
        "ours / theirs": statistics.median(ours) / statistics.median(theirs),
        "ours, GB": our_peak / 1e9,
        "theirs, GB": their_peak / 1e9,
    }


def draw_theirs(model, words, steps):
    """Return the times of the steps and peak memory of diffusers' pipeline on the same model."""
    components = {
        name: part
        for name, part in model.loaded.pipeline.components.items()
        if name != "image_encoder"
    }
    times = []

    def note(*_):
        model.synchronize()
        times.append(time.perf_counter())

    with warnings.catch_warnings(action="ignore"):  # it is deprecated
        pipeline = diffusers.StableDiffusionAttendAndExcitePipeline(
            **components, requires_safety_checker=False
        )
        usual = dict(components["unet"].attn_processors)
        if model.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(model.device)
        size = model._request()
        latents = model.loaded.latent_size(size.height, size.width)
        try:
            pipeline(
                prompt=scene_of().prompt.text,
                token_indices=words,
                height=size.height,
                width=size.width,
                num_inference_steps=steps,
                max_iter_to_alter=steps,
                thresholds={},
                scale_factor=int(STEP_SIZE),
                attn_res=map_size(*latents, model.loaded.guiding_layers[0].level),
                output_type="latent",
                callback=note,
            )
        finally:
            components["unet"].set_attn_processor(usual)
            components["unet"].requires_grad_(False)
    peak = torch.cuda.max_memory_allocated(model.device) if model.device.type == "cuda" else 0
    return [later - earlier for earlier, later in pairwise(times)], peak


MEASUREMENTS = {
    "time of steps": time_steps,
    "memory": compare_memory,
    "Attend-and-Excite": compare_attend_excite,
    "cancelling": time_cancelling,
    "number formats": check_formats,
    "offloading": offload,
}


# --- report ----------------------------------------------------------------------------------


def steps_of(events):
    return [event for event in events if isinstance(event, StepEvent)]


def estimated(started):
    return started.memory.peak_bytes / 1e9


def device_name(device):
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def row_in_words(row):
    figures = [f"{name}: {in_words(value)}" for name, value in row.items() if name != "what"]
    return f"  {row['what']:20}" + "   ".join(figures)


def in_words(value):
    if isinstance(value, list):
        return ", ".join(map(in_words, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def show(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
