"""The panel base class and the parts of the window that a panel may use.

With ``spatialstudio.plugin_api`` this is all that a plugin imports: the names in ``__all__``.
"""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from spatialstudio.application.benchmark.monitor import BenchmarkMonitor
from spatialstudio.application.session import (
    BaselineChanged,
    MentionPicked,
    OpenRun,
    RelationPicked,
    RunChanged,
    RunState,
    SceneChanged,
    StepPicked,
)
from spatialstudio.application.studio import Studio
from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.framework.actions import Actions
from spatialstudio.ui.framework.command import Command
from spatialstudio.ui.framework.file_reading import FileReading
from spatialstudio.ui.framework.gallery_selection import GalleryView
from spatialstudio.ui.framework.map_view import MapView
from spatialstudio.ui.framework.selected_evidence import SelectedEvidence
from spatialstudio.ui.framework.stage_view import StageView
from spatialstudio.ui.framework.toasts import Toasts
from spatialstudio.ui.framework.undo import Edits
from spatialstudio.ui.framework.window_settings import Density, WindowSettings
from spatialstudio.ui.framework.window_signals import WindowSignals
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

__all__ = [
    "BaselineChanged",
    "MentionPicked",
    "OpenRun",
    "Panel",
    "RelationPicked",
    "RunChanged",
    "RunState",
    "SceneChanged",
    "StepPicked",
    "TextLabel",
    "Tone",
    "WindowContext",
    "em",
    "tr",
]


@frozen(eq=False)
class WindowContext:
    """Services that a panel may use; one per window.

    Attributes:
        studio: The application; ``studio.session`` is what is open and selected.
        theme: Colours, icons and a signal when they change.
        settings: Persistent window settings.
        actions: Commands; a panel binds the ones it implements.
        edits: The undo stack; every edit goes through it.
        toasts: Messages to the user.
        stage: Layers, zoom and overlays of the picture.
        maps: Which attention maps are shown, and how.
        window_signals: Requests to other panels.
        judgement: Highlighted evidence and trial settings.
        gallery: Selection among the stored runs.
        reading: Reads files outside the GUI thread.
        benchmark: The open benchmark; it outlives a rebuild of the panels.
    """

    studio: Studio
    theme: Theme
    settings: WindowSettings
    actions: Actions
    edits: Edits
    toasts: Toasts
    stage: StageView
    maps: MapView
    window_signals: WindowSignals
    judgement: SelectedEvidence
    gallery: GalleryView
    reading: FileReading
    benchmark: BenchmarkMonitor

    @classmethod
    def of(
        cls,
        studio: Studio,
        theme: Theme,
        settings: WindowSettings,
        commands: Iterable[Command],
        benchmark: BenchmarkMonitor | None = None,
    ) -> "WindowContext":
        """Return the context of a new window; ``benchmark`` is what an earlier one had open."""
        edits = Edits()
        open_own = partial(Studio.open, "inline", studio.paths)
        return cls(
            studio=studio,
            theme=theme,
            settings=settings,
            actions=Actions(theme, settings, commands),
            edits=edits,
            toasts=Toasts(),
            stage=StageView(),
            maps=MapView(),
            window_signals=WindowSignals(),
            judgement=SelectedEvidence(edits),
            gallery=GalleryView(),
            reading=FileReading(lambda: studio.storage.reading),
            benchmark=benchmark or BenchmarkMonitor(open_own, studio.bus.publish),
        )


class Panel(QWidget):
    """Content of a dock: builds widgets, connects them, translates events.

    Emits ``problem_met`` with an ``ErrorReport`` when a user request fails.
    """

    title: ClassVar[str] = ""
    problem_met = Signal(object)

    def handle(self, event: object) -> None:
        """Handle an event of the studio on the GUI thread; return at once.

        A panel that is created late first receives events that describe the current state.

        Args:
            event: Any event of the bus; ignore irrelevant ones.
        """

    def use_density(self, density: Density) -> None:
        """Adapt to the density; also called once when the panel is added."""
