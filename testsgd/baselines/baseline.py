"""The interface of baselines: the method, its input and its result."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from numbers import Real
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Table
from testsgd.errors import MissingExtraError, ParameterError, TestSGDError
from testsgd.models import Model
from testsgd.rules import Axis, Contingency, lay_out, sensitive_axes
from testsgd.sampling import BATCH_ROWS


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A model and the rows on which methods are compared: the input of every baseline.

    :func:`subject_of` makes one. All methods get the same rows, the same decisions on them and the
    same cells of the sensitive features.
    """

    table: Table  # The rows.
    model: Model  # The black box.
    # The combinations of sensitive cells that occur, with the audit's bins.
    contingency: Contingency
    # Who of the rows as they are gets the favourable label; shape (rows,).
    decisions: NDArray[np.bool_]
    theta: float  # Smallest share of the rows that a group must have, for methods that ask for one.
    max_features: int  # Most features that a group is described by, for methods that ask for it.
    seed: int  # Same seed, same result.

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The cells of each sensitive feature."""
        return self.contingency.axes

    @property
    def min_count(self) -> int:
        """Fewest rows of a frequent group, as the audit counts them."""
        return max(1, math.ceil(self.theta * len(self.table) - 1e-9))


def subject_of(
    table: Table,
    model: Model,
    *,
    theta: float,
    max_features: int = 3,
    bins: int | None = None,
    seed: int = 0,
) -> Subject:
    """Return the subject of a table and a model, which is asked about every row once.

    Parameters
    ----------
    table : Table
        The rows.
    model : Model
        The black box.
    theta, max_features, seed
        As for :class:`Subject`.
    bins : int, optional
        Number of bins of every continuous sensitive feature, in place of the description's.

    Returns
    -------
    Subject

    Raises
    ------
    ModelError
        If the model raises or returns something unusable.
    ParameterError
        If the sensitive features have too many cells.

    Examples
    --------
    >>> from testsgd.data import load_specification, load_table
    >>> from testsgd.models import load_model
    >>> specification = load_specification("demo")
    >>> subject = subject_of(
    ...     load_table(specification), load_model(None, specification).model, theta=0.05
    ... )
    >>> subject.min_count, len(subject.decisions)
    (1000, 20000)
    """
    return Subject(
        table=table,
        model=model,
        contingency=lay_out(table, sensitive_axes(table, bins=bins)),
        decisions=decide_frame(model, table.frame),
        theta=theta,
        max_features=max_features,
        seed=seed,
    )


def decide_frame(model: Model, frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Return a mask of the rows that a model gives the favourable label, asked in batches."""
    decisions = np.zeros(len(frame), dtype=bool)
    for start in range(0, len(frame), BATCH_ROWS):
        rows = slice(start, start + BATCH_ROWS)
        decisions[rows] = model.decisions(frame.iloc[rows])
    return decisions


# Findings that a result keeps.
MOST_FINDINGS = 20


@dataclass(frozen=True, kw_only=True)
class BaselineFinding:
    """A finding of a method: a group of rows, a pair of groups, or something without rows.

    Methods of groups give ``rows``, so that all of them can be measured and compared alike; the
    value is on the method's own scale and compares only with values of the same method.

    Examples
    --------
    >>> rows = np.array([True, True, False, False])
    >>> finding = BaselineFinding(text="sex = female", value=-0.2, rows=rows)
    >>> int(finding.rows.sum())
    2
    """

    text: str  # The group in words.
    value: float  # The method's own measure of it.
    # Who of the table's rows is in it; None if the finding is no group of rows; shape (rows,).
    rows: NDArray[np.bool_] | None
    # Whom a group given by rules is compared with; None: all others; shape (rows,).
    complement: NDArray[np.bool_] | None = None
    # For a pair of groups the one with the lower rate; shape (rows,).
    rows_other: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Figure:
    """A number of a method that is not about one group, with what it means.

    Examples
    --------
    >>> Figure("people whose decision changes", 0.12, "Share of 500 people.").value
    0.12
    """

    name: str  # What it is called, in a few words.
    value: float | int | str  # The number; a text where there is none, which says why.
    meaning: str  # What it says, in a sentence.


@dataclass(frozen=True, kw_only=True)
class BaselineResult:
    """The result of a method: its findings, further figures, and what it took.

    Examples
    --------
    >>> missing = BaselineResult(
    ...     method="sliceline",
    ...     title="SliceLine",
    ...     measure="slice score",
    ...     note="sliceline is not installed",
    ...     available=False,
    ... )
    >>> missing.findings
    ()
    """

    method: str  # Its short name.
    title: str  # Its name.
    measure: str  # What the findings' values are, in a sentence.
    findings: tuple[BaselineFinding, ...] = ()  # Best first, at most 20.
    figures: tuple[Figure, ...] = ()  # What else it measured.
    groups: int | None = None  # Groups examined; None if it examines none.
    queries: int = 0  # Rows that the method asked the model about, beside the table's own.
    seconds: float = 0.0  # Wall-clock time.
    note: str = ""  # What a reader must know: why it is not available, where it stopped.
    available: bool = True  # False: it could not be run, and nothing but the note says anything.


class Baseline(Protocol):
    """A published method that looks for discrimination.

    A class with these attributes and :meth:`run` is one; :func:`run_baseline` runs those that are
    shipped by name.

    Examples
    --------
    >>> class LargestGap(Baseline):
    ...     method, title = "gap", "Largest gap"
    ...     measure = "difference of the selection rates"
    ...     finding = "a gap above 0"
    ...
    ...     def run(self, subject, *, time_limit=None):
    ...         return BaselineResult(method=self.method, title=self.title, measure=self.measure)
    >>> method = LargestGap()
    >>> method.names_groups, method.is_finding(None, method.run(None))
    (True, False)
    """

    method: str  # Its short name, as in a command.
    title: str  # Its name, as in a table.
    measure: str  # What the values of its findings are, in a sentence.
    finding: str  # What its users take for a finding.
    # Whether it finds groups. Otherwise it finds people, picked by how the model treats them, and
    # their rates cannot be compared with those of groups.
    names_groups: bool = True

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

    def is_finding(self, subject: Subject, result: BaselineResult) -> bool:
        """Return whether users of the method would count any of its results as a finding.

        The rule is that of the method's paper, manual or code, which ``finding`` names; by default
        a finding with a value above 0.
        """
        return any(finding.value > 0 for finding in result.findings)


class Deadline:
    """A stop watch with a limit in seconds; None for no limit.

    Examples
    --------
    >>> Deadline(None).passed, Deadline(0.0).passed
    (False, True)
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._started

    @property
    def passed(self) -> bool:
        """True once the time is up."""
        return self.limit is not None and self.seconds >= self.limit


def check_time_limit(time_limit: Any) -> float | None:
    """Return the seconds that a method may take as a float; None stays None, for no limit.

    Parameters
    ----------
    time_limit : object
        What a user gave.

    Returns
    -------
    float or None

    Raises
    ------
    ParameterError
        If it is neither None nor a finite number above 0.

    Examples
    --------
    >>> check_time_limit(600)
    600.0
    """
    if time_limit is None:
        return None
    if (
        isinstance(time_limit, bool)
        or not isinstance(time_limit, Real)
        or not math.isfinite(time_limit)
        or time_limit <= 0
    ):
        raise ParameterError(
            f"{time_limit!r} is not a positive number of seconds",
            where="time_limit",
            remedy="give seconds such as 600",
        )
    return float(time_limit)


class PackageError(TestSGDError):
    """An optional package is installed, and raised."""


@contextmanager
def package_calls(package: str, *, purpose: str) -> Iterator[None]:
    """Raise the errors of an optional package as such, apart from those of our own code.

    Raised are a MissingExtraError if it cannot be imported, a PackageError for anything else.
    Nothing but imports from the package and calls of it belong into the block.

    Examples
    --------
    >>> with package_calls("numpy", purpose="counting"):
    ...     [][1]
    Traceback (most recent call last):
    ...
    testsgd.baselines.baseline.PackageError: counting: numpy ... failed with IndexError: list ...
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(package, extra=package, purpose=purpose) from error
    except Exception as error:
        lines = str(error).strip().splitlines()
        first_line = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        raise PackageError(
            f"{package} {_version(package)} failed with {first_line}",
            where=purpose,
            remedy=f"try another version of {package}, or leave this method out",
            package=package,
        ) from error


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(of unknown version)"


class ShippedBaseline(Baseline):
    """A method that is shipped; not available where an optional package is missing or raises."""

    # The optional package that it is, if it is one; its extra has the same name.
    package = ""

    def run(self, subject: Subject, *, time_limit: float | None = None) -> BaselineResult:
        """Run the method; see :meth:`Baseline.run`."""
        try:
            return self._run(subject, Deadline(time_limit))
        except (MissingExtraError, PackageError) as error:
            return self._result(note=str(error), available=False)

    @abstractmethod
    def _run(self, subject: Subject, deadline: Deadline) -> BaselineResult: ...

    def _result(
        self,
        *,
        findings: tuple[BaselineFinding, ...] = (),
        figures: tuple[Figure, ...] = (),
        groups: int | None = None,
        queries: int = 0,
        seconds: float = 0.0,
        note: str = "",
        available: bool = True,
    ) -> BaselineResult:
        """Return a result of this method; the keywords are fields of :class:`BaselineResult`."""
        return BaselineResult(
            method=self.method,
            title=self.title,
            measure=self.measure,
            findings=findings,
            figures=figures,
            groups=groups,
            queries=queries,
            seconds=seconds,
            note=note,
            available=available,
        )

    def _calls(self) -> AbstractContextManager[None]:
        return package_calls(self.package, purpose=self.title)
