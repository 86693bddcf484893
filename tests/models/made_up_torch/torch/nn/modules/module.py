"""The base class of the made-up PyTorch's modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Module:
    def __init__(self) -> None:
        self.training = True

    def __call__(self, *arguments: Any) -> Any:
        return self.forward(*arguments)  # type: ignore[attr-defined]

    def modules(self) -> Iterator[Module]:
        yield self
        for part in vars(self).values():
            if isinstance(part, Module):
                yield from part.modules()

    def parameters(self) -> Iterator[Any]:
        return iter(())

    def train(self, mode: bool = True) -> Module:
        for part in self.modules():
            part.training = mode
        return self

    def eval(self) -> Module:
        return self.train(False)
