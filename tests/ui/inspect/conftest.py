"""Where recorded layers of the scripted studio lie."""

from dataclasses import replace

import pytest


@pytest.fixture
def registry_cache(studio, tmp_path):
    """Where the studio's adapters look for what models have left."""
    studio.storage._registry._surroundings = replace(  # the scripted studio keeps nothing
        studio.storage._registry._surroundings, cache=tmp_path / "cache"
    )
    return tmp_path / "cache"
