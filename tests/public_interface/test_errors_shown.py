"""What an error shows of data cannot steer a terminal, and is short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.errors import DataError, printable


@given(st.text())
def test_nothing_steers_a_terminal(text: str) -> None:
    message = str(DataError(f"the value is {text}", where=text, remedy=text))
    assert "\n" not in message
    steering = [*range(32), *range(127, 160), 0x202E, 0x2067]
    assert not set(message) & {chr(code) for code in steering}
    message.encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_what_is_printable_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize("value", ["x" * 10_000, "a b " * 5_000, "é" * 500])
@pytest.mark.parametrize("quote", ["'", '"', ""])
def test_long_values_are_cut(value: str, quote: str) -> None:
    if not quote and " " in value:
        return
    message = str(DataError(f"the value is {quote}{value}{quote}", where="row 3", remedy="mend it"))
    assert len(message) < 300
    assert message.startswith(f"row 3: the value is {quote}{value[:50].split('  ')[0]}")
    assert message.endswith("mend it")


def test_values_of_usual_length_stay() -> None:
    value = "a" * 200
    assert value in str(DataError(f"the value is {value}, not {value!r}"))
    assert "…" not in str(DataError(f"the value is {value!r}"))
