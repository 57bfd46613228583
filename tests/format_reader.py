"""The reader of ``.strace`` files from the guide, and its comparison with ``open_run``."""

import re
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from spatialstudio.api import open_run

GUIDE = Path(__file__).parents[1] / "resources" / "guide" / "formats.md"
OTHER_FILES = ("picture", "mask/", "layer/")
"""Arrays of the picture, the sidecar and recorded layers, which are not in the trace."""


def reader_source():
    """Return the Python block of the guide."""
    (block,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return block


@cache
def reader():
    module = ModuleType("read_strace")
    exec(compile(reader_source(), str(GUIDE), "exec"), module.__dict__)
    return module


def assert_same_arrays(picture):
    """Compare the arrays of the guide's reader with those of ``open_run``; return the former."""
    record, arrays = reader().read_strace(picture.with_suffix(".strace"))
    run = open_run(picture)
    due = {each.name: each for each in run.data.arrays if not each.name.startswith(OTHER_FILES)}
    assert set(arrays) == set(due)
    for name, array in due.items():
        values = array.read()
        assert arrays[name].shape == values.shape, name
        assert np.array_equal(arrays[name], values, equal_nan=True), name
    assert record["request"]["scene"]["prompt"]["text"] == run.prompt
    assert record["seconds"] == run.record.seconds
    return arrays
