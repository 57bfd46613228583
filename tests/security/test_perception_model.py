"""Hostile detectors and question answerers run no code and hide no others."""

import json

import numpy as np
import pytest

from spatialstudio.adapters.models.blip import BlipAnswerer, find_blip
from spatialstudio.adapters.perception.model_catalog import PerceptionFolders
from spatialstudio.domain.errors import DetectorError, ModelNotFound
from spatialstudio.domain.ports import PerceptionRole
from tests.adapters.questions.tiny_blip import save_tiny_blip
from tests.fakes import CountingToken
from tests.security.hostile_models import EVIL, TEXTS, change, endless, fifo, sparse

DETR = {"architectures": ["DetrForObjectDetection"], "model_type": "detr"}


def detector_folder(root, **settings):
    """Write a folder that looks like a detector with weights."""
    root.mkdir(parents=True)
    (root / "config.json").write_text(json.dumps({**DETR, **settings}))
    (root / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    return root


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("config.json", {"auto_map": {"AutoModelForObjectDetection": "evil.Evil"}}),
        ("preprocessor_config.json", {"auto_map": {"AutoImageProcessor": "evil.Evil"}}),
        ("processor_config.json", {"auto_map": {"AutoProcessor": "evil.Evil"}}),
    ],
    ids=["model", "image processor", "processor"],
)
def test_a_detector_with_code_is_rejected_by_name_and_hides_nothing(
    tmp_path, pwned, file, settings
):
    detector_folder(tmp_path / "good")
    bad = detector_folder(tmp_path / "bad")
    change(bad / file, **settings)
    (bad / "evil.py").write_text(EVIL.format(path=str(pwned)))
    shelf = PerceptionFolders([tmp_path], tmp_path / "no cache")
    assert [card.ref.id for card in shelf.cards()] == ["good"]
    assert '"bad" requires custom code' in shelf.damaged()["bad"].message
    with pytest.raises(ModelNotFound, match="custom code"):
        shelf.make(str(bad), PerceptionRole.DETECTOR)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_detector_with_malicious_json_hides_nothing(tmp_path, text):
    detector_folder(tmp_path / "good")
    bad = detector_folder(tmp_path / "bad")
    (bad / "config.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    shelf = PerceptionFolders([tmp_path], tmp_path / "no cache")
    assert [card.ref.id for card in shelf.cards()] == ["good"]


@pytest.mark.parametrize("make", [fifo, endless, sparse], ids=lambda make: make.__name__)
@pytest.mark.parametrize("file", ["config.json", "preprocessor_config.json", "tokenizer.json"])
def test_a_detector_of_special_files_hides_nothing(tmp_path, file, make):
    detector_folder(tmp_path / "good")
    bad = detector_folder(tmp_path / "bad")
    (bad / file).unlink(missing_ok=True)
    make(bad / file)
    shelf = PerceptionFolders([tmp_path], tmp_path / "no cache")
    assert [card.ref.id for card in shelf.cards()] == ["good"]
    assert "damaged" in shelf.damaged()["bad"].message


def test_shards_outside_the_folder_of_a_detector_are_rejected(tmp_path):
    bad = detector_folder(tmp_path / "models" / "bad")
    (tmp_path / "other.safetensors").write_bytes(b"x")
    index = {"weight_map": {"a": "../../other.safetensors"}}
    (bad / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "bad" in PerceptionFolders([tmp_path / "models"], tmp_path).damaged()


def test_blip_with_code_is_rejected_by_name_and_a_valid_one_is_used(tmp_path, pwned):
    bad = save_tiny_blip(tmp_path / "models" / "a-bad")
    change(bad / "config.json", auto_map={"AutoProcessor": "evil.Evil"})
    (bad / "evil.py").write_text(EVIL.format(path=str(pwned)))
    picture = np.zeros((8, 8, 3), np.uint8)
    with pytest.raises(DetectorError, match='"a-bad" requires custom code'):
        BlipAnswerer(lambda: find_blip([tmp_path / "models"])).answer(
            picture, ["is it?"], CountingToken()
        )
    good = save_tiny_blip(tmp_path / "models" / "b-good")
    assert find_blip([tmp_path / "models"]) == good
