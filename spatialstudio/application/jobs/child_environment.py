"""Environment of child processes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from spatialstudio.domain.search_paths import safe_variables, set_variables


@contextmanager
def environment_for_children() -> Iterator[None]:
    """Keep Python from adding the current folder to the search path of a new process."""
    before = set_variables(safe_variables(os.environ))
    try:
        yield
    finally:
        set_variables(before)
