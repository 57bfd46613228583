import numpy as np
import pytest
import torch

from spatialstudio.adapters.models.pipeline_classes import import_pipeline
from spatialstudio.adapters.stickers.depth import StickerDepth
from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.training.train import StickerTrainer
from spatialstudio.domain.errors import SettingsError
from tests.adapters.stickers.asking import mention_of


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The model folders of a training of seconds, and what was told meanwhile."""
    folder = tmp_path_factory.mktemp("training")
    lines = []
    StickerTrainer().train(folder / "work", folder / "models", "smoke", lines.append)
    return folder, lines


def test_the_pipeline_is_an_ordinary_diffusers_folder(trained):
    pipeline = import_pipeline("StableDiffusionPipeline").from_pretrained(
        trained[0] / "models" / "stickers", dtype=torch.float32
    )
    pipeline.set_progress_bar_config(disable=True)
    (picture,) = pipeline("a cat and a dog", num_inference_steps=2, output_type="np").images
    assert picture.shape == (128, 128, 3)
    assert picture.std() > 0


def test_segmenter_and_depth_are_written_too(trained):
    picture = np.zeros((100, 60, 3), dtype=np.uint8)
    models = trained[0] / "models"
    seen = StickerSegmenter(models / "sticker-segmenter").detect(picture, [mention_of("cat")])
    assert seen.unknown_heads == ()
    assert StickerDepth(models / "sticker-depth").estimate(picture).values.shape == (100, 60)


def test_a_second_run_trains_nothing(trained):
    folder, _ = trained
    before = {file: file.stat().st_mtime_ns for file in (folder / "work").glob("*.npz")}
    lines = []
    StickerTrainer().train(folder / "work", folder / "again", "smoke", lines.append)
    assert lines == [f"exported to {folder / 'again'}"]
    assert before == {file: file.stat().st_mtime_ns for file in (folder / "work").glob("*.npz")}


def test_an_unknown_preset_is_rejected(tmp_path):
    with pytest.raises(SettingsError, match="no training preset"):
        StickerTrainer().train(tmp_path, tmp_path, "huge", print)
