"""The command ``models``: list, download, verify and remove models."""

import argparse
import getpass
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spatialstudio.application.error_reports import EXIT_FAILURE
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.models.downloads import result_of_check
from spatialstudio.application.models.machine_memory import (
    MachineMemory,
    fit_in_words,
    fit_of,
    needed_bytes,
    this_machine,
)
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_command
from spatialstudio.cli.printing import ProgressBar, show_json, show_lines, show_progress
from spatialstudio.domain.devices import size_in_words
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.hub import (
    MAIN_REVISION,
    CatalogueEntry,
    DownloadPlan,
    InstalledModel,
    ModelHub,
    ModelTask,
    UnfinishedDownload,
)

ID_WIDTH, SIZE_WIDTH = 24, 10
ID_HELP = 'catalogue id, or a repository on the hub, for example "maker/model"'


def add_models_options(parser: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    """Add the actions of the command ``models``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = add_command(actions, "list", "list recommended and installed models", parents=[shared])
    tasks = [task.value for task in ModelTask if task is not ModelTask.UNKNOWN]
    listed.add_argument("--task", choices=tasks, help="only recommended models for this task")
    get = add_command(actions, "get", "download models, or resume a download", parents=[shared])
    get.add_argument("ids", nargs="+", metavar="ID", help=ID_HELP)
    get.add_argument(
        "--revision",
        default=MAIN_REVISION,
        metavar="NAME",
        help="branch, tag or commit (default: %(default)s)",
    )
    get.add_argument(
        "--dry-run", action="store_true", help="show size, space and licence, and download nothing"
    )
    remove = add_command(actions, "remove", "delete a downloaded model", parents=[shared])
    remove.add_argument("id", metavar="ID", help="id of an installed or unfinished model")
    check = add_command(actions, "check", "verify sizes and hashes of a model", parents=[shared])
    check.add_argument("id", metavar="ID", help="id of an installed model")
    token = add_command(
        actions,
        "token",
        "store the hub's token, typed or from standard input, in the system keyring",
        parents=[shared],
    )
    token.add_argument("--delete", action="store_true", help="delete the stored token")
    folder = add_command(
        actions, "folder", "add the models of ComfyUI or AUTOMATIC1111", parents=[shared]
    )
    folder.add_argument(
        "path",
        type=Path,
        metavar="PATH",
        help="main folder of the program, or its extra_model_paths.yaml",
    )


def models(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Run an action of the command."""
    return ACTIONS[options.action](options, open_studio(None).hub)


def _list(options: argparse.Namespace, hub: ModelHub) -> int:
    installed, unfinished = hub.installed(), hub.unfinished()
    present = {model.id for model in installed}
    wanted = [each for each in hub.catalogue if options.task in (None, each.task.value)]
    memory = this_machine()
    if options.json:
        show_json(
            {
                "machine": asdict(memory),
                "recommended": [
                    {**_entry_answer(each, present), **_fit_answer(each, None, memory)}
                    for each in wanted
                ],
                "installed": [
                    {**_model_answer(each), **_fit_answer(None, each, memory)} for each in installed
                ],
                "unfinished": [_unfinished_answer(each) for each in unfinished],
            }
        )
    else:
        show_lines(_list_lines(wanted, installed, unfinished, memory))
    return 0


def _get(options: argparse.Namespace, hub: ModelHub) -> int:
    """Show all plans, then download one model after the other."""
    plans = [hub.plan(name, options.revision) for name in dict.fromkeys(options.ids)]
    answers = []
    for plan in plans if not options.json else ():
        show_lines(_plan_lines(plan))
    for plan in plans:
        folder = plan.folder if options.dry_run else _downloaded(plan, hub)
        answers.append(
            _plan_answer(plan) | {"folder": str(folder), "downloaded": not options.dry_run}
        )
        if not options.json and not options.dry_run:
            show_lines([f"{plan.repository} is complete and verified, in {folder}"])
    if options.json:
        show_json(answers[0] if len(answers) == 1 else {"models": answers})
    return 0


def _downloaded(plan: DownloadPlan, hub: ModelHub) -> Path:
    """Download a model with a progress bar, and return its folder."""
    bar = ProgressBar()
    try:
        return hub.download(plan, bar.apply_event, CancelFlag())
    finally:
        bar.clear()


def _remove(options: argparse.Namespace, hub: ModelHub) -> int:
    repositories = {each.id: each.repository for each in hub.catalogue}
    repository = repositories.get(options.id, options.id)
    if repository in {each.repository for each in hub.unfinished()}:
        hub.discard(repository)
        freed = 0
    else:
        freed = hub.remove(options.id)
    if options.json:
        show_json({"id": options.id, "freed_bytes": freed})
    else:
        show_lines([f"Deleted {options.id}" + (f", {size_in_words(freed)}" if freed else "")])
    return 0


def _check(options: argparse.Namespace, hub: ModelHub) -> int:
    checked = hub.check(options.id)
    damaged = [each for each in checked if each.problem]
    if options.json:
        problems = [{"file": each.name, "problem": each.problem} for each in damaged]
        show_json({"id": options.id, "files": len(checked), "problems": problems})
    else:
        show_lines([result_of_check(options.id, checked)])
    return EXIT_FAILURE if damaged else 0


def _token(options: argparse.Namespace, hub: ModelHub) -> int:
    """Read the token from the terminal or from standard input; it is never an argument."""
    token = ""
    if not options.delete:
        show_progress("Paste a token of https://huggingface.co/settings/tokens:")
        is_terminal = sys.stdin is not None and sys.stdin.isatty()
        token = (getpass.getpass("") if is_terminal else sys.stdin.readline()).strip()
        if not token:
            raise SettingsError("There is no token.", hint="Paste it, or pipe it to the command.")
    hub.store_token(token)
    words = "The token is stored in the system keyring" if token else "The token is deleted"
    if options.json:
        show_json({"has_token": hub.has_token()})
    else:
        show_lines([words])
    return 0


def _folder(options: argparse.Namespace, hub: ModelHub) -> int:
    found = [str(each) for each in hub.use_folder(options.path.absolute())]
    if options.json:
        show_json({"folders": found})
    else:
        show_lines(f"Added {each}" for each in found)
    return 0


ACTIONS: Mapping[str, Callable[[argparse.Namespace, ModelHub], int]] = {
    "list": _list,
    "get": _get,
    "remove": _remove,
    "check": _check,
    "token": _token,
    "folder": _folder,
}


def _list_lines(
    wanted: list[CatalogueEntry],
    installed: tuple[InstalledModel, ...],
    unfinished: tuple[UnfinishedDownload, ...],
    memory: MachineMemory,
) -> Iterator[str]:
    present = {model.id for model in installed}
    if memory.words:
        yield f"This machine: {memory.words}"
    yield "Recommended (the hub states the size: models get ID --dry-run)"
    for entry in wanted:
        marks = [f"{entry.memory_gb} GB memory", entry.licence]
        marks += ["requires a token"] if entry.is_gated else []
        marks += ["installed"] if entry.repository in present else []
        marks += filter(None, [fit_in_words(needed_bytes(entry, None), memory)])
        yield f"  {entry.id:{ID_WIDTH}}{entry.task.value:{SIZE_WIDTH}}{', '.join(marks)}"
    yield "Installed" if installed else "Nothing is installed"
    for model in installed:
        size = size_in_words(model.size_bytes)
        words = fit_in_words(needed_bytes(None, model), memory)
        facts = (model.id, model.origin.value, str(model.folder), words)
        yield f"  {size:>{SIZE_WIDTH}}  {', '.join(filter(None, facts))}"
    if unfinished:
        yield "Unfinished (resume with models get, delete with models remove)"
    for each in unfinished:
        done = size_in_words(each.done_bytes)
        total = f" of {size_in_words(each.total_bytes)}" if each.total_bytes else ""
        yield f"  {done:>{SIZE_WIDTH}}{total}  {each.repository}"


def _plan_lines(plan: DownloadPlan) -> Iterator[str]:
    yield f"Model     {plan.repository}, revision {plan.revision} ({plan.commit})"
    yield f"Licence   {plan.licence or 'not stated'}, {plan.licence_url}"
    yield (
        f"Size      {size_in_words(plan.total_bytes)} in {len(plan.files)} files, "
        f"{size_in_words(plan.missing_bytes)} to download"
    )
    yield f"Free      {size_in_words(plan.free_bytes)}"


def _plan_answer(plan: DownloadPlan) -> dict[str, Any]:
    return {
        "repository": plan.repository,
        "revision": plan.revision,
        "commit": plan.commit,
        "licence": plan.licence,
        "licence_url": plan.licence_url,
        "gated": plan.is_gated,
        "total_bytes": plan.total_bytes,
        "missing_bytes": plan.missing_bytes,
        "free_bytes": plan.free_bytes,
        "files": [{"name": each.name, "bytes": each.size_bytes} for each in plan.files],
    }


def _entry_answer(entry: CatalogueEntry, present: set[str]) -> Mapping[str, Any]:
    return {
        "id": entry.id,
        "title": entry.title,
        "task": entry.task.value,
        "repository": entry.repository,
        "licence": entry.licence,
        "licence_url": entry.licence_url,
        "memory_gb": entry.memory_gb,
        "gated": entry.is_gated,
        "steps": entry.steps,
        "size": entry.size,
        "guidance_scale": entry.guidance_scale,
        "installed": entry.repository in present,
    }


def _fit_answer(
    entry: CatalogueEntry | None, model: InstalledModel | None, memory: MachineMemory
) -> Mapping[str, Any]:
    needed = needed_bytes(entry, model)
    return {"fit": fit_of(needed, memory).value, "fit_reason": fit_in_words(needed, memory)}


def _model_answer(model: InstalledModel) -> Mapping[str, Any]:
    return {
        "id": model.id,
        "folder": str(model.folder),
        "bytes": model.size_bytes,
        "origin": model.origin.value,
        "revision": model.revision,
        "architecture": model.architecture,
    }


def _unfinished_answer(each: UnfinishedDownload) -> Mapping[str, Any]:
    return {
        "repository": each.repository,
        "revision": each.revision,
        "done_bytes": each.done_bytes,
        "total_bytes": each.total_bytes,
    }
