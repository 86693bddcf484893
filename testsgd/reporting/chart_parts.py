"""The parts of a summary behind its charts: a report can be drawn again without the data."""

from __future__ import annotations

from pydantic import Field

from testsgd.reporting.parts import Part


class CellRate(Part):
    """Rate in one cell of one sensitive feature."""

    label: str = Field(description="the value or bin")
    n: int = Field(description="rows; for texts, those the term is put into")
    rate: float | None = Field(description="null if the cell has no rows, or none was sampled")


class FeatureRates(Part):
    """Rates over the cells of one sensitive feature."""

    feature: str = Field(description="the sensitive feature")
    cells: list[CellRate] = Field(description="its values, its bins or its terms")


class HeatMap(Part):
    """Rates over the cells of two sensitive features; rates[i][j] is row i, column j."""

    row_feature: str = Field(description="the feature of the rows")
    column_feature: str = Field(description="the feature of the columns")
    row_labels: list[str] = Field(description="the rows' cells")
    column_labels: list[str] = Field(description="the columns' cells")
    rates: list[list[float | None]] = Field(description="rates, row by row; null where nobody is")
    counts: list[list[int]] = Field(description="numbers of rows of the file, row by row")


class ScatterCell(Part):
    """Groups that fall in one small cell of the support-against-score plane."""

    support: float = Field(description="share of the rows")
    score: float = Field(description="score")
    n: int = Field(description="groups at this place")


class Charts(Part):
    """Numbers behind the charts, so that a report can be drawn again without the data."""

    scatter: list[ScatterCell] = Field(description="all frequent groups, support against score")
    scatter_binned: bool = Field(description="true: points stand for cells of several groups")
    features: list[FeatureRates] = Field(
        description="rates over the cells of each sensitive feature"
    )
    heat_maps: list[HeatMap] = Field(
        description="rates over the cells of each pair of sensitive features"
    )
