"""What the defaults are compared with: the earlier ones, which passed over whole groups."""

from __future__ import annotations

import pytest

from benchmarks import earlier_defaults as earlier


@pytest.mark.parametrize("name", ["binary-proxy", "few-valued-proxy", "rare-intersection"])
def test_the_earlier_defaults_pass_over_total_discrimination(name: str) -> None:
    assert earlier.judge_earlier(name, 10_000, 0).gate_all_clear


def test_a_row_of_the_table_has_shares_of_runs() -> None:
    runs = [earlier.judge_earlier("degenerate-complement", 1_000, number) for number in range(2)]
    cells = earlier.row_of("degenerate-complement", 1_000, runs)
    assert cells[:3] == ["degenerate-complement", "1,000", "2"]
    assert len(cells) == len(earlier.HEADING)
    assert set(cells[3:]) <= {"0.0%", "50.0%", "100.0%"}
