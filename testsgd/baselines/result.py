"""What every baseline gives back, and what it has to be like to be run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.subject import Subject

# Findings that a result keeps.
MOST_FINDINGS = 20


@dataclass(frozen=True, kw_only=True)
class BaselineFinding:
    """One thing that a method found.

    Attributes
    ----------
    text : str
        The group in words.
    value : float
        The method's own measure of it.
    rows : numpy.ndarray of bool, shape (rows,), or None
        Who of the table's rows is in it; None if the finding is no group of rows.
    rows_other : numpy.ndarray of bool, shape (rows,), or None
        For a pair of groups the one with the lower rate.
    """

    text: str
    value: float
    rows: NDArray[np.bool_] | None
    rows_other: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Figure:
    """One number of a method that is not about one group.

    Attributes
    ----------
    name : str
        What it is called, in a few words.
    value : float, int or str
        The number; a text where there is none, which says why.
    meaning : str
        What it says, in a sentence.
    """

    name: str
    value: float | int | str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class BaselineResult:
    """What a method found.

    Attributes
    ----------
    method : str
        Its short name.
    title : str
        Its name.
    measure : str
        What the findings' values are, in a sentence.
    findings : tuple of BaselineFinding
        Best first, at most 20.
    figures : tuple of Figure
        What else it measured.
    groups : int or None
        Groups examined; None if it examines none.
    queries : int
        Rows that the method asked the model about, beside the table's own.
    seconds : float
        Wall-clock time.
    note : str
        What a reader must know: why it is not available, where it stopped.
    available : bool
        False: it could not be run, and nothing but the note says anything.
    """

    method: str
    title: str
    measure: str
    findings: tuple[BaselineFinding, ...]
    figures: tuple[Figure, ...]
    groups: int | None
    queries: int
    seconds: float
    note: str = ""
    available: bool = True


class Baseline(Protocol):
    """A published method that looks for discrimination.

    Attributes
    ----------
    method : str
        Its short name, as in a command.
    title : str
        Its name, as in a table.
    """

    method: str
    title: str

    def run(self, subject: Subject, *, time_limit: float | None = None) -> BaselineResult:
        """Run the method.

        Parameters
        ----------
        subject : Subject
            The rows and the model.
        time_limit : float, optional
            Seconds after which to stop; the result then says so in its note.

        Returns
        -------
        BaselineResult
            With ``available=False`` and a note if an optional package is missing or raises.
        """
        ...


def unavailable(baseline: Baseline, measure: str, note: str) -> BaselineResult:
    """Give the result of a method that cannot be run here.

    Examples
    --------
    >>> from testsgd.baselines import Themis
    >>> unavailable(Themis(), "a rate", "not installed").available
    False
    """
    return BaselineResult(
        method=baseline.method,
        title=baseline.title,
        measure=measure,
        findings=(),
        figures=(),
        groups=None,
        queries=0,
        seconds=0.0,
        note=note,
        available=False,
    )
