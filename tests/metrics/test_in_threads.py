"""The same for each of several metrics: in order, and in threads only where that helps."""

from __future__ import annotations

import threading

import pytest

from testsgd.metrics import in_threads
from testsgd.metrics.in_threads import of_each


@pytest.mark.parametrize("processors", [1, 2, 8])
def test_results_are_in_the_order_of_the_items(
    monkeypatch: pytest.MonkeyPatch, processors: int
) -> None:
    monkeypatch.setattr(in_threads, "_processors", lambda: processors)
    assert of_each(lambda item: item * item, range(20)) == [item * item for item in range(20)]
    assert of_each(lambda item: item, []) == []


def test_two_processors_do_two_items_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_threads, "_processors", lambda: 2)
    both_are_here = threading.Barrier(2, timeout=60)
    assert sorted(of_each(lambda _: both_are_here.wait(), [0, 1])) == [0, 1]


@pytest.mark.parametrize(("processors", "items"), [(1, 5), (8, 1)])
def test_no_thread_is_begun_that_would_not_help(
    monkeypatch: pytest.MonkeyPatch, processors: int, items: int
) -> None:
    monkeypatch.setattr(in_threads, "_processors", lambda: processors)
    here = threading.get_ident()
    assert of_each(lambda _: threading.get_ident(), range(items)) == [here] * items


def test_an_error_of_one_is_an_error_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_threads, "_processors", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        of_each(lambda item: 1 / item, [1, 0, 2])
