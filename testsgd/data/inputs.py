"""From what a user gives for a data set to its description, its rows or its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from testsgd.data.categories import category_text
from testsgd.data.schema import DatasetSpecification
from testsgd.data.specification import Specification, load_specification, specification_from_mapping
from testsgd.data.table import Table, check_table, load_table
from testsgd.data.text.schema import TextSpecification
from testsgd.data.text.terms import SensitiveTerms, load_terms
from testsgd.data.text.texts import Texts, check_texts, load_texts
from testsgd.errors import ParameterError


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
    if isinstance(spec, Mapping):
        spec = specification_from_mapping(spec)
    elif isinstance(spec, (str, Path)):
        spec = load_specification(spec)
    if favourable is None:
        return spec
    label = spec.label
    changed: dict[str, Any] = {"favourable": category_text(favourable), "meaning": ""}
    if label.values is not None and changed["favourable"] not in label.values:
        # A model may know more labels than the file; the table's check speaks of the file's.
        changed["values"] = None
    return spec.model_copy(update={"label": label.model_copy(update=changed)})


def find_texts(
    data: Any,
    specification: TextSpecification,
    *,
    limit: int | None,
    seed: int,
    training: bool = False,
) -> Texts:
    """Find, read and check texts: given ones, those of a file, or the data set's own."""
    if data is None or isinstance(data, (str, Path)):
        texts = load_texts(specification, file=data, training=training)
    else:
        texts = check_texts(data, specification)
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
    if data is None or isinstance(data, (str, Path)):
        table = load_table(specification, file=data, seed=seed, passed=passed)
    else:
        table = check_table(data, specification, passed=passed)
    return table if limit is None else table.sample(limit, seed=seed)


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
