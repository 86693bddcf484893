"""What rows and texts each sum up in a way of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from testsgd.reporting.summary import (
    CounterfactualSummary,
    DataSummary,
    FeatureRates,
    HeatMap,
    RuleAlone,
    TermsSummary,
)
from testsgd.reporting.words import Words


class Subject(ABC):
    """Findings about one kind of data.

    Attributes
    ----------
    words : Words
        How the data are spoken of.
    packages : tuple of str
        Packages whose versions matter for this kind of data only.
    """

    words: ClassVar[Words]
    packages: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def data(self) -> DataSummary:
        """Describe the data."""

    @abstractmethod
    def rules_alone(self, group: int) -> list[RuleAlone]:
        """Look at each rule of a group by itself, or at none if that is not known."""

    @abstractmethod
    def feature_rates(self) -> list[FeatureRates]:
        """Give the rates over the cells of each sensitive feature."""

    @abstractmethod
    def heat_maps(self) -> list[HeatMap]:
        """Give the rates over the cells of each pair of sensitive features."""

    def counterfactual(self, group: int) -> CounterfactualSummary | None:
        """Say what the terms of a group change by themselves, if that is known."""
        return None

    def unknown(self, group: int) -> bool:
        """Return whether the model does not know a term of a group; rows have no terms."""
        return False

    def terms(self) -> TermsSummary | None:
        """Describe the sensitive terms; None for rows."""
        return None
