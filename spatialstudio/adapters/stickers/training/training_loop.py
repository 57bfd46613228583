"""Shared training loop: learning rate, gradients, running average, checkpoints."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from spatialstudio.domain.frozen import frozen


def save_checkpoint(file: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".unfinished")
    torch.save(state, unfinished)
    unfinished.replace(file)


def load_checkpoint(file: Path) -> dict[str, Any] | None:
    """Read a checkpoint; None if there is none yet."""
    if not file.exists():
        return None
    state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    return state


SMALLEST_SIDE = 32
"""Minimum matrix side for orthogonal updates, which gain little on smaller ones."""

ADAMW_BETAS = (0.9, 0.99)


class WeightUpdates:
    """The optimizer of a training run.

    Args:
        model: Its trainable weights are updated in place.
        weight_decay: Decoupled, for both methods.
        orthogonal: Whether Muon updates linear layers and convolutions; otherwise only AdamW.
    """

    def __init__(self, model: nn.Module, weight_decay: float, *, orthogonal: bool) -> None:
        matrices = list(_matrices(model)) if orthogonal else []
        by_muon = {id(weight) for weight in matrices}
        others = [
            weight
            for weight in model.parameters()
            if weight.requires_grad and id(weight) not in by_muon
        ]
        self._flat = [(weight, nn.Parameter(weight.detach().flatten(1))) for weight in matrices]
        self._methods: dict[str, torch.optim.Optimizer] = {
            "adamw": torch.optim.AdamW(
                others, betas=ADAMW_BETAS, weight_decay=weight_decay, fused=True
            )
        }
        if matrices:
            self._methods["muon"] = torch.optim.Muon(
                [flat for _, flat in self._flat],
                weight_decay=weight_decay,
                adjust_lr_fn="match_rms_adamw",
            )

    def step(self, learning_rate: float) -> None:
        """Update the weights from their gradients."""
        for weight, flat in self._flat:
            flat.grad = None if weight.grad is None else weight.grad.view_as(flat)
        for group in chain.from_iterable(each.param_groups for each in self._methods.values()):
            group["lr"] = learning_rate
        for method in self._methods.values():
            method.step()

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {name: method.state_dict() for name, method in self._methods.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the state of a checkpoint."""
        for name, method in self._methods.items():
            method.load_state_dict(state[name])


def _matrices(model: nn.Module) -> Iterator[Tensor]:
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d) and module.weight.requires_grad:
            rows, columns = module.weight.flatten(1).shape
            if min(rows, columns) >= SMALLEST_SIDE:
                yield module.weight


Report = Callable[[str], None]
"""Called with one line of progress."""

ShareOfLoss = Callable[[], tuple[Tensor, tuple[float, ...]]]
"""Computes the loss of one worker's share of a batch, and values to report."""

DrawShares = Callable[[np.random.Generator, float], Sequence[ShareOfLoss]]
"""Draws a batch, split among the workers, given the fraction of training completed."""

WARM_SHARE = 0.03
COOL_SHARE = 0.3
LOWEST_SHARE = 0.02
STEPS_A_REPORT = 100
LARGEST_GRADIENT = 1.0


@frozen
class Recipe:
    """Length and speed of training.

    Attributes:
        steps: Optimizer steps.
        batch: Scenes or crops per step, shared by the workers.
        learning_rate: Peak learning rate; it warms up, holds, then decays to almost zero.
        weight_decay: Weight decay of the optimizer.
        orthogonal: Whether Muon updates linear layers and convolutions, instead of AdamW.
        workers: Threads, each with its share of the batch and one core.
        average_decay: Decay of the running average of the weights; 0 keeps the latest weights.
        checkpoint_every: Steps between checkpoints.
        seed: Seed of all randomness.
    """

    steps: int
    batch: int
    learning_rate: float
    weight_decay: float = 1e-3
    orthogonal: bool = False
    workers: int = 1
    average_decay: float = 0.0
    checkpoint_every: int = 500
    seed: int


class TrainingLoop:
    """One training run: the model, the running average of its weights, and its progress."""

    def __init__(self, model: nn.Module, recipe: Recipe, checkpoint: Path, report: Report) -> None:
        self._model = model
        self._recipe = recipe
        self._checkpoint = checkpoint
        self._report = report
        self._weights: list[Tensor] = [
            weight for weight in model.parameters() if weight.requires_grad
        ]
        self._average = [weight.detach().clone() for weight in self._weights]
        self._updates = WeightUpdates(model, recipe.weight_decay, orthogonal=recipe.orthogonal)
        self._step = 0

    def run(self, draw_shares: DrawShares) -> None:
        """Train to the last step, resuming from the checkpoint if there is one.

        Each thread computes the gradients of its share of the batch on one core. That is faster
        than splitting every small operation, and hardly slower when the cores are shared.
        """
        self._restore()
        self._model.train()
        figures: list[tuple[float, ...]] = []
        with _quick_arithmetic(), ThreadPoolExecutor(self._recipe.workers) as threads:
            while self._step < self._recipe.steps:
                figures.append(self._take_step(threads, draw_shares))
                self._step += 1
                if self._step % STEPS_A_REPORT == 0:
                    self._tell(figures)
                    figures.clear()
                if self._step % self._recipe.checkpoint_every == 0:
                    self._save()
        self._save()
        adopt_average(self._model, self._checkpoint)

    def _take_step(self, threads: Executor, draw_shares: DrawShares) -> tuple[float, ...]:
        recipe = self._recipe
        rng = np.random.default_rng((recipe.seed, self._step))
        torch.manual_seed(recipe.seed * 1_000_003 + self._step)
        shares = draw_shares(rng, self._step / recipe.steps)
        results = list(threads.map(self._differentiate, shares))
        for index, weight in enumerate(self._weights):
            weight.grad = torch.stack([gradients[index] for gradients, _ in results]).mean(0)
        torch.nn.utils.clip_grad_norm_(self._weights, LARGEST_GRADIENT)
        self._updates.step(recipe.learning_rate * learning_rate_share(self._step, recipe.steps))
        self._update_average()
        return _means([figures for _, figures in results])

    def _differentiate(self, share: ShareOfLoss) -> tuple[tuple[Tensor, ...], tuple[float, ...]]:
        loss, figures = share()
        return torch.autograd.grad(loss, self._weights), figures

    @torch.no_grad()
    def _update_average(self) -> None:
        decay = min(self._recipe.average_decay, (1 + self._step) / (10 + self._step))
        torch._foreach_lerp_(self._average, self._weights, 1 - decay)

    def _tell(self, figures: Sequence[tuple[float, ...]]) -> None:
        means = ", ".join(f"{mean:.4f}" for mean in _means(figures))
        name = self._checkpoint.stem
        self._report(f"{name}: step {self._step} of {self._recipe.steps}, {means}")

    def _save(self) -> None:
        save_checkpoint(
            self._checkpoint,
            {
                "model": self._model.state_dict(),
                "average": self._average,
                "optimizer": self._updates.state(),
                "step": self._step,
            },
        )

    def _restore(self) -> None:
        if (state := load_checkpoint(self._checkpoint)) is None:
            return
        self._model.load_state_dict(state["model"])
        self._average = list(state["average"])
        self._updates.restore(state["optimizer"])
        self._step = state["step"]


@torch.no_grad()
def adopt_average(model: nn.Module, checkpoint: Path) -> int:
    """Load the averaged weights of a checkpoint into a model; return its number of steps."""
    state = load_checkpoint(checkpoint)
    if state is None:
        raise FileNotFoundError(checkpoint)
    model.load_state_dict(state["model"])
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    for weight, average in zip(weights, state["average"], strict=True):
        weight.copy_(average)
    model.eval()
    return int(state["step"])


def learning_rate_share(step: int, steps: int) -> float:
    """Return the factor of the peak learning rate at a step: warm-up, hold, decay.

    While it holds, the number of steps may be changed without a jump.
    """
    progress = (step + 1) / steps
    if progress < WARM_SHARE:
        return progress / WARM_SHARE
    return min(1.0, max((1 - progress) / COOL_SHARE, LOWEST_SHARE))


@contextmanager
def _quick_arithmetic() -> Iterator[None]:
    """Use one core per operation, and flush denormal numbers to zero."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before)


def _means(rows: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(np.mean(rows, axis=0).tolist())
