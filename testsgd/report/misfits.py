"""Documents that were read from a file and whose parts contradict each other.

A schema says what each part of a document may be, not that two lists are of the same people. What
is read can therefore be valid and impossible to show all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from testsgd.errors import ResultError


@contextmanager
def misfits_as_errors(where: str, *, remedy: str) -> Iterator[None]:
    """Raise a :class:`ResultError` for what goes wrong within, where a document is at fault.

    Only for documents that were read: of a result that was computed in this process the same
    errors are mistakes of this package, and must be seen as such.

    Parameters
    ----------
    where : str
        The file of the document, or another name for it.
    remedy : str
        What to do about it.

    Raises
    ------
    ResultError
        For a key, a member or an attribute that is not there, a value or a type that nothing can
        be made of, a number that is out of range, and a placeholder of a page without a value.

    Examples
    --------
    >>> with misfits_as_errors("result.json", remedy="run the audit again"):
    ...     [][0]
    Traceback (most recent call last):
    testsgd.errors.ResultError: result.json: the document does not fit together (IndexError: list \
index out of range); run the audit again
    """
    try:
        yield
    except _misfits() as error:
        raise ResultError(
            f"the document does not fit together ({type(error).__name__}: {error})",
            where=where,
            remedy=remedy,
        ) from error


def _misfits() -> tuple[type[Exception], ...]:
    """Return the errors that a document causes whose parts contradict each other."""
    # A page is the only thing that needs it.
    from jinja2 import UndefinedError

    return (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        RuntimeError,
        StopIteration,
        TypeError,
        UndefinedError,
        ValueError,
    )
