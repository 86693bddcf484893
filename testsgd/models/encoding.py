"""From the rows of a table to the numbers that a network takes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import DatasetSpecification, Table, as_floats, category_codes
from testsgd.errors import ModelError


@dataclass(frozen=True)
class NumberEncoding:
    """A continuous feature: ``(x - mean) / scale``, and a second input, 1 where it is missing.

    `mean`, `scale`: over the rows the network was trained on; a missing value counts as the mean.
    """

    name: str
    mean: float
    scale: float

    width = 2  # How many inputs the feature takes.

    def fill(self, column: pd.Series[Any], out: NDArray[np.float32]) -> None:
        """Write the encoded column into `out`, shape (n, width), which holds zeros."""
        numbers = as_floats(column)
        missing = np.isnan(numbers)
        out[:, 0] = np.where(missing, 0.0, (numbers - self.mean) / self.scale)
        out[:, 1] = missing


@dataclass(frozen=True)
class CategoryEncoding:
    """A categorical feature: one input a declared value, and a last one for missing."""

    name: str
    values: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many inputs the feature takes."""
        return len(self.values) + 1

    def fill(self, column: pd.Series[Any], out: NDArray[np.float32]) -> None:
        """Write the encoded column into `out`, shape (n, width), which holds zeros."""
        codes = category_codes(column, self.values, feature=self.name, has_missing_texts=True)
        # Python counts from the end: code -1 (missing) is the last input.
        out[np.arange(len(column)), codes] = 1.0


FeatureEncoding = NumberEncoding | CategoryEncoding


@dataclass(frozen=True)
class Encoding:
    """How every feature becomes inputs of a network, in order.

    A number becomes two inputs: its standardised value and whether it is missing. A categorical
    feature becomes one input for each declared value and one for missing.

    Examples
    --------
    >>> age = NumberEncoding("age", mean=40.0, scale=10.0)
    >>> encoding = Encoding((age, CategoryEncoding("sex", ("f", "m"))))
    >>> encoding.encode(pd.DataFrame({"age": [50.0], "sex": ["m"]})).tolist()
    [[1.0, 0.0, 0.0, 1.0, 0.0]]
    """

    features: tuple[FeatureEncoding, ...]  # In the order of the network's inputs.

    @property
    def width(self) -> int:
        """Number of inputs in all."""
        return sum(feature.width for feature in self.features)

    @cached_property
    def _by_name(self) -> dict[str, tuple[FeatureEncoding, slice]]:
        stops = np.cumsum([feature.width for feature in self.features]).tolist()
        return {
            feature.name: (feature, slice(stop - feature.width, stop))
            for feature, stop in zip(self.features, stops, strict=True)
        }

    def takes(self, name: str) -> bool:
        """Return whether a feature is among the inputs."""
        return name in self._by_name

    def of(self, name: str) -> FeatureEncoding:
        """Return the encoding of one feature."""
        return self._by_name[name][0]

    def offset(self, name: str) -> int:
        """Return the position of a feature's first input."""
        return int(self._by_name[name][1].start)

    def encode(self, frame: pd.DataFrame) -> NDArray[np.float32]:
        """Encode rows with a column for each feature, shape (n, width).

        Raises
        ------
        ModelError
            If a column is missing, or holds no numbers where the network takes a number.
        DataError
            If a categorical feature has a value that is not declared.
        """
        out = np.zeros((len(frame), self.width), dtype=np.float32)
        remedy = "audit it with the data set it was trained on"
        for name, (feature, inputs) in self._by_name.items():
            if name not in frame:
                what = f"the network takes the feature {name!r}, which the data lack"
                raise ModelError(what, where="model", remedy=remedy)
            try:
                feature.fill(frame[name], out[:, inputs])
            except (TypeError, ValueError) as error:
                raise ModelError(
                    f"the network takes {name!r} as a number, but the column holds "
                    f"{frame[name].dtype} values",
                    where="model",
                    remedy=remedy,
                ) from error
        return out

    def to_json(self) -> list[dict[str, Any]]:
        """Return the encoding as JSON-able data."""
        return [asdict(feature) for feature in self.features]

    @classmethod
    def from_json(cls, items: list[dict[str, Any]]) -> Encoding:
        """Read what :meth:`to_json` gave.

        Raises
        ------
        ValueError
            If the values of a feature are not texts, each of which is there once.
        """
        features: list[FeatureEncoding] = []
        for item in items:
            name = str(item["name"])
            if "values" in item:
                features.append(CategoryEncoding(name, _texts(item["values"], name)))
            else:
                features.append(NumberEncoding(name, float(item["mean"]), float(item["scale"])))
        return cls(tuple(features))


def _texts(values: Any, name: str) -> tuple[str, ...]:
    """Return the values of a category; from a file they may be anything."""
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"the values of {name!r} are no texts")
    if len(set(values)) < len(values):
        raise ValueError(f"a value of {name!r} is there twice")
    return tuple(values)


def fit_encoding(table: Table, rows: NDArray[np.intp]) -> Encoding:
    """Return the encoding of a table's inputs, with means and scales over the given `rows`.

    So that rows for a test have no influence, only the training rows are given.
    """
    specification: DatasetSpecification = table.specification
    features: list[FeatureEncoding] = []
    for name in specification.inputs:
        feature = specification.features[name]
        if not feature.continuous:
            features.append(CategoryEncoding(name, tuple(feature.values or ())))
            continue
        numbers = table.numbers(name)[rows]
        present = numbers[~np.isnan(numbers)]
        mean = float(present.mean()) if len(present) else 0.0
        scale = float(present.std()) if len(present) else 1.0
        features.append(NumberEncoding(name, mean, scale if scale > 0 else 1.0))
    return Encoding(tuple(features))
