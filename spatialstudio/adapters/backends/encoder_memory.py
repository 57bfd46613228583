"""How much memory it takes to encode a prompt, told from the shapes of the text encoders.

Counted on the published encoders of all families, tensors that live at the same time in a pass over
as many words as the encoder reads; most pipelines fill shorter prompts up. Language models may keep
the states of all layers until the pass ends, and remember keys and values for words that never
come; besides, one layer's feed-forward, its attention or the logits of the whole vocabulary take
the most.
"""

from typing import Any

from spatialstudio.adapters.backends.load_pipeline import LoadedPipeline
from spatialstudio.adapters.backends.text_streams import TextStream

FLOAT32_BYTES = 4
KEYS_AND_VALUES = 2
HELD_STATES = 2
HELD_BY_FEED_FORWARD = 5
MASK_BYTES = 8
"""A pair of words, whatever the heads."""

RELATIVE_PLACES = "relative_attention_num_buckets"
SPELLED_OUT = (RELATIVE_PLACES, "attn_logit_softcapping")
"""What configurations name whose attention cannot be fused: those of T5 and Gemma."""

BUCKET_BYTES = 40
"""A pair of words, whatever the heads: whole numbers, several times."""


def encoding_bytes(loaded: LoadedPipeline, item: int) -> int:
    """Count the most that one text encoder holds beside its weights; they run in turn.

    Args:
        loaded: The model.
        item: Bytes of a number.
    """
    return max(_held(loaded.pipeline, stream, item) for stream in loaded.streams)


def _held(pipeline: Any, stream: TextStream, item: int) -> int:
    encoder, length = getattr(pipeline, stream.encoder_id), stream.limit
    shape = encoder.config.get_text_config()
    inner = getattr(shape, "intermediate_size", None) or shape.d_ff
    vocabulary = shape.vocab_size if encoder.get_output_embeddings() is not None else 0
    feeding = length * item * (HELD_STATES * shape.hidden_size + HELD_BY_FEED_FORWARD * inner)
    attending = length**2 * _bytes_a_pair(shape, item)
    kept = shape.num_hidden_layers * length * item * _kept_by_layer(shape, stream)
    return int(kept + max(feeding, attending, length * item * vocabulary))


def _kept_by_layer(shape: Any, stream: TextStream) -> int:
    states = shape.hidden_size if stream.keeps_layers else 0
    heads = getattr(shape, "num_key_value_heads", 0)
    return int(states + (KEYS_AND_VALUES * heads * _head_size(shape) if heads else 0))


def _head_size(shape: Any) -> int:
    told = getattr(shape, "head_dim", None)
    return int(told or shape.hidden_size // shape.num_attention_heads)


def _bytes_a_pair(shape: Any, item: int) -> int:
    """Return what a pair of words takes in attention."""
    if not any(hasattr(shape, name) for name in SPELLED_OUT):
        return MASK_BYTES
    scores = int(shape.num_attention_heads) * (2 * item + FLOAT32_BYTES)
    return scores + (BUCKET_BYTES if hasattr(shape, RELATIVE_PLACES) else MASK_BYTES)
