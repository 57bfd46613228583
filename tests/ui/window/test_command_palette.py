import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QLineEdit, QTreeView

from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.evaluate.evaluation_panel import EvaluationPanel
from spatialstudio.ui.framework.command import Menu
from spatialstudio.ui.framework.commands import OPEN_RUN, PALETTE, QUIT, STAGE_ONLY
from spatialstudio.ui.framework.window_settings import Density, ThemeChoice
from spatialstudio.ui.gallery.commands import EXPORT
from spatialstudio.ui.refine.assertions_panel import AssertionsPanel
from spatialstudio.ui.widgets.toast_cards import ToastCard
from spatialstudio.ui.window.command_palette import CommandPalette, match_rank
from spatialstudio.ui.window.command_table import TABLE
from spatialstudio.ui.window.workspaces import WORKSPACES


@pytest.fixture
def done():
    return []


@pytest.fixture
def palette(qtbot, window, done):
    """The palette over a window whose commands only tell that they were carried out."""
    for command in TABLE:
        window.context.actions.bind(command, lambda command=command: done.append(command))
    palette = CommandPalette(window.context.actions, (), window)
    palette.open()
    return palette


def rows(palette):
    model = palette.findChild(QTreeView).model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_every_command_can_be_found(palette):
    assert len(rows(palette)) == len(TABLE)


def test_all_names_begin_at_one_edge(palette):
    model = palette.findChild(QTreeView).model()
    marks = [model.index(row, 0).data(Qt.ItemDataRole.DecorationRole) for row in range(len(TABLE))]
    assert not any(mark.isNull() for mark in marks)


def test_marks_take_on_other_colours_at_once(palette, window, appearance):
    model = palette.findChild(QTreeView).model()

    def inks():
        marks = (model.index(row, 0).data(Qt.ItemDataRole.DecorationRole) for row in range(9))
        images = [mark.pixmap(16, 16).toImage() for mark in marks]
        return [bytes(image.constBits()) for image in images]

    before = inks()
    quiet = model.index(0, 1).data(Qt.ItemDataRole.ForegroundRole).color()
    appearance.choose(ThemeChoice.DARK)
    assert inks() != before
    assert model.index(0, 1).data(Qt.ItemDataRole.ForegroundRole).color() != quiet


def test_letters_find_a_command_and_return_carries_it_out(qtbot, palette, done):
    field = palette.findChild(QLineEdit)
    qtbot.keyClicks(field, "opn run")
    assert rows(palette)[0].startswith(OPEN_RUN.text)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert done == [OPEN_RUN]


def test_the_best_match_is_first_whatever_was_typed_before(qtbot, palette):
    field = palette.findChild(QLineEdit)
    qtbot.keyClicks(field, "q")
    field.clear()
    qtbot.keyClicks(field, "base")
    assert "baseline" in rows(palette)[0]


def test_arrows_walk_the_list_while_one_types(qtbot, palette, done):
    field = palette.findChild(QLineEdit)
    qtbot.keyClicks(field, "show")
    second = rows(palette)[1]
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert second.startswith(done[0].text)


def test_a_menu_lists_its_commands(qtbot, palette):
    qtbot.keyClicks(palette.findChild(QLineEdit), "gallery")
    menus = [command.menu for command in TABLE if command.text in rows(palette)]
    assert menus.count(Menu.GALLERY) == sum(command.menu is Menu.GALLERY for command in TABLE)


def test_it_is_as_tall_as_what_was_found(qtbot, palette):
    tall = palette.height()
    qtbot.keyClicks(palette.findChild(QLineEdit), "zzzz")
    qtbot.waitUntil(lambda: palette.height() < tall / 3)


def test_it_is_centred_in_the_window(window, palette):
    middle = palette.geometry().center().x()
    assert abs(middle - window.geometry().center().x()) <= 1


def test_what_cannot_be_done_now_is_not_offered(qtbot, window):
    window.context.actions[QUIT].setEnabled(False)
    palette = CommandPalette(window.context.actions, (), window)
    qtbot.addWidget(palette)
    assert not any(row.startswith(QUIT.text) for row in rows(palette))


def test_control_k_opens_it(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    found = window.findChild(CommandPalette)
    assert found.isVisible()
    qtbot.keyClick(found, Qt.Key.Key_Escape)


@pytest.mark.parametrize(
    ("wanted", "text", "rank"),
    [
        ("", "quit", 0),
        ("qu", "quit", 0),
        ("run", "open a run", 1),
        ("pen", "open a run", 2),
        ("run op", "open a run", 3),
        ("onr", "open a run", 4),
        ("rno", "open a run", None),
    ],
)
def test_the_beginning_of_a_text_counts_most(wanted, text, rank):
    assert match_rank(wanted, text) == rank


def test_a_command_is_found_by_what_it_does(qtbot, palette):
    qtbot.keyClicks(palette.findChild(QLineEdit), "export annotated")
    assert rows(palette) == [EXPORT.text]


def test_letters_scattered_in_a_tip_do_not_count():
    assert match_rank("onr", "quit", "open a run") is None


@pytest.mark.parametrize("density", Density)
def test_a_dock_of_another_workspace_is_found_and_shown(qtbot, window, density):
    window.use_density(density)
    window.context.actions[PALETTE].trigger()
    palette = window.findChild(CommandPalette)
    qtbot.keyClicks(palette.findChild(QLineEdit), "assertions")
    assert rows(palette)[0] == "Assertions dock"

    qtbot.keyClick(palette.findChild(QLineEdit), Qt.Key.Key_Return)

    qtbot.waitUntil(lambda: not window.panel(AssertionsPanel).visibleRegion().isEmpty())
    assert window.context.settings.workspace == "evaluate"


def test_a_dock_of_all_controls_is_shown_in_the_simple_window_with_the_switch(qtbot, window):
    window.use_density(Density.SIMPLE)
    (plan,) = [each for each in WORKSPACES[1].docks if each.title == "Numbers"]
    window.show_dock(plan)
    dock, shown = window.findChild(QDockWidget, plan.id), window.context.toasts.earlier[-1]
    assert dock.isVisible()
    (offer,) = shown.offers
    offer.accept()
    assert window.context.settings.density is Density.FULL
    assert not dock.visibleRegion().isEmpty()
    count = len(window.context.toasts.earlier)
    window.show_dock(plan)
    assert len(window.context.toasts.earlier) == count


def test_the_offer_of_all_controls_replaces_only_the_earlier_one(window):
    window.use_density(Density.SIMPLE)
    window.context.toasts.report(ErrorReport(title="Opening", message="It is damaged."))
    for title in ("Numbers", "Layers over the steps"):
        (plan,) = [each for each in WORKSPACES[1].docks if each.title == title]
        window.show_dock(plan)
    shown = [card for card in window.findChildren(ToastCard) if card.isVisibleTo(window)]
    problem, offer = [card.toast.message for card in shown]
    assert problem == "It is damaged."
    assert offer.endswith("Layers over the steps.")


def test_a_hidden_dock_is_shown_from_the_palette(qtbot, window):
    actions = window.context.actions
    actions[STAGE_ONLY].trigger()
    actions[PALETTE].trigger()
    palette = window.findChild(CommandPalette)
    qtbot.keyClicks(palette.findChild(QLineEdit), "verdict dock")
    qtbot.keyClick(palette.findChild(QLineEdit), Qt.Key.Key_Return)

    qtbot.waitUntil(lambda: not window.panel(EvaluationPanel).visibleRegion().isEmpty())
    assert not actions[STAGE_ONLY].isChecked()
