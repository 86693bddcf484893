"""The check of individual discrimination: whether other sensitive values change a decision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.coding import Points, RowCoding
from testsgd.models import Model, NetworkModel
from testsgd.sampling import BATCH_ROWS

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Checked:
    """What a check found out about some inputs.

    Attributes
    ----------
    discriminatory : numpy.ndarray of bool, shape (n,)
        Where some variant is decided otherwise than the input.
    own : numpy.ndarray of float64, shape (n,)
        For a network its output's sum, above 0 where the decision is in favour of its positive
        label; for any other model 1 or 0.
    farthest : numpy.ndarray of float64, shape (n, features)
        The variant whose output is farthest from the input's.
    """

    discriminatory: NDArray[np.bool_]
    own: Floats
    farthest: Points


class InputCheck:
    """Asks a model about inputs and about their variants in the sensitive features.

    Parameters
    ----------
    model : Model
        The black box; a network of testsgd's own is asked for its output's sum.
    coding : RowCoding
        Of the rows' table.
    variants : numpy.ndarray of float64, shape (variants, sensitive features)
        The combinations of sensitive values to try, in the order of ``coding.sensitive``.

    Attributes
    ----------
    queries : int
        Rows the model was asked about so far.
    """

    def __init__(self, model: Model, coding: RowCoding, variants: Points) -> None:
        self._model = model
        self._coding = coding
        self._variants = variants
        self.queries = 0

    @property
    def cost(self) -> int:
        """Rows that the model is asked about to check one input."""
        return len(self._variants) + 1

    @property
    def block(self) -> int:
        """How many inputs are checked at once."""
        return max(1, BATCH_ROWS // self.cost)

    def check(self, points: Points) -> Checked:
        """Check inputs, shape (n, features)."""
        size, count = len(self._variants), len(points)
        discriminatory = np.zeros(count, dtype=bool)
        own = np.zeros(count)
        farthest = points.copy()
        for start in range(0, count, self.block):
            rows = slice(start, start + self.block)
            part = points[rows]
            varied = np.repeat(part, size, axis=0)
            varied[:, self._coding.sensitive] = np.tile(self._variants, (len(part), 1))
            # In one go, so that a network's sums of the same input are rounded alike.
            outputs = self._outputs(np.concatenate([part, varied]))
            base, others = outputs[: len(part)], outputs[len(part) :].reshape(len(part), size)
            own[rows] = base
            discriminatory[rows] = ((others > 0) != (base > 0)[:, None]).any(axis=1)
            choice = np.abs(others - base[:, None]).argmax(axis=1)
            farthest[rows] = varied.reshape(len(part), size, -1)[np.arange(len(part)), choice]
        return Checked(discriminatory, own, farthest)

    def _outputs(self, points: Points) -> Floats:
        self.queries += len(points)
        frame = self._coding.frame(points)
        if isinstance(self._model, NetworkModel):
            sums = self._model.output_sums(self._model.encoding.encode(frame))
            return sums.astype(np.float64) - self._model.sigmoid.turning_sum
        return self._model.decisions(frame).astype(np.float64)


class Found:
    """Distinct discriminatory inputs: those that differ in a feature that is not sensitive.

    Parameters
    ----------
    coding : RowCoding
        Says which features count.
    """

    def __init__(self, coding: RowCoding) -> None:
        self._places = coding.insensitive
        self._seen: set[bytes] = set()

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, points: Points) -> None:
        """Take in discriminatory inputs."""
        # Equal numbers have equal bytes once -0.0 is 0.0; there are no payloads in our NaN.
        rows = np.ascontiguousarray(points[:, self._places] + 0.0)
        self._seen.update(row.tobytes() for row in rows)
