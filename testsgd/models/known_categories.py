"""Which categories the encoders of a scikit-learn model were fitted to, and which cells are none.

An encoder with ``handle_unknown="ignore"`` takes a category that it was not fitted to for unknown,
without a word.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

# Attributes in which a fitted wrapper has what it asks.
_WRAPPED = ("best_estimator_", "estimator_", "estimator")


def known_categories(model: Any, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return the categories that the encoders of a model know of each column.

    Encoders are found in pipelines, transformers of columns, unions of features, and models that
    wrap these. One behind a step that may change its cells is left out.

    Parameters
    ----------
    model : object
        A fitted estimator of scikit-learn, its method, or anything else.
    columns : sequence of str
        The columns that it is given, in its order.

    Returns
    -------
    dict of str to list
        Of columns that are encoded; those of several encoders of one column together. Empty if
        there is no encoder that can be read.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> people = pd.DataFrame({"job": ["clerk", "nurse "], "grade": [1, 2]})
    >>> known = known_categories(OneHotEncoder().fit(people), ["job", "grade"])
    >>> [str(job) for job in known["job"]], [int(grade) for grade in known["grade"]]
    (['clerk', 'nurse '], [1, 2])
    >>> known_categories(len, ["job"])
    {}
    """
    known: dict[str, list[Any]] = {}
    # A property of a foreign class may raise anything, and what cannot be read is left out.
    with contextlib.suppress(Exception):
        for name, categories in _encoded(getattr(model, "__self__", model), tuple(columns)):
            known[name] = list(dict.fromkeys([*known.get(name, []), *categories]))
    return known


@dataclass(frozen=True)
class UnknownCells:
    """The cells of a column that no encoder of the model was fitted to."""

    column: str
    values: tuple[Any, ...]  # Each once, the most frequent first.
    rows: int  # In how many rows they are.


def unknown_cells(frame: pd.DataFrame, known: Mapping[str, Sequence[Any]]) -> list[UnknownCells]:
    """Return the cells that are none of the categories that are known; missing ones do not count.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows, as the model is given them.
    known : mapping of str to sequence
        The categories of columns, as :func:`known_categories` returns them.

    Returns
    -------
    list of UnknownCells
        Of columns that have any.

    Examples
    --------
    >>> jobs = pd.DataFrame({"job": ["clerk", "nurse", None, "nurse"]})
    >>> unknown_cells(jobs, {"job": ["clerk", "nurse "]})
    [UnknownCells(column='job', values=('nurse',), rows=2)]
    """
    found = []
    for name, categories in known.items():
        if name not in frame:
            continue
        among = set(categories)
        counts = frame[name].value_counts()
        unknown = {value: rows for value, rows in counts.items() if rows > 0 and value not in among}
        if unknown:
            found.append(UnknownCells(name, tuple(unknown), int(sum(unknown.values()))))
    return found


def most_alike(values: Sequence[Any], categories: Sequence[Any]) -> list[Any]:
    """Return categories, first those that differ from one of some values only in how it is written.

    Examples
    --------
    >>> most_alike(["nurse"], ["clerk", "nurse "]), most_alike(["02"], [1, 2])
    (['nurse ', 'clerk'], [2, 1])
    """
    wanted = {_bare(value) for value in values}
    present = [value for value in categories if not pd.isna(value)]
    return sorted(present, key=lambda value: _bare(value) not in wanted)


def _bare(value: Any) -> Any:
    """Return a category without what may be written in several ways: blanks, case, zeros."""
    text = str(value).strip().lower()
    with contextlib.suppress(ValueError):
        return float(text)
    return text


def _encoded(
    step: Any, names: tuple[str, ...], filled: tuple[Any, ...] = ()
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the columns that a step encodes, with the categories that it knows.

    `names`: of the columns that the step is given; `filled`: what another value was put in for.
    """
    if hasattr(step, "categories_"):
        if len(step.categories_) == len(names):
            for name, categories in zip(names, step.categories_, strict=True):
                # Dates are compared by their units, too.
                if getattr(categories, "dtype", None) is None or categories.dtype.kind not in "mM":
                    yield name, [*categories, *filled]
    elif hasattr(step, "transformers_"):
        for _, transformer, columns in step.transformers_:
            yield from _encoded(transformer, _chosen(columns, names), filled)
    elif hasattr(step, "transformer_list"):
        for _, transformer in step.transformer_list:
            yield from _encoded(transformer, names, filled)
    elif hasattr(step, "steps"):
        for _, part in step.steps:
            yield from _encoded(part, names, filled)
            if type(part).__name__ == "SimpleImputer" and not part.add_indicator:
                gap = part.missing_values
                filled = filled if pd.isna(gap) else (*filled, gap)
            elif part is not None and part != "passthrough":
                # What comes behind it may be given other cells.
                break
    elif hasattr(step, "calibrated_classifiers_"):
        for calibrated in step.calibrated_classifiers_:
            yield from _encoded(calibrated.estimator, names, filled)
    elif hasattr(step, "named_estimators_"):
        for part in step.named_estimators_.values():
            yield from _encoded(part, names, filled)
    else:
        for attribute in _WRAPPED:
            if hasattr(step, attribute):
                yield from _encoded(getattr(step, attribute), names, filled)
                break


def _chosen(columns: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the columns that a transformer of columns gives to one of its parts."""
    listed = pd.Series(names, index=names)
    is_one = isinstance(columns, (str, int))
    if isinstance(columns, slice):
        by_name = isinstance(columns.start, str) or isinstance(columns.stop, str)
    else:
        columns = [columns] if is_one else list(columns)
        by_name = all(isinstance(column, str) for column in columns)
    return tuple(listed.loc[columns] if by_name else listed.iloc[columns])
