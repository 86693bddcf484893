"""Weights of a domain by data: each input by its own distribution among the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain.domain import (
    CategoryInput,
    Domain,
    DomainInput,
    Marginal,
    RealInput,
    choice,
)
from testsgd.data import Table, category_codes, category_text
from testsgd.errors import DataError

# Bins of a real input.
BINS = 64


def with_data_weights(domain: Domain, table: Table) -> Domain:
    """Return a domain weighted by the marginal distributions of the rows of a table.

    The weight of a person is the product of the shares of rows that have each of the person's
    values, as if the inputs were independent: a person may have weight though nobody in the data is
    like that. Whole numbers and categories have their relative frequencies; a real input has the
    frequencies of 64 equal bins, evenly spread within a bin. Protected inputs have no weight, and
    all rows count, whatever their protected values are. A missing value counts for no value of that
    input.

    Parameters
    ----------
    domain : Domain
        The domain; weights that it has are replaced.
    table : testsgd.data.Table
        The rows, with a column for each input that is not protected.

    Returns
    -------
    Domain
        The same domain, with a marginal for each input that is not protected. A real input with
        one possible value has none.

    Raises
    ------
    DataError
        If the table has no column for an input, an input is missing in every row, or a value is
        outside of the domain. To leave such a row out would quietly make another population of the
        data, and to move it to the domain's edge would invent people who are not there; the user
        should decide.

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.certification import find_domain
    >>> from testsgd.data import DatasetSpecification, check_table
    >>> specification = DatasetSpecification.model_validate({
    ...     "dataset": {"name": "people"},
    ...     "label": {"column": "hired", "favourable": "1", "values": ["0", "1"]},
    ...     "features": {
    ...         "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
    ...         "skill": {"type": "integer", "range": [0, 2]}}})
    >>> frame = pd.DataFrame({"sex": list("fmfm"), "skill": [0, 1, 1, 1], "hired": list("0111")})
    >>> domain = with_data_weights(find_domain(specification), check_table(frame, specification))
    >>> domain.marginals["skill"].cumulative.tolist()
    [0.0, 0.25, 1.0, 1.0]
    """
    marginals = {}
    for item in domain.free:
        if item.name not in table.frame:
            raise DataError(
                f"the data have no column {item.name!r}, which the domain has as an input",
                where=table.source or "the data",
                remedy=choice(item.name, [str(name) for name in table.frame.columns]),
                name=item.name,
            )
        if isinstance(item, RealInput) and item.size == 1:
            _known(item, table)
            continue
        marginals[item.name] = _marginal(item, _known(item, table))
    return replace(domain, marginals=marginals, weighted_by="data")


def _marginal(item: DomainInput, values: NDArray[np.float64]) -> Marginal:
    if isinstance(item, RealInput):
        edges = np.linspace(item.low, item.high, BINS + 1)
        if not np.all(np.diff(edges) > 0):
            edges = np.array([item.low, item.high])
        counts = np.histogram(values, edges)[0]
    else:
        low = 0 if isinstance(item, CategoryInput) else item.low
        edges = np.arange(item.size + 1, dtype=np.float64)
        counts = np.bincount((values - low).astype(np.intp), minlength=item.size)
    # Whole numbers until the last division, so that the end is exactly 1.
    cumulative = np.concatenate([[0], np.cumsum(counts)]) / len(values)
    return Marginal(edges, cumulative)


def _known(item: DomainInput, table: Table) -> NDArray[np.float64]:
    """Return an input's values in all rows that have one, after a check of the domain."""
    values = _values(item, table)
    known = values[~np.isnan(values)]
    where = f"{table.source or 'the data'}, feature {item.name!r}"
    if len(known) == 0:
        raise DataError(
            "the feature is missing in every row",
            where=where,
            remedy="give data that have it, or weight by volume",
            name=item.name,
        )
    if isinstance(item, CategoryInput):
        return known
    inside = (known >= item.low) & (known <= item.high)
    if not isinstance(item, RealInput):
        inside &= known == np.floor(known)
    if not inside.all():
        wrong = known[~inside]
        raise DataError(
            f"{len(wrong):,} of {len(known):,} rows have a value outside of the domain "
            f"({wrong[0]:g}), which has {item.extent}",
            where=where,
            remedy="widen the domain, or leave these rows out of the data",
            name=item.name,
        )
    return known


def _values(item: DomainInput, table: Table) -> NDArray[np.float64]:
    """Return a value a row, NaN where missing; of a category the index."""
    if isinstance(item, CategoryInput):
        codes = category_codes(table.frame[item.name], item.values, feature=item.name)
        return np.where(codes < 0, np.nan, codes.astype(np.float64))
    feature = table.specification.features[item.name]
    if feature.continuous:
        return table.numbers(item.name)
    # A category that the network takes as a number: its values are texts of numbers.
    numbers = np.array([_number(value, item.name) for value in feature.values or ()] + [np.nan])
    return numbers[table.codes(item.name)]


def _number(value: Any, name: str) -> float:
    try:
        return float(category_text(value))
    except ValueError as error:
        raise DataError(
            f"the value {value!r} of {name!r} is no number, and the domain takes numbers",
            where="weights",
            remedy="weight by volume, or make the input a category",
            name=name,
        ) from error
