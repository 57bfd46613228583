"""The protocol of a run of questions: what a message contains, and how replies are counted."""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from spatialstudio.domain.multiple_choice import (
    ATTEMPTS_PER_ROLLOUT,
    MOST_ROLLOUTS,
    PUBLISHED_ASKING,
    AskSettings,
    VoteRules,
)
from spatialstudio.ui.widgets.builders import grow, row
from spatialstudio.ui.widgets.fields import PLAIN_NUMBER, ChoiceBox, DecimalBox, NumberBox
from spatialstudio.ui.widgets.texts import PlainLabel, plain_tip, tr

MOST_TEMPERATURE = 2.0
MOST_SEED = 2**31 - 1
PRESETS = (("Ours", AskSettings()), ("As published", PUBLISHED_ASKING))
SHUFFLES, SINGLE, LINES, DROPS, DEFECTS = "shuffles", "single", "lines", "drops", "defects"


class AskProtocol(QWidget):
    """Lets the user choose ours, the published protocol, or each of their differences."""

    def __init__(self) -> None:
        super().__init__()
        self._preset = _preset_box()
        self._switches = _switches()
        self._votes = _count(tr("Votes"), tr("Rollouts that must choose the right option"))
        self._rollouts = _count(
            tr("Rollouts"),
            tr("Valid rollouts of each picture; at most {times} times as many attempts").format(
                times=ATTEMPTS_PER_ROLLOUT
            ),
        )
        self._temperature = DecimalBox(
            **PLAIN_NUMBER,
            singleStep=0.1,
            maximum=MOST_TEMPERATURE,
            accessibleName=tr("Temperature"),
        )
        self._temperature.setToolTip(plain_tip(tr("Of the sampling; 0 for the most likely reply")))
        self._seed = NumberBox(**PLAIN_NUMBER, maximum=MOST_SEED, accessibleName=tr("Seed"))
        self._seed.setToolTip(plain_tip(tr("Of the orders of options, and of the replies")))
        self._lay_out()
        self._show(AskSettings())
        self._connect()

    @property
    def settings(self) -> AskSettings:
        """How pictures are asked, with the picture."""
        is_on = {name: box.isChecked() for name, box in self._switches.items()}
        rollouts = self._rollouts.value()
        return AskSettings(
            rules=VoteRules(
                rollouts=rollouts,
                attempts=ATTEMPTS_PER_ROLLOUT * rollouts,
                votes=self._votes.value(),
                drops_incomplete=is_on[DROPS],
                reads_first_character=is_on[LINES],
                leaves_out_defects=is_on[DEFECTS],
            ),
            shuffles=is_on[SHUFFLES],
            is_single=is_on[SINGLE],
            temperature=self._temperature.value(),
            seed=self._seed.value(),
            is_structured=not is_on[LINES],
        )

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow(tr("Preset"), self._preset)
        for box in self._switches.values():
            form.addRow(box)
        votes = row(grow(self._votes), PlainLabel(tr("of")), grow(self._rollouts), gap=0.3)
        form.addRow(tr("Votes"), votes)
        form.addRow(tr("Temperature"), self._temperature)
        form.addRow(tr("Seed"), self._seed)

    def _connect(self) -> None:
        self._preset.activated.connect(self._pick)
        for box in self._switches.values():
            box.toggled.connect(self._name)
        for field in (self._votes, self._rollouts, self._temperature):
            field.valueChanged.connect(self._name)
        self._rollouts.valueChanged.connect(self._votes.setMaximum)

    def _pick(self) -> None:
        place = self._preset.currentIndex()
        if place < len(PRESETS):
            self._show(replace(PRESETS[place][1], seed=self._seed.value()))

    def _show(self, settings: AskSettings) -> None:
        rules = settings.rules
        is_on = {
            SHUFFLES: settings.shuffles,
            SINGLE: settings.is_single,
            LINES: rules.reads_first_character,
            DROPS: rules.drops_incomplete,
            DEFECTS: rules.leaves_out_defects,
        }
        for name, box in self._switches.items():
            box.setChecked(is_on[name])
        self._rollouts.setValue(rules.rollouts)
        self._votes.setMaximum(rules.rollouts)
        self._votes.setValue(rules.votes)
        self._temperature.setValue(settings.temperature)
        self._seed.setValue(settings.seed)
        self._name()

    def _name(self) -> None:
        """Name the preset that the fields show, whatever the seed."""
        shown = replace(self.settings, seed=0)
        own = len(PRESETS)
        place = next((n for n, (_, each) in enumerate(PRESETS) if each == shown), own)
        with QSignalBlocker(self._preset):
            self._preset.setCurrentIndex(place)


def _preset_box() -> ChoiceBox:
    box = ChoiceBox(tr("Preset"))
    box.addItems([tr(title) for title, _ in PRESETS] + [tr("Own choice")])
    box.setToolTip(
        plain_tip(
            tr(
                "As published: all questions in one message, options as listed, replies in lines, "
                "four of five valid rollouts, unanswered pictures left out. Ours: options "
                "shuffled, unanswered pictures count as wrong"
            )
        )
    )
    return box


def _switches() -> Mapping[str, QCheckBox]:
    boxes = {}
    for name, title, tip in (
        (
            SHUFFLES,
            tr("Shuffle the options"),
            tr("In each rollout, None last, so that a preferred letter wins nothing"),
        ),
        (
            SINGLE,
            tr("Questions one by one"),
            tr("Each question is a message; otherwise all questions of a picture are one"),
        ),
        (
            LINES,
            tr("Replies in lines"),
            tr(
                "The first character of a line is the answer, whatever it is, as published; "
                "otherwise JSON is requested where possible, and “1. a)” is read as A"
            ),
        ),
        (
            DROPS,
            tr("Leave out unanswered pictures"),
            tr(
                "Pictures without enough valid rollouts are left out, as published; otherwise "
                "their questions count as wrong"
            ),
        ),
        (
            DEFECTS,
            tr("Leave out faulty questions"),
            tr(
                "The listed defects do not count: the key is not an option, the last "
                "option is not None, or two options are equal"
            ),
        ),
    ):
        boxes[name] = QCheckBox(title)
        boxes[name].setToolTip(plain_tip(tip))
    return boxes


def _count(name: str, tip: str) -> NumberBox:
    box = NumberBox(**PLAIN_NUMBER, minimum=1, maximum=MOST_ROLLOUTS, accessibleName=name)
    box.setToolTip(plain_tip(tip))
    return box
