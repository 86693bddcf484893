"""The Python interface: one call for an audit, of rows or of texts."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from testsgd.auditing import AuditParameters, Findings, Progress, run_audit
from testsgd.auditing.text import run_text_audit
from testsgd.data import (
    DatasetSpecification,
    SensitiveTerms,
    TextSpecification,
    category_text,
    check_table,
    check_texts,
    load_specification,
    load_table,
    load_terms,
    load_texts,
    specification_from_mapping,
)
from testsgd.errors import ParameterError
from testsgd.models import load_model, load_text_model
from testsgd.reporting import summarise
from testsgd.results import AuditResult

Specification = DatasetSpecification | TextSpecification

# Examples of each sensitive term that a report of texts shows.
SNIPPETS = 3


def audit(
    model: Any,
    data: Any,
    spec: Specification | Mapping[str, Any] | str | Path,
    *,
    favourable: Any = None,
    threshold: float = 0.5,
    terms: SensitiveTerms | str | Path | None = None,
    snippets: int = SNIPPETS,
    limit: int | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> AuditResult:
    """Find the groups that a model treats differently from everybody else.

    Parameters
    ----------
    model : callable, estimator, str, path-like or None
        A function from a data frame (for texts: from a list of strings) to labels or to scores in
        [0, 1] of the favourable label; an object with ``predict``, such as a scikit-learn
        estimator; a ``.keras`` file written by ``testsgd train``; ``"package.module:callable"``;
        None for the network trained for the data set.
    data : data frame, list of str, path-like or None
        The rows: a pandas, polars or Arrow table with a column a feature. The texts: a list or a
        series of strings, or a table with the text column. Or a file that the description can
        parse; None for the data set's own files. Never changed.
    spec : DatasetSpecification, TextSpecification, mapping, str or path-like
        What the data mean: a description, its parts as a mapping, a name of the catalogue, or the
        path of a TOML file.
    favourable : str, optional
        The label whose rate is compared, in place of the description's.
    threshold : float
        A score above it counts as the favourable label.
    terms : SensitiveTerms, str or path-like, optional
        For texts: the sensitive terms, or the TOML file that lists them; if not given those of the
        description, or else the paper's.
    snippets : int
        For texts: examples of each term in the report; 0 if the texts are not to be shown.
    limit : int, optional
        Audit a random sample of so many rows or texts, chosen by ``seed``.
    progress : callable, optional
        Called now and then with a phase's name, how much is done and how much there is.
    **parameters
        Those of :class:`testsgd.auditing.AuditParameters`: ``theta``, ``error_margin``,
        ``min_samples``, ``confidence``, ``mode``, ``sampling``, ``max_queries``, ``max_features``,
        ``bins``, ``rank_by``, ``top``, ``seed``, ``jobs``, ``overlap``, ``fail_above``.

    Returns
    -------
    AuditResult

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
    """
    specification = resolve_specification(spec, favourable=favourable)
    settings = _parameters(parameters, specification)
    _check_count("limit", limit, 1)
    _check_count("snippets", snippets, 0)
    findings: Findings
    if isinstance(specification, TextSpecification):
        texts = (
            load_texts(specification, file=data)
            if data is None or isinstance(data, (str, Path))
            else check_texts(data, specification)
        )
        if limit is not None:
            texts = texts.sample(limit, seed=settings.seed)
        findings = run_text_audit(
            load_text_model(
                model, specification, favourable_given=favourable is not None, threshold=threshold
            ),
            texts,
            _resolve_terms(terms, specification),
            settings,
            progress=progress,
        )
    else:
        if terms is not None:
            raise ParameterError(
                f"{specification.name!r} is a table; sensitive terms are for texts",
                where="terms",
                remedy="leave it out, or name a data set of texts",
            )
        table = (
            load_table(specification, file=data, seed=settings.seed)
            if data is None or isinstance(data, (str, Path))
            else check_table(data, specification)
        )
        if limit is not None:
            table = table.sample(limit, seed=settings.seed)
        findings = run_audit(
            load_model(
                model, specification, favourable_given=favourable is not None, threshold=threshold
            ),
            table,
            settings,
            progress=progress,
        )
    return AuditResult(summarise(findings, snippets=snippets), findings)


def resolve_specification(
    spec: Specification | Mapping[str, Any] | str | Path, *, favourable: Any = None
) -> Specification:
    """Find a data set's description, with another favourable label if one is given.

    Parameters
    ----------
    spec : DatasetSpecification, TextSpecification, mapping, str or path-like
        As for :func:`audit`.
    favourable : str, optional
        The label whose rate is compared.

    Returns
    -------
    DatasetSpecification or TextSpecification
    """
    specification: Specification
    if isinstance(spec, (DatasetSpecification, TextSpecification)):
        specification = spec
    elif isinstance(spec, Mapping):
        specification = specification_from_mapping(spec)
    else:
        specification = load_specification(spec)
    if favourable is None:
        return specification
    label = specification.label.model_copy(
        update={"favourable": category_text(favourable), "meaning": ""}
    )
    if label.values is not None and label.favourable not in label.values:
        # A model may know more labels than the file; the table's check speaks of the file's.
        label = label.model_copy(update={"values": None})
    return specification.model_copy(update={"label": label})


def _resolve_terms(
    terms: SensitiveTerms | str | Path | None, specification: TextSpecification
) -> SensitiveTerms:
    if isinstance(terms, SensitiveTerms):
        return terms
    return load_terms(specification.terms if terms is None else terms)


def _parameters(parameters: Mapping[str, Any], specification: Specification) -> AuditParameters:
    known = set(AuditParameters.__dataclass_fields__)
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"there is no parameter {name!r}",
                where="audit",
                remedy=f"the parameters are {', '.join(sorted(known))}",
            )
    chosen = dict(parameters)
    if chosen.get("theta") is None and specification.audit is not None:
        chosen["theta"] = specification.audit.theta
    if chosen.get("theta", 0) is None:
        del chosen["theta"]
    return AuditParameters(**chosen)


def _check_count(name: str, value: int | None, least: int) -> None:
    if value is None and least > 0:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(
            f"{value!r} is not a whole number of at least {least}",
            where=name,
            remedy="give a whole number",
            name=name,
        )
