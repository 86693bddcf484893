"""Rates over the terms of each frequent category, and of pairs of categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.text import TextFindings
from testsgd.reporting.chart_numbers import rounded
from testsgd.reporting.summary import CellRate, FeatureRates, HeatMap
from testsgd.rules.text import CategorySet


def term_rates(findings: TextFindings) -> list[FeatureRates]:
    """Give the rates over the terms of each frequent category.

    Parameters
    ----------
    findings : TextFindings
        What the audit found.

    Returns
    -------
    list of FeatureRates
        The terms of one category are put into the same texts, so their number is the same. None if
        the findings hold chosen groups only, as those of a split do.
    """
    if not findings.rule_sets.complete:
        return []
    rates = []
    for category_set in findings.rule_sets.category_sets:
        if len(category_set.categories) != 1:
            continue
        (names,) = _names(findings, category_set)
        rates.append(
            FeatureRates(
                feature=_categories(findings, category_set)[0],
                cells=[
                    CellRate(label=name, n=len(category_set.rows), rate=_rate(rate))
                    for name, rate in zip(names, _rates(findings, category_set), strict=True)
                ],
            )
        )
    return rates


def pair_rates(findings: TextFindings) -> list[HeatMap]:
    """Give the rates over the pairs of terms of each frequent pair of categories.

    Parameters
    ----------
    findings : TextFindings
        What the audit found.

    Returns
    -------
    list of HeatMap
        All pairs of terms of one map are put into the same texts. None if the findings hold chosen
        groups only, as those of a split do.
    """
    if not findings.rule_sets.complete:
        return []
    maps = []
    for category_set in findings.rule_sets.category_sets:
        if len(category_set.categories) != 2:
            continue
        row_names, column_names = _names(findings, category_set)
        row_feature, column_feature = _categories(findings, category_set)
        rates = _rates(findings, category_set).reshape(category_set.shape)
        maps.append(
            HeatMap(
                row_feature=row_feature,
                column_feature=column_feature,
                row_labels=row_names,
                column_labels=column_names,
                rates=[[_rate(rate) for rate in line] for line in rates],
                counts=[[len(category_set.rows)] * len(column_names)] * len(row_names),
            )
        )
    return maps


def _names(findings: TextFindings, category_set: CategorySet) -> list[list[str]]:
    categories = findings.mentions.terms.categories
    return [[term.name for term in categories[at].terms] for at in category_set.categories]


def _categories(findings: TextFindings, category_set: CategorySet) -> list[str]:
    return [findings.mentions.terms.categories[at].name for at in category_set.categories]


def _rates(findings: TextFindings, category_set: CategorySet) -> NDArray[np.float64]:
    count = int(np.prod(category_set.shape))
    return findings.estimates.rate_in[category_set.first : category_set.first + count]


def _rate(rate: float) -> float | None:
    return None if np.isnan(rate) else rounded(rate)
