"""The command ``questions``: multiple-choice questions of SpatialGenEval and of the same form."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from spatialstudio.application.error_reports import EXIT_FAILURE
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.plugins import adapter_ids
from spatialstudio.application.questions.question_files import read_question_file
from spatialstudio.application.questions.question_folder import AskPlan, open_run
from spatialstudio.application.questions.question_report import (
    checked_questions,
    cost_row,
    leaderboard,
    question_report,
    run_report,
)
from spatialstudio.application.questions.question_run import RunProgress
from spatialstudio.application.questions.questions import questions_of
from spatialstudio.cli.drawing import add_extractor
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_command, add_judge_options, add_overwrite, judge_choice
from spatialstudio.cli.printing import show_json, show_lines, show_progress
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.multiple_choice import (
    ATTEMPTS_PER_ROLLOUT,
    MOST_ROLLOUTS,
    PUBLISHED_ASKING,
    PUBLISHED_RULES,
    AnswerCost,
    AskSettings,
    Price,
    QuestionState,
    VoteRules,
)
from spatialstudio.science.questions.spatialgeneval import set_row

NAME_WIDTH = 16
MOST_SCENES = 100_000
ROLLOUTS, VOTES = 5, 4
DATA_HELP = "your copy of the JSON lines of SpatialGenEval, or generated questions"
PUBLISHED_HELP = (
    "read the first character of each line, and leave out pictures without five valid rollouts, as "
    "published (default: they count as unanswered)"
)


def add_questions_options(parser: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    """Add the actions of ``questions``."""
    commands = parser.add_subparsers(dest="questions_command", required=True, metavar="COMMAND")
    add = partial(add_command, commands, parents=[shared])
    report = add(
        "report", "report accuracies of recorded answers, and the biases and defects of the data"
    )
    report.add_argument("data", type=Path, metavar="DATA", help=DATA_HELP)
    report.add_argument(
        "--rollouts", type=Path, metavar="FILE", help="recorded answers, JSON lines by id"
    )
    report.add_argument("--published", action="store_true", help=PUBLISHED_HELP)
    _add_defects(report)
    _add_ask(add("ask", "ask an answerer about pictures, or continue an interrupted run"))
    generate = add("generate", "render scenes of known content, and questions on them")
    generate.add_argument("count", type=int, metavar="COUNT", help="number of scenes")
    generate.add_argument(
        "--out", type=Path, metavar="DIR", required=True, help="folder of pictures and questions"
    )
    generate.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    add_overwrite(generate)
    write = add("write", "write questions on a prompt from its scene, or by a language model")
    write.add_argument("prompt", help='prompt, for example "a dog to the left of a car"')
    write.add_argument(
        "--writer", choices=adapter_ids("question_writer"), help="writer (default: the rules)"
    )
    write.add_argument(
        "--out", type=Path, metavar="FILE", help="JSON lines to edit, check and ask about"
    )
    add_overwrite(write)
    add_extractor(write)
    check = add("check", "compare questions with the scenes of their prompts")
    check.add_argument("data", type=Path, metavar="DATA", help=DATA_HELP)
    add_extractor(check)
    show = add("show", "show accuracies, biases and cost of a run")
    show.add_argument("folder", type=Path, metavar="DIR", help="folder of the run")
    compare = add("compare", "compare the accuracies of several runs, best first")
    compare.add_argument("folders", type=Path, nargs="+", metavar="DIR", help="folders of runs")


def _add_defects(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--without-defects", action="store_true", help="leave out questions with a defect"
    )


def _add_ask(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help=DATA_HELP)
    parser.add_argument(
        "pictures",
        type=Path,
        metavar="PICTURES",
        help="folder of the pictures of one method, named by the ids of the data: 000001.png",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="folder of the run")
    parser.add_argument("--method", default="", help="name of the method that drew the pictures")
    parser.add_argument(
        "--estimate", action="store_true", help="print the estimated cost, and ask nothing"
    )
    parser.add_argument("--no-cache", action="store_true", help="do not use replies of other runs")
    protocol = parser.add_argument_group("protocol")
    protocol.add_argument(
        "--published",
        action="store_true",
        help=f"options as listed, replies as lines; {PUBLISHED_HELP}",
    )
    protocol.add_argument("--no-shuffle", action="store_true", help="ask the options as listed")
    protocol.add_argument(
        "--single", action="store_true", help="send each question in a separate message"
    )
    protocol.add_argument("--blind", action="store_true", help="ask without the pictures")
    protocol.add_argument(
        "--votes",
        metavar="N/M",
        default=f"{VOTES}/{ROLLOUTS}",
        help="votes that an answer needs, of so many valid rollouts (default: %(default)s)",
    )
    protocol.add_argument("--temperature", type=float, help="sampling temperature (default: 1)")
    protocol.add_argument("--seed", type=int, default=0, help="seed of orders and replies")
    _add_defects(protocol)  # type: ignore[arg-type]  # a group adds arguments as a parser does
    price = parser.add_argument_group("price", "Price of a million tokens, to show the cost.")
    price.add_argument("--price-in", type=float, metavar="X", help="of messages and pictures")
    price.add_argument("--price-out", type=float, metavar="X", help="of replies")
    price.add_argument("--currency", default="USD", help="its currency (default: %(default)s)")
    add_judge_options(parser)


def questions(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Report on questions and answers, or ask."""
    match options.questions_command:
        case "ask":
            return _ask(options, open_studio)
        case "write":
            return _write(options, open_studio)
        case "check":
            return _check(options, open_studio)
        case "generate":
            return _generate(options, open_studio)
        case "show":
            plan, run = open_run(options.folder)
            _print(options, run_report(plan, run), _run_lines)
        case "compare":
            _print(options, {"methods": leaderboard(options.folders)}, _leaderboard_lines)
        case _:
            rules = PUBLISHED_RULES if options.published else VoteRules()
            rules = replace(rules, leaves_out_defects=options.without_defects)
            _print(options, question_report(options.data, options.rollouts, rules), _lines)
    return 0


def _ask(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    asking = questions_of(open_studio(None))
    answerer = asking.answerer(judge_choice(options), options.pictures)
    price = _price(options)
    plan = AskPlan(
        data=options.data,
        pictures=options.pictures,
        answerer_id=answerer.id,
        model_key=answerer.model_key,
        settings=_settings(options),
        method=options.method,
        price=price,
    )
    run = asking.begin(options.out, plan)
    if run.missing:
        show_progress(f"Note: {len(run.missing)} questions have no picture: {run.missing[0]} ...")
    show_progress(f"Estimated: {cost_in_words(run.estimate(), price)}")
    if options.estimate:
        _print(options, {"estimate": cost_row(run.estimate(), price)}, lambda _: ())
        return 0
    progress = asking.ask(run, answerer, CancelFlag(), is_cached=not options.no_cache)
    failed = _asked(progress, price)
    asking.finish(options.out)
    _print(options, run_report(plan, run), _run_lines)
    return EXIT_FAILURE if failed else 0


def _write(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    studio = open_studio(None)
    studio.extractor_id = options.extractor
    asking, scene = questions_of(studio), studio.parse_prompt(options.prompt)
    made = asking.write(scene, options.writer, CancelFlag())
    for note in made.notes:
        show_progress(f"Note: {note}")
    if options.out is not None:
        asking.store(options.out, [made.questions], overwrite=options.overwrite)
    _print(options, set_row(made.questions), _written_lines)
    return 0


def _written_lines(row: Mapping[str, Any]) -> Iterator[str]:
    listed = zip(row["question_type"], row["questions"], row["answers"], strict=True)
    for name, text, key in listed:
        yield f"{name}: {text} [{key}]"
    if not row["questions"]:
        yield "The prompt gives no question."


def _check(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    studio = open_studio(None)
    studio.extractor_id = options.extractor
    rows = checked_questions(read_question_file(options.data), studio.parse_prompt)
    _print(options, {"questions": rows}, _checked_lines)
    wrong = QuestionState.CONTRADICTS.value
    return EXIT_FAILURE if any(row["state"] == wrong for row in rows) else 0


def _checked_lines(report: Mapping[str, Any]) -> Iterator[str]:
    for row in report["questions"]:
        reason = f" ({row['reason']})" if row["reason"] else ""
        yield f"{row['id']} question {row['question']}: {row['state']}{reason}"


def _generate(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    if not 0 < options.count <= MOST_SCENES or options.seed < 0:
        raise SettingsError(
            "The number of scenes or the seed is out of range.",
            hint=f"Render 1 to {MOST_SCENES} scenes, with a seed of 0 or more.",
        )
    sets = questions_of(open_studio(None)).generate(
        options.out, options.count, options.seed, overwrite=options.overwrite
    )
    types = Counter(name for each in sets for name in each.types)
    report = {"folder": str(options.out), "scenes": len(sets), "questions": dict(types)}
    _print(options, report, _generated_lines)
    return 0


def _generated_lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"Wrote {report['scenes']} scenes and their questions to {report['folder']}"
    for name, count in report["questions"].items():
        yield f"  {name:{NAME_WIDTH}}{count}"


def _asked(progress: Iterator[RunProgress], price: Price | None) -> bool:
    """Print the progress; return whether pictures have failed."""
    failed: Mapping[str, str] = {}
    for each in progress:
        failed = each.failed
        left = cost_in_words(each.left, price)
        show_progress(
            f"{each.done}/{each.pictures} {cost_in_words(each.cost, price)}; left: {left}"
        )
    for set_id, message in failed.items():
        show_progress(f"{set_id}: {message}")
    return bool(failed)


def _settings(options: argparse.Namespace) -> AskSettings:
    votes, _, rollouts = options.votes.partition("/")
    if not (votes.isdecimal() and rollouts.isdecimal() and 0 < int(votes) <= int(rollouts)):
        raise SettingsError(
            f'The votes "{options.votes}" are invalid.', hint='Write them as "4/5".'
        )
    if int(rollouts) > MOST_ROLLOUTS or not 0 <= (options.temperature or 0) <= 2:  # noqa: PLR2004
        raise SettingsError(
            "The rollouts or the temperature are out of range.",
            hint=f"Choose at most {MOST_ROLLOUTS} rollouts, and a temperature from 0 to 2.",
        )
    base = PUBLISHED_ASKING if options.published else AskSettings()
    return replace(
        base,
        rules=replace(
            base.rules,
            rollouts=int(rollouts),
            attempts=ATTEMPTS_PER_ROLLOUT * int(rollouts),
            votes=int(votes),
            leaves_out_defects=options.without_defects,
        ),
        shuffles=base.shuffles and not options.no_shuffle,
        is_single=options.single,
        is_blind=options.blind,
        temperature=base.temperature if options.temperature is None else options.temperature,
        seed=options.seed,
    )


def _price(options: argparse.Namespace) -> Price | None:
    prices = [options.price_in, options.price_out]
    if all(each is None for each in prices):
        return None
    known = [each or 0.0 for each in prices]
    if not all(0 <= each < inf for each in known):
        raise SettingsError("The price is invalid.", hint="Pass the price of a million tokens.")
    return Price(per_million_in=known[0], per_million_out=known[1], currency=options.currency)


def _print(
    options: argparse.Namespace,
    report: Mapping[str, Any],
    in_lines: Callable[[Mapping[str, Any]], Iterable[str]],
) -> None:
    if options.json:
        show_json(report)
    else:
        show_lines(in_lines(report))


def cost_in_words(cost: AnswerCost, price: Price | None) -> str:
    """Return a cost: "5 replies, 6,000 + 400 tokens, 12 s, 0.02 USD"."""
    parts = [f"{cost.replies} {'reply' if cost.replies == 1 else 'replies'}"]
    if cost.tokens_in or cost.tokens_out:
        parts.append(f"{cost.tokens_in:,} + {cost.tokens_out:,} tokens")
    if cost.seconds:
        parts.append(f"{cost.seconds:.0f} s")
    if price is not None:
        parts.append(f"{cost.money(price):.4f} {price.currency}")
    if cost.cached:
        parts.append(f"{cost.cached} cached")
    if cost.failures:
        parts.append(f"{cost.failures} failed requests")
    return ", ".join(parts)


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"{report['pictures']} pictures, {report['questions']} questions"
    keys = ", ".join(f"{letter} {share:.1%}" for letter, share in report["keys"].items())
    yield f"keys: {keys}"
    yield "without the picture       single   voted    shuffled: single   voted"
    for name, scores in report["blind"].items():
        plain, mixed = scores["as listed"], scores["shuffled"]
        yield f"  {name:{NAME_WIDTH}}{_percent(plain)}{'':12}{_percent(mixed)}"
    yield f"defects: {len(report['defects'])}"
    for each in report["defects"]:
        yield f"  {each['id']} question {each['question']}: {each['defect']}"
    if answered := report.get("answered"):
        yield from _answered_lines(answered)


def _percent(scores: Sequence[float | None]) -> str:
    return "".join("       --" if score is None else f"{score:9.1%}" for score in scores)


def _answered_lines(answered: Mapping[str, Any]) -> Iterator[str]:
    unanswered = answered["unanswered"]
    yield f"{answered['pictures']} pictures counted, {unanswered} without enough answers"
    if answered["unknown"]:
        yield f"{answered['unknown']} recorded ids are not in the data"
    rows = {**answered["sub_domains"], **answered["domains"]}
    rows |= {name: answered[name] for name in ("basic", "spatial", "overall")}
    for name, value in rows.items():
        yield f"  {name:{NAME_WIDTH}}{_three_places(value)}"


def _three_places(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _run_lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"{report['method']}, answered by {report['answerer']}"
    if report["settings"]["is_blind"]:
        yield "asked without the pictures"
    yield from _answered_lines(report["answered"])
    biases = report["biases"]
    if not biases["answers"]:
        return
    for name in ("chosen", "keys"):
        shares = ", ".join(f"{letter} {share:.1%}" for letter, share in biases[name].items())
        yield f"{name}, as asked: {shares}"
    right = ", ".join(f"{key} {share:.1%}" for key, share in biases["right_by_key"].items())
    yield f"right by key: {right}"
    yield f"preference for letters: {biases['excess']:.1%} of the answers"
    longest, of_keys = biases["longest"], biases["longest_keys"]
    if longest is not None:
        yield f"longest option: chosen {longest:.1%}, key {of_keys:.1%}"
    if biases["agreement"] is not None:
        yield f"agreement between rollouts: {biases['agreement']:.1%}"
    yield f"answered None: {biases['abstained']:.1%}"
    if biases["right_chosen"] is not None:
        yield f"right where another option was chosen: {biases['right_chosen']:.1%}"


def _leaderboard_lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'method':{NAME_WIDTH}}overall  basic  spatial  unanswered"
    for row in report["methods"]:
        shown = [_three_places(row[name]) for name in ("overall", "basic", "spatial")]
        name = f"{row['method']} (blind)" if row["is_blind"] else row["method"]
        yield f"{name:{NAME_WIDTH}}{shown[0]:9}{shown[1]:7}{shown[2]:9}{row['unanswered']}"
