"""The methods by name. A new one is a module with a class, and one entry here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from testsgd.errors import ParameterError

if TYPE_CHECKING:
    from testsgd.baselines.baseline import Baseline, BaselineResult, Subject


@dataclass(frozen=True)
class Entry:
    """A method: its module and class, loaded when it is used, and its description in reports."""

    target: str  # The module and the class, as "module:class".
    about: str  # What it looks for and how, with its authors.


# In the order in which they are reported.
BASELINES = {
    "themis": Entry(
        "testsgd.baselines.themis:Themis",
        "All combinations of sensitive values on generated rows; the two with the highest and"
        " the lowest rate are compared with each other. Galhotra, Brun and Meliou, 2017.",
    ),
    "gerryfair": Entry(
        "testsgd.baselines.gerryfair:GerryFair",
        "Groups given by a linear threshold over the sensitive features, found by regression;"
        " the rate in a group is compared with that of everybody, and the difference weighted"
        " by the group's share. Kearns, Neel, Roth and Wu, 2018.",
    ),
    "divexplorer": Entry(
        "testsgd.baselines.divexplorer:DivExplorer",
        "All frequent combinations of one value a feature; the rate in a group is compared "
        "with that of everybody. Pastor, de Alfaro and Baralis, 2021.",
    ),
    "sliceline": Entry(
        "testsgd.baselines.sliceline:SliceLine",
        "Slices of one value a feature in which a decision is most frequent, scored by how "
        "much and by their size. Sagadeeva and Boehm, 2021.",
    ),
    "bias-scan": Entry(
        "testsgd.baselines.bias_scan:BiasScan",
        "Multi-dimensional subset scan: the subset of values of each feature whose outcomes "
        "fit what is expected least. Zhang and Neill, 2016.",
    ),
    "individual": Entry(
        "testsgd.baselines.individual:IndividualSearch",
        "People, not groups: how often a decision changes if only sensitive features of a "
        "person do. Galhotra et al., 2017; Zhang et al., 2020.",
    ),
}
METHODS = tuple(BASELINES)


def baselines() -> tuple[Baseline, ...]:
    """Return one of every method, in the order in which they are reported.

    Returns
    -------
    tuple of Baseline

    Examples
    --------
    >>> [baseline.method for baseline in baselines()]
    ['themis', 'gerryfair', 'divexplorer', 'sliceline', 'bias-scan', 'individual']
    """
    return tuple(find_baseline(name) for name in METHODS)


def find_baseline(name: str) -> Baseline:
    """Return a method by its short name, which must be one of the registry."""
    if name not in BASELINES:
        raise ParameterError(
            f"the method {name!r} is unknown",
            where="baselines",
            remedy=f"give one of {', '.join(METHODS)}",
            method=name,
        )
    module, _, class_name = BASELINES[name].target.partition(":")
    baseline: Baseline = getattr(import_module(module), class_name)()
    return baseline


def run_baseline(name: str, subject: Subject, *, time_limit: float | None = None) -> BaselineResult:
    """Run one method and return its result.

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
        With ``available=False`` and a note if an optional package is missing or raises.

    Raises
    ------
    ParameterError
        If there is no such method.

    Examples
    --------
    >>> from testsgd.baselines import subject_of
    >>> from testsgd.data import load_specification, load_table
    >>> from testsgd.models import load_model
    >>> specification = load_specification("demo")
    >>> subject = subject_of(
    ...     load_table(specification), load_model(None, specification).model, theta=0.05
    ... )
    >>> result = run_baseline("gerryfair", subject)
    >>> result.available, len(result.findings)
    (True, 2)
    """
    return find_baseline(name).run(subject, time_limit=time_limit)
