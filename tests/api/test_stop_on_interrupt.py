"""Ctrl-C during long work is a wish to stop soon; the second one breaks off."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from testsgd.api.interruption import stop_on_interrupt


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_the_first_is_noted_and_the_second_breaks_off() -> None:
    with stop_on_interrupt() as asked_to_stop:
        assert not asked_to_stop()
        press()
        assert asked_to_stop()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_afterwards_everything_is_as_before() -> None:
    with stop_on_interrupt() as asked_to_stop:
        press()
    assert asked_to_stop()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        press()


def test_after_an_error_too() -> None:
    with pytest.raises(ValueError, match="of the work"), stop_on_interrupt():
        raise ValueError("of the work")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_somebody_elses_handler_stays() -> None:
    seen: list[int] = []

    def mine(number: int, frame: Any) -> None:
        seen.append(number)

    before = signal.signal(signal.SIGINT, mine)
    try:
        with stop_on_interrupt() as asked_to_stop:
            press()
        assert not asked_to_stop()
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_nothing_is_changed() -> None:
    asked: list[bool] = []

    def work() -> None:
        with stop_on_interrupt() as asked_to_stop:
            asked.append(asked_to_stop())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert asked == [False]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
