"""When a search stops: the first Ctrl-C is a wish to stop soon, the second one breaks off."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from testsgd.certification.run import Clock


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_the_first_is_noted_and_the_second_breaks_off() -> None:
    with Clock(None) as clock:
        assert (clock.in_time(), clock.stopped()) == (True, None)
        press()
        assert (clock.in_time(), clock.stopped()) == (False, "interrupted")
        with pytest.raises(KeyboardInterrupt):
            press()


def test_it_is_noted_before_the_clock_starts_to_count() -> None:
    with Clock(60.0) as clock:
        press()
        clock.start(7.0)
        assert clock.stopped() == "interrupted"
        assert clock.seconds >= 7


def test_afterwards_everything_is_as_before() -> None:
    with Clock(None) as clock:
        press()
    assert clock.stopped() == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        press()


def test_after_an_error_too() -> None:
    with pytest.raises(ValueError, match="of the work"), Clock(None):
        raise ValueError("of the work")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_somebody_elses_handler_stays() -> None:
    seen: list[int] = []

    def mine(number: int, frame: Any) -> None:
        seen.append(number)

    before = signal.signal(signal.SIGINT, mine)
    try:
        with Clock(None) as clock:
            press()
        assert clock.stopped() is None
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_nothing_is_changed() -> None:
    asked: list[Any] = []

    def work() -> None:
        with Clock(None) as clock:
            asked.append(clock.stopped())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert asked == [None]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_limit_is_of_this_run_alone_and_somebody_may_ask_to_stop() -> None:
    assert Clock(1e-9).stopped() == "time"
    wanted = [False]
    with Clock(60.0, lambda: wanted[0]) as clock:
        clock.start(1000.0)
        assert clock.stopped() is None
        wanted[0] = True
        assert clock.stopped() == "interrupted"
        assert clock.in_time()
