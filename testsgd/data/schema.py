"""How a table is described: the format of the catalogue's files and of a user's own.

The classes below and in :mod:`testsgd.data.description` are the format. A description in TOML is
read by :func:`testsgd.data.read_specification`; its JSON Schema is published by
:func:`testsgd.data.specification_schema`. Texts have a format of their own in
:mod:`testsgd.data.text`.
"""

from __future__ import annotations

import itertools
from typing import Literal

from pydantic import Field, model_validator

from testsgd.data.categories import MISSING
from testsgd.data.description import CellParsing, DataFile, Description, repeated_file
from testsgd.data.schema_parts import (
    Bins,
    Category,
    Flag,
    Number,
    Part,
    Positive,
    mistake,
    repeated,
)

FeatureType = Literal["integer", "decimal", "categorical"]

DEFAULT_BINS = 10


class Parsing(CellParsing):
    """How the rows are written in the file."""

    missing: list[str] = Field(default=[""], description="texts that stand for a missing value")


class RowFilter(Part):
    """Which rows belong to the data set; a row that fails, or has no value here, is left out."""

    column: str = Field(description="the column in the file")
    minimum: Number | None = Field(None, description="smallest number that stays")
    maximum: Number | None = Field(None, description="largest number that stays")
    none_of: list[Category] = Field(default=[], description="values that rule a row out")
    why: str = Field("", description="the reason, for the report")

    @model_validator(mode="after")
    def _something_passes(self) -> RowFilter:
        low, high = self.minimum, self.maximum
        if low is not None and high is not None and low > high:
            raise mistake("minimum", f"{low:g} is above the maximum, {high:g}: no row would pass")
        return self


class Feature(Part):
    """One input of the model, or a sensitive feature that the model does not take."""

    type: FeatureType = Field(description="what the cells are")
    column: str | None = Field(None, description="the column in the file, if named otherwise")
    sensitive: Flag = Field(False, description="may rules be about it? It is then never perturbed")
    input: Flag = Field(
        True, description="is it an input of the model? A sensitive feature may be none"
    )
    range: tuple[Number, Number] | None = Field(
        None, description="lowest and highest value possible (integer and decimal features)"
    )
    values: list[Category] | None = Field(
        None, description="all values in their order (categorical features)"
    )
    map: dict[str, Category] | None = Field(
        None, description="value in the file -> value used (categorical features)"
    )
    bins: Bins | None = Field(None, description="number of equal intervals over the range")
    edges: list[Number] | None = Field(None, description="the intervals' limits, ascending")
    step: Positive | None = Field(
        None, description="size of a perturbation (1 for integers, 0.01 of the range else)"
    )
    description: str = Field("", description="a remark for people")

    @model_validator(mode="after")
    def _domain_fits_type(self) -> Feature:
        if not self.input and not self.sensitive:
            raise mistake(
                "input",
                "only a sensitive feature may be no input of the model",
                "leave the feature out, or set `sensitive = true`",
            )
        if self.type == "categorical":
            _check_categorical(self)
        else:
            _check_continuous(self)
        return self

    @property
    def continuous(self) -> bool:
        """True for integer and decimal features."""
        return self.type != "categorical"

    @property
    def domain(self) -> str:
        """The declared range or values, in words."""
        if self.range is not None:
            low, high = self.range
            return f"{low:g} to {high:g}"
        return ", ".join(self.values or [])


class RowUnits(Part):
    """Which rows are one unit."""

    cluster: str = Field(
        min_length=1,
        description="the column that names whom a row is about: rows of one are one unit in every "
        "interval",
    )


class DatasetSpecification(Description):
    """A data set of rows: its files, how to read them, its label and its features.

    Examples
    --------
    >>> specification = DatasetSpecification.model_validate({
    ...     "dataset": {"name": "loans"},
    ...     "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
    ...     "features": {
    ...         "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
    ...         "income": {"type": "integer", "range": [0, 200000]},
    ...     },
    ... })
    >>> specification.sensitive
    ('gender',)
    """

    files: list[DataFile] = Field(default=[], description="the files of rows")
    parse: Parsing = Field(Parsing(), description="how the rows are written in the files")
    filters: list[RowFilter] = Field(default=[], description="which rows belong to the data set")
    data: RowUnits | None = Field(None, description="which rows are one unit")
    features: dict[str, Feature] = Field(
        description="the inputs of the model, in their order, and sensitive features besides"
    )

    @model_validator(mode="after")
    def _parts_agree(self) -> DatasetSpecification:
        if twice := repeated_file(self.files):
            raise mistake("files", f"two files are called {twice!r}")
        if not self.features:
            raise mistake("features", "describe each input of the model under [features.NAME]")
        if not any(feature.sensitive for feature in self.features.values()):
            raise mistake(
                "features", "no feature is sensitive: set `sensitive = true` on at least one"
            )
        if not self.inputs:
            raise mistake("features", "no feature is an input of the model")
        for name in self.features:
            if self.label.column in {name, self.column_of(name)}:
                raise mistake(
                    ("features", name),
                    f"this is the label column {self.label.column!r}, which the model must not see",
                )
        return self

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive features, in order."""
        return tuple(name for name, feature in self.features.items() if feature.sensitive)

    @property
    def insensitive(self) -> tuple[str, ...]:
        """Names of the features that a perturbation may change, in order."""
        return tuple(name for name, feature in self.features.items() if not feature.sensitive)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the features that a model is given if it does not name its columns, in order."""
        return tuple(name for name, feature in self.features.items() if feature.input)

    def column_of(self, feature: str) -> str:
        """Name of the column in the file that holds `feature`."""
        return self.features[feature].column or feature


def _check_categorical(feature: Feature) -> None:
    values = feature.values
    if not values:
        raise mistake("values", "a categorical feature needs the list of all its values")
    if twice := repeated(values):
        raise mistake("values", f"names {twice!r} twice")
    if MISSING in values:
        raise mistake("values", f"{MISSING!r} is kept for missing values; list the others only")
    if feature.map and (unknown := sorted(set(feature.map.values()) - set(values))):
        raise mistake("map", f"leads to {unknown[0]!r}, which is not among `values`")
    for key in ("range", "bins", "edges", "step"):
        if getattr(feature, key) is not None:
            raise mistake(key, "is for integer and decimal features")


def _check_continuous(feature: Feature) -> None:
    for key in ("values", "map"):
        if getattr(feature, key) is not None:
            raise mistake(key, "is for categorical features")
    if feature.range is None:
        raise mistake("range", "an integer or decimal feature needs [lowest, highest]")
    low, high = feature.range
    if not low < high:
        raise mistake("range", f"[{low:g}, {high:g}] is empty: lowest first")
    if feature.type == "integer" and feature.step is not None and feature.step % 1:
        raise mistake("step", f"{feature.step:g} is no whole number, and the feature is integer")
    if feature.bins is not None and feature.edges is not None:
        raise mistake("edges", "give `bins` or `edges`, not both")
    edges = feature.edges
    if edges is not None:
        if len(edges) < 2 or any(b <= a for a, b in itertools.pairwise(edges)):
            raise mistake("edges", "needs at least two limits, ascending")
        if edges[0] > low or edges[-1] < high:
            raise mistake(
                "edges",
                f"{edges[0]:g} to {edges[-1]:g} do not cover the range {low:g} to {high:g}",
            )
