"""Stage 1, prompt to relations: text, relation chips, and problems of the reading."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QMenu

from spatialstudio.application.compose.edit_relations import (
    relation_of,
    with_mention_weighed,
    with_relation_at,
    with_relation_end,
    with_relation_muted,
    with_relation_swapped,
    with_relation_weight,
)
from spatialstudio.application.compose.read_prompt import (
    with_relation_added,
    with_relation_removed,
    with_relation_type,
)
from spatialstudio.application.compose.scene_advice import follow
from spatialstudio.application.compose.token_counter import count_of, cut_off
from spatialstudio.application.compose.wildcards import marked_syntax
from spatialstudio.application.compose.write_prompt import counterfactual
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.messages import TokensRead
from spatialstudio.application.session import (
    RelationPicked,
    RunChanged,
    SceneChanged,
)
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    RelationId,
    SceneGraph,
    relation_types,
)
from spatialstudio.ui.compose import commands as commands
from spatialstudio.ui.compose.prompt_presenter import (
    chip_rows,
    doubts_of,
    marked_words,
    things_of,
)
from spatialstudio.ui.compose.reading_panel import ReadingPanel
from spatialstudio.ui.compose.widgets.prompt_editor import PromptEditor, TokenMarks
from spatialstudio.ui.compose.widgets.relation_chips import RelationChips
from spatialstudio.ui.framework.actions import Actions
from spatialstudio.ui.framework.command import Scope
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.window_settings import WindowSettings
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import SPACE, ThemedIcon, column, push_button, row
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr


@frozen(kw_only=False)
class Draft:
    """The editor's prompt, and its scene once it is parsed."""

    text: str
    scene: SceneGraph | None = None


class PromptPanel(Panel):
    """Lets the user edit the prompt and its relations, which stay synchronised."""

    title = "Prompt"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        theme = context.theme
        self._edits = context.edits
        self._history = PromptHistory(context.settings)
        self._asked = ""
        self._model_id: str | None = None
        self._has_all_words = False
        self._editor = PromptEditor(theme)
        self._editor.prompt_edited.connect(self._take_typing)
        self._editor.document().contentsChanged.connect(self._mark_syntax)
        self._counter = TextLabel("", Tone.MUTED, small=True)
        self._counter.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._counter.setToolTip(tr("Tokens of the prompt, and the text encoder's limit"))
        self._counter.hide()
        self._chips = RelationChips(theme)
        self._heading = TextLabel(tr("Relations"), Tone.HEADING)
        self._heading.hide()
        self._reading = ReadingPanel(context)
        self._reading.scene_edited.connect(self._edit_scene)
        self._reading.words_pointed.connect(self._editor.show_pointed)
        self._add = push_button(tr("Add relation"), self._offer_pairs, kind="quiet")
        self._add.setIconSize(QSize(em(0.9), em(0.9)))
        self._add.hide()
        ThemedIcon(self._add, theme, "plus", "muted")
        column(
            *(self._editor, self._counter, self._heading, self._chips, self._reading),
            row(self._add, SPACE),
            within=self,
            gap=0.5,
        )
        self.setFocusProxy(self._editor)
        self._follow_chips()
        self._bind(context.actions)
        if context.settings.extractor in self._studio.plugins.adapter_ids("extractor"):
            self._studio.extractor_id = context.settings.extractor
        context.window_signals.extractor_chosen.connect(self._read_again)
        context.window_signals.prompt_offered.connect(self.use_prompt)
        context.window_signals.model_picked.connect(self.use_model)
        context.window_signals.prompt_wanted.connect(self._editor.settle)

    def restore(self) -> None:
        """Restore the prompt and edits of the previous session."""
        kept = self._studio.storage.drafts.newest
        if kept.prompt and not self._asked:
            self._apply_draft(Draft(kept.prompt, kept.scene))
            self._studio.use_places(kept.places)

    def read(self, text: str) -> None:
        """Parse a prompt that the user wrote."""
        self._asked = text
        known_objects = self._studio.model_list.known_objects(self._model_id)
        self._reading.read_again(text, known_objects)
        self._studio.use_prompt(text, self._model_id)
        self._offer_words()
        self._count(text)

    def use_model(self, model_id: str) -> None:
        """Parse prompts with the objects that this model knows."""
        self._model_id = model_id
        self._editor.show_vocabulary(tuple(self._studio.model_list.known_objects(model_id)))
        self._has_all_words = False
        self._read_again()

    def use_prompt(self, text: str) -> None:
        """Use a prompt that the user chose elsewhere."""
        self._editor.setFocus()
        self._edits.change(tr("change prompt"), self._draft(), Draft(text), self._apply_draft)

    def handle(self, event: object) -> None:
        """Follow the scene, the selected relation, and generation."""
        self._reading.handle(event)
        match event:
            case SceneChanged(scene=scene):
                self._show_text(scene)
                self._show_relations(scene)
            case RelationPicked(relation_id=relation_id):
                self._chips.show_picked(relation_id)
            case TokensRead(prompt=prompt) if prompt == self._asked:
                self._show_tokens(event)
            case RunChanged(run=run) if run.request is not None and not run.is_over:
                drawn = run.scene.prompt
                self._history.remember(drawn.template or drawn.as_typed)

    def _read_again(self) -> None:
        if self._asked:
            self.read(self._asked)

    def _take_typing(self, text: str) -> None:
        before = self._draft()
        self._edits.change(tr("typing"), before, Draft(text), self._apply_draft, merge_key="prompt")

    def _draft(self) -> "Draft":
        """Return the prompt and its scene, which may contain more than the text expresses."""
        return Draft(self._asked, self._studio.session.scene)

    def _apply_draft(self, draft: "Draft") -> None:
        if draft.text != self._editor.toPlainText():
            self._editor.show_prompt(draft.text)
        if draft.scene is None:
            self.read(draft.text)
        else:
            self._studio.use_scene(draft.scene)

    def _edit(self, name: str, change: Callable[..., SceneGraph], *wanted: Any) -> None:
        """Edit the scene with a function of the application."""
        scene = self._studio.session.scene
        if scene is None:
            return
        try:
            edited = change(scene, *wanted)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Changing the relation")))
            return
        self._edit_scene(name, edited)

    def _edit_scene(self, name: str, scene: SceneGraph) -> None:
        after = Draft(scene.prompt.text, scene)
        self._edits.change(name, self._draft(), after, self._apply_draft)

    def _show_text(self, scene: SceneGraph | None) -> None:
        if scene is not None and scene.prompt.text != self._asked:
            self._asked = scene.prompt.text
            self._editor.show_prompt(scene.prompt.text)
            self._count(scene.prompt.text)
        self._editor.show_words(marked_words(scene) if scene else ())

    def _mark_syntax(self) -> None:
        spans = marked_syntax(self._editor.toPlainText())
        self._editor.show_syntax(tuple((span.start, span.stop) for span in spans))

    def _offer_words(self) -> None:
        """Complete to all object names, which the first prompt makes available without delay."""
        if self._has_all_words:
            return
        self._has_all_words = True
        names = self._studio.object_names
        known = tuple(self._studio.model_list.known_objects(self._model_id)) or names
        drawable = frozenset(known)
        beyond = tuple(name for name in names if name not in drawable)
        self._editor.show_vocabulary(known, beyond)

    def _count(self, text: str) -> None:
        """Request the prompt's token count; hide the count for an empty prompt."""
        self._counter.setVisible(bool(text.strip()))
        if self._studio.models:
            self._studio.tokens.read(text, self._studio.model(self._model_id))

    def _show_tokens(self, event: TokensRead) -> None:
        """Show the model's tokens, and what exceeds its limit."""
        count, scene = count_of(event.readings), self._studio.session.scene
        spans = tuple((token.start, token.stop) for token in count.tokens)
        read = len(event.prompt) if spans and count.read == spans[-1][1] else count.read
        self._editor.show_tokens(TokenMarks(event.prompt, spans, read))
        number = tr("{count} of {limit} tokens").format(count=len(spans), limit=count.limit)
        self._counter.setText(number)
        self._reading.tell_cut(
            tuple(thing.phrase for thing in cut_off(scene, count.read)) if scene else ()
        )

    def _show_relations(self, scene: SceneGraph | None) -> None:
        rows = (chip_rows(scene), things_of(scene)) if scene else ((), ())
        self._chips.show_rows(*rows)
        self._chips.follow_tabs(self._editor)
        can_relate = scene is not None and len(scene.mentions) > 1
        self._heading.setVisible(can_relate)
        self._add.setVisible(can_relate)

    def _follow_chips(self) -> None:
        chips = self._chips
        changed, muted = tr("change relation"), tr("mute relation")
        chips.picked.connect(self._studio.session.pick_relation)
        chips.type_picked.connect(
            lambda key, kind: self._edit(changed, with_relation_type, key, relation_types[kind])
        )
        chips.end_picked.connect(lambda *to: self._edit(changed, with_relation_end, *to))
        chips.end_dragged.connect(
            lambda _key, _end, place: self._editor.show_target(self._editor.thing_at(place))
        )
        chips.end_dropped.connect(self._hang_on_word)
        chips.swap_asked.connect(lambda key: self._edit(changed, with_relation_swapped, key))
        chips.removal_asked.connect(
            lambda key: self._edit(tr("remove relation"), with_relation_removed, key)
        )
        chips.fix_asked.connect(self._correct)
        chips.mute_picked.connect(lambda *to: self._edit(muted, with_relation_muted, *to))
        chips.weight_picked.connect(
            lambda *to: self._edit(tr("change weight"), with_relation_weight, *to)
        )
        chips.rank_picked.connect(lambda *to: self._edit(tr("change order"), with_relation_at, *to))

    def _hang_on_word(self, key: RelationId, end: int, place: QPoint) -> None:
        """Attach an end of a relation to the word it was dropped on."""
        self._editor.show_target(None)
        if (thing := self._editor.thing_at(place)) is not None:
            self._edit(tr("change relation"), with_relation_end, key, end, thing)

    def _correct(self, key: RelationId) -> None:
        if (scene := self._studio.session.scene) is not None:
            self._edit_scene(tr("correct relation"), follow(doubts_of(scene)[key], scene))

    def _bind(self, actions: Actions) -> None:
        self.addActions(actions.of_scope(Scope.PROMPT))
        to_counterfactual = tr("counterfactual prompt")
        actions.bind_all(
            {
                commands.CHANGE_RELATION: lambda: self._with_picked(self._chips.open_wheel),
                commands.SWAP: lambda: self._with_picked(self._chips.swap_asked.emit),
                commands.MUTE: lambda: self._with_picked(self._switch_mute),
                commands.COUNTERFACTUAL: lambda: self._edit(to_counterfactual, counterfactual),
                commands.HEAVIER: lambda: self._weigh(1),
                commands.LIGHTER: lambda: self._weigh(-1),
                commands.EARLIER_PROMPT: lambda: self._go_back(1),
                commands.LATER_PROMPT: lambda: self._go_back(-1),
            }
        )

    def _with_picked(self, do: Callable[[RelationId], object]) -> None:
        """Apply a function to the selected relation, or to the first if none is selected."""
        scene, picked = self._studio.session.scene, self._studio.session.relation_id
        known = [relation.id for relation in scene.relations] if scene else []
        if known:
            do(picked if picked in known else known[0])

    def _switch_mute(self, key: RelationId) -> None:
        if (scene := self._studio.session.scene) is not None:
            is_muted = relation_of(scene, key).is_muted
            self._edit(tr("mute relation"), with_relation_muted, key, not is_muted)

    def _weigh(self, steps: int) -> None:
        """Change the weights of the relations of the object at the cursor, or the selected one."""
        thing = self._editor.thing_under_cursor() or self._studio.session.mention_id
        if thing is not None:
            self._edit(tr("change weight"), with_mention_weighed, thing, steps)

    def _go_back(self, by: int) -> None:
        text = self._history.step(by, self._editor.toPlainText())
        if text is not None:
            self.use_prompt(text)

    def _offer_pairs(self) -> None:
        if (scene := self._studio.session.scene) is None:
            return
        menu = QMenu(self)
        first_type = next(iter(relation_types))
        for subject, thing in permutations(scene.mentions, 2):
            action = menu.addAction(f"{subject.phrase} {first_type.phrase} {thing.phrase}")
            action.setData((subject.id, thing.id))
        added = tr("add relation")
        menu.triggered.connect(
            lambda action: self._edit(added, with_relation_added, first_type, *action.data())
        )
        menu.popup(self._add.mapToGlobal(QPoint(0, self._add.height())))


MOST_PROMPTS = 50


class PromptHistory:
    """Earlier prompts without duplicates, stored between starts.

    Args:
        settings: Stores them.
    """

    def __init__(self, settings: WindowSettings) -> None:
        self._settings = settings
        self._unfinished = ""
        self._back = 0

    def remember(self, text: str) -> None:
        """Append a prompt and reset the history position; no effect if it is already the last."""
        earlier = self._settings.earlier_prompts
        if earlier[-1:] != (text,):
            self._back = 0
            others = [each for each in earlier if each != text]
            self._settings.earlier_prompts = tuple([*others, text][-MOST_PROMPTS:])

    def step(self, by: int, now: str) -> str | None:
        """Move back or forward in the history.

        Args:
            by: 1 to an earlier prompt, -1 to a later one.
            now: Current text of the editor.

        Returns:
            The new text of the editor; None at either end.
        """
        earlier = self._settings.earlier_prompts
        if self._back and now != earlier[-self._back]:
            self._back = 0  # the recalled prompt was edited
        if not self._back:
            self._unfinished = now
        back = self._back + by
        if back and by > 0 and back <= len(earlier) and earlier[-back] == now:
            back += by
        if not 0 <= back <= len(earlier) or back == self._back:
            return None
        self._back = back
        return earlier[-back] if back else self._unfinished
