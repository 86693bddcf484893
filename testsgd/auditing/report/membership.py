"""Who is in a group: the rows of a table that satisfy its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import MISSING, category_text, declared_text, distinct_values
from testsgd.data.cell_texts import renamed
from testsgd.data.cells import as_pandas, missing_column
from testsgd.data.missing_texts import without_missing_text
from testsgd.data.schema import DatasetSpecification
from testsgd.data.table import feature_numbers
from testsgd.errors import DataError
from testsgd.report.summaries import RuleSummary

if TYPE_CHECKING:
    from testsgd.data.text import SensitiveTerms


def rules_mask(
    rules: Sequence[RuleSummary], data: Any, *, joined_by: DatasetSpecification | None = None
) -> NDArray[np.bool_]:
    """Return which rows of a table satisfy all of some rules.

    Parameters
    ----------
    rules : sequence of RuleSummary
        Rules about rows.
    data : data frame, n rows
        A table of pandas, polars or Arrow with a column for each feature of the rules.
    joined_by : DatasetSpecification, optional
        The description that joined rare values under one name, where the data still have them.

    Returns
    -------
    numpy.ndarray of bool, shape (n,)

    Raises
    ------
    DataError
        If the data are no table, lack a column, or have texts where a rule is about numbers.

    Examples
    --------
    >>> rule = RuleSummary(feature="age", low=40, high=60, text="40 <= age < 60")
    >>> rules_mask([rule], pd.DataFrame({"age": [39, 40, 60, None]})).tolist()
    [False, True, False, False]
    """
    frame = as_pandas(data)
    if frame is None:
        raise DataError(
            f"the data are a {type(data).__name__}, not a data frame",
            where="data",
            remedy="give a pandas, polars or Arrow table with named columns",
        )
    if joined_by is not None:
        frame = with_joined_values(frame, rules, joined_by)
    mask = np.ones(len(frame), dtype=bool)
    for rule in rules:
        if rule.feature not in frame:
            raise missing_column(rule.feature, frame.columns, "the data")
        column = without_missing_text(frame[rule.feature])
        if rule.values is not None:
            mask &= _has_value(column, set(rule.values))
        else:
            mask &= _in_interval(column, rule)
    return mask


def texts_mask(rules: Sequence[RuleSummary], data: Any, terms: SensitiveTerms) -> NDArray[np.bool_]:
    """Return which texts mention the term of each of some rules, in any of its forms.

    Parameters
    ----------
    rules : sequence of RuleSummary
        Rules about terms.
    data : sequence of str, n texts
        A list, an array or a series of texts.
    terms : SensitiveTerms
        The list that the terms are of.

    Returns
    -------
    numpy.ndarray of bool, shape (n,)

    Raises
    ------
    DataError
        If the data are anything else.

    Examples
    --------
    >>> from testsgd.data.text import SensitiveTerms, Term, TermCategory
    >>> terms = SensitiveTerms("", "", (TermCategory("age", (Term("old"), Term("young"))),))
    >>> rule = RuleSummary(feature="age", values=["old"], text="“old”")
    >>> texts_mask([rule], ["An old man", "A young man"], terms).tolist()
    [True, False]
    """
    texts = None if isinstance(data, (str, dict)) or np.ndim(data) != 1 else list(data)
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise DataError(
            f"the data are a {type(data).__name__}, not texts",
            where="data",
            remedy='give a list or a series of texts, such as frame["text"]',
        )
    # Imported here: rows need nothing of texts.
    from testsgd.rules.text import find_mentions

    found = find_mentions(texts, terms)
    mentioned = found.contains()
    mask = np.ones(len(texts), dtype=bool)
    for rule in rules:
        category = terms.names.index(rule.feature)
        names = [term.name for term in terms.categories[category].terms]
        for value in rule.values or ():
            mask &= mentioned[category][:, names.index(value)]
    return mask


def with_joined_values(
    frame: pd.DataFrame, rules: Sequence[RuleSummary], specification: DatasetSpecification
) -> pd.DataFrame:
    """Return rows in which values that a description joins have their common name.

    Parameters
    ----------
    frame : data frame
        The rows. Not changed.
    rules : sequence of RuleSummary
        The rules whose features are looked at.
    specification : DatasetSpecification
        The description.

    Returns
    -------
    data frame
        A copy with the features of the rules that have joined values as texts.
    """
    joined = {}
    for rule in rules:
        feature = specification.features[rule.feature]
        if feature.map and rule.feature in frame:
            texts = frame[rule.feature].astype(object).map(category_text, na_action="ignore")
            joined[rule.feature] = renamed(texts, feature.map)
    return frame.assign(**joined)


def _has_value(column: pd.Series[Any], values: set[str]) -> NDArray[np.bool_]:
    """Return which cells have one of some values; that cells are missing is a value, too."""
    codes, distinct = distinct_values(column)
    known = values - {MISSING}
    wanted = [declared_text(value, known) in known for value in distinct]
    # A missing cell has the code -1, which is the last place.
    return np.array([*wanted, MISSING in values], dtype=bool)[codes]


def _in_interval(column: pd.Series[Any], rule: RuleSummary) -> NDArray[np.bool_]:
    """Return which cells lie in an interval, its lower end included; no missing cell does."""
    try:
        numbers = feature_numbers(column)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the rule {rule.text} is about numbers, but the column holds {column.dtype} values",
            where=f"feature {rule.feature!r}",
            remedy="convert it to numbers",
            feature=rule.feature,
        ) from error
    low = -np.inf if rule.low is None else rule.low
    high = np.inf if rule.high is None else rule.high
    return (numbers >= low) & (numbers < high)
