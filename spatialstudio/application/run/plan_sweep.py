"""Stage 2, sweeps: parsing of axes, plans, and requests of their cells."""

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import floor, isfinite

from spatialstudio.application.run.check_request import check_request
from spatialstudio.application.run.choose_settings import recommended_strength, with_steps
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.generation import SAMPLING_OPTIONS, GenerationRequest
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.run_settings import (
    RunSettings,
    SeedMode,
    seed_after,
    with_values,
)
from spatialstudio.domain.steering import ONE_PARTICLE
from spatialstudio.domain.sweep import (
    RUN_FIELDS,
    SweepAxis,
    SweepCell,
    SweepField,
    SweepId,
    SweepPlan,
    SweepPoint,
    option_field,
)
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, with_option

MOST_PICTURES = 400
ROUNDING = 1e-9
"""Tolerance for the end of a range, as a share of its step."""
EXAMPLE = 'Enter a list such as "0, 5, 10" or a range such as "0 to 20 by 5".'
SOME = 3
"""Number of suggested seeds."""
USUAL_VALUES: Mapping[SweepField, tuple[float, ...]] = {
    SweepField.DECAY: (0.25, 0.5, 1),
    SweepField.EVERY: (1, 2, 3),
    SweepField.INNER_UPDATES: (1, 2, 4),
    SweepField.GOAL: (0.8, 0.9, 1),
    SweepField.TARGET_WEIGHT: (0, 0.5, 1),
    SweepField.PARTICLES: (1, 4, 8),
}
"""Suggested values that do not depend on the settings."""


_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*(?:to|\.\.|-)\s*({_NUMBER})(?:\s*(?:by|/)\s*({_NUMBER}))?")


def read_axis(field: SweepField, text: str) -> SweepAxis:
    """Parse values such as "0, 5, 10" or "0 to 20 by 5"; duplicates are removed.

    Raises:
        SettingsError: There is no value, a value is not a number, or there are too many.
    """
    parts = [part.strip() for part in re.split(r"[,;]", text) if part.strip()]
    values = tuple(dict.fromkeys(value for part in parts for value in _values(part)))
    if not values:
        raise SettingsError(f"{field.title} has no values yet.", hint=EXAMPLE)
    if field.is_whole and any(value != floor(value) for value in values):
        raise SettingsError(
            f"{field.title} must be a whole number.", hint=('For example "1, 2, 3".')
        )
    if not field.can_be_negative and any(value < 0 for value in values):
        raise SettingsError(
            f"{field.title} cannot be negative.", hint="Use numbers from 0 upwards."
        )
    _check_count(len(values))
    return SweepAxis(field=field, values=values)


def plan_of(columns: SweepAxis, rows: SweepAxis | None = None) -> SweepPlan:
    """Combine axes into a plan.

    Raises:
        SettingsError: Both axes sweep the same field, or there are too many images.
    """
    if rows is not None and rows.field == columns.field:
        raise SettingsError(
            f"{columns.field.title} cannot be used on both axes.", hint="Choose another field."
        )
    plan = SweepPlan(columns=columns, rows=rows)
    _check_count(plan.pictures)
    return plan


def sweeps_of_prompts(
    plan: SweepPlan,
    settings: RunSettings,
    model: ModelCard,
    requests_of: Sequence[Callable[[RunSettings], tuple[GenerationRequest, ...]]],
) -> tuple[GenerationRequest, ...]:
    """Return the validated requests of several prompts: a sweep each, one after the other.

    Args:
        plan: The plan of each sweep.
        settings: All other settings.
        model: Model of the settings.
        requests_of: For each prompt, creates requests from settings.

    Raises:
        SettingsError: There are more than ``MOST_PICTURES`` pictures.
        RequestError: See ``sweep_requests``, which also raises SettingsError.
        PromptError: There is no scene.
    """
    _check_count(plan.pictures * len(requests_of))
    return tuple(
        request for each in requests_of for request in sweep_requests(plan, settings, model, each)
    )


def sweep_requests(
    plan: SweepPlan,
    settings: RunSettings,
    model: ModelCard,
    requests_of: Callable[[RunSettings], tuple[GenerationRequest, ...]],
) -> tuple[GenerationRequest, ...]:
    """Return the validated requests of a sweep, row by row.

    Args:
        plan: The plan.
        settings: All other settings; each cell has one image.
        model: Model of the settings.
        requests_of: Creates requests from settings.

    Raises:
        RequestError: A value is out of range, or the model does not support the sampler.
        PromptError: There is no scene.
        SettingsError: The weight of sketched places is swept, but none is used.
    """
    sweep_id = SweepId(uuid.uuid4().hex)
    alone = replace(settings, pictures=1, seed_mode=SeedMode.FIXED)
    requests = []
    for cell in cells_of(plan, sweep_id):
        (request,) = requests_of(settings_at(cell, alone, model))
        request = _with_place_weight(request, cell)
        check_request(request, model)
        requests.append(replace(request, sweep=cell))
    return tuple(requests)


def _with_place_weight(request: GenerationRequest, cell: SweepCell) -> GenerationRequest:
    """Return a request with the weight of the sketched places, which belongs to the sketch."""
    for point in (cell.column, cell.row):
        if point is not None and point.field == SweepField.TARGET_WEIGHT:
            guidance = request.sampling.guidance
            if not guidance.targets:
                raise SettingsError(
                    f"{point.field.title} has no effect: no object has a place.",
                    hint="Place an object in the layout sketch, and use guidance.",
                )
            request = with_values(request, guidance=replace(guidance, target_weight=point.value))
    return request


def suggested_values(field: SweepField, settings: RunSettings, model: ModelCard) -> str:
    """Return suggested values around the current setting, as text for ``read_axis``."""
    strength, steps = recommended_strength(settings, model), settings.sampling.steps
    scale = settings.guidance_scale or model.guidance_scale
    around: Mapping[SweepField, tuple[float, ...]] = {
        SweepField.SEED: tuple(seed_after(settings.sampling.seed, count) for count in range(SOME)),
        SweepField.STEPS: (max(steps // 2, 1), steps, 2 * steps),
        SweepField.WIDTH: (settings.width, settings.width * 2),
        SweepField.HEIGHT: (settings.height, settings.height * 2),
        SweepField.GUIDANCE_SCALE: (scale / 2, scale, 2 * scale),
        SweepField.STRENGTH: (0, strength / 2, strength, 2 * strength),
        SweepField.GUIDED_STEPS: (max(steps // 4, 1), max(steps // 2, 1), steps),
        **USUAL_VALUES,
    }
    option = _option(field, settings)
    values = dict.fromkeys(_around(option) if option else around[field])
    return ", ".join(SweepPoint(field=field, value=value).label for value in values)


def sweep_fields(settings: RunSettings) -> tuple[SweepField, ...]:
    """Return the fields that can be swept: general ones, then options of the guidance method."""
    method_id = settings.sampling.guidance.method_id
    options = GUIDANCE_METHODS[method_id].options if method_id in GUIDANCE_METHODS else ()
    described = (*SAMPLING_OPTIONS, *options)
    swept = (
        option_field(each) for each in described if each.is_number or each.kind is OptionKind.BOOL
    )
    return (*RUN_FIELDS.values(), *swept)


def cells_of(plan: SweepPlan, sweep_id: SweepId) -> Iterator[SweepCell]:
    """Yield the cells of a sweep, row by row."""
    for row in _points(plan.rows) if plan.rows else (None,):
        for column in _points(plan.columns):
            yield SweepCell(sweep_id=sweep_id, column=column, row=row)


def settings_at(cell: SweepCell, settings: RunSettings, model: ModelCard) -> RunSettings:
    """Return settings with the values of a cell."""
    order = (*_SETTERS, *sweep_fields(settings))
    points = [point for point in (cell.column, cell.row) if point is not None]
    for point in sorted(points, key=lambda point: order.index(point.field)):
        setter = _SETTERS.get(point.field)
        settings = setter(settings, model, point.value) if setter else _set(point, settings)
    return settings


def _set(point: SweepPoint, settings: RunSettings) -> RunSettings:
    """Return settings with the value of an option; a switch takes 0 and 1."""
    option, value = _option(point.field, settings), point.value
    is_switch = option is not None and option.kind is OptionKind.BOOL and value in {0, 1}
    chosen = bool(value) if is_switch else value
    if option in SAMPLING_OPTIONS:
        return with_values(settings, **{point.field.id: option.check(chosen)})
    guidance = with_option(settings.sampling.guidance, point.field.id, chosen)
    return with_values(settings, guidance=guidance)


def _option(field: SweepField, settings: RunSettings) -> Option | None:
    for option in SAMPLING_OPTIONS:
        if option.id == field.id:
            return option
    method_id = settings.sampling.guidance.method_id
    known = method_id in GUIDANCE_METHODS and field.id not in RUN_FIELDS
    return GUIDANCE_METHODS[method_id].option(field.id) if known else None


def _around(option: Option) -> tuple[float, ...]:
    """Return initial values: the minimum, the default and twice the default, if in range."""
    if option.kind is OptionKind.BOOL:
        return (0, 1)
    usual, step = float(option.default), option.step or 1
    least = usual if option.minimum is None else option.minimum
    twice = 2 * usual or step
    most = twice if option.maximum is None else option.maximum
    return (least, usual, min(twice, most))


def _points(axis: SweepAxis) -> tuple[SweepPoint, ...]:
    return tuple(SweepPoint(field=axis.field, value=value) for value in axis.values)


def _check_count(pictures: int) -> None:
    if pictures > MOST_PICTURES:
        raise SettingsError(
            f"A sweep of {pictures} pictures is too large.",
            hint=f"The maximum is {MOST_PICTURES}.",
        )


def _values(part: str) -> Iterator[float]:
    if bounds := _RANGE.fullmatch(part):
        first, last, step = (float(each) for each in bounds.groups(default="1"))
        if step == 0:
            raise SettingsError(f'The range "{part}" never reaches its end.', hint=EXAMPLE)
        count = floor(abs(last - first) / step + ROUNDING) + 1
        _check_count(count)
        towards = step if last >= first else -step
        yield from (round(first + place * towards, 9) for place in range(count))
        return
    try:
        value = float(part)
    except ValueError as error:
        raise SettingsError(f'"{part}" is not a number.', hint=EXAMPLE) from error
    if not isfinite(value):
        raise SettingsError(f'"{part}" cannot be swept.', hint=EXAMPLE)
    yield value


def _guide(name: str, settings: RunSettings, value: float) -> RunSettings:
    guidance = replace(settings.sampling.guidance, **{name: value})  # type: ignore[arg-type]
    return with_values(settings, guidance=guidance)


_SETTERS: Mapping[SweepField, Callable[[RunSettings, ModelCard, float], RunSettings]] = {
    SweepField.SEED: lambda settings, _, value: with_values(settings, seed=int(value)),
    SweepField.STEPS: lambda settings, model, value: with_steps(settings, model, int(value)),
    SweepField.WIDTH: lambda settings, _, value: replace(settings, width=int(value)),
    SweepField.HEIGHT: lambda settings, _, value: replace(settings, height=int(value)),
    SweepField.GUIDANCE_SCALE: lambda settings, _, value: replace(settings, guidance_scale=value),
    SweepField.STRENGTH: lambda settings, _, value: _guide("strength", settings, value),
    SweepField.DECAY: lambda settings, _, value: _guide("decay", settings, value),
    SweepField.GUIDED_STEPS: lambda settings, _, count: _guide(
        "last_step", settings, int(count) - 1
    ),
    SweepField.EVERY: lambda settings, _, value: _guide("every", settings, int(value)),
    SweepField.INNER_UPDATES: lambda settings, _, value: _guide(
        "inner_updates", settings, int(value)
    ),
    SweepField.GOAL: lambda settings, _, value: _guide("goal", settings, value),
    SweepField.TARGET_WEIGHT: lambda settings, _model, _value: settings,  # set on the request
    SweepField.PARTICLES: lambda settings, _, count: replace(
        settings, steering=replace(settings.steering or ONE_PARTICLE, particles=int(count))
    ),
}
