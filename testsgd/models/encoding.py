"""From a table of people to the numbers that a network takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import DatasetSpecification, Table, as_floats, category_codes
from testsgd.errors import ModelError


@dataclass(frozen=True)
class NumberEncoding:
    """A continuous feature: standardised, with a second column that says where it is missing.

    `mean`, `scale`: over the rows the network was trained on; a missing value counts as the mean.
    """

    name: str
    mean: float
    scale: float

    @property
    def width(self) -> int:
        """How many inputs the feature takes."""
        return 2

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

    def positions(self, column: pd.Series[Any]) -> NDArray[np.intp]:
        """Return which of the feature's inputs is 1, for each row."""
        # Python counts from the end: code -1 (missing) is the last input.
        codes = category_codes(column, self.values, feature=self.name)
        return codes.astype(np.intp) % self.width

    def fill(self, column: pd.Series[Any], out: NDArray[np.float32]) -> None:
        """Write the encoded column into `out`, shape (n, width), which holds zeros."""
        out[np.arange(len(column)), self.positions(column)] = 1.0


FeatureEncoding = NumberEncoding | CategoryEncoding


@dataclass(frozen=True)
class Encoding:
    """How every feature becomes inputs of a network, in order."""

    features: tuple[FeatureEncoding, ...]

    @property
    def width(self) -> int:
        """How many inputs there are in all."""
        return sum(feature.width for feature in self.features)

    def offset(self, name: str) -> int:
        """Return the first input of a feature."""
        offset = 0
        for feature in self.features:
            if feature.name == name:
                return offset
            offset += feature.width
        raise KeyError(name)

    def takes(self, name: str) -> bool:
        """Return whether a feature is among the inputs."""
        return any(feature.name == name for feature in self.features)

    def of(self, name: str) -> FeatureEncoding:
        """Return the encoding of one feature."""
        return next(feature for feature in self.features if feature.name == name)

    def encode(self, frame: pd.DataFrame) -> NDArray[np.float32]:
        """Encode rows with a column a feature, shape (n, width)."""
        out = np.zeros((len(frame), self.width), dtype=np.float32)
        offset = 0
        for feature in self.features:
            if feature.name not in frame:
                raise ModelError(
                    f"the network takes the feature {feature.name!r}, which the data lack",
                    where="model",
                    remedy="audit it with the data set it was trained on",
                )
            try:
                feature.fill(frame[feature.name], out[:, offset : offset + feature.width])
            except (TypeError, ValueError) as error:
                raise ModelError(
                    f"the network takes {feature.name!r} as a number, but the column holds "
                    f"{frame[feature.name].dtype} values",
                    where="model",
                    remedy="audit it with the data set it was trained on",
                ) from error
            offset += feature.width
        return out

    def to_json(self) -> list[dict[str, Any]]:
        """Return the encoding as JSON-able data."""
        return [
            {"name": item.name, "mean": item.mean, "scale": item.scale}
            if isinstance(item, NumberEncoding)
            else {"name": item.name, "values": list(item.values)}
            for item in self.features
        ]

    @classmethod
    def from_json(cls, items: list[dict[str, Any]]) -> Encoding:
        """Read what :meth:`to_json` gave."""
        return cls(
            tuple(
                CategoryEncoding(str(item["name"]), tuple(item["values"]))
                if "values" in item
                else NumberEncoding(str(item["name"]), float(item["mean"]), float(item["scale"]))
                for item in items
            )
        )


def fit_encoding(table: Table, rows: NDArray[np.intp]) -> Encoding:
    """Learn means and scales from some rows of a table, so that those of a test stay unseen."""
    specification: DatasetSpecification = table.specification
    features: list[FeatureEncoding] = []
    for name in specification.inputs:
        feature = specification.features[name]
        if not feature.continuous:
            features.append(CategoryEncoding(name, tuple(feature.values or ())))
            continue
        numbers = table.numbers(name)[rows]
        known = numbers[~np.isnan(numbers)]
        mean = float(known.mean()) if len(known) else 0.0
        scale = float(known.std()) if len(known) else 1.0
        features.append(NumberEncoding(name, mean, scale if scale > 0 else 1.0))
    return Encoding(tuple(features))
