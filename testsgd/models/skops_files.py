"""Fitted estimators on disk: ``.skops`` files, which are read without running what is in them.

scikit-learn follows the nodes of a tree without looking where they point to. So skops does not
trust trees of a file whose writer is unknown: numbers put in on purpose could read memory that is
none of theirs. Here every node is looked over before anything is predicted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import MissingExtraError, ModelError
from testsgd.io import (
    DEFLATED,
    atomic_path,
    check_archive,
    is_reproducible,
    read_member,
    why_no_file,
    without_dates,
)
from testsgd.models.pickled_files import TRUST_REMEDY


def check_trees(estimator: Any) -> None:
    """Check that the nodes of all decision trees point into their tree and at features it is given.

    The trees are looked for in all that the object is made of.
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
            left, right, feature = nodes["left"], nodes["right"], nodes["feature_idx"]
            _check_nodes(left, right, feature, leaves=leaves, features=features)
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
    """Check one tree: all arrays have the shape (nodes,); a ValueError if a node is unsound."""
    # Children come after their parent, so that no way through the tree is without end.
    children = np.array([left, right])
    inside = ((children > np.arange(len(left))) & (children < len(left))).all(axis=0)
    sound = (inside & (feature >= 0) & (feature < features)) | leaves
    if not len(left) or not sound.all():
        raise ValueError("a decision tree has a node that points outside of it")


def _parts(estimator: Any) -> Iterator[tuple[Any, int]]:
    """Return all that an object is made of, with the number of features that trees there get."""
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._gb import BaseGradientBoosting
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
    from sklearn.tree._classes import BaseDecisionTree

    # These count the features of what they are asked about, and hand it on to their trees as it is.
    owners = (BaseDecisionTree, BaseForest, BaseGradientBoosting, BaseHistGradientBoosting)
    # The same tree may be reached through two owners, of which one gets fewer features.
    seen: set[tuple[int, int | None]] = set()
    pending: list[tuple[Any, int | None]] = [(estimator, None)]
    while pending:
        part, features = pending.pop()
        if (id(part), features) in seen:
            continue
        seen.add((id(part), features))
        if isinstance(part, owners):
            given = int(getattr(part, "n_features_in_", 0))
            features = given if features is None else min(features, given)
        # A tree without an owner gets no feature at all.
        yield part, features or 0
        if isinstance(part, dict):
            inside = [*part.keys(), *part.values()]
        elif isinstance(part, (list, tuple, set, frozenset)):
            inside = list(part)
        elif isinstance(part, np.ndarray):
            inside = part.ravel().tolist() if part.dtype == object else []
        else:
            inside = list(getattr(part, "__dict__", {}).values())
        pending.extend((item, features) for item in inside)


SKOPS_FILE = "model.skops"

# What scikit-learn's estimators hold besides what skops trusts: classes written in Python that
# compute and do nothing else, and trees, which are looked over.
_TRUSTED = {
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
}

# What numpy's arrays and column selectors are described by. They hold no code and run none.
_TRUSTED_OF_NUMPY = {
    "numpy.dtype",  # The type of an array's items; skops reads it from an array without items.
    # Abstract classes, of which there are no objects; a selector of columns compares with them.
    "numpy.number",
    "numpy.integer",
    "numpy.floating",
}


def check_skops() -> None:
    """Raise a :class:`MissingExtraError` if skops is not installed."""
    _skops()


def write_skops(estimator: Any, target: Path) -> None:
    """Write a fitted estimator, whole or not at all."""
    skops = _skops()
    with atomic_path(target) as temporary:
        try:
            skops.dump(estimator, temporary, compression=DEFLATED)
            if is_reproducible():
                _number_objects(temporary)
        except Exception as error:
            raise ModelError(
                f"the {type(estimator).__name__} cannot be written: {error}",
                where=str(target),
                remedy="take out what is not of scikit-learn, numpy or Python itself",
            ) from error


_SCHEMA = "schema.json"
_ADDRESS = re.compile(r'(?<="__id__": )\d+|(?<=")\d+(?=\.np[yz]")')
# Vectorisers keep the address of the stop words that they have checked; of another they check anew.
_CHECKED_WORDS = re.compile(r'("_stop_words_id": \{[^{}]*"content": ")\d+(?=")')


def _number_objects(model: Path) -> None:
    """Name the objects of a file by numbers from 0, not as skops by addresses in memory."""
    schema = _CHECKED_WORDS.sub(r"\g<1>0", read_member(model, _SCHEMA).decode())
    numbers: dict[str, str] = {}
    for address in _ADDRESS.findall(schema):
        numbers.setdefault(address, str(len(numbers)))

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        if name == _SCHEMA:
            return name, _ADDRESS.sub(lambda found: numbers[found[0]], schema).encode()
        address, dot, ending = name.partition(".")
        return f"{numbers.get(address, address)}{dot}{ending}", content

    without_dates(model, change)


def read_skops(path: Path, *, trusted: bool | None = None) -> Any:
    """Read an estimator; types that neither skops nor testsgd knows only if the file is trusted.

    `trusted` is None where a user has no way to say that it is.
    """
    skops = _skops()
    path = Path(path)
    if (reason := why_no_file(path)) is not None:
        raise ModelError(reason, where=str(path), remedy="check the path")
    try:
        check_archive(path)
        types = set(skops.get_untrusted_types(file=path))
        unknown = [] if trusted else sorted(types - _TRUSTED - _TRUSTED_OF_NUMPY)
        estimator = None if unknown else skops.load(path, trusted=sorted(types))
        check_trees(estimator)
    except Exception as error:
        # Whatever the parsers raise at bytes that are damaged.
        raise ModelError(
            f"this is not a .skops file that can be read ({error})",
            where=str(path),
            remedy="give a file that skops.io.dump wrote, with the same versions installed",
        ) from error
    if unknown:
        instead = "load it in a module of your own and give package.module:estimator"
        raise ModelError(
            f"the file holds types that are not trusted: {', '.join(unknown)}",
            where=str(path),
            remedy=instead if trusted is None else f"{TRUST_REMEDY}, or {instead}",
            types=tuple(unknown),
        )
    return estimator


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise MissingExtraError(
            "skops", extra="skops", purpose="reading or writing a fitted estimator"
        ) from error
    return skops.io
