import os
import sys

import pytest
import torch

from spatialstudio.adapters import device
from spatialstudio.adapters.device import (
    available_memory_bytes,
    list_devices,
    memory_errors_explained,
    peak_memory_bytes,
    pick_device,
    pick_dtype,
)
from spatialstudio.domain.errors import OutOfMemory, RequestError


@pytest.mark.parametrize(
    ("has_cuda", "has_mps", "kind"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_the_fastest_available_device_is_chosen(monkeypatch, has_cuda, has_mps, kind):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)
    assert pick_device().type == kind


@pytest.fixture
def two_cards(monkeypatch):
    """A machine with two made-up cards, the older of which has no bfloat16."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"Card {device.index}")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (10**9 * device.index, 10**10))
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)


def test_the_processor_is_always_listed():
    processor = list_devices()[-1]
    assert (processor.id, processor.name, processor.cores) == ("cpu", "CPU", os.cpu_count())
    assert processor.dtypes == ("float32", "bfloat16", "float16")
    told = available_memory_bytes(torch.device("cpu"))
    assert (processor.free_bytes is None) == (told is None)


def test_every_card_is_listed_with_its_free_memory(two_cards):
    first, second, processor = list_devices()
    assert (first.id, second.id, processor.id) == ("cuda:0", "cuda:1", "cpu")
    assert (second.name, second.free_bytes, second.cores) == ("Card 1", 10**9, None)
    assert second.dtypes == ("float32", "float16")


def test_a_device_is_chosen_by_its_id(two_cards):
    assert pick_device("cuda:1") == torch.device("cuda:1")
    assert pick_device("cpu") == torch.device("cpu")


def test_a_missing_device_is_rejected_with_the_available_ones(two_cards):
    with pytest.raises(RequestError, match="cuda:7") as refused:
        pick_device("cuda:7")
    assert "cuda:0, cuda:1, cpu" in refused.value.hint


def test_the_peak_is_at_least_the_memory_held():
    held = torch.ones(50_000_000, dtype=torch.uint8)
    assert peak_memory_bytes(torch.device("cpu")) > held.numel()


def test_other_errors_are_unchanged():
    with pytest.raises(RuntimeError, match="shapes"), memory_errors_explained():
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
    with pytest.raises(OutOfMemory) as told, memory_errors_explained():
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
def test_large_models_use_half_precision_where_supported(
    monkeypatch, kind, size_bytes, has_bfloat16, dtype
):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: has_bfloat16)
    assert pick_dtype(torch.device(kind), size_bytes) is dtype


@pytest.fixture
def group(tmp_path, monkeypatch):
    """A container that may use 5 MB, and uses 3 MB of which 1 MB are pages of files."""
    files = {"memory.max": "5000000\n", "memory.current": "3000000\n"}
    for name, text in (*files.items(), ("memory.stat", "anon 2000000\ninactive_file 1000000\n")):
        (tmp_path / name).write_text(text)
    names = tuple(tmp_path / name for name in files)
    monkeypatch.setattr(device, "GROUP_FILES", (names,))
    return tmp_path


def test_a_container_limits_the_memory(group):
    assert available_memory_bytes(torch.device("cpu")) == 3_000_000


def test_a_container_without_a_limit_has_all_memory(group):
    (group / "memory.max").write_text("max\n")
    assert available_memory_bytes(torch.device("cpu")) > 3_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses are told on Linux")
def test_a_process_limit_bounds_the_memory(monkeypatch):
    import resource

    used = int(device.ADDRESSES_FILE.read_text().split()[0]) * resource.getpagesize()
    limit = used + 2**20
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (limit, resource.RLIM_INFINITY))
    assert available_memory_bytes(torch.device("cpu")) <= 2**20
