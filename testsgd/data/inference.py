"""What the columns of a table are, guessed from their cells where there is no description.

Every guess comes with its reason, so that a report can show it and its reader can correct it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import MISSING, MOST_CATEGORIES, MOST_VALUES, category_text
from testsgd.data.cell_texts import formatted_numbers, renamed
from testsgd.data.cells import shown_columns
from testsgd.data.classes import checked_outcome, classes_of, favourable_classes, note_on_favourable
from testsgd.data.column_notes import (
    note_on_missing_texts,
    note_on_repeated_people,
    notes_on_missing_codes,
    notes_on_spellings,
    notes_on_unread_numbers,
    repeated_people,
)
from testsgd.data.frames import DECIMAL_COMMAS
from testsgd.data.guessed_features import completed_feature, counted_texts
from testsgd.data.missing_texts import may_hold_texts, without_missing_texts
from testsgd.data.schema import DatasetSpecification
from testsgd.data.toml_document import validated
from testsgd.errors import DataError, ParameterError

if TYPE_CHECKING:
    from testsgd.data.missing_codes import MissingCodes
    from testsgd.data.unread_numbers import UnreadNumbers

ColumnKind = Literal[
    "integer", "decimal", "categorical", "date", "identifier", "text", "constant", "empty"
]

# How many columns an error names.
_SHOWN_INPUTS = 5
# Texts of more characters on average are free text.
_LONG_TEXT = 40
# Fewer rows say nothing about whether all values differ by chance.
_FEWEST_ROWS = 50
# With so few different texts none are looked for that are numbers.
_MOST_CODES = 10
_SHARE_OF_DISTINCT = 0.9
# On average, of each text of a sensitive feature, for many texts to be categories.
_ROWS_OF_A_VALUE = 10
_CATEGORIES_ADVICE = (
    "name another column, or bring its values into a few categories: of texts at most "
    f"{MOST_VALUES:,}, in at least {_ROWS_OF_A_VALUE} rows each on average"
)
# By the kind of the column: what has no groups cannot be brought into categories.
_OTHER_ADVICE = {
    "constant": "name another column: groups are compared, and of one value there is only one",
    "empty": "name another column, or give rows in which it is filled in",
    "identifier": "name another column: an identifier tells rows apart, not groups of them; if its "
    "values have parts that many rows share, such as the first digits of a postcode, make a column "
    "of those",
}
_IDENTIFIER_NAME = re.compile(r"(^|[_\W])(id|ids|uuid|guid|key)$|^(row|index)$|Id$|ID$")
_DATE = re.compile(
    r"(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}/\d{1,2}/\d{1,2})([T ].*)?"
)
# Times in whole seconds or milliseconds since 1970: names that only times have, and numbers of the
# years 2000 to 2040. A column called "time" may be a duration.
_TIME_NAME = re.compile(
    r"(^|[_\W])(?i:date|datetime|timestamp|ts|created|modified|updated)([_\W]|$)|"
    r"[_\W](?i:at)$|[a-z](At|Date|DateTime|Timestamp)$"
)
_TIMES = {"seconds": (946_684_800, 2_208_988_800)}
_TIMES["milliseconds"] = (1000 * _TIMES["seconds"][0], 1000 * _TIMES["seconds"][1])


@dataclass(frozen=True, kw_only=True)
class InferredColumn:
    """What a column is taken for, and why.

    Examples
    --------
    >>> infer_column(pd.Series([True, False, None], name="member")).kind
    'categorical'
    """

    name: str
    kind: ColumnKind
    why: str  # The reason for the kind, in words.
    distinct: int  # Number of different values among the cells that are not missing.
    missing: int  # Number of missing cells.
    # The numbers among its texts, if nearly all are numbers; `why` says so, too.
    unread: UnreadNumbers | None = None
    # The numbers that may stand for a missing value, such as -999, of a table.
    codes: MissingCodes | None = None

    @property
    def is_feature(self) -> bool:
        """Whether it can be varied: dates, identifiers and free texts cannot."""
        return self.kind in ("integer", "decimal", "categorical")


def infer_column(column: pd.Series[Any]) -> InferredColumn:
    """Guess what a column is, by its type, its cells and its name.

    Booleans, categories and texts of at most 200 different values are categorical. Whole numbers
    are integers, but identifiers if there are at least 50, all different, and they are consecutive
    or the column is named like an identifier. Texts that are written like dates are dates, and so
    are whole numbers that by name and size are times of 2000 to 2040 since 1970. Long
    texts are free texts; others that are nearly all different are identifiers, or free texts if
    most of them have blanks.

    Parameters
    ----------
    column : pandas.Series
        Cells of any type.

    Returns
    -------
    InferredColumn

    Raises
    ------
    DataError
        If a number is infinite.

    Examples
    --------
    >>> infer_column(pd.Series([31, 45, 45, 60], name="age")).kind
    'integer'
    >>> infer_column(pd.Series(["2024-01-31", "2024-02-01"], name="decided")).kind
    'date'
    """
    present = column.dropna()
    counts = counted_texts(present)
    distinct = len(counts)
    kind, why = _kind(column, present, distinct)
    unread = _unread_numbers(column, kind, counts)
    return InferredColumn(
        name=str(column.name),
        kind=kind,
        why=why if unread is None else f"{why}; {unread.seen}",
        distinct=distinct,
        missing=len(column) - len(present),
        unread=unread,
    )


def with_numbers(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return rows in which texts such as ``$1,200`` are numbers, with an example by column.

    Columns that are categories as texts stay as they are: ``101,204`` may be two codes.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows. Not changed.

    Returns
    -------
    frame : pandas.DataFrame
    examples : dict of str to str
        The first text of each column that was read as numbers, here or by :func:`read_frame`.

    Examples
    --------
    >>> people = pd.DataFrame({"pay": [f"{thousands},000" for thousands in range(1, 99)]})
    >>> frame, examples = with_numbers(people)
    >>> frame["pay"].max().item(), examples
    (98000, {'pay': '1,000'})
    """
    examples: dict[str, str] = {}
    read: dict[str, pd.Series[Any]] = {}
    for name in frame.columns if frame.columns.is_unique else ():
        column = frame[name]
        if pd.api.types.infer_dtype(column.dropna()) != "string":
            continue
        numbers = formatted_numbers(column)
        if numbers is not None and infer_column(column).kind in ("identifier", "text"):
            read[name] = numbers
            examples[str(name)] = str(column.dropna().iloc[0])
    of_file = frame.attrs.get(DECIMAL_COMMAS, {})
    examples |= {name: text for name, text in of_file.items() if name in frame}
    return frame.assign(**read), examples


def _kind(column: pd.Series[Any], present: pd.Series[Any], distinct: int) -> tuple[ColumnKind, str]:
    """Return what a column is, and why."""
    if distinct == 0:
        return "empty", "no cell has a value"
    if distinct == 1:
        return "constant", f"every cell is {category_text(present.iloc[0])}"
    if pd.api.types.is_bool_dtype(column.dtype) or _all_booleans(present):
        return "categorical", "booleans"
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return "date", f"cells of type {column.dtype}"
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return "date", f"cells of type {column.dtype}"
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _kind_of_numbers(column, present, distinct)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "categorical", f"a type of {distinct} categories"
    return _kind_of_texts(column, present, distinct)


def _kind_of_numbers(
    column: pd.Series[Any], present: pd.Series[Any], distinct: int
) -> tuple[ColumnKind, str]:
    """Return whether numbers are integer, decimal or identifiers, and why."""
    numbers = present.to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise infinite_cell(str(column.name))
    if (numbers % 1 != 0).any():
        return "decimal", f"numbers from {numbers.min():.10g} to {numbers.max():.10g}"
    if (unit := _unit_of_times(str(column.name), numbers)) is not None:
        first = datetime.fromtimestamp(numbers.min() / (1000 if unit == "milliseconds" else 1), UTC)
        return "date", f"times in {unit} since 1970, the first is of {first:%Y-%m-%d}"
    if are_identifiers(
        str(column.name), rows=len(present), distinct=distinct, span=float(np.ptp(numbers))
    ):
        return "identifier", "whole numbers that are all different"
    return "integer", f"whole numbers from {numbers.min():.10g} to {numbers.max():.10g}"


def infinite_cell(column: str) -> DataError:
    """Return the error of a column of numbers of which one is infinite.

    Examples
    --------
    >>> infinite_cell("income").where
    "column 'income'"
    """
    return DataError(
        "a cell is infinite",
        where=f"column {column!r}",
        remedy="replace it by a number, or leave the cell empty",
    )


def _unread_numbers(
    column: pd.Series[Any], kind: ColumnKind, counts: Mapping[str, int]
) -> UnreadNumbers | None:
    """Return which cells of a column of texts are numbers, if nearly all are."""
    is_text = may_hold_texts(column) and kind in ("categorical", "identifier", "text")
    if not is_text or len(counts) <= _MOST_CODES:
        return None
    # Imported here: few tables have columns of many texts.
    from testsgd.data.unread_numbers import unread_numbers

    return unread_numbers(counts)


def _unit_of_times(name: str, numbers: NDArray[np.float64]) -> str | None:
    """Return the unit in which whole numbers are surely times since 1970, or None."""
    if _TIME_NAME.search(name) is None:
        return None
    ends = numbers.min(), numbers.max()
    return next((unit for unit, (a, b) in _TIMES.items() if a <= ends[0] and ends[1] <= b), None)


def are_identifiers(name: str, *, rows: int, distinct: int, span: float) -> bool:
    """Return whether whole numbers are identifiers, and no quantity.

    Parameters
    ----------
    name : str
        What their column is called.
    rows, distinct : int
        How many there are, and how many different ones.
    span : float
        The largest less the smallest.

    Returns
    -------
    bool
        True if there are at least 50, all different, and they are consecutive or named like an
        identifier.

    Examples
    --------
    >>> are_identifiers("person_id", rows=100, distinct=100, span=5000)
    True
    >>> are_identifiers("income", rows=100, distinct=100, span=5000)
    False
    """
    if distinct != rows or rows < _FEWEST_ROWS:
        return False
    return span == rows - 1 or _IDENTIFIER_NAME.search(name) is not None


def _kind_of_texts(
    column: pd.Series[Any], present: pd.Series[Any], distinct: int
) -> tuple[ColumnKind, str]:
    """Return whether texts are dates, free texts, identifiers or categories, and why."""
    counts = counted_texts(present)
    if all(_DATE.fullmatch(text.strip()) for text in counts):
        return "date", f"dates such as {category_text(present.iloc[0])}"
    cells = len(present)
    share = distinct / cells
    length = sum(len(text) * count for text, count in counts.items()) / cells
    if length > _LONG_TEXT and distinct > MOST_CATEGORIES / 10:
        return "text", f"{length:.0f} characters on average"
    if cells >= _FEWEST_ROWS and share > _SHARE_OF_DISTINCT:
        blanks = present.map(category_text).str.contains(r"\s").mean() > 0.5
        kind: ColumnKind = "text" if blanks else "identifier"
        return kind, f"{distinct:,} different values in {cells:,} cells"
    if distinct > MOST_CATEGORIES:
        return "text", f"{distinct:,} different values, too many for categories"
    return "categorical", f"{distinct} different values"


def _all_booleans(present: pd.Series[Any]) -> bool:
    return present.dtype == object and all(isinstance(cell, bool | np.bool_) for cell in present)


@dataclass(frozen=True, kw_only=True)
class Inferred:
    """A guessed description of a table, with what each column was taken for.

    It is what :func:`infer_specification` returns.
    """

    specification: DatasetSpecification
    columns: tuple[InferredColumn, ...]
    notes: tuple[str, ...]  # What else was decided for the user, a sentence each.


def infer_specification(
    frame: pd.DataFrame,
    *,
    sensitive: Collection[str],
    label: str,
    labels: pd.Series[Any],
    name: str = "data",
    favourable: Any = None,
    outcome: str | None = None,
    inputs: Collection[str] | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    examples: Mapping[str, str] | None = None,
    answers: Mapping[str, str] | None = None,
    emptied: Collection[str] = (),
    has_units: bool = False,
    times: NDArray[Any] | None = None,
) -> Inferred:
    """Guess the description of a table.

    Texts of a sensitive feature are categories also if there are more different ones than of other
    features: up to 1,000, in at least 10 rows each on average.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows, with the sensitive features among its columns.
    sensitive : collection of str
        The features that rules are about.
    label : str
        What the label, or the prediction, is called; a column of that name is no feature.
    labels : pandas.Series
        The labels, or the predictions, whose values are the classes.
    name : str
        What the data are called.
    favourable : object, or list of these, optional
        The label whose rate is compared, or several together; without it, the one that is so by its
        name.
    outcome : {"benefit", "harm", "neither"}, optional
        What it is for a person to be given that label. It is never guessed.
    inputs : collection of str, optional
        The columns that the model takes; all of the frame, if not given.
    features : mapping of str to mapping, optional
        Parts of the description of some features, in place of what is guessed. The range or the
        values of a feature of which only the ``type`` is given are those of its cells.
    examples : mapping of str to str, optional
        How the columns were written whose texts were read as numbers, see :func:`with_numbers`.
    answers : mapping of str to str, optional
        Columns that are no features, as they hold the labels or predictions, and by what that was
        seen, such as "equal to the true label".
    emptied : collection of str
        Columns of which cells with the text ``missing`` were read as missing values. In `frame`,
        too, they are read so.
    times : numpy.ndarray, shape (n,), optional
        How many rows each row of `frame` stands for; one if not given.
    has_units : bool
        Whether it is known of which person each row is, so that no note says that one may have
        several.

    Returns
    -------
    Inferred

    Raises
    ------
    ParameterError
        If a sensitive feature is no column or no feature, one is to be a number and has texts, the
        favourable label is unknown, or the outcome is none of the three.
    SpecificationError
        If what is given for a feature is wrong.
    DataError
        If a number is infinite.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m", "f"], "age": [20, 30, 40]})
    >>> guessed = infer_specification(
    ...     people, sensitive=["sex"], label="granted", labels=pd.Series(["yes", "no", "yes"]))
    >>> guessed.specification.label.favourable, guessed.specification.insensitive
    ('yes', ('age',))
    """
    given = features or {}
    known_outcome = checked_outcome(outcome)
    frame, found = without_missing_texts(frame, but=[label])
    columns = tuple(
        _inferred(frame[column], times, sensitive=str(column) in sensitive)
        for column in frame.columns
        if str(column) != label
    )
    columns = tuple(_with_example(column, (examples or {}).get(column.name)) for column in columns)
    known_answers = answers or {}
    columns = tuple(
        replace(column, why=known_answers.get(column.name, column.why)) for column in columns
    )
    known = {column.name: column for column in columns}
    _check_named("sensitive", sensitive, known)
    _check_named("features", given, known)
    with_texts = [name for name in known if name in {*emptied, *found}]
    notes = [note_on_missing_texts(with_texts)] if with_texts else []
    looked_at = [
        column
        for column in columns
        if column.name in sensitive or inputs is None or column.name in inputs
    ]
    notes += notes_on_unread_numbers(looked_at, given)
    described: dict[str, dict[str, Any]] = {}
    for column in columns:
        chosen = given.get(column.name, {})
        is_sensitive = column.name in sensitive
        is_input = inputs is None or column.name in inputs
        # A type that is given comes before a guess.
        is_feature = column.is_feature or "type" in chosen
        if is_sensitive and not is_feature:
            remedy = _OTHER_ADVICE.get(column.kind, _CATEGORIES_ADVICE)
            raise ParameterError(
                f"{column.name!r} cannot be sensitive: it is taken for a column of kind "
                f"{column.kind} ({column.why})",
                where="sensitive",
                remedy=remedy if column.unread is None else column.unread.remedy,
                column=column.name,
            )
        if not (is_sensitive or is_input) or not is_feature:
            continue
        if column.name in known_answers and not is_sensitive:
            notes.append(f"{column.name} is {known_answers[column.name]}, so it is no feature")
            continue
        feature = completed_feature(frame[column.name], column, chosen, sensitive=is_sensitive)
        described[column.name] = {
            **feature,
            "sensitive": is_sensitive,
            "input": is_input,
            **chosen,
        }
    _check_inputs(
        described, [column for column in looked_at if column.name not in described], known_answers
    )
    notes += notes_on_missing_codes(
        [column for column in looked_at if column.name in described], given
    )
    notes += notes_on_spellings(
        {
            name: feature
            for name, feature in described.items()
            if name in sensitive and "values" not in given.get(name, {})
        }
    )
    if times is None and not has_units:
        of_others = [column for column in columns if column.name not in sensitive]
        of_people = repeated_people(of_others, rows=len(frame))
        if of_people is not None:
            notes.append(note_on_repeated_people(of_people, rows=len(frame)))
    classes = classes_of(labels, favourable)
    favourable_labels = favourable_classes(classes, favourable)
    listed = ", ".join(classes)
    if favourable is None:
        notes.append(note_on_favourable(classes, favourable_labels[0]))
    elif len(favourable_labels) > 1:
        together = ", ".join(favourable_labels)
        notes.append(f"the labels {together} of {listed} are favourable together")
    described_label: dict[str, Any] = {
        "column": label,
        "favourable": favourable_labels if len(favourable_labels) > 1 else favourable_labels[0],
        "values": classes,
    }
    if known_outcome is not None:
        described_label["outcome"] = known_outcome
    specification = validated(
        DatasetSpecification,
        {
            "dataset": {"name": _short_name(name), "title": name},
            "label": described_label,
            "features": described,
            **({"parse": {"missing": ["", MISSING]}} if with_texts else {}),
        },
        where="the guessed description",
    )
    return Inferred(specification=specification, columns=columns, notes=tuple(notes))


def _inferred(
    cells: pd.Series[Any], times: NDArray[Any] | None, *, sensitive: bool
) -> InferredColumn:
    """Return what a column of a table is taken for, with the numbers that may be missing values."""
    column = infer_column(cells)
    if column.kind in ("integer", "decimal"):
        # Imported here: many tables have a description.
        from testsgd.data.missing_codes import missing_codes

        return replace(column, codes=missing_codes(cells, times))
    return _of_many_values(cells, column, times) if sensitive else column


def _of_many_values(
    cells: pd.Series[Any], column: InferredColumn, times: NDArray[Any] | None
) -> InferredColumn:
    """Return what a sensitive column is taken for: categories, if its many texts are frequent."""
    if column.kind not in ("text", "identifier") or pd.api.types.is_numeric_dtype(cells.dtype):
        return column
    known = cells.notna().to_numpy()
    rows = int(known.sum() if times is None else times[known].sum())
    if column.distinct > MOST_VALUES or rows < _ROWS_OF_A_VALUE * column.distinct:
        return column
    each = f"each in {rows / column.distinct:,.0f} rows on average"
    why = f"{column.distinct:,} different values, {each}"
    if column.unread is not None:
        why = f"{why}; {column.unread.seen}"
    return replace(column, kind="categorical", why=why)


def _with_example(column: InferredColumn, example: str | None) -> InferredColumn:
    """Return what a column was taken for, with how its numbers were written."""
    return column if example is None else replace(column, why=f"{column.why}, written as {example}")


def _check_named(what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ParameterError(
                f"there is no column {name!r}",
                where=what,
                remedy=f"the columns are {shown_columns(known)}",
                column=name,
            )
    if what == "sensitive" and not names:
        raise ParameterError(
            "no sensitive feature is named",
            where=what,
            remedy=f"name some of {', '.join(list(known)[:20])}",
        )


def _check_inputs(
    described: Mapping[str, Mapping[str, Any]],
    left_out: Sequence[InferredColumn],
    answers: Mapping[str, str],
) -> None:
    """Raise an error if columns are left out and no input of the model is a feature therefore."""
    if not left_out or any(feature["input"] for feature in described.values()):
        return
    reasons = []
    for column in left_out[:_SHOWN_INPUTS]:
        kind = f"is taken for a column of kind {column.kind}"
        if column.name in answers:
            kind = "is no feature"
        missing = f", and missing in {column.missing:,} rows" if column.missing else ""
        reasons.append(f"{column.name} {kind} ({column.why}{missing})")
    more = len(left_out) - len(reasons)
    others = f"; {more:,} more are left out" if more else ""
    raise ParameterError(
        f"no input of the model can be varied: {'; '.join(reasons)}{others}",
        where="inputs of the model",
        remedy="give rows in which an input has different values, or say what an input may be, by "
        "its type and its range or values, in a description (testsgd init; in Python in features); "
        "or audit a column of what the model decides, with --predictions or audit_predictions: "
        "then nothing is varied",
    )


def joined(frame: pd.DataFrame, specification: DatasetSpecification) -> pd.DataFrame:
    """Return rows in which values are joined as a description's `map` says.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows, with a column for each feature that has a `map`. Not changed.
    specification : DatasetSpecification
        The description.

    Returns
    -------
    pandas.DataFrame
        A copy with the features that have a `map` as texts; all other columns as they are.

    Examples
    --------
    >>> letters = pd.DataFrame({"letter": list("abc")})
    >>> guessed = infer_specification(
    ...     letters, sensitive=["letter"], label="y", labels=pd.Series([0, 1, 1]), features={
    ...         "letter": {"values": ["a", "other"], "map": {"b": "other", "c": "other"}}})
    >>> joined(letters, guessed.specification)["letter"].tolist()
    ['a', 'other', 'other']
    """
    replaced = {
        name: renamed(frame[name].map(category_text, na_action="ignore"), feature.map)
        for name, feature in specification.features.items()
        if feature.map
    }
    return frame.assign(**replaced)


# What people name columns whose groups are compared.
_SENSITIVE_NAME = re.compile(
    r"(^|[^a-z])(sex|genders?|races?|ethnic\w*|age|nationality|citizen\w*|religion|disab\w*|"
    r"marital\w*|origin)([^a-z]|$)"
)


def sensitive_by_name(columns: Sequence[str]) -> list[str]:
    """Return columns whose names sound like sensitive features, for an example.

    Parameters
    ----------
    columns : sequence of str
        Names of columns.

    Returns
    -------
    list of str
        The first three of them; the first three columns if there are none.

    Examples
    --------
    >>> sensitive_by_name(["id", "Age_years", "income", "Gender"])
    ['Age_years', 'Gender']
    >>> sensitive_by_name(["wage", "hours"])
    ['wage', 'hours']
    """
    named = [name for name in columns if _SENSITIVE_NAME.search(name.lower())]
    return (named or list(columns))[:3]


def _short_name(name: str) -> str:
    """Return a name of letters, digits, - and _."""
    short = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_")
    return short or "data"
