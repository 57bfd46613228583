"""Sizes as people read them."""

import pytest

from spatialstudio.domain.devices import size_in_words


@pytest.mark.parametrize(
    ("count", "words"),
    [(999, "999 B"), (2_500_000, "2 MB"), (7_400_000_000, "7.4 GB"), (8e15, "8000.0 TB")],
)
def test_sizes_have_a_suitable_unit(count, words):
    assert size_in_words(count) == words
