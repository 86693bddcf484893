"""What an audit of texts knows of a model: it says which texts get the favourable label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from testsgd.models.answers import BlackBox, CheckedFunction


class TextModel(BlackBox, Protocol):
    """A model of texts under audit."""

    def decisions(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return for each text whether the model gives it the favourable label.

        What is said of a text depends on no other text of the call.
        """
        ...


class CallableTextModel(CheckedFunction[list[str]]):
    """A function from a list of strings to labels or scores, checked at every call.

    Its other parameters are those of :class:`testsgd.models.answers.CheckedFunction`.

    Parameters
    ----------
    function : callable
        Takes a list of n strings, returns n labels, or n scores in [0, 1] of the favourable
        label. The list is its own; it is never empty.

    Examples
    --------
    >>> from testsgd.data import Label
    >>> label = Label(column="toxic", favourable="yes", values=["no", "yes"])
    >>> model = CallableTextModel(
    ...     lambda texts: [text.count("!") / 10 for text in texts], label=label, name="loud",
    ...     threshold=0.1,
    ... )
    >>> model.decisions(["hello", "hello!!"]).tolist()
    [False, True]
    """

    one = "text"

    def decisions(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return for each text whether the model gives it the favourable label."""
        if len(texts) == 0:
            return np.zeros(0, dtype=bool)
        return self._decide(list(texts), len(texts), takes="a list of strings")

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64] | None:
        """Return for each text a number that is larger the nearer it is to the favourable label.

        The function's scores, or what an estimator computes before it says a label; None if only
        labels are to be had. The model must have decided about texts before.
        """
        if len(texts) == 0:
            return np.zeros(0)
        return self._score(list(texts), len(texts), takes="a list of strings")
