"""A guessed description as TOML, with a comment a line that says what was guessed, and why."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from testsgd.data.categories import MISSING
from testsgd.data.cells import shown_columns
from testsgd.data.classes import (
    OTHER_COLUMN,
    classes_of_file,
    favourable_class,
    larger_side,
)
from testsgd.data.column_notes import advice_on_spellings, repeated_people, spelled_alike
from testsgd.data.frames import MISSING_TEXTS, is_typed_file, parsing_of, read_frame
from testsgd.data.inference import (
    Inferred,
    InferredColumn,
    infer_column,
    infer_specification,
    with_numbers,
)
from testsgd.data.missing_texts import without_missing_texts
from testsgd.data.schema import CellParsing, Feature
from testsgd.data.schema_parts import is_number
from testsgd.errors import ParameterError, printable
from testsgd.io import toml_text

# Names of columns that mostly hold protected attributes.
_SENSITIVE = re.compile(
    r"(^|[^a-z])(sex|gender|race|ethnic\w*|age|religion|nationality|disab\w*|marital\w*|"
    r"orientation)([^a-z]|$)",
    re.IGNORECASE,
)


def describe_file(
    path: Path,
    *,
    sensitive: Collection[str] = (),
    label: str | None = None,
    favourable: Any = None,
    encoding: str | None = None,
) -> str:
    r"""Return a description of a file of rows as TOML, to be corrected by hand.

    Parameters
    ----------
    path : path-like
        A file as :func:`testsgd.data.read_frame` reads it.
    sensitive : collection of str
        The sensitive features; if none is named, those that are so by their names.
    label : str, optional
        The column with the labels; if not given, the last one with two values.
    favourable : object, or list of these, optional
        The label whose rate is compared, or several together; if not given, the one that is
        favourable by its name, or that of the last row.
    encoding : str, optional
        As for :func:`testsgd.data.read_frame`; the description has it, too.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If no column is sensitive by its name, or none can be the label.
    DataError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_text("sex,income,approved\nf,30,no\nm,40,yes\nf,50,yes\n")
    ...     text = describe_file(file)
    >>> print(text[text.index("[features.sex]"):])
    [features.sex]
    type = "categorical" # 2 different values
    values = ["f", "m"]
    sensitive = true # by its name
    <BLANKLINE>
    [features.income]
    type = "integer" # whole numbers from 30 to 50
    range = [30, 50]
    <BLANKLINE>
    """
    path = Path(path)
    frame, emptied = _without_missing_texts(read_frame(path, encoding=encoding), label)
    frame, examples = with_numbers(frame)
    columns = [infer_column(frame[name]) for name in frame.columns]
    chosen = tuple(sensitive) or _sensitive_by_name(columns)
    classes = label or _label_by_values(columns, but=chosen)
    if classes not in frame:
        raise ParameterError(
            f"the file has no column {classes!r}",
            where="label",
            remedy=f"the columns are {shown_columns(frame.columns)}",
        )
    known = frame[classes].dropna()
    named = favourable is not None
    if not named:
        favourable = _favourable(known)
    with classes_of_file(f"{path}, column {classes!r}", instead=OTHER_COLUMN):
        guessed = infer_specification(
            frame,
            sensitive=chosen,
            label=classes,
            labels=known,
            name=path.name.partition(".")[0],
            favourable=favourable,
            examples=examples,
            emptied=emptied,
        )
    return _text(
        guessed,
        path,
        parsing_of(path, encoding),
        rows=len(frame),
        how_sensitive="named" if sensitive else "by its name",
        how_label="named" if label else "the last column with two values; correct it if it is not",
        how_favourable="named"
        if named
        else _how_favourable(favourable, guessed.specification.label.values or ()),
    )


def _without_missing_texts(
    frame: pd.DataFrame, label: str | None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return rows without the text `missing`, but where a label of two is called so."""
    read, columns = without_missing_texts(frame)
    if label in columns and read[label].nunique() < 2:
        return without_missing_texts(frame, but=[label])
    return read, columns


def _how_favourable(favourable: Any, classes: Sequence[str]) -> str:
    """Return how the favourable label was found: given by :func:`_favourable`, or by its name."""
    if favourable is not None:
        return "taken from the last row, as no label is named so; correct it if it is another"
    if larger_side(classes) is not None:
        return "a guess, as it is the larger side; correct it if it is the other one"
    return "by its name"


def _sensitive_by_name(columns: Collection[InferredColumn]) -> tuple[str, ...]:
    found = tuple(
        column.name for column in columns if column.is_feature and _SENSITIVE.search(column.name)
    )
    if found:
        return found
    raise ParameterError(
        "no column is called as a sensitive feature is, such as sex, race or age",
        where="sensitive",
        remedy=f"name some of {', '.join(column.name for column in columns)} with --sensitive",
    )


def _label_by_values(columns: Collection[InferredColumn], *, but: Collection[str]) -> str:
    found = [
        column.name
        for column in columns
        if column.is_feature and column.distinct == 2 and column.name not in but
    ]
    if found:
        return found[-1]
    raise ParameterError(
        "no column has two values, as labels have",
        where="label",
        remedy="name the column of the labels with --label",
    )


def _favourable(labels: pd.Series[Any]) -> Any:
    """Return the favourable label by its name, or the last one where none is."""
    present = sorted(map(str, labels.unique()))
    try:
        favourable_class(present, None)
    except ParameterError:
        return labels.iloc[-1]
    return None


def _text(
    guessed: Inferred,
    path: Path,
    parsing: CellParsing | None,
    *,
    rows: int,
    how_sensitive: str,
    how_label: str,
    how_favourable: str,
) -> str:
    specification = guessed.specification
    label = specification.label
    classes = label.values or []
    # A label may be called so.
    missing = [*MISSING_TEXTS, *([] if MISSING in classes else [MISSING])]
    lines = [
        f"# What the columns of {_comment(path.name)} are, guessed from their cells. "
        "Correct what is wrong.",
        "",
        "[dataset]",
        f"name = {_value(specification.name)}",
        "",
        "[[files]]",
        f"name = {_value(path.name)}",
        "",
        "[parse]",
        f"missing = {_value(missing)} # texts that stand for a missing value",
    ]
    # Labels that are favourable together have one name.
    joined = {label.favourable: label.together} if label.together else {}
    written = [part for value in classes for part in joined.get(value, (value,))]
    if parsing is not None:
        lines.append(f"separator = {_value(parsing.separator)}")
        if parsing.skip_rows:
            lines.append(f"skip_rows = {parsing.skip_rows} # its first line names the separator")
        if "encoding" in parsing.model_fields_set:
            lines.append(f"encoding = {_value(parsing.encoding)}")
    lines += [
        "",
        "[label]",
        f"column = {_value(label.column)} # {how_label}",
        f"values = {_value(written)}",
        *_codes(written),
        f"favourable = {_value(list(label.together) or label.favourable)} # the label whose rate "
        f"is compared; {how_favourable}",
        f"outcome = {_value(label.outcome)} # what that label is for a person: benefit, harm or "
        "neither; not guessed, correct it",
        *_cluster_lines(guessed.columns, rows),
    ]
    for column in guessed.columns:
        feature = specification.features.get(column.name)
        lines.append("")
        if feature is None:
            why = _comment(f"{column.name} is left out: {column.kind}, {column.why}")
            lines.append(f"# {why}")
            lines += _unread_lines(column)
        else:
            typed = is_typed_file(path)
            lines += _feature_lines(column, feature, how_sensitive=how_sensitive, typed=typed)
    return "\n".join(lines) + "\n"


def _cluster_lines(columns: Sequence[InferredColumn], rows: int) -> list[str]:
    """Return a table to take in if a column says of which person a row is; nothing if none does."""
    column = repeated_people(columns, rows=rows)
    if column is None:
        return []
    known = rows - column.missing
    why = (
        f"{column.name} has {column.distinct:,} different values in {known:,} rows: if the rows of "
        "one value are about one person, write the next two lines without #; else intervals are "
        "too narrow"
    )
    return [
        "",
        f"# {_comment(why)}",
        "# [data]",
        f"# {_comment(f'cluster = {_value(column.name)}')}",
    ]


def _codes(labels: Sequence[str]) -> list[str]:
    """Return the line, as a comment, that says which label each number of a model stands for."""
    if any(is_number(label) for label in labels):
        return []
    pairs = ", ".join(f"{code} = {_value(label)}" for code, label in enumerate(labels))
    return [f"# map = {{ {pairs} }} # if the model answers with numbers: which stands for what"]


def _feature_lines(
    column: InferredColumn, feature: Feature, *, how_sensitive: str, typed: bool
) -> list[str]:
    missing = f", missing in {column.missing:,} rows" if column.missing else ""
    lines = [
        f"[features.{_key(column.name)}]",
        f"type = {_value(feature.type)} # {_comment(column.why)}{missing}",
        *_unread_lines(column),
    ]
    if column.codes is not None:
        advice = column.codes.advice(sensitive=feature.sensitive, typed=typed)
        lines.append(f"# {_comment(f'{column.codes.seen}; {advice}')}")
    if feature.sensitive and (alike := spelled_alike(feature.values or ())):
        lines.append(f"# {_comment(advice_on_spellings(alike))}")
    if feature.values is not None:
        lines.append(f"values = {_value(feature.values)}")
    if feature.range is not None:
        lines.append(f"range = {_value(list(feature.range))}")
    if feature.edges is not None:
        lines.append(f"edges = {_value(feature.edges)} # about as many rows in each bin")
    if feature.sensitive:
        lines.append(f"sensitive = true # {how_sensitive}")
    return lines


def _unread_lines(column: InferredColumn) -> list[str]:
    """Return the comment that says how a column of texts is one of numbers, if nearly all are."""
    return [] if column.unread is None else [f"# {_comment(column.unread.advice)}"]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _comment(text: str) -> str:
    """Return the text of a comment in one line, of which nothing steers a terminal."""
    return printable(" ".join(text.split()))


def _value(value: object) -> str:
    """Return a value of TOML: JSON is, of texts, whole numbers and lists of them."""
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return toml_text(value) if isinstance(value, str) else json.dumps(value)
