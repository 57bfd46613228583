"""What models can run on."""

from enum import Enum

from spatialstudio.domain.frozen import frozen

NUMBER_FORMATS = ("float32", "bfloat16", "float16")
"""Of weights, as torch names them."""


@frozen
class DeviceCard:
    """A device of this machine. Made where the models run; may cross threads.

    Attributes:
        id: As requests name it: "cpu", "cuda:1", "mps".
        name: For people, as its maker names it.
        cores: Of a processor; None for any other device.
        free_bytes: Of its memory, when it was asked; None where nobody tells.
        dtypes: Number formats that weights can have there, as torch names them.
    """

    id: str
    name: str
    cores: int | None = None
    free_bytes: int | None = None
    dtypes: tuple[str, ...] = ()


GIBIBYTE = 1024**3
KILOBYTE = 1000
UNITS = (("B", 0), ("kB", 0), ("MB", 0), ("GB", 1), ("TB", 1))
"""Each a thousand of the one before; with the digits that are told behind the point."""


class Saving(Enum):
    """A way to draw with less memory. In the order in which they are tried: mildest first."""

    CHECKPOINTING = "checkpointing"
    """Guidance keeps less of its passes and computes it twice; the picture stays the same."""
    EVERY_SECOND_STEP = "every second step"
    """Guidance acts half as often; saves time rather than memory."""
    SMALLER_MAPS = "smaller maps"
    """Guidance reads coarser attention, and its passes end sooner."""
    SEARCH = "search instead of gradient"
    """Several unguided pictures are drawn and the best is kept."""
    TILING = "tiles"
    """The autoencoder decodes the picture in tiles."""
    OFFLOAD = "offload"
    """Parts of the model wait in the computer's memory until they are needed."""
    PROCESSOR = "processor"
    """The picture is drawn without the accelerator."""


@frozen
class MemoryFix:
    """A way to draw what did not fit. Made by a backend; may cross threads.

    Attributes:
        savings: What is given up.
        size: (H, W) of a smaller picture; None for the one that was asked for.
        peak_bytes: What the run takes then, about; None where nobody can tell.
    """

    savings: tuple[Saving, ...] = ()
    size: tuple[int, int] | None = None
    peak_bytes: int | None = None


AS_IT_WAS = MemoryFix()
"""Gives nothing up."""


@frozen
class MemoryEstimate:
    """What a run takes at its highest, about. Made by a backend; may cross threads.

    Attributes:
        weights_bytes: Of the parts that lie on the device at once.
        guiding_bytes: What a guiding pass keeps for its gradient.
        denoising_bytes: Of an ordinary pass.
        decoding_bytes: Of the autoencoder at the end.
        encoding_bytes: Of the text encoders at the beginning.
        disk_bytes: Attention that goes to disk; exact.
    """

    weights_bytes: int
    guiding_bytes: int
    denoising_bytes: int
    decoding_bytes: int
    encoding_bytes: int = 0
    disk_bytes: int = 0

    @property
    def peak_bytes(self) -> int:
        """Weights and the hungriest phase."""
        drawing = max(self.guiding_bytes, self.denoising_bytes, self.decoding_bytes)
        return self.weights_bytes + max(self.encoding_bytes, drawing)


def size_in_words(count: float) -> str:
    """Say how much so many bytes are: "310 MB", "1.2 GB"."""
    power = 0
    while count >= KILOBYTE and power + 1 < len(UNITS):
        count, power = count / KILOBYTE, power + 1
    unit, digits = UNITS[power]
    return f"{count:.{digits}f} {unit}"
