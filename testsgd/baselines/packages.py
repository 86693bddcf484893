"""Calls of optional packages: one that is missing or breaks is reported, and the rest goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from testsgd.errors import MissingExtraError, TestSGDError


class PackageError(TestSGDError):
    """An optional package is installed, and raised."""


@contextmanager
def package_calls(package: str, *, extra: str, purpose: str) -> Iterator[None]:
    """Tell the errors of an optional package from those of our own code.

    Nothing but imports from the package and calls of it belong into the block.

    Parameters
    ----------
    package : str
        Its name.
    extra : str
        The extra of testsgd that brings it.
    purpose : str
        What it is needed for.

    Raises
    ------
    MissingExtraError
        If it cannot be imported.
    PackageError
        If it raised anything else.

    Examples
    --------
    >>> with package_calls("numpy", extra="numpy", purpose="counting"):
    ...     [][1]
    Traceback (most recent call last):
    ...
    testsgd.baselines.packages.PackageError: counting: numpy ... failed with IndexError: list ...
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(package, extra=extra, purpose=purpose) from error
    except Exception as error:
        lines = str(error).strip().splitlines()
        told = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        raise PackageError(
            f"{package} {_version(package)} failed with {told}",
            where=purpose,
            remedy=f"try another version of {package}, or leave this method out",
            package=package,
        ) from error


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(of unknown version)"
