"""What a model raised, as one error: where in the user's code, and what to do about it."""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from testsgd.errors import ModelError

_PACKAGE = Path(__file__).resolve().parents[1]
_LIBRARIES = tuple(
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
# Where pandas looks up the columns of a frame.
_FRAME_MODULE = "pandas.core.frame"
# How scikit-learn and its like say that the columns are not those of the training.
_OTHER_COLUMNS = re.compile(
    r"feature[ _]names|columns are missing|not a column of the dataframe"
    r"|(expecting|expected|expects) \d+ features|number of (features|columns)",
    re.IGNORECASE,
)
# The way out for models whose answers are no labels.
NUMBERS_REMEDY = (
    "compare numbers by metrics: --metrics mean, or testsgd.audit_model_by_metrics in Python"
)
# As many columns are listed.
_MOST_COLUMNS = 20
# Characters that are shown of what a model raised: it may hold all rows that it was asked about.
_MOST_CHARACTERS = 500


def model_failure(
    error: BaseException,
    *,
    where: str,
    takes: str,
    unit: str = "row",
    columns: Sequence[Any] = (),
    **details: Any,
) -> ModelError:
    """Return the error that says what a model raised when it was asked.

    Parameters
    ----------
    error : BaseException
        What the model raised.
    where : str
        The model, in words.
    takes : str
        What a model must accept, in words.
    unit : {"row", "text"}
        What it was asked about.
    columns : sequence of object
        The columns that it was given, of a model of rows.
    **details
        More parts of the error, as data. ``file`` and ``line`` are added if the error comes from
        the user's code.

    Returns
    -------
    ModelError
        To raise from `error`. What the model must accept is the advice only where the failure is
        about that.

    Examples
    --------
    >>> failure = model_failure(ValueError("no"), where="model 'mine'", takes="a data frame")
    >>> failure.what, failure.details
    ('the model raised ValueError: no', {})
    """
    what = f"the model raised {failure_text(error)}"
    place = user_place(error)
    if place is not None:
        details |= {"file": place[0], "line": place[1]}
    if is_about_input(error, columns):
        remedy = f"make it accept {takes}"
    else:
        call = "call it on data.head() to see the traceback"
        if unit == "text":
            call = f"call it on a few texts to see the traceback (it must accept {takes})"
        remedy = f"see {Path(place[0]).name}, line {place[1]}, or {call}" if place else call
        modules = [module for module, _, _ in _calls(error)]
        if isinstance(error, KeyError) and columns and modules[-1].startswith("pandas"):
            # It may be of a column that the model took out of the frame in another way.
            remedy += f"; it is given the columns {listed_columns(columns)}"
    return ModelError(what, where=where, remedy=remedy, **details)


def failure_text(error: BaseException) -> str:
    """Return the kind and the message of what a model raised, in one line; a long one is cut.

    Examples
    --------
    >>> failure_text(ValueError("no"))
    'ValueError: no'
    """
    message = " ".join(str(error).split())
    if len(message) > _MOST_CHARACTERS:
        message = f"{message[:_MOST_CHARACTERS]}…"
    return f"{type(error).__name__}: {message}".rstrip(": ")


def listed_columns(columns: Sequence[Any]) -> str:
    """Return the names of columns in one text, of many the first.

    Examples
    --------
    >>> listed_columns(["age", "sex"])
    'age, sex'
    """
    more = ", …" if len(columns) > _MOST_COLUMNS else ""
    return ", ".join(map(str, columns[:_MOST_COLUMNS])) + more


def user_place(error: BaseException) -> tuple[str, int] | None:
    """Return the file and the line of the user's own code that an error comes from, if any.

    It is the last one on the way to the error that is neither in testsgd nor in a library.

    Examples
    --------
    >>> user_place(ValueError("never raised")) is None
    True
    """
    places = [
        (file, line)
        for _, file, line in _calls(error)
        if not file.startswith("<") and _is_users(Path(file))
    ]
    return places[-1] if places else None


def is_about_input(error: BaseException, columns: Sequence[Any]) -> bool:
    """Return whether a model failed because of the columns, or the kind of input, it was given.

    Parameters
    ----------
    error : BaseException
        What the model raised.
    columns : sequence of object
        The columns that it was given, of a model of rows.
    """
    modules = [module for module, _, _ in _calls(error)]
    if isinstance(error, KeyError):
        known = set(map(str, error.args)) & set(map(str, columns))
        return not known and _FRAME_MODULE in modules
    if isinstance(error, AttributeError):
        return isinstance(error.obj, pd.DataFrame)
    if isinstance(error, TypeError) and all(_is_own(module) for module in modules):
        # The call itself failed, so the model takes something else.
        return True
    return isinstance(error, ValueError) and _OTHER_COLUMNS.search(str(error)) is not None


def _calls(error: BaseException) -> Iterator[tuple[str, str, int]]:
    """Return the module, the file and the line of each call on the way to an error."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        yield str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename, line


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == "testsgd"


def _is_users(file: Path) -> bool:
    file = file.resolve()
    if "site-packages" in file.parts or "dist-packages" in file.parts:
        return False
    return not any(file.is_relative_to(folder) for folder in (_PACKAGE, *_LIBRARIES))
