import pytest
import torch

from spatialstudio.adapters.backends.invalid_numbers import refuse_invalid
from spatialstudio.domain.errors import BackendError


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_single_value_that_is_no_number_is_refused(bad):
    values = torch.ones(2, 3)
    values[1, 2] = bad
    with pytest.raises(BackendError, match="invalid numbers"):
        refuse_invalid(values)


def test_infinities_that_cancel_out_are_refused():
    with pytest.raises(BackendError):
        refuse_invalid(torch.tensor([torch.inf, -torch.inf]))


def test_numbers_whose_sum_is_none_are_accepted():
    values = torch.full((4,), 60_000, dtype=torch.float16)
    assert values.sum().isinf()
    refuse_invalid(values)
