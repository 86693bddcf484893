"""What the readers of texts give, whatever the layout of the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True)
class TextRows:
    """The texts of one file, in their order.

    Attributes
    ----------
    texts : list of object
        The texts; checked later.
    labels : pandas.Series or None
        The label of each text, after the description's `map` or `above`.
    keys : pandas.Series or None
        What names each text.
    parts : numpy.ndarray of object or None
        ``"train"`` or ``"test"``.
    """

    texts: list[Any]
    labels: pd.Series[Any] | None = None
    keys: pd.Series[Any] | None = None
    parts: NDArray[np.object_] | None = None

    def __len__(self) -> int:
        return len(self.texts)


def plain_keys(column: pd.Series[Any]) -> pd.Series[Any]:
    """Give the keys of texts as texts; a whole number is the same with and without ``.0``.

    Examples
    --------
    >>> plain_keys(pd.Series(["12.0", " 12", "a.0b"])).tolist()
    ['12', '12', 'a.0b']
    """
    return column.str.strip().str.replace(r"^(-?\d+)\.0+$", r"\1", regex=True)


def clusters_of(rows: Sequence[TextRows]) -> NDArray[np.int64] | None:
    """Give texts of one key one number; None if no key stands twice.

    A text without a key is a cluster of its own.

    Examples
    --------
    >>> first = TextRows(["a", "b"], keys=pd.Series(["7", "8"]))
    >>> second, third = TextRows(["c"], keys=pd.Series(["7"])), TextRows(["d"])
    >>> clusters_of([first, second, third]).tolist()
    [0, 1, 0, 2]
    >>> clusters_of([first, third]) is None
    True
    """
    keys: list[Any] = []
    for item in rows:
        keys.extend([None] * len(item) if item.keys is None else item.keys)
    codes, uniques = pd.factorize(pd.Series(keys, dtype=object), use_na_sentinel=True)
    clusters = np.asarray(codes, dtype=np.int64)
    alone = clusters < 0
    if len(uniques) + np.count_nonzero(alone) == len(keys):
        return None
    clusters[alone] = len(uniques) + np.arange(np.count_nonzero(alone))
    return clusters
