"""Fixtures that every area of the tests shares."""

from __future__ import annotations

import os
from collections.abc import Callable

import hypothesis
import pytest

from testsgd.data import (
    DatasetSpecification,
    Table,
    Texts,
    TextSpecification,
    find_files,
    load_specification,
    load_table,
    load_texts,
)
from testsgd.errors import DownloadError
from testsgd.models import LoadedModel, load_model

# How long an example takes is no matter of a test, least of all on a busy machine. In CI the same
# examples come each time, so that a change is judged by what it changes; at home they are new ones.
hypothesis.settings.register_profile("testsgd", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("testsgd")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what needs pyarrow: Parquet files, and columns of Arrow's types."""
    if "parquet" in item.name or "[pyarrow]" in item.name:
        item.add_marker(pytest.mark.parquet)


@pytest.fixture(scope="session")
def real_table() -> Callable[[str], Table]:
    """Load a real data set, or skip the test, saying why, where its files are absent.

    Where TESTSGD_REQUIRE_REAL_DATA is set (in CI), an absent file is a failure.
    """
    tables: dict[str, Table] = {}

    def load(name: str) -> Table:
        if name not in tables:
            specification = load_specification(name)
            try:
                find_files(specification, download=False)
            except DownloadError as error:
                if os.environ.get("TESTSGD_REQUIRE_REAL_DATA"):
                    raise
                pytest.skip(f"the real data are absent: {error}")
            tables[name] = load_table(specification, download=False)
        return tables[name]

    return load


@pytest.fixture(scope="session")
def demo_specification() -> DatasetSpecification:
    """Describe the demo."""
    return load_specification("demo")


@pytest.fixture(scope="session")
def demo_table(demo_specification: DatasetSpecification) -> Table:
    """Generate the demo's rows, seed 0."""
    return load_table(demo_specification)


@pytest.fixture(scope="session")
def demo_model(demo_specification: DatasetSpecification) -> LoadedModel:
    """Load the demo's committed network."""
    return load_model(None, demo_specification)


@pytest.fixture(scope="session")
def real_texts() -> Callable[[str], Texts]:
    """Load real texts with those for training, or skip the test where their files are absent.

    Where TESTSGD_REQUIRE_REAL_DATA is set (in CI), an absent file is a failure.
    """
    loaded: dict[str, Texts] = {}

    def load(name: str) -> Texts:
        if name not in loaded:
            specification = load_specification(name)
            assert isinstance(specification, TextSpecification)
            try:
                find_files(specification, download=False)
            except DownloadError as error:
                if os.environ.get("TESTSGD_REQUIRE_REAL_DATA"):
                    raise
                pytest.skip(f"the real data are absent: {error}")
            loaded[name] = load_texts(specification, download=False, training=True)
        return loaded[name]

    return load
