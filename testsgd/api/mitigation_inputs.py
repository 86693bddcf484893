"""What a mitigation is given: rows or texts with labels, a model, and the audit of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from testsgd.api.given import (
    Specification,
    audit_parameters,
    check_count,
    check_no_terms,
    check_repeatable,
    find_model_and_table,
    find_texts,
    resolve_specification,
    resolve_terms,
)
from testsgd.api.mitigation_data import MitigationInputs, RowInputs, TextInputs
from testsgd.api.saved_audit import (
    read_audit,
    saved_parameters,
)
from testsgd.auditing import AuditParameters
from testsgd.data import (
    SensitiveTerms,
    TextSpecification,
)
from testsgd.errors import ParameterError
from testsgd.mitigation import (
    MitigationParameters,
)
from testsgd.models import load_text_model
from testsgd.results import AuditResult


def mitigation_inputs(
    model: Any,
    data: Any,
    spec: Specification | Mapping[str, Any] | str | Path,
    *,
    audit: AuditResult | str | Path | None,
    favourable: Any,
    threshold: float,
    terms: SensitiveTerms | str | Path | None,
    limit: int | None,
    parameters: Mapping[str, Any],
) -> MitigationInputs:
    """Find and check what a mitigation is given; see :func:`testsgd.mitigate`."""
    check_count("limit", limit, 1)
    summary = read_audit(audit)
    specification = resolve_specification(spec, favourable=favourable)
    if summary is not None and favourable is None:
        saved = summary.data.label.favourable
        if saved != specification.label.favourable:
            specification = resolve_specification(specification, favourable=saved)
            favourable = saved
    settings, rest = _mitigation_parameters(parameters)
    if summary is None:
        audit_settings = audit_parameters({**rest, "seed": settings.seed}, specification)
    else:
        _check_left_to_audit(rest)
        audit_settings = saved_parameters(summary, jobs=rest.get("jobs"))
    _check_no_holdout(audit_settings)
    check_repeatable(audit_settings, "a mitigation")
    given, seed = favourable is not None, audit_settings.seed
    if isinstance(specification, TextSpecification):
        texts = find_texts(data, specification, limit=limit, seed=seed, training=data is None)
        return TextInputs(
            texts,
            resolve_terms(terms, specification),
            load_text_model(model, specification, favourable_given=given, threshold=threshold),
            summary,
            settings,
            audit_settings,
        )
    check_no_terms(terms, specification)
    loaded, table = find_model_and_table(
        model,
        data,
        specification,
        favourable_given=given,
        threshold=threshold,
        limit=limit,
        seed=seed,
    )
    return RowInputs(
        table,
        loaded,
        summary,
        settings,
        audit_settings,
    )


def _mitigation_parameters(
    parameters: Mapping[str, Any],
) -> tuple[MitigationParameters, dict[str, Any]]:
    """Take a mitigation's own parameters out of all; the rest are an audit's."""
    own = {item.name for item in fields(MitigationParameters)}
    known = own | {item.name for item in fields(AuditParameters)}
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"there is no parameter {name!r}",
                where="mitigate",
                remedy=f"the parameters are {', '.join(sorted(known))}",
            )
    settings = MitigationParameters(
        **{name: value for name, value in parameters.items() if name in own}
    )
    return settings, {name: value for name, value in parameters.items() if name not in own}


def _check_no_holdout(audit_settings: AuditParameters) -> None:
    """Raise a :class:`ParameterError` if groups were found on a part of the data only.

    Which groups those are depends on the model, so the audits of two models have no groups in
    common that could be compared.
    """
    if audit_settings.holdout is not None:
        raise ParameterError(
            f"the audit holds out {audit_settings.holdout:g} of the data, a mitigation needs the "
            "groups of all of them",
            where="holdout",
            remedy="give an audit without a holdout, or none to make a new one",
        )


def _check_left_to_audit(parameters: Mapping[str, Any]) -> None:
    """Raise a :class:`ParameterError` if a saved audit's own parameters are given again."""
    for name, value in parameters.items():
        if name != "jobs" and value is not None:
            raise ParameterError(
                f"{value!r} is given, but the saved audit has its own",
                where=name,
                remedy=f"leave {name} out, or the audit",
            )
