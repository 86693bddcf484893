"""A made-up source of samples, whose scores are known: each sample is its number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


class NumberedSource:
    """So many draws; those with the same number of a pair may be one sample."""

    def __init__(self, draws: int, *, copies: int = 1) -> None:
        self.draws = draws * copies
        self._different = draws
        self._made: set[int] = set()

    def fresh(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], pd.DataFrame]:
        new = []
        for number in numbers.tolist():
            if number % self._different not in self._made:
                self._made.add(number % self._different)
                new.append(number)
        kept = np.array(new, dtype=np.int64)
        return kept, self.make(kept)

    def make(self, numbers: NDArray[np.int64]) -> pd.DataFrame:
        return pd.DataFrame({"number": numbers % self._different})


class ScoredModel:
    """Gives each number its score, and the favourable label above a threshold."""

    def __init__(self, scores: Any, threshold: float | None = 0.5) -> None:
        self._scores = np.asarray(scores, dtype=np.float64)
        self.threshold = threshold

    def scores(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        return self._scores[frame["number"].to_numpy(dtype=np.int64)]

    def decisions(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        threshold = 0.5 if self.threshold is None else self.threshold
        return np.asarray(ScoredModel.scores(self, frame) > threshold)


class LabelModel(ScoredModel):
    """Tells the labels only."""

    def __init__(self, scores: Any) -> None:
        super().__init__(scores, None)

    def scores(self, frame: pd.DataFrame) -> None:  # type: ignore[override]  # it never has any
        return None
