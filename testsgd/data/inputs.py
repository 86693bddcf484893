"""From what a user gives for a data set to its description or its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from testsgd.data.categories import category_text
from testsgd.data.classes import checked_outcome, favourable_classes
from testsgd.data.schema import DatasetSpecification, Label
from testsgd.data.specification import Specification, load_specification, specification_from_mapping
from testsgd.data.table import Table, check_table, load_table
from testsgd.data.text.schema import TextSpecification
from testsgd.errors import ParameterError


def resolve_specification(
    spec: Specification | Mapping[str, Any] | str | Path,
    *,
    favourable: Any = None,
    outcome: str | None = None,
) -> Specification:
    """Return a data set's description, with another favourable label or outcome if one is given.

    A favourable label that is not among the declared labels is taken all the same, and then no
    labels are declared: a model may know more labels than the file.

    Parameters
    ----------
    spec : DatasetSpecification, TextSpecification, mapping, str or path-like
        As for :func:`audit`: a description, a mapping with the keys of the TOML format, a name of
        the catalogue, or the path of a TOML file.
    favourable : str, or list of str, optional
        The label whose rate is compared, or several together, also as one text with commas.
    outcome : {"benefit", "harm", "neither"}, optional
        What it is for a person to be given that label.

    Returns
    -------
    DatasetSpecification or TextSpecification

    Raises
    ------
    ParameterError
        If there is no data set of that name, or the outcome is none of the three.
    SpecificationError
        If the mapping or the file does not describe a data set.

    Examples
    --------
    >>> resolve_specification("demo").label.favourable
    'yes'
    >>> resolve_specification("demo", favourable="no").label.favourable
    'no'
    """
    if isinstance(spec, Mapping):
        spec = specification_from_mapping(spec)
    elif isinstance(spec, (str, Path)):
        spec = load_specification(spec)
    elif not isinstance(spec, (DatasetSpecification, TextSpecification)):
        raise ParameterError(
            f"a {type(spec).__name__} describes no data set",
            where="spec",
            remedy="name a data set of the catalogue or a TOML file, or give a mapping or a "
            "DatasetSpecification; true labels are a column of the rows, named under [label]",
        )
    label = spec.label
    changed: dict[str, Any] = {}
    if (known := checked_outcome(outcome)) is not None:
        changed["outcome"] = known
    if favourable is not None:
        if len(several := _several(favourable, label.values)) > 1:
            label = _joined(label, several)
        else:
            changed["favourable"] = several[0]
        changed["meaning"] = ""
        if label.values is not None and several[0] not in label.values:
            # A model may know more labels than the file; the table's check speaks of the file's.
            changed["values"] = None
    if not changed:
        return spec
    return spec.model_copy(update={"label": label.model_copy(update=changed)})


def _several(favourable: Any, values: Sequence[str] | None) -> tuple[str, ...]:
    """Return the favourable labels that a user names, of those that a description lists."""
    is_list = isinstance(favourable, (list, tuple, set, frozenset))
    if values is None and is_list:
        raise ParameterError(
            "several labels are favourable, and the description does not list its labels",
            where="favourable",
            remedy="list them as `values` under [label]",
        )
    if values is not None and is_list:
        return favourable_classes(values, favourable)
    text = category_text(favourable)
    parts = [part.strip() for part in text.split(",")]
    if values is not None and text not in values and set(parts) <= set(values):
        return favourable_classes(values, parts)
    return (text,)


def _joined(label: Label, favourable: Sequence[str]) -> Label:
    """Return a label of which several values are favourable together."""
    written = label.model_dump(exclude_unset=True)
    return Label.model_validate({**written, "favourable": list(favourable)})


def find_table(
    data: Any,
    specification: DatasetSpecification,
    *,
    limit: int | None,
    seed: int,
    passed: Sequence[str] = (),
    typed: bool = True,
) -> Table:
    """Return checked rows: given ones, those of a file, or the data set's own.

    Parameters
    ----------
    data : path-like, data frame or None
        A file, or rows as for :func:`check_table`; None for the files of the description.
    specification : DatasetSpecification
        The data set.
    limit : int or None
        Most rows to return; if there are more, a sample of that size is drawn without replacement.
    seed : int
        Seed of that draw, and of the rows of a data set that the package generates.
    passed : sequence of str
        Columns that the description does not have and the model needs.
    typed : bool
        As for :func:`load_table`.

    Returns
    -------
    Table

    Raises
    ------
    DataError, DownloadError, ParameterError
        As for :func:`load_table` and :func:`check_table`; also if `limit` is below 1 or `seed`
        below 0.

    Examples
    --------
    >>> from testsgd.data import load_specification
    >>> len(find_table(None, load_specification("demo"), limit=100, seed=0))
    100
    """
    if data is None or isinstance(data, (str, Path)):
        table = load_table(specification, file=data, seed=seed, passed=passed, typed=typed)
    else:
        table = check_table(data, specification, passed=passed)
    return table.limited(limit, seed)


def check_no_terms(terms: Any, specification: DatasetSpecification) -> None:
    """Raise an error if a table is to be audited with sensitive terms.

    Parameters
    ----------
    terms : object
        What the user gave as a list of terms; None if nothing.
    specification : DatasetSpecification
        The table's description.

    Raises
    ------
    ParameterError
        If `terms` is not None.
    """
    if terms is not None:
        raise ParameterError(
            f"{specification.name!r} is a table; sensitive terms are for texts",
            where="terms",
            remedy="leave it out, or name a data set of texts",
        )
