"""Panels, extractors and detectors of plugins in the window; broken panels break nothing else."""

import sys

import pytest
from PySide6.QtWidgets import QCheckBox, QDockWidget, QLabel, QPushButton

from spatialstudio.application.plugins import (
    DisabledPlugin,
    LoadedPlugin,
    Plugins,
    plugins_switched_off_by,
)
from spatialstudio.application.studio import Studio
from spatialstudio.plugin_api import (
    API_VERSION,
    AREAS,
    WORKSPACES,
    AdapterEntry,
    PanelEntry,
    Plugin,
)
from spatialstudio.ui.framework.panel_api import Panel
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.framework.workspace import RIGHT
from spatialstudio.ui.widgets.fields import ComboBox
from spatialstudio.ui.window import workspaces
from spatialstudio.ui.window.settings_pages import PluginsPage


class HelloPanel(Panel):
    title = "Hello"

    def __init__(self, context):
        super().__init__()
        QLabel("Hello", self)


class RaisingPanel(Panel):
    def __init__(self, context):
        raise ZeroDivisionError("nothing to divide")


class UninitialisedPanel(Panel):
    def __init__(self, context):
        pass


class DensityPanel(Panel):
    """Fails once it is used."""

    def __init__(self, context):
        super().__init__()

    def use_density(self, density):
        raise ZeroDivisionError("no density")


class ClickedPanel(Panel):
    """Fails in the slot of its button; counts the events."""

    def __init__(self, context):
        super().__init__()
        self.events = 0
        self.button = QPushButton("Count", self)
        self.button.clicked.connect(lambda: 1 / 0)

    def handle(self, event):
        self.events += 1


class ExitingPanel(Panel):
    def __init__(self, context):
        raise SystemExit(4)


def not_a_panel(context):
    return QLabel()


def panel(name, make=None, **places):
    make = make or f"{__name__}:{name}"
    return PanelEntry(id=name.lower(), title=name, make=make, **{"workspace": "inspect"} | places)


PANELS = (
    panel("HelloPanel"),
    panel("RaisingPanel", area="bottom"),
    panel("ExitingPanel", area="left"),
    panel("not_a_panel"),
    panel("UninitialisedPanel"),
    panel("DensityPanel", area="bottom"),
    panel("ClickedPanel"),
    panel("Gone", make="no_such_module:Panel"),
)
PLUGIN = Plugin(
    name="Greetings",
    api_version=API_VERSION,
    adapters=(
        AdapterEntry(kind="extractor", id="shouting", make="nowhere:build"),
        AdapterEntry(kind="detector", id="guess", make="nowhere:build"),
    ),
    panels=PANELS,
)
INSTALLED = Plugins(
    loaded=(LoadedPlugin(plugin=PLUGIN, version="1.2"),),
    disabled=(DisabledPlugin(name="Old", version="0.1", reason="It is too old."),),
)


@pytest.fixture
def installed(monkeypatch):
    """An installation with plugins."""
    monkeypatch.setattr(Studio, "plugins", INSTALLED)


def words_in(widget):
    return " ".join(label.text() for label in widget.findChildren(QLabel))


@pytest.fixture
def docks(installed, window):
    window.use_workspace(next(each for each in window._workspaces if each.id == "inspect"))
    return {dock.objectName(): dock for dock in window.findChildren(QDockWidget)}


def test_a_panel_is_a_dock_that_can_be_hidden(docks, window):
    dock = docks["plugin-hellopanel"]
    assert isinstance(dock.widget().widget(), HelloPanel)
    switches = {action.text(): action for action in window._dock_layout.switches}
    assert not dock.isHidden()
    switches["HelloPanel"].trigger()
    assert dock.isHidden()


REASONS = {
    "raisingpanel": "ZeroDivisionError: nothing to divide",
    "exitingpanel": "SystemExit: 4",
    "not_a_panel": "is not a Panel",
    "uninitialisedpanel": "base class (UninitialisedPanel) not called",
    "gone": "ModuleNotFoundError",
}
"""Why a panel cannot be created, by the name of its dock."""


def test_a_panel_that_cannot_be_made_says_why_in_its_place(docks):
    for name, reason in REASONS.items():
        words = words_in(docks[f"plugin-{name}"])
        assert reason in words
        assert '"Greetings"' in words


def test_a_panel_that_fails_is_named_once_and_the_window_is_shown(docks, window, context):
    window.use_density(Density.SIMPLE)
    window.use_density(Density.FULL)
    problems = [toast.message for toast in window.context.toasts.earlier]
    (problem,) = [each for each in problems if "DensityPanel" in each]
    assert problem == (
        'The panel "DensityPanel" of the plugin "Greetings" failed: ZeroDivisionError: no density.'
    )
    assert window.updatesEnabled()


def test_a_panel_whose_slot_fails_is_disabled_with_its_reason(docks, window, qtbot, studio):
    dock = docks["plugin-clickedpanel"]
    clicked = dock.widget().widget()
    clicked.button.click()
    clicked.button.click()
    qtbot.waitUntil(lambda: "failed: ZeroDivisionError" in words_in(dock))
    assert clicked.isHidden()
    assert not clicked.isEnabled()
    problems = [toast.message for toast in window.context.toasts.earlier]
    assert sum("ClickedPanel" in each for each in problems) == 1
    before = clicked.events
    studio.use_prompt("a cat above a dog")
    qtbot.waitUntil(lambda: window.context.studio.session.scene is not None)
    assert clicked.events == before


def test_an_exception_outside_plugins_goes_to_the_usual_hook(installed, window_of, studio):
    caught = []
    outer, sys.excepthook = sys.excepthook, lambda *error: caught.append(error)
    try:
        window = window_of(studio)
        window.make_docks()
        error = ZeroDivisionError()
        sys.excepthook(ZeroDivisionError, error, None)
        assert [each[1] for each in caught] == [error]
        window.close()
        sys.excepthook(ZeroDivisionError, error, None)
        assert len(caught) == 2
    finally:
        sys.excepthook = outer


def test_the_window_is_drawn_again_after_a_dock_that_cannot_be_made(window, monkeypatch):
    def raise_error(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(window._dock_layout, "_arrange", raise_error)
    window.context.settings.forget_layouts()
    inspect = next(each for each in window._workspaces if each.id == "inspect")
    with pytest.raises(ZeroDivisionError):
        window.use_workspace(inspect)
    assert window.updatesEnabled()


def test_a_panel_is_in_its_own_workspace_only(docks, window):
    ids = {each.id: {plan.id for plan in each.docks} for each in window._workspaces}
    assert [name for name, own in ids.items() if "plugin-hellopanel" in own] == ["inspect"]


def test_the_places_of_the_plugin_api_are_those_of_the_window():
    assert tuple(each.id for each in workspaces.WORKSPACES) == WORKSPACES
    assert tuple(workspaces.AREAS) == AREAS


def test_the_settings_list_plugins_and_why_others_are_disabled(installed, context):
    page = PluginsPage(context)
    words = words_in(page)
    assert "Greetings 1.2" in words
    assert 'extractor "shouting"' in words
    assert "Old 0.1 is disabled" in words
    assert "It is too old." in words
    page.deleteLater()


def test_a_new_panel_is_added_to_a_customised_layout(window_of, studio, monkeypatch):
    before = window_of(studio)
    inspect = next(each for each in before._workspaces if each.id == "inspect")
    before.use_workspace(inspect)
    moved = before._dock_layout.make(inspect.docks[0])
    before.addDockWidget(RIGHT, moved)
    before._dock_layout.keep_layout()
    monkeypatch.setattr(Studio, "plugins", INSTALLED)
    after = window_of(studio)
    after.use_workspace(next(each for each in after._workspaces if each.id == "inspect"))
    docks = {dock.objectName(): dock for dock in after.findChildren(QDockWidget)}
    assert after.dockWidgetArea(docks[inspect.docks[0].id]) is RIGHT
    assert after.dockWidgetArea(docks["plugin-exitingpanel"]) is RIGHT  # with its neighbour
    assert not docks["plugin-hellopanel"].isHidden()


def test_plugins_are_turned_off_for_the_next_start(qtbot, context):
    page = PluginsPage(context)
    qtbot.addWidget(page)
    box = page.findChild(QCheckBox)
    assert box.isChecked()
    box.click()
    assert plugins_switched_off_by(context.studio.paths.settings) == "the settings"
    box.click()
    assert plugins_switched_off_by(context.studio.paths.settings) == ""


def test_the_environment_wins_over_the_settings(qtbot, context, monkeypatch):
    monkeypatch.setenv("SPATIALSTUDIO_PLUGINS", "OFF")
    page = PluginsPage(context)
    qtbot.addWidget(page)
    assert not page.findChild(QCheckBox).isEnabled()


def test_without_plugins_the_settings_say_so(context):
    page = PluginsPage(context)
    assert "None." in words_in(page)
    page.deleteLater()


def test_an_extractor_is_chosen_and_kept(installed, context, qtbot):
    page = PluginsPage(context)
    qtbot.addWidget(page)
    box = page.findChild(ComboBox)
    assert (box.count(), box.currentText()) == (2, "Grammar")
    box.setCurrentIndex(1)
    with qtbot.waitSignal(context.window_signals.extractor_chosen):
        box.activated.emit(1)
    assert context.studio.extractor_id == "shouting"
    assert context.settings.extractor == "shouting"
