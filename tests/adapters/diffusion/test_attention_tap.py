from threading import Thread

import pytest
import torch
from diffusers.models.attention_processor import AttnProcessor

from spatialstudio.adapters.diffusion import attention_tap
from spatialstudio.adapters.diffusion.attention_layers import (
    AttentionLayer,
    TextPlace,
    guiding_layers,
    unet_text_layers,
)
from spatialstudio.adapters.diffusion.attention_tap import (
    AttentionTap,
    LayerWatch,
    tapped,
)
from spatialstudio.domain.errors import BackendError


@pytest.fixture
def layers(unet):
    return guiding_layers(unet_text_layers(unet), 16)


@pytest.fixture
def seen():
    """What was tapped."""
    return []


@pytest.fixture
def inputs():
    torch.manual_seed(1)
    return torch.randn(2, 4, 16, 24), torch.tensor(500), torch.randn(2, 9, 32)


def test_each_wanted_layer_gives_the_text_of_the_conditional_half(unet, layers, inputs, seen):
    with torch.no_grad(), tapped(layers, seen.append):
        unet(*inputs)
    shapes = [tuple(each.probabilities().shape) for each in seen]
    assert shapes == [(2, 16 * 24, inputs[-1].shape[1])] * len(layers)


def test_probabilities_are_those_that_the_library_computes_itself(unet, layers, inputs, seen):
    reference = {}

    class Recording(AttnProcessor):
        def __call__(self, attn, hidden_states, encoder_hidden_states=None, **_):
            query = attn.head_to_batch_dim(attn.to_q(hidden_states))
            key = attn.head_to_batch_dim(attn.to_k(encoder_hidden_states))
            scores = attn.get_attention_scores(query, key)
            reference["probabilities"] = scores[-2:]
            return super().__call__(attn, hidden_states, encoder_hidden_states)

    with torch.no_grad(), tapped(layers[:1], seen.append):
        unet(*inputs)
    usual = layers[0].module.processor
    layers[0].module.processor = Recording()
    with torch.no_grad():
        unet(*inputs)
    layers[0].module.processor = usual
    torch.testing.assert_close(seen[0].probabilities(), reference["probabilities"])


def test_reading_leaves_the_output_as_it_is_to_the_bit(unet, layers, inputs, seen):
    with torch.no_grad():
        plain = unet(*inputs).sample
        with tapped(layers, seen.append):
            read = unet(*inputs).sample
    assert torch.equal(plain, read)


def test_the_fused_kernel_tells_what_the_softmax_divides_by(unet, layers, inputs, seen):
    with torch.no_grad(), tapped(layers, seen.append):
        unet(*inputs)
    assert len(seen) == len(layers)
    for each in seen:
        scores = each.query @ each.key.mT * each.scale
        torch.testing.assert_close(each.log_sums, scores.logsumexp(-1))


@pytest.mark.parametrize("name", ["choose_kernel", "flash_attention"])
def test_without_private_functions_of_torch_the_softmax_is_computed(
    unet, layers, inputs, seen, monkeypatch, name
):
    with torch.no_grad(), tapped(layers, seen.append):
        unet(*inputs)
    usual = [each.probabilities() for each in seen]
    seen.clear()
    monkeypatch.setattr(attention_tap, name, None)
    with torch.no_grad(), tapped(layers, seen.append):
        unet(*inputs)
    assert [each.log_sums for each in seen] == [None] * len(layers)
    for one, other in zip(usual, seen, strict=True):
        torch.testing.assert_close(one, other.probabilities())


def test_what_was_seen_waits_for_the_end_of_the_pass_within_bounds(
    unet, layers, inputs, seen, monkeypatch
):
    taken_by_the_end_of_the_denoiser = []
    hook = unet.conv_out.register_forward_hook(
        lambda *_: taken_by_the_end_of_the_denoiser.append(len(seen))
    )
    with torch.no_grad(), tapped(layers, seen.append):
        unet(*inputs)
    late = [each.probabilities() for each in seen]
    seen.clear()
    monkeypatch.setattr(attention_tap, "MOST_WAITING_BYTES", 0)
    with torch.no_grad(), tapped(layers, seen.append):
        unet(*inputs)
    hook.remove()
    assert taken_by_the_end_of_the_denoiser == [0, len(layers)]
    for one, other in zip(late, seen, strict=True):
        assert torch.equal(one, other.probabilities())


def test_where_gradients_flow_the_softmax_is_computed(unet, layers, inputs, seen):
    with tapped(layers, seen.append):
        unet(*inputs)
    assert [each.log_sums for each in seen] == [None] * len(layers)


def test_two_can_look_at_one_pass(unet, layers, inputs, seen):
    second = []
    with torch.no_grad(), tapped(layers, second.append), tapped(layers, seen.append):
        unet(*inputs)
    for one, other in zip(seen, second, strict=True):
        assert torch.equal(one.probabilities(), other.probabilities())


def test_an_early_exit_gives_the_same_probabilities_and_gradients_and_ends_the_pass(
    unet, layers, inputs
):
    sample, *rest = inputs
    later_calls = []
    hook = unet.conv_out.register_forward_hook(lambda *_: later_calls.append(1))

    def gradient(stops_early):
        start = sample.clone().requires_grad_()
        seen = []
        with tapped(layers, seen.append, stops_early=stops_early):
            unet(start, *rest)
        total = sum(each.probabilities()[..., 2].square().sum() for each in seen)
        return total, torch.autograd.grad(total, start)[0]

    (full, full_gradient), (short, short_gradient) = gradient(False), gradient(True)
    hook.remove()
    assert torch.equal(full, short)
    assert torch.equal(full_gradient, short_gradient)
    assert len(later_calls) == 1


def test_an_exception_in_the_pass_leaves_no_hook_behind(unet, layers, inputs, seen):
    with pytest.raises(ZeroDivisionError), tapped(layers, seen.append):
        raise ZeroDivisionError
    assert not any(layer.module._forward_pre_hooks for layer in layers)


def test_attention_that_cannot_be_seen_is_told(unet, layers, inputs, seen):
    usual = layers[0].module.processor
    layers[0].module.processor = AttnProcessor()
    with (
        pytest.raises(BackendError, match="cannot be captured"),
        torch.no_grad(),
        tapped(layers, seen.append),
    ):
        unet(*inputs)
    layers[0].module.processor = usual


@pytest.mark.parametrize(
    "mask",
    [
        torch.tensor([True, True, False]),
        torch.tensor([0.0, 0.0, -torch.inf]),
    ],
    ids=["of truth values", "added"],
)
def test_masked_words_get_no_attention(mask, seen):
    module = torch.nn.Module()
    query, key = torch.randn(2, 1, 1, 4, 8).unbind(0), torch.randn(1, 1, 3, 8)
    layer = AttentionLayer("layer", module, 0)
    module.forward = lambda: torch.nn.functional.scaled_dot_product_attention(
        query[0], key, key, attn_mask=mask[None, None, None]
    )
    with tapped([layer], seen.append):
        module()
    probabilities = seen[0].probabilities()
    assert probabilities[..., 2].max() == 0
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(1, 4))


@pytest.mark.parametrize(
    ("place", "multiple", "picture", "text"),
    [
        (TextPlace.FIRST, 1, slice(3, 9), slice(0, 3)),
        (TextPlace.LAST, 1, slice(0, 6), slice(6, 9)),
        (TextPlace.LAST, 4, slice(0, 6), slice(8, 11)),
    ],
    ids=["text first", "text last", "text after a picture that is filled up"],
)
def test_of_joint_attention_the_pictures_to_the_text_is_read(place, multiple, picture, text, seen):
    length = max(picture.stop, text.stop)
    query, key = torch.randn(2, 1, 2, length, 8).unbind(0)
    module = torch.nn.Module()
    module.forward = lambda: torch.nn.functional.scaled_dot_product_attention(query, key, key)
    layer = AttentionLayer("layer", module, 0, place, multiple)
    with tapped([layer], seen.append, latent_size=(2, 3)):
        module()
    scores = query[0, :, picture] @ key[0, :, text].transpose(-1, -2) * 8**-0.5
    torch.testing.assert_close(seen[0].probabilities(), scores.softmax(-1))


def test_keys_that_several_queries_share_are_read_like_others(seen):
    query, key = torch.randn(1, 4, 6, 8), torch.randn(1, 2, 5, 8)
    module = torch.nn.Module()
    module.forward = lambda: torch.nn.functional.scaled_dot_product_attention(
        query, key, key, enable_gqa=True
    )
    with tapped([AttentionLayer("layer", module, 0)], seen.append):
        module()
    scores = query[0] @ key[0].repeat_interleave(2, 0).transpose(-1, -2) * 8**-0.5
    torch.testing.assert_close(seen[0].probabilities(), scores.softmax(-1))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_probabilities_of_half_precision_are_computed_in_full(dtype, seen):
    query, key = torch.randn(2, 1, 2, 6, 8).to(dtype).unbind(0)
    module = torch.nn.Module()
    module.forward = lambda: torch.nn.functional.scaled_dot_product_attention(query, key, key)
    with tapped([AttentionLayer("layer", module, 0)], seen.append):
        module()
    scores = query[0].float() @ key[0].float().transpose(-1, -2) * 8**-0.5
    assert seen[0].probabilities().dtype is torch.float32
    torch.testing.assert_close(seen[0].probabilities(), scores.softmax(-1))


def test_what_other_threads_attend_to_meanwhile_is_not_taken_for_the_models(unet, layers, inputs):
    own, others = [], []
    query = torch.randn(1, 1, 4, 8)

    def look_elsewhere(*_):
        attend = torch.nn.functional.scaled_dot_product_attention
        other = Thread(target=lambda: others.append(attend(query, query, query)))
        other.start()
        other.join()

    hook = layers[0].module.to_q.register_forward_hook(look_elsewhere)
    with torch.no_grad(), tapped(layers, own.append):
        unet(*inputs)
    hook.remove()
    assert [each.query.shape[1] for each in own] == [16 * 24] * len(layers)
    assert len(others) == 1


def test_the_function_that_was_stood_in_for_is_back(unet, layers, inputs):
    usual = torch.nn.functional.scaled_dot_product_attention
    with torch.no_grad(), tapped(layers, [].append, stops_early=True):
        unet(*inputs)
    assert torch.nn.functional.scaled_dot_product_attention is usual


def test_layers_are_watched_once_for_many_passes_and_then_left_as_they_were(unet, layers, inputs):
    watch, own = LayerWatch(layers), []
    with torch.no_grad(), watch.on_duty():
        for _ in range(2):
            tap = AttentionTap(watch, [own.append])
            with tap.on_duty():
                tap.see(lambda: unet(*inputs))
        assert all("forward" in vars(layer.module) for layer in layers)
        unet(*inputs)
    assert [each.layer for each in own] == [*layers, *layers]
    assert not any("forward" in vars(layer.module) for layer in layers)
