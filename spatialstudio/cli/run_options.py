"""What can be typed behind ``runs``."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from spatialstudio.cli.choices import add_overwrite, one_of, out_path, words_of
from spatialstudio.domain.export import FORMATS, ExportKind, ExportLayer

MOST_LISTED = 50
FILTER_HELP = 'as "verdict:fail relation:left model:sticker pos<0.6 cat -tag:draft"'
RUNS, LIST, FILTER = "runs", "list", "--filter"
NO_MORE_OPTIONS = "--"
HELP = "-h"


def add_runs_options(parser: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    """Add the commands on the library to the command ``runs``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    library = argparse.ArgumentParser(add_help=False)
    library.add_argument(
        "--library", type=Path, metavar="DIR", help="another folder of runs; your own by default"
    )
    known = [shared, library]
    _add_list(actions.add_parser(LIST, help="find runs", parents=known))
    _add_chosen(actions.add_parser("show", help="tell all of runs", parents=known))
    _add_export(actions.add_parser("export", help="write runs as other files", parents=known))
    bundle = actions.add_parser("import", help="take in a bundle of runs", parents=known)
    bundle.add_argument("bundle", type=Path, metavar="ZIP", help="made by export --as bundle")
    _add_verify(
        actions.add_parser(
            "verify", help="check that files are unchanged since written", parents=known
        )
    )
    actions.add_parser("reindex", help="build the index anew from the files", parents=known)
    again = actions.add_parser("again", help="draw a run again exactly, and compare", parents=known)
    again.add_argument("run", type=Path, metavar="RUN", help="its picture")


def with_minuses(arguments: Sequence[str]) -> Sequence[str]:
    """Return what was typed, parts of filters that a minus negates told apart from options."""
    if arguments[:1] != [RUNS]:
        return arguments
    return list(_told_apart(arguments, is_list=arguments[1:2] == [LIST]))


def take_words(options: argparse.Namespace, rest: Sequence[str]) -> Sequence[str]:
    """Take the words of a filter that stand behind options; return what else nobody knows."""
    if options.command != RUNS or options.action != LIST:
        return rest
    options.words += [word for word in rest if not word.startswith("--")]
    return [word for word in rest if word.startswith("--")]


def _told_apart(arguments: Sequence[str], *, is_list: bool) -> Iterator[str]:
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
        FILTER, action="append", default=[], metavar="FILTER", help="the same; can be given again"
    )
    parser.add_argument(
        "--most",
        type=_count,
        default=MOST_LISTED,
        metavar="N",
        help="list no more; 0 for all (default: %(default)s)",
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'"{text}" is no number of runs, 0 or more')
    return int(text)


def _add_chosen(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", type=Path, nargs="*", metavar="RUN", help="pictures of runs")
    parser.add_argument(FILTER, metavar="FILTER", help=f"those of the library, {FILTER_HELP}")


def _add_verify(parser: argparse.ArgumentParser) -> None:
    _add_chosen(parser)
    parser.add_argument(
        "--recheck",
        action="store_true",
        help="also judge again from the stored perception, and name verdicts that differ",
    )


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_chosen(parser)
    parser.add_argument(
        "--as",
        dest="kind",
        type=one_of(ExportKind),
        default=ExportKind.ANNOTATED,
        metavar="KIND",
        help="; ".join(f"{kind.value} ({', '.join(ends)})" for kind, ends in FORMATS.items()),
    )
    parser.add_argument(
        "--out", type=out_path, metavar="PATH", required=True, help='file or folder, as "out/"'
    )
    add_overwrite(parser)
    parser.add_argument(
        "--layers",
        type=one_of(ExportLayer),
        nargs="*",
        metavar="LAYER",
        help=f"of annotated pictures: {words_of(ExportLayer)}",
    )
    parser.add_argument("--theme", default="light", help="its colours (default: %(default)s)")
    parser.add_argument(
        "--unmarked", action="store_true", help="do not say in pictures that a model drew them"
    )
