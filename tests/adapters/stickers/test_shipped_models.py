from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER

MODELS = WORLD_FOLDER.parent
LARGEST_BYTES = 40_000_000


def test_the_shipped_pipeline_lists_its_objects():
    card = read_card(MODELS / "stickers")
    assert card.native_size == 128
    assert card.known_objects["sofa"] == "couch"


def test_all_weights_together_are_small():
    weights = list(MODELS.glob("**/*.safetensors"))
    assert len(weights) == 5
    assert sum(file.stat().st_size for file in weights) < LARGEST_BYTES


def test_every_model_has_a_card():
    folders = {file.parent.name for file in MODELS.glob("*/README.md")}
    assert folders == {"stickers", "sticker-segmenter", "sticker-depth", "stickers-world"}
