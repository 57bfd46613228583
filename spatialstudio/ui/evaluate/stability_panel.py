"""The dock of a verdict's stability: perturbed pictures, and depth histograms."""

from functools import partial

from spatialstudio.application.evaluate.crops import CropMaker, CropsMade
from spatialstudio.application.session import RelationPicked, RunChanged
from spatialstudio.domain.evidence import Evidence, PerturbedAnswer
from spatialstudio.domain.scene import Axis
from spatialstudio.domain.verdict import Outcome, Perturbation, PerturbationKind
from spatialstudio.ui.evaluate.evidence_presenter import SelectedVerdict, VerdictSelection
from spatialstudio.ui.evaluate.widgets.crop_strip import Crop, CropStrip
from spatialstudio.ui.evaluate.widgets.depth_histogram import DepthHistogram, DepthProfile
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.plot_saving import save_plot
from spatialstudio.ui.stage.stage_presenter import hue_of
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

PERCENT = 100


class StabilityPanel(Panel):
    """Shows the perturbed pictures and depths of the selected verdict."""

    title = "Stability and depth"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._verdict_selection = VerdictSelection(context)
        self._evidence: Evidence | None = None
        studio = context.studio
        self._maker = CropMaker(lambda: studio.judging.perturber, studio.bus.publish)
        self._waiting = TextLabel(tone=Tone.MUTED)
        self._strip = CropStrip(context.theme)
        self._depth = DepthHistogram(context.theme)
        self._depth.plot.save_asked.connect(partial(save_plot, context.toasts))
        self._clock = VisibleFrameClock(self._follow, self)
        column(self._waiting, self._depth, self._strip, within=self, gap=0.5)
        self._show(None)

    def handle(self, event: object) -> None:
        """Follow the selected verdict; show the crops when they are ready."""
        match event:
            case RunChanged() | RelationPicked():
                self._clock.request()
            case CropsMade(evidence=evidence) if evidence is self._evidence:
                self._strip.show_crops(_crops(event), _agreeing(evidence))
                self._strip.show()

    def _follow(self) -> None:
        selected_verdict = self._verdict_selection.now()
        evidence = None if selected_verdict is None else selected_verdict.seen
        if evidence is not self._evidence:
            self._evidence = evidence
            self._show(selected_verdict)

    def _show(self, selected_verdict: SelectedVerdict | None) -> None:
        self._maker.cancel()
        self._strip.hide()
        shows_depth = selected_verdict is not None and bool(selected_verdict.seen.depth_edges)
        self._depth.setVisible(shows_depth)
        has_looks = selected_verdict is not None and bool(selected_verdict.seen.perturbed)
        self._waiting.setVisible(not (shows_depth or has_looks))
        self._waiting.setText(_missing(selected_verdict))
        if selected_verdict is None:
            return
        if shows_depth:
            self._depth.show_profiles(_depths(selected_verdict), selected_verdict.seen.sentence)
        if has_looks and selected_verdict.run.image is not None:
            self._maker.make(selected_verdict.run.image, selected_verdict.seen)


def _missing(selected_verdict: SelectedVerdict | None) -> str:
    if selected_verdict is None:
        return tr("Shows how stable each verdict is under small perturbations of the picture.")
    return tr("Stability was not tested: every verdict is UNDECIDABLE.")


def _crops(made: CropsMade) -> list[Crop]:
    return [
        Crop(_change_in_words(answer.perturbation), picture, answer.outcome)
        for answer, picture in zip(made.evidence.perturbed, made.crops, strict=True)
    ]


def _change_in_words(change: Perturbation) -> str:
    match change.kind:
        case PerturbationKind.BRIGHTNESS:
            percent = f"{(change.amount - 1) * PERCENT:+.0f} %"
            return tr("brightness {percent}").format(percent=percent)
        case PerturbationKind.GAUSSIAN_BLUR:
            return tr("blur {radius} px").format(radius=f"{change.amount:g}")
        case PerturbationKind.RESIZE:
            return tr("size {percent} %").format(percent=f"{change.amount * PERCENT:.0f}")


def _agreeing(evidence: Evidence) -> str:
    answers = evidence.perturbed
    usual = _usual(answers)
    count = sum(answer.outcome is usual for answer in answers)
    if usual is None:
        return tr("The objects were not found under any of {all} perturbations.").format(
            all=len(answers)
        )
    return tr("{outcome} under {count} of {all} perturbations.").format(
        count=count, all=len(answers), outcome=usual.value
    )


def _usual(answers: tuple[PerturbedAnswer, ...]) -> Outcome | None:
    """Return the most frequent outcome; None if no picture has one."""
    said = [answer.outcome for answer in answers if answer.outcome is not None]
    return max(said, key=said.count, default=None)


def _depths(selected_verdict: SelectedVerdict) -> list[DepthProfile]:
    scene = selected_verdict.run.scene
    return [
        DepthProfile(
            scene.detected_name(profile.mention_id),
            hue_of(scene, profile.mention_id),
            profile.weights,
        )
        for profile in selected_verdict.seen.profiles
        if profile.axis is Axis.DEPTH
    ]
