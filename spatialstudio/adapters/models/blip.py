"""Visual question answering with BLIP, with the picture encoded once for all questions.

Source: Li et al. 2022, BLIP, arXiv:2201.12086; used as by Singh and Zheng 2023, arXiv:2307.04749:
the softmax of the answer decoder at its first position. Their code runs the whole model for every
question.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import try_to_load_from_cache
from safetensors import SafetensorError
from transformers import AutoProcessor, BlipForQuestionAnswering

from spatialstudio.adapters.device import pick_device
from spatialstudio.adapters.models.model_settings import (
    MAX_SETTINGS_BYTES,
    SIGNS_OF_DAMAGE,
    check_folder,
    is_explained,
    settings_of,
    unusable,
)
from spatialstudio.adapters.models.weight_limits import held_to_weights
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import QuestionAnswer, YesNoChances
from spatialstudio.domain.errors import DetectorError
from spatialstudio.domain.ports import CancelToken, Surroundings
from spatialstudio.domain.safe_files import read_regular

REPOSITORY = "Salesforce/blip-vqa-base"
CONFIG_FILE = "config.json"
ARCHITECTURE = "BlipForQuestionAnswering"
YES, NO = "yes", "no"


def build(surroundings: Surroundings) -> "BlipAnswerer":
    """Create the answerer; its folder is located on first use."""
    return BlipAnswerer(lambda: find_blip(surroundings.model_folders))


class BlipAnswerer:
    """Answers with a local BLIP model, loaded on first use.

    Args:
        find: Returns the model folder; called on first use.
        answerer_id: Id in results.
    """

    def __init__(self, find: Callable[[], Path], answerer_id: str = "blip") -> None:
        self.id = answerer_id
        self._find = find
        self._loaded: tuple[Any, Any] | None = None

    @torch.inference_mode()
    def answer(
        self, image: RgbImage, questions: Sequence[str], token: CancelToken
    ) -> tuple[QuestionAnswer, ...]:
        """Answer each question.

        Args:
            image: (H, W, 3) uint8.
            questions: Yes-or-no questions.
            token: Checked before each question.

        Raises:
            DetectorError: The model is damaged or missing.
            Cancelled: The token was cancelled.
        """
        if not questions:
            return ()
        processor, model = self._ready()
        token.raise_if_cancelled()
        pixels = processor.image_processor(images=image, return_tensors="pt")["pixel_values"]
        seen = model.vision_model(pixel_values=pixels.to(model.device)).last_hidden_state
        answers = []
        for question in questions:
            token.raise_if_cancelled()
            answers.append(self._answer(processor.tokenizer, model, seen, question))
        return tuple(answers)

    def _answer(
        self, tokenizer: Any, model: Any, seen: torch.Tensor, question: str
    ) -> QuestionAnswer:
        # NOTE: not batched: the library's decoder attends to the padding of shorter questions.
        words = tokenizer(question, return_tensors="pt").to(model.device)
        asked = model.text_encoder(
            input_ids=words["input_ids"],
            attention_mask=words["attention_mask"],
            encoder_hidden_states=seen,
        ).last_hidden_state
        start = torch.full((1, 1), model.decoder_start_token_id, device=model.device)
        logits = model.text_decoder(
            input_ids=start,
            encoder_hidden_states=asked,
            encoder_attention_mask=words["attention_mask"],
        ).logits
        chances = logits[0, -1].float().log_softmax(-1)
        yes, no = (int(tokenizer.convert_tokens_to_ids(word)) for word in (YES, NO))
        return QuestionAnswer(
            chances=YesNoChances(log_yes=float(chances[yes]), log_no=float(chances[no]))
        )

    def _ready(self) -> tuple[Any, Any]:
        if self._loaded is None:
            processor, model = _load(self._find())
            self._loaded = processor, model.eval()
        self._loaded[1].to(pick_device())
        return self._loaded


def _load(folder: Path) -> tuple[Any, Any]:
    read_processor: Any = AutoProcessor.from_pretrained
    try:
        check_folder(folder)
        with held_to_weights(sorted(folder.glob("*.safetensors"))):
            processor = read_processor(folder, local_files_only=True, trust_remote_code=False)
            model: Any = BlipForQuestionAnswering.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, trust_remote_code=False
            )
    except (*SIGNS_OF_DAMAGE, RuntimeError, SafetensorError) as error:
        if isinstance(error, SIGNS_OF_DAMAGE) and is_explained(error):
            known = unusable(f'BLIP model in "{folder.name}"', error)
            raise DetectorError(known.message, hint=known.hint) from error
        raise DetectorError(
            f'The BLIP model in "{folder.name}" cannot be loaded.',
            hint="Its folder needs config, processor, tokenizer and safetensors weights.",
        ) from error
    return processor, model


def find_blip(model_folders: Sequence[Path]) -> Path:
    """Find a BLIP model for questions in local folders, else in the Hugging Face cache.

    Raises:
        DetectorError: There is none.
    """
    configs = (file for parent in model_folders for file in sorted(parent.glob(f"*/{CONFIG_FILE}")))
    found = [config.parent for config in configs if ARCHITECTURE in _architectures(config)]
    if found:
        return next(filter(_is_safe, found), found[0])
    cached = try_to_load_from_cache(REPOSITORY, CONFIG_FILE)
    if isinstance(cached, str):
        return Path(cached).parent
    raise DetectorError(
        "There is no BLIP model on this machine.",
        hint=f"Put a folder of {REPOSITORY} with safetensors weights into the models folder.",
    )


def _is_safe(folder: Path) -> bool:
    try:
        check_folder(folder)
    except SIGNS_OF_DAMAGE:
        return False
    return True


def _architectures(config: Path) -> Sequence[str]:
    try:
        settings = settings_of(read_regular(config, MAX_SETTINGS_BYTES))
    except SIGNS_OF_DAMAGE:
        return ()
    named = settings.get("architectures")
    return named if isinstance(named, list) else ()
