"""From what a user gives for a certification to a network and a domain that fit each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from testsgd.api.given import find_table, resolve_specification
from testsgd.certification.domain import (
    Domain,
    find_domain,
    with_data_weights,
)
from testsgd.certification.network import FeedForward, find_network
from testsgd.data import DatasetSpecification, TextSpecification, catalogue
from testsgd.data.toml_document import parse_toml, read_toml_text
from testsgd.errors import ParameterError
from testsgd.models import read_card

Weight = Literal["volume", "data"]


@dataclass(frozen=True)
class CertificationInputs:
    """A network and the domain that it is certified for; they fit each other."""

    network: FeedForward
    domain: Domain


def certification_inputs(
    model: Any,
    domain: Any,
    *,
    protected: str | Sequence[str] | None,
    protected_values: Any,
    threshold: float | None,
    weight: str,
    data: Any,
) -> CertificationInputs:
    """Find the network and the domain, with the data's weights if they are asked for.

    Parameters
    ----------
    model, domain, protected, protected_values, threshold, weight, data
        As for :func:`testsgd.certify`.

    Returns
    -------
    CertificationInputs

    Raises
    ------
    TestSGDError
        If one of them cannot be found, or they do not fit each other.
    """
    _check_weight(weight, data)
    names = protected_names(protected)
    if domain is None:
        domain = _domain_of(model, threshold)
    specification = _data_set(domain)
    source = domain if specification is None else specification

    def described(network: FeedForward | None) -> Domain:
        return find_domain(
            source, protected=names, protected_values=protected_values, network=network
        )

    # A mistake in the domain is found before the network is read.
    raw = described(None)
    network = find_network(
        model,
        threshold=threshold,
        specification=specification,
        categories=raw.groups,
    )
    found = described(network)
    if weight == "data":
        found = _weighted(found, specification, data)
    return CertificationInputs(network, found)


def protected_names(protected: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Read the protected inputs, given one by one or with commas; None if none is given.

    Examples
    --------
    >>> protected_names("race, gender"), protected_names(["race", "gender,age"])
    (('race', 'gender'), ('race', 'gender', 'age'))
    """
    if protected is None:
        return None
    given = [protected] if isinstance(protected, str) else protected
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) for one in given):
        raise ParameterError(
            f"{protected!r} is no list of inputs",
            where="protected",
            remedy="give names of inputs, with commas or as a list",
            name="protected",
        )
    names = tuple(dict.fromkeys(part.strip() for one in given for part in one.split(",")))
    names = tuple(name for name in names if name)
    if given and not names:
        raise ParameterError(
            "no input is named",
            where="protected",
            remedy="give names of inputs, with commas or as a list",
            name="protected",
        )
    return names or None


def _check_weight(weight: str, data: Any) -> None:
    if weight not in get_args(Weight):
        raise ParameterError(
            f"{weight!r} is not known",
            where="weight",
            remedy=f"choose one of {', '.join(get_args(Weight))}",
            name="weight",
        )
    if data is not None and weight != "data":
        raise ParameterError(
            "rows are given, but the shares are those of the volume",
            where="data",
            remedy="weight by the data, or leave the rows out",
            name="data",
        )


def _domain_of(model: Any, threshold: float | None) -> Any:
    """Tell the domain from the model: the data set that it was trained on."""
    text = str(model) if isinstance(model, (str, Path)) else ""
    if text in catalogue() or text.endswith(".nnet"):
        return text
    if text.endswith(".keras") and Path(text).is_file():
        name = read_card(Path(text).parent).get("data set")
        if name in catalogue():
            return name
    # If there is no such model, that is the first thing to know.
    find_network(model, threshold=threshold)
    raise ParameterError(
        "the domain is not given, and cannot be told from the model",
        where="domain",
        remedy="give a data set of the catalogue, or a file with the range of every input",
        name="domain",
    )


def _data_set(domain: Any) -> DatasetSpecification | None:
    """Give the data set's description, if the domain is one; its features are the inputs."""
    if not _is_data_set(domain):
        return None
    specification = resolve_specification(domain)
    if isinstance(specification, TextSpecification):
        raise ParameterError(
            f"{specification.name!r} is a data set of texts, which have no domain to go through",
            where="domain",
            remedy="name a data set of rows",
            name="domain",
        )
    return specification


def _is_data_set(domain: Any) -> bool:
    if isinstance(domain, (DatasetSpecification, TextSpecification)):
        return True
    if isinstance(domain, Mapping):
        return "features" in domain or "text" in domain
    if not isinstance(domain, (str, Path)):
        return False
    text = str(domain)
    if text in catalogue():
        return True
    if not text.endswith(".toml") or not Path(text).is_file():
        return False
    document = parse_toml(read_toml_text(Path(text), purpose="describes the domain"), where=text)
    return "features" in document or "text" in document


def _weighted(domain: Domain, specification: DatasetSpecification | None, data: Any) -> Domain:
    if specification is None:
        raise ParameterError(
            "only a data set's description says how its rows are read",
            where="weight",
            remedy="give a data set's name or description as the domain, or weight by volume",
            name="weight",
        )
    return with_data_weights(domain, find_table(data, specification, limit=None, seed=0))
