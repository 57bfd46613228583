"""Devices, memory estimates and ways to save memory."""

from enum import Enum

from spatialstudio.domain.frozen import frozen

NUMBER_FORMATS = ("float32", "bfloat16", "float16")
"""Number formats of weights, by their torch names."""


@frozen
class DeviceCard:
    """A compute device of this machine. Created by the engine; may cross threads.

    Attributes:
        id: Id in requests: "cpu", "cuda:1", "mps".
        name: Display name from the manufacturer.
        cores: Number of CPU cores; None for any other device.
        free_bytes: Free memory at the time of the query; None where it is unknown.
        dtypes: Supported number formats of weights, by their torch names.
    """

    id: str
    name: str
    cores: int | None = None
    free_bytes: int | None = None
    dtypes: tuple[str, ...] = ()


GIBIBYTE = 1024**3
KILOBYTE = 1000
UNITS = (("B", 0), ("kB", 0), ("MB", 0), ("GB", 1), ("TB", 1))
"""Each a thousand times the previous one; with the number of decimals to display."""


class Saving(Enum):
    """Measures to reduce memory use, in the order in which they are tried: mildest first."""

    CHECKPOINTING = "checkpointing"
    """Gradient checkpointing in guiding passes; the image does not change."""
    EVERY_SECOND_STEP = "every second step"
    """Guidance acts on every second step; saves time rather than memory."""
    SMALLER_MAPS = "smaller maps"
    """Guidance uses coarser attention maps, and its passes end earlier."""
    SEARCH = "search instead of gradient"
    """Noise search over unguided images instead of gradient guidance."""
    TILING = "tiles"
    """The VAE decodes the image in tiles."""
    OFFLOAD = "offload"
    """Parts of the model stay in CPU memory until they are needed."""
    OFFLOAD_LAYERS = "offload layers"
    """Each layer stays in CPU memory until it is needed: least memory, but slow."""
    PROCESSOR = "processor"
    """The image is generated on the CPU."""


@frozen
class MemoryFix:
    """Changes that let a request fit into memory. Created by a backend; may cross threads.

    Attributes:
        savings: Memory savings to add.
        size: (H, W) of a smaller image; None for the requested size.
        peak_bytes: Estimated peak memory with the fix; None if unknown.
    """

    savings: tuple[Saving, ...] = ()
    size: tuple[int, int] | None = None
    peak_bytes: int | None = None


AS_IT_WAS = MemoryFix()
"""The fix that changes nothing."""


@frozen
class MemoryEstimate:
    """Estimated memory of a run. Created by a backend; may cross threads.

    Attributes:
        weights_bytes: Weights that are on the device at the same time.
        guiding_bytes: Activations stored by a guiding pass for its gradient.
        denoising_bytes: Activations of an unguided pass.
        decoding_bytes: Activations of VAE decoding.
        encoding_bytes: Activations of the text encoders.
        disk_bytes: Attention stored on disk; exact.
    """

    weights_bytes: int
    guiding_bytes: int
    denoising_bytes: int
    decoding_bytes: int
    encoding_bytes: int = 0
    disk_bytes: int = 0

    @property
    def peak_bytes(self) -> int:
        """Weights plus the phase with the highest memory use."""
        drawing = max(self.guiding_bytes, self.denoising_bytes, self.decoding_bytes)
        return self.weights_bytes + max(self.encoding_bytes, drawing)


def size_in_words(count: float) -> str:
    """Format a number of bytes: "310 MB", "1.2 GB"."""
    power = 0
    while count >= KILOBYTE and power + 1 < len(UNITS):
        count, power = count / KILOBYTE, power + 1
    unit, digits = UNITS[power]
    return f"{count:.{digits}f} {unit}"
