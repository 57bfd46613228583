"""The Models page: searching, asking for the size, downloading, pausing, and deleting."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QLineEdit, QListWidget, QPushButton

from spatialstudio.adapters.hub.catalogue import read_catalogue
from spatialstudio.application.models.downloads import Downloads, DownloadState
from spatialstudio.application.models.machine_memory import MachineMemory
from spatialstudio.domain.hub import DownloadProgress, InstalledModel, ModelOrigin
from spatialstudio.domain.resources import resources_folder
from spatialstudio.ui.framework.window_signals import WindowSignals
from spatialstudio.ui.models.models_dialog import ModelsDialog
from spatialstudio.ui.widgets.builders import LinkButton
from spatialstudio.ui.widgets.texts import TextLabel
from tests.download_fakes import FakeModelHub, Transfers
from tests.ui.by_name import named

CATALOGUE = read_catalogue(resources_folder())
MACHINE = MachineMemory(main_bytes=16 * 10**9, gpu_bytes=24 * 10**9)
SDXL = "stabilityai/stable-diffusion-xl-base-1.0"
OWN = InstalledModel(
    id="anime",
    folder=Path("models") / "anime",
    size_bytes=7_000_000,
    origin=ModelOrigin.MODELS_FOLDER,
    architecture="LoRA for SDXL",
    is_removable=True,
)
DETECTOR = InstalledModel(
    id="maker/detr",
    folder=Path("ComfyUI") / "detr",
    size_bytes=170_000_000,
    origin=ModelOrigin.OTHER_PROGRAM,
    architecture="DetrForObjectDetection",
)


@pytest.fixture
def hub():
    return FakeModelHub(CATALOGUE, (DETECTOR, OWN))


@pytest.fixture
def transfers():
    return Transfers()


@pytest.fixture
def downloads(hub, transfers):
    return Downloads(lambda: hub, transfers.start, lambda event: None, lambda: MACHINE)


@pytest.fixture
def dialog(qtbot, downloads, monkeypatch):
    """The page, with events delivered as in the window, and every question answered with yes."""
    signals = WindowSignals()
    monkeypatch.setattr(downloads, "_publish", signals.models_reported.emit)
    dialog = ModelsDialog(downloads, signals.models_reported, lambda: ["anime"])
    asked = []
    monkeypatch.setattr(
        "spatialstudio.ui.models.models_dialog.is_confirmed",
        lambda *question: asked.append(question[1:]) or True,
    )
    dialog.asked = asked
    qtbot.addWidget(dialog)
    dialog.show()
    wait(qtbot, downloads)
    yield dialog
    downloads.close()


def wait(qtbot, downloads):
    """Wait for background work, and deliver its events."""
    downloads.wait()
    QApplication.processEvents()


def rows(dialog):
    models = named(dialog, QListWidget, "Models")
    return [models.item(place).text() for place in range(models.count())]


def press(qtbot, dialog, text):
    (button,) = [
        each
        for each in dialog.findChildren(QPushButton)
        if each.text() == text and each.isVisible()
    ]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def search(qtbot, dialog, words):
    qtbot.keyClicks(named(dialog, QLineEdit, "Search models"), words)


def says(dialog, words):
    labels = dialog.findChildren(TextLabel)
    return any(words in label.text() for label in labels if label.isVisible())


def links(dialog):
    return [each for each in dialog.findChildren(LinkButton) if each.isVisible()]


def test_recommended_and_installed_models_are_listed(dialog):
    assert len(rows(dialog)) == len(CATALOGUE) + 2
    assert rows(dialog)[-1] == "anime\nLoRA for SDXL · Installed"


def test_searching_narrows_the_list(qtbot, dialog):
    search(qtbot, dialog, "xl diffusion")
    assert rows(dialog) == ["Stable Diffusion XL\nImage generation"]
    assert links(dialog)[0].accessibleName() == "Licence: openrail++"


def test_a_model_that_cannot_fit_is_marked_with_the_reason(qtbot, dialog):
    search(qtbot, dialog, "flux.1 dev")
    assert rows(dialog) == ["FLUX.1 dev\nImage generation · Too large for this machine"]
    assert says(dialog, "Too large for this machine: it needs 36.0 GB (GPU 24.0 GB, main memory 16")


def test_a_download_starts_after_size_and_licence_are_shown(qtbot, dialog, downloads, transfers):
    search(qtbot, dialog, "xl diffusion")
    press(qtbot, dialog, "Download")
    wait(qtbot, downloads)
    ((question, facts, _),) = dialog.asked
    assert question == f"Download {SDXL}?"
    assert "Size: 1000 bytes" in facts or "Size: 1" in facts
    assert "Licence: mit" in facts
    assert transfers.started == [SDXL]


def test_progress_is_shown_and_can_be_paused_by_keyboard(qtbot, dialog, downloads, transfers):
    search(qtbot, dialog, "xl diffusion")
    qtbot.keyClick(named(dialog, QListWidget, "Models"), Qt.Key.Key_Return)
    wait(qtbot, downloads)
    transfers.report(DownloadProgress(repository=SDXL, file="x", done_bytes=250, total_bytes=1000))
    assert rows(dialog) == ["Stable Diffusion XL\nImage generation · Downloading, 25%"]
    press(qtbot, dialog, "Pause")
    assert downloads.entries[0].state is DownloadState.PAUSED
    press(qtbot, dialog, "Resume")
    assert transfers.started == [SDXL, SDXL]
    press(qtbot, dialog, "Cancel download")
    assert downloads.entries == ()


def test_another_repository_is_added_by_name(qtbot, dialog, downloads):
    field = named(dialog, QLineEdit, "Repository on the hub")
    qtbot.keyClicks(field, "maker/model")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    wait(qtbot, downloads)
    assert rows(dialog)[-1] == "maker/model\nOther models and files"
    assert says(dialog, "maker/model")


def test_a_gated_model_leads_to_the_token(qtbot, dialog, downloads, hub):
    field = named(dialog, QLineEdit, "Repository on the hub")
    qtbot.keyClicks(field, "gated")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    wait(qtbot, downloads)
    assert says(dialog, "It is gated. Store a token.")
    token = named(dialog, QLineEdit, "Token of the hub")
    assert token.echoMode() is QLineEdit.EchoMode.Password
    qtbot.keyClicks(token, "secret")
    qtbot.keyClick(token, Qt.Key.Key_Return)
    wait(qtbot, downloads)
    assert (hub.token, token.text()) == ("secret", "")
    assert token.placeholderText() == "A token is stored (hidden)."


def test_an_installed_model_is_deleted_after_a_question(qtbot, dialog, downloads, hub):
    search(qtbot, dialog, "anime")
    press(qtbot, dialog, "Delete…")
    wait(qtbot, downloads)
    assert dialog.asked[0][0] == "Delete anime?"
    assert hub.removed == ["anime"]


def test_the_delete_key_asks_and_spares_models_of_other_programs(qtbot, dialog, downloads, hub):
    models = named(dialog, QListWidget, "Models")
    search(qtbot, dialog, "anime")
    models.setFocus()
    qtbot.keyClick(models, Qt.Key.Key_Delete)
    wait(qtbot, downloads)
    assert hub.removed == ["anime"]
    named(dialog, QLineEdit, "Search models").clear()
    search(qtbot, dialog, "detr maker")
    assert rows(dialog) == ["maker/detr\nDetector · Installed"]
    models.setFocus()
    qtbot.keyClick(models, Qt.Key.Key_Delete)
    assert hub.removed == ["anime"]
    assert says(dialog, "belongs to another program")


def test_a_local_file_is_not_asked_for_on_the_hub(qtbot, dialog, transfers):
    search(qtbot, dialog, "anime")
    qtbot.keyClick(named(dialog, QListWidget, "Models"), Qt.Key.Key_Return)
    assert not links(dialog)
    assert not dialog.asked
    assert "Check size" not in [
        each.text() for each in dialog.findChildren(QPushButton) if each.isVisible()
    ]


def test_licence_and_model_page_are_opened_by_keyboard(qtbot, dialog, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    search(qtbot, dialog, "xl diffusion")
    for link in links(dialog):
        link.setFocus()
        qtbot.keyClick(link, Qt.Key.Key_Space)
    page = f"https://huggingface.co/{SDXL}"
    assert opened == [f"{page}/blob/main/LICENSE.md", page]


def test_an_installed_model_is_chosen_for_the_next_pictures(qtbot, dialog):
    search(qtbot, dialog, "anime")
    with qtbot.waitSignal(dialog.model_picked) as picked:
        press(qtbot, dialog, "Generate with it")
    assert picked.args == ["anime"]


def test_a_detector_is_not_offered_for_pictures(qtbot, dialog):
    search(qtbot, dialog, "detr maker")
    shown = [each.text() for each in dialog.findChildren(QPushButton) if each.isVisible()]
    assert "Verify" in shown
    assert "Generate with it" not in shown


def test_escape_closes_the_page(qtbot, dialog):
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_only_the_models_of_a_request_are_listed_until_all_are_asked_for(qtbot, dialog):
    dino, other = "IDEA-Research/grounding-dino-tiny", "maker/unknown-detector"
    dialog.show_only((dino, other))
    assert len(rows(dialog)) == 2
    assert any(other in row for row in rows(dialog))
    press(qtbot, dialog, "All models")
    assert len(rows(dialog)) > len(CATALOGUE)
