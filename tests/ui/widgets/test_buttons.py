from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton

from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.widgets.buttons import ThemedIcon, action_button, push_button, tool_button


def test_a_button_calls_its_slot(qtbot):
    calls = []
    button = push_button("Save", lambda: calls.append("saved"), kind="quiet", tip="Save <b>it</b>")
    qtbot.addWidget(button)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert calls == ["saved"]
    assert button.property("kind") == "quiet"
    assert "&lt;b&gt;" in button.toolTip()


def test_a_tool_button_has_its_text_next_to_its_icon(qtbot):
    button = tool_button("Back", name="Back to all runs", icon_em=1)
    qtbot.addWidget(button)
    assert button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert button.accessibleName() == "Back to all runs"


def test_a_button_is_enabled_as_its_action(qtbot):
    action = QAction("Add an object…")
    button = action_button(action, "Add")
    qtbot.addWidget(button)
    action.setEnabled(False)
    assert not button.isEnabled()
    assert (button.text(), button.accessibleName()) == ("Add", "Add an object")


def test_an_icon_follows_the_theme(qtbot, theme):
    button = QPushButton()
    qtbot.addWidget(button)
    ThemedIcon(button, theme, "plus")
    before = button.icon().cacheKey()
    theme.use(palette_of(ThemeChoice.DARK))
    assert button.icon().cacheKey() != before
