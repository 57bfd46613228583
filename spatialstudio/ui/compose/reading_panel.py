"""Stage 1, doubts about the reading: contradictions, and the language model's other readings."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Signal

from spatialstudio.application.compose.compare_readings import (
    Offer,
    accept,
    is_typed_on,
    not_dismissed,
)
from spatialstudio.application.compose.language_model import (
    KeyLookedUp,
    ReadAgain,
    ServerKept,
    ServerTried,
)
from spatialstudio.application.compose.scene_advice import (
    Advice,
    AdviceKind,
    advice_on,
    follow,
)
from spatialstudio.application.session import SceneChanged
from spatialstudio.domain.scene import Note, SceneGraph, TextSpan
from spatialstudio.ui.compose.widgets.reading_notes import (
    NoteKind,
    ReadingNote,
    ReadingNotes,
)
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.window_signals import LANGUAGE_MODEL_PAGE
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.texts import tr

KINDS = {
    AdviceKind.CONTRADICTION: NoteKind.CONTRADICTION,
    AdviceKind.REDUNDANCY: NoteKind.REDUNDANCY,
}


class ReadingPanel(Panel):
    """Shows doubts about a prompt's reading, with a second reading by a language model.

    Emits ``scene_edited`` with a name for the edit and the new scene when the user accepts a
    suggestion, and ``words_pointed`` with the spans of the focused note.
    """

    scene_edited = Signal(str, object)
    words_pointed = Signal(tuple)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._window_signals = context.window_signals
        self._known_objects: Mapping[str, str] = {}
        self._asked = ""
        self._offers: tuple[Offer, ...] = ()
        self._dismissed: tuple[str, ...] = ()
        self._model_notes: tuple[Note, ...] = ()
        self._failure: Note | None = None
        self._cut: tuple[str, ...] = ()
        self._notes = ReadingNotes(context.theme)
        self._notes.answer_picked.connect(self._take_answer)
        self._notes.words_pointed.connect(self.words_pointed)
        column(self._notes, within=self)

    def read_again(self, text: str, known_objects: Mapping[str, str]) -> None:
        """Have the language model read a prompt as well, if one is selected.

        Args:
            text: The prompt.
            known_objects: Objects that the generation model knows, by name; empty for any.
        """
        self._known_objects = known_objects
        self._begin(text)
        self._ask()

    def tell_cut(self, phrases: tuple[str, ...]) -> None:
        """Show which objects of the prompt exceed the model's token limit; empty for none."""
        self._cut = phrases
        self._show(self._studio.session.scene)

    def handle(self, event: object) -> None:
        """Follow the scene, the second reading, and the choice of server."""
        match event:
            case SceneChanged(scene=None, error=error):
                said = f"{error.message} {error.hint}".strip() if error else ""
                remarks = (Note(message=said),) if said and self._asked.strip() else ()
                self._notes.show_notes(tuple(map(_remark, remarks)))
            case SceneChanged(scene=scene):
                self._show(scene)
            case ReadAgain(scene=later, failure=failure):
                self._compare(later, failure)
            case ServerKept() | ServerTried() | KeyLookedUp():
                self._window_signals.server_reported.emit(event)
                if event == ServerKept() and self._failure is not None:
                    self._ask_again_now()

    def _ask(self) -> None:
        if self._asked.strip() and self._studio.language_model.choice.is_complete:
            self._studio.request_second_reading(self._asked)

    def _ask_again_now(self) -> None:
        """Retry the language model after a failure."""
        self._failure = None
        self._show(self._studio.session.scene)
        self._ask()

    def _compare(self, later: SceneGraph, failure: Note | None) -> None:
        shown = self._studio.session.scene
        if shown is None or shown.prompt.text != later.prompt.text:
            return
        self._failure = failure
        if failure is not None:
            self._show(shown)
            return
        compared = self._studio.compare_with_scene(later, self._known_objects or None)
        if compared is not None:
            self._offers = not_dismissed(compared.offers, self._dismissed)
            self._model_notes = compared.notes
            self._show(compared.scene)

    def _begin(self, text: str) -> None:
        """Reset the notes of the previous text, and the dismissed ones of another prompt."""
        if not is_typed_on(self._asked, text):
            self._dismissed = ()
        if text != self._asked:
            self._asked = text
            self._offers, self._model_notes, self._cut, self._failure = (), (), (), None

    def _show(self, scene: SceneGraph | None) -> None:
        if scene is None:
            return
        self._begin(scene.prompt.text)
        there = {relation.id for relation in scene.relations}
        self._offers = tuple(
            offer for offer in self._offers if offer.removed is None or offer.removed in there
        )
        self._notes.show_notes(
            (
                *_cut_off(self._cut),
                *(_offered(offer, scene) for offer in self._offers),
                *map(_advised, advice_on(scene)),
                *_failed(self._failure),
                *map(_remark, (*self._model_notes, *scene.notes)),
            )
        )

    def _take_answer(self, key: object, answer: int) -> None:
        scene = self._studio.session.scene
        if scene is None:
            return
        match key:
            case Note():
                ask = partial(self._window_signals.settings_asked.emit, LANGUAGE_MODEL_PAGE)
                (self._ask_again_now if answer == 0 else ask)()
            case Advice() as advice:
                self.scene_edited.emit(tr("correct relation"), follow(advice, scene))
            case Offer() as offer:
                self._offers = tuple(each for each in self._offers if each != offer)
                if answer == 0:
                    self.scene_edited.emit(tr("accept interpretation"), accept(scene, offer))
                else:
                    self._dismissed += (offer.message,)
                    self._show(scene)


def _offered(offer: Offer, scene: SceneGraph) -> ReadingNote:
    removed = (each for each in scene.relations if each.id == offer.removed)
    relation = offer.added or next(removed, None)
    spans = _ends(relation.span if relation else None)
    answers = (tr("Accept"), tr("Dismiss"))
    return ReadingNote(offer, NoteKind.OFFER, offer.message, answers, spans)


def _advised(advice: Advice) -> ReadingNote:
    message = f"{advice.message} {advice.fix}?"
    answers = (tr("Remove"),)
    return ReadingNote(advice, KINDS[advice.kind], message, answers, _ends(*advice.spans))


def _cut_off(phrases: tuple[str, ...]) -> tuple[ReadingNote, ...]:
    if not phrases:
        return ()
    names = ", ".join(phrases)
    said = tr(
        "The text encoder cannot read {names}. Shorten the prompt, or move this "
        "object towards its start."
    )
    return (ReadingNote(names, NoteKind.CUT, said.format(names=names)),)


def _failed(failure: Note | None) -> tuple[ReadingNote, ...]:
    if failure is None:
        return ()
    answers = (tr("Try again"), tr("Settings…"))
    return (ReadingNote(failure, NoteKind.FAILURE, failure.message, answers),)


def _remark(note: Note) -> ReadingNote:
    return ReadingNote(note, NoteKind.REMARK, note.message, spans=_ends(note.span))


def _ends(*spans: TextSpan | None) -> tuple[tuple[int, int], ...]:
    return tuple((span.start, span.stop) for span in spans if span)
