"""Softened labels: probabilities that a network can learn in place of labels.

The labels of a training set are full of chance. A network that is trained on further learns more of
that chance by heart, which costs it accuracy on new rows and leaves none to be spent on fairness.
So the training rows' labels are replaced by cross-fitted probabilities: another model, gradient
boosting, is fitted on four fifths of the rows and says how probable the favourable label is for the
rest. No row's own label has a part in its probability: not even in how the rows are parted, or in
how long the model is fitted.

They also tell what a changed decision is expected to cost: where p is the probability, a decision
for the favourable label is right with the chance p. Over all rows this is known far better than
from the labels of few validation rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from testsgd.data import Table

FOLDS = 5

# Fixed and moderate: small trees, small steps, ended by the loss on a tenth of the rows.
_STEPS = 300
_STEP = 0.05
_LEAVES = 15
_PENALTY = 1.0

# No label is certain.
_LEAST = 1e-3

# What scikit-learn's trees take.
_MOST_CATEGORIES = 255


def cross_fitted(
    table: Table,
    favourable: NDArray[np.bool_],
    training: NDArray[np.intp],
    others: NDArray[np.intp],
    *,
    seed: int,
) -> NDArray[np.float64]:
    """Give each row's probability of the favourable label, from models that did not see its label.

    Parameters
    ----------
    table : Table
        All rows.
    favourable : numpy.ndarray of bool, shape (rows,)
        Their labels.
    training : numpy.ndarray of int
        The rows to fit on; each gets the probability by a model of the other folds.
    others : numpy.ndarray of int
        Further rows, which get that by a model of all training rows.
    seed : int
        Of the folds and the models.

    Returns
    -------
    numpy.ndarray of float64, shape (rows,)
        NaN for rows that are neither.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import KFold

    inputs, categorical = _inputs(table)
    labels = favourable.astype(np.int64)
    found = np.full(len(table), np.nan)

    def model(steps: int, *, stop: bool) -> HistGradientBoostingClassifier:
        return HistGradientBoostingClassifier(
            learning_rate=_STEP,
            max_iter=steps,
            max_leaf_nodes=_LEAVES,
            l2_regularization=_PENALTY,
            categorical_features=categorical,
            early_stopping=stop,
            random_state=seed,
        )

    def ask(fitted: NDArray[np.intp], asked: NDArray[np.intp]) -> NDArray[np.float64]:
        """Fit to some rows, as long as a tenth of them gains by it, and ask about others."""
        rows, known = inputs[fitted], labels[fitted]
        fewest = min(int(known.sum()), int((1 - known).sum()))
        if fewest == 0:
            return np.full(len(asked), float(known[0]))
        # To set a tenth apart there must be two of each label.
        steps = model(_STEPS, stop=True).fit(rows, known).n_iter_ if fewest > 1 else _STEPS
        chances = model(steps, stop=False).fit(rows, known).predict_proba(inputs[asked])
        return np.asarray(chances[:, 1], dtype=np.float64)

    # One thread: the sums must not depend on how many processors there are.
    with threadpool_limits(1):
        for fitted, left in KFold(FOLDS, shuffle=True, random_state=seed).split(training):
            found[training[left]] = ask(training[fitted], training[left])
        if len(others):
            found[others] = ask(training, others)
    probabilities: NDArray[np.float64] = np.clip(found, _LEAST, 1 - _LEAST)
    return probabilities


def _inputs(table: Table) -> tuple[NDArray[np.float64], list[bool]]:
    """Give the features as numbers, NaN where missing, and which of them are categories."""
    columns, categorical = [], []
    for name, feature in table.specification.features.items():
        if feature.continuous:
            columns.append(table.numbers(name))
            categorical.append(False)
            continue
        codes = table.codes(name).astype(np.float64)
        codes[codes < 0] = np.nan
        columns.append(codes)
        # Of more categories the declared order is used.
        categorical.append(len(feature.values or []) <= _MOST_CATEGORIES)
    return np.column_stack(columns), categorical
