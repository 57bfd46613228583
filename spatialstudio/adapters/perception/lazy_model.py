"""Lazy loading of transformers models: safetensors only, no network access."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from safetensors import SafetensorError

from spatialstudio.adapters.models.model_settings import (
    check_folder,
    is_explained,
    unusable,
)
from spatialstudio.adapters.models.weight_hashes import hash_of_weights
from spatialstudio.adapters.perception.model_catalog import weight_files
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import DetectorError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import PerceptionCard

if TYPE_CHECKING:
    import torch
    from torch import Tensor

SIGNS_OF_DAMAGE = (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError)
SIGNS_OF_FAILURE = (
    *(ValueError, KeyError, IndexError, TypeError, RuntimeError, AttributeError),
    *(AssertionError, ZeroDivisionError),
)
NEVER_USED = ("neck.fusion_stage.layers.0.residual_layer1.", "num_batches_tracked")
"""Parts of the architectures that do not affect the output; published weights lack them."""


@frozen
class Loaded:
    """A loaded model.

    Attributes:
        model: The transformers model, frozen.
        processor: Prepares its input; None if the adapter does that itself.
        device: Device of the weights.
    """

    model: Any
    processor: Any
    device: "torch.device"

    def __call__(self, **inputs: "Tensor") -> Any:
        """Run the model."""
        return self.model(**{name: value.to(self.device) for name, value in inputs.items()})


class ModelInUse:
    """A model that is loaded on first use and then reused; it follows the default device.

    Args:
        card: The model.
        model_class: Class name of the model in transformers.
        processor_class: Class name of the processor; None for no processor.
        dtype: Number type of the weights: "float32", or "auto" for that of the files.
    """

    def __init__(
        self,
        card: PerceptionCard,
        model_class: str,
        processor_class: str | None,
        dtype: str = "float32",
    ) -> None:
        self._card = card
        self._model_class = model_class
        self._processor_class = processor_class
        self._dtype = dtype
        self._loaded: Loaded | None = None

    @property
    def id(self) -> str:
        """Model id."""
        return self._card.ref.id

    def signature(self, settings: object) -> str:
        """Return model id, revision, weight hash and settings; empty if weights are unreadable."""
        try:
            weights = self._card.ref.sha256 or hash_of_weights(weight_files(self._card.folder))
        except (OSError, ValueError, LookupError, TypeError):
            return ""
        return f"{self.id} {self._card.ref.revision} {weights} {settings}"

    @contextmanager
    def looking(self) -> Iterator[Loaded]:
        """Load the model if needed, and translate errors raised in the block.

        Raises:
            DetectorError: The model is damaged, or fails on this picture.
            OutOfMemory: There is not enough memory.
        """
        import torch

        from spatialstudio.adapters.device import is_out_of_memory, memory_errors_explained

        with memory_errors_explained(), torch.inference_mode():
            loaded = self._ready()
            try:
                yield loaded
            except SIGNS_OF_FAILURE as error:
                if is_out_of_memory(error):
                    raise
                raise DetectorError(
                    f'The model "{self.id}" failed on this picture.',
                    hint="Try another picture or another model.",
                ) from error

    def _ready(self) -> Loaded:
        from spatialstudio.adapters.device import pick_device

        device = pick_device()
        if self._loaded is None:
            self._loaded = self._load(device)
        elif self._loaded.device != device:
            self._loaded.model.to(device)
            self._loaded = replace(self._loaded, device=device)
        return self._loaded

    def _load(self, device: "torch.device") -> Loaded:
        import transformers
        from transformers.utils import logging as transformers_messages

        from spatialstudio.adapters.device import is_out_of_memory
        from spatialstudio.adapters.models.weight_limits import held_to_weights

        messages: Any = transformers_messages
        messages.set_verbosity(messages.CRITICAL)  # failures are raised as our own errors
        messages.disable_progress_bar()
        folder = self._card.folder
        try:
            check_folder(folder)
            with held_to_weights(weight_files(folder)):
                model, report = getattr(transformers, self._model_class).from_pretrained(
                    folder,
                    dtype=self._dtype,
                    use_safetensors=True,
                    local_files_only=True,
                    trust_remote_code=False,
                    output_loading_info=True,
                )
            processor = self._processor_class and getattr(
                transformers, self._processor_class
            ).from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except ImportError as error:
            raise DetectorError(
                f'The model "{self.id}" needs a library that is not installed: {error.name}.',
                hint="Choose another model, or install the library.",
            ) from error
        except SIGNS_OF_DAMAGE as error:
            if is_out_of_memory(error):
                raise
            if is_explained(error):
                known = unusable(f'model "{self.id}"', error)
                raise DetectorError(known.message, hint=known.hint) from error
            raise self._damaged() from error
        missing = report["missing_keys"]
        if not all(any(part in key for part in NEVER_USED) for key in missing):
            raise self._damaged()  # missing weights would be random
        model.requires_grad_(False).eval().to(device)
        return Loaded(model=model, processor=processor or None, device=device)

    def _damaged(self) -> DetectorError:
        return DetectorError(
            f'The model "{self.id}" is damaged or not complete.',
            hint="Download it again. Pickle files are never loaded.",
        )


def as_numpy(values: "Tensor") -> NDArray[Any]:
    """Copy a tensor to a NumPy array in main memory."""
    array: NDArray[Any] = values.detach().cpu().numpy()
    return array


def pixels_of(processor: Any, image: RgbImage) -> "dict[str, Tensor]":
    """Preprocess a picture with an image processor.

    Args:
        processor: The model's own.
        image: (H, W, 3) uint8; channels last, even if the picture is very small.
    """
    return dict(processor(images=image, input_data_format="channels_last", return_tensors="pt"))
