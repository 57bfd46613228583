"""Stage 2, relations to image: model, seed, steps, strength; Generate and Cancel."""

from PySide6.QtCore import Qt, Signal
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
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.generation import MAX_SEED
from spatialstudio.ui.panel_api import Panel
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.seed_field import SeedField
from spatialstudio.ui.widgets.strength_slider import StrengthSlider
from spatialstudio.ui.widgets.text_label import TextLabel, Tone

MOST_STEPS = 200


class GenerationPanel(Panel):
    """Lets the user set how the picture is drawn, and have it drawn or stopped.

    Emits ``running_changed`` when work begins or ends, ``model_picked`` with a model's id.
    """

    title = "Generation"
    running_changed = Signal(bool)
    model_picked = Signal(str)

    def __init__(self, studio: Studio, theme: Theme) -> None:
        super().__init__()
        self._studio = studio
        self._run_id = ""
        self._unreadable: ErrorReport | None = None
        self._model = QComboBox()
        self._model.setAccessibleName("Model")
        self._seed = SeedField(theme, MAX_SEED)
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

    def roll_seed(self) -> None:
        """Take a new seed by chance."""
        self._seed.roll()

    def toggle_baseline(self) -> None:
        """Switch the baseline, as by hand."""
        self._baseline.toggle()

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
        self.running_changed.emit(running)
        if not running and not self._seed.is_locked:
            self._seed.roll()

    def _show_settings(self, run: OpenRun) -> None:
        if (request := run.request) is None:
            return
        self._seed.show_seed(request.seed)
        self._steps.setValue(request.steps)
        self._strength.show_strength(request.guidance.strength)

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
            self._steps.setValue(card.steps)
            self._strength.show_recommended(card.strength)
            self.model_picked.emit(card.id)

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
