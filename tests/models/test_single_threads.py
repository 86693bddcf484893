"""Products on one thread: while the network computes, and no longer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numpy as np
import pytest
from made_up_network import random_network, random_texts
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from testsgd.single_thread import on_one_thread


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("numpy's linear algebra here has no threads that can be counted")
        yield


def test_one_thread_inside_and_as_before_outside() -> None:
    with on_one_thread("blas"):
        assert blas_threads() == {1}
        with on_one_thread("blas"):
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_an_error_puts_the_threads_back() -> None:
    with pytest.raises(KeyError), on_one_thread("blas"):
        raise KeyError
    assert blas_threads() == {2}


def test_a_network_leaves_them_as_they_were() -> None:
    random_network().decisions(random_texts(20))
    assert blas_threads() == {2}


def test_within_a_limit_several_threads_change_nothing() -> None:
    network, texts = random_network(), random_texts(50)
    with threadpool_limits(1, user_api="blas"):
        with ThreadPoolExecutor(3) as threads:
            list(threads.map(network.decisions, [texts] * 12))
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_libraries_are_looked_for_again_when_modules_were_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = 0

    def look() -> ThreadpoolController:
        nonlocal looked
        looked += 1
        return ThreadpoolController()

    monkeypatch.setattr("threadpoolctl.ThreadpoolController", look)
    for name in ("a_first_module", "a_second_module"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        for _ in range(2):
            with on_one_thread("blas"):
                pass
    assert looked == 2
