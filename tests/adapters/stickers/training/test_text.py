import numpy as np
import pytest
from transformers import CLIPTokenizer

from spatialstudio.adapters.stickers.training.captions import write_caption
from spatialstudio.adapters.stickers.training.text import CAPTION_TOKENS, build_tokenizer
from spatialstudio.adapters.stickers.vocabulary import sticker_objects

START_AND_END = 2


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer()


def test_each_word_of_an_object_is_one_token(tokenizer):
    words = {word for thing in sticker_objects() for name in thing.words for word in name.split()}
    assert {len(tokenizer(word).input_ids) for word in words} == {1 + START_AND_END}


def test_a_caption_has_one_token_for_each_word(tokenizer, random_scenes):
    rng = np.random.default_rng(0)
    captions = [write_caption(scene, rng) for scene in random_scenes]
    assert [len(tokenizer(caption.text).input_ids) for caption in captions] == [
        len(caption.words) + START_AND_END for caption in captions
    ]


def test_an_unknown_word_is_spelled_out(tokenizer):
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("zyx").input_ids)
    assert "".join(tokens[1:-1]) == "zyx</w>"


def test_capitals_do_not_matter(tokenizer):
    assert tokenizer("A Dog").input_ids == tokenizer("a dog").input_ids


def test_a_saved_tokenizer_reads_the_same(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    again = CLIPTokenizer.from_pretrained(tmp_path)
    assert again.model_max_length == CAPTION_TOKENS
    assert again("a bird over a lamp").input_ids == tokenizer("a bird over a lamp").input_ids
