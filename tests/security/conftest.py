"""A library, a bystander folder that nothing may touch, and a file that attacks would create."""

import pytest

from tests.security.harness import WATCHDOG_S, fingerprint, limited


@pytest.fixture(autouse=True)
def within_limits():
    """Hold each attack to the memory limit and the watchdog, in whatever process it runs."""
    with limited(timeout_s=2 * WATCHDOG_S):  # what is started meanwhile has a watchdog of its own
        yield


@pytest.fixture
def bystander(tmp_path):
    """A folder outside of everything that is attacked; it must be the same afterwards."""
    folder = tmp_path / "bystander"
    (folder / "inner").mkdir(parents=True)
    (folder / "keep.txt").write_text("keep")
    (folder / "inner" / "deletion.json").write_text("{}")
    before = fingerprint(folder)
    yield folder
    assert fingerprint(folder) == before, "an attack touched a folder outside"


@pytest.fixture
def pwned(tmp_path):
    """A path that attacks try to create by running code; it must not exist afterwards."""
    path = tmp_path / "pwned"
    yield path
    assert not path.exists(), "an attack ran code"
