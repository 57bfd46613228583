"""Fixtures of attacks: limits, a folder that must not change, and a path that must not exist."""

import pytest

from tests.security.harness import WATCHDOG_S, fingerprint, limited


@pytest.fixture(autouse=True)
def within_limits():
    """Apply the memory limit and the watchdog to each attack, also in child processes."""
    with limited(timeout_s=2 * WATCHDOG_S):  # processes started within have their own watchdog
        yield


@pytest.fixture
def bystander(tmp_path):
    """A folder outside the attacked ones, which must not change."""
    folder = tmp_path / "bystander"
    (folder / "inner").mkdir(parents=True)
    (folder / "keep.txt").write_text("keep")
    (folder / "inner" / "deletion.json").write_text("{}")
    before = fingerprint(folder)
    yield folder
    assert fingerprint(folder) == before, "an attack touched a folder outside"


@pytest.fixture
def pwned(tmp_path):
    """A path that attacks try to create by executing code; it must not exist afterwards."""
    path = tmp_path / "pwned"
    yield path
    assert not path.exists(), "an attack ran code"
