"""Pipeline classes are imported without a word about torchvision."""

import subprocess
import sys

import pytest

NAMES = ["StableDiffusionPipeline", "FluxPipeline"]

IMPORT = """
import sys
from spatialstudio.adapters.models.pipeline_classes import import_pipeline
for name in sys.argv[1:]:
    print(import_pipeline(name).__name__)
"""


@pytest.mark.slow
def test_torchvision_is_not_mentioned():
    """In the default run, the program that draws in tests/end_to_end imports the first one."""
    command = [sys.executable, "-P", "-c", IMPORT, *NAMES]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == NAMES
    assert "torchvision" not in done.stderr
