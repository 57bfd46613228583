import pytest

from spatialstudio.adapters.diffusion.families import FAMILIES
from spatialstudio.adapters.diffusion.text_streams import TextStream
from spatialstudio.adapters.diffusion.token_spans import (
    in_denoiser,
    text_positions,
    token_spans,
)
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.scene import ObjectMention, TextSpan
from tests.adapters.diffusion.tiny_tokenizers import (
    MAX_TOKENS,
    tiny_clip_tokenizer,
    tiny_gemma_tokenizer,
    tiny_qwen_tokenizer,
    tiny_t5_tokenizer,
)


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_clip_tokenizer()


def mention(text, phrase, nth=0):
    start = -1
    for _ in range(nth + 1):
        start = text.index(phrase, start + 1)
    span = TextSpan(start=start, stop=start + len(phrase))
    return ObjectMention(id=f"{phrase}{nth}", phrase=phrase, head=phrase, span=span)


def indices(tokenizer, text, phrase, nth=0):
    (span,) = token_spans([clip(tokenizer)], text, [mention(text, phrase, nth)])
    return span.indices


def clip(tokenizer):
    return TextStream(encoder_id="text_encoder", tokenizer=tokenizer, limit=MAX_TOKENS)


def test_positions_count_the_start_token(tokenizer):
    assert indices(tokenizer, "a dog", "dog") == (2,)


def test_every_piece_of_every_word_counts(tokenizer):
    text = "a tea fig"
    pieces = tokenizer.convert_ids_to_tokens(tokenizer(text).input_ids)
    assert pieces[2:6] == ["tea</w>", "f", "i", "g</w>"]
    assert indices(tokenizer, text, "tea fig") == (2, 3, 4, 5)


def test_the_second_dog_is_not_the_first(tokenizer):
    assert indices(tokenizer, "a dog left of a dog", "dog", 0) == (2,)
    assert indices(tokenizer, "a dog left of a dog", "dog", 1) == (6,)


def test_a_word_inside_another_word_is_not_meant(tokenizer):
    assert indices(tokenizer, "a teadog of a dog", "dog", 1) == (
        len(tokenizer("a teadog of a").input_ids) - 1,
    )


def test_capitals_are_read_like_the_encoder_reads_them(tokenizer):
    assert indices(tokenizer, "A DOG", "DOG") == (2,)


def test_words_beyond_the_limit_are_named(tokenizer):
    text = "a dog " + "of a " * (MAX_TOKENS // 2) + "car"
    with pytest.raises(PromptError, match='too long: "car"'):
        token_spans([clip(tokenizer)], text, [mention(text, "dog"), mention(text, "car")])


def test_the_last_place_that_is_read_is_still_good(tokenizer):
    text = "a " * (MAX_TOKENS - 3) + "dog"
    assert indices(tokenizer, text, "dog") == (MAX_TOKENS - 2,)
    assert len(tokenizer(text).input_ids) == MAX_TOKENS


def test_a_cut_that_loses_no_mention_is_let_pass(tokenizer):
    assert indices(tokenizer, "a dog" + " of" * MAX_TOKENS, "dog") == (2,)


def test_what_the_encoder_does_not_see_is_told_and_never_the_start_token(tokenizer):
    text = "a dog \u200b\u200b"
    with pytest.raises(PromptError, match="drops"):
        token_spans(
            [clip(tokenizer)],
            text,
            [ObjectMention(id="m", phrase="?", head="?", span=TextSpan(start=5, stop=6))],
        )


TOKENIZERS = {
    "StableDiffusionPipeline": {"tokenizer": tiny_clip_tokenizer},
    "StableDiffusionGLIGENPipeline": {"tokenizer": tiny_clip_tokenizer},
    "StableDiffusionXLPipeline": {
        "tokenizer": tiny_clip_tokenizer,
        "tokenizer_2": tiny_clip_tokenizer,
    },
    "PixArtAlphaPipeline": {"tokenizer": tiny_t5_tokenizer},
    "PixArtSigmaPipeline": {"tokenizer": tiny_t5_tokenizer},
    "StableDiffusion3Pipeline": {
        "tokenizer": tiny_clip_tokenizer,
        "tokenizer_2": tiny_clip_tokenizer,
        "tokenizer_3": tiny_t5_tokenizer,
    },
    "FluxPipeline": {"tokenizer": tiny_clip_tokenizer, "tokenizer_2": tiny_t5_tokenizer},
    "SanaPipeline": {"tokenizer": tiny_gemma_tokenizer},
    "QwenImagePipeline": {"tokenizer": tiny_qwen_tokenizer},
    "ZImagePipeline": {"tokenizer": tiny_qwen_tokenizer},
    "Lumina2Pipeline": {"tokenizer": tiny_gemma_tokenizer},
    "Flux2KleinPipeline": {"tokenizer": tiny_qwen_tokenizer},
}
LIMITS = {
    "StableDiffusionPipeline": [("text_encoder", 24)],
    "StableDiffusionGLIGENPipeline": [("text_encoder", 24)],
    "StableDiffusionXLPipeline": [("text_encoder", 24), ("text_encoder_2", 24)],
    "PixArtAlphaPipeline": [("text_encoder", 120)],
    "PixArtSigmaPipeline": [("text_encoder", 300)],
    "StableDiffusion3Pipeline": [
        ("text_encoder", 24),
        ("text_encoder_2", 24),
        ("text_encoder_3", 256),
    ],
    "FluxPipeline": [("text_encoder_2", 512)],
    "SanaPipeline": [("text_encoder", 300)],
    "QwenImagePipeline": [("text_encoder", 512)],
    "ZImagePipeline": [("text_encoder", 512)],
    "Lumina2Pipeline": [("text_encoder", 256)],
    "Flux2KleinPipeline": [("text_encoder", 512)],
}


@pytest.fixture(scope="module", params=list(FAMILIES))
def family(request):
    made = {name: make() for name, make in TOKENIZERS[request.param].items()}
    return FAMILIES[request.param].streams(made)


def words_of(stream, text, indices):
    ids = stream.tokenizer(stream.text(text)).input_ids
    pieces = stream.tokenizer.decode([ids[index + stream.drops] for index in indices])
    return pieces.replace("</w>", "").strip()


def test_every_encoder_reads_as_much_as_its_model_does(request, family):
    expected = LIMITS[request.node.callspec.params["family"]]
    assert [(each.encoder_id, each.limit - each.drops) for each in family] == expected


@pytest.mark.parametrize(
    ("phrase", "nth", "read"),
    [
        ("dog", 1, "dog"),
        ("tea fig", 0, "tea fig"),
        ("foxes", 0, "foxes"),
        ("apple", 0, "apple"),
    ],
    ids=["the second of two", "several words", "a plural", "not the article before"],
)
def test_every_family_finds_the_very_words(family, phrase, nth, read):
    text = "dog, tea fig above a dog, foxes, a apple"
    spans = token_spans(family[-1:], text, [mention(text, phrase, nth)])
    assert [words_of(family[-1], text, span.indices) for span in spans] == [read]


def test_spaces_in_front_of_the_prompt_move_nothing(family):
    text = "   a DOG above a car"
    spans = token_spans(family[-1:], text, [mention(text, "DOG"), mention(text, "car")])
    read = [words_of(family[-1], text, span.indices).lower() for span in spans]
    assert read == ["dog", "car"]


def test_every_family_names_the_words_it_cuts_off(family):
    text = "a dog, " + "a " * 600 + "car"
    with pytest.raises(PromptError, match='too long: "car"'):
        token_spans(family, text, [mention(text, "dog"), mention(text, "car")])


def test_no_word_is_ever_taken_for_the_start_of_the_text(family):
    text = "dog above a car"
    spans = in_denoiser(family, token_spans(family, text, [mention(text, "dog")]))
    special = {stream.encoder_id: stream.tokenizer.all_special_ids for stream in family}
    ids = {
        stream.encoder_id: stream.tokenizer(stream.text(text)).input_ids[stream.drops :]
        for stream in family
    }
    firsts = {stream.encoder_id: stream.first for stream in family}
    assert len(spans) == len(family)
    assert not any(
        ids[span.encoder_id][index - firsts[span.encoder_id]] in special[span.encoder_id]
        for span in spans
        for index in span.indices
    )


def test_the_words_of_the_prompt_compete_and_those_of_no_template(family):
    text = "tea above a tea"
    (words,) = token_spans(family[-1:], text, [mention(text, text)])
    assert text_positions(family[-1:], text)[: len(words.indices)] == tuple(
        family[-1].first + index for index in words.indices
    )


def test_all_between_start_and_end_compete_where_the_end_fills_the_text(tokenizer):
    assert text_positions([clip(tokenizer)], "a dog") == tuple(range(1, MAX_TOKENS - 1))


def test_filling_of_another_kind_does_not_compete():
    tokenizer = tiny_clip_tokenizer()
    tokenizer.pad_token = "a"
    assert text_positions([clip(tokenizer)], "a dog") == (1, 2)


def test_what_one_encoder_cuts_another_may_read():
    streams = FAMILIES["StableDiffusion3Pipeline"].streams(
        {name: make() for name, make in TOKENIZERS["StableDiffusion3Pipeline"].items()}
    )
    text = "a dog " + "of a " * 15 + "car"
    spans = token_spans(streams, text, [mention(text, "car")])
    assert [span.encoder_id for span in spans] == ["text_encoder_3"]
    (moved,) = in_denoiser(streams, spans)
    assert moved.indices[0] == spans[0].indices[0] + MAX_TOKENS


def test_what_is_filled_up_in_front_moves_the_words():
    tokenizer = tiny_qwen_tokenizer()
    tokenizer.padding_side = "left"
    stream = TextStream(encoder_id="text_encoder", tokenizer=tokenizer, limit=16)
    (span,) = token_spans([stream], "a dog", [mention("a dog", "dog")])
    filled = tokenizer("a dog", padding="max_length", max_length=16).input_ids
    assert tokenizer.decode(filled[span.indices[0]]).strip() == "dog"


def test_a_chat_template_that_drops_the_prompt_is_told():
    tokenizer = tiny_qwen_tokenizer()
    tokenizer.chat_template = "nothing"
    with pytest.raises(PromptError, match="omits the prompt"):
        FAMILIES["ZImagePipeline"].streams({"tokenizer": tokenizer})
