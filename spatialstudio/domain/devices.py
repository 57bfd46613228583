"""What models can run on."""

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
