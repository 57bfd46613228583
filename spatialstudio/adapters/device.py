"""Compute devices, data types and memory."""

import gc
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import torch

from spatialstudio.domain.devices import NUMBER_FORMATS, DeviceCard
from spatialstudio.domain.errors import OutOfMemory, RequestError

KIBIBYTE = 1024
MEMORY_FILE = Path("/proc/meminfo")
ADDRESSES_FILE = Path("/proc/self/statm")
GROUP = Path("/sys/fs/cgroup")
GROUP_FILES = (
    (GROUP / "memory.max", GROUP / "memory.current"),
    (GROUP / "memory" / "memory.limit_in_bytes", GROUP / "memory" / "memory.usage_in_bytes"),
)
"""Memory limit and usage files of containers, for cgroup versions 2 and 1."""
LARGE_MODEL_BYTES = 1024**3
DTYPES: Mapping[str, torch.dtype] = {name: getattr(torch, name) for name in NUMBER_FORMATS}
NAMES = {"mps": "Apple GPU", "cpu": "CPU"}
ALLOCATOR_COMPLAINTS = (
    "can't allocate memory",
    "not enough memory",
    "MPS backend out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)
"""Error messages of allocators without an exception class: CPU, Apple's, cuBLAS."""


_DEFAULT_DEVICE = ContextVar("default device", default="")


@contextmanager
def default_device(name: str) -> Iterator[None]:
    """Use a device for models without an explicit one, in this context.

    Args:
        name: Device id; empty for the fastest.

    Raises:
        RequestError: There is no such device.
    """
    pick_device(name)
    token = _DEFAULT_DEVICE.set(name)
    try:
        yield
    finally:
        _DEFAULT_DEVICE.reset(token)


def pick_device(wanted: str = "") -> torch.device:
    """Return the requested device, else the default device, else the fastest one.

    Args:
        wanted: Device id; empty for the default.

    Raises:
        RequestError: There is no such device.
    """
    known = _device_ids()
    wanted = wanted or _DEFAULT_DEVICE.get()
    if wanted and wanted not in known:
        raise RequestError(
            f'There is no device "{wanted}" on this machine.',
            hint=f"Available: {', '.join(known)}.",
        )
    return torch.device(wanted or known[0])


def list_devices() -> tuple[DeviceCard, ...]:
    """List the available devices, fastest first: CUDA, then Apple's, then the CPU."""
    return tuple(_card_of(torch.device(each)) for each in _device_ids())


def _device_ids() -> tuple[str, ...]:
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    apples = ("mps",) if torch.backends.mps.is_available() else ()
    return (*(f"cuda:{number}" for number in range(count)), *apples, "cpu")


def _card_of(device: torch.device) -> DeviceCard:
    return DeviceCard(
        id=str(device),
        name=torch.cuda.get_device_name(device) if device.type == "cuda" else NAMES[device.type],
        cores=os.cpu_count() if device.type == "cpu" else None,
        free_bytes=available_memory_bytes(device),
        dtypes=tuple(name for name, dtype in DTYPES.items() if _computes(device, dtype)),
    )


def _computes(device: torch.device, dtype: torch.dtype) -> bool:
    return dtype is not torch.bfloat16 or device.type != "cuda" or torch.cuda.is_bf16_supported()


def pick_dtype(device: torch.device, size_bytes: int, wanted: str = "") -> torch.dtype:
    """Choose the data type of a model's weights.

    Small models keep float32 everywhere, so that all devices draw the same picture; large ones use
    half precision if the device supports it.

    Args:
        device: Device to run on.
        size_bytes: Size of the stored weights.
        wanted: Data type from the request or the model's ``studio.toml``; empty for the default.

    Raises:
        RequestError: There is no such data type.
    """
    if wanted:
        if wanted not in DTYPES:
            raise RequestError(
                f'The precision "{wanted}" is not supported.',
                hint=f"Choose one of {', '.join(DTYPES)}, here or in the model's studio.toml.",
            )
        return DTYPES[wanted]
    if device.type == "cpu" or size_bytes < LARGE_MODEL_BYTES:
        return torch.float32
    return torch.bfloat16 if _computes(device, torch.bfloat16) else torch.float16


def name_of(dtype: torch.dtype) -> str:
    """Return the name of a data type in requests."""
    return str(dtype).removeprefix("torch.")


@contextmanager
def memory_errors_explained() -> Iterator[None]:
    """Translate out-of-memory errors, and release the tensors held by the block.

    Raises:
        OutOfMemory: The block needed more memory than available.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        traceback.clear_frames(error.__traceback__)  # frames hold the tensors of the pass
        raise OutOfMemory(
            "The device has too little memory for this picture.",
            hint="Choose a smaller picture or model, or close other programs.",
        ) from error


def is_out_of_memory(error: Exception) -> bool:
    """Return True if a library's error means out of memory."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return any(complaint in str(error) for complaint in ALLOCATOR_COMPLAINTS)


def free_memory(device: torch.device) -> None:
    """Return unused cached memory to the device."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def available_memory_bytes(device: torch.device) -> int | None:
    """Return the free memory; None if unknown."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory()
    return min((*_system_bytes(), *_left_to_group(), *_left_to_process()), default=None)


def _system_bytes() -> Iterator[int]:
    if MEMORY_FILE.is_file():
        for line in MEMORY_FILE.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) * KIBIBYTE


def _left_to_group() -> Iterator[int]:
    """Yield what the container's limit leaves; its page cache counts as free."""
    for limit_file, used_file in GROUP_FILES:
        if limit_file.is_file() and used_file.is_file():
            limit = limit_file.read_text(encoding="ascii").strip()
            used = int(used_file.read_text(encoding="ascii"))
            rows = (limit_file.parent / "memory.stat").read_text(encoding="ascii").splitlines()
            spare = sum(int(row.split()[1]) for row in rows if row.startswith("inactive_file "))
            if limit.isdecimal():
                yield max(int(limit) - used + spare, 0)


def _left_to_process() -> Iterator[int]:
    """Yield what the process's address space limit leaves."""
    if ADDRESSES_FILE.is_file():
        import resource

        limit, _hard = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(ADDRESSES_FILE.read_text(encoding="ascii").split()[0])
        if limit != resource.RLIM_INFINITY:
            yield max(limit - pages * resource.getpagesize(), 0)


def reset_peak_memory(device: torch.device) -> None:
    """Reset the peak memory counter, if the device supports it."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory_bytes(device: torch.device) -> int:
    """Return the peak memory so far: of the CUDA device, else of the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    if sys.platform == "win32":
        return _peak_working_set_bytes()
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * KIBIBYTE


def _peak_working_set_bytes() -> int:
    import ctypes
    from ctypes import wintypes

    sizes = (
        *("PeakWorkingSetSize", "WorkingSetSize", "QuotaPeakPagedPoolUsage"),
        *("QuotaPagedPoolUsage", "QuotaPeakNonPagedPoolUsage", "QuotaNonPagedPoolUsage"),
        *("PagefileUsage", "PeakPagefileUsage"),
    )

    class Counters(ctypes.Structure):  # PROCESS_MEMORY_COUNTERS of psapi.h
        _fields_ = (
            ("cb", wintypes.DWORD),
            ("PageFaultCount", wintypes.DWORD),
            *((name, ctypes.c_size_t) for name in sizes),
        )

    counters = Counters(cb=ctypes.sizeof(Counters))
    libraries = ctypes.windll  # type: ignore[attr-defined]
    own_process = wintypes.HANDLE(-1)
    libraries.psapi.GetProcessMemoryInfo(own_process, ctypes.byref(counters), counters.cb)
    return int(counters.PeakWorkingSetSize)
