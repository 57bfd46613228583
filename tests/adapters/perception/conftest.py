"""Model folders with tiny random weights, written once, and adapters made from them."""

import logging

import numpy as np
import pytest

from spatialstudio.adapters.perception.model_catalog import PerceptionFolders
from spatialstudio.domain.judge_ports import PerceptionRole
from spatialstudio.domain.perception import Box, Detection
from spatialstudio.domain.prompt import (
    MentionId,
    ObjectMention,
    TextSpan,
)
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
