"""The real files: as many rows, labels and missing cells as are published, none dropped."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from testsgd.data import Table, find_files, load_specification

pytestmark = pytest.mark.real_data

Load = Callable[[str], Table]

ROWS = {
    "census": 32_561,
    "bank": 45_211,
    "credit": 1_000,
    "compas": 6_172,
    "crime": 1_994,
    "law": 22_407,
}
# census: adult.names; bank: bank-names.txt; credit: german.doc; compas: ProPublica's own analysis
# (3421 low, 1607 medium, 1144 high); crime and law: counted in the files, by other means below.
LABELS = {
    "census": {"<=50K": 24_720, ">50K": 7_841},
    "bank": {"no": 39_922, "yes": 5_289},
    "credit": {"good": 700, "bad": 300},
    "compas": {"low": 3_421, "not low": 1_607 + 1_144},
    "crime": {"high": 993, "low": 1_001},
    "law": {"passed": 21_238, "failed": 1_169},
}


def rows_of(name: str, *, delimiter: str = ",") -> list[list[str]]:
    """Read a data set's file with Python's own reader."""
    (path,) = find_files(load_specification(name), download=False)
    with Path(path).open(newline="", encoding="utf-8") as stream:
        rows = csv.reader(stream, delimiter=delimiter)
        return [[cell.strip() for cell in row] for row in rows if row]


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_as_many_as_published(real_table: Load, name: str) -> None:
    assert len(real_table(name)) == ROWS[name]


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_as_many_as_published(real_table: Load, name: str) -> None:
    labels = real_table(name).labels
    assert labels is not None
    assert not labels.isna().any()
    assert labels.value_counts().to_dict() == LABELS[name]


@pytest.mark.parametrize("name", ["bank", "credit", "compas"])
def test_nothing_is_missing_where_nothing_is_said_to_be(real_table: Load, name: str) -> None:
    assert not any(real_table(name).missing.values())


def test_missing_cells_of_the_census(real_table: Load) -> None:
    missing = real_table("census").missing
    known = {"workclass": 1_836, "occupation": 1_843, "native_country": 583}
    assert {name: count for name, count in missing.items() if count} == known


@pytest.mark.parametrize("name", ["crime", "law", "census", "bank"])
def test_missing_cells_are_those_counted_by_hand(real_table: Load, name: str) -> None:
    table, specification = real_table(name), load_specification(name)
    rows = rows_of(name, delimiter=specification.parse.separator)
    columns = specification.parse.columns
    if columns is None:
        columns, rows = rows[0], rows[1:]
    for feature in specification.features:
        place = columns.index(specification.column_of(feature))
        assert table.missing[feature] == sum(row[place] in {"?", ""} for row in rows), feature


def test_the_threshold_of_crime_is_the_median_of_the_file(real_table: Load) -> None:
    labels = real_table("crime").labels
    assert labels is not None
    numbers = [float(row[-1]) for row in rows_of("crime")]
    assert load_specification("crime").label.above == statistics.median(numbers)
    assert labels.tolist() == ["high" if number > 0.15 else "low" for number in numbers]


def test_the_rows_of_compas_are_those_of_propublica(real_table: Load) -> None:
    table = real_table("compas")
    header, *rows = rows_of("compas")
    cell = {name: header.index(name) for name in reversed(header)}
    kept = [
        row
        for row in rows
        if row[cell["days_b_screening_arrest"]]
        and -30 <= float(row[cell["days_b_screening_arrest"]]) <= 30
        and row[cell["is_recid"]] != "-1"
        and row[cell["c_charge_degree"]] != "O"
        and row[cell["score_text"]] != "N/A"
    ]
    assert table.frame["age"].tolist() == [int(row[cell["age"]]) for row in kept]
    assert table.frame["sex"].tolist() == [row[cell["sex"]] for row in kept]
    # ProPublica's analysis counts them too.
    assert table.frame["sex"].value_counts().to_dict() == {"Male": 4_997, "Female": 1_175}
    assert table.frame["race"].value_counts()["African-American"] == 3_175
    assert table.frame["race"].value_counts()["Caucasian"] == 2_103


def test_the_columns_that_compas_has_twice_are_the_same_twice(real_table: Load) -> None:
    """The reader takes the first of two columns of one name; here that makes no difference."""
    real_table("compas")
    header, *rows = rows_of("compas")
    for name in {name for name in header if header.count(name) > 1}:
        first, second = (place for place, other in enumerate(header) if other == name)
        assert all(row[first] == row[second] for row in rows)


def test_gender_in_credit_is_read_from_the_personal_status(real_table: Load) -> None:
    """german.doc: A92 and A95 are female (310 of the 1000 people), the others male."""
    counts = real_table("credit").frame["gender"].value_counts().to_dict()
    assert counts == {"male": 690, "female": 310}


def test_columns_of_crime_are_in_the_published_order(real_table: Load) -> None:
    """In communities.names the first community is "Lakewoodcity", of population 0.19."""
    table = real_table("crime")
    assert rows_of("crime")[0][3] == "Lakewoodcity"
    assert table.frame["population"].iloc[0] == 0.19
    assert table.frame["PolicBudgPerPop"].iloc[0] == 0.14
