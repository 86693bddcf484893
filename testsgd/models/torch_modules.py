"""PyTorch modules as models: rows go in as one tensor, and what comes out is read by its shape."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.models.blackbox import float_inputs, named_columns
from testsgd.models.external import ExternalModel
from testsgd.models.failures import NUMBERS_REMEDY


def is_torch_module(source: Any) -> bool:
    """Return whether an object is a module of PyTorch, without importing it.

    Examples
    --------
    >>> is_torch_module(len)
    False
    """
    return any(
        (kind.__module__, kind.__name__) == ("torch.nn.modules.module", "Module")
        for kind in type(source).__mro__
    )


class TorchModel(ExternalModel):
    """A module of PyTorch.

    It is called in evaluation mode and without gradients, with a tensor of 32-bit floats: a row for
    each row, a column for each column in its order, NaN where a value is missing. An output of one
    column are scores in [0, 1]; of several columns, logits or probabilities of as many classes, of
    which the largest is the answer; whole numbers or booleans are labels.

    Parameters
    ----------
    module : torch.nn.Module
        The module. Its training mode is as before after each question.
    """

    def __init__(self, module: Any) -> None:
        super().__init__(type(module).__name__)
        self.kind = f"PyTorch module {type(module).__name__}"
        self._module = module

    @property
    def numbers(self) -> TorchNumbers:
        """The same module as one of numbers, such as a regression."""
        return TorchNumbers(self._module)

    @property
    def feature_names_in_(self) -> tuple[str, ...] | None:
        """The columns that the module takes, if it names them in an attribute of this name."""
        return named_columns(self._module)

    def predict(self, asked: pd.DataFrame | Sequence[str]) -> NDArray[Any]:
        """Return the module's label or score for each row.

        Raises
        ------
        ModelError
            If a column has no numbers, or the output is none of those that can be read.
        """
        import torch

        # Memory of a data frame may be read-only, of which torch warns.
        rows = torch.tensor(self._numbers(asked))
        device = next((item.device for item in self._module.parameters()), None)
        if device is not None:
            rows = rows.to(device)
        with torch.no_grad(), _evaluating(self._module):
            output = self._module(rows)
        if not torch.is_tensor(output):
            raise self._error(
                f"the module returned a {type(output).__name__} and no tensor",
                "give a module, or a function, that returns one score or label a row",
            )
        answers = output.detach().cpu()
        # NumPy has no brain floats, and every smaller float is a double too.
        return self._read((answers.double() if answers.is_floating_point() else answers).numpy())

    def _numbers(self, asked: pd.DataFrame | Sequence[str]) -> NDArray[np.float32]:
        if not isinstance(asked, pd.DataFrame):
            raise self._error(
                "a module takes numbers, and these are texts",
                "give a function from a list of texts to labels or scores",
            )
        for name, column in asked.items():
            try:
                float_inputs(column.to_frame())
            except (TypeError, ValueError) as error:
                raise self._error(
                    f"the column {name!r} has no numbers, and a module takes nothing else",
                    "leave the column out, or give a function that turns the rows into numbers",
                ) from error
        return np.ascontiguousarray(float_inputs(asked))

    def _read(self, output: NDArray[Any]) -> NDArray[Any]:
        """Return an output as scores or labels."""
        if output.ndim == 2 and output.shape[1] > 1:
            return np.asarray(np.argmax(output, axis=1))
        if output.ndim == 2:
            output = output[:, 0]
        if not np.issubdtype(output.dtype, np.floating):
            return output
        outside = (output < 0) | (output > 1)
        if outside.any():
            raise self._error(
                f"the module returned {float(output[outside][0]):g}, which is no score in [0, 1]",
                f"append nn.Sigmoid() if it is a logit; or {NUMBERS_REMEDY}",
            )
        return output


class TorchNumbers(TorchModel):
    """A module of PyTorch that predicts numbers: they are taken as they are.

    Parameters
    ----------
    module : torch.nn.Module
        As for :class:`TorchModel`.
    """

    def _read(self, output: NDArray[Any]) -> NDArray[Any]:
        """Return an output of one number a row, shape (n,)."""
        numbers = output[:, 0] if output.ndim == 2 and output.shape[1] == 1 else output
        if numbers.ndim != 1:
            raise self._error(
                f"the module returned a tensor of shape {output.shape}, and numbers are one a row",
                "give a module of one number a row, or a function that returns one of them",
            )
        return numbers


@contextlib.contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    """Put a module and its parts into evaluation mode, and each back into its own afterwards."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training
