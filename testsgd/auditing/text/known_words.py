"""Terms that a model does not know: all of them are one and the same unknown word to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.data.text import SensitiveTerms
from testsgd.models import LoadedModel
from testsgd.models.text import TextModel
from testsgd.rules.text import TermRuleSets


def unknown_terms(
    model: LoadedModel[TextModel], terms: SensitiveTerms
) -> tuple[NDArray[np.bool_], ...] | None:
    """Find the terms of which a model does not know every word.

    Networks of testsgd can say it, and so can estimators of scikit-learn whose first step is a
    vectoriser with a ``vocabulary_``.

    Parameters
    ----------
    model : LoadedModel
        The model.
    terms : SensitiveTerms
        The terms.

    Returns
    -------
    tuple of numpy.ndarray of bool, shape (terms of the category,), or None
        One array a category; None if the model cannot say.
    """
    knows = getattr(model.model, "knows", None) or _vectoriser_knows(model.origin)
    if knows is None:
        return None
    return tuple(
        np.array([not all(map(knows, term.name.split())) for term in category.terms])
        for category in terms.categories
    )


def unknown_groups(
    rule_sets: TermRuleSets, unknown: tuple[NDArray[np.bool_], ...] | None
) -> NDArray[np.bool_]:
    """Find the groups with a term that the model does not know.

    Parameters
    ----------
    rule_sets : TermRuleSets
        The groups.
    unknown : tuple of numpy.ndarray of bool, or None
        From :func:`unknown_terms`.

    Returns
    -------
    numpy.ndarray of bool, shape (groups,)
        Nowhere true if it were true everywhere: a model that knows no term treats all alike.
    """
    found = np.zeros(len(rule_sets), dtype=bool)
    if unknown is None or not len(found):
        return found
    parts = [
        reduce(np.logical_or.outer, [unknown[category] for category in one.categories]).ravel()
        for one in rule_sets.category_sets
    ]
    found = np.concatenate(parts)[rule_sets.places(np.arange(len(found)))]
    return np.zeros_like(found) if found.all() else found


def _vectoriser_knows(source: Any) -> Callable[[str], bool] | None:
    """Return how to ask the vectoriser that a pipeline begins with, if it has a vocabulary."""
    steps = getattr(source, "steps", None)
    first = steps[0][1] if steps else source
    vocabulary = getattr(first, "vocabulary_", None)
    if not isinstance(vocabulary, Mapping) or not hasattr(first, "build_analyzer"):
        return None
    parts_of = first.build_analyzer()
    return lambda word: any(part in vocabulary for part in parts_of(word))
