"""As much of PyTorch's interface as testsgd and its tests call, for where it is not installed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

_state = {"gradients": True}


class Tensor:
    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __matmul__(self, other: Tensor) -> Tensor:
        return Tensor(self.values @ other.values)

    def __sub__(self, other: float) -> Tensor:
        return Tensor(self.values - self.values.dtype.type(other))

    def __gt__(self, other: float) -> Tensor:
        return Tensor(self.values > other)

    @property
    def dtype(self) -> str:
        return f"torch.{self.values.dtype}"

    def sigmoid(self) -> Tensor:
        return Tensor(1 / (1 + np.exp(-self.values)))

    def is_floating_point(self) -> bool:
        return bool(np.issubdtype(self.values.dtype, np.floating))

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def double(self) -> Tensor:
        return Tensor(self.values.astype(np.float64))

    def numpy(self) -> Any:
        return self.values


def from_numpy(values: Any) -> Tensor:
    return Tensor(values)


def tensor(values: Any) -> Tensor:
    return Tensor(values.copy())


def is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def is_grad_enabled() -> bool:
    return _state["gradients"]


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    _state["gradients"] = False
    try:
        yield
    finally:
        _state["gradients"] = True


from torch import nn  # noqa: E402, F401  # as `import torch` gives it
