"""Extent and engines of the last benchmark run, remembered between starts of the window."""

import json
from contextlib import suppress
from pathlib import Path

from spatialstudio.application.benchmark.background_run import RunOrder
from spatialstudio.application.benchmark.executors import EnginePlan, Executor
from spatialstudio.ui.framework.window_settings import WindowSettings


def remember_run(settings: WindowSettings, order: RunOrder) -> None:
    """Store extent and engines of a run that began."""
    engines = order.engines
    settings.benchmark_run = json.dumps(
        {
            "folder": str(order.folder),
            "choose": order.choose,
            "executor": engines.executor.value,
            "address": engines.address,
            "workers": engines.workers,
            "devices": engines.devices,
        }
    )


def remembered_run(settings: WindowSettings) -> RunOrder | None:
    """Return the last run; None if there is none, or what is stored is damaged."""
    with suppress(ValueError, KeyError, TypeError):
        known = json.loads(settings.benchmark_run)
        engines = EnginePlan(
            executor=Executor(known["executor"]),
            address=str(known["address"]),
            workers=int(known["workers"]),
            devices=tuple(map(str, known["devices"])),
        )
        return RunOrder(folder=Path(known["folder"]), engines=engines, choose=str(known["choose"]))
    return None
