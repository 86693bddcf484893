"""Finding a domain: from a name, a file, a mapping, a data set's description or an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from testsgd.certification.domain.bounds_file import (
    inputs_from_bounds,
    read_bounds,
    read_nnet_bounds,
    shipped_domains,
    split_bounds_source,
)
from testsgd.certification.domain.document import Described, domain_of_features, read_document
from testsgd.certification.domain.domain import CategoryInput, Domain, choice, some
from testsgd.certification.domain.fitting import check_domain, fitted_inputs
from testsgd.certification.domain.protected import compared_values, protected_inputs
from testsgd.certification.network.feedforward import FeedForward
from testsgd.data import (
    DatasetSpecification,
    Specification,
    TextSpecification,
    catalogue,
    load_specification,
    parse_specification,
    specification_from_mapping,
)
from testsgd.data.toml_document import parse_toml, read_toml_text
from testsgd.errors import ParameterError, SpecificationError


def find_domain(
    source: Any,
    *,
    protected: str | Sequence[str | int] | None = None,
    protected_values: Any = None,
    network: FeedForward | None = None,
) -> Domain:
    """Find the domain that something describes.

    Parameters
    ----------
    source : str, path-like, mapping, DatasetSpecification or Domain
        One of:

        - a data set of the catalogue, its description, or a TOML file of it: its features with
          their ranges and values (integer features take whole numbers, decimal ones reals);
        - a domain that comes with the package, such as ``fairify/adult``;
        - a TOML file with ``[inputs.NAME]`` tables, or a mapping with the same keys;
        - a JSON file with the lists ``minimum`` and ``maximum``, or one of several in a file,
          ``domains.json:AC``; the inputs are then x0, x1, ...;
        - an ``.nnet`` file, which holds the ranges of its network's inputs;
        - a domain that was found before, to choose others to compare or to fit it to a network.
    protected : str or sequence of str, optional
        Names of the protected inputs, or their positions. By default those that the source names;
        of a data set the sensitive features.
    protected_values : sequence or mapping, optional
        The values to compare, see :func:`testsgd.certification.domain.compared_values`. By default
        those of the source, if it is about these protected inputs; else all their values. A JSON
        file compares the smallest and the largest value of its protected input.
    network : FeedForward, optional
        The network to fit the domain to: its order of inputs, without inputs that it does not take.

    Returns
    -------
    Domain

    Raises
    ------
    SpecificationError
        If the description is wrong: an empty range, no finite range, two inputs of one name, an
        unknown key.
    ParameterError
        If there is no such domain, a protected input or value is outside of it, or it does not fit
        the network.

    Examples
    --------
    >>> domain = find_domain("demo", protected="race")
    >>> [domain.describe_value("race", *values) for values in domain.protected_values]
    ['race = White', 'race = Black', 'race = Hispanic', 'race = Asian']
    """
    found = _described(source)
    named = [protected] if isinstance(protected, (str, int)) else protected
    no_inputs = [
        name for name in (found.no_inputs if named is None else named) if name in found.no_inputs
    ]
    if no_inputs:
        raise ParameterError(
            f"the protected attribute {no_inputs[0]!r} is no input of the model by the "
            "description, and a proof compares values of inputs",
            where="protected",
            remedy="name inputs as protected, or audit the model instead",
            name=no_inputs[0],
        )
    default = protected_inputs(found.inputs, found.protected) if found.protected else None
    names = default if protected is None else protected_inputs(found.inputs, protected)
    if names is None:
        raise ParameterError(
            f"the domain {found.name!r} does not say which inputs are protected",
            where="protected",
            remedy=f"name at least one of {some(item.name for item in found.inputs)}",
        )
    if protected_values is None and names == default:
        protected_values = found.protected_values
    inputs = found.inputs
    if network is not None:
        inputs = fitted_inputs(inputs, network, names, where=found.name)
    domain = Domain(found.name, inputs, names, compared_values(inputs, names, protected_values))
    if isinstance(source, Domain) and source.marginals:
        if (domain.inputs, domain.protected) != (source.inputs, source.protected):
            raise ParameterError(
                "the domain is weighted, and its inputs or protected attributes would change",
                where="domain",
                remedy="choose the protected attributes and fit it to the network first, then "
                "weight it",
            )
        domain = replace(domain, marginals=source.marginals)
    if network is not None:
        check_domain(domain, network)
    return domain


def _described(source: Any) -> Described:
    if isinstance(source, Domain):
        compared = tuple(
            tuple(
                item.text(value) if isinstance(item := source.input(name), CategoryInput) else value
                for name, value in zip(source.protected, row, strict=True)
            )
            for row in source.protected_values
        )
        return Described(source.name, source.inputs, source.protected, compared, source.name)
    if isinstance(source, (DatasetSpecification, TextSpecification)):
        return _of_data_set(source)
    if isinstance(source, Mapping):
        return _of_mapping(source, text="", where="domain", name="domain")
    if isinstance(source, (str, Path)):
        return _of_file(str(source))
    raise ParameterError(
        f"the domain is {'not given' if source is None else f'of type {type(source).__name__}'}",
        where="domain",
        remedy="give a data set of the catalogue, or a file with the range of every input",
    )


def _of_data_set(specification: Specification) -> Described:
    if isinstance(specification, TextSpecification):
        raise ParameterError(
            f"{specification.name!r} is a data set of texts, which have no ranges",
            where="domain",
            remedy="give a data set of rows",
        )
    return domain_of_features(specification)


def _of_file(source: str) -> Described:
    bounds = split_bounds_source(source)
    if bounds is not None:
        path, key = bounds
        return _of_bounds(read_bounds(path, key), where=source, name=key or path.stem)
    if source.endswith(".nnet"):
        return _of_bounds(read_nnet_bounds(Path(source)), where=source, name=Path(source).stem)
    if source in shipped_domains():
        path = shipped_domains()[source]
    elif source in catalogue():
        return _of_data_set(load_specification(source))
    elif source.endswith(".toml"):
        path = Path(source)
    else:
        raise ParameterError(
            f"there is no domain {source!r}",
            where="domain",
            remedy=f"{choice(source, [*shipped_domains(), *catalogue()])}, or give a .toml or "
            ".json file with the range of every input",
        )
    text = read_toml_text(path, purpose="describes the domain")
    name = source if source in shipped_domains() else path.stem
    return _of_mapping(parse_toml(text, where=source), text=text, where=source, name=name)


def _of_mapping(document: Mapping[str, Any], *, text: str, where: str, name: str) -> Described:
    """Tell the kinds of documents apart by their main key."""
    if "inputs" in document:
        return read_document(document, text=text, where=where, name=name)
    if "minimum" in document or "maximum" in document:
        return _of_bounds(document, where=where, name=name)
    if {"dataset", "features", "label", "text"} & set(document):
        return _of_data_set(
            parse_specification(text, where=where) if text else specification_from_mapping(document)
        )
    near = choice(str(next(iter(document), "")), ["inputs", "features"])
    raise SpecificationError(
        "there are no inputs",
        where=where,
        remedy=f"describe each under [inputs.NAME]{'; ' + near if 'mean' in near else ''}",
    )


def _of_bounds(bounds: Mapping[str, Any], *, where: str, name: str) -> Described:
    inputs, index = inputs_from_bounds(bounds, where=where)
    if index is None:
        return Described(name, inputs, None, None, where)
    item = inputs[index]
    return Described(name, inputs, (item.name,), ((item.low,), (item.high,)), where)
