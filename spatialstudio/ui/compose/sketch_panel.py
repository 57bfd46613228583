"""Stage 1 on the stage: objects are placed on a sketch, which sets their relations."""

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout

from spatialstudio.application.compose.layouts import (
    BLOB_SIDE,
    Places,
    after_adding,
    after_move,
    after_removing,
    arranged,
    free_place,
    named_in,
)
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.session import (
    MentionPicked,
    RunChanged,
    SceneChanged,
)
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.scene import MentionId, ObjectMention, SceneGraph
from spatialstudio.ui.compose.commands import (
    ADD_THING,
    REMOVE_THING,
    SKETCH,
)
from spatialstudio.ui.compose.prompt_presenter import sketch_blobs, sketch_links
from spatialstudio.ui.compose.widgets.layout_sketch import LayoutSketch, ThingField
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import SPACE, action_button, column, grow, push_button, row
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

LOW_EM = 16
"""Below this height, the text under the sketch is hidden."""
FLAT = 1.6
"""Aspect ratio above which a low panel has its buttons at the side."""
SKETCH_HINT = (
    "Drag objects into place; double-click adds one, Delete removes one. The prompt is updated."
)
PLACEHOLDER = (
    "Mention two objects in the prompt, for example: a cat and a dog. Or double-click "
    "here to add one."
)


@frozen(kw_only=False)
class Sketched:
    """A scene and its objects' positions; the value of a sketch edit."""

    scene: SceneGraph
    places: Places


def take_places(context: WindowContext, request: GenerationRequest) -> None:
    """Use the sketched places of a picture, for the objects that the current prompt shares."""
    session, places = context.studio.session, context.studio.places_from(request)
    if places != session.places:
        name = tr("load places from picture")
        context.edits.change(name, session.places, places, context.studio.use_places)


class SketchPanel(Panel):
    """Lets the user lay out the scene by hand; prompt and chips follow.

    Attributes:
        places: Positions of the objects.
    """

    title = "Layout sketch"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._stage = context.stage
        self._edits = context.edits
        self.places: Places = {}
        self._run_id = run.id if (run := self._studio.session.run) else ""
        self._model_id: str | None = None
        self._new_place = QPointF()
        self._window_signals = context.window_signals
        self._action = context.actions[SKETCH]
        self._removing = context.actions[REMOVE_THING]
        self._hint = TextLabel(tr(SKETCH_HINT), Tone.MUTED)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._sketch = LayoutSketch(context.theme, BLOB_SIDE, tr(PLACEHOLDER))
        self._sketch.blob_moved.connect(self._preview)
        self._sketch.blob_dropped.connect(self._take)
        self._sketch.blob_picked.connect(self._studio.session.pick_mention)
        self._sketch.place_asked.connect(self._ask_name)
        self._sketch.removal_asked.connect(self._remove)
        self._sketch.addAction(self._removing)
        self._field = ThingField(self._sketch)
        self._field.name_entered.connect(self._add)
        close = push_button(
            tr("Close"), lambda: self._stage.show_sketch(False), name=tr("Close the sketch")
        )
        self._foot = row(
            SPACE,
            action_button(context.actions[ADD_THING], tr("Add an object…")),
            action_button(self._removing, tr("Remove")),
            close,
            SPACE,
        )
        self._whole = column(grow(self._sketch), self._hint, self._foot, within=self, gap=0.6)
        self.setFocusProxy(self._sketch)
        self._window_signals.prompt_offered.connect(self._start_over)
        self._window_signals.model_picked.connect(self._use_model)
        context.actions.bind_switch(SKETCH, self._stage.show_sketch)
        context.actions.bind(ADD_THING, self._begin_adding)
        context.actions.bind(REMOVE_THING, self._remove_marked)
        self._stage.sketching_changed.connect(self._follow_switch)
        self._follow_switch()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the hint and move the buttons to the side where there is little room."""
        super().resizeEvent(event)
        is_low = self.height() < em(LOW_EM)
        is_flat = is_low and self.width() > FLAT * self.height()
        self._hint.setVisible(not is_low)
        along, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._whole.setDirection(along if is_flat else down)
        self._foot.setDirection(down if is_flat else along)

    def use_places(self, places: Places) -> None:
        """Use the positions from another sketch of this scene."""
        if (scene := self._scene) is not None:
            self.places = arranged(scene, places)
            self._show(scene)

    def handle(self, event: object) -> None:
        """Follow the scene and the selected object; close the sketch for a generated picture."""
        match event:
            case SceneChanged(scene=None):
                self._show(None)
            case SceneChanged(scene=scene) if scene is not None and scene is self._scene:
                self.places = arranged(scene, self.places)
                self._show(scene)
            case MentionPicked(mention_id=mention_id):
                self._sketch.show_picked(mention_id)
                self._allow_removal()
            case RunChanged(run=run) if run.id != self._run_id:
                self._run_id = run.id
                self._stage.show_sketch(False)

    @property
    def _scene(self) -> SceneGraph | None:
        """The current scene, which a move may have changed since the last event."""
        return self._studio.session.scene

    def _show(self, scene: SceneGraph | None) -> None:
        self._draw(scene, self.places)
        has_things = scene is not None and bool(scene.mentions)
        self._hint.setText(tr(SKETCH_HINT) if has_things else "")
        self._allow_removal()

    def _start_over(self, prompt: str) -> None:
        """Forget moved positions, as a prompt chosen elsewhere has a different layout."""
        self.places = {}
        if self._scene is not None and self._scene.prompt.text == prompt:
            self.use_places({})

    def _moved(self, key: MentionId, place: QPointF) -> Sketched | None:
        """Return the scene and positions with an object moved."""
        if (scene := self._scene) is None:
            return None
        places = {**self.places, key: (place.x(), place.y())}
        return Sketched(after_move(scene, places, key), places)

    def _preview(self, key: MentionId, place: QPointF) -> None:
        if (moved := self._moved(key, place)) is not None:
            self._draw(moved.scene, moved.places)

    def _draw(self, scene: SceneGraph | None, places: Places) -> None:
        blobs = sketch_blobs(scene, places) if scene else ()
        self._sketch.show_sketch(blobs, sketch_links(scene) if scene else ())

    def _take(self, key: MentionId, place: QPointF) -> None:
        scene, moved = self._scene, self._moved(key, place)
        if scene is not None and moved is not None:
            before = Sketched(scene, self.places)
            name = tr("move object")
            self._edits.change(name, before, moved, self._show_sketched, merge_key=f"sketch {key}")

    def _use_model(self, model_id: str) -> None:
        self._model_id = model_id

    def _begin_adding(self) -> None:
        """Ask for an object by keyboard; it is placed in free space."""
        self._stage.show_sketch(True)
        self._ask_name(QPointF(*free_place(self.places)))

    def _ask_name(self, place: QPointF) -> None:
        self._new_place = place
        known = self._studio.model_list.known_objects(self._model_id)
        names = tuple(known) or self._studio.object_names
        self._field.open_at(self._sketch.point_of(place).toPoint(), names)

    def _add(self, name: str) -> None:
        """Add the named object; keep the field open if it cannot be added."""
        try:
            thing = self._studio.thing_named(name, self._model_id)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Adding an object")))
            return
        self._field.give_back()
        if (scene := self._scene) is None:
            self._add_first(thing)
            return
        place = self._new_place.x(), self._new_place.y()
        grown, places, new = after_adding(scene, self.places, thing, place)
        before = Sketched(scene, self.places)
        self._edits.change(tr("add object"), before, Sketched(grown, places), self._show_sketched)
        self._studio.session.pick_mention(new)

    def _remove_marked(self) -> None:
        if (marked := self._marked) is not None:
            self._remove(marked)

    def _remove(self, key: MentionId) -> None:
        """Remove an object; removing the last one clears the prompt."""
        if (scene := self._scene) is None:
            return
        if len(scene.mentions) == 1:
            self._window_signals.prompt_offered.emit("")
            return
        left = Sketched(*after_removing(scene, self.places, key))
        before = Sketched(scene, self.places)
        self._edits.change(tr("remove object"), before, left, self._show_sketched)
        self._studio.session.pick_mention(left.scene.mentions[0].id)

    def _add_first(self, thing: ObjectMention) -> None:
        """Write an object into a prompt without objects, or one that cannot be parsed."""
        self._window_signals.prompt_offered.emit(
            named_in(self._studio.storage.drafts.newest.prompt, thing)
        )
        self._sketch.setFocus()
        if (scene := self._scene) is not None:
            new = scene.mentions[-1].id
            self.use_places({new: (self._new_place.x(), self._new_place.y())})
            self._studio.session.pick_mention(new)

    def _show_sketched(self, sketched: Sketched) -> None:
        self.places = sketched.places
        if sketched.scene == self._scene:
            self._show(sketched.scene)
        else:
            self._studio.use_scene(sketched.scene)

    @property
    def _marked(self) -> MentionId | None:
        """The selected object of the scene."""
        scene, picked = self._scene, self._studio.session.mention_id
        known = () if scene is None else (mention.id for mention in scene.mentions)
        return picked if picked in known else None

    def _allow_removal(self) -> None:
        self._removing.setEnabled(self._stage.is_sketching and self._marked is not None)

    def _follow_switch(self) -> None:
        self._action.setChecked(self._stage.is_sketching)
        self._allow_removal()
        if self._stage.is_sketching:
            self._sketch.setFocus()
