"""Whether a model fits into the memory of this machine, known without importing PyTorch.

The need is that of the catalogue, or the size of the installed weights in 16 bits. On the CPU
weights have 32 bits unless the user chooses 16. With offloading a model lies in main
memory, and its parts are on the GPU in turn.
"""

import os
import sys
from collections.abc import Mapping
from enum import Enum

from spatialstudio.application.torch_builds import gpu_memory_bytes, installed_torch
from spatialstudio.domain.devices import size_in_words
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.hub import CatalogueEntry, InstalledModel

GIGABYTE = 10**9
BITS_32_TO_16 = 2


@frozen
class MachineMemory:
    """Total memory of a machine.

    Attributes:
        main_bytes: Main memory; None if unknown.
        gpu_bytes: Memory of the largest GPU that PyTorch can use, 0 without one; None if unknown.
    """

    main_bytes: int | None = None
    gpu_bytes: int | None = None

    @property
    def words(self) -> str:
        """The known sizes: "GPU 8.6 GB, main memory 16.7 GB"; empty if none is known."""
        gpu = f"GPU {size_in_words(self.gpu_bytes)}" if self.gpu_bytes else ""
        gpu = "no GPU for PyTorch" if self.gpu_bytes == 0 else gpu
        main = f"main memory {size_in_words(self.main_bytes)}" if self.main_bytes else ""
        return ", ".join(filter(None, (gpu, main)))


class Fit(Enum):
    """How a model fits into the memory of a machine.

    Attributes:
        WHOLE: On the fastest device.
        OFFLOADED: In main memory, its parts on the GPU in turn.
        HALVED: On the CPU in 16 bits, not in 32.
        TOO_LARGE: Not at all.
        UNKNOWN: The need or the memory is unknown.
    """

    WHOLE = "fits"
    OFFLOADED = "with offloading"
    HALVED = "in 16 bits"
    TOO_LARGE = "too large"
    UNKNOWN = "unknown"


def this_machine(environment: Mapping[str, str] | None = None) -> MachineMemory:
    """Return the memory of this machine; runs nvidia-smi if PyTorch can use an NVIDIA card.

    Args:
        environment: Environment variables; None for those of this process.
    """
    main = _main_bytes()
    if sys.platform == "darwin":
        return MachineMemory(main_bytes=main, gpu_bytes=main)  # one memory for both
    torch = installed_torch()
    if torch is None or not torch[1]:
        return MachineMemory(main_bytes=main, gpu_bytes=0)
    cards = gpu_memory_bytes(os.environ if environment is None else environment)
    return MachineMemory(main_bytes=main, gpu_bytes=max(cards, default=None))


def needed_bytes(entry: CatalogueEntry | None, installed: InstalledModel | None) -> int:
    """Return the minimum memory of a model without offloading, in 16 bits; 0 if unknown."""
    if entry is not None:
        return entry.memory_gb * GIGABYTE
    return installed.memory_bytes if installed is not None else 0


def fit_of(needed: int, memory: MachineMemory) -> Fit:
    """Return how a model fits.

    Args:
        needed: Memory in 16 bits, bytes; 0 if unknown.
        memory: The machine.
    """
    main, gpu = memory.main_bytes, memory.gpu_bytes
    if not needed or main is None or gpu is None:
        return Fit.UNKNOWN
    if gpu:
        usual = Fit.OFFLOADED if needed <= main else Fit.TOO_LARGE
        return Fit.WHOLE if needed <= gpu else usual
    if needed > main:
        return Fit.TOO_LARGE
    return Fit.WHOLE if needed * BITS_32_TO_16 <= main else Fit.HALVED


def fit_in_words(needed: int, memory: MachineMemory) -> str:
    """Say how a model fits and why; empty if it fits as a whole, or if that is unknown."""
    size = size_in_words(needed)
    match fit_of(needed, memory):
        case Fit.TOO_LARGE:
            return f"too large for this machine: it needs {size}"
        case Fit.OFFLOADED:
            return f"fits with offloading only: it needs {size}"
        case Fit.HALVED:
            double = size_in_words(needed * BITS_32_TO_16)
            return f"fits in 16-bit precision only; 32-bit precision needs {double}"
    return ""


def _main_bytes() -> int | None:
    if sys.platform == "win32":
        return _windows_memory_bytes()
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _windows_memory_bytes() -> int | None:
    import ctypes

    kilobytes = ctypes.c_ulonglong()
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    is_known = kernel.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes))
    return int(kilobytes.value) * 1024 if is_known else None
