"""Stage 1, prompt to relations: the text, its chips, and what was not understood."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QSize
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.flow.read_prompt import (
    with_relation_added,
    with_relation_removed,
    with_relation_type,
)
from spatialstudio.application.session import SceneChanged
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import (
    Relation,
    RelationId,
    SceneGraph,
    Shape,
    relation_types,
)
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.panels.reading_panel import ReadingPanel
from spatialstudio.ui.panels.stage_contents import hue_of
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.prompt_editor import MarkedWord, PromptEditor
from spatialstudio.ui.widgets.relation_chip import ChipEnd, Choice, RelationChip
from spatialstudio.ui.widgets.text_label import TextLabel, Tone


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt as it stands in the editor; with its scene once that is known."""

    text: str
    scene: SceneGraph | None = None


class PromptPanel(Panel):
    """Lets the user write the prompt and change its relations; both say the same."""

    title = "Prompt"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._theme = theme = context.theme
        self._settings = context.settings
        self._edits = context.edits
        self._asked = ""
        self._model_id: str | None = None
        self._editor = PromptEditor(theme)
        self._editor.prompt_edited.connect(self._take_typing)
        self._chips: dict[RelationId, RelationChip] = {}
        self._chip_column = QVBoxLayout()
        self._chip_column.setSpacing(em(0.4))
        self._heading = TextLabel("Relations", Tone.HEADING)
        self._heading.hide()
        self._reading = ReadingPanel(context)
        self._reading.scene_edited.connect(self._edit_scene)
        self._add = QPushButton("Add relation")
        self._add.setProperty("kind", "quiet")
        self._add.setIconSize(QSize(em(0.9), em(0.9)))
        self._add.clicked.connect(self._offer_pairs)
        self._add.hide()
        self._lay_out()
        self.setFocusProxy(self._editor)
        context.switchboard.prompt_offered.connect(self.use_prompt)
        context.switchboard.model_picked.connect(self.use_model)
        theme.changed.connect(self._dress)
        self._dress()

    def restore(self) -> None:
        """Write the prompt that stood here when the studio was last closed."""
        text = self._settings.last_prompt
        if text and not self._asked:
            self._editor.show_prompt(text)
            self.read(text)

    def read(self, text: str) -> None:
        """Read a prompt that the user wrote, and follow what comes of it."""
        self._asked = text
        self._settings.last_prompt = text
        known_objects = self._studio.model(self._model_id).known_objects
        self._reading.read_again(text, known_objects)
        self._studio.read_prompt(text, self._model_id)

    def use_model(self, model_id: str) -> None:
        """Read prompts with the objects that this model knows."""
        self._model_id = model_id
        if self._asked:
            self.read(self._asked)

    def use_prompt(self, text: str) -> None:
        """Take a prompt that the user chose elsewhere."""
        self._editor.setFocus()
        self._edits.change(tr("other prompt"), self._draft(), Draft(text), self._show_draft)

    def handle(self, event: object) -> None:
        """Follow the scene."""
        self._reading.handle(event)
        match event:
            case SceneChanged(scene=None):
                self._show_relations(None)
                self._editor.show_words(())
            case SceneChanged(scene=scene, contradictions=contradictions) if scene is not None:
                self._show_text(scene)
                self._show_relations(scene)
                doubtful = {name for each in contradictions for name in each.relation_ids}
                for relation_id in doubtful.intersection(self._chips):
                    self._chips[relation_id].show_doubt()

    def _take_typing(self, text: str) -> None:
        before = self._draft()
        self._edits.change(tr("typing"), before, Draft(text), self._show_draft, merge_key="prompt")

    def _draft(self) -> "Draft":
        """Return what stands here; its scene too, which may say more than can be read."""
        return Draft(self._asked, self._studio.session.scene)

    def _show_draft(self, draft: "Draft") -> None:
        if draft.text != self._editor.toPlainText():
            self._editor.show_prompt(draft.text)
        if draft.scene is None:
            self.read(draft.text)
        else:
            self._studio.edit_scene(draft.scene)

    def _edit_scene(self, name: str, scene: SceneGraph) -> None:
        after = Draft(scene.prompt.text, scene)
        self._edits.change(name, self._draft(), after, self._show_draft)

    def _show_text(self, scene: SceneGraph) -> None:
        if scene.prompt.text != self._asked:
            self._asked = self._settings.last_prompt = scene.prompt.text
            self._editor.show_prompt(scene.prompt.text)
        self._editor.show_words(
            tuple(
                MarkedWord(mention.span.start, mention.span.stop, hue)
                for hue, mention in enumerate(scene.mentions)
            )
        )

    def _show_relations(self, scene: SceneGraph | None) -> None:
        in_focus = [name for name, chip in self._chips.items() if chip.has_focus_inside]
        for chip in self._chips.values():
            self._chip_column.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._chips = {}
        if scene is not None:
            for relation in scene.relations:
                self._chips[relation.id] = self._chip(scene, relation)
                self._chip_column.addWidget(self._chips[relation.id])
        for relation_id in set(in_focus).intersection(self._chips):
            self._chips[relation_id].setFocus()
        can_relate = scene is not None and len(scene.mentions) > 1
        self._heading.setVisible(can_relate)
        self._add.setVisible(can_relate)

    def _chip(self, scene: SceneGraph, relation: Relation) -> RelationChip:
        subject, *objects = (
            ChipEnd(scene.mention(end).phrase, hue_of(scene, end)) for end in relation.ends
        )
        offered = [kind for kind in relation_types if _fits(relation, kind.shape)]
        choices = tuple(Choice(kind.id, kind.phrase) for kind in offered)
        chosen = Choice(relation.type.id, relation.type.phrase)
        chip = RelationChip(self._theme, subject, tuple(objects), chosen, choices)
        chip.type_picked.connect(lambda type_id: self._change(relation.id, type_id))
        chip.swap_asked.connect(lambda: self._change(relation.id, relation.type.inverse_id))
        chip.removal_asked.connect(lambda: self._remove(relation.id))
        return chip

    def _change(self, relation_id: RelationId, type_id: str) -> None:
        scene = self._studio.session.scene
        if scene is None:
            return
        try:
            edited = with_relation_type(scene, relation_id, relation_types[type_id])
        except StudioError as error:
            self.problem_met.emit(report_on(error, "Changing the relation"))
            return
        self._edit_scene(tr("changed relation"), edited)

    def _remove(self, relation_id: RelationId) -> None:
        if (scene := self._studio.session.scene) is not None:
            edited = with_relation_removed(scene, relation_id)
            self._edit_scene(tr("removed relation"), edited)

    def _offer_pairs(self) -> None:
        scene = self._studio.session.scene
        if scene is None:
            return
        menu = QMenu(self)
        first_type = next(iter(relation_types))
        for subject in scene.mentions:
            for thing in scene.mentions:
                if subject is not thing:
                    action = menu.addAction(f"{subject.phrase} {first_type.phrase} {thing.phrase}")
                    action.setData((subject.id, thing.id))
        menu.triggered.connect(lambda action: self._connect_pair(*action.data()))
        menu.popup(self._add.mapToGlobal(QPoint(0, self._add.height())))

    def _connect_pair(self, subject: MentionId, thing: MentionId) -> None:
        if (scene := self._studio.session.scene) is not None:
            first_type = next(iter(relation_types))
            edited = with_relation_added(scene, first_type, subject, thing)
            self._edit_scene(tr("added relation"), edited)

    def _lay_out(self) -> None:
        below = QHBoxLayout()
        below.addWidget(self._add)
        below.addStretch()
        chips = QWidget()
        chips.setLayout(self._chip_column)
        self._chip_column.setContentsMargins(0, 0, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.5))
        column.addWidget(self._editor)
        column.addWidget(self._heading)
        column.addWidget(chips)
        column.addWidget(self._reading)
        column.addLayout(below)

    def _dress(self) -> None:
        self._add.setIcon(self._theme.icon("plus", "muted"))


def _fits(relation: Relation, shape: Shape) -> bool:
    """Whether a relation can become one of this shape: "between" takes three things."""
    return (shape is Shape.BETWEEN) <= (relation.second_object is not None)
