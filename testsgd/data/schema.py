"""How a data set is described: the format of the catalogue's files and of a user's own.

The classes below are the format. A description in TOML is read by
:func:`testsgd.data.read_specification`; its JSON Schema is published by
:func:`testsgd.data.specification_schema`.
"""

from __future__ import annotations

import itertools
import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from testsgd.data.categories import MISSING, category_text

FeatureType = Literal["integer", "decimal", "categorical"]

# A value in TOML may be a string, a whole number or a boolean; inside, a category is its text.
Category = Annotated[str, BeforeValidator(category_text)]

DEFAULT_BINS = 10


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DataFile(_Part):
    """One file of a data set: where it comes from and how to know it is the right one."""

    name: str = Field(description="file name in the data set's folder")
    url: str | None = Field(None, description="public address to download it from")
    member: str | None = Field(
        None, description="path inside the archive, if the address is that of a zip archive"
    )
    sha256: str | None = Field(None, description="sha256 of the file itself, in hexadecimal")

    @field_validator("sha256")
    @classmethod
    def _hexadecimal(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[0-9a-f]{64}", value):
            raise ValueError("a sha256 has 64 hexadecimal digits, in lower case")
        return value

    @field_validator("name")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        if not value or "/" in value or "\\" in value or value in {".", ".."}:
            raise ValueError("a plain file name, without folders")
        return value


class Parsing(_Part):
    """How the rows are written in the file."""

    separator: str = Field(
        ",", description='what stands between columns; "whitespace" for any run of blanks'
    )
    header: bool = Field(True, description="does the first row name the columns?")
    columns: list[str] | None = Field(
        None, description="the columns' names, for a file without header"
    )
    missing: list[str] = Field(default=[""], description="texts that stand for a missing value")
    skip_rows: int = Field(0, ge=0, description="lines to skip before the header or first row")
    encoding: str = Field("utf-8", description="the text's encoding")

    @model_validator(mode="after")
    def _columns_are_known(self) -> Parsing:
        if not self.header and not self.columns:
            raise ValueError("a file without header needs `columns`, the list of their names")
        if self.columns and len(set(self.columns)) != len(self.columns):
            raise ValueError("two of the `columns` have the same name")
        return self


class RowFilter(_Part):
    """Which rows belong to the data set; a row that fails, or has no value here, is left out."""

    column: str
    minimum: float | None = None
    maximum: float | None = None
    none_of: list[Category] = Field(default=[], description="values that rule a row out")
    why: str = Field("", description="the reason, for the report")


class Label(_Part):
    """The label column and the label whose rate is compared."""

    column: str = Field(description="the column in the file")
    favourable: Category = Field(description="the label whose rate is compared")
    values: list[Category] | None = Field(None, description="all labels, after `map`")
    map: dict[str, Category] | None = Field(
        None, description="label in the file -> label used, to join or rename labels"
    )
    above: float | None = Field(
        None,
        description="for a numeric column: values above it become the first of `values`, "
        "the others the second",
    )
    meaning: str = Field("", description="what the favourable label says about a person")

    @model_validator(mode="after")
    def _favourable_is_a_value(self) -> Label:
        if self.values is not None:
            if len(self.values) < 2:
                raise ValueError("`values` needs at least two labels")
            if self.favourable not in self.values:
                raise ValueError(
                    f"the favourable label {self.favourable!r} is not among `values` {self.values}"
                )
        if self.above is not None and (self.values is None or len(self.values) != 2):
            raise ValueError("`above` needs two `values`: the label above it, then the other")
        if self.above is not None and self.map is not None:
            raise ValueError("give `above` or `map`, not both")
        return self


class Feature(_Part):
    """One input of the model."""

    type: FeatureType
    column: str | None = Field(None, description="the column in the file, if named otherwise")
    sensitive: bool = False
    range: tuple[float, float] | None = Field(
        None, description="lowest and highest value possible (integer and decimal features)"
    )
    values: list[Category] | None = Field(
        None, description="all values in their order (categorical features)"
    )
    map: dict[str, Category] | None = Field(
        None, description="value in the file -> value used (categorical features)"
    )
    bins: int | None = Field(
        None, ge=1, le=200, description="number of equal intervals over the range"
    )
    edges: list[float] | None = Field(None, description="the intervals' limits, ascending")
    step: float | None = Field(
        None, gt=0, description="size of a perturbation (1 for integers, 0.01 of the range else)"
    )
    description: str = ""

    @model_validator(mode="after")
    def _domain_fits_type(self) -> Feature:
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


class Identity(_Part):
    """What the data set is and where it is from."""

    name: str = Field(description="short name: letters, digits, - and _")
    title: str = ""
    description: str = ""
    licence: str = ""
    citation: str = ""
    homepage: str = ""
    generator: Literal["demo"] | None = Field(
        None, description="rows are generated by the package instead of read from files"
    )

    @field_validator("name")
    @classmethod
    def _short_name(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", value):
            raise ValueError("a short name of letters, digits, - and _")
        return value


class PaperFigures(_Part):
    """What the paper reports for this data set, to be shown beside our own figures."""

    accuracy: float | None = None
    top_score: float | None = None
    top_group: str = ""
    rule_sets: int | None = None
    seconds: float | None = None


class DatasetSpecification(_Part):
    """A data set: its files, how to read them, its label and its features.

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

    dataset: Identity
    files: list[DataFile] = Field(default=[])
    parse: Parsing = Parsing()
    filters: list[RowFilter] = Field(default=[])
    label: Label
    features: dict[str, Feature]
    paper: PaperFigures | None = None

    @model_validator(mode="after")
    def _features_make_sense(self) -> DatasetSpecification:
        if not self.features:
            raise ValueError("no features: describe each input of the model under [features.NAME]")
        if not any(feature.sensitive for feature in self.features.values()):
            raise ValueError("no sensitive feature: set `sensitive = true` on at least one")
        return self

    @property
    def name(self) -> str:
        """The data set's short name."""
        return self.dataset.name

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive features, in order."""
        return tuple(name for name, feature in self.features.items() if feature.sensitive)

    @property
    def insensitive(self) -> tuple[str, ...]:
        """Names of the features that a perturbation may change, in order."""
        return tuple(name for name, feature in self.features.items() if not feature.sensitive)

    def column_of(self, feature: str) -> str:
        """Name of the column in the file that holds `feature`."""
        return self.features[feature].column or feature


def specification_schema() -> dict[str, Any]:
    """Give the JSON Schema of a data set's description.

    Returns
    -------
    dict
        A JSON Schema (draft 2020-12).

    Examples
    --------
    >>> sorted(specification_schema()["required"])
    ['dataset', 'features', 'label']
    """
    return DatasetSpecification.model_json_schema()


def _check_categorical(feature: Feature) -> None:
    values = feature.values
    if not values:
        raise ValueError("a categorical feature needs `values`, the list of all its values")
    if len(set(values)) != len(values):
        raise ValueError("`values` names a value twice")
    if MISSING in values:
        raise ValueError(f"{MISSING!r} is kept for missing values; list the others only")
    if feature.map and (unknown := sorted(set(feature.map.values()) - set(values))):
        raise ValueError(f"`map` leads to {unknown[0]!r}, which is not among `values`")
    for key in ("range", "bins", "edges", "step"):
        if getattr(feature, key) is not None:
            raise ValueError(f"`{key}` is for integer and decimal features")


def _check_continuous(feature: Feature) -> None:
    for key in ("values", "map"):
        if getattr(feature, key) is not None:
            raise ValueError(f"`{key}` is for categorical features")
    if feature.range is None:
        raise ValueError("needs `range = [lowest, highest]`")
    low, high = feature.range
    if not low < high:
        raise ValueError(f"the range [{low:g}, {high:g}] is empty: lowest first")
    if feature.bins is not None and feature.edges is not None:
        raise ValueError("give `bins` or `edges`, not both")
    edges = feature.edges
    if edges is not None:
        if len(edges) < 2 or any(b <= a for a, b in itertools.pairwise(edges)):
            raise ValueError("`edges` needs at least two limits, ascending")
        if edges[0] > low or edges[-1] < high:
            raise ValueError(
                f"the `edges` {edges[0]:g} to {edges[-1]:g} do not cover the range "
                f"{low:g} to {high:g}"
            )
