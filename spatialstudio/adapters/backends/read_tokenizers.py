"""Reads a model's tokenizers in whatever form they were published."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import transformers

from spatialstudio.adapters.backends.sentence_pieces import read_pieces
from spatialstudio.adapters.model_parts import TOKENIZER, parts_in_use, read_index
from spatialstudio.adapters.model_settings import check_folder, read_settings

WHOLE_FILE = "tokenizer.json"
PIECES_FILE = "spiece.model"
FORMS = ((WHOLE_FILE,), ("vocab.json", "merges.txt"))
"""Files that tell all words, beside pieces; without them, transformers would make some up."""

CONFIG_FILE = "tokenizer_config.json"
LIMIT = "model_max_length"
SPECIAL_TOKENS = ("eos_token", "unk_token", "pad_token")
SENTINELS = 100
"""Of T5, where its configuration does not say; the denoiser never meets them."""

MOST_SENTINELS = 10_000


def read_tokenizers(folder: Path) -> dict[str, Any]:
    """Read the tokenizers of a diffusers folder; libraries' errors pass as they are.

    Returns:
        By the names of their folders.
    """
    parts = parts_in_use(read_index(folder))
    return {
        name: _read(folder / name, class_name)
        for name, class_name in parts.items()
        if name.startswith(TOKENIZER)
    }


def _read(folder: Path, class_name: str) -> Any:
    check_folder(folder)
    pieces = folder / PIECES_FILE
    if pieces.is_file() and not (folder / WHOLE_FILE).is_file():
        return _read_t5(pieces, folder / CONFIG_FILE)
    if not any(all((folder / name).is_file() for name in form) for form in FORMS):
        raise FileNotFoundError(folder)
    kind = getattr(transformers, class_name, transformers.AutoTokenizer)
    return kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def _read_t5(file: Path, config_file: Path) -> transformers.T5Tokenizer:
    """Make a tokenizer of T5, whose sentinels follow the pieces, the last one first."""
    config = read_settings(config_file) if config_file.is_file() else {}
    sentinels = int(config.get("extra_ids", SENTINELS))
    if not 0 <= sentinels <= MOST_SENTINELS:
        raise ValueError(sentinels)
    told = read_pieces(file)
    ends = [(f"<extra_id_{number}>", 0.0) for number in reversed(range(sentinels))]
    special = {name: _text(config[name]) for name in SPECIAL_TOKENS if config.get(name)}
    limit = {LIMIT: config[LIMIT]} if LIMIT in config else {}
    return transformers.T5Tokenizer(
        vocab=[*told.pieces, *ends],
        extra_ids=sentinels,
        _spm_precompiled_charsmap=told.character_map,
        **special,
        **limit,
    )


def _text(token: str | Mapping[str, Any]) -> str:
    """Return a special token as it is written; older files tell more of it."""
    return token if isinstance(token, str) else str(token["content"])
