import numpy as np
import pytest
import torch
from torch import nn

from spatialstudio.adapters.stickers.training.training_loop import (
    Recipe,
    TrainingLoop,
    learning_rate_share,
)


def recipe(steps, workers=1):
    return Recipe(
        steps=steps, batch=4, learning_rate=0.1, workers=workers, checkpoint_every=3, seed=1
    )


def shares_of(model, workers=1):
    """Pull the model towards 3 for each of four noisy inputs."""

    def draw(rng, _progress):
        inputs = torch.from_numpy(rng.normal(1, 0.1, (4, 1))).float()

        def loss_of(part):
            loss = (model(part) - 3).square().mean()
            return loss, (loss.item(),)

        return [lambda part=part: loss_of(part) for part in inputs.chunk(workers)]

    return draw


@pytest.fixture
def train(tmp_path):
    def run(steps, name="model", workers=1):
        torch.manual_seed(0)
        model = nn.Linear(1, 1)
        lines = []
        loop = TrainingLoop(model, recipe(steps, workers), tmp_path / f"{name}.pt", lines.append)
        loop.run(shares_of(model, workers))
        return model, lines

    return run


def test_training_lowers_the_loss_and_reports_it(train):
    model, lines = train(steps=200)
    assert model(torch.ones(1, 1)).item() == pytest.approx(3, abs=0.2)
    assert lines[-1].startswith("model: step 200 of 200, ")


def test_two_workers_compute_the_gradient_of_one(train):
    alone, _ = train(steps=20, name="alone")
    shared, _ = train(steps=20, name="shared", workers=2)
    torch.testing.assert_close(alone.weight, shared.weight)


def test_a_finished_training_is_not_trained_again(train):
    first, _ = train(steps=100)
    second, lines = train(steps=100)
    torch.testing.assert_close(first.weight, second.weight)
    assert lines == []


def test_training_resumes_from_its_checkpoint(train):
    train(steps=100)
    _, lines = train(steps=200)
    assert [line.split(",")[0] for line in lines] == ["model: step 200 of 200"]


def test_the_learning_rate_warms_up_holds_and_falls():
    rates = [learning_rate_share(step, 100) for step in range(100)]
    assert rates[0] < 0.5
    assert max(rates) == pytest.approx(1)
    assert rates[-1] == pytest.approx(0.02)


def test_training_restores_the_arithmetic_settings(train):
    threads_before = torch.get_num_threads()
    train(steps=3)
    assert torch.get_num_threads() == threads_before
    assert np.float32(1e-40) * np.float32(1) > 0


def test_the_learning_rate_holds_for_most_of_the_training():
    rates = [learning_rate_share(step, 100) for step in range(5, 65)]
    assert rates == pytest.approx([1] * len(rates))
