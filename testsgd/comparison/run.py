"""Runs the audit and the other methods on one model and its rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from testsgd.auditing import AuditParameters, Progress, run_audit
from testsgd.baselines import BaselineResult, Subject, run_baseline, subject_of
from testsgd.comparison.methods import AUDIT, resolve_methods
from testsgd.comparison.outcome import Comparison
from testsgd.comparison.own import audit_as_method, time_search
from testsgd.comparison.side_by_side import side_by_side
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.models import LoadedModel, Model


class RunBaseline(Protocol):
    """Runs a method by its name, as :func:`testsgd.baselines.run_baseline` does."""

    def __call__(
        self, name: str, subject: Subject, *, time_limit: float | None = None
    ) -> BaselineResult:
        """Run the method."""
        ...


def compare_methods(
    model: LoadedModel[Model],
    table: Table,
    parameters: AuditParameters,
    *,
    methods: str | Sequence[str] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
    run: RunBaseline | None = None,
) -> Comparison:
    """Run the audit and the other methods, one after another, and compare what they find.

    Parameters
    ----------
    model : LoadedModel
        The black box.
    table : Table
        The rows.
    parameters : AuditParameters
        What the audit does; support, features, bins and seed hold for all methods that have them.
    methods : str, sequence of str or None
        Which, see :func:`resolve_methods`.
    time_limit : float or None
        Seconds that each of the others may take.
    progress : callable, optional
        Called with a phase's name, how much is done and how much there is.
    run : callable, optional
        How a method is run, in place of :func:`testsgd.baselines.run_baseline`.

    Returns
    -------
    Comparison

    Raises
    ------
    ModelError
        If the model raises or returns something unusable.
    ParameterError
        If a method is unknown, or rows are to be held out.
    """
    names = resolve_methods(methods)
    if parameters.holdout is not None:
        raise ParameterError(
            "the methods of a comparison look at the same rows, all of them",
            where="holdout",
            remedy="leave it out",
        )
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    audit = run_audit(model, table, parameters, progress=progress)
    seconds[AUDIT] = time.perf_counter() - start
    subject = subject_of(
        table,
        model.model,
        theta=parameters.fewest_rows(len(table)) / len(table),
        max_features=parameters.max_features,
        bins=parameters.bins,
        seed=parameters.seed,
    )
    results = [audit_as_method(audit, seconds=seconds[AUDIT])]
    search = time_search(subject)
    others = [name for name in names if name != AUDIT]
    for done, name in enumerate(others):
        if progress is not None:
            progress("other methods", done, len(others))
        start = time.perf_counter()
        results.append((run or run_baseline)(name, subject, time_limit=time_limit))
        seconds[name] = time.perf_counter() - start
    if progress is not None and others:
        progress("other methods", len(others), len(others))
    start = time.perf_counter()
    compared = side_by_side(results, subject, audit)
    seconds["side by side"] = time.perf_counter() - start
    return Comparison(
        audit=audit,
        subject=subject,
        methods=compared,
        search=search,
        time_limit=time_limit,
        seconds=seconds,
    )
