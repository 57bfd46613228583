import pytest
import torch

from spatialstudio.adapters.device import (
    memory_errors_told,
    peak_memory_bytes,
    pick_device,
    pick_dtype,
)
from spatialstudio.domain.errors import OutOfMemory


@pytest.mark.parametrize(
    ("has_cuda", "has_mps", "kind"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_the_fastest_device_there_is_gets_picked(monkeypatch, has_cuda, has_mps, kind):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)
    assert pick_device().type == kind


def test_the_peak_is_at_least_what_was_held():
    held = torch.ones(50_000_000, dtype=torch.uint8)
    assert peak_memory_bytes(torch.device("cpu")) > held.numel()


def test_other_errors_pass_as_they_are():
    with pytest.raises(RuntimeError, match="shapes"), memory_errors_told():
        raise RuntimeError("shapes do not match")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("MPS backend out of memory (MPS allocated: 5.50 GB)."),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ],
    ids=["processor", "CUDA", "Apple's", "cuBLAS"],
)
def test_memory_errors_come_with_advice(error):
    with pytest.raises(OutOfMemory) as told, memory_errors_told():
        raise error
    assert told.value.hint


@pytest.mark.parametrize(
    ("kind", "size_bytes", "has_bfloat16", "dtype"),
    [
        ("cpu", 10**10, True, torch.float32),
        ("cuda", 10**8, True, torch.float32),
        ("cuda", 10**10, True, torch.bfloat16),
        ("cuda", 10**10, False, torch.float16),
        ("mps", 10**10, False, torch.bfloat16),
    ],
    ids=["processor", "small model", "large model", "older device", "Apple's"],
)
def test_large_models_are_halved_where_the_device_can(
    monkeypatch, kind, size_bytes, has_bfloat16, dtype
):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: has_bfloat16)
    assert pick_dtype(torch.device(kind), size_bytes) is dtype
