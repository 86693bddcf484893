"""Corners of areas in charts."""

from __future__ import annotations

from testsgd.report.charts import stairs


def test_stairs() -> None:
    assert (stairs([(0, 1), (4, 3)], ground=0)) == ((0, 0), (0, 1), (4, 1), (4, 3), (4, 0))
