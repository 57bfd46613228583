"""Which models fit into the memory of a machine, by GPU, main memory and precision."""

import sys

import pytest

from spatialstudio.application.models import machine_memory
from spatialstudio.application.models.machine_memory import (
    Fit,
    MachineMemory,
    fit_in_words,
    fit_of,
    this_machine,
)

GB = 10**9


@pytest.mark.parametrize(
    ("needed", "gpu", "main", "fit"),
    [
        (9, 24, 16, Fit.WHOLE),
        (36, 24, 64, Fit.OFFLOADED),
        (36, 24, 16, Fit.TOO_LARGE),
        (4, 0, 16, Fit.WHOLE),
        (9, 0, 16, Fit.HALVED),
        (18, 0, 16, Fit.TOO_LARGE),
        (36, None, 16, Fit.UNKNOWN),
        (36, 0, None, Fit.UNKNOWN),
        (0, 8, 16, Fit.UNKNOWN),
    ],
)
def test_gpu_main_memory_and_precision_decide(needed, gpu, main, fit):
    gpu, main = (each if each is None else each * GB for each in (gpu, main))
    assert fit_of(needed * GB, MachineMemory(main_bytes=main, gpu_bytes=gpu)) is fit


@pytest.mark.parametrize(
    ("needed", "words"),
    [
        (36, "too large for this machine: it needs 36.0 GB"),
        (12, "fits with offloading only: it needs 12.0 GB"),
        (8, ""),
    ],
)
def test_the_reason_names_the_need(needed, words):
    memory = MachineMemory(main_bytes=16 * GB, gpu_bytes=8 * GB)
    assert fit_in_words(needed * GB, memory) == words
    assert memory.words == "GPU 8.0 GB, main memory 16.0 GB"


def test_without_a_gpu_32_bits_are_named():
    memory = MachineMemory(main_bytes=16 * GB, gpu_bytes=0)
    assert memory.words == "no GPU for PyTorch, main memory 16.0 GB"
    words = fit_in_words(9 * GB, memory)
    assert words == "fits in 16-bit precision only; 32-bit precision needs 18.0 GB"


@pytest.mark.skipif(sys.platform != "linux", reason="a script as nvidia-smi")
@pytest.mark.parametrize(
    ("uses_gpu", "gpu"), [(True, 24564 * 2**20), (False, 0)], ids=["CUDA build", "CPU build"]
)
def test_the_largest_card_counts_if_torch_can_use_it(tmp_path, monkeypatch, uses_gpu, gpu):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 8188\necho 24564\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(machine_memory, "installed_torch", lambda: ("2.13.0", uses_gpu))
    found = this_machine({"PATH": str(tmp_path)})
    assert found.gpu_bytes == gpu
    assert found.main_bytes > GB
