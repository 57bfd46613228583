import pickle

import pytest

from spatialstudio.domain.errors import (
    BackendError,
    Cancelled,
    ModelNotFound,
    OutOfMemory,
    StudioError,
)


@pytest.mark.parametrize("kind", [StudioError, ModelNotFound, OutOfMemory])
def test_an_error_crosses_a_process_border_with_its_hint(kind):
    error = kind("It cannot be done.", hint="Try less.")
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), back.message, back.hint) == (kind, "It cannot be done.", "Try less.")


@pytest.mark.parametrize("kind", [ModelNotFound, OutOfMemory])
def test_a_model_error_is_a_backend_error(kind):
    assert issubclass(kind, BackendError)


def test_a_cancellation_is_not_a_studio_error():
    assert not issubclass(Cancelled, StudioError)
