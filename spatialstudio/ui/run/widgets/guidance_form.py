"""The guidance settings: method, preset, options, steps, and captured attention."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.generation import SAMPLING_OPTIONS, UNGUIDED, GuidanceSettings
from spatialstudio.domain.options import MethodCard, Option, OptionValue
from spatialstudio.domain.run_settings import Preset, RunSettings, with_values
from spatialstudio.domain.steering import ONE_PARTICLE
from spatialstudio.ui.run.widgets.fields import Choice, ChoiceField, count_field, share_field
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.disclosure import Disclosure
from spatialstudio.ui.widgets.fields import ChoiceBox
from spatialstudio.ui.widgets.option_fields import OptionField
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    TextLabel,
    Tone,
    plain_tip,
    tr,
)

PRESETS = {
    Preset.RECOMMENDED: "Recommended",
    Preset.PUBLISHED: "As published",
    Preset.SPATIALBENCH_UC: "As in SpatialBench-UC, no refinement",
}
DETAILS = {
    AttentionDetail.RELATION_WORDS: "About 1 kB per word and step.",
    AttentionDetail.EVERY_WORD: "All words in every layer, mean over heads; stored on disk.",
    AttentionDetail.EVERYTHING: "All words in every head of every layer; stored on disk.",
}
"""Tips of the choices of recorded attention."""
WITH_PARTICLES = (
    "Not possible with particles, which allow only words in relations: which particle becomes the "
    "picture is known only at the end."
)
SAVINGS = {
    (): "No limit",
    (Saving.CHECKPOINTING,): "Gradient checkpointing",
    (Saving.EVERY_SECOND_STEP,): "Guide every second step",
    (Saving.SMALLER_MAPS,): "Lower-resolution attention",
    (Saving.SEARCH,): "Noise search instead of gradients",
    (Saving.TILING,): "Tiled VAE decoding",
    (Saving.OFFLOAD,): "CPU offload",
    (Saving.OFFLOAD_LAYERS,): "Offload every layer to RAM (slow)",
    (Saving.PROCESSOR,): "Generate on the CPU",
}
FORMATS = {
    "": "Model's default",
    "float32": "float32, highest precision",
    "bfloat16": "bfloat16, half the memory",
    "float16": "float16, half the memory",
}
SELF_ATTENTION_TIP = (
    "Record where each place of the picture attends, in layers of at most 32 x 32 positions; "
    "UNets and PixArt only"
)
CHOICE_LETTERS = 14
"""Visible letters of a choice before it is elided; a row without the room wraps."""
LARGEST_STEP_SIZE = 100_000.0
LARGEST_SCALE = 100.0
MOST_UPDATES = 50
MOST_BETWEEN = 100
MOST_CANDIDATES = 64
OFFERED_APART = frozenset({"dtype", "prediction_type"})
"""Options whose choices depend on the device or the model."""
OPTIONS_FROM = 2
"""Grid row of the method's first option, below the method and its preset."""
LOWEST_GOAL, NEVER = 0.51, 1.0


class GuidanceForm(QWidget):
    """Shows and changes the guidance settings, inside a disclosure.

    Emits ``settings_edited`` with the name of the edit and the new ``RunSettings``, and
    ``method_picked`` with a method's id and a ``Preset``; both on user action only. Emits
    ``devices_wanted`` when the device list opens.
    """

    settings_edited = Signal(str, object)
    method_picked = Signal(str, object)
    devices_wanted = Signal()

    def __init__(self, run_options: Sequence[Option] = SAMPLING_OPTIONS) -> None:
        super().__init__()
        self._settings: RunSettings | None = None
        self._run_options = {
            option: OptionField(option) for option in run_options if option.id not in OFFERED_APART
        }
        self._methods: dict[str, MethodCard] = {}
        self._options: dict[Option, OptionField] = {}
        self._method = ChoiceBox(tr("Guidance method"))
        self._preset = ChoiceBox(tr("Preset"))
        self._strength = share_field(
            tr("Step size"), LARGEST_STEP_SIZE, toolTip=tr("Step size of the latent update")
        )
        self._scale = share_field(
            tr("CFG scale"),
            LARGEST_SCALE,
            singleStep=0.5,
            specialValueText=tr("default"),
            toolTip=tr(
                "Classifier-free guidance scale; 1 turns it off, the default is the model's"
            ),
        )
        self._last = count_field(tr("Guided steps"), 1, prefix=tr("first "))
        self._updates = count_field(
            tr("Inner updates"), MOST_UPDATES, toolTip=tr("Latent updates per guided step")
        )
        self._make_search_fields()
        self._goal = share_field(
            tr("Pause at PoS"),
            NEVER,
            minimum=LOWEST_GOAL,
            singleStep=0.01,
            toolTip=tr("Guidance pauses while every relation's PoS is at least this value"),
        )
        self._make_capture_fields()
        self._size = TextLabel(tone=Tone.MUTED, small=True)
        self._memory = ChoiceBox(tr("Memory"))
        self._device = ChoiceField(tr("Device"))
        self._format = ChoiceBox(tr("Precision"))
        self._format.setToolTip(tr("Data type of the weights; changes the picture slightly"))
        boxes = (self._method, self._preset, self._memory, self._device, self._format, self._detail)
        for box in boxes:
            box.setMinimumContentsLength(CHOICE_LETTERS)
        self._fields = QWidget()
        self._disclosure = Disclosure(tr("Method parameters"), self._fields)
        self._lay_out()
        self._connect()

    def _make_search_fields(self) -> None:
        self._candidates = count_field(
            tr("Noise search"),
            MOST_CANDIDATES,
            specialValueText=tr("off"),
            prefix=tr("best of "),
            toolTip=tr("Keeps the best of consecutive seeds; supports depth relations"),
        )
        self._particles = count_field(
            tr("Particles"),
            MOST_CANDIDATES,
            minimum=0,
            specialValueText=tr("automatic"),
            toolTip=tr(
                "Noises that are denoised side by side; those with a low PoS are dropped on the "
                "way. Automatic is for depth relations; 1 is off"
            ),
        )

    def _make_capture_fields(self) -> None:
        self._detail = ChoiceBox(tr("Recorded maps"))
        for detail, tip in DETAILS.items():
            self._detail.addItem(tr(detail.title), detail)
            self._detail.setItemData(self._detail.count() - 1, tr(tip), Qt.ItemDataRole.ToolTipRole)
        self._self_attention = QCheckBox(tr("Also self-attention"))
        self._self_attention.setToolTip(tr(SELF_ATTENTION_TIP))
        self._preview = count_field(
            tr("Preview interval"),
            MOST_BETWEEN,
            prefix=tr("every "),
            toolTip=tr("Steps between two previews"),
        )

    def show_methods(self, methods: Sequence[MethodCard]) -> None:
        """Set the guidance methods; call before ``show_settings``."""
        self._methods = {method.id: method for method in methods}
        with QSignalBlocker(self._method):
            self._method.clear()
            for place, method in enumerate(methods):
                self._method.addItem(tr(method.label), method.id)
                self._method.setItemData(
                    place, plain_tip(tr(method.description)), Qt.ItemDataRole.ToolTipRole
                )

    def show_settings(
        self, settings: RunSettings, presets: tuple[Preset, ...], last_step: int
    ) -> None:
        """Show settings chosen elsewhere.

        Args:
            settings: All settings.
            presets: Available presets of the method.
            last_step: The last guided step, from 0.
        """
        self._settings = settings
        guidance = settings.sampling.guidance
        fields = (self._method, self._preset, self._strength, self._last, self._updates)
        others = (
            self._candidates,
            self._particles,
            self._goal,
            self._scale,
            self._detail,
            self._self_attention,
            self._memory,
        )
        blocked = [QSignalBlocker(each) for each in (*fields, *others, self._preview)]
        self._show_method(guidance)
        self._preset.clear()
        for preset in presets:
            self._preset.addItem(tr(PRESETS[preset]), preset)
        self._preset.setCurrentIndex(max(self._preset.findData(settings.preset), 0))
        self._preset.setEnabled(len(presets) > 1)
        self._strength.setValue(guidance.strength)
        self._last.setRange(guidance.first_step + 1, settings.sampling.steps)
        self._last.setValue(last_step + 1)
        self._last.setSuffix(tr(" of {steps}").format(steps=settings.sampling.steps))
        self._updates.setValue(guidance.inner_updates)
        self._candidates.setValue(settings.candidates)
        self._particles.setValue(settings.steering.particles if settings.steering else 0)
        self._goal.setValue(guidance.goal)
        self._scale.setValue(settings.guidance_scale or 0.0)
        self._preview.setValue(settings.preview_every)
        self._preview.setSuffix(tr(" step") if settings.preview_every == 1 else tr(" steps"))
        self._detail.setCurrentIndex(self._detail.findData(settings.detail))
        self._self_attention.setChecked(settings.self_attention)
        self._show_savings(settings.sampling.savings)
        for option, field in self._run_options.items():
            field.show_value(getattr(settings.sampling, option.id))
        for blocker in blocked:
            blocker.unblock()
        self.show_kept("")

    def show_devices(self, choices: tuple[Choice, ...], chosen: str) -> None:
        """Set the device choices; see ``ChoiceField.show_choices``."""
        self._device.show_choices(choices, chosen)

    def show_formats(self, formats: Sequence[str]) -> None:
        """Set the number formats of the weights next to the model's default, and select one.

        Args:
            formats: From ``NUMBER_FORMATS``, including the selected one.
        """
        chosen = "" if self._settings is None else self._settings.sampling.dtype
        with QSignalBlocker(self._format):
            self._format.clear()
            for name in ("", *formats):
                self._format.addItem(tr(FORMATS[name]), name)
            self._format.setCurrentIndex(self._format.findData(chosen))

    def show_kept(self, size: str) -> None:
        """Show how much attention is written to disk, or why it cannot be.

        Args:
            size: The amount in words; empty for the default amount.
        """
        if (settings := self._settings) is not None:
            is_steered = settings.steering is not None and settings.steering.is_on
            is_small = settings.detail is AttentionDetail.RELATION_WORDS
            is_possible = not is_steered or (is_small and not settings.self_attention)
            usual = DETAILS[settings.detail] if is_possible else WITH_PARTICLES
            self._size.setText(size if size and is_possible else tr(usual))

    def _show_method(self, guidance: GuidanceSettings) -> None:
        """Show the method and a field for each of its options; an unknown method by its id."""
        method_id = guidance.method_id
        if self._method.count() > len(self._methods):
            self._method.removeItem(len(self._methods))
        if method_id != UNGUIDED and method_id not in self._methods:
            self._method.addItem(method_id, method_id)
        self._method.setCurrentIndex(self._method.findData(method_id))
        method = self._methods.get(method_id)
        options = method.options if method is not None else ()
        if list(self._options) != list(options):
            self._replace_option_fields(options)
        for option, field in self._options.items():
            field.show_value(option.value_in(guidance.options))

    def _replace_option_fields(self, options: Sequence[Option]) -> None:
        form = self._rows
        for field in self._options.values():
            taken = form.takeRow(field)
            for widget in (taken.labelItem.widget(), taken.fieldItem.widget()):
                if widget is not None:
                    widget.hide()  # else it lies over the form until it is deleted
                    widget.deleteLater()
        self._options = {option: OptionField(option) for option in options}
        for place, (option, field) in enumerate(self._options.items(), OPTIONS_FROM):
            form.insertRow(place, _label(tr(option.label), field), field)
            field.value_picked.connect(partial(self._pick_option, option))

    def _pick_option(self, option: Option, value: OptionValue) -> None:
        if self._settings is not None:
            options = {**self._settings.sampling.guidance.options, option.id: value}
            self._guide(_change_of(option), options=options)

    def _pick_run_option(self, option: Option, value: OptionValue) -> None:
        self._edit(_change_of(option), **{option.id: value})

    def _show_savings(self, savings: tuple[Saving, ...]) -> None:
        offered = SAVINGS if savings in SAVINGS else {**SAVINGS, savings: savings_in_words(savings)}
        self._memory.clear()
        for choice, words in offered.items():
            self._memory.addItem(tr(words), choice)
        self._memory.setCurrentIndex(list(offered).index(savings))

    def _connect(self) -> None:
        self._method.currentIndexChanged.connect(self._pick_method)
        self._preset.currentIndexChanged.connect(self._pick_method)
        self._strength.valueChanged.connect(
            lambda size: self._guide(tr("change strength"), strength=size)
        )
        self._updates.valueChanged.connect(
            lambda count: self._guide(tr("change inner updates"), inner_updates=count)
        )
        self._goal.valueChanged.connect(lambda pos: self._guide(tr("change PoS goal"), goal=pos))
        self._last.valueChanged.connect(
            lambda count: self._guide(tr("change guided steps"), last_step=count - 1)
        )
        self._candidates.valueChanged.connect(
            lambda count: self._edit(tr("change search"), candidates=count)
        )
        self._particles.valueChanged.connect(self._steer)
        self._scale.valueChanged.connect(
            lambda scale: self._edit(tr("change CFG scale"), guidance_scale=scale or None)
        )
        self._preview.valueChanged.connect(
            lambda every: self._edit(tr("change previews"), preview_every=every)
        )
        self._detail.currentIndexChanged.connect(
            lambda: self._edit(
                tr("change recorded maps"), detail=AttentionDetail(self._detail.currentData())
            )
        )
        self._self_attention.toggled.connect(
            lambda on: self._edit(tr("change recorded maps"), self_attention=on)
        )
        self._memory.currentIndexChanged.connect(
            lambda: self._edit(tr("save memory"), savings=tuple(self._memory.currentData()))
        )
        self._device.choice_picked.connect(
            lambda device_id: self._edit(tr("change device"), device=device_id)
        )
        self._device.list_opened.connect(self.devices_wanted)
        self._format.currentIndexChanged.connect(
            lambda: self._edit(tr("change precision"), dtype=self._format.currentData())
        )
        for option, run_field in self._run_options.items():
            run_field.value_picked.connect(partial(self._pick_run_option, option))

    def _pick_method(self) -> None:
        self.method_picked.emit(self._method.currentData(), self._preset.currentData())

    def _guide(self, name: str, **changes: Any) -> None:
        if self._settings is not None:
            self._edit(name, guidance=replace(self._settings.sampling.guidance, **changes))

    def _steer(self, count: int) -> None:
        if self._settings is not None:
            chosen = replace(self._settings.steering or ONE_PARTICLE, particles=count)
            self._edit(tr("change particles"), steering=chosen if count else None)

    def _edit(self, name: str, **changes: Any) -> None:
        if self._settings is not None:
            self.settings_edited.emit(name, with_values(self._settings, **changes))

    def _lay_out(self) -> None:
        form = self._rows = QFormLayout(self._fields)
        form.setContentsMargins(0, em(0.3), 0, 0)
        form.setHorizontalSpacing(em(0.8))
        form.setVerticalSpacing(em(0.45))
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for name, field in (
            (tr("Method"), self._method),
            (tr("Preset"), self._preset),
            (tr("Step size"), self._strength),
            (tr("Guided steps"), self._last),
            (tr("Inner updates"), self._updates),
            (tr("Pause at PoS"), self._goal),
            (tr("Noise search"), self._candidates),
            (tr("Particles"), self._particles),
            (tr("CFG scale"), self._scale),
            (tr("Preview"), self._preview),
            (tr("Device"), self._device),
            (tr("Precision"), self._format),
            (tr("Memory"), self._memory),
            *((tr(option.label), field) for option, field in self._run_options.items()),
            (tr("Recorded maps"), self._detail),
        ):
            form.addRow(_label(name, field), field)
        form.addRow("", self._self_attention)
        form.addRow(self._size)
        column(self._disclosure, within=self)


def _change_of(option: Option) -> str:
    return tr("other {option}").format(option=tr(option.label).lower())


def _label(name: str, field: QWidget) -> PlainLabel:
    label = FieldLabel(name)
    label.setProperty("tone", "muted")
    label.setBuddy(field)
    return label


class FieldLabel(PlainLabel):
    """A label as high as its field."""

    def sizeHint(self) -> QSize:
        return super().sizeHint().expandedTo(QSize(0, self._height_of_field()))

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().expandedTo(QSize(0, self._height_of_field()))

    def _height_of_field(self) -> int:
        field = self.buddy()
        return 0 if field is None else field.sizeHint().height()


def savings_in_words(savings: tuple[Saving, ...]) -> str:
    """Return the active memory savings as text: "Decode in tiles, Use the processor"."""
    return ", ".join(tr(SAVINGS[(saving,)]) for saving in savings)
