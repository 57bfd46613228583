"""Options shared by several commands, and the options of ``runs``."""

import argparse
import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from math import nan
from pathlib import Path
from typing import Any, TypeVar

from spatialstudio.application.models.model_lists import choose_guidance
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.export import ANNOTATED, ExportKind, ExportLayer
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    PSG,
    SAMPLING_OPTIONS,
    UNGUIDED,
    GenerationRequest,
    GuidanceSettings,
    NoiseSearch,
)
from spatialstudio.domain.judge_choice import JUDGE_SETS, STICKERS, JudgeSetChoice
from spatialstudio.domain.options import Option, OptionKind, OptionValue
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.prompt_syntax import MOST_WEIGHT, with_negative
from spatialstudio.domain.run_settings import Preset, with_values
from spatialstudio.domain.safe_files import is_folder
from spatialstudio.domain.samplers import SAMPLERS, sampler_named
from spatialstudio.domain.scene import LoraUse
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, has_work, method_named

E = TypeVar("E", bound=Enum)


@frozen
class OutPath:
    """Target of a command's output.

    Attributes:
        path: A file or folder.
        is_folder: Whether it is a folder, or is written as one: "results/".
    """

    path: Path
    is_folder: bool

    def file(self, name: str) -> Path:
        """Return the file; a file of this name if the target is a folder."""
        return self.path / name if self.is_folder else self.path


def out_path(text: str) -> OutPath:
    """Parse an output path, as argparse's ``type``."""
    separators = tuple(filter(None, (os.sep, os.altsep)))
    path = Path(text)
    return OutPath(path=path, is_folder=text.endswith(separators) or is_folder(path))


def add_overwrite(parser: ArgumentParser) -> None:
    """Add the option to replace existing files."""
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")


def one_of(kinds: type[E]) -> Callable[[str], E]:
    """Return a parser of an option's value, as argparse's ``type``.

    Args:
        kinds: Enum whose values are the accepted words.
    """

    def read(text: str) -> E:
        try:
            return kinds(text)
        except ValueError as error:
            raise ArgumentTypeError(f'"{text}" is not one of {words_of(kinds)}') from error

    return read


def words_of(kinds: Iterable[Enum]) -> str:
    """List the accepted words; words with a space are quoted."""
    words = (str(kind.value) for kind in kinds)
    return ", ".join(f'"{word}"' if " " in word else word for word in words)


MOST_LISTED = 50
FILTER_HELP = 'for example "verdict:fail relation:left model:sticker pos<0.6 cat -tag:draft"'
RUNS, LIST, FILTER = "runs", "list", "--filter"
NO_MORE_OPTIONS = "--"
HELP = "-h"


def add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    purpose: str,
    *,
    parents: Sequence[argparse.ArgumentParser] = (),
) -> argparse.ArgumentParser:
    """Add a command, or an action of one, whose help begins with its purpose."""
    description = f"{purpose[0].upper()}{purpose[1:]}."
    return commands.add_parser(name, help=purpose, description=description, parents=parents)


def add_runs_options(parser: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    """Add the actions of the command ``runs``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    library = argparse.ArgumentParser(add_help=False)
    library.add_argument(
        "--library",
        type=Path,
        metavar="DIR",
        help="library folder (default: the configured library)",
    )
    known = [shared, library]
    _add_list(add_command(actions, LIST, "find runs", parents=known))
    _add_chosen(add_command(actions, "show", "show details of runs", parents=known))
    _add_export(add_command(actions, "export", "export runs", parents=known))
    bundle = add_command(actions, "import", "import a bundle of runs", parents=known)
    bundle.add_argument(
        "bundle", type=Path, metavar="ZIP", help='bundle written by "export --as bundle"'
    )
    _add_verify(
        add_command(actions, "verify", "verify that the files of runs are unchanged", parents=known)
    )
    add_command(actions, "reindex", "rebuild the library index from the files", parents=known)
    again = add_command(actions, "again", "reproduce a run and compare the pictures", parents=known)
    again.add_argument("run", type=Path, metavar="RUN", help="picture file of the run")


def with_minuses(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments with negated filter terms distinguished from options."""
    if arguments[:1] != [RUNS]:
        return arguments
    return list(_distinguished(arguments, is_list=arguments[1:2] == [LIST]))


def take_words(options: argparse.Namespace, rest: Sequence[str]) -> Sequence[str]:
    """Move filter words after options to ``options``; return the unrecognized arguments."""
    if options.command != RUNS or options.action != LIST:
        return rest
    options.words += [word for word in rest if not word.startswith("--")]
    return [word for word in rest if word.startswith("--")]


def _distinguished(arguments: Sequence[str], *, is_list: bool) -> Iterator[str]:
    words = iter(arguments)
    for word in words:
        if word == NO_MORE_OPTIONS:
            yield from (word, *words)
        elif word == FILTER:
            value = next(words, None)
            yield word if value in {None, NO_MORE_OPTIONS} else f"{word}={value}"
        elif is_list and word.startswith("-") and word != HELP and not word.startswith("--"):
            yield f"{FILTER}={word}"
        else:
            yield word


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="FILTER", help=FILTER_HELP)
    parser.add_argument(
        FILTER,
        action="append",
        default=[],
        metavar="FILTER",
        help="filter; may be repeated",
    )
    parser.add_argument(
        "--most",
        type=_count,
        default=MOST_LISTED,
        metavar="N",
        help="maximum number of runs; 0 for all (default: %(default)s)",
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'"{text}" is not a number of runs (0 or more)')
    return int(text)


def _add_chosen(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", type=Path, nargs="*", metavar="RUN", help="picture files of runs")
    parser.add_argument(
        FILTER, metavar="FILTER", help=(f"select runs from the library, {FILTER_HELP}")
    )


def _add_verify(parser: argparse.ArgumentParser) -> None:
    _add_chosen(parser)
    parser.add_argument(
        "--recheck",
        action="store_true",
        help="also judge again from the stored perception and list verdicts that differ",
    )


def _export_kind(text: str) -> ExportKind:
    if text not in EXPORT_KINDS:
        raise ArgumentTypeError(
            f'"{text}" is not one of {", ".join(kind.id for kind in EXPORT_KINDS)}'
        )
    return EXPORT_KINDS[text]


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_chosen(parser)
    parser.add_argument(
        "--as",
        dest="kind",
        type=_export_kind,
        default=ANNOTATED,
        metavar="KIND",
        help="; ".join(f"{kind.id} ({', '.join(kind.formats)})" for kind in EXPORT_KINDS)
        + f" (default: {ANNOTATED})",
    )
    parser.add_argument(
        "--out",
        type=out_path,
        metavar="PATH",
        required=True,
        help=('output file, or folder with a trailing slash: "out/"'),
    )
    add_overwrite(parser)
    parser.add_argument(
        "--layers",
        type=one_of(ExportLayer),
        nargs="*",
        metavar="LAYER",
        help=f"layers of annotated pictures: {words_of(ExportLayer)}",
    )
    parser.add_argument("--theme", default="light", help="colour theme (default: %(default)s)")
    parser.add_argument(
        "--unmarked", action="store_true", help="do not label pictures as AI-generated"
    )


ONE_PICTURE = NoiseSearch()
FLAGS = {"dtype": "number-format"}
"""Options of a run whose flag has another name than the setting."""


def add_guidance_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of generation and guidance."""
    group = parser.add_argument_group("guidance")
    group.add_argument(
        "--guidance",
        choices=(UNGUIDED, *(method.id for method in GUIDANCE_METHODS)),
        default=PSG,
        help="guidance method (default: %(default)s)",
    )
    group.add_argument(
        "--preset",
        type=one_of(Preset),
        default=Preset.RECOMMENDED,
        metavar="{recommended,published,spatialbench-uc}",
        help="guidance preset: recommended, published, or, for boxdiff, spatialbench-uc "
        "(without refinement) (default: recommended)",
    )
    _add_strength(group)
    _add_switches(group)
    _add_method_options(parser)
    _add_sampling(parser)
    _add_search(parser)
    _add_place(parser)


def _add_strength(group: argparse._ArgumentGroup) -> None:
    by_model = " and ".join(method.id for method in GUIDANCE_METHODS if method.uses_model_strength)
    group.add_argument(
        "--strength",
        type=float,
        help="guidance step size; 0 disables guidance (default: the preset's; the model's for "
        f"the recommended preset of {by_model})",
    )
    group.add_argument(
        "--goal",
        type=float,
        default=1.0,
        help="PoS at which guidance pauses, for example 0.95 (default: 1, which never pauses)",
    )
    group.add_argument(
        "--guided-steps",
        type=int,
        metavar="N",
        help="guide the first N steps (default: the preset's)",
    )
    group.add_argument(
        "--every",
        type=int,
        default=1,
        metavar="N",
        help="guide every Nth of these steps (default: %(default)s)",
    )
    group.add_argument(
        "--inner-updates",
        type=int,
        default=1,
        metavar="N",
        help="latent updates per guided step (default: %(default)s)",
    )


def _add_switches(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--one-by-one",
        action="store_true",
        help="one guidance pass per relation instead of one for all",
    )
    group.add_argument(
        "--names-only",
        action="store_true",
        help=(
            'strip the relations from the prompt ("a dog and a car"), so that only guidance '
            "enforces them"
        ),
    )
    group.add_argument(
        "--reuse-prediction",
        action="store_true",
        help=(
            "reuse the guidance pass's noise prediction: faster, but fewer relations are satisfied"
        ),
    )
    group.add_argument(
        "--checkpointing",
        action="store_true",
        help="gradient checkpointing: less memory, more time",
    )


def _add_method_options(parser: argparse.ArgumentParser) -> None:
    listed = [
        f"{method.id}: {', '.join(option.id for option in method.options)}"
        for method in GUIDANCE_METHODS
        if method.options
    ]
    group = parser.add_argument_group("guidance method options")
    group.add_argument(
        "--option",
        type=assigned,
        action="append",
        default=[],
        metavar="ID=VALUE",
        help=f"set a method option; may be repeated. {'; '.join(listed)}",
    )
    group.add_argument(
        "--paper-loss",
        action="store_true",
        help="PSG loss as in the paper instead of the authors' code",
    )


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    sampling = parser.add_argument_group("sampling")
    sampling.add_argument(
        "--sampler",
        type=sampler_named,
        default="",
        metavar="NAME",
        help=f"sampler: {', '.join(SAMPLERS.values())}, or a diffusers scheduler that the model "
        "supports (default: the model's)",
    )
    sampling.add_argument(
        "--guidance-scale",
        type=float,
        metavar="SCALE",
        help="classifier-free guidance (CFG) scale; 1 turns it off (default: the model's)",
    )
    sampling.add_argument("--negative", default="", metavar="TEXT", help="negative prompt")
    sampling.add_argument(
        "--lora",
        type=lora_use,
        action="append",
        default=[],
        metavar="NAME[:WEIGHT]",
        help='LoRA and its weight, as "<lora:NAME:WEIGHT>" in the prompt; may be repeated',
    )
    for option in SAMPLING_OPTIONS:
        _add_option(sampling, option)


def _add_option(group: argparse._ArgumentGroup, option: Option) -> None:
    """Add the flag of a setting that its option describes; it is named after the option's id."""
    flag = f"--{FLAGS.get(option.id, option.id).replace('_', '-')}"
    kinds: Mapping[OptionKind, Mapping[str, Any]] = {
        OptionKind.BOOL: {"action": "store_true"},
        OptionKind.INT: {"type": int, "metavar": "N", "default": option.default},
        OptionKind.FLOAT: {"type": float, "metavar": "VALUE", "default": option.default},
        OptionKind.CHOICE: {"choices": [*filter(None, option.choices)], "default": option.default},
    }
    group.add_argument(flag, dest=option.id, help=option.help, **kinds[option.kind])


def _add_search(parser: argparse.ArgumentParser) -> None:
    search = parser.add_argument_group("search")
    search.add_argument(
        "--search",
        type=int,
        default=ONE_PICTURE.candidates,
        metavar="N",
        help="noise search: generate up to N pictures with consecutive seeds and keep the best",
    )
    search.add_argument(
        "--enough",
        type=float,
        default=ONE_PICTURE.enough,
        metavar="PSE",
        help="stop the search at this PSE (default: %(default)s)",
    )


def _add_place(parser: argparse.ArgumentParser) -> None:
    memory = parser.add_argument_group("device and memory")
    memory.add_argument(
        "--device",
        default="",
        metavar="ID",
        help="compute device, for example cuda:1 (default: the fastest available)",
    )
    memory.add_argument(
        "--save-memory",
        type=one_of(Saving),
        action="append",
        default=[],
        metavar="WAY",
        help=f"reduce memory use; may be repeated: {words_of(Saving)}",
    )
    memory.add_argument(
        "--keep-attention",
        type=one_of(AttentionDetail),
        default=AttentionDetail.RELATION_WORDS,
        metavar="DETAIL",
        help="attention to record; all but the first are stored on disk: "
        f"{words_of(AttentionDetail)}",
    )


def with_guidance(
    request: GenerationRequest, model: ModelCard, options: argparse.Namespace
) -> GenerationRequest:
    """Return a request with the options of the command line.

    Raises:
        RequestError: The method was not published for models of this kind.
    """
    scene, scale = request.scene, options.guidance_scale
    guidance = choose_guidance(
        options.guidance if has_work(scene, options.guidance) else UNGUIDED,
        model,
        request.sampling.steps,
        preset=options.preset,
        strength=options.strength,
    )
    steps = options.guided_steps
    return with_values(
        request,
        scene=replace(scene, prompt=with_negative(scene.prompt, options.negative)),
        scheduler_id=options.sampler,
        guidance=replace(
            _with_options(guidance, options),
            last_step=guidance.last_step if steps is None else steps - 1,
            every=options.every,
            inner_updates=options.inner_updates,
            goal=options.goal,
            one_by_one=options.one_by_one,
            names_only=options.names_only,
            reuses_prediction=options.reuse_prediction,
            checkpointing=options.checkpointing,
        ),
        savings=tuple(options.save_memory),
        loras=(*options.lora, *request.sampling.loras),
        device=options.device,
        **_chosen_options(options),
        guidance_scale=request.guidance_scale if scale is None else scale,
        search=NoiseSearch(candidates=options.search, enough=options.enough),
        capture=replace(request.capture, detail=options.keep_attention),
    )


def _chosen_options(options: argparse.Namespace) -> dict[str, OptionValue]:
    """Return the options of a run that differ from their defaults, by id."""
    chosen = {option.id: getattr(options, option.id) for option in SAMPLING_OPTIONS}
    return {
        each.id: chosen[each.id] for each in SAMPLING_OPTIONS if chosen[each.id] != each.default
    }


def lora_use(text: str) -> LoraUse:
    """Split "name:0.8" into the name and weight of a LoRA.

    Raises:
        ArgumentTypeError: The name is empty, or the weight is no number in [-10, 10].
    """
    name, _, weight = text.rpartition(":") if ":" in text else (text, "", "1")
    try:
        factor = float(weight)
    except ValueError:
        factor = nan
    if not name or not abs(factor) <= MOST_WEIGHT:
        raise ArgumentTypeError(f'"{text}" is not a LoRA and its weight, such as "style:0.8"')
    return LoraUse(name=name, weight=factor)


def assigned(text: str) -> tuple[str, str]:
    """Split "presence_weight=0.5" into id and value."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ArgumentTypeError(f'"{text}" is not of the form ID=VALUE')
    return name.strip(), value


def _with_options(guidance: GuidanceSettings, options: argparse.Namespace) -> GuidanceSettings:
    """Return guidance with the options of its method; these are validated even if it is off."""
    if options.guidance == UNGUIDED:
        if options.option:
            raise RequestError(
                "--option requires a guidance method.",
                hint="Choose a method with --guidance, or omit --option.",
            )
        return guidance
    method = method_named(options.guidance)
    paper_loss = [("paper_loss", "true")] if options.paper_loss else []
    wanted = [*(each for each in paper_loss if method.option(each[0])), *options.option]
    typed = {name: method.find_option(name).parse(text) for name, text in wanted}
    is_guided = guidance.method_id == method.id
    return replace(guidance, options={**guidance.options, **typed}) if is_guided else guidance


def add_judge_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select the judge set."""
    group = parser.add_argument_group(
        "judge set",
        "Models that judge a picture: a named set, and models that replace its members. Pass "
        'ids or short names as listed by "spatialstudio models list", or model folders.',
    )
    group.add_argument(
        "--judge-set",
        default="",
        metavar="ID",
        help=f"{', '.join(card.id for card in JUDGE_SETS)}, or a user-defined set (default: "
        f"{STICKERS.id} for pictures of sticker models, by the record in them; for others the "
        "first installed set whose vocabulary covers the prompt)",
    )
    group.add_argument("--detector", metavar="MODEL", help="object detector")
    group.add_argument(
        "--second-detector",
        metavar="MODEL",
        help="second detector, for the checker's agreement component",
    )
    group.add_argument(
        "--segmenter",
        metavar="MODEL",
        help="segmenter for PSE if the detector returns no masks",
    )
    group.add_argument(
        "--depth",
        metavar="MODEL",
        help='depth model for "in front of" and "behind"',
    )
    group.add_argument("--answerer", metavar="MODEL", help="question answerer for the DA-score")
    group.add_argument(
        "--cut",
        metavar="SCORE",
        type=float,
        help="detection threshold (default: the detector's published value)",
    )


def judge_choice(options: argparse.Namespace) -> JudgeSetChoice:
    """Return the selected judge set.

    Raises:
        SettingsError: A number is out of range.
    """
    return JudgeSetChoice(
        set_id=options.judge_set,
        detector_id=options.detector,
        second_id=options.second_detector,
        segmenter_id=options.segmenter,
        depth_id=options.depth,
        answerer_id=options.answerer,
        cut=options.cut,
    )
