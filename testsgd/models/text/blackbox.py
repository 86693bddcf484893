"""Black boxes of texts: what an audit asks of a model, and functions as such models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from testsgd.models.answers import BlackBox
from testsgd.models.checked_function import CheckedFunction


class TextModel(BlackBox, Protocol):
    """A model of texts under audit: it decides which texts get the favourable label.

    :class:`CallableTextModel` and :class:`TextNetwork` are such models.

    Attributes
    ----------
    name, kind : str
        What reports call the model, and what it is in words.
    thread_safe : bool
        Whether several threads may ask it at once.
    output : {"labels", "scores"}
        What it computes before it decides.
    threshold : float or None
        The score above which the decision is favourable; None for labels.

    Examples
    --------
    >>> class Short:
    ...     name, kind, thread_safe = "short", "a rule by length", True
    ...     output, threshold = "labels", None
    ...
    ...     def decisions(self, texts):
    ...         return np.array([len(text) < 10 for text in texts], dtype=bool)
    >>> Short().decisions(["hello", "a longer text"]).tolist()
    [True, False]
    """

    def decisions(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return a mask of the texts that get the favourable label, shape (n,).

        The decision on a text depends on no other text of the call.
        """
        ...


class CallableTextModel(CheckedFunction[list[str]]):
    """A function from a list of strings to labels or scores, checked at every call.

    The list is the function's own, and it is never empty. The parameters are those of
    :class:`CheckedFunction`; the function takes a list of str.

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

    unit = "text"

    def given(self, asked: Sequence[str]) -> list[str]:
        """Return the texts as a list."""
        return list(asked)

    def _takes(self, given: list[str]) -> str:
        return "a list of strings"
