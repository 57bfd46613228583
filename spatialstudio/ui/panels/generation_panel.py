"""Stage 2, relations to image: model, seed, steps, strength; Generate and Cancel."""

from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.session import BaselineChanged, OpenRun, RunChanged, SceneChanged
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.generation import MAX_SEED
from spatialstudio.ui.actions import Actions
from spatialstudio.ui.commands import generate as commands
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.seed_field import SeedField
from spatialstudio.ui.widgets.strength_slider import StrengthSlider
from spatialstudio.ui.widgets.text_label import TextLabel, Tone

MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What the user has set, as one value to undo and redo."""

    seed: int
    steps: int
    strength: float
    with_baseline: bool


class GenerationPanel(Panel):
    """Lets the user set how the picture is drawn, and have it drawn or stopped.

    Emits ``running_changed`` when work begins or ends.
    """

    title = "Generation"
    running_changed = Signal(bool)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._context = context
        self._run_id = ""
        self._unreadable: ErrorReport | None = None
        self._model = QComboBox()
        self._model.setAccessibleName("Model")
        self._seed = SeedField(context.theme, MAX_SEED)
        self._steps = QSpinBox()
        self._steps.setAccessibleName("Denoising steps")
        self._steps.setRange(1, MOST_STEPS)
        self._steps.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self._strength = StrengthSlider()
        self._baseline = QCheckBox("Also draw the baseline")
        self._baseline.setToolTip("The same seed without guidance, for comparison (Ctrl+B)")
        self._baseline.setChecked(True)
        self._generate = QPushButton("Generate")
        self._generate.setProperty("kind", "primary")
        self._generate.setToolTip("Draw and judge the picture (Ctrl+Enter)")
        self._generate.clicked.connect(self.generate)
        self._cancel = QPushButton("Cancel")
        self._cancel.setToolTip("Stop before the next model call (Esc Esc)")
        self._cancel.clicked.connect(self.cancel)
        self._cancel.setEnabled(False)
        self._buttons = QWidget()
        self._lay_out()
        self._fill()
        self._model.currentIndexChanged.connect(self._use_model)
        self._settings = self._read_settings()
        self._record_edits()
        self._bind(context.actions)

    @property
    def buttons(self) -> QWidget:
        """Generate and Cancel, to stand where they are always in sight."""
        return self._buttons

    @property
    def is_running(self) -> bool:
        """Whether a picture is being drawn or judged."""
        return self._cancel.isEnabled()

    def generate(self) -> None:
        """Draw the scene with what is set."""
        if self.is_running:
            return
        if self._unreadable is not None:
            self.problem_met.emit(self._unreadable)
            return
        try:
            request = self._studio.new_request(
                model_id=self._model.currentData(),
                seed=self._seed.seed,
                steps=self._steps.value(),
                strength=self._strength.strength,
            )
            self._context.toasts.clear()
            with_baseline = self._baseline.isChecked() and request.guidance.strength > 0
            self._studio.generate(request, with_baseline=with_baseline)
        except StudioError as error:
            self.problem_met.emit(report_on(error, "Starting the run"))

    def cancel(self) -> None:
        """Stop what runs."""
        if self.is_running:
            self._cancel.setText("Cancelling…")
            self._studio.cancel()

    def use_seed(self, seed: int) -> None:
        """Take a seed that was chosen elsewhere."""
        self._seed.show_seed(seed)
        self._settings = self._read_settings()

    def handle(self, event: object) -> None:
        """Follow whether something runs; show what an opened run was made with."""
        match event:
            case SceneChanged(error=error):
                self._unreadable = error
            case RunChanged(run=run):
                if run.is_over and run.id != self._run_id:
                    self._show_settings(run)
                self._run_id = run.id
                self._follow()
            case BaselineChanged():
                self._follow()

    def _follow(self) -> None:
        session = self._studio.session
        runs = [run for run in (session.run, session.baseline) if run is not None]
        running = any(not run.is_over for run in runs)
        if running == self.is_running:
            return
        self._cancel.setEnabled(running)
        self._cancel.setText("Cancel")
        self._generate.setEnabled(not running)
        self._context.actions[commands.GENERATE].setEnabled(not running)
        self._context.actions[commands.CANCEL].setEnabled(running)
        self.running_changed.emit(running)
        if not running and not self._seed.is_locked:
            self._seed.roll()

    def _bind(self, actions: Actions) -> None:
        actions.bind(commands.GENERATE, self.generate)
        actions.bind(commands.CANCEL, self.cancel)
        actions[commands.CANCEL].setEnabled(False)
        actions.bind(commands.BASELINE, self._baseline.toggle)
        actions.bind(commands.NEW_SEED, self._seed.roll)

    def _record_edits(self) -> None:
        self._seed.seed_picked.connect(lambda _seed: self._record(tr("other seed")))
        self._steps.valueChanged.connect(lambda _steps: self._record(tr("other steps")))
        self._strength.strength_picked.connect(lambda _size: self._record(tr("other strength")))
        self._baseline.toggled.connect(lambda _on: self._record(tr("baseline")))

    def _record(self, name: str) -> None:
        """Make what the user has just set an edit that can be undone."""
        before, after = self._settings, self._read_settings()
        self._context.edits.change(name, before, after, self._take_settings, merge_key=name)

    def _read_settings(self) -> "RunSettings":
        return RunSettings(
            self._seed.seed,
            self._steps.value(),
            self._strength.strength,
            self._baseline.isChecked(),
        )

    def _take_settings(self, settings: "RunSettings") -> None:
        self._settings = settings
        with QSignalBlocker(self._steps), QSignalBlocker(self._baseline):
            self._steps.setValue(settings.steps)
            self._baseline.setChecked(settings.with_baseline)
        if self._seed.seed != settings.seed:
            self._seed.show_seed(settings.seed)
        if self._strength.strength != settings.strength:
            self._strength.show_strength(settings.strength)

    def _show_settings(self, run: OpenRun) -> None:
        if (request := run.request) is not None:
            strength = request.guidance.strength
            baseline = self._baseline.isChecked()
            self._take_settings(RunSettings(request.seed, request.steps, strength, baseline))

    def _fill(self) -> None:
        for card in self._studio.models:
            self._model.addItem(card.title, card.id)
        if not self._studio.models:
            self._model.addItem("No model found", None)
            self._model.setEnabled(False)
        self._seed.show_seed(0)
        self._use_model()

    def _use_model(self) -> None:
        place = self._model.currentIndex()
        if place < len(self._studio.models):
            card = self._studio.models[place]
            with QSignalBlocker(self._steps):
                self._steps.setValue(card.steps)
            self._strength.show_recommended(card.strength)
            self._settings = self._read_settings()
            self._context.switchboard.model_picked.emit(card.id)

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(em(0.8))
        grid.setVerticalSpacing(em(0.45))
        grid.setColumnStretch(1, 1)
        fields: list[tuple[str, QWidget]] = [
            ("Model", self._model),
            ("Seed", self._seed),
            ("Steps", self._steps),
        ]
        for row, (name, field) in enumerate(fields):
            label = TextLabel(name, Tone.MUTED)
            label.setBuddy(field)
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(field, row, 1)
        foot = QHBoxLayout(self._buttons)
        foot.setContentsMargins(em(0.9), em(0.6), em(0.9), em(0.8))
        foot.setSpacing(em(0.5))
        foot.addWidget(self._generate, 2)
        foot.addWidget(self._cancel, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.6))
        column.addLayout(grid)
        column.addSpacing(em(0.3))
        column.addWidget(TextLabel("Hold layout", Tone.HEADING))
        column.addWidget(self._strength)
        column.addWidget(self._baseline)
