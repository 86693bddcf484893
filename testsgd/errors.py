"""The errors that a user can cause: one family, each says what, where and what to do.

Every error carries its parts as data, so that a program can act on them, and pickles, so that it
crosses process borders whole.
"""

from __future__ import annotations

import copyreg
import re
from typing import Any

__all__ = [
    "ConfigurationError",
    "DataError",
    "DownloadError",
    "ExpressionError",
    "GuaranteeBrokenError",
    "HorizonEndedError",
    "InfeasibleShieldError",
    "JournalError",
    "LabelError",
    "MissingExtraError",
    "ModelError",
    "ParameterError",
    "ResultError",
    "ShieldFileError",
    "SpecificationError",
    "StateError",
    "TestSGDError",
    "TooFewDataError",
    "UnknownGroupError",
]

# Controls of terminals, what turns the direction of a line, and ends of lines of other kinds; line
# ends and tabs themselves are none.
CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# A quoted value, or a word, of more than 200 characters: that many are shown.
_LONG_VALUES = re.compile(r"""('[^']{200})[^']+|("[^"]{200})[^"]+|([^\s'"]{200})[^\s'"]+""")
# How numpy writes its own numbers and texts, such as np.float64(0.5) or np.True_.
_NUMPY_SCALAR = re.compile(
    r"""\bnp\.(?:float|int|uint|bool|str_)\d*\(('[^']*'|"[^"]*"|[^()'"]*)\)|\bnp\.(True|False)_"""
)


def printable(text: str) -> str:
    """Return a text in which nothing can steer a terminal.

    Parameters
    ----------
    text : str
        What may hold parts of a user's data.

    Returns
    -------
    str
        Control characters, escapes and marks of direction are replaced by U+FFFD; line ends and
        tabs stay.

    Examples
    --------
    >>> printable("red: " + chr(27) + "[31m").isprintable()
    True
    """
    return CONTROLS.sub("\ufffd", text)


def _with_short_values(text: str) -> str:
    """Return a text with no more than 200 characters of each value in it."""
    return _LONG_VALUES.sub(lambda match: f"{match[match.lastindex or 0]}…", text)


class TestSGDError(Exception):
    """A mistake that the user can mend.

    Parameters
    ----------
    what : str
        What is wrong, with the value that was seen.
    where : str, optional
        The file, line, column, row or option where it was seen.
    remedy : str, optional
        What to do about it.
    **details
        The parts of the message as data, for programs: a dict in the attribute ``details``. What
        else is given is in an attribute of its name.

    Examples
    --------
    >>> error = TestSGDError("theta is 2", where="--theta", remedy="give a share between 0 and 1")
    >>> str(error)
    '--theta: theta is 2; give a share between 0 and 1'
    """

    __test__ = False  # pytest would take the name for a test class

    def __init__(self, what: str, *, where: str = "", remedy: str = "", **details: Any) -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        self.details = details
        super().__init__(what)

    def __str__(self) -> str:
        message = _with_short_values(self.what)
        if self.where:
            message = f"{_with_short_values(self.where)}: {message}"
        if self.remedy:
            message = f"{message}; {self.remedy}"
        message = _NUMPY_SCALAR.sub(lambda match: match[match.lastindex or 0], message)
        return printable(" ".join(message.split()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Not by calling the class: a subclass may take other arguments.
        rebuild = copyreg.__newobj__  # type: ignore[attr-defined]  # there since Python 2
        return rebuild, (type(self), *self.args), self.__dict__


class SpecificationError(TestSGDError):
    """The description of a data set is wrong: names the key and the line."""


class DataError(TestSGDError):
    """The data do not fit their description."""


class DownloadError(TestSGDError):
    """A file is missing and could not be fetched, or is not the file it should be."""


class TooFewDataError(DataError):
    """The data are too few to judge anything by: the command line leaves with 3, not with 2."""


class ModelError(TestSGDError):
    """The model could not be loaded, raised, or returned something unusable."""


class ParameterError(TestSGDError):
    """A parameter is out of its range or does not go with another."""


class ResultError(TestSGDError):
    """A saved result could not be read back."""


class ConfigurationError(TestSGDError):
    """A folder or file of the user's set-up is unusable."""


class InfeasibleShieldError(TestSGDError):
    """No shield can keep the bound in every run.

    Where it could be found, `details` has the smallest threshold for which a shield exists, as
    ``smallest_threshold``.
    """


class ExpressionError(TestSGDError):
    """An expression is wrong, or compares what cannot be compared; names the place in it."""


class GuaranteeBrokenError(TestSGDError):
    """A shield's decisions did not keep the bound that they guarantee: its policy is not sound.

    `details` has the period, as ``period``, and its counters, as ``counts``.
    """


class UnknownGroupError(TestSGDError):
    """A person of a group that the shield was not made for."""


class HorizonEndedError(TestSGDError):
    """A decision was asked for after the last one that the shield was made for."""


class LabelError(TestSGDError):
    """A true label came for no decision, or did not come, or is no label."""


class ShieldFileError(TestSGDError):
    """A file is no shield, or of another version or specification than asked for."""


class JournalError(TestSGDError):
    """A journal cannot be written, is damaged, or is another shield's."""


class StateError(TestSGDError):
    """The state of an enforcer cannot be read or written, or is another's."""


class EventError(TestSGDError):
    """An event of a stream is wrong, or does not fit those before it."""


class MissingExtraError(TestSGDError):
    """An optional package is needed; names the exact install line.

    Parameters
    ----------
    package : str
        The package that could not be imported.
    extra : str
        The extra of testsgd that brings it.
    purpose : str
        What it is needed for.

    Examples
    --------
    >>> str(MissingExtraError("tensorflow", extra="tensorflow", purpose="training a network"))
    "training a network needs tensorflow; run: pip install 'testsgd[tensorflow]'"
    """

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {package}",
            remedy=f"run: pip install 'testsgd[{extra}]'",
            package=package,
            extra=extra,
            purpose=purpose,
        )
