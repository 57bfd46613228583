"""A BLIP of a few thousand random weights, with its real processor, saved as a model folder."""

import torch
from transformers import (
    BertTokenizer,
    BlipConfig,
    BlipForQuestionAnswering,
    BlipImageProcessorPil,
    BlipProcessor,
)

WORDS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]", "yes", "no"),
    *("is", "there", "a", "dog", "car", "the", "to", "left", "of", "red", "?"),
)
SIDE = 32
SIZES = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "projection_dim": 16,
}


def save_tiny_blip(folder, seed=0):
    """Save model and processor into a folder."""
    torch.manual_seed(seed)
    config = BlipConfig(
        text_config={
            "vocab_size": len(WORDS),
            "encoder_hidden_size": SIZES["hidden_size"],
            "max_position_embeddings": 32,
            "pad_token_id": WORDS.index("[PAD]"),
            "bos_token_id": WORDS.index("[DEC]"),
            "sep_token_id": WORDS.index("[SEP]"),
            **SIZES,
        },
        vision_config={"image_size": SIDE, "patch_size": 8, **SIZES},
    )
    model = BlipForQuestionAnswering(config)
    for name, weight in model.named_parameters():
        if "weight" in name and weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.3)
    model.save_pretrained(folder)
    tokenizer = BertTokenizer(vocab={word: number for number, word in enumerate(WORDS)})
    size = {"height": SIDE, "width": SIDE}
    BlipProcessor(BlipImageProcessorPil(size=size), tokenizer).save_pretrained(folder)
    return folder
