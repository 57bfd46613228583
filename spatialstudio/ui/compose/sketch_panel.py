"""Stage 1 on the stage: objects are placed on a sketch, which sets relations and targets."""

from dataclasses import replace

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QWidget

from spatialstudio.application.compose.layouts import (
    BLOB_SIDE,
    Places,
    Spot,
    after_adding,
    after_move,
    after_removing,
    arranged,
    free_place,
    hold_at,
    named_in,
    places_for,
)
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.run.queue import QueueChanged
from spatialstudio.application.session import (
    MentionPicked,
    OpenRun,
    PlacesChanged,
    RunChanged,
    SceneChanged,
)
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest, PlaceTarget
from spatialstudio.domain.run_settings import RunSettings, SketchedPlaces, places_of
from spatialstudio.domain.scene import MentionId, ObjectMention, SceneGraph
from spatialstudio.ui.compose.commands import (
    ADD_THING,
    FREE_PLACES,
    HOLD_PLACE,
    HOLD_PLACES,
    REMOVE_THING,
    SKETCH,
)
from spatialstudio.ui.compose.prompt_presenter import found_marks, sketch_blobs, sketch_links
from spatialstudio.ui.compose.widgets.found_marks import FoundOverlay
from spatialstudio.ui.compose.widgets.layout_sketch import LayoutSketch
from spatialstudio.ui.compose.widgets.place_weight import PlaceWeight
from spatialstudio.ui.compose.widgets.thing_field import ThingField
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.builders import (
    SPACE,
    action_button,
    column,
    flow,
    grow,
    push_button,
    row,
)
from spatialstudio.ui.widgets.texts import TextLabel, Tone, plain_tip, tr

SKETCH_SHARE = 0.5
"""Part of the height that the sketch has at least above its controls."""
FLAT = 1.4
"""Aspect ratio above which the controls are at the side."""
WIDEST = 16777215
"""Width of a widget without a limit, as in Qt."""
SIDE_EM = 17
"""Width of the controls at the side."""
SKETCH_HINT = (
    "Drag objects into place, or double-click to add one; the prompt is updated. A picture follows "
    "the places that are held, and the relations; free objects may be anywhere."
)
HOLD_TEXT, FREE_TEXT = "Hold place", "Free place"
OFF_HINT = "Guidance is off: the picture follows neither places nor relations."
LIVE_TIP = "Draw the layout with few steps after each change; these pictures are not stored."
PLACEHOLDER = (
    "Mention two objects in the prompt, for example: a cat and a dog. Or double-click "
    "here to add one."
)


@frozen(kw_only=False)
class Sketched:
    """A scene, its objects' positions, and the places that are held; the value of an edit."""

    scene: SceneGraph
    places: Places
    held: SketchedPlaces


def take_places(context: WindowContext, request: GenerationRequest) -> None:
    """Use the sketched places of a picture, for the objects that the current prompt shares."""
    session = context.studio.session
    if (scene := session.scene) is not None:
        places = places_for(scene, places_of(request), request.scene).within(scene)
        name = tr("load places from picture")
        context.edits.change(name, session.places, places, context.studio.use_places)


class SketchPanel(Panel):
    """Lets the user lay out the scene by hand; prompt, chips and the next picture follow.

    Attributes:
        places: Displayed positions of the objects.
        overlay: Shows on the picture how far its objects are from their places.
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
        self._shown_run: OpenRun | None = None
        self._new_place: QPointF | None = None
        self._settings = self._studio.storage.drafts.newest.settings
        self._window_settings = context.settings
        self._window_signals = context.window_signals
        self._action = context.actions[SKETCH]
        self._removing = context.actions[REMOVE_THING]
        self._place_actions = tuple(
            context.actions[each] for each in (HOLD_PLACE, HOLD_PLACES, FREE_PLACES)
        )
        self._hint = TextLabel(tr(SKETCH_HINT), Tone.MUTED)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._warning = TextLabel("", Tone.WARNING)
        self._warning.hide()
        self._weight = PlaceWeight()
        self._weight.weight_picked.connect(self._take_weight)
        self._live = QCheckBox(tr("Live preview"))
        self._live.setAccessibleName(tr("Live preview"))
        self._live.setToolTip(plain_tip(tr(LIVE_TIP)))
        self._live.clicked.connect(self._switch_live)
        self._show_live()
        self._sketch = LayoutSketch(context.theme, BLOB_SIDE, tr(PLACEHOLDER))
        self._connect_sketch()
        self.overlay = FoundOverlay(context.theme)
        self._show_found()
        self._field = ThingField(self._sketch)
        self._field.name_entered.connect(self._add)
        self._bind(context)
        self._lay_out(context)
        self._follow_switch()

    def _connect_sketch(self) -> None:
        self._sketch.blob_moved.connect(lambda *to: self._preview(self._moved(*to)))
        self._sketch.blob_dropped.connect(self._take)
        self._sketch.size_moved.connect(lambda *to: self._preview(self._sized(*to)))
        self._sketch.size_picked.connect(self._take_size)
        self._sketch.hold_picked.connect(self._hold)
        self._sketch.blob_picked.connect(self._sketch.show_picked)  # the next key may not wait
        self._sketch.blob_picked.connect(self._studio.session.pick_mention)
        self._sketch.place_asked.connect(self._ask_name_at)
        self._sketch.removal_asked.connect(self._remove)
        self._sketch.addAction(self._removing)
        self._sketch.addAction(self._place_actions[0])

    def _bind(self, context: WindowContext) -> None:
        self._window_signals.prompt_offered.connect(self._start_over)
        self._window_signals.spots_offered.connect(self._use_spots)
        self._window_signals.model_picked.connect(self._use_model)
        self._window_signals.settings_changed.connect(self._follow_settings)
        context.actions.bind_switch(SKETCH, self._stage.show_sketch)
        context.actions.bind(ADD_THING, self._begin_adding)
        context.actions.bind(REMOVE_THING, self._remove_marked)
        context.actions.bind(HOLD_PLACE, self._switch_marked)
        context.actions.bind(HOLD_PLACES, self._hold_all)
        context.actions.bind(FREE_PLACES, self._free_all)
        self._stage.sketching_changed.connect(self._follow_switch)

    def _lay_out(self, context: WindowContext) -> None:
        hold, hold_all, free_all = self._place_actions
        self._hold_button = action_button(hold, tr(HOLD_TEXT))
        self._holding = flow(
            self._hold_button,
            action_button(hold_all, tr("Hold all places")),
            action_button(free_all, tr("Free all places")),
            gap=0.5,
        )
        self._adding = flow(
            action_button(context.actions[ADD_THING], tr("Add an object…")),
            action_button(self._removing, tr("Remove")),
            gap=0.5,
        )
        close = push_button(
            tr("Close"), lambda: self._stage.show_sketch(False), name=tr("Close the sketch")
        )
        self._side = QWidget()
        column(
            *(self._hint, self._warning, self._weight),
            *(self._holding, self._adding, row(self._live, SPACE, close), SPACE),
            within=self._side,
            gap=0.5,
            edges=(0.8, 0, 0.8, 0.4),
        )
        self._whole = column(grow(self._sketch), self._side, within=self, gap=0.6)
        self.setFocusProxy(self._sketch)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the controls to the side where the panel is flat."""
        super().resizeEvent(event)
        along, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._whole.setDirection(along if self._is_flat else down)
        self._side.setMaximumWidth(em(SIDE_EM) if self._is_flat else WIDEST)
        self._make_room()

    @property
    def _is_flat(self) -> bool:
        return self.width() > FLAT * self.height()

    def _make_room(self) -> None:
        """Hide the hint, then some buttons, as long as the controls leave too little room."""
        width = em(SIDE_EM) if self._is_flat else self.width()
        room = self.height() * (1 if self._is_flat else 1 - SKETCH_SHARE)
        optional = (self._hint, self._holding, self._adding)  # menus and keys do the same
        for part in optional:
            part.show()
        for part in optional:
            if self._side.heightForWidth(width) > room:
                part.hide()

    def use_places(self, places: Places) -> None:
        """Use the positions from another sketch of this scene."""
        if (scene := self._scene) is not None:
            self.places = arranged(scene, places, self._held)
            self._show(scene)

    def handle(self, event: object) -> None:
        """Follow the scene and the selected object; close the sketch for a generated picture."""
        match event:
            case SceneChanged(scene=None):
                self._show(None)
            case SceneChanged(scene=scene) if scene is not None and scene is self._scene:
                self.use_places(self.places)
            case PlacesChanged():
                self.use_places(self.places)
                self._draw_live(self._now)
            case MentionPicked(mention_id=mention_id):
                self._sketch.show_picked(mention_id)
                self._allow()
            case QueueChanged() if self._studio.queue.running is not None:
                self._studio.preview.stop()
            case RunChanged(run=run):
                if run.id != self._run_id:
                    self._run_id = run.id
                    self._stage.show_sketch(False)
                self._show_found()
        if (image := self._studio.preview.apply_event(event)) is not None and self._draws_live:
            self._sketch.show_picture(rgb_image(image))

    @property
    def _draws_live(self) -> bool:
        return self._stage.is_sketching and self._live.isChecked()

    def _draw_live(self, sketched: Sketched | None, *, is_final: bool = True) -> None:
        """Ask for a quick picture of a layout."""
        if self._settings is None or sketched is None or not self._draws_live:
            return
        self._studio.preview.draw(sketched.scene, self._settings, sketched.held, is_final=is_final)

    def _switch_live(self, on: bool) -> None:
        self._window_settings.live_preview = on
        if on:
            self._draw_live(self._now)
        else:
            self._stop_live()

    def _stop_live(self) -> None:
        self._studio.preview.stop()
        self._sketch.show_picture(None)

    @property
    def _scene(self) -> SceneGraph | None:
        """The current scene, which a move may have changed since the last event."""
        return self._studio.session.scene

    @property
    def _held(self) -> SketchedPlaces:
        """The places that the next picture should have."""
        return self._studio.session.places

    @property
    def _now(self) -> Sketched | None:
        scene = self._scene
        return None if scene is None else Sketched(scene, self.places, self._held)

    def _show_found(self) -> None:
        """Show where the objects of the open run are, once it is evaluated."""
        run = self._studio.session.run
        before, self._shown_run = self._shown_run, run
        if (run.evaluation if run else None) is not (before.evaluation if before else None):
            marks = found_marks(run)
            self._sketch.show_found(marks)
            self.overlay.show_found(marks)

    def _show(self, scene: SceneGraph | None) -> None:
        self._draw(scene, self.places, self._held)
        has_things = scene is not None and bool(scene.mentions)
        self._hint.setText(tr(SKETCH_HINT) if has_things else "")
        self._warn()
        self._weight.show_weight(self._held.weight, is_used=bool(self._held.targets))
        if scene and has_things and self._sketch.hasFocus() and self._marked is None:
            self._studio.session.pick_mention(scene.mentions[0].id)  # keys need one
        self._allow()

    def _warn(self) -> None:
        """Say that held places are not used while guidance is off."""
        is_used = _is_guided(self._settings) or not self._held.targets
        self._warning.show_text("" if is_used else tr(OFF_HINT))
        self._make_room()

    def _start_over(self, prompt: str) -> None:
        """Forget positions, as a prompt chosen elsewhere has a different layout."""
        self.places = {}
        self._studio.forget_places(prompt)
        if self._scene is not None and self._scene.prompt.text == prompt:
            self.use_places({})

    def _use_spots(self, spots: tuple[Spot, ...], is_held: bool) -> None:
        """Show the objects of a template's prompt where the template has them."""
        if (scene := self._scene) is None:
            return
        things = zip(scene.mentions, spots, strict=False)
        where = {mention.id: (spot.x, spot.y) for mention, spot in things}
        self.use_places(where)
        if is_held and where.keys() >= {mention.id for mention in scene.mentions}:
            self._change_held(tr("hold places"), hold_at(scene, where, self._held))

    def _moved(self, key: MentionId, place: QPointF) -> Sketched | None:
        """Return the scene and positions with an object moved, which holds its place."""
        if (scene := self._scene) is None:
            return None
        x, y = place.x(), place.y()
        places = {**self.places, key: (x, y)}
        target = PlaceTarget(mention_id=key, x=x, y=y, size=self._size_of(key))
        return Sketched(after_move(scene, places, key), places, self._held.with_target(target))

    def _sized(self, key: MentionId, size: float | None) -> Sketched | None:
        """Return the scene with the size of an object changed, which holds its place."""
        if (scene := self._scene) is None:
            return None
        x, y = self.places[key]
        target = PlaceTarget(mention_id=key, x=x, y=y, size=size)
        return Sketched(scene, self.places, self._held.with_target(target))

    def _size_of(self, key: MentionId) -> float | None:
        held = self._held.target_of(key)
        return held.size if held else None

    def _preview(self, sketched: Sketched | None) -> None:
        if sketched is not None:
            self._draw(sketched.scene, sketched.places, sketched.held)
            self._draw_live(sketched, is_final=False)

    def _draw(self, scene: SceneGraph | None, places: Places, held: SketchedPlaces) -> None:
        blobs = sketch_blobs(scene, places, held) if scene else ()
        self._sketch.show_sketch(blobs, sketch_links(scene) if scene else ())

    def _take(self, key: MentionId, place: QPointF) -> None:
        self._change(tr("move object"), self._moved(key, place), f"sketch {key}")

    def _take_size(self, key: MentionId, size: float | None) -> None:
        self._change(tr("change size"), self._sized(key, size), f"size {key}")

    def _take_weight(self, weight: float) -> None:
        name = tr("change weight of places")
        self._change_held(name, replace(self._held, weight=weight), "weight of places")

    def _hold(self, key: MentionId, is_held: bool) -> None:
        x, y = self.places[key]
        held = self._held.with_target(PlaceTarget(mention_id=key, x=x, y=y))
        if is_held:
            self._change_held(tr("hold place"), held)
        else:
            self._change_held(tr("free place"), self._held.without(key))

    def _switch_marked(self) -> None:
        if (marked := self._marked) is not None:
            self._hold(marked, self._held.target_of(marked) is None)

    def _hold_all(self) -> None:
        if (scene := self._scene) is not None:
            self.use_places(self.places)  # the scene may be newer than the last event
            self._change_held(tr("hold places"), hold_at(scene, self.places, self._held))

    def _free_all(self) -> None:
        self._change_held(tr("free places"), replace(self._held, targets=()))

    def _change(self, name: str, after: Sketched | None, merge_key: str = "") -> None:
        if (before := self._now) is not None and after is not None:
            self._edits.change(name, before, after, self._show_sketched, merge_key=merge_key)

    def _change_held(self, name: str, after: SketchedPlaces, merge_key: str = "") -> None:
        apply = self._studio.use_places
        self._edits.change(name, self._held, after, apply, merge_key=merge_key)

    def _use_model(self, model_id: str) -> None:
        self._model_id = model_id

    def _follow_settings(self, settings: RunSettings) -> None:
        self._settings = settings
        self._show_live()
        self._warn()

    def _show_live(self) -> None:
        """Check the box as the user chose; unasked, quick models draw live previews."""
        model_id = self._settings.model_id if self._settings else ""
        is_quick = self._studio.judge_defaults.draws_stickers(model_id)
        chosen = self._window_settings.live_preview
        self._live.setChecked(is_quick if chosen is None else chosen)

    def _begin_adding(self) -> None:
        """Ask for an object by keyboard; it is displayed in free space, and its place is free."""
        self._stage.show_sketch(True)
        self._new_place = None
        self._ask_name(QPointF(*free_place(self.places)))

    def _ask_name_at(self, place: QPointF) -> None:
        """Ask for an object at a place of the user's choice, which it holds."""
        self._new_place = place
        self._ask_name(place)

    def _ask_name(self, place: QPointF) -> None:
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
        if (before := self._now) is None:
            self._add_first(thing)
            return
        chosen = self._new_place
        place = (chosen.x(), chosen.y()) if chosen else free_place(self.places)
        grown, places, new = after_adding(before.scene, self.places, thing, place)
        held = self._held
        if chosen is not None:
            held = held.with_target(PlaceTarget(mention_id=new, x=place[0], y=place[1]))
        self._change(tr("add object"), Sketched(grown, places, held))
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
        left = Sketched(*after_removing(scene, self.places, key), self._held.without(key))
        self._change(tr("remove object"), left)
        self._studio.session.pick_mention(left.scene.mentions[0].id)

    def _add_first(self, thing: ObjectMention) -> None:
        """Write an object into a prompt without objects, or one that cannot be parsed."""
        self._window_signals.prompt_offered.emit(
            named_in(self._studio.storage.drafts.newest.prompt, thing)
        )
        self._sketch.setFocus()
        if (scene := self._scene) is not None:
            new = scene.mentions[-1].id
            if (chosen := self._new_place) is not None:
                self.use_places({new: (chosen.x(), chosen.y())})
                self._hold(new, is_held=True)
            self._studio.session.pick_mention(new)

    def _show_sketched(self, sketched: Sketched) -> None:
        self.places = sketched.places
        is_same = sketched.scene == self._scene
        if not is_same:
            self._studio.use_scene(sketched.scene)
        self._studio.use_places(sketched.held)
        if is_same:
            self._show(sketched.scene)

    @property
    def _marked(self) -> MentionId | None:
        """The selected object of the scene."""
        scene, picked = self._scene, self._studio.session.mention_id
        known = () if scene is None else (mention.id for mention in scene.mentions)
        return picked if picked in known else None

    def _allow(self) -> None:
        marked = self._marked if self._stage.is_sketching else None
        is_marked = marked is not None
        hold, hold_all, free_all = self._place_actions
        is_held = marked is not None and self._held.target_of(marked) is not None
        self._hold_button.setText(tr(FREE_TEXT if is_held else HOLD_TEXT))
        self._removing.setEnabled(is_marked)
        hold.setEnabled(is_marked)
        mentions = self._scene.mentions if self._scene else ()
        hold_all.setEnabled(self._stage.is_sketching and len(self._held.targets) < len(mentions))
        free_all.setEnabled(bool(self._held.targets))

    def _follow_switch(self) -> None:
        self._action.setChecked(self._stage.is_sketching)
        self._allow()
        if self._stage.is_sketching:
            self._sketch.setFocus()
        else:
            self._stop_live()


def _is_guided(settings: RunSettings | None) -> bool:
    """Return True if settings guide the picture; those of a model that were never changed do."""
    guidance = settings.sampling.guidance if settings else None
    return guidance is None or guidance.is_on
