"""Ways to hold a layout, by name, at a number of denoiser passes per picture.

A denoising step is one pass, of both predictions of classifier-free guidance; a guiding pass is one
more: its forward pass of one prediction and its backward pass cost together as much as a step
(measured on the sticker model: 1.2 steps). A plain picture takes 20 passes. Where a number of
passes is asked for, guided variants take 20 steps and the others as guiding passes, "long" takes
all as steps, "best" draws pictures of at most 20 steps and keeps the one that the studio's noise
search would keep, and "resampling" steers as many particles of 20 steps, rated by their predicted
pictures, as the studio's declining number allows. With a constant number, as published, 40 passes
leave two, whose effective sample size never asks for a resampling. "none" and "ours" are what the
studio does by itself, "layout" is layout guidance as recommended, which takes 20 to 46 passes, and
"layout, at once" guides without a trial, in 40. "refine" begins without guidance and continues by
the rounds of Evaluate-and-Refine while the passes allow another; it keeps the highest DA-score.
"""

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from spatialstudio.domain.generation import (
    LAYOUT,
    MAX_SEED,
    PSG,
    UNGUIDED,
    GenerationRequest,
    GuidanceSettings,
)
from spatialstudio.domain.refinement import REFINE_RECOMMENDED, RefineRules
from spatialstudio.domain.run_settings import Preset, with_values
from spatialstudio.domain.steering import ONE_PARTICLE
from spatialstudio.science.guidance.method import STABLE_DIFFUSION
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, guidance_preset
from spatialstudio.science.guidance.methods.infsplign import InfSplignLoss
from spatialstudio.science.guidance.steering import DEPTH_STEERING, particle_counts

STEPS = 20
APART = 1000  # the seeds of competing pictures
STRENGTH = 10.0
"""Of losses that update the latents, the sticker model's own for PSG."""

Change: TypeAlias = Callable[[GuidanceSettings], GuidanceSettings]
"""Makes other settings of the studio's own."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to draw a request.

    Attributes:
        requests: Takes a request with the studio's own guidance and the passes; several requests
            compete.
        has_budget: Whether it follows the passes.
        rules: Refines the request by these rules; None to draw it as it is.
    """

    requests: Callable[[GenerationRequest, int], tuple[GenerationRequest, ...]]
    has_budget: bool = True
    rules: RefineRules | None = None


def guided(change: Change, *, is_steered: bool = False) -> Variant:
    """Draw with other guidance at its own number of passes; steered as the studio does or not."""

    def requests(request: GenerationRequest, _passes: int) -> tuple[GenerationRequest, ...]:
        changed = with_values(request, guidance=change(request.sampling.guidance))
        return (changed if is_steered else replace(changed, steering=ONE_PARTICLE),)

    return Variant(requests, has_budget=False)


def updating(method_id: str, **values: object) -> Variant:
    """Update the latents on the first steps, more than once if there are more passes than steps."""

    def requests(request: GenerationRequest, passes: int) -> tuple[GenerationRequest, ...]:
        guiding = passes - STEPS
        guidance = GuidanceSettings(
            method_id=method_id,
            strength=STRENGTH,
            last_step=min(guiding, STEPS) - 1,
            inner_updates=max(guiding // STEPS, 1),
            targets=request.sampling.guidance.targets,
            target_weight=request.sampling.guidance.target_weight,
        )
        chosen = replace(guidance, **values)  # type: ignore[arg-type]
        return (_unsteered(request, STEPS, chosen),)

    return Variant(requests)


def correcting(method_id: str) -> Variant:
    """Correct the prediction on steps spread over all."""

    def requests(request: GenerationRequest, passes: int) -> tuple[GenerationRequest, ...]:
        every = max(STEPS // max(passes - STEPS, 1), 1)
        guidance = GuidanceSettings(
            method_id=method_id, strength=100.0, decay=1.0, every=every, last_step=999
        )
        return (_unsteered(request, STEPS, guidance),)

    return Variant(requests)


def _unsteered(
    request: GenerationRequest, steps: int, guidance: GuidanceSettings
) -> GenerationRequest:
    return replace(with_values(request, steps=steps, guidance=guidance), steering=ONE_PARTICLE)


def _with_layout(guidance: GuidanceSettings) -> GuidanceSettings:
    """Take layout guidance as it is recommended, with the places of the request."""
    preset = guidance_preset(LAYOUT, STABLE_DIFFUSION, Preset.RECOMMENDED, STEPS)
    return replace(preset, targets=guidance.targets, target_weight=guidance.target_weight)


def _at_once(guidance: GuidanceSettings) -> GuidanceSettings:
    """Take layout guidance without its trial."""
    layout = _with_layout(guidance)
    return replace(layout, options={**layout.options, "trial_share": 0.0})


def _long(request: GenerationRequest, passes: int) -> tuple[GenerationRequest, ...]:
    return (_unsteered(request, passes, GuidanceSettings()),)


def _plain(request: GenerationRequest, _passes: int) -> tuple[GenerationRequest, ...]:
    return (_unsteered(request, STEPS, GuidanceSettings()),)


def _best(request: GenerationRequest, passes: int) -> tuple[GenerationRequest, ...]:
    """Share the passes among equal pictures of at most ``STEPS`` steps."""
    count = -(-passes // STEPS)
    plain = _unsteered(request, passes // count, GuidanceSettings())
    seed = request.sampling.seed
    return tuple(
        with_values(plain, seed=(seed + number * APART) % (MAX_SEED + 1)) for number in range(count)
    )


def _resampled(request: GenerationRequest, passes: int) -> tuple[GenerationRequest, ...]:
    """Denoise as many particles as the passes allow, without a gradient."""
    plain = _unsteered(request, STEPS, GuidanceSettings())
    choices = (replace(DEPTH_STEERING, particles=count) for count in range(passes, 1, -1))
    fitting = (each for each in choices if sum(particle_counts(each, STEPS)) <= passes)
    return (replace(plain, steering=next(fitting, ONE_PARTICLE)),)


_INFSPLIGN = GUIDANCE_METHODS["infsplign"]
SPATIAL, PRESENT = "infsplign, spatial", "infsplign, + presence"
ABLATIONS = (
    replace(_INFSPLIGN, id=SPATIAL, make_loss=lambda _: InfSplignLoss(presence=0, balance=0)),
    replace(_INFSPLIGN, id=PRESENT, make_loss=lambda _: InfSplignLoss(balance=0)),
)

_presence = partial(updating, "psg-presence")

VARIANTS: Mapping[str, Variant] = {
    UNGUIDED: guided(lambda _: GuidanceSettings()),
    "refine": Variant(_plain, rules=REFINE_RECOMMENDED),
    "ours": guided(lambda guidance: guidance, is_steered=True),
    "layout": guided(_with_layout),
    "layout, at once": guided(_at_once),
    "long": Variant(_long),
    "best": Variant(_best),
    "resampling": Variant(_resampled),
    PSG: updating(PSG),
    "psg, paper form": updating(PSG, options={"paper_loss": True}),
    "psg, resting": updating(PSG, goal=0.95),
    "psg, reusing": updating(PSG, reuses_prediction=True),
    "psg, objects only": updating(PSG, names_only=True),
    "psg-presence": _presence(options={"presence_weight": 0.1}),
    "psg-presence 0.3": _presence(options={"presence_weight": 0.3}),
    "psg-presence 1": _presence(),
    "attend-excite": updating("attend-excite"),
    "boxdiff": updating("boxdiff"),
    "weighted-presence": updating("weighted-presence"),
    "infsplign": correcting("infsplign"),
    SPATIAL: correcting(SPATIAL),
    PRESENT: correcting(PRESENT),
}


def register_ablations() -> None:
    """Make losses known that the studio does not offer."""
    for method in ABLATIONS:
        if method.id not in GUIDANCE_METHODS:
            GUIDANCE_METHODS.register(method)


def all_variants(file: Path | None) -> Mapping[str, Variant]:
    """Return the variants with those of a Python file: name to ``Change`` or ``Variant``."""
    if file is None:
        return VARIANTS
    further = runpy.run_path(str(file))["VARIANTS"]
    return {
        **VARIANTS,
        **{
            name: each if isinstance(each, Variant) else guided(each, is_steered=True)
            for name, each in further.items()
        },
    }
