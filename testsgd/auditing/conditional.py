"""Groups compared with others that are alike in chosen features.

A conditional difference compares a group with others that are alike in features such as hours
worked, which may rightly count: it weighs strata of these features as the group has them. What
remains is not explained by the features; what went away may still be unfair, if the features
themselves are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from testsgd.auditing.estimates import Counts, Floats
from testsgd.data import DatasetSpecification, Table
from testsgd.errors import ParameterError
from testsgd.report.summaries import (
    Count,
    Interval,
    Part,
)
from testsgd.rules import Contingency, FrequentRuleSets
from testsgd.scoring import effective_sample_size, error_quantile

Members = NDArray[np.bool_]

# A continuous feature is cut at its quintiles.
_QUANTILE_BINS = 5


class ConditionalScore(Part):
    """A group compared with others of the same mix of chosen features."""

    features: list[str] = Field(description="the features whose mix is made the same")
    difference: float = Field(ge=-1, le=1, description="rate in the group minus that of the others")
    confidence_interval: Interval = Field(
        description="confidence interval of that difference, with the audit's guarantee"
    )
    covered: float = Field(
        ge=0, le=1, description="share of the group's rows like which there are others outside"
    )
    strata: Count = Field(description="combinations of the features' values compared")


def check_other_features(
    names: Sequence[str], specification: DatasetSpecification, *, where: str = "condition_on"
) -> None:
    """Raise a ParameterError unless the names are different features that are not sensitive."""
    known = ", ".join(specification.insensitive)
    choose = f"choose among {known}" if known else "leave it out: all features are sensitive"
    for index, name in enumerate(names):
        if name == specification.label.column:
            what, remedy = f"{name!r} is the label", choose
        elif name not in specification.features:
            what, remedy = f"there is no feature {name!r}", choose
        elif name in specification.sensitive:
            what = f"{name!r} is sensitive, and groups are made of sensitive features"
            remedy = choose
        elif name in names[:index]:
            what, remedy = f"{name!r} is given twice", "give it once"
        else:
            continue
        raise ParameterError(what, where=where, remedy=remedy, name=name)


def strata_of(table: Table, names: Sequence[str]) -> NDArray[np.intp]:
    """Return each row's stratum, its combination of the features' values: 0, 1, ..., shape (n,).

    A continuous feature has five bins that hold about equally many rows; equal numbers are always
    in the same bin. Missing values are a value of their own.
    """
    strata = np.zeros(len(table), dtype=np.int64)
    for name in names:
        if table.specification.features[name].continuous:
            cells = _quantile_bins(table.numbers(name))
        else:
            cells = table.codes(name).astype(np.int64) + 1
        # Numbered anew each time, so that many features cannot run out of numbers.
        codes, _ = pd.factorize(strata * (int(cells.max()) + 1) + cells, sort=True)
        strata = codes.astype(np.int64)
    return strata.astype(np.intp)


def conditional_scores(
    strata: NDArray[np.intp],
    contingency: Contingency,
    members: Members,
    row_favourable: NDArray[np.integer],
    answers: int,
    *,
    features: Sequence[str],
    error: float,
    complements: Members | None = None,
) -> list[ConditionalScore | None]:
    """Compute the conditional score of each group; None where no stratum has rows on both sides.

    Shapes: `strata`, `row_favourable` (n,); `members`, `complements` (groups, cells), of which the
    latter are all other cells if they are not given. The score is sum_s w_s (p_s - q_s), with the
    rates p_s inside and q_s outside of the strata s that have rows on both sides, and w_s the share
    of the group's rows of these that are in s.

    Direct standardisation: see Fleiss, Levin and Paik (2003), Statistical Methods for Rates and
    Proportions, chapter 19; the weights are those of the effect on the treated of Imbens (2004),
    The Review of Economics and Statistics 86.
    """
    # The rows of a cell and a stratum always go together.
    cells = contingency.cell_of_row.astype(np.int64)
    pair_of_row, pairs = pd.factorize(cells * (int(strata.max()) + 1) + strata)
    pair_cell, pair_stratum = np.divmod(np.asarray(pairs), int(strata.max()) + 1)
    favourable = row_favourable.astype(np.float64)
    sums = [np.bincount(pair_of_row, item) for item in (None, favourable, favourable**2)]
    quantities = np.vstack(sums, dtype=np.float64)

    def by_stratum(pairs: Members) -> Floats:
        """Sum the quantities over the pairs of a side by stratum, shape (3, strata)."""
        rows = [np.bincount(pair_stratum, weights=row) for row in quantities * pairs]
        return np.vstack(rows, dtype=np.float64)

    scores: list[ConditionalScore | None] = []
    complements = ~members if complements is None else complements
    for inside, outside in zip(members, complements, strict=True):
        sums_in, sums_out = by_stratum(inside[pair_cell]), by_stratum(outside[pair_cell])
        both = (sums_in[0] > 0) & (sums_out[0] > 0)
        if not both.any():
            scores.append(None)
            continue
        rows_in = sums_in[0, both]
        rate_in, variance_in = _rates(sums_in[:, both], answers)
        rate_out, variance_out = _rates(sums_out[:, both], answers)
        weights = rows_in / rows_in.sum()
        gaps = rate_in - rate_out
        difference = float(weights @ gaps)
        # The strata's rates vary, and so does the mix in which the group comes.
        variance = weights**2 @ (variance_in + variance_out)
        variance += weights @ (gaps - difference) ** 2 / rows_in.sum()
        margin = error_quantile(error) * float(np.sqrt(variance))
        scores.append(
            ConditionalScore(
                features=list(features),
                difference=difference,
                confidence_interval=(max(-1.0, difference - margin), min(1.0, difference + margin)),
                covered=float(rows_in.sum() / sums_in[0].sum()),
                strata=int(both.sum()),
            )
        )
    return scores


@dataclass(frozen=True, kw_only=True)
class ConditionalSearch:
    """Every judged group compared with others that are alike; arrays of shape (groups,)."""

    features: tuple[str, ...]
    difference: Floats  # NaN where nothing could be compared.
    margin: Floats  # Half the width of each interval; all hold at once.
    covered: Floats  # Share of each group's rows like which there are others outside.

    @property
    def compared(self) -> NDArray[np.intp]:
        """The groups that were compared."""
        return np.flatnonzero(~np.isnan(self.difference))

    @property
    def lower_bounds(self) -> Floats:
        """The lower confidence bounds of the sizes; 0 where there may be no difference."""
        return np.nan_to_num(np.maximum(np.abs(self.difference) - self.margin, 0.0))

    def interval(self, group: int) -> tuple[float, float]:
        """Return the confidence interval of a group's difference."""
        difference = float(self.difference[group])
        margin = float(self.margin[group])
        return max(-1.0, difference - margin), min(1.0, difference + margin)


# Sums held at once, 16 megabytes.
_SUMS_AT_ONCE = 1 << 21


def search_conditional(
    strata: NDArray[np.intp],
    contingency: Contingency,
    rule_sets: FrequentRuleSets,
    row_favourable: NDArray[np.integer],
    answers: int,
    *,
    features: Sequence[str],
    min_rows: int,
    confidence: float,
) -> ConditionalSearch:
    """Compare each group with others that are alike, as :func:`conditional_scores` does.

    The intervals of all groups hold at once (Bonferroni). A group of which fewer than `min_rows`
    rows have others like them, or with fewer others in these strata, is not compared.
    """
    groups = len(rule_sets)
    number = int(strata.max()) + 1
    # Sums over the strata in which both sides have rows: of the group's rows, of the others', of
    # weighted gaps and their squares, and of weighted variances.
    matched_in, matched_out, gaps, squares, variances, rows_in = np.zeros((6, groups))
    step = max(1, _SUMS_AT_ONCE // max(1, 3 * groups))
    for first in range(0, number, step):
        width = min(step, number - first)
        of_cells = _sums_of_strata(strata, contingency, row_favourable, first=first, number=width)
        quantities = of_cells.reshape(3 * width, -1)
        together = rule_sets.totals(contingency, quantities).reshape(3, width, groups)
        inside = rule_sets.sums_of(contingency, quantities).reshape(3, width, groups)
        for index, sums_in in enumerate(np.moveaxis(inside, 1, 0)):
            sums_out = np.maximum(together[:, index] - sums_in, 0.0)
            both = (sums_in[0] > 0) & (sums_out[0] > 0)
            rows_in += sums_in[0]
            rate_in, variance_in = _rates(sums_in[:, both], answers)
            rate_out, variance_out = _rates(sums_out[:, both], answers)
            weight = sums_in[0, both]
            gap = rate_in - rate_out
            matched_in[both] += weight
            matched_out[both] += sums_out[0, both]
            gaps[both] += weight * gap
            squares[both] += weight * gap**2
            variances[both] += weight**2 * (variance_in + variance_out)
    compared = (matched_in >= min_rows) & (matched_out >= min_rows)
    total = np.where(compared, matched_in, np.nan)
    difference = gaps / total
    # The strata's rates vary, and so does the mix in which the group comes.
    variance = variances / total**2 + np.maximum(squares / total - difference**2, 0.0) / total
    error = (1 - confidence) / max(1, int(compared.sum()))
    return ConditionalSearch(
        features=tuple(features),
        difference=difference,
        margin=error_quantile(error) * np.sqrt(variance),
        covered=matched_in / np.maximum(rows_in, 1),
    )


def _sums_of_strata(
    strata: NDArray[np.intp],
    contingency: Contingency,
    row_favourable: NDArray[np.integer],
    *,
    first: int,
    number: int,
) -> Floats:
    """Sum rows, favourable answers and their squares of strata by cell: (3, strata, cells)."""
    rows = np.flatnonzero((strata >= first) & (strata < first + number))
    joint = (strata[rows] - first) * contingency.cells + contingency.cell_of_row[rows]
    favourable = row_favourable[rows].astype(np.float64)
    size = number * contingency.cells
    sums = [np.bincount(joint, item, size) for item in (None, favourable, favourable**2)]
    return np.array(sums, dtype=np.float64).reshape(3, number, contingency.cells)


def _rates(sums: Floats, answers: int) -> tuple[Floats, Floats]:
    """Return each stratum's rate and the variance of it, shapes (strata,).

    `sums` are rows, favourable answers of `answers` a row, and squares of these (3, strata).
    """
    rows, favourable, squares = sums
    rate = favourable / (rows * answers)
    size = effective_sample_size(rate, squares / (rows * answers**2), rows, answers)
    # With a row of nothing but favourable answers and one of none, as in the effective size: a
    # stratum of one row varies not at all by itself.
    guarded = (rows * rate + 1) / (rows + 2)
    return rate, guarded * (1 - guarded) / size


def _quantile_bins(numbers: Floats) -> Counts:
    """Return each number's bin, that of the middle of its ties; the bin 0 where missing."""
    known = ~np.isnan(numbers)
    bins = np.zeros(len(numbers), dtype=np.int64)
    if known.any():
        _, index, count = np.unique(numbers[known], return_inverse=True, return_counts=True)
        twice_middle = 2 * np.cumsum(count) - count
        bin_of_value = 1 + _QUANTILE_BINS * twice_middle // (2 * count.sum())
        bins[known] = bin_of_value[index]
    return bins
