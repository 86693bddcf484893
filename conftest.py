"""What holds for all tests, those in the package's docstrings and the docs too."""

from __future__ import annotations

import gc
import importlib.util
import signal
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

# The oldest objects are looked through for cycles a twentieth as often: a process of the tests has
# half a million of them, which nothing frees, and each look takes a quarter of a second.
gc.set_threshold(5_000, 10, 50)

# Pages of the docs whose examples need more than the core.
PAGES = {"recipes.md": ("lightgbm", "onnx", "onnxruntime", "polars", "pyarrow", "xgboost")}


# Where examples are in docstrings.
PACKAGE = Path(__file__).parent / "testsgd"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the examples in docstrings of the package; those of tests are no examples."""
    if file_path.suffix != ".py" or not file_path.is_relative_to(PACKAGE):
        return None
    collector: pytest.Collector = DoctestModule.from_parent(parent, path=file_path)
    return collector


def pytest_configure() -> None:
    """Let Ctrl-C be heard: a shell has it ignored by what it starts in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Skip a page of the docs where packages that it needs are not installed."""
    packages = PAGES.get(item.path.name, ())
    absent = [name for name in packages if importlib.util.find_spec(name) is None]
    if absent:
        item.add_marker(pytest.mark.skip(reason=f"{', '.join(absent)} not installed"))
