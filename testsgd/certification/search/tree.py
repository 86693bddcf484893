"""The first splits of a search, and what was decided below each of them.

Boxes come from halving the domain again and again. The first halvings make a tree whose nodes are
large enough to be told; what is proved of all boxes below a node is kept for each.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import Floats

_DEPTH = 13
_NODES = 2 ** (_DEPTH + 1)
ROOT = 1


class SplitTree:
    """Nodes 1 (the root), and 2 n and 2 n + 1 below node n, down to a fixed depth.

    Attributes
    ----------
    axis : numpy.ndarray of int, shape (nodes,)
        Along which a node was split; -1 if it was not.
    left_end, right_start : numpy.ndarray, shape (nodes,)
        Where.
    fair, unfair : numpy.ndarray, shape (nodes,)
        Shares of the domain in boxes that are decided as a whole, by the deepest node they are in.
    """

    def __init__(self) -> None:
        self.axis = np.full(_NODES, -1, dtype=np.int64)
        self.left_end = np.zeros(_NODES)
        self.right_start = np.zeros(_NODES)
        self.fair = np.zeros(_NODES)
        self.unfair = np.zeros(_NODES)

    def split(
        self,
        nodes: NDArray[np.int64],
        axis: NDArray[np.int64],
        left_end: Floats,
        right_start: Floats,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Note splits of boxes and give the nodes of the halves; deep ones stay where they are."""
        told = nodes < _NODES // 2
        # A node that is told belongs to one box, so nothing is noted twice.
        inner = nodes[told]
        self.axis[inner] = axis[told]
        self.left_end[inner] = left_end[told]
        self.right_start[inner] = right_start[told]
        return np.where(told, 2 * nodes, nodes), np.where(told, 2 * nodes + 1, nodes)

    def close(self, nodes: NDArray[np.int64], status: NDArray[np.int8], share: Floats) -> None:
        """Note boxes that are decided as a whole."""
        for of, kind in ((self.fair, 1), (self.unfair, 2)):
            chosen = status == kind
            np.add.at(of, nodes[chosen], share[chosen])

    def totals(self, nodes: NDArray[np.int64], values: Floats, closed: Floats) -> Floats:
        """Sum values of open boxes and of closed ones over each node and all below it."""
        total = closed + np.bincount(nodes, values, minlength=_NODES)
        for node in range(_NODES - 1, 1, -1):
            total[node // 2] += total[node]
        return np.asarray(total)

    def children(self, node: int) -> tuple[int, int] | None:
        """Give the two nodes below one, if it was split."""
        return (2 * node, 2 * node + 1) if self.axis[node] >= 0 else None

    def box(self, node: int, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Give a node's box; `low` and `high` are the domain's."""
        low, high = low.copy(), high.copy()
        for level in range(node.bit_length() - 2, -1, -1):
            parent = node >> (level + 1)
            axis = self.axis[parent]
            if (node >> level) & 1:
                low[axis] = self.right_start[parent]
            else:
                high[axis] = self.left_end[parent]
        return low, high

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Give all arrays."""
        return {f"tree_{name}": value for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> SplitTree:
        """Read what :meth:`to_arrays` gave."""
        tree = cls()
        for name in vars(tree):
            setattr(tree, name, arrays[f"tree_{name}"].copy())
        return tree
