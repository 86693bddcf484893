"""Notes on columns and rows that may be meant otherwise than they are taken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

from testsgd.data.categories import MISSING

if TYPE_CHECKING:
    from testsgd.data.inference import InferredColumn
    from testsgd.data.missing_codes import MissingCodes
    from testsgd.data.unread_numbers import UnreadNumbers

Found = TypeVar("Found")

# How much is said in one sentence.
_SHOWN_COLUMNS = 5
_SHOWN_VALUES = 3
_LONGEST = 40
# What only these notes say.
_UNREAD = "is taken for a column of texts"
_CODES = "far from all others ("
_SPELLINGS = "which differ only in case or blanks"
_REPEATED = "if the rows of one value are about one person"
_COPIES = "are copies of others, more than chance makes"
# Keys of a description that say what kind a feature is, and which cells there are.
_KIND_DECLARED = frozenset({"type", "values", "map"})
_CELLS_DECLARED = frozenset({"values", "map", "range"})
# Names of columns that say of which person a row is.
_OF_A_PERSON = re.compile(
    r"(.*[_\W])?(applicant|borrower|candidate|client|customer|employee|member|patient|person|student|"
    r"subject|user)[_\W]?(ids?|key|no|nr|num|number)|p?id|ssn|uuid",
    re.IGNORECASE,
)
# Fewer are groups rather than people; with fewer rows each it changes little.
_FEWEST_PEOPLE = 20
_ROWS_A_PERSON = 1.5


def note_on_unread_numbers(columns: Mapping[str, UnreadNumbers]) -> str:
    """Return the sentence that says which columns are taken for texts though they hold numbers.

    Parameters
    ----------
    columns : mapping of str to UnreadNumbers
        At least one, by name.

    Returns
    -------
    str

    Examples
    --------
    >>> from testsgd.data.unread_numbers import unread_numbers
    >>> ages = unread_numbers({**{str(age): 2 for age in range(20, 40)}, "k.A.": 3})
    >>> assert ages is not None
    >>> note_on_unread_numbers({"age": ages}).partition(":")[0]
    'age is taken for a column of texts, as 40 of 43 cells are numbers, but not “k.A.”'
    """
    shown = _first(columns)
    parts = [f"{name} {_UNREAD}, as {unread.seen}" for name, unread in shown.items()]
    remedies = dict.fromkeys(unread.remedy for unread in shown.values())
    more = len(columns) - len(shown)
    others = f"; so are {more:,} more" if more else ""
    return f"{'; '.join(parts)}{others}: {'; '.join(remedies)}"


def note_on_missing_codes(columns: Mapping[str, MissingCodes]) -> str:
    """Return the sentence that says which columns have numbers that may stand for missing values.

    Parameters
    ----------
    columns : mapping of str to MissingCodes
        At least one, by name.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.data.missing_codes import missing_codes
    >>> ages = missing_codes(pd.Series([*range(18, 80), *[-999] * 5]))
    >>> assert ages is not None
    >>> note_on_missing_codes({"age": ages}).partition(":")[0]
    'age is -999 in 7.5% of the rows, far from all others (18 to 79)'
    """
    shown = _first(columns)
    parts = [f"{name} is {codes.seen}" for name, codes in shown.items()]
    more = len(columns) - len(shown)
    others = f"; so are numbers in {more:,} more columns" if more else ""
    meant = "they stand for missing values, replace them by empty cells"
    them = "them"
    if len(columns) == 1 and all(len(codes.rows) == 1 for codes in shown.values()):
        meant = "it stands for a missing value, replace it by an empty cell"
        them = "it"
    return (
        f"{'; '.join(parts)}{others}: if {meant}, or write a description (testsgd init) with "
        f"{them} under [parse] missing (in Python: replace {them} by NaN)"
    )


def spelled_alike(values: Iterable[str]) -> list[tuple[str, ...]]:
    """Return which values differ only in upper and lower case or in blanks.

    Parameters
    ----------
    values : iterable of str
        The values of a feature, each once.

    Returns
    -------
    list of tuple of str
        Two values or more each.

    Examples
    --------
    >>> spelled_alike(["Female", "Male", "female", "Female "])
    [('Female', 'female', 'Female ')]
    """
    together: dict[str, list[str]] = {}
    for value in values:
        together.setdefault(" ".join(value.split()).casefold(), []).append(value)
    return [tuple(alike) for alike in together.values() if len(alike) > 1]


def note_on_spellings(features: Mapping[str, Sequence[tuple[str, ...]]]) -> str:
    """Return the sentence that says which features have values that differ only in spelling.

    Parameters
    ----------
    features : mapping of str to sequence of tuple of str
        At least one, by name, with what :func:`spelled_alike` found.

    Returns
    -------
    str

    Examples
    --------
    >>> note_on_spellings({"sex": [("F", "f")]}).partition(":")[0]
    '“F” and “f” of sex, which differ only in case or blanks, are different values'
    """
    shown = _first(features)
    more = len(features) - len(shown)
    others = f"; so are some of {more:,} more features" if more else ""
    parts = [
        f"{'; '.join(map(_listed, found[:_SHOWN_VALUES]))} of {name}"
        for name, found in shown.items()
    ]
    return (
        f"{'; '.join(parts)}, {_SPELLINGS}, are different values{others}: if they mean the same, "
        "join them in the file, or by `map` in a description (testsgd init; in Python in features)"
    )


def advice_on_spellings(found: Sequence[tuple[str, ...]]) -> str:
    """Return what joins such values in a description, in words.

    Examples
    --------
    >>> advice_on_spellings([("F", "f")])
    'if “F” and “f” mean the same: add map = { "f" = "F" } and leave "f" out of values'
    """
    from testsgd.io import toml_text

    joined = {value: first for first, *rest in found for value in rest}
    pairs = ", ".join(f"{toml_text(old)} = {toml_text(new)}" for old, new in joined.items())
    return (
        f"if {'; '.join(map(_listed, found))} mean the same: add map = {{ {pairs} }} and leave "
        f"{', '.join(map(toml_text, joined))} out of values"
    )


def notes_on_unread_numbers(
    columns: Sequence[InferredColumn], given: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return the sentence on columns that are texts though nearly all cells are numbers, if any.

    `given`: the parts of the features' descriptions that are given.
    """
    found = {column.name: column.unread for column in columns if column.unread is not None}
    unread = {
        name: seen
        for name, seen in found.items()
        if given.get(name, {}).keys().isdisjoint(_KIND_DECLARED)
    }
    return [note_on_unread_numbers(unread)] if unread else []


def notes_on_missing_codes(
    columns: Sequence[InferredColumn], given: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return the sentence on columns with numbers that may stand for missing values, if any.

    `given`: the parts of the features' descriptions that are given.
    """
    found = {
        column.name: column.codes
        for column in columns
        if column.codes is not None
        and given.get(column.name, {}).keys().isdisjoint(_CELLS_DECLARED)
    }
    return [note_on_missing_codes(found)] if found else []


def notes_on_spellings(described: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the sentence on sensitive features of which values differ only in spelling, if any.

    `described`: the descriptions of the features whose values were not given.
    """
    alike = {
        name: spelled_alike(feature.get("values") or ()) for name, feature in described.items()
    }
    found = {name: together for name, together in alike.items() if together}
    return [note_on_spellings(found)] if found else []


def repeated_people(columns: Sequence[InferredColumn], *, rows: int) -> InferredColumn | None:
    """Return the column that says by its name of which person a row is; None if there is none.

    It counts only if people have several rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.data.inference import infer_column
    >>> people = pd.Series([f"p{row % 40}" for row in range(400)], name="person_id")
    >>> repeated_people([infer_column(people)], rows=400).name
    'person_id'
    """
    for column in columns:
        known = rows - column.missing
        repeated = column.distinct >= _FEWEST_PEOPLE and known >= _ROWS_A_PERSON * column.distinct
        if repeated and _OF_A_PERSON.fullmatch(column.name):
            return column
    return None


def note_on_repeated_people(column: InferredColumn, *, rows: int) -> str:
    """Return the sentence that rows of one person are no independent units."""
    known = rows - column.missing
    return (
        f"{column.name} has {column.distinct:,} different values in {known:,} rows: "
        f"{_REPEATED}, intervals are too narrow; name the column (--cluster {quote(column.name)}, "
        f"clusters={column.name!r}), or in a description as cluster under [data]"
    )


def note_on_copies(*, rows: int, different: int) -> str:
    """Return the sentence that rows repeat others where each is taken for a unit.

    Examples
    --------
    >>> note_on_copies(rows=12_000, different=2_400)[:64]
    '9,600 of 12,000 rows are copies of others, more than chance make'
    """
    return (
        f"{rows - different:,} of {rows:,} rows {_COPIES}: intervals of metrics take each row for "
        "a unit, so they are too narrow; compare one rate without metrics, where copies count "
        "once, or leave the copies out of the file"
    )


def note_on_missing_texts(columns: Sequence[str]) -> str:
    """Return the sentence that says in which columns a text is read as a missing value."""
    shown = ", ".join(columns[:12]) + (", ..." if len(columns) > 12 else "")
    return f"the text “{MISSING}” in {shown} is read as a missing value"


def column_notes_among(notes: Sequence[str]) -> list[str]:
    """Return those of some notes that the functions above write."""
    marks = (_UNREAD, _CODES, _SPELLINGS, _REPEATED, _COPIES)
    return [note for note in notes if any(mark in note for mark in marks)]


def shortened(text: str) -> str:
    """Return a text, cut if it is long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _first(columns: Mapping[str, Found]) -> dict[str, Found]:
    return dict(list(columns.items())[:_SHOWN_COLUMNS])


def _listed(values: Sequence[str]) -> str:
    *first, last = [f"“{shortened(value)}”" for value in values]
    return f"{', '.join(first)} and {last}"
