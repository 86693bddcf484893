"""Looking over the decision trees of an estimator that was read from a file.

scikit-learn follows the nodes of a tree without looking where they point to. So skops does not
trust trees of a file whose writer is unknown: numbers put in on purpose could read memory that is
none of theirs. Here every node is looked over, before anything is predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The types that skops trusts only by name; they are looked over here.
TREE_TYPES = frozenset(
    (
        "sklearn.tree._tree.Tree",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    )
)


def check_trees(estimator: Any) -> None:
    """Check that the nodes of all decision trees point into their tree and at features it is given.

    Parameters
    ----------
    estimator : object
        Whatever a file held; the trees are looked for in all that it is made of.

    Raises
    ------
    ValueError
        If a node points elsewhere.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> check_trees(DecisionTreeClassifier().fit([[0, 1], [1, 0]], [0, 1]))
    """
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.tree._tree import Tree

    for part, features in _parts(estimator):
        if isinstance(part, Tree):
            left, right = part.children_left, part.children_right
            # A leaf's feature is -2.
            _check_nodes(left, right, part.feature, leaves=left == -1, features=features)
        elif isinstance(part, TreePredictor):
            nodes = part.nodes
            leaves = nodes["is_leaf"].astype(bool)
            _check_nodes(
                nodes["left"],
                nodes["right"],
                nodes["feature_idx"],
                leaves=leaves,
                features=features,
            )
            sets = nodes["bitset_idx"][~leaves & nodes["is_categorical"].astype(bool)]
            if (sets >= len(part.raw_left_cat_bitsets)).any():
                raise ValueError("a set of categories that is not there")


def _check_nodes(
    left: NDArray[Any],
    right: NDArray[Any],
    feature: NDArray[Any],
    *,
    leaves: NDArray[np.bool_],
    features: int,
) -> None:
    places = np.arange(len(left))
    # Children come after their parent, so that no way through the tree is without end.
    inside = (
        (left > places)
        & (right > places)
        & (left < len(left))
        & (right < len(left))
        & (feature >= 0)
        & (feature < features)
    )
    if not len(left) or not (inside | leaves).all():
        raise ValueError("a decision tree has a node that points outside of it")


def _parts(estimator: Any) -> Iterator[tuple[Any, int]]:
    """Give all that an object is made of, each with the number of features that trees there get."""
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._gb import BaseGradientBoosting
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
    from sklearn.tree._classes import BaseDecisionTree

    # These count the features of what they are asked about, and hand it on to their trees as it is.
    owners = (BaseDecisionTree, BaseForest, BaseGradientBoosting, BaseHistGradientBoosting)
    # The same tree may be reached through two owners, of which one gets fewer features.
    seen: set[tuple[int, int | None]] = set()
    waiting: list[tuple[Any, int | None]] = [(estimator, None)]
    while waiting:
        part, features = waiting.pop()
        if (id(part), features) in seen:
            continue
        seen.add((id(part), features))
        if isinstance(part, owners):
            given = int(getattr(part, "n_features_in_", 0))
            features = given if features is None else min(features, given)
        # A tree that nobody owns gets no feature at all.
        yield part, features or 0
        if isinstance(part, dict):
            inside = [*part.keys(), *part.values()]
        elif isinstance(part, (list, tuple, set, frozenset)):
            inside = list(part)
        elif isinstance(part, np.ndarray):
            inside = part.ravel().tolist() if part.dtype == object else []
        else:
            inside = list(getattr(part, "__dict__", {}).values())
        waiting.extend((item, features) for item in inside)
