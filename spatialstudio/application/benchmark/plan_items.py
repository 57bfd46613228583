"""Items of a plan: one request for each prompt, method and seed, named by its content."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any

from spatialstudio.application.evaluate.judge_choice import JudgeDefaults
from spatialstudio.application.models.model_lists import choose_guidance, usual_settings
from spatialstudio.application.refine.refine_loop import new_refinement
from spatialstudio.application.run.check_request import check_request, check_scene
from spatialstudio.application.run.choose_settings import request_of, with_method, with_steps
from spatialstudio.domain.benchmark_plan import (
    BenchmarkPlan,
    BenchmarkPrompt,
    JudgePlan,
    MethodPlan,
    PlannedItem,
)
from spatialstudio.domain.errors import RequestError, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    UNGUIDED,
    CaptureSettings,
    GenerationRequest,
    GuidanceSettings,
    RequestId,
)
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.multiple_choice import QuestionSet
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.refinement import Refinement
from spatialstudio.domain.run_settings import RunSettings, with_values
from spatialstudio.domain.scene import RelationType, SceneGraph
from spatialstudio.domain.steering import ONE_PARTICLE
from spatialstudio.science.guidance.methods import method_named
from spatialstudio.science.questions.da_score import assertions_of
from spatialstudio.science.questions.prompt_questions import questions_of_prompt
from spatialstudio.science.refine.prompt_parts import in_prompt_order

KEY_LENGTH = 32
NOTHING_RECORDED = CaptureSettings(attention_every=0, preview_every=0)


@frozen(eq=False)
class Drawing:
    """What turns a plan into requests.

    Attributes:
        model: Returns a model's card by id; None for the first.
        read_scene: Reads a prompt for a model.
        judges: Judge sets by the origin of a picture.
    """

    model: Callable[[str | None], ModelCard]
    read_scene: Callable[[str, str | None], SceneGraph]
    judges: JudgeDefaults

    def judges_of(self, judges: JudgePlan, model_id: str, scene: SceneGraph) -> JudgeSetChoice:
        """Return the models of a judge set for pictures of a model.

        Raises:
            ModelNotFound: A model of the judge set is not installed.
            SettingsError: The judge set does not exist.
        """
        is_sticker = self.judges.draws_stickers(model_id)
        return self.judges.judges_for(judges.choice, scene, is_sticker_picture=is_sticker)


def items_of(
    plan: BenchmarkPlan, prompts: Sequence[BenchmarkPrompt], drawing: Drawing
) -> tuple[PlannedItem, ...]:
    """Return the items of a plan: by method, then prompt, then seed.

    An item that cannot be drawn carries the error and does not stop the others.

    Raises:
        ModelNotFound: The model of a method is not installed.
        RequestError: The settings of a method are invalid, or do not fit its model.
    """
    drawing = replace(drawing, read_scene=cache(drawing.read_scene))  # methods share prompts
    return tuple(
        item for method in plan.methods for item in _items_by(method, plan, prompts, drawing)
    )


def settings_of_method(method: MethodPlan, model: ModelCard) -> RunSettings:
    """Return the run settings of a method.

    Raises:
        RequestError: The guidance method or one of its options is unknown or invalid, or was not
            published for models of this kind.
    """
    settings = usual_settings(model)
    if method.steps is not None:
        settings = with_steps(settings, model, method.steps)
    settings = with_method(settings, model, method.guidance, method.preset)
    return with_values(
        settings,
        guidance=_guidance_of(method, model, settings),
        scheduler_id=method.sampler,
        loras=method.loras,
        guidance_scale=method.guidance_scale,
        negative=method.negative,
        width=method.width or settings.width,
        height=method.height or settings.height,
        candidates=method.candidates,
        steering=None
        if method.particles is None
        else replace(ONE_PARTICLE, particles=method.particles),
    )


def _guidance_of(method: MethodPlan, model: ModelCard, settings: RunSettings) -> GuidanceSettings:
    steps = settings.sampling.steps
    guidance = choose_guidance(
        method.guidance, model, steps, preset=method.preset, strength=method.strength
    )
    if method.guided_steps is not None:
        guidance = replace(guidance, last_step=method.guided_steps - 1)
    if method.guidance == UNGUIDED:
        return guidance
    known = method_named(method.guidance)
    options = {name: known.find_option(name).check(each) for name, each in method.options.items()}
    return replace(guidance, options={**guidance.options, **options})


def _items_by(
    method: MethodPlan,
    plan: BenchmarkPlan,
    prompts: Sequence[BenchmarkPrompt],
    drawing: Drawing,
) -> Iterable[PlannedItem]:
    model = drawing.model(method.model_id or None)
    settings = settings_of_method(method, model)
    for prompt in prompts:
        try:
            made = _request_of(prompt, model, settings, drawing)
            more = [] if method.refine is None else _basis_of_rounds(made, method, plan, drawing)
        except StudioError as error:
            for seed in plan.seeds:
                key = key_of([prompt.text, method, seed, error.message])
                yield PlannedItem(
                    key=key, prompt=prompt, method=method, seed=seed, request=None, error=error
                )
            continue
        if prompt.questions is not None:  # equal prompts with other questions are other items
            more = [*more, key_of(prompt.questions)]
        for seed in plan.seeds:
            request = with_values(made, seed=seed)
            key = _key_of_request(request, model, plan.threads, more)
            request = replace(request, id=RequestId(key))
            yield PlannedItem(key=key, prompt=prompt, method=method, seed=seed, request=request)


def questions_on(item: PlannedItem) -> QuestionSet:
    """Return the multiple-choice questions on an item with a request: its own, or on its scene."""
    assert item.request is not None
    return item.prompt.questions or questions_of_prompt(item.request.scene, ()).questions


def _request_of(
    prompt: BenchmarkPrompt, model: ModelCard, settings: RunSettings, drawing: Drawing
) -> GenerationRequest:
    scene = drawing.read_scene(prompt.text, model.id)
    request = request_of(scene, model, settings, 0, None, drawing.judges)
    request = replace(request, capture=NOTHING_RECORDED)
    check_request(request, model)
    check_scene(scene)
    return request


def _basis_of_rounds(
    request: GenerationRequest, method: MethodPlan, plan: BenchmarkPlan, drawing: Drawing
) -> list[object]:
    """Return what determines the rounds of a refined item beside its request.

    Raises:
        RequestError: The prompt asserts nothing, or nothing can score the rounds.
        StudioError: The first judge set cannot be used.
    """
    refinement = refinement_of(request, drawing.model(request.model.id), method)
    judges = drawing.judges_of(plan.judges[0], request.model.id, request.scene)
    if judges.detector_id is None:
        raise RequestError(
            "Nothing can score the rounds of a refinement.",
            hint="Add [[judges]] to the plan, or install the models of a judge set.",
        )
    return [refinement.rules, refinement.presence, judges]


def refinement_of(request: GenerationRequest, model: ModelCard, method: MethodPlan) -> Refinement:
    """Return the refinement of an item, without attempts; its assertions are those of the scene.

    Args:
        request: Request of the item.
        model: Its model.
        method: A method with rules of Evaluate-and-Refine.

    Raises:
        RequestError: The prompt asserts nothing.
    """
    assert method.refine is not None
    assertions = in_prompt_order(assertions_of(request.scene), request.scene)
    return new_refinement(request, model, assertions, method.refine)


def _key_of_request(
    request: GenerationRequest, model: ModelCard, threads: int, more: Sequence[object]
) -> str:
    """Return the key of a request; the place where it is drawn is no part of it."""
    plain = with_values(request, id=RequestId(""), device="")
    several = [threads] if threads > 1 else []
    return key_of([plain, model.revision, model.size_bytes, *several, *more])


def key_of(value: object) -> str:
    """Return a hash of a value of the domain; fields at their defaults do not count."""
    plain = json.dumps(_plain(value), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:KEY_LENGTH]


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case RelationType():
            return value.id
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case None | bool() | int() | float() | str():
            return value
    if not is_dataclass(value):
        raise TypeError(f"a {type(value).__name__} cannot be part of a key")
    named = ((each, getattr(value, each.name)) for each in fields(value))
    return {
        each.name: _plain(own)
        for each, own in named
        if not (each.default is not MISSING and own == each.default)
        and not (each.default_factory is not MISSING and own == each.default_factory())
    }
