"""Domains from names, files, mappings, descriptions of data sets and objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from testsgd.certification.domain import document
from testsgd.certification.domain.document import Described
from testsgd.certification.domain.domain import CategoryInput, Domain, choice, shortened_list
from testsgd.certification.domain.fitting import check_domain, fitted_inputs
from testsgd.certification.domain.given_weights import given_marginal
from testsgd.certification.domain.protected import compared_values, few_enough, protected_inputs
from testsgd.certification.network.feedforward import FeedForward
from testsgd.data import DatasetSpecification, TextSpecification, catalogue, resolve_specification
from testsgd.data.toml_document import parse_toml, read_toml_text
from testsgd.errors import ParameterError, SpecificationError


def find_domain(
    source: Any,
    *,
    protected: str | Sequence[str | int] | None = None,
    protected_values: Any = None,
    network: FeedForward | None = None,
) -> Domain:
    """Return the domain that something describes.

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
        of a data set the sensitive features. If these have more combinations of values than can be
        compared, those with the most values are left out; the domain's `left_out` names them.
    protected_values : sequence or mapping, optional
        The values to compare: a list of one input; of several a list of combinations, or a list for
        each by name. By default those of the source, if it is about these protected inputs; else
        all their values. A JSON file compares the ends of its protected input.
    network : FeedForward, optional
        The network to fit the domain to: its order of inputs, without inputs that it does not take.

    Returns
    -------
    Domain
        The inputs, the protected ones, and the combinations of protected values to compare.

    Raises
    ------
    SpecificationError, ParameterError
        If the description is wrong; or there is no such domain, a protected input or value is
        outside of it, or it does not fit the network.

    Examples
    --------
    >>> domain = find_domain("demo", protected="race")
    >>> [domain.describe_value("race", *values) for values in domain.protected_values]
    ['race = White', 'race = Black', 'race = Hispanic', 'race = Asian']
    """
    described = _described(source)
    named = [protected] if isinstance(protected, (str, int)) else protected
    no_inputs = [
        name
        for name in (described.no_inputs if named is None else named)
        if name in described.no_inputs
    ]
    if no_inputs:
        raise ParameterError(
            f"the protected attribute {no_inputs[0]!r} is no input of the model by the "
            "description, and a proof compares values of inputs",
            where="protected",
            remedy="name inputs as protected, or audit the model instead",
            name=no_inputs[0],
        )
    default = (
        protected_inputs(described.inputs, described.protected) if described.protected else None
    )
    names = default if protected is None else protected_inputs(described.inputs, protected)
    left_out = described.left_out if names == default else ()
    if (
        names is not None
        and protected is None
        and protected_values is None
        and data_set_of(source) is not None
    ):
        names, left_out = few_enough(described.inputs, names)
    if names is None:
        raise ParameterError(
            f"the domain {described.name!r} does not say which inputs are protected",
            where="protected",
            remedy=f"name at least one of {shortened_list(item.name for item in described.inputs)}",
        )
    if protected_values is None and names == default:
        protected_values = described.protected_values
    inputs = described.inputs
    if network is not None:
        inputs = fitted_inputs(inputs, network, names, where=described.name)
    domain = Domain(
        described.name,
        inputs,
        names,
        compared_values(inputs, names, protected_values),
        left_out=left_out,
    )
    marginals = {
        item.name: marginal
        for item in domain.free
        if item.name in described.weights
        and (marginal := given_marginal(item, described.weights[item.name], where=item.name))
    }
    if marginals:
        domain = replace(domain, marginals=marginals, weighted_by="given")
    if isinstance(source, Domain) and source.marginals:
        if (domain.inputs, domain.protected) != (source.inputs, source.protected):
            raise ParameterError(
                "the domain is weighted, and its inputs or protected attributes would change",
                where="domain",
                remedy="choose the protected attributes and fit it to the network first, then "
                "weight it",
            )
        domain = replace(domain, marginals=source.marginals, weighted_by=source.weighted_by)
    if network is not None:
        check_domain(domain, network)
    return domain


def data_set_of(source: Any) -> DatasetSpecification | None:
    """Return the description of the data set that a domain is given by; None if it is none.

    Parameters
    ----------
    source : str, path-like, mapping or object
        What :func:`find_domain` takes.

    Returns
    -------
    DatasetSpecification or None
        The description, whose features are the domain's inputs. None for a domain, for ranges of
        inputs, and for all that is no data set.

    Raises
    ------
    ParameterError
        If the data set is one of texts.

    Examples
    --------
    >>> data_set_of({"inputs": {"age": {"integer": [17, 90]}}}) is None
    True
    >>> data_set_of("demo").name
    'demo'
    """
    keys: set[str] = set()
    if isinstance(source, (DatasetSpecification, TextSpecification)) or str(source) in catalogue():
        keys = {"features"}
    elif isinstance(source, Mapping):
        keys = set(source)
    elif isinstance(source, (str, Path)) and str(source).endswith(".toml"):
        text = read_toml_text(Path(source), purpose="describes the domain")
        keys = set(parse_toml(text, where=str(source)))
    if keys & {"inputs", "minimum", "maximum"}:
        return None
    if not keys & {"dataset", "features", "label", "text"}:
        return None
    specification = resolve_specification(source)
    if isinstance(specification, TextSpecification):
        raise ParameterError(
            f"{specification.name!r} is a data set of texts, which have no domain to go through",
            where="domain",
            remedy="name a data set of rows",
            name="domain",
        )
    return specification


def _described(source: Any) -> Described:
    if isinstance(source, Domain):
        compared = tuple(
            tuple(
                item.text(value) if isinstance(item := source.input(name), CategoryInput) else value
                for name, value in zip(source.protected, row, strict=True)
            )
            for row in source.protected_values
        )
        return Described(
            source.name,
            source.inputs,
            source.protected,
            compared,
            source.name,
            left_out=source.left_out,
        )
    specification = data_set_of(source)
    if specification is not None:
        return document.domain_of_features(specification)
    if isinstance(source, Mapping):
        return _of_mapping(source, text="", where="domain", name="domain")
    if isinstance(source, (str, Path)):
        return _of_file(str(source))
    raise ParameterError(
        f"the domain is {'not given' if source is None else f'of type {type(source).__name__}'}",
        where="domain",
        remedy="give a data set of the catalogue, or a file with the range of every input",
    )


def _of_file(source: str) -> Described:
    path, name = Path(source), source
    file, mark, key = source.rpartition(".json:")
    if path.suffix == ".json" or mark:
        path = path if path.suffix == ".json" else Path(f"{file}.json")
        chosen = None if path == Path(source) else key
        bounds = document.read_json_bounds(path, chosen)
        return document.domain_of_bounds(bounds, where=source, name=chosen or path.stem)
    if path.suffix == ".nnet":
        bounds = document.read_nnet_bounds(path)
        return document.domain_of_bounds(bounds, where=source, name=path.stem)
    shipped = document.shipped_domains()
    if source in shipped:
        path = shipped[source]
    elif path.suffix == ".toml":
        name = path.stem
    else:
        raise ParameterError(
            f"there is no domain {source!r}",
            where="domain",
            remedy=f"{choice(source, [*shipped, *catalogue()])}, or give a .toml or "
            ".json file with the range of every input",
        )
    text = read_toml_text(path, purpose="describes the domain")
    return _of_mapping(parse_toml(text, where=source), text=text, where=source, name=name)


def _of_mapping(given: Mapping[str, Any], *, text: str, where: str, name: str) -> Described:
    """Return the domain that a mapping describes; its main key says which kind it is."""
    if "inputs" in given:
        return document.read_document(given, text=text, where=where, name=name)
    if "minimum" in given or "maximum" in given:
        return document.domain_of_bounds(given, where=where, name=name)
    near = choice(str(next(iter(given), "")), ["inputs", "features"])
    raise SpecificationError(
        "there are no inputs",
        where=where,
        remedy=f"describe each under [inputs.NAME]{'; ' + near if 'mean' in near else ''}",
    )
