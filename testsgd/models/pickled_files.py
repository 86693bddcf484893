"""Pickled models, read on the user's explicit word only: to read one runs its code."""

from __future__ import annotations

import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

from testsgd.errors import ModelError
from testsgd.io import read_beginning, why_no_file

PICKLES = (".joblib", ".pkl", ".pickle")
"""How the names of pickled files end."""

# What reading raises where a pickle breaks off, or is none.
_OF_DAMAGE = (EOFError, KeyError, pickle.UnpicklingError, struct.error, zlib.error)
# Of pickles since Python 2.3, and of zlib, gzip, bzip2, xz, LZMA and LZ4.
_BEGINNINGS = (b"\x80", b"x", b"\x1f\x8b", b"BZ", b"\xfd7zXZ\0", b"]\0", b'\x04"M\x18')

TRUST_REMEDY = "if you know who made it, say so with --trust-pickle (trust_pickle=True)"
"""What to do to have a file read that may run code."""


def read_pickle(path: Path, *, trusted: bool) -> Any:
    """Read a pickled object.

    Parameters
    ----------
    path : path-like
        A file that joblib or pickle wrote.
    trusted : bool
        Whether the user said that the file may run code.

    Returns
    -------
    object

    Raises
    ------
    ModelError
        If the file is not trusted, is not there, or cannot be read.

    Examples
    --------
    >>> read_pickle(Path("pipe.joblib"), trusted=True)
    Traceback (most recent call last):
    ...
    testsgd.errors.ModelError: model 'pipe.joblib': there is no such file; check the path
    """
    where = f"model {str(path)!r}"
    if (reason := why_no_file(path)) is not None:
        raise ModelError(reason, where=where, remedy="check the path")
    if not trusted:
        raise untrusted("the file is pickled", path, instead="save the model with skops")
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # a pickle may raise anything
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if not isinstance(error, ImportError | AttributeError) and (
            isinstance(error, _OF_DAMAGE) or not _begins_as_pickle(path)
        ):
            kind = type(error).__name__
            detail = kind if reason == kind else f"{kind}: {reason}"
            raise ModelError(
                f"the file is no file of joblib or pickle, or is damaged ({detail})",
                where=where,
                remedy="check the path, or save the model anew with joblib.dump(model, path)",
            ) from error
        raise ModelError(
            f"the file cannot be read ({reason})",
            where=where,
            remedy="check that it is whole, and that the packages that it needs are installed",
        ) from error


def _begins_as_pickle(path: Path) -> bool:
    """Return whether a file begins as pickles do, or as what joblib compresses."""
    return read_beginning(path, 6).startswith(_BEGINNINGS)


def untrusted(what: str, path: Path, *, instead: str) -> ModelError:
    """Return the error of a model that runs code when it is read, and is not trusted.

    `what` the path is; what the user may do `instead` of trusting it.

    Examples
    --------
    >>> untrusted("the file is pickled", Path("a.pkl"), instead="give a function").where
    "model 'a.pkl'"
    """
    return ModelError(
        f"{what}, and to read it runs whatever code is in it",
        where=f"model {str(path)!r}",
        remedy=f"{TRUST_REMEDY}, or {instead}",
    )
