"""Pipeline classes are imported without a word about torchvision."""

import subprocess
import sys

import pytest

IMPORT = """
import sys
from spatialstudio.adapters.models.pipeline_classes import import_pipeline
print(import_pipeline(sys.argv[1]).__name__)
"""


@pytest.mark.parametrize("name", ["StableDiffusionPipeline", "FluxPipeline"])
def test_nothing_is_said_about_torchvision(name):
    command = [sys.executable, "-P", "-c", IMPORT, name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == name
    assert "torchvision" not in done.stderr
