"""The dock of the DA-score's assertions: who decomposes, who answers, and the temperature."""

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.plugins import adapter_ids
from spatialstudio.application.refine.decomposition import (
    at_temperature,
    decompose,
    has_log_chances,
    with_assertion,
    with_new_assertion,
    without_assertion,
)
from spatialstudio.application.session import RunChanged, SceneChanged
from spatialstudio.domain.assertion import DA_RECOMMENDED, AssertionId, Assertions
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.refine.widgets.assertion_rows import AssertionRows
from spatialstudio.ui.run.widgets.fields import Choice, ChoiceField
from spatialstudio.ui.widgets.builders import column, flow, push_button, row
from spatialstudio.ui.widgets.fields import PLAIN_NUMBER, DecimalBox
from spatialstudio.ui.widgets.texts import TextLabel, Tone, plain_tip, tr

BY_SCENE, LLM = "", "llm"
READERS = {BY_SCENE: "scene (offline)", LLM: "language model"}
FROM_PERCEPTION = ""
ANSWERERS = {FROM_PERCEPTION: "detections", "blip": "BLIP", "vision-model": "vision model"}
FIELD_LETTERS = 13
LOWEST, HIGHEST, STEP = 0.05, 20.0, 0.1
MEASURED = "The answers were measured by the detections, so the temperature has no effect."


class AssertionsPanel(Panel):
    """Shows and edits the assertions that the DA-score of the next pictures asks about.

    Until they are decomposed or changed here, they are derived from the scene of each picture.
    """

    title = "Assertions"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._studio = context.studio
        self._scene: SceneGraph | None = None
        self._reader = ChoiceField(tr("Assertions by"))
        self._reader.show_choices(_choices(READERS, adapter_ids("assertion_reader")), BY_SCENE)
        self._decompose = push_button(
            tr("Decompose"), self._ask, tip=tr("List what the prompt asserts, in its order")
        )
        self._answerer = ChoiceField(tr("Answers by"))
        self._answerer.choice_picked.connect(self._pick_answerer)
        for each in (self._reader, self._answerer):
            each.setMinimumContentsLength(FIELD_LETTERS)
        self._rows = AssertionRows()
        self._rows.edited.connect(self._edit)
        self._rows.removed.connect(self._remove)
        self._rows.added.connect(self._add)
        self._notes = TextLabel(tone=Tone.MUTED, small=True)
        self._temperature = DecimalBox(
            minimum=LOWEST, maximum=HIGHEST, singleStep=STEP, **PLAIN_NUMBER
        )
        self._temperature.setAccessibleName(tr("Temperature"))
        self._temperature.valueChanged.connect(self._pick_temperature)
        self._score = TextLabel(tone=Tone.MUTED, wraps=False)
        self._clock = VisibleFrameClock(self._draw, self)
        self._lay_out()
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the prompt and the open run."""
        match event:
            case SceneChanged(scene=scene):
                if scene is not None and not _is_same_prompt(scene, self._scene):
                    self._scene = scene
                    self._use(None)
                self._clock.request()
            case RunChanged():
                self._clock.request()

    @property
    def _assertions(self) -> Assertions | None:
        """The assertions that were decomposed or changed here, else those of the scene."""
        chosen = self._studio.assertions
        if chosen is not None or self._scene is None:
            return chosen
        return decompose(self._studio.judging, self._scene, BY_SCENE)

    def _ask(self) -> None:
        """Decompose the prompt, outside the GUI thread as a server may take seconds."""
        scene, reader = self._scene, str(self._reader.currentData())
        if scene is None:
            return
        self._decompose.setEnabled(False)
        self._context.reading.read(
            Subject.ASSERTIONS,
            tr("Decomposing the prompt"),
            lambda: decompose(self._studio.judging, scene, reader),
            self._change,
            self.problem_met.emit,
        )
        self._clock.request()

    def _change(self, after: Assertions) -> None:
        """Use other assertions, undoably."""
        before = self._studio.assertions
        self._context.edits.change(tr("change assertions"), before, after, self._use)

    def _use(self, assertions: Assertions | None) -> None:
        self._studio.assertions = assertions
        self._clock.request()

    def _edit(self, assertion_id: str, text: str, question: str) -> None:
        if (shown := self._assertions) is not None:
            changed = AssertionId(assertion_id)
            self._change(with_assertion(shown, changed, text, question, self._scene))

    def _remove(self, assertion_id: str) -> None:
        if (shown := self._assertions) is not None:
            self._change(without_assertion(shown, AssertionId(assertion_id)))

    def _add(self, text: str, question: str) -> None:
        if (shown := self._assertions) is not None:
            self._change(with_new_assertion(shown, text, question))

    def _pick_answerer(self, answerer_id: str) -> None:
        before = self._studio.judges.answerer_id or FROM_PERCEPTION
        name = tr("change question answerer")
        self._context.edits.change(name, before, answerer_id, self._use_answerer)

    def _use_answerer(self, answerer_id: str) -> None:
        self._studio.judges = replace(self._studio.judges, answerer_id=answerer_id or None)
        self._context.window_signals.judges_chosen.emit()
        self._clock.request()

    def _pick_temperature(self, temperature: float) -> None:
        run = self._studio.session.run
        if run is None or run.evaluation is None or run.evaluation.da_score is None:
            return
        before = run.id, run.evaluation.da_score.settings.temperature
        name, after = tr("change temperature"), (run.id, temperature)
        self._context.edits.change(
            name, before, after, self._use_temperature, merge_key=f"temperature of {run.id}"
        )

    def _use_temperature(self, chosen: tuple[RequestId, float]) -> None:
        """Score the stored answers of a picture again, if it is open, and store the score."""
        run_id, temperature = chosen
        run = self._studio.session.run
        if run is None or run.id != run_id or run.evaluation is None:
            return
        try:
            evaluation = at_temperature(run.evaluation, temperature)
            self._studio.adjusting.keep_evaluation(run, evaluation)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Storing the DA-score")))
            self._clock.request()

    def _draw(self) -> None:
        shown = self._assertions
        self._decompose.setEnabled(self._scene is not None)
        self._rows.show_assertions(shown.items if shown else ())
        notes = list(shown.notes) if shown else [tr("The assertions of a prompt appear here.")]
        self._notes.setText("\n".join(notes))
        self._notes.setVisible(bool(notes))
        chosen = self._studio.judges.answerer_id or FROM_PERCEPTION
        self._answerer.show_choices(_choices(ANSWERERS, adapter_ids("answerer")), chosen)
        run = self._studio.session.run
        score = run.evaluation.da_score if run and run.evaluation else None
        settings = score.settings if score else DA_RECOMMENDED
        with QSignalBlocker(self._temperature):
            self._temperature.setValue(settings.temperature)
        can = has_log_chances(score)
        self._temperature.setEnabled(can)
        self._temperature.setToolTip(plain_tip("" if can else tr(MEASURED)))
        value = score.value if score else None
        words = tr("DA-score {share}").format(share=f"{value:.2f}") if value is not None else ""
        self._score.setText(words)

    def _lay_out(self) -> None:
        choices = flow(
            _labelled(tr("Assertions by"), self._reader),
            self._decompose,
            _labelled(tr("Answers by"), self._answerer),
            _labelled(tr("Temperature"), self._temperature),
            self._score,
            gap=0.6,
        )
        column(choices, self._rows, self._notes, within=self, gap=0.5)


def _labelled(text: str, field: QWidget) -> QWidget:
    """Return a field with its label to the left."""
    label, both = TextLabel(text, Tone.MUTED, wraps=False), QWidget()
    label.setBuddy(field)
    row(label, field, within=both, gap=0.5)
    return both


def _choices(titles: dict[str, str], ids: tuple[str, ...]) -> tuple[Choice, ...]:
    """Return the default and the adapters; those of plugins by their id."""
    return tuple(Choice(id=each, title=tr(titles.get(each, each))) for each in ("", *ids))


def _is_same_prompt(scene: SceneGraph, before: SceneGraph | None) -> bool:
    same = before is not None and scene.prompt.text == before.prompt.text
    return same and before is not None and scene.relations == before.relations
