"""The methods by name."""

from __future__ import annotations

from testsgd.baselines.result import Baseline, BaselineResult
from testsgd.baselines.subject import Subject
from testsgd.errors import ParameterError

# Written out, so that a list of choices imports no method.
METHODS = ("themis", "gerryfair", "divexplorer", "bias-scan", "individual")


def baselines() -> tuple[Baseline, ...]:
    """Give one of every method, in the order in which they are reported.

    Examples
    --------
    >>> [baseline.method for baseline in baselines()]
    ['themis', 'gerryfair', 'divexplorer', 'bias-scan', 'individual']
    """
    from testsgd.baselines.bias_scan import BiasScan
    from testsgd.baselines.divexplorer import DivExplorer
    from testsgd.baselines.gerryfair import GerryFair
    from testsgd.baselines.individual import IndividualSearch
    from testsgd.baselines.themis import Themis

    return (Themis(), GerryFair(), DivExplorer(), BiasScan(), IndividualSearch())


def run_baseline(name: str, subject: Subject, *, time_limit: float | None = None) -> BaselineResult:
    """Run one method.

    Parameters
    ----------
    name : str
        Its short name, one of :data:`METHODS`.
    subject : Subject
        The rows and the model.
    time_limit : float, optional
        Seconds after which to stop.

    Returns
    -------
    BaselineResult

    Raises
    ------
    ParameterError
        If there is no such method.
    """
    if name not in METHODS:
        raise ParameterError(
            f"the method {name!r} is unknown",
            where="baselines",
            remedy=f"give one of {', '.join(METHODS)}",
            method=name,
        )
    baseline = next(item for item in baselines() if item.method == name)
    return baseline.run(subject, time_limit=time_limit)
