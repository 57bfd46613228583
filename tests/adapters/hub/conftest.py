"""A fake hub, a cache, and the real client."""

import pytest
from huggingface_hub import close_session

from tests.hub_fakes import (
    DIFFUSERS,
    HASTY,
    IMPATIENT,
    FakeHub,
    hub_in,
    without_token_of_the_user,
)


@pytest.fixture(autouse=True)
def no_token_of_the_user(monkeypatch, tmp_path):
    without_token_of_the_user(monkeypatch, tmp_path)
    yield
    close_session()


@pytest.fixture
def fake():
    with FakeHub() as fake:
        fake.add("maker/model", DIFFUSERS)
        yield fake


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "hub"


@pytest.fixture
def hub(fake, tmp_path):
    return hub_in(tmp_path, fake.url)


@pytest.fixture
def impatient_hub(fake, tmp_path):
    return hub_in(tmp_path, fake.url, IMPATIENT)


@pytest.fixture
def hasty_hub(fake, tmp_path):
    """A hub that gives up slow transfers soon, but waits for each answer."""
    return hub_in(tmp_path, fake.url, HASTY)
