"""What the calls have in common: from what a user gives to what the packages below take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from testsgd.auditing import DRAWS, AuditParameters
from testsgd.data import (
    DatasetSpecification,
    SensitiveTerms,
    Table,
    Texts,
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
from testsgd.errors import ModelError, ParameterError
from testsgd.models import LoadedModel, Model, load_model

Specification = DatasetSpecification | TextSpecification


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


def find_texts(
    data: Any,
    specification: TextSpecification,
    *,
    limit: int | None,
    seed: int,
    training: bool = False,
) -> Texts:
    """Find, read and check texts: given ones, those of a file, or the data set's own."""
    texts = (
        load_texts(specification, file=data, training=training)
        if data is None or isinstance(data, (str, Path))
        else check_texts(data, specification)
    )
    return texts if limit is None else texts.sample(limit, seed=seed)


def find_table(
    data: Any,
    specification: DatasetSpecification,
    *,
    limit: int | None,
    seed: int,
    passed: Sequence[str] = (),
) -> Table:
    """Find, read and check rows: given ones, those of a file, or the data set's own.

    `passed` are the columns that only the model needs.
    """
    table = (
        load_table(specification, file=data, seed=seed, passed=passed)
        if data is None or isinstance(data, (str, Path))
        else check_table(data, specification, passed=passed)
    )
    return table if limit is None else table.sample(limit, seed=seed)


def find_model_and_table(
    model: Any,
    data: Any,
    specification: DatasetSpecification,
    *,
    favourable_given: bool,
    threshold: float,
    limit: int | None,
    seed: int,
) -> tuple[LoadedModel[Model], Table]:
    """Find a model of rows, and the rows with all columns that it needs.

    If both are wrong, what is wrong with the data is told.
    """
    try:
        loaded = load_model(
            model, specification, favourable_given=favourable_given, threshold=threshold
        )
    except ModelError:
        find_table(data, specification, limit=limit, seed=seed)
        raise
    return loaded, find_table(data, specification, limit=limit, seed=seed, passed=loaded.passed)


def resolve_terms(
    terms: SensitiveTerms | str | Path | None, specification: TextSpecification
) -> SensitiveTerms:
    """Find the list of sensitive terms: the user's, the description's, or the paper's."""
    if isinstance(terms, SensitiveTerms):
        return terms
    return load_terms(specification.terms if terms is None else terms)


def check_no_terms(terms: Any, specification: DatasetSpecification) -> None:
    """Raise a :class:`ParameterError` if a table is to be audited with sensitive terms."""
    if terms is not None:
        raise ParameterError(
            f"{specification.name!r} is a table; sensitive terms are for texts",
            where="terms",
            remedy="leave it out, or name a data set of texts",
        )


def audit_parameters(
    parameters: Mapping[str, Any], specification: Specification
) -> AuditParameters:
    """Check an audit's parameters, and fill in what the description says of them."""
    known = set(AuditParameters.__dataclass_fields__)
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"there is no parameter {name!r}",
                where="audit",
                remedy=f"the parameters are {', '.join(sorted(known))}",
            )
    chosen = dict(parameters)
    defaults = specification.audit
    # A user's bound on the rows of a group takes the place of both of the description's.
    bounded = any(chosen.get(name) is not None for name in ("theta", "min_rows"))
    for name in ("estimand",) if bounded else ("estimand", "theta", "min_rows"):
        if chosen.get(name) is None:
            chosen[name] = None if defaults is None else getattr(defaults, name)
    if chosen["estimand"] is None:
        del chosen["estimand"]
    if isinstance(chosen.get("nondeterministic"), bool):
        chosen["nondeterministic"] = DRAWS if chosen["nondeterministic"] else None
    chosen["condition_on"] = _condition(chosen.get("condition_on"), specification)
    return AuditParameters(**chosen)


def _condition(names: Any, specification: Specification) -> tuple[str, ...]:
    """Read features that a user lists, with commas or one by one."""
    listed = names.split(",") if isinstance(names, str) else names or ()
    if not isinstance(listed, (list, tuple)) or not all(isinstance(one, str) for one in listed):
        raise ParameterError(
            f"{names!r} is no list of features",
            where="condition_on",
            remedy="give names of features, with commas or as a list",
            name="condition_on",
        )
    chosen = tuple(dict.fromkeys(one.strip() for one in listed if one.strip()))
    if listed and not chosen:
        raise ParameterError(
            "no feature is named",
            where="condition_on",
            remedy="give names of features, with commas or as a list, or leave it out",
            name="condition_on",
        )
    if chosen and isinstance(specification, TextSpecification):
        raise ParameterError(
            f"{specification.name!r} has texts, and no features to be alike in",
            where="condition_on",
            remedy="leave it out",
            name="condition_on",
        )
    return chosen


def check_repeatable(parameters: AuditParameters, what: str) -> None:
    """Raise a :class:`ParameterError` if means are asked for where the answers must be the same."""
    if parameters.nondeterministic is not None:
        raise ParameterError(
            f"{what} needs a model that answers the same when asked twice",
            where="nondeterministic",
            remedy="leave it out, or audit the model",
            name="nondeterministic",
        )


def check_count(name: str, value: int | None, least: int) -> None:
    """Raise a :class:`ParameterError` if a value is no whole number of at least so much."""
    if value is None and least > 0:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(
            f"{value!r} is not a whole number of at least {least}",
            where=name,
            remedy="give a whole number",
            name=name,
        )
