"""Domains in TOML: ``[inputs.age] integer = [17, 90]``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field, model_validator

from testsgd.certification.domain.domain import (
    CategoryInput,
    DomainInput,
    IntegerInput,
    RealInput,
    choice,
)
from testsgd.data import DatasetSpecification, Feature
from testsgd.data.schema_parts import Category, Count, Number, Part, mistake
from testsgd.data.toml_document import line_of, validated
from testsgd.errors import SpecificationError


class InputPart(Part):
    """One input: exactly one of `integer`, `real` and `values`."""

    integer: tuple[Number, Number] | None = Field(
        None, description="smallest and largest value of an input that takes whole numbers"
    )
    real: tuple[Number, Number] | None = Field(
        None, description="the ends of an input that takes real numbers"
    )
    values: list[Category] | None = Field(
        None, description="the values of a category, in the order of the model"
    )
    columns: list[Count] | None = Field(
        None,
        description="positions of the model's columns, one a value, if the category is a group of "
        "raw columns",
    )
    description: str = Field("", description="a remark for people")

    @model_validator(mode="after")
    def _one_kind(self) -> InputPart:
        given = [key for key in ("integer", "real", "values") if getattr(self, key) is not None]
        if len(given) != 1:
            raise mistake(
                given[1] if given else (),
                "give exactly one of `integer = [low, high]`, `real = [low, high]` and "
                "`values = [...]`",
            )
        if self.columns is not None and self.values is None:
            raise mistake("columns", "is for categories, which have `values`")
        return self


class DomainPart(Part):
    """A domain as a document."""

    name: str = Field("", description="what to call the domain")
    description: str = Field("", description="a remark for people")
    protected: str | list[str] | None = Field(None, description="names of the protected inputs")
    protected_values: dict[str, list[Any]] | list[Any] | None = Field(
        None,
        description="the values that are compared: a list, or a list for each protected input, or "
        "combinations",
    )
    inputs: dict[str, InputPart] = Field(description="the model's inputs, in its order")


@dataclass(frozen=True)
class Described:
    """What a description says of a domain; `protected` is None if it does not say who is compared.

    `name`: what to call it; `inputs`: in order; `protected`: names of inputs; `protected_values`:
    as in :func:`testsgd.certification.domain.find_domain`; for `protected` only; `where`: what to
    call the description in messages; `no_inputs`: sensitive features that are no inputs of the
    model.
    """

    name: str
    inputs: tuple[DomainInput, ...]
    protected: tuple[str, ...] | None
    protected_values: Any
    where: str
    no_inputs: tuple[str, ...] = ()


def read_document(document: Mapping[str, Any], *, text: str, where: str, name: str) -> Described:
    """Read a domain from a document with the keys of the TOML format.

    `text`: the TOML text it came from, so that lines can be named; may be empty; `name`: what to
    call the domain, if the document does not say.
    """
    _check_keys(document, text, where)
    if not document.get("inputs"):
        raise SpecificationError(
            "there are no inputs", where=where, remedy="describe each under [inputs.NAME]"
        )
    part = validated(DomainPart, document, text=text, where=where)
    inputs = []
    for key, item in part.inputs.items():
        try:
            inputs.append(_input(key, item))
        except SpecificationError as error:
            raise SpecificationError(
                error.what, where=_place(("inputs", key), text, where), remedy=error.remedy
            ) from error
    protected = (part.protected,) if isinstance(part.protected, str) else part.protected
    return Described(
        name=part.name or name,
        inputs=_by_column(tuple(inputs), where),
        protected=None if protected is None else tuple(protected),
        protected_values=part.protected_values,
        where=where,
    )


def _check_keys(document: Mapping[str, Any], text: str, where: str) -> None:
    """Refuse unknown keys with what they resemble; everything else is for the format."""
    _refuse_unknown(document, DomainPart.model_fields, (), text, where)
    inputs = document.get("inputs")
    if isinstance(inputs, Mapping):
        for name, item in inputs.items():
            if not isinstance(item, Mapping):
                raise SpecificationError(
                    f"the input is described by {item!r}",
                    where=_place(("inputs", str(name)), text, where),
                    remedy="write { integer = [low, high] }, { real = [low, high] } or "
                    "{ values = [...] }",
                )
            _refuse_unknown(item, InputPart.model_fields, ("inputs", str(name)), text, where)


def _refuse_unknown(
    part: Mapping[str, Any], known: Iterable[str], path: tuple[str, ...], text: str, where: str
) -> None:
    known = list(known)
    for key in part:
        if key not in known:
            raise SpecificationError(
                f"unknown key {key!r}",
                where=_place((*path, str(key)), text, where),
                remedy=choice(str(key), known),
                key=str(key),
            )


def _place(path: tuple[str, ...], text: str, where: str) -> str:
    line = f", line {line_of(text, path)}" if text else ""
    return f"{where}{line}, {'.'.join(path)}"


def _input(name: str, part: InputPart) -> DomainInput:
    if part.integer is not None:
        low, high = part.integer
        # IntegerInput says what is wrong with an end that is no whole number.
        return IntegerInput(name, low, high)  # type: ignore[arg-type]
    if part.real is not None:
        return RealInput(name, *part.real)
    columns = None if part.columns is None else tuple(part.columns)
    return CategoryInput(name, tuple(part.values or ()), columns)


def _by_column(inputs: tuple[DomainInput, ...], where: str) -> tuple[DomainInput, ...]:
    """Order inputs by their columns: groups stand where they say, the others fill the gaps."""
    groups = {
        item.name: item.columns
        for item in inputs
        if isinstance(item, CategoryInput) and item.columns is not None
    }
    if not groups:
        return inputs
    taken = [column for columns in groups.values() for column in columns]
    width = len(inputs) - len(groups) + len(taken)
    if len(set(taken)) < len(taken):
        raise SpecificationError(
            "two categories have a column in common", where=where, remedy="correct `columns`"
        )
    if max(taken) >= width:
        raise SpecificationError(
            f"column {max(taken)} is named, and the inputs have {width} columns in all",
            where=where,
            remedy="count columns from 0, and describe every input",
        )
    gaps = iter(sorted(set(range(width)) - set(taken)))
    first = [min(groups[item.name]) if item.name in groups else next(gaps) for item in inputs]
    order = sorted(range(len(inputs)), key=first.__getitem__)
    return tuple(inputs[place] for place in order)


def domain_of_features(specification: DatasetSpecification) -> Described:
    """Make a domain of a data set's features.

    A feature of the type ``integer`` takes the whole numbers of its range, as ages do, one of the
    type ``decimal`` all real numbers of it, a categorical one its declared values. Nobody in the
    domain lacks a value. Protected are, if nobody says otherwise, the sensitive features.
    """
    return Described(
        name=specification.name,
        inputs=tuple(
            _feature_input(name, feature, specification.name)
            for name, feature in specification.features.items()
            if feature.input
        ),
        protected=tuple(name for name in specification.sensitive if name in specification.inputs),
        protected_values=None,
        where=specification.name,
        no_inputs=tuple(
            name for name, feature in specification.features.items() if not feature.input
        ),
    )


def _feature_input(name: str, feature: Feature, where: str) -> DomainInput:
    if feature.type == "categorical":
        return CategoryInput(name, tuple(feature.values or ()))
    if feature.range is None:
        raise SpecificationError(
            "the feature has no range, so its domain is not known",
            where=f"{where}, features.{name}",
            remedy="add `range = [lowest, highest]`",
        )
    low, high = feature.range
    if feature.type == "decimal":
        return RealInput(name, low, high)
    if math.ceil(low) > math.floor(high):
        raise SpecificationError(
            f"there is no whole number from {low:g} to {high:g}",
            where=f"{where}, features.{name}",
            remedy="correct `range`, or declare the feature decimal",
        )
    return IntegerInput(name, math.ceil(low), math.floor(high))
