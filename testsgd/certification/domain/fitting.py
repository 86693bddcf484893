"""Checks that a domain fits a network, and its inputs in the order of the network."""

from __future__ import annotations

import re
from collections.abc import Sequence

from testsgd.certification.domain.domain import (
    CategoryInput,
    Domain,
    DomainInput,
    IntegerInput,
    shortened_list,
)
from testsgd.certification.network.feedforward import CategoryColumns, FeedForward, InputColumns
from testsgd.errors import ParameterError
from testsgd.report.formatting import plural

_NO_NAME = re.compile(r"x\d+")


def fitted_inputs(
    inputs: tuple[DomainInput, ...], network: FeedForward, protected: Sequence[str], *, where: str
) -> tuple[DomainInput, ...]:
    """Return the inputs in the order of a network, without those that it does not take.

    An input that the network does not take cannot matter to its decision, so leaving it out changes
    no share; a protected one must stay. Where the network or the domain has no names of its own
    (x0, x1, ...), inputs are matched by position. A category of whole numbers, such as 0 and 1,
    that the network takes as a number becomes an input of whole numbers.
    """
    own = {item.name: item for item in inputs}
    wanted = [item.name for item in network.inputs]
    if set(wanted) <= set(own):
        for name in protected:
            if name not in wanted:
                raise ParameterError(
                    f"the model does not take {name!r}, so its decision cannot depend on it",
                    where="protected",
                    remedy=f"protect one of {shortened_list(wanted)}",
                    name=name,
                )
        inputs = tuple(own[name] for name in wanted)
    else:
        _check_names(inputs, network, where)
    return tuple(_as_taken(item, given) for item, given in zip(inputs, network.inputs, strict=True))


def check_domain(domain: Domain, network: FeedForward) -> None:
    """Check that a domain has the inputs of a network, in its order, and more than one person.

    Names are compared only where both have names of their own; else inputs are matched by position.
    A category must have the model's values in the model's order, or the number of its columns.

    Parameters
    ----------
    domain : Domain
        The domain.
    network : FeedForward
        The network.

    Raises
    ------
    ParameterError
        If an input is missing, superfluous, at another position or of another kind, or if the
        inputs that are not protected have one combination of values only.

    Examples
    --------
    >>> import numpy as np
    >>> from testsgd.certification import Domain, IntegerInput
    >>> from testsgd.certification.network import (
    ...     Decision, DenseLayer, FeedForward, InputColumns, NumberColumns)
    >>> layer = DenseLayer(np.array([[1.0], [3.0]]), np.array([-10.5]), "linear")
    >>> column = NumberColumns(np.ones(1), np.zeros(1))
    >>> network = FeedForward(
    ...     "linear", "made by hand", (layer,),
    ...     (InputColumns("skill", column), InputColumns("man", column)),
    ...     Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64")
    >>> inputs = (IntegerInput("skill", 0, 19), IntegerInput("man", 0, 1))
    >>> check_domain(Domain("skills", inputs, ("man",), ((0,), (1,))), network)
    >>> check_domain(Domain("skills", inputs[::-1], ("man",), ((0,), (1,))), network)
    Traceback (most recent call last):
    ...
    testsgd.errors.ParameterError: skills: input 0 is 'man' in the domain and 'skill' in the \
model; give the inputs in the model's order, under the model's names
    """
    _check_names(domain.inputs, network, domain.name)
    for item, given in zip(domain.inputs, network.inputs, strict=True):
        _check_kind(item, given, domain.name)
    if domain.points == 1:
        raise ParameterError(
            "the domain holds one person only, up to the protected attributes",
            where=domain.name,
            remedy="give at least one other input more than one value",
        )


def _check_names(inputs: Sequence[DomainInput], network: FeedForward, where: str) -> None:
    own = [item.name for item in inputs]
    wanted = [item.name for item in network.inputs]
    both = min(sum(map(_is_name, own)), sum(map(_is_name, wanted))) > 0
    missing = [name for name in wanted if _is_name(name) and name not in own] if both else []
    if missing and all(map(_is_name, own)):
        unknown = [name for name in own if name not in wanted]
        seen = f", which has {shortened_list(unknown)} instead" if unknown else ""
        are = "is" if len(missing) == 1 else "are"
        raise ParameterError(
            f"{plural(len(missing), 'input')} of the model {are} missing in the domain: "
            f"{shortened_list(missing)}{seen}",
            where=where,
            remedy="describe every input of the model, under the model's names",
            missing=missing,
        )
    if len(own) != len(wanted):
        raise ParameterError(
            f"the domain has {plural(len(own), 'input')}, and the model takes {len(wanted)}",
            where=where,
            remedy="describe every input; a category that is a group of 0/1 columns needs "
            "`columns`, their positions",
        )
    for place, (name, other) in enumerate(zip(own, wanted, strict=True)):
        if _is_name(name) and _is_name(other) and name != other:
            raise ParameterError(
                f"input {place} is {name!r} in the domain and {other!r} in the model",
                where=where,
                remedy="give the inputs in the model's order, under the model's names",
            )


def _check_kind(item: DomainInput, given: InputColumns, where: str) -> None:
    takes = given.columns
    if not isinstance(takes, CategoryColumns):
        if isinstance(item, CategoryInput):
            raise ParameterError(
                f"{item.name!r} is a category in the domain, and the model takes a number",
                where=where,
                remedy=f"give the numbers that stand for the values: integer = "
                f"[0, {item.size - 1}]; or `columns`, if it is a group of 0/1 columns",
            )
        return
    if not isinstance(item, CategoryInput):
        raise ParameterError(
            f"the model takes {item.name!r} as a category, and the domain has {item.extent}",
            where=where,
            remedy=f"list its values: {shortened_list(takes.values)}",
        )
    if item.columns is not None:
        fits = item.size == len(takes.values)
    else:
        fits = item.values == tuple(takes.values)
    if not fits:
        raise ParameterError(
            f"{item.name!r} has the values {shortened_list(item.values)} in the domain, and "
            f"{shortened_list(takes.values)} in the model",
            where=where,
            remedy="list the model's values in its order; `protected_values` chooses among them",
        )


def _as_taken(item: DomainInput, given: InputColumns) -> DomainInput:
    """Return the input in the way that the network takes it, if there is no doubt about it."""
    if not isinstance(item, CategoryInput) or item.columns is not None:
        return item
    if isinstance(given.columns, CategoryColumns):
        values = tuple(given.columns.values)
        return CategoryInput(item.name, values) if set(values) == set(item.values) else item
    low = _whole(item.values[0])
    if low is not None and item.values == tuple(str(low + k) for k in range(item.size)):
        return IntegerInput(item.name, low, low + item.size - 1)
    return item


def _is_name(name: str) -> bool:
    return _NO_NAME.fullmatch(name) is None


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else None
