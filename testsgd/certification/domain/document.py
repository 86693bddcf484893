"""What descriptions say of a domain: TOML documents, the features of a data set, plain bounds.

Bounds are JSON with the lists ``minimum`` and ``maximum``, or the header of an ``.nnet`` file.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from testsgd.certification.domain.domain import (
    CategoryInput,
    DomainInput,
    IntegerInput,
    RealInput,
    choice,
    raw_groups,
)
from testsgd.certification.domain.given_weights import GivenWeights, given_marginal
from testsgd.certification.network.nnet_files import MAXIMA, MINIMA, content_lines
from testsgd.data import DatasetSpecification, Feature, bundled_folder
from testsgd.data.schema_parts import Category, Count, Number, Part, mistake
from testsgd.data.toml_document import line_of, validated
from testsgd.errors import SpecificationError
from testsgd.io import loads_json, read_text


class BandPart(Part):
    """A band of a range, and what all its values weigh together."""

    first: Number = Field(alias="from", description="its first value")
    last: Number = Field(alias="to", description="its last value; of reals its end")
    weight: Number = Field(description="what all its values weigh together")


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
    weights: dict[str, Number] | None = Field(
        None, description="the weight of each value in the population, of whole numbers or values"
    )
    bands: list[BandPart] | None = Field(
        None, description="the weights of the population by bands of a range"
    )
    description: str = Field("", description="a remark for people")

    @model_validator(mode="before")
    @classmethod
    def _table(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            remedy = "write { integer = [low, high] }, { real = [low, high] } or { values = [...] }"
            raise mistake((), f"the input is described by {given!r}", remedy)
        return given

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
        if self.weights is not None and (self.real is not None or self.bands is not None):
            raise mistake("weights", "are for single values; of a range give `bands` instead")
        if self.bands is not None and self.values is not None:
            raise mistake("bands", "are of a range of numbers; of `values` give `weights` instead")
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


class BoundsPart(Part):
    """A domain as bounds of its inputs; those with a decimal point (1.0) in one take reals."""

    minimum: list[Any] = Field(min_length=1, description="the smallest value of each input")
    maximum: list[Any] = Field(min_length=1, description="the largest value of each input")
    protected: Count | None = Field(None, description="the position of the protected input")

    @model_validator(mode="after")
    def _as_many(self) -> BoundsPart:
        low, high = len(self.minimum), len(self.maximum)
        if low != high:
            raise mistake("maximum", f"has {high} numbers, and `minimum` has {low}")
        if self.protected is not None and self.protected >= low:
            raise mistake("protected", f"is {self.protected}, and there are {low} inputs, from 0")
        return self


@dataclass(frozen=True)
class Described:
    """A domain as a description gives it, before its protected inputs are chosen."""

    name: str
    inputs: tuple[DomainInput, ...]
    protected: tuple[str, ...] | None  # None if it does not say who is compared.
    # As :func:`testsgd.certification.domain.find_domain` takes them; for `protected` only.
    protected_values: Any
    where: str  # What to call the description in messages.
    weights: Mapping[str, GivenWeights] = field(default_factory=dict)
    no_inputs: tuple[str, ...] = ()  # Sensitive features that are no inputs of the model.
    # Sensitive features that were left out of `protected`, as :class:`Domain` has them.
    left_out: tuple[str, ...] = ()


@contextlib.contextmanager
def _mistakes_at(place: str) -> Iterator[None]:
    try:
        yield
    except SpecificationError as error:
        raise SpecificationError(error.what, where=place, remedy=error.remedy) from error


def read_document(document: Mapping[str, Any], *, text: str, where: str, name: str) -> Described:
    """Return the domain of a document; mistakes are named by line if the TOML `text` is given."""
    if not document.get("inputs"):
        raise SpecificationError(
            "there are no inputs", where=where, remedy="describe each under [inputs.NAME]"
        )
    part = validated(DomainPart, document, text=text, where=where)
    inputs = []
    weights = {}
    for key, item in part.inputs.items():
        line = f", line {line_of(text, ('inputs', key))}" if text else ""
        place = f"{where}{line}, inputs.{key}"
        with _mistakes_at(place):
            inputs.append(_input(key, item))
            if item.weights is not None or item.bands is not None:
                bands = tuple((band.first, band.last, band.weight) for band in item.bands or ())
                weights[key] = GivenWeights(item.weights or {}, bands)
                # A mistake is found even if the input is protected, and has no weight then.
                given_marginal(inputs[-1], weights[key], where=place)
    protected = (part.protected,) if isinstance(part.protected, str) else part.protected
    return Described(
        name=part.name or name,
        inputs=_by_column(tuple(inputs), where),
        protected=None if protected is None else tuple(protected),
        protected_values=part.protected_values,
        where=where,
        weights=weights,
    )


def _input(name: str, part: InputPart) -> DomainInput:
    if part.integer is not None:
        low, high = part.integer
        # IntegerInput says what is wrong with an end that is no whole number.
        return IntegerInput(name, low, high)  # type: ignore[arg-type]  # checked there
    if part.real is not None:
        return RealInput(name, *part.real)
    columns = None if part.columns is None else tuple(part.columns)
    return CategoryInput(name, tuple(part.values or ()), columns)


def _by_column(inputs: tuple[DomainInput, ...], where: str) -> tuple[DomainInput, ...]:
    """Return the inputs in the order of their columns; those without `columns` fill the gaps."""
    groups = raw_groups(inputs)
    if not groups:
        return inputs
    claimed = [column for columns in groups.values() for column in columns]
    width = len(inputs) - len(groups) + len(claimed)
    if len(set(claimed)) < len(claimed):
        raise SpecificationError(
            "two categories have a column in common", where=where, remedy="correct `columns`"
        )
    if max(claimed) >= width:
        raise SpecificationError(
            f"column {max(claimed)} is named, and the inputs have {width} columns in all",
            where=where,
            remedy="count columns from 0, and describe every input",
        )
    gaps = iter(sorted(set(range(width)) - set(claimed)))
    first = {item.name: min(groups.get(item.name) or (next(gaps),)) for item in inputs}
    return tuple(sorted(inputs, key=lambda item: first[item.name]))


def domain_of_bounds(bounds: Mapping[str, Any], *, where: str, name: str) -> Described:
    """Return the domain of plain bounds; the ends of its protected input are compared."""
    part = validated(BoundsPart, bounds, where=where)
    inputs: list[DomainInput] = []
    for index, ends in enumerate(zip(part.minimum, part.maximum, strict=True)):
        kind = RealInput if any(isinstance(end, float) for end in ends) else IntegerInput
        with _mistakes_at(f"{where}, x{index}"):
            inputs.append(kind(f"x{index}", *ends))
    protected, compared = None, None
    if part.protected is not None:
        protected = (f"x{part.protected}",)
        compared = tuple((side[part.protected],) for side in (part.minimum, part.maximum))
    return Described(name, tuple(inputs), protected, compared, where)


def domain_of_features(specification: DatasetSpecification) -> Described:
    """Make a domain of a data set's features.

    A feature of the type ``integer`` takes the whole numbers of its range, as ages do, one of the
    type ``decimal`` all real numbers of it, a categorical one its declared values. Nobody in the
    domain lacks a value. Protected are, if nobody says otherwise, the sensitive features.
    """
    name, features = specification.name, specification.features
    return Described(
        name=name,
        inputs=tuple(
            _feature_input(key, feature, f"{name}, features.{key}")
            for key, feature in features.items()
            if feature.input
        ),
        protected=tuple(key for key in specification.sensitive if key in specification.inputs),
        protected_values=None,
        where=name,
        no_inputs=tuple(key for key, feature in features.items() if not feature.input),
    )


def _feature_input(name: str, feature: Feature, where: str) -> DomainInput:
    if feature.type == "categorical":
        return CategoryInput(name, tuple(feature.values or ()))
    if feature.range is None:
        raise SpecificationError(
            "the feature has no range, so its domain is not known",
            where=where,
            remedy="add `range = [lowest, highest]`",
        )
    low, high = feature.range
    if feature.type == "decimal":
        return RealInput(name, low, high)
    if math.ceil(low) > math.floor(high):
        raise SpecificationError(
            f"there is no whole number from {low:g} to {high:g}",
            where=where,
            remedy="correct `range`, or declare the feature decimal",
        )
    return IntegerInput(name, math.ceil(low), math.floor(high))


def _text(path: Path, kind: str, remedy: str) -> str:
    try:
        return read_text(path, encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise SpecificationError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecificationError(
            f"the file is no {kind}", where=str(path), remedy=remedy
        ) from error


def read_nnet_bounds(path: Path) -> Mapping[str, Any]:
    """Read minima and maxima from the header of an ``.nnet`` file; 1.0 is a float, 1 is not."""
    lines = content_lines(_text(path, "text", "give an .nnet file"))
    try:
        width = int(lines[0].split(",")[1])
        low, high = (
            [loads_json(cell) for cell in lines[place].split(",") if cell.strip()][:width]
            for place in (MINIMA, MAXIMA)
        )
        if not len(low) == len(high) == width:
            raise ValueError
    except (IndexError, ValueError) as error:
        raise SpecificationError(
            "the header does not say minimum and maximum of each input",
            where=str(path),
            remedy="give the domain in a file of its own",
        ) from error
    return {"minimum": low, "maximum": high}


def read_json_bounds(path: Path, key: str | None) -> Mapping[str, Any]:
    """Read the bounds of a domain; `key` names one of several in the file."""
    remedy = "give a domain in JSON or TOML"
    try:
        document = loads_json(_text(path, "JSON", remedy))
    except (ValueError, RecursionError) as error:
        raise SpecificationError(
            f"the file is no JSON that can be read: {error}", where=str(path), remedy=remedy
        ) from error
    domains: Mapping[str, Any] = document if isinstance(document, dict) else {}
    if key is None:
        if "minimum" in domains:
            return domains
        example = f"name one of its domains: {path.name}:{next(iter(domains), '')}"
        raise SpecificationError(
            "the file has no list `minimum`",
            where=str(path),
            remedy=example if domains else "give the lists `minimum` and `maximum`",
        )
    bounds = domains.get(key)
    if not isinstance(bounds, dict):
        raise SpecificationError(
            f"there is no domain {key!r} in the file",
            where=str(path),
            remedy=choice(key, domains) if domains else "check the file",
        )
    return bounds


@functools.cache
def shipped_domains() -> dict[str, Path]:
    """Return the domains of the package, such as ``fairify/adult``, with their files."""
    folder = bundled_folder("datasets") / "domains"
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.toml")
    }
    return dict(sorted(files.items()))
