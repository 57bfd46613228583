"""Tokenizers of every kind that knows a few words whole and spells all others."""

import inspect
import json
import re
import struct

import diffusers
from tokenizers.pre_tokenizers import ByteLevel
from transformers import CLIPTokenizer, GemmaTokenizer, Qwen2Tokenizer, T5Tokenizer

WORDS = ("a", "photo", "of", "dog", "car", "to", "the", "left", "above", "tea")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKS = ".,:;!?'\"-()<>_|/\n0123456789" + LETTERS.upper()
MAX_TOKENS = 24
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}<|im_start|>assistant\n"
    "{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
)


def tiny_clip_tokenizer():
    vocabulary = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS)]
    merges = merges_of([[*word[:-1], f"{word[-1]}</w>"] for word in WORDS])
    pieces = [*vocabulary, *map("".join, merges), "<|startoftext|>", "<|endoftext|>"]
    return CLIPTokenizer(vocab=numbered(pieces), merges=merges, model_max_length=MAX_TOKENS)


def tiny_t5_tokenizer():
    special = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    whole = [(f"▁{word}", -3.0) for word in WORDS]
    spelled = [(letter, -6.0) for letter in LETTERS + MARKS]
    return T5Tokenizer(vocab=special + whole + spelled, extra_ids=0)


def tiny_gemma_tokenizer():
    """Make one that knows the words of Sana's instruction too; spelled, it has 900 tokens."""
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    signature = inspect.signature(diffusers.SanaPipeline.__call__)
    instruction = " ".join(signature.parameters["complex_human_instruction"].default)
    words = dict.fromkeys([*WORDS, *re.findall(r"(?<= )[A-Za-z]+", instruction)])
    merges = merges_of([["▁", *word] for word in words])
    pieces = [*special, "▁", *LETTERS, *MARKS, *map("".join, merges)]
    return GemmaTokenizer(vocab=numbered(pieces), merges=merges)


def tiny_qwen_tokenizer():
    merges = merges_of([["Ġ", *word] for word in WORDS])
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    pieces = [*sorted(ByteLevel.alphabet()), *map("".join, merges), *special]
    tokenizer = Qwen2Tokenizer(
        vocab=numbered(pieces), merges=merges, additional_special_tokens=special[1:]
    )
    tokenizer.chat_template = CHAT
    return tokenizer


def merges_of(spelled_words):
    """List the merges that build words from their pieces, left to right."""
    merges = []
    for spelled in spelled_words:
        pieces = spelled
        while len(pieces) > 1:
            merges.append((pieces[0], pieces[1]))
            pieces = [pieces[0] + pieces[1], *pieces[2:]]
    return list(dict.fromkeys(merges))


def numbered(pieces):
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


def publish_as_pieces(folder):
    """Leave of T5's tokenizer what PixArt publishes: SentencePiece's file and configurations."""
    whole = folder / "tokenizer.json"
    vocabulary = json.loads(whole.read_text(encoding="utf-8"))["model"]["vocab"]
    (folder / "spiece.model").write_bytes(pieces_message(vocabulary))
    whole.unlink()


def publish_as_merges(folder):
    """Leave of a tokenizer what Stable Diffusion 1 publishes: vocabulary and merges."""
    whole = folder / "tokenizer.json"
    model = json.loads(whole.read_text(encoding="utf-8"))["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
    merges = [" ".join(merge) for merge in model["merges"]]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]), encoding="utf-8")
    whole.unlink()


def pieces_message(pieces, character_map=b""):
    """Write pieces as SentencePiece does, a trainer's and a normalizer's settings behind them."""
    own = (
        field(1, text.encode()) + number(2 << 3 | 5) + struct.pack("<f", score) + number(3 << 3, 1)
        for text, score in pieces
    )
    normalizer = field(1, b"nmt_nfkc") + field(2, character_map)
    return b"".join(field(1, piece) for piece in own) + field(2, b"\x18\x01") + field(3, normalizer)


def field(name, content):
    return number(name << 3 | 2, len(content)) + content


def number(*values):
    return b"".join(digits(value) for value in values)


def digits(value):
    return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + digits(value // 128)
