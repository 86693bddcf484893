"""One call for an audit, of rows or of texts."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any, Unpack

import testsgd.data
from testsgd.auditing.findings import Findings
from testsgd.auditing.inputs import (
    audit_parameters,
    check_all_rows,
    check_asked_anew,
    check_model_first,
    check_no_ratio_gate,
    chosen_sample,
    find_model_and_table,
)
from testsgd.auditing.metrics import check_selection_rate
from testsgd.auditing.options import AuditOptions
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.repeated_runs import SeedRuns, audit_with_seeds, check_runs
from testsgd.auditing.report.summarise import summarise
from testsgd.auditing.result import AuditResult
from testsgd.auditing.run import run_audit
from testsgd.data import (
    DatasetSpecification,
    TextSpecification,
    as_pandas,
    check_count,
    check_no_terms,
    is_lazy,
    resolve_specification,
)
from testsgd.data.lazy_rows import collecting, lazy_columns
from testsgd.errors import ParameterError
from testsgd.models import load_text_model
from testsgd.parameters import check_names, show_parameters
from testsgd.progress import Progress, shown_progress

# Examples of each sensitive term that a report of texts shows: none, as reports are passed on.
SNIPPETS = 0

# Keywords that users expect here, of the audit of a model by metrics.
_FOR_METRICS = ("metrics", "sample_weight", "reference", "measure", "rule", "fail_below")


@show_parameters(AuditParameters)
def audit(
    model: Any,
    data: Any = None,
    spec: Any = None,
    *,
    sensitive_features: Any = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    favourable: Any = None,
    outcome: str | None = None,
    threshold: float = 0.5,
    # By its package, which loads it when annotations are read.
    terms: testsgd.data.SensitiveTerms | Mapping[str, Any] | str | Path | None = None,
    snippets: int = SNIPPETS,
    limit: int | None = None,
    clusters: Any = None,
    trust_pickle: bool = False,
    progress: Progress | bool | None = None,
    **parameters: Unpack[AuditOptions],
) -> AuditResult:
    """Find the groups that a model treats differently from those outside of them.

    Parameters
    ----------
    model : callable, estimator, str, path-like or None
        A function from a data frame, or from named columns (for texts: from a list of strings), to
        labels or to scores in [0, 1] of the favourable label; an object with ``predict``, such as a
        scikit-learn estimator; a module of PyTorch; a ``.keras`` file that ``testsgd train`` or
        Keras wrote; the address of an HTTP endpoint, as :class:`testsgd.models.EndpointModel` asks
        it; ``cmd:`` and a command, as :class:`testsgd.models.CommandModel` runs it; a folder of
        MLflow; ``"package.module:callable"``; None for the network trained for the data set.
    data : data frame, list of str, path-like or None
        The rows: a pandas, polars or Arrow table with a column a feature, or a lazy frame of Polars
        or a relation of DuckDB, whose rows are fetched; of its other columns
        those are kept that the model names as its inputs. The texts: a list or a
        series of strings, or a table with the text column. Or a file that the description can
        parse; None for the data set's own files. Never changed.
    spec : DatasetSpecification, TextSpecification, mapping, str, path-like or array-like, optional
        What the data mean: a description, its parts as a mapping, a name of the catalogue, or the
        path of a TOML file. Or the true labels, as scikit-learn has them behind the rows, or None:
        then what the columns are is guessed from their cells, and shown in the report.
    sensitive_features : sequence of str, or data frame of n rows, optional
        Without a description: the columns that rules are about, by name, or as a table of columns
        that the model does not take.
    features : mapping of str to mapping, optional
        Without a description: parts of it for some features, in place of what is guessed, such as
        ``{"age": {"edges": [18, 30, 50, 100]}}``.
    favourable : str, or list of str, optional
        The label whose rate is compared, or several together, in place of the description's.
    outcome : {"benefit", "harm", "neither"}, optional
        What it is for a person to be given that label, in place of the description's; the side that
        is worse off is named first. Without either it is taken for a benefit.
    threshold : float
        A score above it counts as the favourable label.
    terms : SensitiveTerms, mapping, str or path-like, optional
        For texts: the sensitive terms, the TOML file that lists them, or what it would hold; if not
        given those of the description, or else the paper's.
    snippets : int
        For texts: examples of each term in the report, which are pieces of people's texts; 0 shows
        no text.
    limit : int, optional
        Audit a random sample of so many rows or texts, chosen by ``seed``.
    clusters : str or array-like, shape (n,), optional
        Without a description: whom each row is about, as a column of `data` by its name or as one
        value a row. Rows of one are one unit in every interval. A model that does not name the
        column is not given it. A description says it with ``cluster`` under ``[data]``.
    trust_pickle : bool
        Whether a pickled file or a folder of MLflow may be read as the model, which runs the code
        that is in it.
    progress : callable or bool, optional
        True shows every two seconds on the standard error how far the audit is, False nothing; if
        not given it is shown on a terminal and in a notebook. A callable is called now and then
        with a phase's name, how much is done and how much there is.
    **parameters
        Those of :class:`testsgd.auditing.AuditParameters`, such as ``theta`` or ``fail_above``.
        ``condition_on`` may be names of features with commas, ``nondeterministic`` True for five
        answers to each question.

    Returns
    -------
    AuditResult
        The groups with their selection rates and confidence intervals, a verdict, and the report.

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    References
    ----------
    Zhang, Sun, Wang and Sun, TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
    Discrimination.

    Examples
    --------
    >>> import testsgd
    >>> result = testsgd.audit(None, None, "demo")
    >>> result.distinct["text"].iloc[0]
    'gender = female and race = Black and 40 <= age < 60'

    A model of texts, here one that dislikes a word:

    >>> reviews = ["An old film.", "A young cast.", "The younger brother.", "A fine day."] * 25
    >>> description = {
    ...     "dataset": {"name": "mine"},
    ...     "text": {},
    ...     "label": {"column": "opinion", "favourable": "good", "values": ["bad", "good"]},
    ... }
    >>> def judge(texts):
    ...     return ["bad" if "old" in text else "good" for text in texts]
    >>> result = testsgd.audit(judge, reviews, description)
    >>> result.groups["text"].iloc[0]
    '“old”'

    Rows without a description, and a tree of scikit-learn:

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> people = testsgd.generate_demo(seed=1)[["income", "age"]]
    >>> granted = people["income"] > 40
    >>> tree = DecisionTreeClassifier(max_depth=3).fit(people, granted)
    >>> result = testsgd.audit(tree, people, granted, sensitive_features=["age"])
    >>> result.summary.data.label.favourable
    'True'
    """
    check_model_first(model, data, "audit(model, rows, ...)")
    if not isinstance(spec, (DatasetSpecification, TextSpecification, Mapping, str, Path)):
        _check_undescribed(data, sensitive_features, terms, parameters)
        # Rows with a description need nothing of it.
        from testsgd.auditing.undescribed import audit_undescribed

        with shown_progress(progress) as report_progress:
            return audit_undescribed(
                model,
                data,
                spec,
                sensitive_features=sensitive_features,
                favourable=favourable,
                outcome=outcome,
                threshold=threshold,
                features=features,
                limit=limit,
                clusters=clusters,
                trust_pickle=trust_pickle,
                progress=report_progress,
                **parameters,
            )
    _check_described(sensitive_features, features, clusters, spec=spec, data=data)
    specification = resolve_specification(spec, favourable=favourable, outcome=outcome)
    if isinstance(specification, TextSpecification):
        # Before the metric is checked against those of rows.
        check_selection_rate(parameters.get("metric", "selection_rate"))
    settings = audit_parameters(parameters, specification)
    check_asked_anew(model, settings)
    check_count("limit", limit, 1)
    check_count("snippets", snippets, 0)
    findings: Findings
    runs: SeedRuns | None
    if isinstance(specification, TextSpecification):
        # Imported here: an audit of a table loads nothing of texts.
        from testsgd.auditing.text import run_text_audit
        from testsgd.data.text import find_texts, resolve_terms

        check_selection_rate(settings.metric)
        check_no_ratio_gate(settings)
        check_all_rows(settings, "texts have no columns to choose them by")
        check_runs(settings, rows=None)
        texts = find_texts(data, specification, limit=limit, seed=settings.seed)
        with shown_progress(progress) as report_progress:
            model_of_texts = load_text_model(
                model,
                specification,
                favourable_given=favourable is not None,
                threshold=threshold,
                trust_pickle=trust_pickle,
            )
            sensitive_terms = resolve_terms(terms, specification)
            findings, runs = audit_with_seeds(
                lambda chosen, shown: run_text_audit(
                    model_of_texts, texts, sensitive_terms, chosen, progress=shown
                ),
                settings,
                report_progress,
            )
    else:
        check_no_terms(terms, specification)
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
        check_runs(settings, rows=len(table))
        with shown_progress(progress) as report_progress:
            findings, runs = audit_with_seeds(
                lambda chosen, shown: run_audit(loaded, table, chosen, progress=shown),
                settings,
                report_progress,
            )
    return AuditResult(summarise(findings, snippets=snippets, runs=runs), findings)


def _check_undescribed(
    data: Any, sensitive_features: Any, terms: Any, parameters: Mapping[str, Any]
) -> None:
    """Raise a ParameterError if an audit without a description lacks rows or sensitive features.

    Keywords of an audit of metrics are refused, too.
    """
    for keyword in _FOR_METRICS:
        if keyword in parameters:
            raise ParameterError(
                f"{keyword} is for an audit of metrics",
                where="audit",
                remedy="call testsgd.audit_model_by_metrics(model, X, y, ...)",
                name=keyword,
            )
    # A misspelt sensitive_features is said before it is missed.
    check_names(AuditParameters, parameters, where="audit", keywords=signature(audit).parameters)
    if data is None:
        raise ParameterError(
            "there are no rows and no description",
            where="audit",
            remedy="write audit(model, X, y, sensitive_features=[...]), or name a data set",
        )
    if terms is not None:
        raise ParameterError(
            "sensitive terms are for texts, and texts need a description",
            where="terms",
            remedy="give the description as the third argument",
        )
    if sensitive_features is None:
        # Imported here: only this error needs it.
        from testsgd.auditing.column_uses import unnamed_sensitive_features

        given = parameters.get("sensitive")
        raise unnamed_sensitive_features(data, given if isinstance(given, (list, tuple)) else ())


def _check_described(
    sensitive_features: Any, features: Any, clusters: Any, *, spec: Any, data: Any
) -> None:
    """Raise a ParameterError if data with a description come with parts of a guessed one."""
    if isinstance(spec, str):
        known = as_pandas(data)
        if spec in (lazy_columns(data) if known is None else known.columns):
            collected = f"collect the rows first ({collecting(data)}), " if is_lazy(data) else ""
            raise ParameterError(
                f"{spec!r} is a column of the data, and no description",
                where="spec",
                remedy=f"{collected}give its values as y, and the rows without it: "
                f"y = data[{spec!r}]",
                column=spec,
            )
    of_undescribed = {
        "sensitive_features": sensitive_features,
        "features": features,
        "clusters": clusters,
    }
    for name, value in of_undescribed.items():
        if value is not None:
            raise ParameterError(
                f"{name} is for data without a description",
                where=name,
                remedy="say it in the description, or leave the description out",
                name=name,
            )
