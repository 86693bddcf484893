"""Fixtures that every area of the tests shares."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable

import hypothesis
import pytest

from testsgd.data import (
    DatasetSpecification,
    Table,
    Texts,
    TextSpecification,
    cache_folder,
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

# Machine code is kept where all tests find it, also those that have a cache of their own: compiling
# takes a minute.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "machine-code"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that says which of the slow tests run."""
    parser.addoption(
        "--slow-part",
        default="1/1",
        metavar="K/N",
        help="of the slow tests run the K-th of N parts; 1/1 are all",
    )


def slow_part(option: str) -> tuple[int, int]:
    """Return the number of a part, from 0, and how many parts there are."""
    part, _, parts = option.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise pytest.UsageError(f"--slow-part: {option!r} is no part such as 1/4")
    return int(part) - 1, int(parts)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests that are of other parts, by a checksum of each test's name."""
    part, parts = slow_part(config.getoption("--slow-part"))
    kept, left_out = [], []
    for item in items:
        is_other = zlib.crc32(item.nodeid.encode()) % parts != part
        (left_out if is_other and item.get_closest_marker("slow") else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


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
