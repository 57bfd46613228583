"""Run by ``test_examples.py`` where the examples are installed: each is used in the window."""

import pytest
from PySide6.QtWidgets import QDockWidget, QLabel, QListWidget, QTableWidget

from spatialstudio.application.plugins import installed_plugins
from spatialstudio.application.registry import BUILT_IN_MANIFEST, read_manifest
from spatialstudio.application.studio import Studio
from spatialstudio.domain.ports import Surroundings
from spatialstudio.ui.evaluate.judge_set_panel import JudgeSetPanel
from spatialstudio.ui.evaluate.metrics_panel import MetricsPanel
from spatialstudio.ui.gallery.export_dialog import ExportDialog
from spatialstudio.ui.run.widgets.fields import ChoiceField
from spatialstudio.ui.widgets.fields import ComboBox
from spatialstudio.ui.window.settings_pages import PluginsPage
from tests.ui.conftest import *  # noqa: F403 - the window and its surroundings
from tests.ui.scripted_engine import WindowRegistry

TRIPLES = "red cup | above_behind | dog"


@pytest.fixture
def studio(engine, studio_paths):
    """A studio with all adapters that are installed, and an engine that draws nothing."""
    surroundings = Surroundings(resources=studio_paths.resources, model_folders=())
    entries = (*read_manifest(BUILT_IN_MANIFEST), *installed_plugins().adapters)
    studio = Studio(WindowRegistry(entries, surroundings), engine, studio_paths)
    yield studio
    studio.close()


def words_in(widget):
    return " ".join(label.text() for label in widget.findChildren(QLabel))


def choose(box, item_id):
    box.setCurrentIndex(box.findData(item_id))
    box.activated.emit(box.currentIndex())


@pytest.fixture
def docks(window):
    window.use_workspace(next(each for each in window._workspaces if each.id == "inspect"))
    return {dock.objectName(): dock for dock in window.findChildren(QDockWidget)}


def test_the_extractor_reads_and_the_relation_type_is_shown(qtbot, window, context, studio):
    page = PluginsPage(window.context)
    qtbot.addWidget(page)
    choose(page.findChild(ComboBox), "triples")
    window.prompt.use_prompt(TRIPLES)
    (relation,) = studio.session.scene.relations
    assert relation.type.id == "above_behind"
    assert studio.session.scene.extractor_id == "triples"


def test_the_settings_list_examples_and_broken_plugins(qtbot, context):
    page = PluginsPage(context)
    qtbot.addWidget(page)
    words = words_in(page)
    assert 'export kind "yolo"' in words
    assert "Future 3.1 is disabled" in words


def test_the_loss_is_one_of_the_methods(qtbot, window):
    boxes = window.generation.findChildren(ComboBox)
    assert any(box.findText("Hinge on PoS") >= 0 for box in boxes)


def test_the_detector_can_give_a_second_opinion(qtbot, context):
    panel = JudgeSetPanel(context)
    qtbot.addWidget(panel)
    panel.show()
    fields = panel.findChildren(ChoiceField)
    field = next(each for each in fields if each.accessibleName() == "Second detector")
    field.choice_picked.emit("colour-areas")
    assert context.studio.judges.second_id == "colour-areas"


def test_the_export_dialog_offers_labels(qtbot):
    dialog = ExportDialog(1, frozenset(), {"light": "Light"})
    qtbot.addWidget(dialog)
    kinds = dialog.findChild(QListWidget)
    assert "YOLO labels" in [kinds.item(row).text() for row in range(kinds.count())]


def test_the_panel_and_the_metric_show_a_run(docks, drawn):
    table = docks["plugin-pos-table"].findChild(QTableWidget)
    assert table.item(0, 0).text() == "dog to the left of car"
    assert float(table.item(0, 1).text()) >= 0
    judges = drawn.panel(MetricsPanel)
    judges._draw()
    assert "Centroids" in words_in(judges)


def test_a_panel_that_raises_is_a_message(docks):
    assert "The panel is broken" in words_in(docks["plugin-raising"])
