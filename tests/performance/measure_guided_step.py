"""Time and memory of one guided step, ours against diffusers' own Attend-and-Excite pipeline.

    python -m tests.performance.measure_guided_step [--rounds N] [--threads N]

The UNet has the size of Stable Diffusion 1.4 (3.4 GB of random float32 weights), the picture 512
pixels, the loss is that of Attend-and-Excite on both sides: one pass with the prompt, and its
gradient on the latents. Each measurement has a process of its own and the sides take turns. Time is
processor time, so that other work on the machine matters little; memory is the highest resident set
above what the weights take.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
from diffusers import StableDiffusionAttendAndExcitePipeline, UNet2DConditionModel
from diffusers.pipelines.deprecated.stable_diffusion_attend_and_excite import (
    pipeline_stable_diffusion_attend_and_excite as theirs,
)

from spatialstudio.adapters.diffusion.attention_layers import guiding_layers, unet_text_layers
from spatialstudio.adapters.diffusion.attention_reader import AttentionReader
from spatialstudio.adapters.diffusion.denoiser_call import CallLayout, DenoiserCall
from spatialstudio.adapters.diffusion.latent_updates import Guidance, LatentUpdates
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.scene import TokenSpan
from spatialstudio.science.guidance.methods.attend_excite import AttendExciteLoss
from spatialstudio.science.guidance.schedule import GuidanceSchedule

SIDES = ("theirs", "ours", "ours, checkpointed")
TARGETS = {("ours", "seconds"): 0.55, ("ours", "bytes"): 0.5, (SIDES[2], "bytes"): 0.3}
LATENT_SIDE, TOKENS, WIDTH = 64, 77, 768
WORDS = (5, 9)
STEP_SIZE = 20.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--side", choices=SIDES, help="measure this one alone; answers in JSON")
    options = parser.parse_args()
    if options.side:
        show(json.dumps(measure(options.side, options.threads)))
        return 0
    found = {side: [] for side in SIDES}
    for _ in range(options.rounds):
        for side in SIDES:
            found[side].append(measured_apart(side, options.threads))
            show(f"{side}: {found[side][-1]}")
    middle = {
        (side, what): median(one[what] for one in found[side])
        for side in SIDES
        for what in ("seconds", "bytes")
    }
    for (side, what), value in middle.items():
        ratio = value / middle[SIDES[0], what]
        target = TARGETS.get((side, what))
        wanted = f"   target {target}" if target else ""
        show(f"{side:20}{what:10}{value:16.1f}   ratio {ratio:.3f}{wanted}")
    return 0


def measured_apart(side: str, threads: int) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.performance.measure_guided_step"]
    done = subprocess.run(
        [*command, "--side", side, "--threads", str(threads)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def measure(side: str, threads: int) -> dict[str, float]:
    torch.set_num_threads(threads)
    unet = sd14_unet()
    make = step_of_theirs if side == "theirs" else step_of_ours
    step = make(unet, side == "ours, checkpointed")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the highest resident set so far
    before, started = memory("VmRSS"), time.process_time()
    moved = step()
    assert torch.isfinite(moved).all()
    return {"seconds": time.process_time() - started, "bytes": memory("VmHWM") - before}


def memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(kilobytes) * 1024


def sd14_unet() -> UNet2DConditionModel:
    torch.manual_seed(0)
    with torch.device("meta"):
        unet = UNet2DConditionModel(
            sample_size=LATENT_SIDE, cross_attention_dim=WIDTH, attention_head_dim=8
        )
    unet.to_empty(device="cpu")
    with torch.no_grad():
        for weights in unet.parameters():
            weights.uniform_(-0.02, 0.02)
    return unet.eval()


def inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    latents = torch.randn(1, 4, LATENT_SIDE, LATENT_SIDE)
    return latents, torch.tensor(981), torch.randn(1, TOKENS, WIDTH)


def step_of_theirs(unet: UNet2DConditionModel, _: bool) -> Callable[[], torch.Tensor]:
    pipeline = StableDiffusionAttendAndExcitePipeline(
        vae=None,
        text_encoder=None,
        tokenizer=None,
        unet=unet,
        scheduler=None,
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.attention_store = theirs.AttentionStore((16, 16))
    pipeline.register_attention_control()
    sample, timestep, words = inputs()

    def step() -> torch.Tensor:
        latents = sample.clone().requires_grad_()
        unet(latents, timestep, encoder_hidden_states=words)
        unet.zero_grad()
        seen = pipeline._aggregate_and_get_max_attention_per_token(indices=list(WORDS))
        loss = pipeline._compute_loss(max_attention_per_index=seen)
        return pipeline._update_latent(latents, loss, STEP_SIZE)

    return step


def step_of_ours(unet: UNet2DConditionModel, spares: bool) -> Callable[[], torch.Tensor]:
    unet.requires_grad_(False)
    layers = guiding_layers(unet_text_layers(unet), LATENT_SIDE)
    spans = [
        TokenSpan(mention_id=f"m{word}", encoder_id="text_encoder", indices=(word,))
        for word in WORDS
    ]
    reader = AttentionReader(layers, spans, (), smooths_maps=True, whole_text=range(1, TOKENS - 1))
    settings = GuidanceSettings(strength=STEP_SIZE, checkpointing=spares)
    guidance = Guidance(loss=AttendExciteLoss(), schedule=GuidanceSchedule(settings, 50))
    sample, timestep, words = inputs()
    call = DenoiserCall(CallLayout(), (sample, timestep), {"encoder_hidden_states": words})

    def step() -> torch.Tensor:
        updates = LatentUpdates(
            guidance, reader, unet, lambda wanted: wanted.run(unet.forward), call
        )
        updates.make(0, STEP_SIZE)
        return sample - updates.shift

    return step


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
