"""Fitted estimators on disk: ``.skops`` files, which are read without running what is in them.

scikit-learn follows the nodes of a tree, of decisions or of neighbours, without looking where they
point to. So skops does not trust trees of a file whose writer is unknown: numbers put in on purpose
could read memory that is none of theirs. Here every node is looked over before anything is
predicted.
"""

from __future__ import annotations

import re
import warnings
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
    loads_json,
    read_member,
    why_no_file,
    without_dates,
)
from testsgd.models.pickled_files import TRUST_REMEDY


def check_trees(estimator: Any) -> None:
    """Check that the nodes of all trees point into their tree, and at features or rows it has.

    The trees are looked for in all that the object is made of.
    """
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.neighbors import BallTree, KDTree
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
        elif isinstance(part, (BallTree, KDTree)):
            _check_neighbours(part)


def _check_neighbours(tree: Any) -> None:
    """Check a tree of neighbours: a ValueError if its distance or a node is unsound."""
    from sklearn.metrics._dist_metrics import EuclideanDistance64
    from sklearn.neighbors import KDTree

    data, rows, nodes, bounds = tree.get_arrays()
    state = tree.__getstate__()
    if not any(type(item) is EuclideanDistance64 for item in state[4:]):
        raise ValueError("a tree without the distance that it was built by")
    sides = 2 if isinstance(tree, KDTree) else 1
    if bounds.shape != (sides, len(nodes), data.shape[1]) or rows.shape != data.shape[:1]:
        raise ValueError("the parts of a tree of neighbours are of different sizes")
    if not len(nodes) or (rows < 0).any() or (rows >= len(data)).any():
        raise ValueError("a tree of neighbours points outside of its rows")
    starts, ends, leaves = nodes["idx_start"], nodes["idx_end"], nodes["is_leaf"] != 0
    if starts[0] != 0 or ends[0] != len(data) or (starts > ends).any():
        raise ValueError("a node of a tree of neighbours points outside of its rows")
    level = np.zeros(1, dtype=np.intp)
    # Each node that is no leaf has two children, which share its rows.
    while len(level := level[~leaves[level]]):
        left, right = 2 * level + 1, 2 * level + 2
        if right.max() >= len(nodes):
            raise ValueError("a node of a tree of neighbours points outside of it")
        shared = (starts[left] == starts[level]) & (ends[right] == ends[level])
        if not (shared & (ends[left] == starts[right])).all():
            raise ValueError("the nodes of a tree of neighbours do not share its rows")
        level = np.concatenate([left, right])


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
            inside = [*part.keys(), *part.values(), *getattr(part, "__dict__", {}).values()]
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
    "sklearn.utils._bunch.Bunch",  # A dict whose values are attributes, too.
    # Trees of neighbours, which are looked over; their distance, which has numbers only.
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    # Public functions of arrays, which score features by the labels and do nothing else.
    "sklearn.feature_selection._mutual_info.mutual_info_classif",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.utils.validation.check_array",  # Public; returns an array as numbers, or refuses it.
}

# Histogram boosting prepares numbers by a partial call of `check_array`. A partial call of anything
# else, such as a class that reads files, is not trusted.
_PARTIAL = "functools.partial"
_PARTIALLY_CALLED = ("sklearn.utils.validation", "check_array", "FunctionNode")

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
    estimator = None
    try:
        check_archive(path)
        types = set(skops.get_untrusted_types(file=path))
        known = _TRUSTED | _TRUSTED_OF_NUMPY
        if _PARTIAL in types and not trusted and _has_partial_checks_only(path):
            known |= {_PARTIAL}
        unknown = [] if trusted else sorted(types - known)
        if not unknown:
            estimator = _load(path, sorted(types))
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


def _load(path: Path, types: list[str]) -> Any:
    """Load an estimator of the given types; of another version's, warn once and in one sentence."""
    from sklearn.exceptions import InconsistentVersionWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator = _skops().load(path, trusted=types)
    versions: Any = None
    for item in caught:
        # Each part of the estimator says it anew.
        if issubclass(item.category, InconsistentVersionWarning):
            versions = item.message
        else:
            warnings.warn_explicit(item.message, item.category, item.filename, item.lineno)
    if versions is not None:
        warnings.warn(
            f"{path} was written with scikit-learn {versions.original_sklearn_version} and is read "
            f"with {versions.current_sklearn_version}, so its answers may be others",
            UserWarning,
            stacklevel=3,
        )
    return estimator


def _has_partial_checks_only(path: Path) -> bool:
    """Return whether all partial calls in a file are of `check_array`."""
    nodes = list(_nodes(loads_json(read_member(path, _SCHEMA))))
    partials = [node for node in nodes if {"partial", "PartialNode"} & set(_kind(node))]
    if any(_kind(node) != ("functools", "partial", "PartialNode") for node in partials):
        return False
    # skops takes an earlier node of the same number in place of the one that is written.
    numbers = {node["content"]["func"].get("__id__") for node in partials}
    called = [node["content"]["func"] for node in partials]
    called += [node for node in nodes if node.get("__id__") in numbers]
    return all(_kind(node) == _PARTIALLY_CALLED for node in called)


def _kind(node: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the module and the name of what a node stands for, and how it is loaded."""
    return node.get("__module__"), node.get("__class__"), node.get("__loader__")


def _nodes(document: Any) -> Iterator[dict[str, Any]]:
    """Return all objects of a JSON document that are nodes of skops."""
    pending = [document]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            if "__loader__" in part:
                yield part
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise MissingExtraError(
            "skops", extra="skops", purpose="reading or writing a fitted estimator"
        ) from error
    return skops.io
