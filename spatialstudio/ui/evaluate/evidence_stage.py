"""Shows evidence on the stage and turns the user's changes there into trials."""

from PySide6.QtCore import QObject

from spatialstudio.application.evaluate.adjusting import thresholds_of
from spatialstudio.ui.evaluate.evidence_presenter import detection_of, evidence_scene
from spatialstudio.ui.evaluate.selected_verdict import VerdictSelection
from spatialstudio.ui.evaluate.widgets.evidence_marks import NOTHING
from spatialstudio.ui.evaluate.widgets.evidence_overlay import EvidenceOverlay
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.stage.stage_presenter import shows_result
from spatialstudio.ui.widgets.texts import tr

DECIMALS = 3


class EvidenceStage(QObject):
    """Updates the evidence overlay of one stage.

    Args:
        context: Services of the window.
    """

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._stage = context.stage
        self._judgement = context.judgement
        self._verdict_selection = VerdictSelection(context)
        self.overlay = EvidenceOverlay(context.theme)
        self.overlay.setParent(self)
        self.overlay.margin_picked.connect(self._try_margin)
        self.overlay.candidate_picked.connect(self._try_candidate)

    def draw(self, step: int, *, is_bare: bool = False) -> None:
        """Show the selected verdict's marks; none on an unfinished picture.

        Args:
            step: The shown step.
            is_bare: Whether to hide all overlays.
        """
        selected_verdict = None if is_bare else self._verdict_selection.now()
        if selected_verdict is None or not shows_result(selected_verdict.run, step):
            self.overlay.show_scene(NOTHING)
            return
        stage = self._stage
        self.overlay.show_scene(
            evidence_scene(selected_verdict, self._judgement.lit, stage.visible, stage.looks)
        )

    def _try_margin(self, margin: float) -> None:
        if (selected_verdict := self._verdict_selection.now()) is not None:
            setting, *_ = thresholds_of(selected_verdict.relation.type)
            value = round(margin, DECIMALS)
            self._judgement.try_setting(selected_verdict.run, setting, value, tr("change margin"))

    def _try_candidate(self, box: object) -> None:
        if (selected_verdict := self._verdict_selection.now()) is None:
            return
        for chosen in (each for each in selected_verdict.seen.boxes if each == box):
            found = detection_of(chosen, selected_verdict.run)
            name = tr("change candidate")
            self._judgement.try_choice(selected_verdict.run, chosen.mention_id, found, name)
