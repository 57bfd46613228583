"""How pictures are drawn: model, size, steps, seed, how many, how firmly the layout is held."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from spatialstudio.domain.generation import MAX_SEED
from spatialstudio.domain.run_settings import (
    Preset,
    RunSettings,
    with_values,
)
from spatialstudio.ui.run.widgets.fields import (
    Choice,
    ChoiceField,
    SeedField,
    SeedModeField,
    SizeField,
    StrengthSlider,
    count_field,
)
from spatialstudio.ui.run.widgets.guidance_form import GuidanceForm
from spatialstudio.ui.run.widgets.lora_list import LoraList
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import column, grow, row
from spatialstudio.ui.widgets.fields import EditLine
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

MOST_STEPS = 200
MOST_PICTURES = 64
SIDE_UNIT = 8
LONGEST_SIDE = 4096
COUNT_EM = 2.45


class RunForm(QWidget):
    """Shows ``RunSettings`` and lets the user change them.

    Emits, on user action only, ``settings_edited`` with the name of the edit and the new settings;
    and, where a choice changes others, ``model_picked`` with an id and ``steps_picked``.
    Emits ``loras_wanted`` when the list of LoRAs opens.

    Attributes:
        guidance: The settings of guidance, devices and captured attention.
    """

    settings_edited = Signal(str, object)
    model_picked = Signal(str)
    steps_picked = Signal(int)
    loras_wanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._settings: RunSettings | None = None
        self._model = ChoiceField(tr("Model"))
        self._prediction = ChoiceField(tr("Prediction type"))
        self._prediction.setToolTip(tr("Whether the checkpoint predicts noise or velocity"))
        self._note = TextLabel(tone=Tone.MUTED, small=True)
        self._size = SizeField(theme, SIDE_UNIT, LONGEST_SIDE)
        narrowest = em(COUNT_EM)
        self._steps = count_field(tr("Denoising steps"), MOST_STEPS, minimumWidth=narrowest)
        self._sampler = ChoiceField(tr("Sampler"))
        self._seed = SeedField(theme, MAX_SEED)
        self._seed_mode = SeedModeField()
        self._pictures = count_field(
            tr("Pictures"),
            MOST_PICTURES,
            toolTip=tr("Number of pictures; each has its own seed"),
            minimumWidth=narrowest,
        )
        self._negative = EditLine(
            accessibleName=tr("Negative prompt"), placeholderText=tr("For example: blurry, text")
        )
        self._loras = LoraList()
        self._loras.setToolTip(tr("LoRAs for the next pictures; in a prompt: <lora:name:0.8>"))
        self._strength = StrengthSlider()
        self._baseline = QCheckBox(tr("Also generate the baseline"))
        self._baseline.setToolTip(tr("Same seed without guidance, for comparison (Ctrl+B)"))
        self.guidance = GuidanceForm()
        self._rows = QWidget()
        self._parts: tuple[QWidget, ...] = ()
        self._lay_out()
        self._connect()

    def show_models(self, choices: tuple[Choice, ...], chosen: str) -> None:
        """Offer models; without one that can be used nothing can be set.

        Args:
            choices: At least one.
            chosen: Id of one of them.
        """
        self._model.show_choices(choices, chosen)
        can_draw = any(choice.is_usable for choice in choices)
        for part in self._parts:
            part.setEnabled(can_draw)

    def open_models(self) -> None:
        """Let a model be chosen."""
        self._model.setFocus()
        self._model.showPopup()

    def show_settings(
        self,
        settings: RunSettings,
        *,
        recommended: float,
        presets: tuple[Preset, ...],
        last_step: int,
        samplers: tuple[Choice, ...],
    ) -> None:
        """Show settings that someone else chose.

        Args:
            settings: All of them.
            recommended: Step size in the middle of the slider, > 0.
            presets: Whose settings there are of the method.
            last_step: The last step that is guided, from 0.
            samplers: What the model can be drawn with, the chosen one among them.
        """
        self._settings = settings
        fields = (self._steps, self._pictures, self._baseline)
        blocked = [QSignalBlocker(field) for field in fields]
        self._model.show_chosen(settings.model_id)
        self._steps.setValue(settings.sampling.steps)
        self._pictures.setValue(settings.pictures)
        self._baseline.setChecked(settings.with_baseline)
        for blocker in blocked:
            blocker.unblock()
        self._size.show_size(settings.width, settings.height)
        self._sampler.show_choices(samplers, settings.sampling.scheduler_id)
        self._seed.show_seed(settings.sampling.seed)
        self._seed_mode.show_mode(settings.seed_mode)
        if self._negative.text() != settings.negative:
            self._negative.setText(settings.negative)
        self._loras.show_loras(settings.sampling.loras)
        self._strength.show_strength(settings.sampling.guidance.strength, recommended)
        self.guidance.show_settings(settings, presets, last_step)

    def show_predictions(self, choices: tuple[Choice, ...], chosen: str, note: str) -> None:
        """Offer prediction types below the model.

        Args:
            choices: Prediction types; none hides the field.
            chosen: Id of one of them.
            note: Text below the field; empty for none.
        """
        self._prediction.show_choices(choices, chosen)
        self._note.setText(note)
        self._form.setRowVisible(self._prediction, bool(choices))
        self._form.setRowVisible(self._note, bool(note))

    def show_loras(self, choices: Sequence[Choice]) -> None:
        """Offer LoRAs to add."""
        self._loras.show_choices(choices)

    def show_all(self, full: bool) -> None:
        """Show every field, or only how firmly the layout is held."""
        for part in (self._rows, self._baseline, self.guidance):
            part.setVisible(full)

    def roll(self) -> None:
        """Take another seed by chance, as the user asked."""
        self._seed.roll()

    def _connect(self) -> None:
        self._model.choice_picked.connect(self.model_picked)
        self._steps.valueChanged.connect(self.steps_picked)
        self.guidance.settings_edited.connect(self.settings_edited)
        self._size.size_picked.connect(
            lambda width, height: self._edit(tr("change size"), width=width, height=height)
        )
        self._sampler.choice_picked.connect(
            lambda name: self._edit(tr("change sampler"), scheduler_id=name)
        )
        self._prediction.choice_picked.connect(
            lambda name: self._edit(tr("change prediction type"), prediction_type=name)
        )
        self._seed.seed_picked.connect(lambda seed: self._edit(tr("change seed"), seed=seed))
        self._seed_mode.mode_picked.connect(
            lambda mode: self._edit(tr("change seed control"), seed_mode=mode)
        )
        self._pictures.valueChanged.connect(
            lambda count: self._edit(tr("change batch size"), pictures=count)
        )
        self._negative.textEdited.connect(
            lambda text: self._edit(tr("change negative prompt"), negative=text)
        )
        self._loras.names_wanted.connect(self.loras_wanted)
        self._loras.loras_picked.connect(lambda loras: self._edit(tr("change LoRAs"), loras=loras))
        self._baseline.toggled.connect(lambda on: self._edit(tr("baseline"), with_baseline=on))
        self._strength.strength_picked.connect(self._pick_strength)

    def _pick_strength(self, strength: float) -> None:
        if self._settings is not None:
            guidance = replace(self._settings.sampling.guidance, strength=strength)
            self._edit(tr("change strength"), guidance=guidance)

    def _edit(self, name: str, **changes: Any) -> None:
        if self._settings is not None:
            self.settings_edited.emit(name, with_values(self._settings, **changes))

    def _counts(self) -> QWidget:
        """Return the numbers of steps and of pictures, side by side."""
        both = QWidget()
        label = _label(tr("Pictures"), self._pictures)
        row(grow(self._steps), label, grow(self._pictures), within=both, gap=0.4)
        both.setFocusProxy(self._steps)
        return both

    def _lay_out(self) -> None:
        form = self._form = QFormLayout(self._rows)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(em(0.6))
        form.setVerticalSpacing(em(0.45))
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        fields: tuple[tuple[str, QWidget], ...] = (
            (tr("Model"), self._model),
            (tr("Predicts"), self._prediction),
            (tr("Size"), self._size),
            (tr("Steps"), self._counts()),
            (tr("Sampler"), self._sampler),
            (tr("Seed"), self._seed),
            (tr("Next seed"), self._seed_mode),
            (tr("Negative prompt"), self._negative),
            (tr("LoRAs"), self._loras),
        )
        for name, field in fields:
            form.addRow(_label(name, field), field)
            if field is self._prediction:
                form.addRow("", self._note)
        self.show_predictions((), "", "")
        own = (field for _name, field in fields if field is not self._model)
        self._parts = (*own, self._strength, self._baseline, self.guidance)
        heading = TextLabel(tr("Layout strength"), Tone.HEADING)
        parts = (self._rows, heading, self._strength, self._baseline, self.guidance)
        column(*parts, within=self, gap=0.6)


def _label(name: str, field: QWidget) -> TextLabel:
    label = TextLabel(name, Tone.MUTED, wraps=False)
    label.setBuddy(field)
    return label
