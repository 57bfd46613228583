"""Model folders with tiny random weights, written once, and adapters made from them."""

import json
import logging

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from spatialstudio.adapters.perception import architectures
from spatialstudio.adapters.perception.model_catalog import PerceptionFolders, families
from spatialstudio.domain.ports import PerceptionRole
from spatialstudio.domain.scene import (
    MentionId,
    ObjectMention,
    TextSpan,
)
from spatialstudio.domain.verdict import Box, Detection
from tests.adapters.perception.tiny_models import write_model


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Give the folder of a family's tiny model, written on first use."""
    root = tmp_path_factory.mktemp("models")
    logging.getLogger("transformers").setLevel(logging.CRITICAL)

    def folder_of(name):
        if not (root / name).exists():
            write_model(name, root / name)
        return root / name

    return folder_of


@pytest.fixture
def made(models, tmp_path):
    """Make the adapter of a family's tiny model."""

    def make(name, role=PerceptionRole.DETECTOR):
        shelf = PerceptionFolders([models(name).parent], tmp_path / "no cache")
        return shelf.make(name, role)

    return make


@pytest.fixture
def picture():
    return np.random.default_rng(0).integers(0, 256, (48, 80, 3), np.uint8)


@pytest.fixture
def mentions():
    """A teddy bear and a dog."""
    text = "a teddy bear to the left of a dog"
    return tuple(
        ObjectMention(
            id=MentionId(name),
            phrase=head,
            head=head,
            span=TextSpan(start=text.index(head), stop=text.index(head) + len(head)),
        )
        for name, head in (("m1", "teddy bear"), ("m2", "dog"))
    )


@pytest.fixture
def detections():
    """Three boxes in the picture, of falling scores."""
    edges = ((0, 0, 40, 48), (40, 10, 80, 40), (10.5, 5.25, 30, 20))
    return tuple(
        Detection(
            mention_id=MentionId("m1"),
            label="dog",
            score=0.9 - 0.1 * number,
            box=Box(left=left, top=top, right=right, bottom=bottom),
            detector_id="x",
        )
        for number, (left, top, right, bottom) in enumerate(edges)
    )


FAMILY = """
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.ports import PerceptionRole, Seen


class Blind:
    id, signature = "blind", ""

    def __init__(self, card):
        self.card = card

    def detect(self, image, mentions):
        return Seen(detections=(), unknown_heads=tuple(each.head for each in mentions))


FAMILY = ModelFamily(
    role=PerceptionRole.DETECTOR, architectures=("BlindDetector",), build=Blind
)
"""


@pytest.fixture
def add_blind_model(tmp_path, monkeypatch):
    """Add a model of an architecture that one new module runs to a folder; return its name."""
    folder = tmp_path / "new modules"
    folder.mkdir()
    (folder / "blind_detector.py").write_text(FAMILY)
    monkeypatch.setattr(architectures, "__path__", [*architectures.__path__, str(folder)])
    families.cache_clear()

    def add(root):
        model = root / "blind"
        model.mkdir()
        (model / "config.json").write_text(json.dumps({"architectures": ["BlindDetector"]}))
        save_file({"weight": torch.zeros(2)}, model / "model.safetensors")
        return model.name

    yield add
    families.cache_clear()
