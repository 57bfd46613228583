"""The plugin interface: the ``Plugin`` value, and the types and registries that plugins use.

A plugin is an installed package with an entry point in the group ``spatialstudio.adapters`` whose
object is a ``Plugin``::

    [project.entry-points."spatialstudio.adapters"]
    my-plugin = "my_plugin:PLUGIN"

The object is loaded at the start of the window, the terminal and the engine process: importing it
must be fast and must not load torch. Adapters and panels are given as "module:function" and
"module:Class", and are imported on first use. A panel also imports
``spatialstudio.ui.framework.panel_api``; no other module of the program is stable.

Names may be added within an ``API_VERSION``; when one is removed or changes its meaning, the
version is incremented and plugins for earlier versions are disabled with a message.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from spatialstudio.domain.arrays import BoolMask, FloatMap, RgbImage
from spatialstudio.domain.assertion import Assertions, QuestionAnswer
from spatialstudio.domain.errors import (
    Cancelled,
    DetectorError,
    EmptyMapError,
    ExportError,
    PluginError,
    PromptError,
    SettingsError,
    StudioError,
)
from spatialstudio.domain.export import (
    ExportedRun,
    ExportFile,
    ExportKind,
    ExportLayer,
    ExportLook,
    LookOption,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings, StepUnit
from spatialstudio.domain.metric import Figures, Metric, RelationAnswer, Row, relation_values
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.domain.ports import (
    AdapterEntry,
    AssertionReader,
    CancellableExtractor,
    CancelToken,
    DepthEstimator,
    Detector,
    QuestionAnswerer,
    RelationExtractor,
    Seen,
    Segmenter,
    Surroundings,
)
from spatialstudio.domain.registrations import Registrations
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    ABOVE_RIGHT_OF,
    BEHIND,
    BELOW,
    BELOW_LEFT_OF,
    BELOW_RIGHT_OF,
    BETWEEN,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    Axis,
    AxisClaim,
    MentionId,
    Note,
    ObjectMention,
    Prompt,
    Relation,
    RelationId,
    RelationType,
    SceneGraph,
    Shape,
    TextSpan,
    free_mention_id,
    relation_types,
)
from spatialstudio.domain.verdict import (
    Box,
    DepthMap,
    Detection,
    Evaluation,
    Mask,
    Outcome,
    Perception,
    Verdict,
)
from spatialstudio.science.guidance.method import ANY_FAMILY, GuidanceMethod
from spatialstudio.science.pos.superiority import can_guide, marginal, relation_pos

if TYPE_CHECKING:
    from spatialstudio.science.guidance.losses import GuidanceLoss
    from spatialstudio.science.pos.attention_maps import WordAttention

API_VERSION = 1
"""Version of this module; a plugin states the version that it was written for."""

WORKSPACES = ("generate", "inspect", "evaluate", "benchmark", "audit", "gallery")
"""Workspaces in which a panel can be docked."""
AREAS = ("left", "right", "bottom")
"""Dock areas of a workspace."""
ADAPTER_KINDS = ("extractor", "detector", "segmenter", "depth", "answerer", "assertion_reader")
"""The kinds of adapters that a plugin can add."""
USUAL_SIZE_EM = 19.0
_HOLDING_TORCH = {
    "GuidanceLoss": "spatialstudio.science.guidance.losses",
    "WordAttention": "spatialstudio.science.pos.attention_maps",
}
"""Names whose import loads torch: for type checkers, and for imports inside functions."""


def __getattr__(name: str) -> object:
    if name in _HOLDING_TORCH:
        return getattr(import_module(_HOLDING_TORCH[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@frozen
class PanelEntry:
    """A panel docked in a workspace of the window.

    Attributes:
        id: Unique among all docks; used in stored layouts.
        title: Title of the dock and of its menu item.
        make: "module:Class", imported when the window creates its docks: a ``Panel`` of
            ``spatialstudio.ui.framework.panel_api``, called with its ``WindowContext``.
        workspace: One of ``WORKSPACES``.
        area: One of ``AREAS``; the dock is tabbed with other docks in the area.
        size_em: Width in side areas, height at the bottom, in units of the font size.

    Raises:
        ValueError: The workspace or the area is unknown.
    """

    id: str
    title: str
    make: str
    workspace: str
    area: str = "right"
    size_em: float = USUAL_SIZE_EM

    def __post_init__(self) -> None:
        for value, known in ((self.workspace, WORKSPACES), (self.area, AREAS)):
            if value not in known:
                raise ValueError(f'"{value}" is not one of {", ".join(known)}.')


@frozen
class Plugin:
    """The extensions that a package adds to the program; the object of its entry point.

    All ids consist of lower-case letters, digits, ".", "_" and "-", and must be unique; if one is
    taken, the whole plugin is disabled.

    Attributes:
        name: Display name, in ``spatialstudio doctor`` and in the settings.
        api_version: The ``API_VERSION`` that it was written for.
        relation_types: The inverse of each must be registered, here or in the program.
        guidance_methods: Their losses are imported by their ``make_loss`` functions.
        metrics: Computed by ``spatialstudio evaluate`` and listed in the window.
        export_kinds: Available in ``spatialstudio runs export`` and in the export dialog.
        adapters: Adapters of the ``ADAPTER_KINDS``, selected by id like the built-in ones.
        panels: Docks of the window.
    """

    name: str
    api_version: int
    relation_types: tuple[RelationType, ...] = ()
    guidance_methods: tuple[GuidanceMethod, ...] = ()
    metrics: tuple[Metric, ...] = ()
    export_kinds: tuple[ExportKind, ...] = ()
    adapters: tuple[AdapterEntry, ...] = ()
    panels: tuple[PanelEntry, ...] = ()


__all__ = [
    "ABOVE",
    "ABOVE_LEFT_OF",
    "ABOVE_RIGHT_OF",
    "ADAPTER_KINDS",
    "ANY_FAMILY",
    "API_VERSION",
    "AREAS",
    "BEHIND",
    "BELOW",
    "BELOW_LEFT_OF",
    "BELOW_RIGHT_OF",
    "BETWEEN",
    "FAR_FROM",
    "IN_FRONT_OF",
    "LEFT_OF",
    "NEAR",
    "RIGHT_OF",
    "WORKSPACES",
    "AdapterEntry",
    "AssertionReader",
    "Assertions",
    "Axis",
    "AxisClaim",
    "BoolMask",
    "Box",
    "CancelToken",
    "CancellableExtractor",
    "Cancelled",
    "DepthEstimator",
    "DepthMap",
    "Detection",
    "Detector",
    "DetectorError",
    "EmptyMapError",
    "Evaluation",
    "ExportError",
    "ExportFile",
    "ExportKind",
    "ExportLayer",
    "ExportLook",
    "ExportedRun",
    "Figures",
    "FloatMap",
    "GuidanceLoss",
    "GuidanceMethod",
    "GuidanceSettings",
    "LookOption",
    "Mask",
    "MentionId",
    "Metric",
    "Note",
    "ObjectMention",
    "Option",
    "OptionKind",
    "Outcome",
    "PanelEntry",
    "Perception",
    "Plugin",
    "PluginError",
    "Preset",
    "Prompt",
    "PromptError",
    "QuestionAnswer",
    "QuestionAnswerer",
    "Registrations",
    "Relation",
    "RelationAnswer",
    "RelationExtractor",
    "RelationId",
    "RelationType",
    "RgbImage",
    "Row",
    "SceneGraph",
    "Seen",
    "Segmenter",
    "SettingsError",
    "Shape",
    "StepUnit",
    "StudioError",
    "Surroundings",
    "TextSpan",
    "Verdict",
    "WordAttention",
    "can_guide",
    "free_mention_id",
    "frozen",
    "marginal",
    "relation_pos",
    "relation_types",
    "relation_values",
]
