"""Counts what tensors take, without asking the system."""

import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter


class HeldTensors(TorchDispatchMode):
    """Counts the bytes of the tensors that live at the same time, those given left out."""

    def __init__(self, given):
        super().__init__()
        self._sizes = {each.untyped_storage()._cdata: 0 for each in given}
        self._held = 0
        self.most = 0

    def __torch_dispatch__(self, called, types, args=(), kwargs=None):
        made = called(*args, **(kwargs or {}))
        for tensor in tree_iter(made):
            if isinstance(tensor, torch.Tensor):
                self._count(tensor.untyped_storage())
        self.most = max(self.most, self._held)
        return made

    def _count(self, storage):
        place, size = storage._cdata, storage.nbytes()
        if place not in self._sizes:
            self._sizes[place] = size
            self._held += size
            weakref.finalize(storage, self._forget, place)

    def _forget(self, place):
        self._held -= self._sizes.pop(place)


@torch.no_grad()
def held_bytes(module, *arguments, **named):
    """Count the most that tensors of a pass without gradients hold at the same time."""
    given = [each for each in tree_iter((arguments, named)) if isinstance(each, torch.Tensor)]
    with HeldTensors([*module.parameters(), *module.buffers(), *given]) as held:
        module(*arguments, **named)
    return held.most
