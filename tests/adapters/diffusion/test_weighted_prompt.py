"""Weights of words on the values of the attention; the effect on pictures is in test_families."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from spatialstudio.adapters.diffusion import weighted_prompt as weighting
from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.load_pipeline import load_pipeline
from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.adapters.diffusion.token_spans import in_denoiser, token_spans
from spatialstudio.adapters.diffusion.weighted_prompt import weighted_prompt
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import SpanWeight
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES, save_tiny_family
from tests.fakes import events_of, scene_of

pytestmark = pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning")  # diffusers 0.42

SCENE = scene_of()
WEIGHT = 3.0
WEIGHING = ("SanaPipeline", "QwenImagePipeline")


@pytest.mark.parametrize(
    "tiny",
    [tiny for tiny in TINY_FAMILIES if tiny.pipeline_class in WEIGHING],
    ids=lambda tiny: tiny.pipeline_class,
)
def test_values_of_weighted_words_are_multiplied_in_rows_of_the_prompt(
    tiny, tmp_path, tiny_request, monkeypatch
):
    save_tiny_family(tiny, tmp_path / "tiny")
    card, backend = read_card(tmp_path / "tiny"), DiffusersBackend(tmp_path)
    height, width = tiny.size
    request = replace(with_values(tiny_request, height=height, width=width, steps=1), scene=SCENE)
    weights = (SpanWeight(span=SCENE.mentions[0].span, weight=WEIGHT),)
    scene = replace(SCENE, prompt=replace(SCENE.prompt, weights=weights))
    events_of(backend, request, card)  # loads the model
    monkeypatch.setattr(weighting, "_weigh", lambda encoded, *_: encoded)
    plain = first_values(backend, card, request)
    weighted = first_values(backend, card, replace(request, scene=scene))
    streams = backend._loaded.streams
    (span,) = in_denoiser(streams, token_spans(streams, SCENE.prompt.text, SCENE.mentions[:1]))
    is_changed = (plain != weighted).any(-1).any(1)  # (rows, positions)
    with_prompt = is_changed.any(-1)
    assert with_prompt.sum() == 1
    assert is_changed[with_prompt].nonzero()[:, 1].tolist() == sorted(span.indices)
    places = list(span.indices)
    assert torch.equal(
        weighted[with_prompt][:, :, places], WEIGHT * plain[with_prompt][:, :, places]
    )


def test_weights_act_on_all_three_encoders_of_stable_diffusion_3(tmp_path):
    (tiny,) = (each for each in TINY_FAMILIES if each.pipeline_class == "StableDiffusion3Pipeline")
    save_tiny_family(tiny, tmp_path / "tiny")
    loaded = load_pipeline(read_card(tmp_path / "tiny"), torch.device("cpu"))
    pipeline, text, mention = loaded.pipeline, SCENE.prompt.text, SCENE.mentions[0]
    weights = (SpanWeight(span=mention.span, weight=WEIGHT),)

    def encoded(prompt):
        return pipeline.encode_prompt(prompt, None, None, do_classifier_free_guidance=False)[0][0]

    with torch.no_grad():
        plain, empty = encoded(text), encoded("")
        with weighted_prompt(loaded, replace(SCENE.prompt, weights=weights)):
            weighted = encoded(text)
    spans = {each.encoder_id: each for each in token_spans(loaded.streams, text, (mention,))}
    clips = [pipeline.text_encoder.config.hidden_size, pipeline.text_encoder_2.config.hidden_size]
    after = pipeline.tokenizer_max_length
    parts = {
        "text_encoder": (0, slice(0, clips[0])),
        "text_encoder_2": (0, slice(clips[0], sum(clips))),
        "text_encoder_3": (after, slice(None)),
    }
    assert spans.keys() == parts.keys()
    for name, (first, channels) in parts.items():
        places = [first + index for index in spans[name].indices]
        old, rest, new = (each[places][:, channels] for each in (plain, empty, weighted))
        assert torch.allclose(new, rest + WEIGHT * (old - rest), atol=1e-5)
        assert (new - old).abs().max() > 0.01


def first_values(backend, card, request):
    """Return (rows, heads, positions, channels) of the first layer for both halves of a step."""
    seen, running = [], []
    first = backend._loaded.text_layers[0].module

    def run(forward, *args, **kwargs):
        running.append(first)
        return forward(*args, **kwargs)

    def listen(attend, query, key, value, *args, **kwargs):
        if running:
            seen.append(value)
            running.clear()
        return attend(query, key, value, *args, **kwargs)

    with (
        patched_attribute(first, "forward", run),
        patched_attribute(functional, "scaled_dot_product_attention", listen),
    ):
        events_of(backend, request, card)
    longest = max(value.shape[-2] for value in seen)
    return torch.cat([functional.pad(each, (0, 0, 0, longest - each.shape[-2])) for each in seen])
