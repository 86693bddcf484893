"""The figures of a frontier, counted once more by brute force over all groups.

It needs NumPy, pandas and the split of scikit-learn; nothing is imported from testsgd. Groups
follow docs/concepts.md: a rule of a category is a set of its values, a rule of a number is a run of
adjacent bins, and a group has at most one rule for each sensitive feature.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Places = NDArray[np.intp]
# From rows to whether each gets the favourable label.
Decide = Callable[[pd.DataFrame], Any]

HELD_OUT_SHARE = 0.2
# A group and its complement have at least this many held-out rows, however small the share.
FEWEST_ROWS = 30
# Sums of shares are rounded in another order than those of testsgd, and nothing else may differ.
TOLERANCE = 1e-9
MISSING = "missing"


@dataclass(frozen=True)
class SensitiveFeature:
    """A sensitive feature: a category, or a number with bins."""

    name: str
    edges: tuple[float, ...] = ()  # Of the bins, ascending; none of a category.


@dataclass(frozen=True)
class FeatureRules:
    """All rules over one feature. Both arrays have the shape (rules, combinations)."""

    inside: Bools
    # What is in the group or in its complement. For a run of bins a missing number is in neither.
    compared: Bools


@dataclass(frozen=True)
class GroupFigures:
    """The groups with enough rows, and the worst difference by each of several models."""

    groups: int
    worst: Floats  # Without its sign; shape (models,).


@dataclass(frozen=True)
class Figure:
    """A figure of result.json beside the recomputed one."""

    name: str
    printed: float | str
    recomputed: float | str

    @property
    def equal(self) -> bool:
        """Whether both are the same, but for the order of floating-point sums."""
        if isinstance(self.printed, str) or isinstance(self.recomputed, str):
            return self.printed == self.recomputed
        return math.isclose(self.printed, self.recomputed, rel_tol=0, abs_tol=TOLERANCE)


def bin_edges(
    low: float, high: float, *, bins: int = 10, whole_numbers: bool = False
) -> tuple[float, ...]:
    """Return the edges of bins of equal width.

    Parameters
    ----------
    low, high : float
        The range of the feature.
    bins : int
        Number of bins.
    whole_numbers : bool
        Whether the feature is an integer; with no more values than bins, each has its own bin.

    Returns
    -------
    tuple of float
        Ascending.

    Examples
    --------
    >>> bin_edges(0, 1, bins=5)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    >>> bin_edges(1, 3, whole_numbers=True)
    (1.0, 2.0, 3.0, 4.0)
    """
    if whole_numbers and high - low + 1 <= bins:
        return tuple(float(edge) for edge in range(int(low), int(high) + 2))
    # Rounded, since in floats 3 * 0.1 is above the 0.3 that a file has.
    return tuple(round(low + (high - low) * step / bins, 12) for step in range(bins + 1))


def cell_names(frame: pd.DataFrame, feature: SensitiveFeature) -> pd.Series[str]:
    """Return the value of each row, or the name of its bin.

    Parameters
    ----------
    frame : pandas.DataFrame
        With a column of the feature's name.
    feature : SensitiveFeature

    Returns
    -------
    pandas.Series of str, shape (rows,)

    Examples
    --------
    >>> people = pd.DataFrame({"age": [20, 50, None]})
    >>> cell_names(people, SensitiveFeature("age", edges=(0, 50, 100))).tolist()
    ['0 to 50', '50 to 100', 'missing']
    """
    column = frame[feature.name]
    if not feature.edges:
        return column.astype(object).where(column.notna(), MISSING).astype(str)
    pairs = zip(feature.edges, feature.edges[1:], strict=False)
    names = [f"{low:.10g} to {high:.10g}" for low, high in pairs]
    # The first and last bin are open, and a bin has its lower edge in it.
    edges = [-math.inf, *feature.edges[1:-1], math.inf]
    bins = pd.cut(column.astype(float), edges, right=False, labels=names)
    return bins.astype(object).where(column.notna(), MISSING).astype(str)


def feature_rules(frame: pd.DataFrame, feature: SensitiveFeature) -> FeatureRules:
    """Return all rules over one feature.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row of each combination of sensitive values that occurs.
    feature : SensitiveFeature

    Returns
    -------
    FeatureRules

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m"]})
    >>> feature_rules(people, SensitiveFeature("sex")).inside.tolist()
    [[True, False], [False, True]]
    """
    names = cell_names(frame, feature).to_numpy()
    is_missing = names == MISSING
    everything = np.ones(len(names), dtype=bool)
    inside, compared = [], []
    if feature.edges:
        numbers = frame[feature.name].to_numpy(dtype=float, na_value=np.nan)
        bins = len(feature.edges) - 1
        for first, stop in combinations(range(bins + 1), 2):
            if stop - first == bins:
                continue
            low = -math.inf if first == 0 else feature.edges[first]
            high = math.inf if stop == bins else feature.edges[stop]
            inside.append((numbers >= low) & (numbers < high))
            compared.append(~is_missing)
        if is_missing.any():
            inside.append(is_missing)
            compared.append(everything)
    else:
        values = sorted(set(names))
        for size in range(1, len(values)):
            for chosen in combinations(values, size):
                inside.append(np.isin(names, chosen))
                compared.append(everything)
    shape = (len(inside), len(names))
    return FeatureRules(
        np.array(inside, dtype=bool).reshape(shape), np.array(compared, dtype=bool).reshape(shape)
    )


def group_figures(
    rules: Sequence[FeatureRules], quantities: Floats, *, most_rules: int, fewest_rows: int
) -> GroupFigures:
    """Compare every group with its complement.

    Parameters
    ----------
    rules : sequence of FeatureRules
        Those of each sensitive feature, over the combinations of sensitive values that occur.
    quantities : numpy.ndarray of shape (1 + models, combinations)
        Rows of each combination, then how many of them each model gives the favourable label.
    most_rules : int
        Rules that a group has at most.
    fewest_rows : int
        Rows that a group and its complement have at least.

    Returns
    -------
    GroupFigures

    Examples
    --------
    >>> inside = np.array([[True, False], [False, True]])
    >>> rules = FeatureRules(inside, np.ones_like(inside))
    >>> quantities = np.array([[2, 2], [1, 0]])
    >>> group_figures([rules], quantities, most_rules=1, fewest_rows=2).worst
    array([0.5])
    """
    combinations_count = quantities.shape[1]
    # Rule sets with the same combinations inside and outside are one group.
    groups: set[bytes] = set()
    worst = np.zeros(len(quantities) - 1)
    for size in range(1, most_rules + 1):
        for features in combinations(rules, size):
            *earlier, last = features
            for places in product(*(range(len(each.inside)) for each in earlier)):
                inside = np.ones(combinations_count, dtype=bool)
                compared = inside.copy()
                for each, place in zip(earlier, places, strict=True):
                    inside &= each.inside[place]
                    compared &= each.compared[place]
                # A column for each rule over the last feature.
                own = (quantities * inside) @ last.inside.T
                others = (quantities * compared) @ last.compared.T - own
                enough = (own[0] >= fewest_rows) & (others[0] >= fewest_rows)
                if not enough.any():
                    continue
                own, others = own[:, enough], others[:, enough]
                differences = np.abs(own[1:] / own[0] - others[1:] / others[0])
                worst = np.maximum(worst, differences.max(axis=1))
                sides = np.hstack([last.inside[enough] & inside, last.compared[enough] & compared])
                groups.update(each.tobytes() for each in np.packbits(sides, axis=1))
    return GroupFigures(len(groups), worst)


def held_out_places(favourable: Bools, *, seed: int) -> Places:
    """Return the places of the held-out rows, ascending: a fifth, with the labels' shares kept.

    Parameters
    ----------
    favourable : numpy.ndarray of bool, shape (rows,)
        Which rows have the favourable label.
    seed : int
        That of the summary's split.

    Returns
    -------
    numpy.ndarray of int, shape (held-out rows,)
    """
    _, held_out = train_test_split(
        np.arange(len(favourable)),
        test_size=HELD_OUT_SHARE,
        stratify=favourable,
        random_state=seed,
    )
    return np.sort(held_out)


def balanced_accuracy(decided: Bools, favourable: Bools) -> float:
    """Return the mean of the shares of right decisions by label.

    Parameters
    ----------
    decided, favourable : numpy.ndarray of bool, shape (rows,)

    Returns
    -------
    float

    Examples
    --------
    >>> balanced_accuracy(np.array([True, True, True]), np.array([True, True, False]))
    0.5
    """
    right = decided == favourable
    return float((right[favourable].mean() + right[~favourable].mean()) / 2)


def recomputed_figures(
    summary: dict[str, Any],
    frame: pd.DataFrame,
    favourable: Bools,
    features: Sequence[SensitiveFeature],
    *,
    before: Decide,
    after: Decide | None,
) -> list[Figure]:
    """Recompute the held-out figures of a frontier's summary.

    Parameters
    ----------
    summary : dict
        What result.json holds.
    frame : pandas.DataFrame
        All rows of the data set, in its order.
    favourable : numpy.ndarray of bool, shape (rows,)
        Which rows have the favourable label.
    features : sequence of SensitiveFeature
    before : callable
        From rows to the decisions of the original.
    after : callable or None
        The same of the model that was written; None if none was.

    Returns
    -------
    list of Figure
        Each figure of the summary beside the recomputed one. Where the held-out rows are others,
        these alone: then nothing else can be compared.

    Raises
    ------
    ValueError
        If the summary is of another rate than the selection rate, does not say the seed of the
        split, or names a chosen point while there is no model that was written, or the reverse.
    """
    settings, split, chosen = summary["settings"], summary["split"], summary["chosen"]
    if settings["objective"] != "selection_rate":
        raise ValueError(f"the groups are compared by {settings['objective']}")
    if split.get("seed") is None:
        raise ValueError("result.json does not say the seed of the split; run it again")
    if (chosen is None) != (after is None):
        raise ValueError("result.json and the written model do not belong together")
    places = held_out_places(favourable, seed=split["seed"])
    digest = hashlib.sha256(places.astype("<i8").tobytes()).hexdigest()
    figures = [
        Figure("held-out rows", split["held_out"], len(places)),
        Figure("which rows (sha256)", split["held_out_sha256"], digest),
    ]
    if not all(figure.equal for figure in figures):
        return figures

    rows, labels = frame.iloc[places], favourable[places]
    models = [before] if after is None else [before, after]
    decided = np.stack([np.asarray(decide(rows)).astype(bool) for decide in models])
    names = pd.DataFrame({feature.name: cell_names(frame, feature) for feature in features})
    combination = names.groupby(list(names), sort=False).ngroup().to_numpy()
    one_of_each = frame[~pd.Series(combination).duplicated().to_numpy()]
    counted = [np.ones(len(rows)), *decided.astype(np.float64)]
    quantities = [
        np.bincount(combination[places], weights, minlength=len(one_of_each)) for weights in counted
    ]
    found = group_figures(
        [feature_rules(one_of_each, feature) for feature in features],
        np.stack(quantities),
        most_rules=summary["depth"],
        fewest_rows=max(FEWEST_ROWS, math.ceil(settings["min_share"] * len(places))),
    )
    figures.append(Figure("groups", summary["groups"], found.groups))
    accuracy = [float((each == labels).mean()) for each in decided]
    balanced = [balanced_accuracy(each, labels) for each in decided]
    worst = found.worst.tolist()
    figures += [
        Figure("accuracy before", summary["before"]["accuracy"], accuracy[0]),
        Figure("balanced accuracy before", summary["before"]["balanced"], balanced[0]),
        Figure("worst before", abs(summary["worst_before"]["difference"]), worst[0]),
    ]
    if chosen is not None:
        point = summary["points"][chosen]
        of_point = point["accuracy"]
        figures += [
            Figure("accuracy after", of_point["accuracy"], accuracy[1]),
            Figure("balanced accuracy after", of_point["balanced"], balanced[1]),
            Figure("accuracy, loss", of_point["drop"], accuracy[0] - accuracy[1]),
            Figure("balanced accuracy, loss", of_point["balanced_drop"], balanced[0] - balanced[1]),
            Figure("worst after", abs(point["worst"]["difference"]), worst[1]),
        ]
    return figures
