"""Options shared by several commands, and the options of ``runs``."""

import argparse
import os
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeVar

from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.export import ANNOTATED, ExportKind, ExportLayer
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.judge_choice import JUDGE_SETS, STICKERS, JudgeSetChoice
from spatialstudio.domain.safe_files import is_folder

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


def add_overwrite(
    parser: argparse._ActionsContainer, words: str = "replace existing files"
) -> None:
    """Add the option to replace existing files."""
    parser.add_argument("--overwrite", action="store_true", help=words)


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


def add_evaluation(parser: argparse.ArgumentParser) -> None:
    """Add the choice among the evaluations of recorded runs."""
    parser.add_argument(
        "--evaluation",
        metavar="NAME",
        default="",
        help='folder of the verdicts in each run, as "eval_precal_20260116_113552" (default: eval)',
    )


def evaluation_folders(options: argparse.Namespace, runs: Sequence[Path]) -> list[Path]:
    """Return the folder of the chosen evaluation of each run; the runs' own without a choice.

    Raises:
        SettingsError: An evaluation is chosen without a run, or without a metric to compute from
            it.
    """
    if options.evaluation and not runs:
        raise SettingsError(
            "There is no run to read the evaluation of.", hint="Pass it with --run."
        )
    if options.evaluation and "metrics" in options and not options.metrics:
        raise SettingsError(
            "There is no metric to compute from the evaluation.", hint="Pass it with --metrics."
        )
    return [run / options.evaluation for run in runs]


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
    again.add_argument("run", type=Path, metavar="RUN", help="picture file or id of the run")


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
    parser.add_argument(
        "runs", type=Path, nargs="*", metavar="RUN", help="picture files or ids of runs"
    )
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
    parser.add_argument(
        "--graph-set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="override a setting of scene graphs, for example near_gap=0.2; may be repeated",
    )
    parser.add_argument("--theme", default="light", help="colour theme (default: %(default)s)")
    parser.add_argument(
        "--unmarked", action="store_true", help="do not label pictures as AI-generated"
    )


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
