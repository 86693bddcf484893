"""The text of a LightGBM model is checked, as its library follows trees without looking.

A child beyond the last node, or a tree that begins elsewhere than is said, would end the process.
The library reads versions 2 to 4 of the format in one way. A later one is not checked here: what is
sound in it is not known yet.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

_LAST_VERSION = (4,)
_VERSION = re.compile(rb"^version=v(\d+(?:\.\d+)*)$", re.MULTILINE)
_OBJECTIVE = re.compile(rb"^objective=([^\r\n]*)", re.MULTILINE)
_TREE = re.compile(rb"^Tree=", re.MULTILINE)
# What comes after the trees; version 2 has only the second.
_LAST = re.compile(rb"(?<=\n)end of trees|\nfeature importances:")
_PARAMETER = re.compile(rb"\[\w+: .*\]")
# Bits of the type of a decision: whether it is by category.
_BY_CATEGORY = 1
# Of a tree with a linear model in each leaf.
_OF_LEAF_MODELS = ("leaf_const", "num_features", "leaf_features", "leaf_coeff")

T = TypeVar("T", int, float)


def check_lightgbm_text(content: bytes) -> None:
    """Raise if a model of LightGBM, as the library saves it in text, is not sound.

    Parameters
    ----------
    content : bytes
        The whole file.

    Raises
    ------
    ValueError
        If a part is missing, of another kind than it should be, or does not go with the others.
    """
    content = content.replace(b"\r\n", b"\n")
    _need(content.startswith(b"tree\n"), "it does not begin as a model of LightGBM does")
    # There a text ends for one part of LightGBM, and another waits for ever for more of it.
    _need(b"\0" not in content, "it has a byte of value 0")
    last = _LAST.search(content)
    end = last.start() if last else 0
    # LightGBM reads on to the first line that begins so, also if its number is wrong.
    first = _TREE.search(content, 0, end)
    start = first.start() if first else end
    version = _VERSION.search(content, 0, start or len(content))
    if version and tuple(map(int, version.group(1).split(b"."))) > _LAST_VERSION:
        return
    _need(end > 0, "it has no end of its trees")
    # To LightGBM that alone is the end of a line, too.
    _need(b"\r" not in content[:end], "it has the end of a line where there is none")
    header = _values(content[:start].partition(b"\n")[2], "the header")
    width = _check_header(header)
    _check_parameters(content[end:])
    for number, block in enumerate(_blocks(content[start:end], header)):
        where = f"tree {number}"
        _need(block.startswith(b"Tree=%d\n" % number), f"{where} does not begin where it should")
        _need(block.endswith(b"\n"), f"{where} does not end where it should")
        # LightGBM reads on from a line without a value, and stops at one that is empty.
        lines = block.rstrip(b"\n").split(b"\n")
        _need(all(b"=" in line for line in lines), f"{where} has a line without a value")
        _check_tree(_values(block, where), width, where)


def lightgbm_objective(content: bytes) -> str:
    r"""Return what a model of LightGBM was trained for, as its text says; nothing if not.

    Examples
    --------
    >>> lightgbm_objective(b"tree\nversion=v4\nobjective=binary sigmoid:1\n")
    'binary sigmoid:1'
    """
    first = _TREE.search(content)
    found = _OBJECTIVE.search(content, 0, first.start() if first else len(content))
    return found.group(1).decode("utf-8", errors="replace") if found else ""


def _check_header(header: Mapping[str, str]) -> int:
    """Return how many columns there are; raise if the header is not sound."""
    width = _one(header, "max_feature_idx", "the header") + 1
    classes = _one(header, "num_class", "the header")
    of_round = _of_round(header)
    _need(0 < width < 2**31, f"the number of columns is {width}")
    _need(0 < classes <= of_round, f"there are {classes} classes")
    for key in ("feature_names", "feature_infos"):
        # Other white space than a blank may be in a name.
        found = [one for one in header.get(key, "").split(" ") if one]
        _need(len(found) == width, f"{key} are not of {width} columns")
    return width


def _blocks(trees: bytes, header: Mapping[str, str]) -> Sequence[bytes]:
    """Return the lines of each tree; raise if their number or sizes are not those of the header."""
    if "tree_sizes" in header:
        sizes = _numbers(header, "tree_sizes", int, "the header")
        _need(all(size > 0 for size in sizes), "a tree is of no size")
        _need(sum(sizes) == len(trees), "the sizes are not of the trees")
        ends = list(itertools.accumulate(sizes))
        blocks = [trees[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    else:  # before 2.1.1
        starts = [found.start() for found in _TREE.finditer(trees)]
        _need(len(starts) > 0, "it has no trees")
        blocks = [trees[i:j] for i, j in zip(starts, [*starts[1:], len(trees)], strict=True)]
    _need(len(blocks) % _of_round(header) == 0, "a class has no tree in the last round")
    return blocks


def _of_round(header: Mapping[str, str]) -> int:
    """Return how many trees are fitted in a round."""
    key = "num_tree_per_iteration"
    return _one(header, key if key in header else "num_class", "the header")


def _check_parameters(ending: bytes) -> None:
    """Raise if a line of the parameters, which come after the trees, has no name and value."""
    _, is_there, rest = ending.partition(b"\nparameters:\n")
    lines = rest.partition(b"\nend of parameters")[0].split(b"\n") if is_there else []
    _need(all(not line or _PARAMETER.fullmatch(line) for line in lines), "a parameter is none")


def _check_tree(tree: Mapping[str, str], width: int, where: str) -> None:
    """Raise if a tree is not sound; inner nodes are numbered from 0, leaves from -1 down."""
    leaves = _one(tree, "num_leaves", where)
    _need(0 < leaves < 2**24, f"{where} has {leaves} leaves")
    inner = leaves - 1
    _numbers(tree, "leaf_value", float, where, count=leaves)
    by_category = _one(tree, "num_cat", where)
    _need(0 <= by_category <= inner, f"{where} has {by_category} splits by category")
    linear = _one(tree, "is_linear", where) if "is_linear" in tree else 0
    if linear:
        _check_leaf_models(tree, leaves, width, where)
    for key in ("leaf_weight", "leaf_count"):
        if tree.get(key):
            _numbers(tree, key, float, where, count=leaves)
    if inner == 0:
        return
    for key in ("split_gain", "internal_value", "internal_weight", "internal_count"):
        if tree.get(key):
            _numbers(tree, key, float, where, count=inner)
    columns = _numbers(tree, "split_feature", int, where, count=inner)
    _need(all(0 <= column < width for column in columns), f"{where}: a split is on no column")
    children = [
        child
        for key in ("left_child", "right_child")
        for child in _numbers(tree, key, int, where, count=inner)
    ]
    # Each node but the root is the child of one: then no way from the root is a circle.
    known = [*range(-leaves, 0), *range(1, inner)]
    _need(sorted(children) == known, f"{where}: a node is no child, or that of two")
    thresholds = _numbers(tree, "threshold", float, where, count=inner)
    kinds = _numbers(tree, "decision_type", int, where, count=inner)
    _need(all(0 <= kind < 16 for kind in kinds), f"{where}: a split is of no kind")
    chosen = [
        threshold for threshold, kind in zip(thresholds, kinds, strict=True) if kind & _BY_CATEGORY
    ]
    _need(len(chosen) <= by_category, f"{where}: a split has no categories")
    _need(all(0 <= one < by_category for one in chosen), f"{where}: a split has no categories")
    if by_category:
        starts = _numbers(tree, "cat_boundaries", int, where, count=by_category + 1)
        words = _numbers(tree, "cat_threshold", int, where)
        right = starts[0] == 0 and starts[-1] == len(words) and bool((np.diff(starts) >= 0).all())
        _need(right, f"{where}: categories do not fit each other")
        _need(all(0 <= word < 2**32 for word in words), f"{where}: a category is none")


def _check_leaf_models(tree: Mapping[str, str], leaves: int, width: int, where: str) -> None:
    _need(all(key in tree for key in _OF_LEAF_MODELS), f"{where}: a leaf has no model")
    _numbers(tree, "leaf_const", float, where, count=leaves)
    counts = _numbers(tree, "num_features", int, where, count=leaves)
    _need(all(0 <= count <= width for count in counts), f"{where}: a leaf has no model")
    columns = _numbers(tree, "leaf_features", int, where, count=sum(counts))
    _need(all(0 <= column < width for column in columns), f"{where}: a leaf is of no column")
    _numbers(tree, "leaf_coeff", float, where, count=sum(counts))


def _values(block: bytes, where: str) -> dict[str, str]:
    """Return the keys of a block of lines and their values, each of which is there once."""
    found: dict[str, str] = {}
    for line in block.decode("utf-8").split("\n"):
        key, _, value = line.partition("=")
        _need(key not in found or not key, f"{where}: {key!r} is there twice")
        found[key] = value
    return found


def _one(values: Mapping[str, str], key: str, where: str) -> int:
    return _numbers(values, key, int, where, count=1)[0]


def _numbers(
    values: Mapping[str, str],
    key: str,
    kind: Callable[[str], T],
    where: str,
    *,
    count: int | None = None,
) -> Sequence[T]:
    """Return the numbers of a key; with `count`, as many as that."""
    _need(key in values, f"{where}: {key} is missing")
    given: Any = values[key].split()
    # Python would also read digits of other scripts, and with underscores between them.
    _need(
        re.fullmatch(r"[-+.0-9a-zA-Z ]*", values[key]) is not None, f"{where}: {key} is no numbers"
    )
    _need(count is None or len(given) == count, f"{where}: {key} is not of {count} numbers")
    return [kind(one) for one in given]


def _need(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise ValueError(otherwise)
