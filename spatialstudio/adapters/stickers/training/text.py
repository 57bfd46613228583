"""Tokenizer and text encoder of the sticker world: CLIP with one token per known word."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any

from tokenizers import pre_tokenizers
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

from spatialstudio.adapters.stickers.training.backgrounds import PLACES
from spatialstudio.adapters.stickers.training.captions import (
    JOINERS,
    OPENINGS,
    OTHER_PHRASES,
)
from spatialstudio.adapters.stickers.vocabulary import sticker_objects
from spatialstudio.domain.scene import BUILT_IN_TYPES

START, END = "<|startoftext|>", "<|endoftext|>"
WORD_END = "</w>"
CAPTION_TOKENS = 48
TEXT_WIDTH = 128
TEXT_LAYERS = 2
TEXT_HEADS = 4

OTHER_WORDS = (
    "a an the of and with , . to in on at is are which that there one two three four some",
    "side top bottom front back left right above below near next beside between far from",
    "photo picture image drawing sticker showing",
)


def build_tokenizer() -> CLIPTokenizer:
    """Build the tokenizer from the built-in word list."""
    merges: Any = _merges(_all_words())  # the library takes pairs, but is annotated with strings
    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [START, END, *symbols, *(symbol + WORD_END for symbol in symbols)]
    tokens += ["".join(pair) for pair in merges]
    return CLIPTokenizer(
        vocab={token: number for number, token in enumerate(dict.fromkeys(tokens))},
        merges=merges,
        model_max_length=CAPTION_TOKENS,
    )


def build_text_encoder(tokenizer: CLIPTokenizer) -> CLIPTextModel:
    """Create an untrained text encoder for the tokenizer."""
    encoder = CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(tokenizer),
            hidden_size=TEXT_WIDTH,
            intermediate_size=4 * TEXT_WIDTH,
            num_hidden_layers=TEXT_LAYERS,
            num_attention_heads=TEXT_HEADS,
            max_position_embeddings=CAPTION_TOKENS,
            projection_dim=TEXT_WIDTH,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    encoder.set_attn_implementation("eager")  # several times faster in training on a CPU
    return encoder


@cache
def _all_words() -> tuple[str, ...]:
    phrases: list[str] = [*OTHER_WORDS, *OPENINGS, *JOINERS]
    phrases += [relation.phrase for relation in BUILT_IN_TYPES]
    phrases += [phrase for group in OTHER_PHRASES.values() for phrase in group]
    phrases += [phrase for place in PLACES.values() for phrase in place.phrases]
    phrases += [word for thing in sticker_objects() for word in thing.words]
    words = (word for phrase in phrases for word in re.findall(r"[a-z]+", phrase))
    return tuple(dict.fromkeys(words))


def _merges(words: Iterable[str]) -> list[tuple[str, str]]:
    """List merges that turn each word into one token.

    The remaining pieces of a word after earlier merges are joined from left to right by new merges.
    These rank after all earlier ones, so that earlier words are still merged as before.
    """
    ranks: dict[tuple[str, str], int] = {}
    for word in words:
        pieces = _apply([*word[:-1], word[-1] + WORD_END], ranks)
        while len(pieces) > 1:
            ranks[(pieces[0], pieces[1])] = len(ranks)
            pieces = [pieces[0] + pieces[1], *pieces[2:]]
    return list(ranks)


def _apply(pieces: list[str], ranks: dict[tuple[str, str], int]) -> list[str]:
    while True:
        pairs = [pair for pair in pairwise(pieces) if pair in ranks]
        if not pairs:
            return pieces
        best = min(pairs, key=ranks.__getitem__)
        joined: list[str] = []
        for piece in pieces:
            if joined and (joined[-1], piece) == best:
                joined[-1] += piece
            else:
                joined.append(piece)
        pieces = joined
