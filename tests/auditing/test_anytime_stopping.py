"""Sampling that stops at the margin of a confidence sequence, and what peeking does to another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import made_up_texts
import numpy as np
import pandas as pd
import pytest
from few_groups import by_income, findings, people
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaln, lambertw
from scipy.stats import binom

import testsgd
from testsgd.auditing import AuditParameters
from testsgd.auditing.independent import sample_until_certain
from testsgd.scoring import score_margins, wald_margin

# Both sides' margins hold together with the square of the confidence (TestSGD, Theorem 4.2).
CLAIMED = 0.95**2
PEOPLE = people(400)
QUICK = {"mode": "sampled", "min_samples": 50, "error_margin": 0.3}


def slow_margin(successes: int, samples: int, tuned_for: float) -> float:
    """Search both ends of the confidence sequence of 95%, by the ratio of likelihoods."""
    weight = tuned_for / (-lambertw(-(0.05**2) / math.e, -1).real - 1)

    def excess(rate: float) -> float:
        yes, no = weight * rate, weight * (1 - rate)
        failures = samples - successes
        mixed = betaln(yes + successes, no + failures) - betaln(yes, no)
        plain = successes * math.log(rate) + failures * math.log1p(-rate)
        return float(mixed - plain - math.log(20))

    rate, nearly = successes / samples, 1e-9
    ends = []
    for bound, seen in ((nearly, successes), (1 - nearly, samples - successes)):
        inner = min(max(rate, nearly), 1 - nearly)
        ends.append(brentq(excess, bound, inner) if seen >= 2 else round(bound))
    return max(rate - ends[0], ends[1] - rate)


def draw_by_draw(answers: NDArray[np.int64], least: int, error: float) -> int | None:
    """Stop at the first draw behind the fewest after which the margin is small enough."""
    wins = [0, 0]
    for number, pair in enumerate(answers.T.tolist(), start=1):
        wins = [before + answer for before, answer in zip(wins, pair, strict=True)]
        tuned_for = max(least, 5 / error**2)
        if number > least and sum(slow_margin(one, number, tuned_for) for one in wins) <= error:
            return number
    return None


def replay(answers: NDArray[np.int64], parameters: AuditParameters) -> NDArray[np.int64]:
    """Let Algorithm 2 draw answers that were made before."""
    given = 0

    def ask(count: int) -> NDArray[np.int64]:
        nonlocal given
        given += count
        return answers[:, given - count : given]

    return sample_until_certain(ask, parameters, share=answers.size)


def anytime(**parameters: Any) -> AuditParameters:
    return AuditParameters(sampling="independent", interval="anytime", **parameters)


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.02, 0.3), (0.0, 1.0), (0.9, 0.05)])
def test_algorithm_2_stops_at_the_first_draw_whose_sequence_suffices(
    rates: Sequence[float],
) -> None:
    answers = (np.random.default_rng(5).random((2, 1500)) < np.array(rates)[:, None]).astype(int)
    for least, error in ((60, 0.25), (30, 0.4)):
        expected = draw_by_draw(answers, least, error)
        assert expected is not None
        found = replay(answers, anytime(min_samples=least, error_margin=error))
        assert found[0] == found[1] == expected
        assert found[2:4].tolist() == answers[:, :expected].sum(axis=1).tolist()


def test_pooled_sampling_stops_by_sequences_and_the_papers_algorithm_by_wald() -> None:
    kinds = {
        (sampling, interval): findings(
            by_income, PEOPLE, sampling=sampling, interval=interval, **QUICK
        ).estimates
        for sampling in ("pooled", "independent")
        for interval in ("auto", "anytime", "wald")
    }
    for (sampling, interval), estimates in kinds.items():
        by_default = "anytime" if sampling == "pooled" else "wald"
        expected = by_default if interval == "auto" else interval
        assert estimates.margin_kind == expected
        found = score_margins(
            estimates.favourable_in,
            estimates.samples_in,
            estimates.favourable_out,
            estimates.samples_out,
            0.95,
            kind=expected,
            tuned_for=5 / 0.3**2,
        )
        assert estimates.margin.tolist() == found.margin.tolist()
        assert estimates.decided.all()
    assert kinds["pooled", "auto"].samples_in.tolist() == (
        kinds["pooled", "anytime"].samples_in.tolist()
    )
    assert findings(by_income, PEOPLE, mode="exact").estimates.margin_kind == "none"


@pytest.mark.parametrize("sampling", ["pooled", "independent"])
@pytest.mark.parametrize("interval", ["auto", "anytime", "wald"])
def test_texts_stop_by_the_same_margins(sampling: str, interval: str) -> None:
    estimates = made_up_texts.audit(
        made_up_texts.by_words,
        made_up_texts.made_up_texts(300, 3),
        made_up_texts.made_up_terms(),
        estimand="neighbourhood",
        theta=0.15,
        max_features=1,
        sampling=sampling,
        interval=interval,
        **QUICK,
    ).estimates
    by_default = "anytime" if sampling == "pooled" else "wald"
    assert estimates.margin_kind == (by_default if interval == "auto" else interval)
    assert estimates.decided.all()
    assert not (estimates.wilson & (estimates.margin_kind == "anytime")).any()


def test_a_guarantee_at_any_time_takes_more_draws() -> None:
    samples = {
        interval: findings(
            by_income, PEOPLE, sampling="independent", interval=interval, **QUICK
        ).estimates.samples_in
        for interval in ("anytime", "wald")
    }
    assert (samples["anytime"] >= samples["wald"]).all()
    assert samples["anytime"].sum() > samples["wald"].sum()


RUNS = 600
LEAST, ERROR = 5, 0.2


@cache
def courses() -> NDArray[np.int64]:
    """Make answers for many runs of Algorithm 2 at rates of 20% and 2%, shape (runs, 2, draws)."""
    draws = np.random.default_rng(0).random((RUNS, 2, 600))
    return (draws < np.array([0.2, 0.02])[:, None]).astype(int)


def covers(wins: NDArray[np.int64], steps: int, margin: float) -> bool:
    return bool(abs((wins[0] - wins[1]) / steps - 0.18) <= margin)


def test_the_papers_margin_watched_draw_by_draw_covers_less_than_it_says() -> None:
    """Equation 7 alone ends runs at a lucky moment, when hardly any answer differs so far."""
    steps = np.arange(1, 601)
    watched, stops = 0, []
    for answers in courses():
        wins = answers.cumsum(axis=1)
        margins = wald_margin(wins, steps, 0.95).sum(axis=0)
        small = (margins <= ERROR) & (steps > LEAST)
        assert small.any()
        stops.append(int(steps[np.argmax(small)]))
        watched += covers(wins[:, stops[-1] - 1], stops[-1], margins[stops[-1] - 1])
    assert watched < binom.ppf(1e-6, RUNS, CLAIMED)
    # As many draws, but in every run, and one look: that is what the margin is made for.
    number = round(np.mean(stops))
    once = 0
    for answers in courses():
        wins = answers[:, :number].sum(axis=1)
        once += covers(wins, number, float(wald_margin(wins, number, 0.95).sum()))
    assert once >= binom.ppf(1e-6, RUNS, CLAIMED)


@pytest.mark.slow
def test_a_confidence_sequence_watched_draw_by_draw_covers_what_it_says() -> None:
    parameters = anytime(min_samples=LEAST, error_margin=ERROR)
    hits = 0
    for answers in courses():
        samples, _, *wins, _ = replay(answers, parameters)
        margin = score_margins(
            wins[0], samples, wins[1], samples, 0.95, kind="anytime", tuned_for=5 / ERROR**2
        ).margin
        assert margin <= ERROR
        hits += covers(np.array(wins), samples, float(margin))
    assert hits >= binom.ppf(1e-6, RUNS, CLAIMED)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_who_samples_until_a_group_looks_sure_finds_too_many_by_wald_alone(rate: float) -> None:
    """A group of one row in twenty, from a pool of draws, is treated like all others.

    Somebody looks after each draw inside, and stops when the difference is larger than its margin.
    """
    runs, draws = 200, 3000
    generator = np.random.default_rng(1)
    number = np.arange(1, draws + 1)
    inside = (generator.random((runs, draws)) < rate).cumsum(axis=1)
    outside = generator.binomial(19, rate, (runs, draws)).cumsum(axis=1)
    difference = np.abs(inside / number - outside / (19 * number))
    false = {}
    for kind in ("wald", "anytime"):
        margin = score_margins(inside, number, outside, 19 * number, 0.95, kind=kind).margin
        false[kind] = int((difference > margin)[:, 20:].any(axis=1).sum())
        at_the_end = int((difference > margin)[:, -1].sum())
        assert at_the_end <= binom.ppf(1 - 1e-4, runs, 1 - CLAIMED)
    assert false["wald"] > binom.ppf(1 - 1e-4, runs, 1 - CLAIMED)
    assert false["anytime"] <= binom.ppf(1 - 1e-4, runs, 1 - CLAIMED)


def test_rare_groups_do_not_make_the_first_pool_larger() -> None:
    """Groups of a twentieth of the rows cost the same, whether rarer ones are looked for or not."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"a": random.integers(0, 3, 20_000), "x": random.integers(0, 100, 20_000)})
    description = {
        "dataset": {"name": "thirds"},
        "label": {"column": "y", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "a": {"type": "categorical", "values": ["0", "1", "2"], "sensitive": True},
            "x": {"type": "integer", "range": [0, 99]},
        },
    }

    def queries(**smallest: float) -> int:
        result = testsgd.audit(
            lambda frame: np.where(frame["x"] < 50, "yes", "no"),
            rows.assign(a=rows["a"].astype(str)),
            description,
            mode="sampled",
            max_queries=1_000_000,
            **smallest,
        )
        return result.summary.model_queries

    assert queries(min_rows=1) == queries(theta=0.05)
