"""Independent sampling stops where the paper's Algorithm 2 does, drawing one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from few_groups import Model, by_income, findings, people, seldom
from scipy.stats import norm

from testsgd.auditing import TableFindings
from testsgd.errors import ParameterError

MIN_SAMPLES = 50
ERROR_MARGIN = 0.12
PEOPLE = people(400)
ROWS_OF_PEOPLE = len(PEOPLE)


class Recorder:
    """A model that keeps what it was asked and what it answered, call by call."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.calls: list[tuple[pd.DataFrame, list[bool]]] = []

    def __call__(self, frame: pd.DataFrame) -> Any:
        scores = self.model(frame)
        self.calls.append((frame, (np.asarray(scores) > 0.5).tolist()))
        return scores


def one_margin(successes: int, samples: int) -> float:
    """Wald's margin, or Wilson's where there are fewer than ten successes or failures."""
    z = float(norm.ppf(0.975))
    rate = successes / samples
    if min(successes, samples - successes) >= 10:
        return z * math.sqrt(rate * (1 - rate) / samples)
    centre = (rate + z**2 / (2 * samples)) / (1 + z**2 / samples)
    half = z * math.sqrt(rate * (1 - rate) / samples + z**2 / (4 * samples**2))
    half /= 1 + z**2 / samples
    return max(rate - (centre - half), centre + half - rate)


def algorithm_two(inside: list[bool], outside: list[bool]) -> tuple[int, int, int] | None:
    """Draw one inside and one outside until there are enough and the margin is small."""
    favourable_in = favourable_out = 0
    for number, (one, other) in enumerate(zip(inside, outside, strict=True), start=1):
        favourable_in += one
        favourable_out += other
        margin = one_margin(favourable_in, number) + one_margin(favourable_out, number)
        if number > MIN_SAMPLES and margin <= ERROR_MARGIN:
            return number, favourable_in, favourable_out
    return None


def groups_asked(recorder: Recorder) -> Iterator[list[tuple[pd.DataFrame, list[bool]]]]:
    """Split the calls by group: each begins with one more draw a side than the fewest."""
    # The first call tries the model on all rows as they are, and three ask about them again.
    calls = recorder.calls[4:]
    starts = [place for place in range(0, len(calls), 2) if len(calls[place][1]) == MIN_SAMPLES + 1]
    for start, stop in zip(starts, [*starts[1:], len(calls)], strict=True):
        yield calls[start:stop]


def run(model: Model, **options: Any) -> tuple[Recorder, TableFindings]:
    recorder = Recorder(model)
    found = findings(
        recorder,
        PEOPLE,
        mode="sampled",
        sampling="independent",
        min_samples=MIN_SAMPLES,
        error_margin=ERROR_MARGIN,
        **options,
    )
    return recorder, found


@pytest.mark.parametrize("model", [by_income, seldom])
@pytest.mark.parametrize("seed", range(5))
def test_each_group_stops_at_the_first_draw_that_suffices(model: Model, seed: int) -> None:
    recorder, found = run(model, seed=seed)
    asked = list(groups_asked(recorder))
    assert len(asked) == len(found.rule_sets) == 6
    for group, calls in enumerate(asked):
        inside = [answer for _, answers in calls[::2] for answer in answers]
        outside = [answer for _, answers in calls[1::2] for answer in answers]
        stop = algorithm_two(inside, outside)
        estimates = found.estimates
        assert stop is not None
        assert stop == (
            estimates.samples_in[group],
            estimates.favourable_in[group],
            estimates.favourable_out[group],
        )
        assert estimates.samples_out[group] == stop[0]
        assert estimates.decided[group]


def test_the_draws_come_from_inside_and_outside() -> None:
    recorder, found = run(by_income)
    for group, calls in enumerate(groups_asked(recorder)):
        chosen = {int(value) for value in found.rule_set(group).rules[0].to_json()["values"]}
        for frame, _ in calls[::2]:
            assert set(frame["gender"]) <= chosen
        for frame, _ in calls[1::2]:
            assert not set(frame["gender"]) & chosen


def test_a_group_that_never_suffices_keeps_all_its_draws_and_stays_undecided() -> None:
    share = 2 * (MIN_SAMPLES + 1)
    recorder, found = run(by_income, max_queries=6 * share + 3 * ROWS_OF_PEOPLE)
    estimates = found.estimates
    for group, calls in enumerate(groups_asked(recorder)):
        inside = [answer for _, answers in calls[::2] for answer in answers]
        outside = [answer for _, answers in calls[1::2] for answer in answers]
        if algorithm_two(inside, outside) is None:
            assert not estimates.decided[group]
            assert estimates.samples_in[group] == estimates.samples_out[group] == len(inside)
            assert estimates.favourable_in[group] == sum(inside)
        assert estimates.decided[group] == (algorithm_two(inside, outside) is not None)
    assert not estimates.decided.all()


def test_a_budget_below_the_fewest_samples_is_an_error() -> None:
    least = 6 * 2 * (MIN_SAMPLES + 1)
    run(by_income, max_queries=least + 2 * ROWS_OF_PEOPLE)
    with pytest.raises(ParameterError, match=f"6 groups takes at least {least} queries"):
        run(by_income, max_queries=least + 2 * ROWS_OF_PEOPLE - 1)
