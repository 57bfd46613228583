"""The guidance methods. Every module of this folder registers one as its constant ``METHOD``."""

from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules

from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.registrations import Registrations
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.science.guidance.method import GuidanceMethod


def _built_in() -> Iterator[GuidanceMethod]:
    for module in iter_modules(__path__, f"{__name__}."):
        yield import_module(module.name).METHOD


GUIDANCE_METHODS = Registrations("guidance method", sorted(_built_in(), key=attrgetter("order")))
"""All guidance methods in the order in which they are offered: built-in, then those of plugins."""


def has_work(scene: SceneGraph, method_id: str) -> bool:
    """Tell whether a method finds anything to guide in a scene with mentions."""
    needs_none = method_id in GUIDANCE_METHODS and not GUIDANCE_METHODS[method_id].needs_relations
    return needs_none or any(relation.is_guided for relation in scene.relations)


def reads_after(settings: GuidanceSettings) -> bool:
    """Tell whether a guided step ends with a pass on the latents that its updates have moved."""
    method_id = settings.method_id
    corrects = method_id in GUIDANCE_METHODS and GUIDANCE_METHODS[method_id].corrects_prediction
    return not (corrects or settings.reuses_prediction)
