"""The selection of the judge set and of a second detector for evaluations."""

from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtGui import QShowEvent

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.judge_choice import JudgeSets
from spatialstudio.application.models.downloads import ModelsChanged
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.hub import download_hint
from spatialstudio.domain.judge_choice import JudgeSetCard, JudgeTask
from spatialstudio.ui.evaluate.judge_set_dialog import TASK_NAMES, JudgeSetDialog
from spatialstudio.ui.framework.confirmation import is_confirmed
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.run.presenters import NOBODY, detector_choices
from spatialstudio.ui.run.widgets.fields import Choice, ChoiceField
from spatialstudio.ui.widgets.builders import column, flow, push_button
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

BY_ORIGIN = ""
"""Id of the default choice: the judge set by the origin of a picture."""

BY_ORIGIN_TITLE = "By the picture's origin (default)"
BY_ORIGIN_HELP = (
    "Sticker models judge their own pictures only. Other pictures get the first installed set "
    "that knows every object of the prompt."
)
NOT_INSTALLED = "No detector of this set is installed."
NONE_HERE = "Lists the detectors in the models folder and in the Hugging Face cache."
USED = "Its boxes are shown as a layer; disagreement lowers the confidence of verdicts."


def judge_set_choices(sets: JudgeSets, chosen: str) -> tuple[Choice, ...]:
    """Return the default and all judge sets; without an installed detector they are unusable.

    Args:
        sets: The judge sets.
        chosen: Id of a judge set, known or not; empty for the default.
    """
    cards = sets.cards
    choices = [Choice(id=BY_ORIGIN, title=tr(BY_ORIGIN_TITLE), tip=tr(BY_ORIGIN_HELP))]
    for card in cards:
        is_usable = JudgeTask.DETECTOR in sets.installed(card)
        state = tr("invalid" if card.fault else "not installed")
        title = tr(card.label) if is_usable else f"{tr(card.label)} ({state})"
        tip = "\n".join(describe_judge_set(sets, card))
        choices.append(Choice(id=card.id, title=title, tip=tip, is_usable=is_usable))
    if chosen and chosen not in [card.id for card in cards]:
        gone = tr("{model}, not found").format(model=chosen)
        choices.append(Choice(id=chosen, title=gone, is_usable=False))
    return tuple(choices)


def describe_judge_set(sets: JudgeSets, card: JudgeSetCard) -> Iterator[str]:
    """Return lines on the use of a judge set: its models, and candidates for missing ones."""
    if card.fault:
        yield tr("Cannot be used: {fault}.").format(fault=card.fault)
        return
    installed, missing = sets.installed(card), sets.missing(card)
    if card.help:
        yield tr(card.help)
    if JudgeTask.DETECTOR not in installed:
        yield tr(NOT_INSTALLED)
    for task in card.tasks:
        name = tr(TASK_NAMES[task])
        if task in installed:
            yield tr("{task}: {model}").format(task=name, model=installed[task])
        elif names := missing[task].models:
            is_on_hub = all(map(download_hint, names))
            text = tr(
                "{task}: not installed; download {models}"
                if is_on_hub
                else "{task}: {models}, not found"
            )
            yield text.format(task=name, models=f" {tr('or')} ".join(names))
    if card.cut is not None:
        yield tr("Score threshold: {cut}").format(cut=f"{card.cut:g}")


class JudgeSetPanel(Panel):
    """Lets the user select the judge set and a second detector.

    The verdict panel then offers to evaluate again.
    """

    title = "Judge set"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._studio = context.studio
        self._set = ChoiceField(tr("Judge set"))
        self._set.choice_picked.connect(self._pick_set)
        self._description = TextLabel(tone=Tone.MUTED, small=True)
        self._get = push_button(
            tr("Download missing models…"), self._download, tip=tr("Lists them on the Models page")
        )
        self._new = push_button(tr("New set…"), self._define, tip=tr("Choose its models"))
        self._delete = push_button(tr("Delete…"), self._ask_delete, tip=tr("Delete this judge set"))
        self._second = ChoiceField(tr("Second detector"))
        self._second.choice_picked.connect(self._pick_second)
        self._note = TextLabel(tr(NONE_HERE), Tone.MUTED, small=True)
        self._lay_out()
        if context.settings.second_detector or context.settings.judge_set:
            self._list()

    def showEvent(self, event: QShowEvent) -> None:
        """Search for installed models."""
        super().showEvent(event)
        self._list()

    def handle(self, event: object) -> None:
        """List models that were installed or deleted meanwhile."""
        if isinstance(event, ModelsChanged) and self.isVisible():
            self._list()

    def _list(self) -> None:
        """List the judge sets and detectors; restore the stored choices if available."""
        models = self._studio.judge_sets.find()
        self._list_sets()
        chosen = self._context.settings.second_detector
        damaged = self._studio.damaged_perception_models
        of_plugins = self._studio.plugins.adapter_ids("detector")
        choices = detector_choices(models, damaged, chosen, of_plugins)
        self._second.show_choices(choices, chosen)
        if _is_usable(choices, chosen) and chosen != (self._studio.judges.second_id or NOBODY):
            self._use_second(chosen)
        has_any = any(choice.is_usable and choice.id != NOBODY for choice in choices)
        self._note.setText(tr(USED if has_any else NONE_HERE))

    def _list_sets(self) -> None:
        chosen = self._context.settings.judge_set
        choices = judge_set_choices(self._studio.judge_sets, chosen)
        self._set.show_choices(choices, chosen)
        usable = chosen if _is_usable(choices, chosen) else BY_ORIGIN
        if chosen and usable != self._studio.judges.set_id:
            self._apply_set(usable)
        self._describe(chosen)

    def _pick_set(self, set_id: str) -> None:
        before = self._studio.judges.set_id
        self._context.edits.change(tr("change judge set"), before, set_id, self._use_set)

    def _use_set(self, set_id: str) -> None:
        """Use this judge set for evaluations from now on."""
        self._context.settings.judge_set = set_id
        self._set.show_chosen(set_id)
        self._describe(set_id)
        self._apply_set(set_id)

    def _apply_set(self, set_id: str) -> None:
        self._studio.judges = replace(self._studio.judges, set_id=set_id)
        self._context.window_signals.judges_chosen.emit()

    def _describe(self, set_id: str) -> None:
        lines = [tr(BY_ORIGIN_HELP)]
        if set_id:
            try:
                card = self._studio.judge_sets.card(set_id)
                lines = list(describe_judge_set(self._studio.judge_sets, card))
            except StudioError as error:
                lines = [error.message, error.hint]
        self._description.setText("\n".join(lines))
        self._get.setVisible(bool(self._studio.judge_sets.to_download(set_id)))
        own = self._studio.storage.own_judge_sets()
        self._delete.setVisible(set_id in [card.id for card in own])

    def _download(self) -> None:
        names = self._studio.judge_sets.to_download(self._context.settings.judge_set)
        self._context.window_signals.models_asked.emit(names)

    def _define(self) -> None:
        JudgeSetDialog(self._studio.judge_sets, self._save, self).open()

    def _save(self, card: JudgeSetCard) -> None:
        """Save a new judge set and choose it."""
        self._studio.storage.save_judge_set(card)
        self._list()
        if card.id == self._studio.judges.set_id:
            self._use_set(card.id)
        else:
            self._pick_set(card.id)

    def _ask_delete(self) -> None:
        set_id = self._context.settings.judge_set
        question = tr("Delete the judge set {name}?").format(name=set_id)
        words = tr("Verdicts keep its name and models; no model is deleted.")
        if is_confirmed(self, question, words, tr("Delete")):
            self._delete_set(set_id)

    def _delete_set(self, set_id: str) -> None:
        try:
            self._studio.storage.delete_judge_set(set_id)
        except StudioError as error:
            self._context.toasts.report(report_on(error, tr("Deleting the judge set")))
            return
        self._use_set(BY_ORIGIN)
        self._list()

    def _pick_second(self, detector_id: str) -> None:
        before = self._studio.judges.second_id or NOBODY
        name = tr("change second detector")
        self._context.edits.change(name, before, detector_id, self._use_second)

    def _use_second(self, detector_id: str) -> None:
        """Use this second detector for evaluations from now on."""
        self._studio.judges = replace(self._studio.judges, second_id=detector_id or None)
        self._context.settings.second_detector = detector_id
        self._second.show_chosen(detector_id)
        self._context.window_signals.judges_chosen.emit()

    def _lay_out(self) -> None:
        titles = [TextLabel(tr(each), Tone.HEADING) for each in ("Judge set", "Second detector")]
        fields = self._set, self._second
        for title, field in zip(titles, fields, strict=True):
            title.setBuddy(field)
        first, second = titles
        buttons = flow(self._new, self._delete, self._get, gap=0.4)
        sets = first, self._set, self._description, buttons
        column(*sets, second, self._second, self._note, within=self, gap=0.4)


def _is_usable(choices: tuple[Choice, ...], chosen: str) -> bool:
    return any(choice.is_usable and choice.id == chosen for choice in choices)
