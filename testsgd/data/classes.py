"""The classes of labels and predictions, which is the favourable one, and what it is to people."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

import numpy as np
import pandas as pd

from testsgd.data.categories import MOST_CATEGORIES, category_text, equal_labels
from testsgd.data.guessed_features import ordered_values
from testsgd.data.schema import Outcome
from testsgd.errors import DataError, ParameterError

# The way out for numbers that are no classes.
_BY_METRICS = "compare numbers by metrics (--metrics mean, testsgd.audit_model_by_metrics)"
# What the favourable one of two classes is mostly called, in small letters.
_FAVOURABLE = frozenset(
    {
        "1",
        "1.0",
        "true",
        "yes",
        "y",
        "approve",
        "approved",
        "grant",
        "granted",
        "accept",
        "accepted",
        "good",
    }
)
# As many are named in an error.
_MOST_NAMED = 4
# A comparison with a number, which may have a unit, such as <=50K, >= $1,000 or < 5 years.
_COMPARISON = re.compile(r"([<>]=?|[≤≥])\s*([^<>=≤≥]+)")
# What a guess is called by, and known again.
_GUESS = "a guess, as it is the larger side"


def classes_of(labels: pd.Series[Any], favourable: Any = None) -> list[str]:
    """Return the classes that labels or predictions have, in order.

    What categories list counts where a row has it; all of it does where there is one class only
    without, or where the favourable class is one that no row has.

    Parameters
    ----------
    labels : pandas.Series
        Labels or predictions of any type; missing ones are passed over.
    favourable : object, or list of these, optional
        As for :func:`favourable_classes`.

    Returns
    -------
    list of str
        Numbers by size, categories in the order of their type, texts by the alphabet.

    Raises
    ------
    ParameterError
        If there are fewer than two or more than 200, or they are decimal numbers.

    Examples
    --------
    >>> classes_of(pd.Series([1, 0, 1]))
    ['0', '1']
    >>> classes_of(pd.Series(pd.Categorical([0, 0], categories=[0, 1])))
    ['0', '1']
    """
    present = labels.dropna()
    where = "label" if labels.name is None else f"label {str(labels.name)!r}"
    if pd.api.types.is_float_dtype(present.dtype) and (present % 1 != 0).any():
        raise ParameterError(
            "the labels are decimal numbers, not classes",
            where=where,
            remedy=f"give classes, such as score > 0.5, or {_BY_METRICS}",
        )
    classes = ordered_values(present)
    listed = _listed_classes(labels)
    unseen = set(listed) - set(classes)
    named = [] if favourable is None else _named(favourable, listed)
    if len(classes) < 2 or not unseen.isdisjoint(map(category_text, named)):
        classes = listed or classes
    if len(classes) < 2:
        raise ParameterError(
            f"there is one class only: {', '.join(classes) or 'none'}",
            where=where,
            remedy="if others are possible, give a pandas Categorical that lists all of them, such "
            "as pd.Categorical(labels, categories=[0, 1])",
            only_class=classes,
        )
    if len(classes) > MOST_CATEGORIES:
        raise ParameterError(
            f"there are {len(classes):,} different labels",
            where=where,
            remedy=f"give classes, not numbers or identifiers, or {_BY_METRICS}",
        )
    return classes


# What can be done in place of adding rows.
OTHER_COLUMN = "name another column with --label"
LABELS_BESIDE = "name a column of true labels that has others with --label"
LABELS_LEFT_OUT = "leave --label out, so that the model says which classes there are"


@contextmanager
def classes_of_file(where: str, *, instead: str) -> Iterator[None]:
    """Raise errors about one class only with a remedy for a file, which lists no categories.

    Parameters
    ----------
    where : str
        The file, and the column if it is known.
    instead : str
        What else than to add rows can be done, as the end of a sentence.

    Raises
    ------
    ParameterError
        In place of that of :func:`classes_of`; others are raised as they are.

    Examples
    --------
    >>> with classes_of_file("people.csv", instead=OTHER_COLUMN):
    ...     classes_of(pd.Series(["no", "no"]))
    Traceback (most recent call last):
        ...
    testsgd.errors.ParameterError: people.csv: there is one class only: no; add rows of another ...
    """
    try:
        yield
    except ParameterError as error:
        if "only_class" not in error.details:
            raise
        raise ParameterError(
            error.what,
            where=where,
            remedy=f"add rows of another class to the file, or {instead}",
            **error.details,
        ) from error


def _listed_classes(labels: pd.Series[Any]) -> list[str]:
    """Return the classes that categories list, whether a row has them or not; none of others."""
    if not isinstance(labels.dtype, pd.CategoricalDtype):
        return []
    return [category_text(value) for value in labels.dtype.categories]


def classes_together(predicted: pd.Series[Any], true: pd.Series[Any]) -> pd.Series[Any]:
    """Return predictions and true labels in one series, from which their classes are seen.

    Parameters
    ----------
    predicted, true : pandas.Series
        Classes of any type, written alike.

    Returns
    -------
    pandas.Series
        Of their type if that is one; else texts, which are categories if one of them is.

    Examples
    --------
    >>> all_denied = pd.Series(pd.Categorical([0, 0], categories=[0, 1]))
    >>> classes_of(classes_together(all_denied, pd.Series([0, 0])))
    ['0', '1']
    """
    if predicted.dtype == true.dtype:
        together: pd.Series[Any] = pd.concat([predicted, true])
        return together
    parts = [
        part.astype(object).map(category_text, na_action="ignore") for part in (predicted, true)
    ]
    texts: pd.Series[Any] = pd.concat(parts)
    listed = {*_listed_classes(predicted), *_listed_classes(true)}
    if not listed:
        return texts
    return texts.astype(pd.CategoricalDtype(sorted(listed.union(texts.dropna()))))


def booleans_as_numbers(
    first: pd.Series[Any], second: pd.Series[Any]
) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Return two series of classes, False and True as 0 and 1 if the other one is of 0 and 1.

    Parameters
    ----------
    first, second : pandas.Series
        Classes that are to be compared, such as labels and predictions.

    Returns
    -------
    first, second : pandas.Series
        As given, but for booleans that the other series has as numbers; either may be texts.

    Examples
    --------
    >>> first, second = booleans_as_numbers(pd.Series([True, False]), pd.Series([1, 0]))
    >>> first.tolist(), second.tolist()
    ([1, 0], [1, 0])
    """
    if _are_equal_labels(first, second):
        return _as_zeros_and_ones(first), second
    if _are_equal_labels(second, first):
        return first, _as_zeros_and_ones(second)
    return first, second


def _are_equal_labels(booleans: pd.Series[Any], numbers: pd.Series[Any]) -> bool:
    """Return whether classes are False and True, and the others the same labels as 0 and 1."""
    texts = _two_texts(booleans)
    same = equal_labels(_two_texts(numbers))
    return bool(texts) and "True" in same and texts <= set(same)


def _two_texts(classes: pd.Series[Any]) -> set[str]:
    """Return the texts of classes, if these are one or two; missing ones are passed over."""
    different = classes.dropna().unique()
    return set(map(category_text, different)) if len(different) <= 2 else set()


def _as_zeros_and_ones(booleans: pd.Series[Any]) -> pd.Series[Any]:
    """Return False and True, or their texts, as the numbers 0 and 1."""
    if _listed_classes(booleans) in (["False", "True"], ["True", "False"]):
        return booleans.cat.rename_categories(lambda value: int(category_text(value) == "True"))
    codes, different = pd.factorize(booleans)
    # The last number is that of missing ones, whose code is -1.
    numbers = np.array([*(int(category_text(value) == "True") for value in different), -1])
    answers = pd.Series(numbers[codes], index=booleans.index, name=booleans.name)
    return answers.astype("Int64").mask(codes < 0) if (codes < 0).any() else answers


def check_known_classes(predicted: pd.Series[Any], true: pd.Series[Any]) -> None:
    """Check that each prediction is one of the classes of the true labels, if these are several.

    Parameters
    ----------
    predicted, true : pandas.Series
        Classes of any type; missing ones are passed over. The classes of true labels that are
        categories are all that their type lists, whether a row has them or not.

    Raises
    ------
    DataError
        If a prediction is no class of the true labels, and these have two or more.

    Examples
    --------
    >>> check_known_classes(pd.Series(["no", "yes"]), pd.Series(["yes", "no"]))
    >>> check_known_classes(pd.Series(["no", "Yes."]), pd.Series(["yes", "no"]))
    Traceback (most recent call last):
        ...
    testsgd.errors.DataError: predictions: 'Yes.' is none of the true labels no, yes; ...
    """
    declared = true.dtype.categories if isinstance(true.dtype, pd.CategoricalDtype) else ()
    known = {category_text(value) for value in [*declared, *true.dropna().unique()]}
    unknown = sorted({category_text(value) for value in predicted.dropna().unique()} - known)
    if unknown and len(known) > 1:
        raise DataError(
            f"{unknown[0]!r} is none of the true labels {', '.join(sorted(known)[:8])}",
            where="predictions",
            remedy="correct the predictions; or, if it is a rare class, make the true labels "
            "categories that list it",
            unknown=unknown,
        )


def favourable_classes(classes: Sequence[str], favourable: Any) -> tuple[str, ...]:
    """Return the classes that count as favourable: one, or several together.

    Parameters
    ----------
    classes : sequence of str
        All classes.
    favourable : object, or list of these, optional
        One class, or several; a text with commas is several, unless it is a class itself. Without
        it the one that is favourable by its name.

    Returns
    -------
    tuple of str
        In the order of `classes`; at least one and not all.

    Raises
    ------
    ParameterError
        If one is no class, they are all or none of them, or none is favourable by its name.

    Examples
    --------
    >>> favourable_classes(["A", "B", "C"], ["B", "A"])
    ('A', 'B')
    >>> favourable_classes(["A", "B", "C"], "A,C"), favourable_classes(["A,C", "B"], "A,C")
    (('A', 'C'), ('A,C',))
    >>> favourable_classes(["A", "B", "C", "D"], ["A,B", "D"])
    ('A', 'B', 'D')
    """
    is_list = isinstance(favourable, (list, tuple, set, frozenset))
    several = _named(favourable, classes)
    if not is_list and several == [favourable]:
        return (favourable_class(classes, favourable),)
    chosen = {favourable_class(classes, one) for one in several}
    if not chosen or len(chosen) == len(classes):
        raise ParameterError(
            f"{len(chosen)} of {len(classes)} classes are favourable",
            where="favourable",
            remedy=f"list some of {', '.join(classes)}, not all",
        )
    return tuple(name for name in classes if name in chosen)


def _named(favourable: Any, classes: Sequence[str]) -> list[Any]:
    """Return the classes that are named as favourable, one by one; None if none is."""
    is_list = isinstance(favourable, (list, tuple, set, frozenset))
    listed = favourable if is_list else [favourable]
    return [part for one in listed for part in _parts(one, classes)]


def _parts(favourable: Any, classes: Sequence[str]) -> list[Any]:
    """Return the classes that a text lists with commas; what is no such text by itself."""
    if isinstance(favourable, str) and favourable not in classes and "," in favourable:
        return [part.strip() for part in favourable.split(",") if part.strip()]
    return [favourable]


def favourable_class(classes: Sequence[str], favourable: Any) -> str:
    """Return the class whose rate is compared: the one that is named, or is so by its name.

    Raises
    ------
    ParameterError
        If it is no class, or none is so by its name.

    Examples
    --------
    >>> favourable_class(["0", "1"], None), favourable_class(["bad", "fair", "good"], "fair")
    ('1', 'fair')
    """
    if favourable is not None:
        chosen = category_text(favourable)
        if chosen not in classes:
            raise ParameterError(
                f"there is no label {chosen!r}",
                where="favourable",
                remedy=f"choose one of {', '.join(classes)}",
            )
        return chosen
    small = {name: name.strip().casefold() for name in classes}
    # "T" alone may be anything, such as treated people.
    known = {"t"} if sorted(small.values()) == ["f", "t"] else _FAVOURABLE
    matches = [name for name in classes if small[name] in known]
    if len(classes) == 2 and len(matches) == 1:
        return matches[0]
    if (larger := larger_side(classes)) is not None:
        return larger
    raise ParameterError(
        f"which of the labels {', '.join(classes[:12])} is the favourable one is not clear",
        where="favourable",
        # To name one only would be advice.
        remedy=f"name it: {_each_named(classes)}",
        labels=tuple(classes),
    )


def is_favourable_by_name(classes: Sequence[str], favourable: str) -> bool:
    """Return whether a class would be taken for the favourable one if none were named.

    Examples
    --------
    >>> is_favourable_by_name(["no", "yes"], "yes"), is_favourable_by_name(["no", "yes"], "no")
    (True, False)
    """
    try:
        return favourable_class(classes, None) == favourable
    except ParameterError:
        return False


def _each_named(classes: Sequence[str]) -> str:
    """Return how each class is named as the favourable one, of many the first ones."""
    options = [f"--favorable {shlex.quote(name)}" for name in classes[:_MOST_NAMED]]
    more = " ..." if len(classes) > len(options) else ""
    return f"{' or '.join(options)}{more} (favourable= in Python)"


def larger_side(classes: Sequence[str]) -> str | None:
    """Return the class above the number if two classes are the two sides of one, or None.

    Examples
    --------
    >>> larger_side(["<=50K", ">50K"]), larger_side(["<5", ">=5"]), larger_side(["<5", ">6"])
    ('>50K', '>=5', None)
    """
    sides = [side for name in classes if (side := _COMPARISON.fullmatch(name.strip()))]
    if len(classes) != 2 or len(sides) != 2:
        return None
    are_above = [side[1][0] in ">≥" for side in sides]
    number, other = ("".join(side[2].split()).casefold() for side in sides)
    if number != other or not re.search(r"\d", number) or are_above[0] == are_above[1]:
        return None
    return classes[are_above.index(True)]


def note_on_favourable(classes: Sequence[str], favourable: str) -> str:
    """Return the sentence that says which class was taken for the favourable one.

    Examples
    --------
    >>> note_on_favourable(["no", "yes"], "yes")
    '“yes” is taken for the favourable label of no, yes'
    """
    note = f"“{favourable}” is taken for the favourable label of {', '.join(classes)}"
    if favourable != larger_side(classes):
        return note
    other = next(name for name in classes if name != favourable)
    option = f"--favorable {shlex.quote(other)} (favourable={other!r})"
    return f"{note}: {_GUESS}; for the other one write {option}"


def guess_among(notes: Sequence[str]) -> str | None:
    """Return the note that says that the favourable label is only a guess, or None.

    Examples
    --------
    >>> guess_among([note_on_favourable(["no", "yes"], "yes")]) is None
    True
    """
    return next((note for note in notes if _GUESS in note), None)


def checked_outcome(given: str | None) -> Outcome | None:
    """Return the outcome of a label that a user gives, checked; None if there is none.

    Parameters
    ----------
    given : str, optional
        One of benefit, harm and neither, as ``outcome`` of a description's ``[label]``.

    Returns
    -------
    {"benefit", "harm", "neither"} or None

    Raises
    ------
    ParameterError
        If it is none of the three.

    Examples
    --------
    >>> checked_outcome("harm")
    'harm'
    """
    if given is None:
        return None
    for outcome in get_args(Outcome):
        if given == outcome:
            known: Outcome = outcome
            return known
    raise ParameterError(
        f"{given!r} is not what a label can be for a person",
        where="outcome",
        remedy=f"write one of {', '.join(get_args(Outcome))}",
        name="outcome",
    )
