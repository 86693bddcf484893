"""One call for a comparison of methods on one model of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from testsgd.auditing.inputs import (
    audit_parameters,
    check_all_groups,
    check_repeatable,
    chosen_sample,
    find_model_and_table,
)
from testsgd.auditing.repeated_runs import check_one_run
from testsgd.baselines import check_time_limit
from testsgd.comparison.report.summarise import summarise_comparison
from testsgd.comparison.result import ComparisonResult
from testsgd.comparison.run import compare_methods
from testsgd.comparison.testsgd_method import resolve_methods
from testsgd.data import Specification, TextSpecification, check_count, resolve_specification
from testsgd.errors import ParameterError
from testsgd.progress import Progress, shown_progress

# Seconds that each method beside the audit may take.
TIME_LIMIT = 600.0


def compare(
    model: Any,
    data: Any,
    spec: Specification | Mapping[str, Any] | str | Path,
    *,
    methods: str | Sequence[str] | None = None,
    time_limit: float | None = TIME_LIMIT,
    favourable: Any = None,
    threshold: float = 0.5,
    limit: int | None = None,
    trust_pickle: bool = False,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> ComparisonResult:
    """Run the audit and other published methods on one model, and show what each finds.

    Every group that a method names is measured with one yardstick, the model's decisions on the
    rows as they are, and looked for among the findings of the other methods.

    Parameters
    ----------
    model, data, spec, favourable, threshold, limit, trust_pickle, progress
        As for :func:`audit`; the data are rows, not texts.
    methods : str, sequence of str or None
        Which methods: some of ``"themis"``, ``"gerryfair"``, ``"divexplorer"``, ``"sliceline"``,
        ``"bias-scan"`` and ``"individual"``; None or ``"all"`` for all. The audit always takes
        part. Methods whose package is not installed are listed with what to install.
    time_limit : float or None
        Seconds that each method beside the audit may take; None for as long as it takes.
    **parameters
        Those of :class:`testsgd.auditing.AuditParameters`; ``theta``, ``max_features``, ``bins``
        and ``seed`` hold for all methods that have such a parameter, and all methods look at the
        same ``rows``.

    Returns
    -------
    ComparisonResult

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong: the
        data are texts, a method is unknown, the model cannot be asked.

    References
    ----------
    Zhang, Sun, Wang and Sun, TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
    Discrimination, Table 8.

    Examples
    --------
    >>> import testsgd
    >>> result = testsgd.compare(None, None, "demo", methods="gerryfair", limit=2000)
    >>> [method.method for method in result.summary.methods]
    ['testsgd', 'gerryfair']
    """
    names = resolve_methods(methods)
    seconds = check_time_limit(time_limit)
    specification = resolve_specification(spec, favourable=favourable)
    if isinstance(specification, TextSpecification):
        raise ParameterError(
            f"{specification.name!r} is a data set of texts, and the other methods look at rows",
            where="compare",
            remedy="audit it with testsgd audit, or name a data set of rows",
            name=specification.name,
        )
    settings = audit_parameters(parameters, specification)
    check_all_groups(settings)
    check_one_run(settings, "a comparison of methods is of one run of each")
    check_repeatable(settings, "a comparison of methods")
    check_count("limit", limit, 1)
    loaded, table = find_model_and_table(
        model,
        data,
        specification,
        favourable_given=favourable is not None,
        threshold=threshold,
        limit=None if settings.rows is not None else limit,
        seed=settings.seed,
        trust_pickle=trust_pickle,
    )
    table = chosen_sample(table, settings, limit)
    with shown_progress(progress) as reporter:
        comparison = compare_methods(
            loaded, table, settings, names, time_limit=seconds, progress=reporter
        )
    return ComparisonResult(summarise_comparison(comparison), comparison)
