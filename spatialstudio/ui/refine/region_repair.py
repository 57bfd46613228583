"""Redraws a region of the open picture that the user draws."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from spatialstudio.application.run.choose_settings import any_seed
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.repair import Region
from spatialstudio.domain.scene import MentionId
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.refine import commands
from spatialstudio.ui.refine.repair_dialog import RepairDialog
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.texts import tr

MIDDLE = Region(x=0.3, y=0.3, width=0.4, height=0.4)
"""Region of an object whose place is unknown."""


class RegionRepair(QObject):
    """Opens the dialog of a local repair, and adds the repair to the queue.

    Args:
        context: Services of the window; its command is bound.
        parent: Owner; the dialog belongs to its window.
    """

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._studio = context.studio
        self._parent = parent
        context.actions.bind(commands.REDRAW_REGION, self.ask)

    def can_redraw(self, run: OpenRun | None) -> bool:
        """Return True for a finished picture of the studio whose prompt names an object."""
        is_drawn = run is not None and run.is_over and run.request is not None
        return is_drawn and run is not None and run.image is not None and bool(run.scene.mentions)

    def ask(self) -> None:
        """Open the dialog for the open picture."""
        run = self._studio.session.run
        if run is None or run.image is None:
            return
        objects = [(str(each.id), each.phrase) for each in run.scene.mentions]
        image = rgb_image(run.image)
        dialog = RepairDialog(self._context.theme, image, objects, self._parent.window())
        dialog.object_picked.connect(lambda name: self._suggest(dialog, run, MentionId(name)))
        dialog.asked.connect(lambda: self._begin(dialog, run))
        self._suggest(dialog, run, None)
        dialog.open()

    def _suggest(self, dialog: RepairDialog, run: OpenRun, mention_id: MentionId | None) -> None:
        """Show the region that the verdicts suggest for an object, or for the one that failed."""
        try:
            plan = self._studio.storage.repairs.plan(run, mention_id)
        except StudioError:  # not judged, or nothing failed
            dialog.show_object(mention_id or run.scene.mentions[0].id, [MIDDLE])
        else:
            dialog.show_object(plan.mention_id, plan.regions)

    def _begin(self, dialog: RepairDialog, run: OpenRun) -> None:
        repairs = self._studio.storage.repairs
        try:
            plan = repairs.plan_in(run, dialog.regions, MentionId(dialog.object_id))
            model = self._studio.model(run.model_id)
            seed = any_seed() if dialog.has_other_noise else None
            self._studio.queue.add(repairs.request(run, plan, model, seed=seed))
        except StudioError as error:
            dialog.show_problem(f"{tr(error.message)} {tr(error.hint)}")
            return
        dialog.accept()
