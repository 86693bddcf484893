"""How a data set is described: the format of the catalogue's files and of a user's own.

The classes below are the format. A description in TOML is read by
:func:`testsgd.data.read_specification`; its JSON Schema is published by
:func:`testsgd.data.specification_schema`.
"""

from __future__ import annotations

import itertools
import re
from typing import Any, Literal

from pydantic import (
    Field,
    field_validator,
    model_validator,
)

from testsgd.data.categories import MISSING
from testsgd.data.schema_parts import (
    Bins,
    Category,
    Count,
    Flag,
    Number,
    Part,
    Positive,
    is_number,
    mistake,
    repeated,
)

FeatureType = Literal["integer", "decimal", "categorical"]


DEFAULT_BINS = 10


class DataFile(Part):
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


class Parsing(Part):
    """How the rows are written in the file."""

    separator: str = Field(
        ",", description='what stands between columns; "whitespace" for any run of blanks'
    )
    header: Flag = Field(True, description="does the first row name the columns?")
    columns: list[str] | None = Field(
        None, description="the columns' names, for a file without header"
    )
    missing: list[str] = Field(default=[""], description="texts that stand for a missing value")
    skip_rows: Count = Field(0, description="lines to skip before the header or first row")
    encoding: str = Field("utf-8", description="the text's encoding")

    @field_validator("separator")
    @classmethod
    def _one_character(cls, value: str) -> str:
        if value != "whitespace" and (len(value) != 1 or value in '"\r\n'):
            raise ValueError('one character (not a quote or a line end), or "whitespace"')
        return value

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str) -> str:
        try:
            "".encode(value)
        except (LookupError, UnicodeError) as error:
            raise ValueError("not an encoding that Python knows") from error
        return value

    @model_validator(mode="after")
    def _columns_are_known(self) -> Parsing:
        if not self.header and not self.columns:
            raise mistake("columns", "a file without header needs the list of its columns' names")
        if self.header and self.columns:
            raise mistake("columns", "is for a file without header; set `header = false`")
        if self.columns and (twice := repeated(self.columns)):
            raise mistake("columns", f"names {twice!r} twice")
        return self


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


class Label(Part):
    """The label column and the label whose rate is compared."""

    column: str = Field(description="the column in the file")
    favourable: Category = Field(description="the label whose rate is compared")
    values: list[Category] | None = Field(None, description="all labels, after `map`")
    map: dict[str, Category] | None = Field(
        None, description="label in the file -> label used, to join or rename labels"
    )
    above: Number | None = Field(
        None,
        description="for a numeric column: values above it become the first of `values`, "
        "the others the second",
    )
    meaning: str = Field("", description="what the favourable label says about a person")

    @model_validator(mode="after")
    def _parts_agree(self) -> Label:
        if self.values is not None:
            if len(self.values) < 2:
                raise mistake("values", "needs at least two labels")
            if twice := repeated(self.values):
                raise mistake("values", f"names {twice!r} twice")
            if self.favourable not in self.values:
                raise mistake(
                    "favourable",
                    f"the favourable label {self.favourable!r} is not among `values` {self.values}",
                )
        if self.above is not None:
            _check_above(self)
        if self.map is not None:
            _check_label_map(self.map, self.values)
        return self


class Feature(Part):
    """One input of the model."""

    type: FeatureType = Field(description="what the cells are")
    column: str | None = Field(None, description="the column in the file, if named otherwise")
    sensitive: Flag = Field(False, description="may rules be about it? It is then never perturbed")
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


class Identity(Part):
    """What the data set is and where it is from."""

    name: str = Field(description="short name: letters, digits, - and _")
    title: str = Field("", description="the name for people")
    description: str = Field("", description="a sentence or two for the report")
    licence: str = Field("", description="under which terms the data may be used")
    citation: str = Field("", description="how to cite the data")
    homepage: str = Field("", description="where the data are described")
    generator: Literal["demo"] | None = Field(
        None, description="rows are generated by the package instead of read from files"
    )

    @field_validator("name")
    @classmethod
    def _short_name(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", value):
            raise ValueError("a short name of letters, digits, - and _")
        return value


class PaperFigures(Part):
    """What the paper reports for this data set, to be shown beside our own figures."""

    accuracy: Number | None = Field(None, description="accuracy of the paper's model, as a share")
    top_score: Number | None = Field(None, description="the paper's largest score")
    top_group: str = Field("", description="the group that has it, in the paper's words")
    rule_sets: Count | None = Field(None, description="frequent rule sets the paper counts")
    seconds: Number | None = Field(None, description="how long the paper's run took")


class DatasetSpecification(Part):
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
    def _parts_agree(self) -> DatasetSpecification:
        if twice := repeated([file.name for file in self.files]):
            raise mistake("files", f"two files are called {twice!r}")
        if not self.features:
            raise mistake("features", "describe each input of the model under [features.NAME]")
        if not any(feature.sensitive for feature in self.features.values()):
            raise mistake(
                "features", "no feature is sensitive: set `sensitive = true` on at least one"
            )
        for name in self.features:
            if self.label.column in {name, self.column_of(name)}:
                raise mistake(
                    ("features", name),
                    f"this is the label column {self.label.column!r}, which the model must not see",
                )
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


def _check_above(label: Label) -> None:
    if label.map is not None:
        raise mistake("above", "give `above` or `map`, not both")
    if label.values is None or len(label.values) != 2:
        raise mistake("above", "needs two `values`: the label above it, then the other")
    for value in label.values:
        # A column of 0 and 1 could not be told from one that has been turned into labels already.
        if is_number(value):
            raise mistake("values", f"with `above`, a label must be a word, not {value!r}")


def _check_label_map(names: dict[str, str], values: list[str] | None) -> None:
    if values is not None and (unknown := sorted(set(names.values()) - set(values))):
        raise mistake("map", f"leads to {unknown[0]!r}, which is not among `values`")
    for old, new in names.items():
        # A column that has been renamed already must mean the same if it is renamed again.
        if names.get(new, new) != new:
            raise mistake(
                "map",
                f"renames {old!r} to {new!r} and {new!r} to {names[new]!r}; use new names only",
            )


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
