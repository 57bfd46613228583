"""What a panel is, built-in or plugin, and what it may use of the window around it.

With ``spatialstudio.plugin_api`` this is all that a plugin imports: the names in ``__all__``.
"""

from collections.abc import Iterable
from typing import ClassVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

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
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.texts import tr

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
    """All that a panel may use; each window makes one.

    Attributes:
        studio: Asked for everything; ``studio.session`` is what is open and selected.
        theme: Colours, icons, and word of their change.
        settings: What is kept between starts.
        actions: A panel binds the commands that it carries out.
        edits: Every edit goes through here, so that it can be undone.
        toasts: News, offers and problems.
        stage: Layers, zoom and overlays of the picture.
        maps: Which attention maps lie on it, and how they are drawn.
        window_signals: Requests to other panels.
        judgement: Which evidence is lit, and what is tried otherwise.
        gallery: What is chosen among the kept runs.
        reading: Reads files outside the GUI thread.
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

    @classmethod
    def of(
        cls, studio: Studio, theme: Theme, settings: WindowSettings, commands: Iterable[Command]
    ) -> "WindowContext":
        """Return the context of a new window."""
        edits = Edits()
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
        )


class Panel(QWidget):
    """Part of a dock with a purpose: builds widgets, connects them, translates events.

    Emits ``problem_met`` with an ``ErrorReport`` when what the user asked for cannot be done.
    """

    title: ClassVar[str] = ""
    problem_met = Signal(object)

    def handle(self, event: object) -> None:
        """Follow an event of the studio, on the GUI thread; returns at once.

        A panel that is made late is first told how things stand, by the same events.

        Args:
            event: Any event of the bus; what is of no interest is let pass.
        """

    def use_density(self, density: Density) -> None:
        """Show what this density wants; also called once when the panel is taken in."""
