"""How numbers of an audit are written that no other result has."""

from __future__ import annotations

import pytest

from testsgd.auditing.report.wording import _mean, q_text
from testsgd.report.formatting import MINUS


@pytest.mark.parametrize(
    ("value", "text"),
    [(38.217, "38.2"), (12345.6, "12,346"), (0.0, "0"), (-0.01234, f"{MINUS}0.0123")],
)
def test_means_have_three_digits_at_least(value: float, text: str) -> None:
    assert _mean(value) == text


def test_small_q_values_are_not_written_out() -> None:
    assert (q_text(0.0312), q_text(1e-9), q_text(None)) == ("0.031", "<0.001", "")
