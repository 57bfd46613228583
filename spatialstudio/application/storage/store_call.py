"""Storing the calls of a notebook's pipeline as runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spatialstudio.application.evaluate.pictures import pixels_of
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.application.storage.storage import Storage
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    MAX_SEED,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    SamplingSettings,
    StepEvent,
)
from spatialstudio.domain.pipeline_call import PipelineCall
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.verdict import Evaluation


class CallStore:
    """Stores the images of one call.

    Args:
        storage: Writes runs.
        card: Model card of the pipeline.
        call: The finished call.
        steps: Step events of each image, by step.
    """

    def __init__(
        self,
        storage: Storage,
        card: ModelCard,
        call: PipelineCall,
        steps: Sequence[Sequence[StepEvent]],
    ) -> None:
        self._storage = storage
        self._card = card
        self._call = call
        self._steps = steps

    def store(
        self, number: int, folder: Path, image: object, evaluation: Evaluation | None
    ) -> Path:
        """Write the run of one image; return the image file.

        Args:
            number: Number of the image in the call, from 0.
            folder: Folder of the files.
            image: The image; None for the one that the pipeline returned.
            evaluation: None if the image was not evaluated.

        Raises:
            RequestError: The seed of the image is unknown.
            ImageError: The pipeline returned latents, and no image is given.
            StoreError: The folder cannot be written.
        """
        call, store = self._call, self._storage.store
        seed = call.seeds[number]
        if seed is None or not 0 <= seed <= MAX_SEED:
            raise RequestError(
                "The run cannot be saved because its seed is unknown.",
                hint="Pass generator=torch.Generator().manual_seed(7), or another seed.",
            )
        returned: Any = call.images[number] if number < len(call.images) else None
        pixels = pixels_of(returned if image is None else image)
        steps = [events[number] for events in self._steps]
        started = GenerationStarted(
            request_id=call.run_id,
            total_steps=len(steps),
            token_spans=call.spans,
            device=call.device,
        )
        finished = GenerationFinished(
            request_id=call.run_id,
            image=pixels,
            seconds=call.seconds,
            peak_memory_bytes=call.peak_memory_bytes,
        )
        return store_run(
            self._request(seed, pixels),
            [started, *steps, finished],
            evaluation,
            store,
            folder,
            is_marked=self._storage.marks_pictures,
        )

    def _request(self, seed: int, pixels: RgbImage) -> GenerationRequest:
        call = self._call
        prompt = replace(call.scene.prompt, negative=call.negative)
        return GenerationRequest(
            id=call.run_id,
            scene=replace(call.scene, prompt=prompt),
            backend_id=self._card.backend_id,
            model=ModelRef(id=self._card.id),
            sampling=SamplingSettings(
                seed=seed, steps=call.steps, scheduler_id=call.sampler, guidance=call.guidance
            ),
            guidance_scale=call.guidance_scale,
            width=pixels.shape[1],
            height=pixels.shape[0],
            steering=call.steering,
            capture=call.capture,
        )
