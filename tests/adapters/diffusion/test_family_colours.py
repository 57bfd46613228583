"""Binding of colours to their objects, in families of several kinds, on tiny weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spatialstudio.adapters.diffusion.token_spans import colour_places, knows_colours
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.generation import CaptureSettings, GuidanceSettings
from spatialstudio.domain.requirements import BASIC_COLOURS
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import ObjectMention, Prompt, TextSpan
from spatialstudio.science.guidance.colours import divergence
from tests.adapters.diffusion import tiny_tokenizers
from tests.adapters.diffusion.drawn_families import FAMILY_WARNINGS, SCENE, SILENT, Drawn
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES, save_tiny_family

pytestmark = FAMILY_WARNINGS

KINDS = ("StableDiffusionPipeline", "PixArtSigmaPipeline", "FluxPipeline", "QwenImagePipeline")
TEXT = "a photo of a red dog to the left of a blue car"
EVERY_WORD = CaptureSettings(preview_every=0, detail=AttentionDetail.EVERY_WORD)
BOUND = GuidanceSettings(
    method_id="layout",
    strength=100.0,
    gradient_limit=0.001,
    inner_updates=3,
    last_step=1,
    options={"exclusivity_weight": 0.0, "colour_weight": 10.0},
)


def mention_of(number, colour, noun):
    phrase = f"{colour} {noun}"
    start = TEXT.index(phrase)
    return ObjectMention(
        id=f"m{number}",
        phrase=phrase,
        head=noun,
        attributes=(colour,),
        span=TextSpan(start=start, stop=start + len(phrase)),
    )


COLOURED = replace(
    SCENE,
    prompt=Prompt(text=TEXT),
    mentions=(mention_of(1, "red", "dog"), mention_of(2, "blue", "car")),
    relations=(),
)


@pytest.fixture(scope="module", params=KINDS)
def coloured_family(request, tmp_path_factory, make_request):
    """A family whose tokenizer has words for colours."""
    (tiny,) = (each for each in TINY_FAMILIES if each.pipeline_class == request.param)
    folder = tmp_path_factory.mktemp("coloured") / "tiny"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny_tokenizers, "WORDS", (*tiny_tokenizers.WORDS, *BASIC_COLOURS))
        save_tiny_family(tiny, folder)
    drawn = Drawn(tiny, folder, tmp_path_factory.mktemp("archives"))
    drawn.draw(make_request(tiny.size))  # loads the model
    return drawn


def test_the_attention_of_a_colour_comes_closer_to_its_noun(coloured_family, make_request):
    request = make_request(coloured_family.tiny.size, scene=COLOURED, capture=EVERY_WORD)
    free = distances(coloured_family, request)
    bound = distances(coloured_family, with_values(request, guidance=BOUND))
    assert sum(bound) < sum(free)


def distances(family, request):
    """Return how far each colour's attention is from its noun's on the last step."""
    started, *_ = family.draw(request)
    folder = family.archives / request.id
    kept = {file.layer: np.load(folder / file.name) for file in started.attention_files}
    words = [word.strip().lower() for word in started.attention_files[0].words]
    layers = [kept[layer.name] for layer in family.loaded.guiding_layers]
    maps = np.mean([array[-1].astype(np.float32).mean(0) for array in layers], 0)
    red, dog, blue, car = (
        torch.tensor(maps[place] / maps[place].sum())
        for place in map(words.index, ("red", "dog", "blue", "car"))
    )
    return float(divergence(red, dog)), float(divergence(blue, car))


def test_without_colour_words_or_strength_nothing_changes(coloured_family, make_request):
    size = coloured_family.tiny.size
    plain = make_request(size, guidance=replace(BOUND, options={"colour_weight": 0.0}))
    assert np.array_equal(
        coloured_family.run(plain).image,
        coloured_family.run(with_values(plain, guidance=replace(BOUND, options={}))).image,
    )
    free = make_request(size, scene=COLOURED, capture=SILENT)
    idle = with_values(free, guidance=replace(BOUND, strength=0.0))
    assert np.array_equal(coloured_family.run(idle).image, coloured_family.run(free).image)
    bound = with_values(free, guidance=BOUND)
    assert not np.array_equal(coloured_family.run(bound).image, coloured_family.run(free).image)


def test_colours_are_found_beside_their_nouns(coloured_family):
    streams = coloured_family.loaded.streams
    places = colour_places(streams, COLOURED)
    assert [each.terms for each in places.values()] == [{"red"}, {"blue"}]
    assert all(not set(each.words) & set(each.noun) for each in places.values())
    assert knows_colours(streams)


def test_models_that_spell_colours_do_not_bind_them(loaded):
    assert not knows_colours(loaded.streams)
