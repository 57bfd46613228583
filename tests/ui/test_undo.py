import shiboken6
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QMainWindow, QSpinBox, QToolButton

from spatialstudio.domain.scene import BUILT_IN_TYPES
from spatialstudio.ui.compose.widgets.prompt_editor import PromptEditor
from spatialstudio.ui.compose.widgets.relation_chips import RelationChips
from spatialstudio.ui.framework.commands import UNDO
from spatialstudio.ui.window.window_commands import WindowCommands

PROMPTS = (
    "a cat to the left of a dog and above a car",
    "a boat below a bird",
    "a clock near a couch, a lamp behind the couch",
)
SIMPLE_TYPES = [kind.id for kind in BUILT_IN_TYPES[:10]]
EDITS = 50
NUMBER = st.integers(0, 9)
KINDS = ("prompt", "type", "end", "swap", "mute", "weight", "rank", "remove", "seed", "steps")


class Hand:
    """Edits prompt, relations and settings as a user does."""

    def __init__(self, window, studio):
        self._window = window
        self._studio = studio
        self._chips = window.prompt.findChild(RelationChips)
        boxes = window.generation.findChildren(QSpinBox)
        self._steps = next(box for box in boxes if box.accessibleName() == "Denoising steps")
        buttons = window.generation.findChildren(QToolButton)
        self._roll = next(each for each in buttons if each.accessibleName() == "Random seed")

    @property
    def state(self):
        scene = self._studio.session.scene
        text = self._window.prompt.findChild(PromptEditor).toPlainText()
        return text, scene.mentions, scene.relations, self._window.generation.settings

    def edit(self, kind, number):
        if kind == "prompt":
            self._window.prompt.use_prompt(PROMPTS[number % len(PROMPTS)])
        elif kind == "seed":
            self._roll.click()
        elif kind == "steps":
            self._steps.setValue(10 + number)
        elif relations := self._studio.session.scene.relations:
            self._edit_relation(kind, relations[number % len(relations)], number)

    def _edit_relation(self, kind, relation, number):
        chips, key, mentions = self._chips, relation.id, self._studio.session.scene.mentions
        other = mentions[number % len(mentions)].id
        signal, wanted = {
            "type": (chips.type_picked, (SIMPLE_TYPES[number],)),
            "end": (chips.end_picked, (number % 2, other)),
            "swap": (chips.swap_asked, ()),
            "mute": (chips.mute_picked, (not relation.is_muted,)),
            "weight": (chips.weight_picked, ((0.25, 0.5, 2.0, 4.0)[number % 4],)),
            "rank": (chips.rank_picked, (number % 2,)),
            "remove": (chips.removal_asked, ()),
        }[kind]
        signal.emit(key, *wanted)


@settings(
    max_examples=2,
    phases=[Phase.explicit, Phase.generate],  # a failure of fifty edits takes minutes to shrink
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(edits=st.lists(st.tuples(st.sampled_from(KINDS), NUMBER), min_size=EDITS, max_size=EDITS))
def test_as_many_undos_as_edits_bring_back_all_that_was_set(window, studio, edits):
    hand, stack = Hand(window, studio), window.context.edits
    window.prompt.use_prompt(PROMPTS[0])
    start, first = hand.state, stack.index()
    for kind, number in edits:
        hand.edit(kind, number)
    end, last = hand.state, stack.index()
    for _ in range(last - first):
        stack.undo()
    assert hand.state == start
    for _ in range(last - first):
        stack.redo()
    assert hand.state == end


def test_a_stack_that_outlives_the_actions_is_silent(qtbot, context, appearance):
    window = QMainWindow()
    WindowCommands(window, context, appearance)
    context.edits.change("other seed", 1, 2, lambda value: None)
    assert context.actions[UNDO].text().endswith(": other seed")
    shiboken6.delete(context.actions)
    context.edits.clear()
    assert not context.edits.canUndo()
