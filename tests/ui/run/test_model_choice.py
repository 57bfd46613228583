"""Missing and damaged models: greyed with their reason, told with buttons that lead on."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QComboBox, QPushButton

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.models.downloads import ModelsChanged
from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.application.registry import (
    BUILT_IN_MANIFEST,
    Registry,
    read_manifest,
)
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.generation import GenerationFailed
from spatialstudio.domain.ports import Surroundings
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.models.commands import MODELS
from spatialstudio.ui.models.models_dialog import ModelsDialog
from spatialstudio.ui.run.commands import (
    CHOOSE_MODEL,
    FIND_MODELS,
    MODELS_FOLDER,
)
from spatialstudio.ui.widgets.toast_cards import ToastCard
from tests.ui.by_name import named
from tests.ui.scripted_engine import PROMPT, STICKERS

LARGE = replace(STICKERS, id="large", title="Large")
BROKEN = ModelNotFound('The model folder "broken" is damaged.', hint="Download it again.")


class Shelf(Registry):
    """The built-in adapters, with models that the test puts on the shelf."""

    def __init__(self, entries, surroundings, models):
        super().__init__(entries, surroundings)
        self.models = models
        self.broken = {"broken": BROKEN}

    def model_catalog(self, adapter_id):
        return self

    def cards(self):
        return self.models

    def damaged(self):
        return self.broken


@pytest.fixture
def models(request):
    return getattr(request, "param", (STICKERS, LARGE))


@pytest.fixture
def model_catalog(studio_paths, models):
    surroundings = Surroundings(resources=studio_paths.resources, model_folders=())
    return Shelf(read_manifest(BUILT_IN_MANIFEST), surroundings, models)


@pytest.fixture
def studio(model_catalog, engine, studio_paths):
    studio = Studio(model_catalog, engine, studio_paths)
    yield studio
    studio.close()


@pytest.fixture
def opened(monkeypatch):
    """Folders that were shown to the user."""
    shown = []
    show = lambda url: shown.append(url.toLocalFile())  # noqa: E731
    monkeypatch.setattr(QDesktopServices, "openUrl", show)
    return shown


none_there = pytest.mark.parametrize("models", [()], indirect=True, ids=["no model"])


def field_of(window):
    return named(window.generation, QComboBox, "Model")


def offers(window):
    """Return the buttons of the messages in sight, by their words."""
    cards = [card for card in window.findChildren(ToastCard) if card.isVisible()]
    return {each.text(): each for card in cards for each in card.findChildren(QPushButton)}


def messages(window):
    return [toast.message for toast in window.context.toasts.earlier]


def fail(engine, error):
    """Let the newest job fail."""
    report = report_on(error, "Generating the picture")
    engine.report(GenerationFailed(request_id=engine.jobs[-1].job_id, error=report))


def test_damaged_models_are_listed_greyed_with_their_reason(qtbot, window):
    field = field_of(window)
    assert field.itemText(2) == 'The model folder "broken" is damaged.'
    assert field.itemData(2, Qt.ItemDataRole.ToolTipRole) == "Download it again."
    assert not field.model().item(2).isEnabled()
    for _press in range(3):
        qtbot.keyClick(field, Qt.Key.Key_Down)  # the keys pass over it
    assert field.currentData() == "large"
    assert window.generation.settings.model_id == "large"


def test_a_model_that_fails_leads_to_the_one_that_draws(qtbot, window, engine):
    qtbot.keyClick(field_of(window), Qt.Key.Key_Down)
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    fail(engine, BROKEN)
    qtbot.waitUntil(lambda: "Use Stickers (embedded)" in offers(window))
    assert {"Choose a model…", "Open models folder"} <= set(offers(window))
    offers(window)["Use Stickers (embedded)"].click()
    assert window.generation.settings.model_id == "stickers"
    assert field_of(window).currentData() == "stickers"


def test_the_first_model_is_not_offered_in_place_of_itself(qtbot, window, engine):
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    fail(engine, BROKEN)
    qtbot.waitUntil(lambda: "Choose a model…" in offers(window))
    assert "Use Stickers (embedded)" not in offers(window)


def test_the_list_of_models_opens_from_anywhere(qtbot, window):
    window.use_density(Density.SIMPLE)
    window.context.window_signals.workspace_asked.emit("gallery")
    window.context.actions[CHOOSE_MODEL].trigger()
    field = field_of(window)
    qtbot.waitUntil(field.view().isVisible)
    field.hidePopup()


def test_the_folder_for_models_is_made_and_shown_unless_it_cannot_be(window, studio, opened):
    studio.paths.models.parent.mkdir(parents=True, exist_ok=True)
    studio.paths.models.write_text("in the way")
    window.context.actions[MODELS_FOLDER].trigger()
    assert opened == []
    assert messages(window)[-1].startswith("The models folder cannot be created")
    studio.paths.models.unlink()
    window.context.actions[MODELS_FOLDER].trigger()
    assert opened == [str(studio.paths.models)]
    assert studio.paths.models.is_dir()


def test_a_model_that_was_added_is_found_and_one_that_has_gone_is_replaced(
    qtbot, window, model_catalog
):
    model_catalog.models = (STICKERS, LARGE, replace(STICKERS, id="new", title="New one"))
    window.context.actions[FIND_MODELS].trigger()
    assert field_of(window).findData("new") == 2
    assert messages(window)[-1] == "New models: New one."
    qtbot.keyClick(field_of(window), Qt.Key.Key_Down)
    assert window.generation.settings.model_id == "large"
    model_catalog.models = (STICKERS,)
    window.context.actions[FIND_MODELS].trigger()
    assert window.generation.settings.model_id == "stickers"
    assert 'There is no model "large".' in messages(window)


def test_a_downloaded_model_is_in_the_model_field_at_once(window, model_catalog):
    model_catalog.models = (STICKERS, LARGE, replace(STICKERS, id="new", title="New one"))
    window.generation.handle(ModelsChanged())
    assert field_of(window).findData("new") == 2
    assert messages(window)[-1] == "New models: New one."
    window.generation.handle(ModelsChanged())
    assert len(messages(window)) == 1


def test_the_models_page_is_opened_once_and_chooses_a_model(window):
    window.context.actions[MODELS].trigger()
    window.context.actions[MODELS].trigger()
    (dialog,) = window.findChildren(ModelsDialog)
    assert dialog.isVisible()
    dialog.model_picked.emit("large")
    assert window.generation.settings.model_id == "large"
    assert messages(window)[-1] == "Pictures are generated with Large."
    assert not dialog.isVisible()
    window.context.studio.downloads.wait()


def test_undo_leads_to_no_model_that_has_gone(qtbot, window, model_catalog):
    field = field_of(window)
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.keyClick(field, Qt.Key.Key_Up)
    model_catalog.models = (STICKERS,)
    window.context.actions[FIND_MODELS].trigger()
    window.context.edits.undo()
    assert window.generation.settings.model_id == "stickers"


@none_there
def test_without_a_model_generate_says_why_and_leads_on(
    qtbot, window, engine, model_catalog, opened
):
    window.generation.generate()
    qtbot.waitUntil(lambda: "Refresh" in offers(window))
    assert messages(window) == ["No model is available."]
    offers(window)["Open models folder"].click()
    assert len(opened) == 1
    model_catalog.models = (STICKERS,)
    qtbot.waitUntil(lambda: "Refresh" in offers(window))
    offers(window)["Refresh"].click()
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    assert engine.jobs


@none_there
def test_without_a_model_the_list_still_tells_of_damage_and_a_prompt_leads_on(qtbot, window):
    field = field_of(window)
    assert field.isEnabled()
    assert field.currentText() == "No model installed"
    assert field.itemText(1) == BROKEN.message
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    qtbot.waitUntil(lambda: "Open models folder" in offers(window))


def test_models_that_have_all_gone_are_missed_only_when_one_is_needed(qtbot, window, model_catalog):
    window.prompt.use_prompt(PROMPT)
    model_catalog.models = ()
    window.context.actions[FIND_MODELS].trigger()
    window.prompt.use_prompt("a cat above a dog")
    window.generation.generate()
    qtbot.waitUntil(lambda: "Refresh" in offers(window))


def test_a_model_of_the_last_session_that_is_damaged_now_is_told(qtbot, studio, window_of):
    studio.storage.drafts.keep_settings(replace(usual_settings(LARGE), model_id="broken"))
    window = window_of(studio)
    qtbot.waitUntil(lambda: BROKEN.message in messages(window))
    assert window.generation.settings.model_id == "stickers"
