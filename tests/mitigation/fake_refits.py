"""Refitters and samples made up for tests of the search: no model, only numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from testsgd.mitigation.parameters import Kind
from testsgd.mitigation.samples import CounterSamples, SamplingReport
from testsgd.models import Examples, Stage

REPORT = SamplingReport(
    seeds=9, drawn=9, distinct=9, counter_labelled=9, relabelled=0, exhausted=False
)


def pool(
    count: int, *, target: int = 0, favourable: bool = True, kind: Kind = "counter"
) -> CounterSamples:
    """Samples whose one feature is their place."""
    return CounterSamples(
        inputs=pd.DataFrame({"place": np.arange(count)}),
        favourable=favourable,
        seeds=np.arange(count),
        changes=np.full(count, "", dtype=object),
        relabelled=np.zeros(count, dtype=bool),
        side="group",
        target=target,
        report=REPORT,
        targets=np.full(count, float(favourable)),
        anchors=np.zeros(count, dtype=bool),
        kind=kind,
    )


class FakeRefitter:
    """Gives models that are what a function makes of the samples, the stage and the seed."""

    kind = "made up"
    goes_on = True

    def __init__(
        self,
        make: Callable[[Examples | None, int], Any],
        stages: int = 2,
        *,
        takes_weights: bool = True,
    ) -> None:
        self._make = make
        self._stages = stages
        self.takes_weights = takes_weights
        self.refits = 0

    def refit(
        self, extra: Examples | None, *, weights: Any = None, labels: Any = None, seed: int
    ) -> Iterator[Stage[Any]]:
        self.refits += 1
        for stage in range(self._stages):
            yield Stage(self._make(extra, stage), f"epoch {stage + 1}")


def counted(extra: Examples | None) -> int:
    return 0 if extra is None else len(extra)


def judge_by(table: dict[Any, tuple[float, Sequence[float]]]) -> Callable[[Any], Any]:
    return lambda model: table[model]
