"""Training that cannot be: each reason is an error, and nothing is written."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from testsgd.data import DatasetSpecification, check_table, generate_demo
from testsgd.errors import DataError, MissingExtraError, ParameterError
from testsgd.models import train_network

PEOPLE = generate_demo(rows=300, seed=1)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    target = tmp_path / "network"
    yield target
    assert not target.exists()


@pytest.mark.parametrize("package", ["tensorflow", "keras"])
def test_without_tensorflow_the_install_line_is_given(
    demo_specification: DatasetSpecification,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    package: str,
) -> None:
    # None among the modules is how Python marks one that cannot be imported.
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'testsgd\[tensorflow\]'"):
        train_network(check_table(PEOPLE, demo_specification), folder)


def test_rows_without_a_label_column(
    demo_specification: DatasetSpecification, folder: Path
) -> None:
    table = check_table(PEOPLE.drop(columns="granted"), demo_specification)
    with pytest.raises(DataError, match="label column 'granted' is missing"):
        train_network(table, folder)


def test_rows_of_which_some_have_no_label(
    demo_specification: DatasetSpecification, folder: Path
) -> None:
    people = PEOPLE.assign(granted=PEOPLE["granted"].where(PEOPLE.index > 6))
    with pytest.raises(DataError, match=r"7 row\(s\) have no label"):
        train_network(check_table(people, demo_specification), folder)


@pytest.mark.parametrize("granted", [1, 2, 3])
def test_too_few_rows_of_one_label(
    demo_specification: DatasetSpecification, folder: Path, granted: int
) -> None:
    labels = np.where(np.arange(6) < granted, "yes", "no")
    table = check_table(pd.DataFrame(PEOPLE.iloc[:6]).assign(granted=labels), demo_specification)
    with pytest.raises(DataError, match=f"6 .*{granted} of them.*too few to be split"):
        train_network(table, folder)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_out_of_range(
    demo_specification: DatasetSpecification, folder: Path, seed: int
) -> None:
    with pytest.raises(ParameterError, match=f"seed: {seed} is not between 0"):
        train_network(check_table(PEOPLE, demo_specification), folder, seed=seed)


def test_no_epoch_is_no_training(demo_specification: DatasetSpecification, folder: Path) -> None:
    with pytest.raises(ParameterError, match="epochs"):
        train_network(check_table(PEOPLE, demo_specification), folder, epochs=0)
