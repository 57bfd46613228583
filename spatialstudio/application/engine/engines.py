"""Which engine works for a studio; where the models run is loaded when the work begins."""

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from spatialstudio.application.engine.process import ProcessEngine
from spatialstudio.application.jobs.messages import Engine
from spatialstudio.domain.ports import Surroundings

if TYPE_CHECKING:
    from spatialstudio.application.engine.worker import ModelService

EngineKind: TypeAlias = Literal["process", "inline"]


def open_engine(kind: EngineKind, surroundings: Surroundings) -> Engine:
    """Return an engine that is not started yet.

    Args:
        kind: "process" for the window, "inline" for the terminal and scripts.
        surroundings: What its adapters may use.
    """
    build = partial(_build, surroundings)
    if kind == "process":
        return ProcessEngine(build)
    from spatialstudio.application.engine.inline import InlineEngine

    return InlineEngine(build)


def _build(surroundings: Surroundings) -> "ModelService":
    from spatialstudio.application.engine.model_service import build_model_service

    return build_model_service(surroundings)
