"""Lengths of time in a specification: read exactly, written so that they read the same."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.monitoring.specification import duration_text, seconds_in


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("730 d", 63_072_000),
        ("1.5 h", 5_400),
        ("90 min", 5_400),
        ("2 w", 1_209_600),
        ("30s", 30),
        (" 0.1 s ", 0.1),
        (90, 90),
        (0.25, 0.25),
        (Decimal("0.1"), 0.1),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
    ],
)
def test_lengths_of_time(written: Any, seconds: float) -> None:
    assert seconds_in(written) == seconds
    assert type(seconds_in(written)) is float


@given(
    st.integers(1, 10**6),
    st.integers(0, 6),
    st.sampled_from([("s", 1), ("min", 60), ("h", 3600), ("d", 86_400), ("w", 604_800)]),
)
def test_a_length_of_time_is_the_float_nearest_to_what_is_written(
    digits: int, places: int, unit: tuple[str, int]
) -> None:
    written = format(Decimal(digits).scaleb(-places), "f")
    exact = Fraction(digits, 10**places) * unit[1]
    if Fraction(1, 10**6) <= exact <= 3_652_425 * 86_400:
        assert seconds_in(f"{written} {unit[0]}") == float(exact)


@given(st.floats(1e-6, 3e11) | st.integers(1, 10**9).map(float))
def test_what_is_written_reads_as_the_same(seconds: float) -> None:
    assert seconds_in(duration_text(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (63_072_000.0, "730 d"),
        (1_209_600, "14 d"),
        (90_000, "25 h"),
        (5_400.0, "90 min"),
        (61, "61 s"),
        (1e-6, "0.000001 s"),
    ],
)
def test_the_largest_unit_without_a_remainder(seconds: float, written: str) -> None:
    assert duration_text(seconds) == written


@pytest.mark.parametrize(
    "written",
    ["", "d", "730", "730 days", "-3 d", "1e3 s", "1,5 h", "1/2 h", "nan s", "3 D", "٣ s", None,
     True, [1], {"d": 1}],
)  # fmt: skip
def test_what_is_no_length_of_time(written: Any) -> None:
    with pytest.raises(ValueError, match='a length of time is written as "730 d"'):
        seconds_in(written)


@pytest.mark.parametrize(
    "written",
    [0, -1, "0 d", "0.0000001 s", 1e-7, "10001000 d", float("inf"), float("nan"), 10**400],
)
def test_lengths_of_time_that_nobody_means(written: Any) -> None:
    with pytest.raises(ValueError, match="at least a microsecond and at most 10,000 years"):
        seconds_in(written)
