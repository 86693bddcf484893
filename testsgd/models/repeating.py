"""Models that answer differently when they are asked twice.

The first rows or texts are asked about again, in another order and with another batch size. A model
that draws its answers is found out by this, and so is one whose answer about a row depends on the
other rows of the call, or on their order.

A network may round differently in a batch of another size, which is no reason to refuse it: of a
model that gives scores, a row counts as answered alike if its score is within 0.001 of the
threshold; of one that gives labels, one row may be answered otherwise, if the very same question as
at first gets the very same answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ModelError
from testsgd.models.checked_function import CheckedFunction
from testsgd.models.external import ExternalModel
from testsgd.progress import parts_of

# How far from the threshold rounding may put a score.
ROUNDING = 1e-3

_PIECES = 3

Take = Callable[[NDArray[np.intp]], Any]


@dataclass(frozen=True)
class Repetition:
    """The answers of a model that was asked again, compared with its first ones."""

    # Share of the rows or texts that were answered otherwise; None if answers are kept, so that
    # none can be.
    differing: float | None = 0.0
    asked: int = 0  # Rows or texts that this took.


def ask_again(
    model: Any, take: Take, first: NDArray[np.bool_], *, most: int, at_random: bool = False
) -> Repetition:
    """Ask a model again, in another order and with another batch size, and compare its answers.

    A network of testsgd's own computes the same each time, and is not asked; nor is a model whose
    answers are kept. What counts as rounding is in the module's text.

    Parameters
    ----------
    model : Model or TextModel
        The model. Only a :class:`CheckedFunction` is asked.
    take : callable
        From positions, an integer array, to the rows or texts at them.
    first : numpy.ndarray of bool, shape (n,)
        The model's decisions on the rows or texts at the positions 0 to n - 1.
    most : int
        The most rows or texts to ask about.
    at_random : bool
        Whether the model is known to draw its answers, so that no difference is an error.

    Returns
    -------
    Repetition
        The share of the answers that differ, 0 where rounding explains them, None if answers are
        kept, and the number of rows or texts asked about.

    Raises
    ------
    ModelError
        If the answers differ by more than rounding explains, and not `at_random`.

    Examples
    --------
    >>> from testsgd.data import Label
    >>> from testsgd.models import CallableTextModel
    >>> label = Label(column="toxic", favourable="yes", values=["no", "yes"])
    >>> model = CallableTextModel(lambda texts: ["yes"] * len(texts), label=label, name="always")
    >>> texts = ["a", "b", "c"]
    >>> first = model.decisions(texts)
    >>> ask_again(model, lambda places: [texts[place] for place in places], first, most=3)
    Repetition(differing=0.0, asked=3)
    """
    first = first[: max(0, most)]
    if not isinstance(model, CheckedFunction) or not len(first):
        return Repetition()
    asked = getattr(model.function, "__self__", None)
    if isinstance(asked, ExternalModel) and asked.keeps_answers:
        return Repetition(differing=None)
    answers = np.zeros(len(first), dtype=bool)
    parts = parts_of(len(first))
    for piece in np.array_split(np.arange(len(first))[::-1], _PIECES):
        with parts.asking(len(piece)):
            answers[piece] = model.decisions(take(piece))
    different = np.flatnonzero(answers != first)
    if at_random or not len(different):
        return Repetition(len(different) / len(first), len(first))
    further_asked = _asked_about_rounding(model, take, first, different, most - len(first))
    if further_asked is None:
        raise ModelError(
            f"the model answered differently about {len(different):,} of the first "
            f"{len(first):,} {model.unit}s when asked about them again, in another order",
            where=f"model {model.name!r}",
            remedy=f"make its answer about a {model.unit} the same at every call, whatever else is "
            "in it, or audit means over several answers with --nondeterministic",
            model=model.name,
            differing=len(different),
        )
    return Repetition(0.0, len(first) + further_asked)


def _asked_about_rounding(
    model: CheckedFunction[Any],
    take: Take,
    first: NDArray[np.bool_],
    different: NDArray[np.intp],
    most: int,
) -> int | None:
    """Return the number of rows asked about if rounding explains the differences, None if not.

    `different`: the positions that were answered otherwise.
    """
    if model.threshold is not None:
        if len(different) > most:
            return None
        scores = model.scores(take(different))
        near = scores is not None and np.abs(scores - model.threshold).max() <= ROUNDING
        return len(different) if near else None
    if len(different) > 1 or len(first) > most:
        return None
    repeated = model.decisions(take(np.arange(len(first))))
    return len(first) if np.array_equal(repeated, first) else None
