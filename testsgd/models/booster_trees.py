"""The trees of an XGBoost model are checked, as its library follows them without looking.

A child beyond the last node, or a column beyond the last one, would end the process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_xgboost_document(document: Mapping[str, Any]) -> None:
    """Raise if a model of XGBoost, as the library saves it in JSON, is not sound.

    Parameters
    ----------
    document : mapping
        The whole document.

    Raises
    ------
    ValueError, LookupError, TypeError or AttributeError
        If a part is missing, of another kind than it should be, or does not go with the others.
    """
    learner = document["learner"]
    width = int(learner["learner_model_param"]["num_feature"])
    _need(0 <= width < 2**31, f"the number of columns is {width}")
    for key in ("feature_names", "feature_types"):
        _need(len(learner.get(key) or ()) in (0, width), f"{key} are not of {width} columns")
    booster = learner["gradient_booster"]
    if booster["name"] == "gblinear":
        outputs = _outputs(learner)
        found = len(booster["model"]["weights"])
        _need(found == (width + 1) * outputs, f"there are {found} weights")
        return
    trees_of = booster["gbtree"] if booster["name"] == "dart" else booster
    model = trees_of["model"]
    trees = model["trees"]
    if booster["name"] == "dart":
        _need(len(booster["weight_drop"]) == len(trees), "the trees' weights are not of the trees")
    of_class = _whole(model["tree_info"])
    _need(len(of_class) == len(trees), "the trees' classes are not of the trees")
    _need(_within(of_class, 0, _outputs(learner)), "a tree is of no class")
    if "iteration_indptr" in model:
        starts = _whole(model["iteration_indptr"])
        right = len(starts) > 0 and starts[0] == 0 and starts[-1] == len(trees)
        _need(right and bool((np.diff(starts) >= 0).all()), "the rounds are not of the trees")
    for number, tree in enumerate(trees):
        _check_tree(tree, width, f"tree {number}")


def _outputs(learner: Mapping[str, Any]) -> int:
    parameters = learner["learner_model_param"]
    return max(int(parameters.get("num_class", 0)), int(parameters.get("num_target", 1)), 1)


def _check_tree(tree: Mapping[str, Any], width: int, where: str) -> None:
    nodes = int(tree["tree_param"]["num_nodes"])
    left, right = _whole(tree["left_children"]), _whole(tree["right_children"])
    _need(nodes > 0 and len(left) == len(right) == nodes, f"{where} has not {nodes} nodes")
    for key in ("split_indices", "split_conditions", "default_left"):
        _need(len(tree[key]) == nodes, f"{where}: {key} are not of {nodes} nodes")
    inner = left != -1
    # A leaf of several numbers has their place where others have the right child.
    _need(_within(right, -1, nodes), f"{where}: a child is no node")
    children = np.concatenate([left[inner], right[inner]])
    # No node is the child of two, and none has the root below it: then no way is a circle from
    # the root.
    _need(_within(children, 1, nodes), f"{where}: a child is no node")
    _need(len(np.unique(children)) == len(children), f"{where}: a node is the child of two")
    columns = _whole(tree["split_indices"])
    _need(_within(columns[inner], 0, max(width, 1)), f"{where}: a split is on no column")
    outputs = int(tree["tree_param"].get("size_leaf_vector", 1))
    weights = len(tree["base_weights"])
    # A leaf has one number, or as many as there are targets.
    _need(outputs >= 0 and weights >= nodes, f"{where}: base_weights are not of {nodes} nodes")
    _check_categories(tree, nodes, inner, where)


def _check_categories(
    tree: Mapping[str, Any], nodes: int, inner: NDArray[np.bool_], where: str
) -> None:
    kinds = _whole(tree.get("split_type", [0] * nodes))
    _need(len(kinds) == nodes and _within(kinds, 0, 2), f"{where}: a split has no kind")
    known = len(tree.get("categories", ()))
    which = _whole(tree.get("categories_nodes", []))
    starts = _whole(tree.get("categories_segments", []))
    sizes = _whole(tree.get("categories_sizes", []))
    _need(len(which) == len(starts) == len(sizes), f"{where}: categories do not fit each other")
    _need(_within(which, 0, nodes), f"{where}: categories are of no node")
    _need(_within(starts, 0, known + 1), f"{where}: categories begin nowhere")
    _need(_within(sizes, 0, known + 1) and _within(starts + sizes, 0, known + 1), "no categories")
    _need(_within(_whole(tree.get("categories", [])), 0, 2**24), f"{where}: a category is none")
    by_category = np.flatnonzero((kinds == 1) & inner)
    _need(bool(np.isin(by_category, which).all()), f"{where}: a split has no categories")


def _whole(values: Sequence[Any]) -> NDArray[np.int64]:
    found = np.asarray(values)
    if found.ndim != 1 or (found.dtype.kind not in "iub" and len(found)):
        raise ValueError("a list of whole numbers is something else")
    return found.astype(np.int64)


def _within(values: NDArray[np.int64], low: int, below: int) -> bool:
    """Return whether all numbers are at least `low` and smaller than `below`."""
    return bool(((values >= low) & (values < below)).all())


def _need(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise ValueError(otherwise)
