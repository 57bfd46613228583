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
def test_trouble_with_a_model_is_trouble_with_the_backend(kind):
    assert issubclass(kind, BackendError)


def test_the_wish_to_stop_is_no_error_of_the_studio():
    assert not issubclass(Cancelled, StudioError)
