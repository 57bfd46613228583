"""Single-file checkpoints in the window: opened, listed, with a prediction type to choose."""

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLabel

from spatialstudio.adapters.models.identify_file import SD_1, SD_2
from spatialstudio.adapters.models.model_choices import ModelChoices
from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.application.registry import BUILT_IN_MANIFEST, Registry, read_manifest
from spatialstudio.application.studio import Studio
from spatialstudio.domain.ports import Surroundings
from tests.sparse_weights import signs_of, write_sparse
from tests.ui.by_name import named
from tests.ui.scripted_engine import STICKERS


class Catalog(ModelFolders):
    """The models of a folder, after one that is embedded."""

    def cards(self):
        return (STICKERS, *super().cards())


class Models(Registry):
    """The built-in adapters with the models of a folder."""

    def __init__(self, entries, surroundings, catalog):
        super().__init__(entries, surroundings)
        self.catalog = catalog

    def model_catalog(self, adapter_id):
        return self.catalog


@pytest.fixture
def catalog(studio_paths):
    return Catalog([studio_paths.models], choices=ModelChoices(studio_paths.settings))


@pytest.fixture
def studio(catalog, engine, studio_paths):
    surroundings = Surroundings(resources=studio_paths.resources, model_folders=())
    studio = Studio(
        Models(read_manifest(BUILT_IN_MANIFEST), surroundings, catalog), engine, studio_paths
    )
    yield studio
    studio.close()


@pytest.fixture
def checkpoint(tmp_path):
    return write_sparse(tmp_path / "landscapes.safetensors", signs_of(SD_2))


def drop(window, path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


def models_of(window):
    field = named(window.generation, QComboBox, "Model")
    return [field.itemText(place) for place in range(field.count())]


def prediction_of(window):
    return named(window.generation, QComboBox, "Prediction type")


def messages(window):
    return [toast.message for toast in window.context.toasts.earlier]


def test_a_dropped_checkpoint_is_listed_chosen_and_kept(window, checkpoint, catalog):
    assert prediction_of(window).isHidden()
    drop(window, checkpoint)
    settings = window.generation.settings
    assert (settings.model_id, settings.width) == ("landscapes", 768)
    assert settings.sampling.prediction_type == "v_prediction"
    assert "landscapes · Stable Diffusion 2.1 · 103 MB" in models_of(window)
    assert "landscapes was added: Stable Diffusion 2.1" in messages(window)[-1]
    assert [card.id for card in catalog.cards()] == ["stickers", "landscapes"]


def test_a_prediction_type_is_chosen_with_a_note_and_stored_for_the_model(
    qtbot, window, checkpoint, catalog
):
    drop(window, checkpoint)
    field = prediction_of(window)
    notes = [each for each in window.generation.findChildren(QLabel) if each.text()]
    (note,) = [each for each in notes if each.text().startswith("The file does not state the type")]
    assert (field.currentData(), field.isHidden(), note.isHidden()) == (
        "v_prediction",
        False,
        False,
    )
    qtbot.keyClick(field, Qt.Key.Key_Up)
    assert window.generation.settings.sampling.prediction_type == "epsilon"
    assert note.isHidden()
    assert catalog.cards()[-1].prediction_type == "epsilon"
    window.generation._pick_model("stickers")
    assert field.isHidden()
    assert window.generation.settings.sampling.prediction_type == ""
    window.generation._pick_model("landscapes")
    assert window.generation.settings.sampling.prediction_type == "epsilon"


def test_undo_takes_back_the_prediction_type(qtbot, window, checkpoint, catalog):
    drop(window, checkpoint)
    qtbot.keyClick(prediction_of(window), Qt.Key.Key_Up)
    window.context.edits.undo()
    assert window.generation.settings.sampling.prediction_type == "v_prediction"
    assert catalog.cards()[-1].prediction_type == "v_prediction"


def test_a_file_that_cannot_draw_is_named_and_not_listed(window, tmp_path):
    lora = {"lora_unet_x_attn2_to_k.lora_down.weight": ("F16", (4, 768))}
    drop(window, write_sparse(tmp_path / "style.safetensors", lora))
    assert "contains a LoRA for Stable Diffusion 1.5" in messages(window)[-1]
    assert not [name for name in models_of(window) if "style" in name]


def test_models_of_the_folder_are_listed_with_family_and_size(window, studio, studio_paths):
    studio_paths.models.mkdir(parents=True, exist_ok=True)
    write_sparse(studio_paths.models / "portraits.safetensors", signs_of(SD_1))
    (studio_paths.models / "old.ckpt").write_bytes(b"PK\x03\x04")
    window.generation._find_models()
    QApplication.processEvents()
    models = models_of(window)
    assert any(each.startswith("portraits · Stable Diffusion 1.5 · ") for each in models)
    assert (
        'The file "old.ckpt" is a pickle file, which can execute code and is never loaded.'
        in models
    )
