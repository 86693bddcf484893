"""Impact ratios by sex, by race, and by both, as the rules of New York City's Local Law 144 ask.

An impact ratio is the selection rate of a category over that of the most selected category. See
Rules of the City of New York, title 6, section 5-301.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from testsgd.auditing.values import check_same_order, values_of
from testsgd.data import category_text
from testsgd.data.classes import favourable_classes
from testsgd.errors import ParameterError
from testsgd.io import csv_of, write_text
from testsgd.report.formatting import NOTHING, count, percent

# Categories of a smaller share of the data may be left out of the ratios.
SMALL_SHARE = 0.02
# Texts, in lower case, of applicants whose category is not known.
UNKNOWN = frozenset(
    {
        "?",
        "choose not to disclose",
        "decline to answer",
        "decline to identify",
        "decline to self-identify",
        "decline to state",
        "declined",
        "declined to answer",
        "declined to state",
        "do not wish to answer",
        "i do not wish to answer",
        "i don't wish to answer",
        "missing",
        "n/a",
        "na",
        "no answer",
        "no response",
        "not available",
        "not disclosed",
        "not given",
        "not known",
        "not provided",
        "not reported",
        "not specified",
        "not stated",
        "prefer not to answer",
        "prefer not to disclose",
        "prefer not to say",
        "prefer not to state",
        "undisclosed",
        "unknown",
        "unspecified",
    }
)
# More whole numbers are no codes of classes.
_MOST_CODES = 10


@dataclass(frozen=True)
class ImpactRatio:
    """One category, and how often it is selected."""

    by: str  # What it is a category of: the names of the columns
    category: str
    applicants: int
    selected: int
    selection_rate: float
    # None: the category is small, and left out of the ratios; or none is selected
    impact_ratio: float | None
    left_out: bool  # Whether it is so small


@dataclass(frozen=True)
class ImpactRatios:
    """The table: categories by sex, by race, and by both."""

    rows: tuple[ImpactRatio, ...]
    unknown: dict[str, int]  # Applicants of unknown category, by what the categories are of
    left_out_below: float  # The share of the data below which a category is left out of the ratios

    def to_frame(self) -> pd.DataFrame:
        """Return the categories as a data frame.

        Returns
        -------
        data frame
            A row a category, in the order of :attr:`rows`; a column for each field of
            :class:`ImpactRatio`. Applicants of unknown category have no row.
        """
        names = [item.name for item in fields(ImpactRatio)]
        return pd.DataFrame([asdict(row) for row in self.rows], columns=names)

    def to_csv(self, path: str | Path) -> None:
        """Write the table as a CSV file.

        After the categories there is a line for each kind of category, "(unknown)", with the
        number of applicants whose category is not known.

        Parameters
        ----------
        path : path-like
            The file; an existing one is replaced.
        """
        unknown = [
            {"by": by, "category": "(unknown)", "applicants": number}
            for by, number in self.unknown.items()
        ]
        frame = pd.DataFrame([*(asdict(row) for row in self.rows), *unknown])
        write_text(Path(path), csv_of(frame))

    def to_markdown(self) -> str:
        """Return a Markdown table for each kind of category.

        Returns
        -------
        str
            Below each table a line says how many applicants are of unknown category, and which
            categories are left out of the ratios.
        """
        blocks = []
        for by, unknown in self.unknown.items():
            lines = [
                f"| {by} | Applicants | Selected | Selection rate | Impact ratio |",
                "| --- | ---: | ---: | ---: | ---: |",
            ]
            for row in self.rows:
                if row.by == by:
                    ratio = NOTHING if row.impact_ratio is None else f"{row.impact_ratio:.3f}"
                    lines.append(
                        f"| {row.category.replace('|', chr(92) + '|')} | {count(row.applicants)} | "
                        f"{count(row.selected)} | {percent(row.selection_rate)} | {ratio} |"
                    )
            small = [row.category for row in self.rows if row.by == by and row.left_out]
            notes = f"Of unknown category: {count(unknown)}."
            if small:
                below = percent(self.left_out_below)
                notes += f" Left out of the ratios, with less than {below} of the data: "
                notes += f"{', '.join(small)}."
            blocks.append("\n".join([*lines, "", notes, ""]))
        return "\n".join(blocks)


def impact_ratios(
    y_pred: Any,
    *,
    sex: Any,
    race: Any,
    favourable: Any = None,
    left_out_below: float = SMALL_SHARE,
    unknown: Collection[str] = UNKNOWN,
) -> ImpactRatios:
    """Compute the impact ratios by sex, by race, and by both, of New York City's Local Law 144.

    The impact ratio of a category is its selection rate divided by the largest selection rate of
    the categories of the same kind, those left out aside. Applicants whose sex or race is missing,
    or of whom a text says that it is not known, are counted as unknown; they are in no category by
    both.

    Parameters
    ----------
    y_pred : array-like, shape (n,)
        Whether each applicant was selected: two classes.
    sex, race : array-like, shape (n,)
        The categories; missing values are unknown, and so are the texts of `unknown`.
    favourable : object, optional
        The class that says "selected"; if not given, 1, True, "yes" or the like.
    left_out_below : float
        Categories of a smaller share of all applicants have no impact ratio, and none is compared
        with them; their applicants and selection rates are given. 0 for all categories.
    unknown : collection of str
        Texts in lower case of applicants whose category is not known, such as "unknown" and
        "decline to state"; if not given those that are usual. Blanks at their ends do not count.

    Returns
    -------
    ImpactRatios
        The categories by sex, by race and by both, in this order; within each kind by name.

    Raises
    ------
    ParameterError
        If `left_out_below` is no share below 1, a decision is missing, or it is not clear which
        class says "selected".
    DataError
        If the lengths differ, or a series has the rows in another order than the others.

    Notes
    -----
    See Rules of the City of New York, title 6, section 5-301.

    Examples
    --------
    >>> table = impact_ratios(
    ...     [1, 1, 1, 0, 1, 0, 0, 0],
    ...     sex=["male"] * 4 + ["female"] * 4,
    ...     race=["White", "White", "Black", "Black"] * 2,
    ... )
    >>> table.to_frame()[["by", "category", "impact_ratio"]].head(2).values.tolist()
    [['sex', 'female', 0.3333333333333333], ['sex', 'male', 1.0]]
    """
    if not 0 <= left_out_below < 1:
        raise ParameterError(
            f"{left_out_below} is no share below 1",
            where="left_out_below",
            remedy="give a share such as 0.02",
        )
    check_same_order({"sex": sex, "race": race, "y_pred": y_pred})
    sexes = _known(_texts(sex, "sex", rows=len(sex)), unknown)
    races = _known(_texts(race, "race", rows=len(sexes)), unknown)
    answers = _texts(y_pred, "y_pred", rows=len(sexes))
    if answers.isna().any():
        raise ParameterError(
            f"{int(answers.isna().sum()):,} decisions are missing",
            where="y_pred",
            remedy="leave the rows out of all columns",
        )
    if favourable is None:
        _check_no_scores(y_pred, rows=len(sexes))
    chosen = favourable_classes(sorted(answers.unique()), favourable)
    selected = answers.isin(chosen).to_numpy(dtype=bool)
    # A missing part leaves the whole unknown.
    kinds = {"sex": sexes, "race": races, "sex and race": sexes + ", " + races}
    rows: list[ImpactRatio] = []
    for by, categories in kinds.items():
        rows += _of_categories(by, categories, selected, left_out_below)
    not_known = {by: int(categories.isna().sum()) for by, categories in kinds.items()}
    return ImpactRatios(tuple(rows), not_known, left_out_below)


def _check_no_scores(y_pred: Any, *, rows: int) -> None:
    """Raise a ParameterError if values are numbers that are no codes of a few classes."""
    values = values_of(y_pred, "y_pred", rows=rows)
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return
    different = values.unique()
    if len(different) <= 2 or (len(different) <= _MOST_CODES and (different % 1 == 0).all()):
        return
    column = "the values" if values.name is None else f"{str(values.name)!r}"
    raise ParameterError(
        f"impact ratios are of decisions, and {column} are scores or other numbers, "
        f"{len(different):,} different ones",
        where="y_pred",
        remedy="name the column that says who was selected, or make one: whether each score is "
        "above the threshold of selection",
    )


def _texts(values: Any, what: str, *, rows: int) -> pd.Series[Any]:
    """Return values as texts, shape (n,); NaN where they are missing."""
    series = values_of(values, what, rows=rows).astype(object)
    texts: pd.Series[Any] = series.map(category_text, na_action="ignore").astype(object)
    return texts.where(texts.notna(), np.nan)


def _known(categories: pd.Series[Any], unknown: Collection[str]) -> pd.Series[Any]:
    """Return categories, shape (n,), with NaN for texts that say that one is not known."""
    plain = categories.map(lambda text: text.strip().casefold(), na_action="ignore")
    return categories.where(~plain.isin(list(unknown)), np.nan)


def _of_categories(
    by: str, categories: pd.Series[Any], selected: np.ndarray[Any, Any], left_out_below: float
) -> list[ImpactRatio]:
    """Compute the ratios of one kind of category; `categories`, `selected` have the shape (n,)."""
    counted = pd.Series(selected).groupby(categories.to_numpy()).agg(["size", "sum"])
    rates = counted["sum"] / counted["size"]
    left_out = counted["size"] < left_out_below * len(categories)
    largest = float(rates[~left_out].max()) if (~left_out).any() else 0.0
    return [
        ImpactRatio(
            by=by,
            category=str(name),
            applicants=int(counted.loc[name, "size"]),
            selected=int(counted.loc[name, "sum"]),
            selection_rate=float(rates[name]),
            impact_ratio=None if left_out[name] or largest == 0 else float(rates[name] / largest),
            left_out=bool(left_out[name]),
        )
        for name in counted.index
    ]
