"""The folder of a run of questions: its settings, which never change, and its results.

settings.json    questions, pictures, answerer and settings
replies.jsonl    every reply and every failed request; see ``reply_journal``
answers.jsonl    for each picture its rollouts, votes and accuracies, as the published scripts
report.json      accuracies, biases and cost
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from hashlib import sha256
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

from spatialstudio.application.questions.question_files import MOST_BYTES, read_question_file
from spatialstudio.application.questions.question_run import AnsweredSet, QuestionRun
from spatialstudio.application.questions.reply_journal import ReplyJournal
from spatialstudio.domain.errors import SettingsError, StoreError, TargetExists
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import DOMAINS, AskSettings, Price, VoteRules
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited, read_regular
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID
from spatialstudio.science.questions.spatialgeneval import (
    letter_orders,
    listed_lines,
    read_rollout,
)

SETTINGS_FILE = "settings.json"
REPLIES_FILE = "replies.jsonl"
ANSWERS_FILE = "answers.jsonl"
REPORT_FILE = "report.json"
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff")
VERSION = 1

Write = Callable[[Path, bytes], None]
"""Writes a file atomically, with its folders."""
Kind = TypeVar("Kind", AskSettings, VoteRules)


@frozen
class AskPlan:
    """What a run asks.

    Attributes:
        data: The questions, JSON lines.
        pictures: Folder of the pictures, named by the ids of their questions.
        answerer_id: The answerer.
        model_key: Identifies the answerer's model.
        settings: How pictures are asked.
        method: Name of the method that drew the pictures, for comparisons.
        price: Price of the answerer's tokens; None if unknown.
    """

    data: Path
    pictures: Path
    answerer_id: str
    model_key: str
    settings: AskSettings
    method: str = ""
    price: Price | None = None


@frozen
class AskedFolder:
    """The files of a run of questions about one picture.

    Attributes:
        data: The questions.
        pictures: Folder of the picture.
        answers: Folder of the run.
    """

    data: Path
    pictures: Path
    answers: Path


def begin_run(folder: Path, plan: AskPlan, write: Write) -> QuestionRun:
    """Start a run, or continue the one in the folder.

    Raises:
        TargetExists: The folder holds a run with other questions, pictures or settings.
        StoreError: A file cannot be read or written.
        SettingsError: No picture has the id of a question.
    """
    run = _opened(folder, plan)
    if len(run.missing) == len(run.sets):
        raise SettingsError(
            f'No picture in "{plan.pictures}" belongs to a question.',
            hint=f'Name the pictures by the ids of the data, as "{run.sets[0].id}.png".',
        )
    content, path = _content_of(plan), folder / SETTINGS_FILE
    if path.exists() and _without_price(_read(path)) != _without_price(parse_limited(content)):
        raise TargetExists([path])
    write(path, content)
    return run


def open_run(folder: Path) -> tuple[AskPlan, QuestionRun]:
    """Open the run of a folder to read its answers.

    Raises:
        StoreError: The folder holds no run, or its questions are missing or have changed.
    """
    row = _read(folder / SETTINGS_FILE)
    try:
        price = row["price"]
        plan = AskPlan(
            data=Path(row["data"]),
            pictures=Path(row["pictures"]),
            answerer_id=str(row["answerer"]),
            model_key=str(row["model"]),
            method=str(row["method"]),
            settings=replace(
                _typed(AskSettings(), row["settings"]),
                rules=_typed(VoteRules(), row["settings"]["rules"]),
            ),
            price=Price(
                per_million_in=float(price["per_million_in"]),
                per_million_out=float(price["per_million_out"]),
                currency=str(price["currency"]),
            )
            if price
            else None,
        )
        is_changed = row["data_sha256"] != _hash_of(plan.data)
    except (ValueError, KeyError, TypeError) as error:
        raise _no_run(folder) from error
    if is_changed:
        raise StoreError(
            f'The questions in "{plan.data}" have changed since they were asked.',
            hint="Restore the file, or ask again into another folder.",
        )
    return plan, _opened(folder, plan)


def _opened(folder: Path, plan: AskPlan) -> QuestionRun:
    return QuestionRun(
        ReplyJournal(folder / REPLIES_FILE),
        read_question_file(plan.data),
        pictures_by_id(plan.pictures),
        plan.settings,
        plan.model_key,
        has_tokens=plan.answerer_id != PERCEPTION_ID,
    )


def pictures_by_id(folder: Path) -> Mapping[str, Path]:
    """Return the pictures of a folder by name without suffix.

    The published scripts assign pictures by the order of their names, so that a missing or
    additional file shifts all others; here only equal names belong together.

    Raises:
        StoreError: The folder cannot be read, or two pictures have the same name.
    """
    found: dict[str, Path] = {}
    try:
        files = sorted(folder.iterdir())
    except OSError as error:
        raise StoreError(
            f'The folder "{folder}" cannot be read.', hint="Choose the folder of the pictures."
        ) from error
    for path in files:
        if path.suffix.lower() in PICTURE_SUFFIXES and not path.name.startswith("."):
            if path.stem in found:
                raise StoreError(
                    f'"{found[path.stem].name}" and "{path.name}" have the same name.',
                    hint="Keep one picture for each id.",
                )
            found[path.stem] = path
    return found


def write_answers(folder: Path, run: QuestionRun, report: Mapping[str, Any], write: Write) -> None:
    """Write the answers in the published form, and the report.

    Raises:
        StoreError: The folder cannot be written.
    """
    lines = [json.dumps(_answer_row(item, run.settings)) + "\n" for item in run.items()]
    write(folder / ANSWERS_FILE, "".join(lines).encode())
    write(folder / REPORT_FILE, json.dumps(report, indent=1).encode())


def _answer_row(item: AnsweredSet, settings: AskSettings) -> Mapping[str, Any]:
    """Return the line of a picture, with the letters as listed in the data."""
    questions, voted = item.questions, item.voted
    texts = [
        listed_lines(text, letter_orders(questions, number, settings.seed))
        if settings.shuffles
        else text
        for number, text in enumerate(item.attempts)
    ]
    right = [each is True for each in voted.is_right]
    basic = [value for name, value in zip(voted.types, right, strict=True) if _is_basic(name)]
    spatial = [value for name, value in zip(voted.types, right, strict=True) if not _is_basic(name)]
    return {
        "id": questions.id,
        "scene": questions.scene,
        "avg_acc": f"{sum(right)}/{len(right)}",
        "basic_acc": mean(map(float, basic)) if basic else None,
        "spatial_acc": mean(map(float, spatial)) if spatial else None,
        "image_path": item.picture.name if item.picture else None,
        "prompt": questions.prompt,
        "question_type": list(voted.types),
        "questions": [each.text for each in questions.questions],
        "answers": [each.key for each in questions.questions],
        "model_preds": list(voted.chosen),
        "true-or-false": right,
        "model_preds_cot": [
            text.split("\n") for text in texts if read_rollout(text, settings.rules, len(right))
        ],
        "attempts": texts,
    }


def _is_basic(name: str) -> bool:
    return name in DOMAINS["Foundations"]


def _content_of(plan: AskPlan) -> bytes:
    row = {
        "version": VERSION,
        "data": str(plan.data.resolve()),
        "data_sha256": _hash_of(plan.data),
        "pictures": str(plan.pictures.resolve()),
        "answerer": plan.answerer_id,
        "model": plan.model_key,
        "method": plan.method or plan.pictures.resolve().name,
        "settings": asdict(plan.settings),
        "price": asdict(plan.price) if plan.price else None,
    }
    return json.dumps(row, indent=1).encode()


def _hash_of(path: Path) -> str:
    try:
        return sha256(read_regular(path, MOST_BYTES)).hexdigest()
    except OSError as error:
        raise StoreError(
            f'"{path}" cannot be read.', hint="Choose the JSON lines of the data."
        ) from error


def _without_price(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in row.items() if name != "price"}


def _read(path: Path) -> Mapping[str, Any]:
    try:
        row = parse_limited(read_regular(path, MEBIBYTE))
    except (OSError, ValueError) as error:
        raise _no_run(path.parent) from error
    if not isinstance(row, dict):
        raise _no_run(path.parent)
    return row


def _typed(default: Kind, row: Mapping[str, Any]) -> Kind:
    """Return settings with the values of a row that have the types of the defaults.

    Raises:
        TypeError: A value has another type.
    """
    values = {}
    for each in fields(default):
        known = getattr(default, each.name)
        if each.name in row and not isinstance(known, VoteRules):
            if type(row[each.name]) is not type(known):
                raise TypeError(each.name)
            values[each.name] = row[each.name]
    return replace(default, **values)


def _no_run(folder: Path) -> StoreError:
    return StoreError(
        f'The folder "{folder}" contains no answers to questions.',
        hint='Create them with "spatialstudio questions ask".',
    )
