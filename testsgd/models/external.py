"""Models that run outside testsgd's own process, or in another library: what they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import Any

import pandas as pd

from testsgd.errors import ModelError, ParameterError

# The column in which a text is handed over, to what takes rows only.
TEXT_COLUMN = "text"

# How the addresses of endpoints begin.
SCHEMES = ("http", "https")


def is_url(text: str) -> bool:
    """Return whether a text is the address of an endpoint.

    Examples
    --------
    >>> is_url("https://models.example/score"), is_url("package.module:function")
    (True, False)
    """
    return text.lower().startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


class ExternalModel(ABC):
    """A model that testsgd hands rows to, and whose answers it takes as they are.

    Parameters
    ----------
    name : str
        What to call the model in a report.

    Examples
    --------
    >>> class Always(ExternalModel):
    ...     kind = "rule"
    ...     def predict(self, asked):
    ...         return ["yes"] * len(asked)
    >>> Always("generous").predict(pd.DataFrame({"age": [30, 40]}))
    ['yes', 'yes']
    """

    kind: str = "model"  # What it is, in words.

    keeps_answers: bool = False  # Whether the same question is asked only once.

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def predict(self, asked: pd.DataFrame | Sequence[str]) -> Any:
        """Return one label or score for each row or text."""

    def _error(self, what: str, remedy: str) -> ModelError:
        return ModelError(what, where=f"model {self.name!r}", remedy=remedy, model=self.name)


def as_rows(asked: pd.DataFrame | Sequence[str]) -> pd.DataFrame:
    """Return rows as they are, and texts as rows of one column.

    Examples
    --------
    >>> as_rows(["Hello"]).to_dict("records")
    [{'text': 'Hello'}]
    """
    return asked if isinstance(asked, pd.DataFrame) else pd.DataFrame({TEXT_COLUMN: list(asked)})


def check_above_zero(name: str, value: float) -> None:
    """Raise a :class:`ParameterError` if a value is no finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < float("inf"):
        raise ParameterError(
            f"{value!r} is no number above 0", where=name, remedy="give one such as 30", name=name
        )
