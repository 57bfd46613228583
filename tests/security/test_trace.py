"""Traces, settings, records and lists from elsewhere give one sentence each, in bounded memory."""

import pytest

from spatialstudio.domain.errors import StudioError
from tests.security.harness import attack
from tests.security.hostile_archives import TRACES
from tests.security.hostile_texts import TEXTS

LARGE = {
    *("trace, 30 WebPs of 3,000 x 3,000", "trace, maps of 2 GB of zeros"),
    *("records, a line of 100 MB", "records, 20,000,000 values", "YAML, 20 MB"),
}
"""Files that take seconds to write."""
IDLE_AND_LIMIT_BYTES = 700 * 1024**2
"""The libraries of a window and the 256 MB that a file may take."""

REFUSED = {name: file for name, file in {**TRACES, **TEXTS}.items() if not file.opens}
CASES = [
    pytest.param(file, id=name, marks=[pytest.mark.slow] if name in LARGE else [])
    for name, file in REFUSED.items()
]
OPENED = {name: file for name, file in TEXTS.items() if file.opens}


@pytest.mark.parametrize("file", CASES)
def test_a_hostile_trace_is_rejected_with_one_sentence(tmp_path, file):
    path = file.make(tmp_path)
    with pytest.raises(StudioError) as caught:
        file.open(path)
    assert caught.value.message.endswith(".")
    assert ". " not in caught.value.message


@pytest.mark.parametrize("file", OPENED.values(), ids=OPENED)
def test_an_oversized_cached_perception_is_deleted(tmp_path, file):
    path = file.make(tmp_path)
    assert file.open(path) is None
    assert not path.exists()


def test_no_trace_exhausts_the_memory(tmp_path):
    attacked = attack(
        "from pathlib import Path\n"
        "from spatialstudio.domain.errors import StudioError\n"
        "from tests.security.test_trace import LARGE, REFUSED\n"
        "for number, name in enumerate(REFUSED.keys() - LARGE):\n"
        "    folder = Path(str(number))\n"
        "    folder.mkdir()\n"
        "    path = REFUSED[name].make(folder)\n"
        "    try:\n"
        "        REFUSED[name].open(path)\n"
        "    except StudioError:\n"
        "        continue\n"
        "    raise AssertionError(name)\n",
        tmp_path,
        limit_bytes=IDLE_AND_LIMIT_BYTES,
    )
    assert attacked.contained, attacked.output
    assert attacked.exit_code == 0
