"""Measures over many runs: means and shares of runs, with Monte-Carlo confidence intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from testsgd.scoring import normal_quantile
from testsgd.truth.baseline_runs import BaselineRun
from testsgd.truth.cases.frame import CaseRun
from testsgd.truth.runs import CONFIDENCE, Hits, Run
from testsgd.truth.verdicts import WorldRun, Wrong

# The audit itself, among the names of methods.
AUDIT = "audit"

# What is claimed: coverage of each interval, of all at once, and the share of false discoveries.
_CLAIMS = {
    "per-group": (CONFIDENCE, None, None),
    "simultaneous": (CONFIDENCE, CONFIDENCE, 1 - CONFIDENCE),
    "holdout": (CONFIDENCE, CONFIDENCE, 1 - CONFIDENCE),
    "fdr": (CONFIDENCE, None, 1 - CONFIDENCE),
    # Both sides' margins hold together with the square (TestSGD, Theorem 4.2).
    "pooled wald": (CONFIDENCE**2, None, None),
    "pooled anytime": (CONFIDENCE**2, None, None),
    "independent wald": (CONFIDENCE**2, None, None),
    "independent anytime": (CONFIDENCE**2, None, None),
}


@dataclass(frozen=True)
class Measure:
    """One number out of many runs, with its confidence interval."""

    population: str  # Whose people.
    rows: int  # How many in a run.
    method: str  # ``audit``, or a baseline's name.
    name: str  # What was measured.
    runs: int  # Out of how many runs.
    # The mean over the runs; for what happens or not, the share of runs in which it did; for ranks
    # the median.
    value: float
    # The 95% confidence interval for infinitely many runs: Clopper and Pearson's for shares of
    # runs, that of the order statistics for medians, the normal one for other means.
    ci_low: float
    ci_high: float
    # What the method claims: the least coverage, or the largest share of runs with false
    # discoveries.
    claimed: float | None = None


def share_interval(successes: int, runs: int) -> tuple[float, float]:
    """Compute Clopper and Pearson's 95% confidence interval of a share."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(successes, runs, alpha=1 - CONFIDENCE, method="beta")
    return float(low), float(high)


def measure_runs(runs: Iterable[Run]) -> list[Measure]:
    """Return the measures of runs of the audit, by population and rows."""
    by_size: dict[tuple[str, int], list[Run]] = defaultdict(list)
    for run in runs:
        by_size[run.population, run.rows].append(run)
    return [
        measure
        for (population, rows), together in by_size.items()
        for measure in _of_audit(partial(Measure, population, rows, AUDIT), together)
    ]


def measure_baselines(runs: Iterable[BaselineRun]) -> list[Measure]:
    """Return the measures of baselines that could be run, by population, rows and method."""
    measures = []
    by_method: dict[tuple[str, int, str], list[BaselineRun]] = defaultdict(list)
    for run in runs:
        if run.available:
            by_method[run.population, run.rows, run.method].append(run)
    for (population, rows, method), together in by_method.items():
        make = partial(Measure, population, rows, method)
        measures += _of_hits(make, "", [run.hits for run in together])
        measures.append(_share(make, "finding", [run.finding for run in together]))
        measures.append(_mean(make, "seconds", [run.seconds for run in together]))
    return measures


def measure_worlds(runs: Sequence[WorldRun]) -> list[Measure]:
    """Return the measures of runs of one world and size: misleading verdicts, and ranks.

    Ranks are of the runs in which the planted group is judged.
    """
    make = partial(Measure, runs[0].world, runs[0].rows, AUDIT)
    measures = [
        _share(make, "evaluable", [run.evaluable for run in runs]),
        *(
            _share(make, field.name, [getattr(run.default, field.name) for run in runs])
            for field in fields(Wrong)
        ),
        # As of cases: an all-clear can be false where something is planted.
        *_shares(
            make,
            "all_clear",
            [
                run.default.headline_all_clear or run.default.gate_all_clear
                for run in runs
                if run.evaluable
            ],
        ),
        _share(
            make,
            "alarm",
            [run.default.headline_alarm or run.default.gate_alarm for run in runs],
        ),
    ]
    measures += _shares(make, "explained", [run.explained for run in runs])
    for name in ("score", "lower bound"):
        if ranks := [run.ranks[name] for run in runs if run.ranks]:
            measures.append(_median(make, f"rank by {name}", ranks))
            measures.append(_share(make, f"first by {name}", [rank == 1 for rank in ranks]))
    return measures


def measure_cases(runs: Sequence[CaseRun]) -> list[Measure]:
    """Return the measures of runs of one case: misleading verdicts.

    False all-clears are counted only in runs in which something is planted.
    """
    make = partial(Measure, runs[0].world, runs[0].rows, AUDIT)
    planted = [run for run in runs if run.planted]
    return [
        *_shares(make, "all_clear", [run.all_clear for run in planted]),
        _share(make, "alarm", [run.alarm for run in runs]),
        _share(make, "reserved", [run.reserved for run in runs]),
        _share(make, "undecided", [run.undecided for run in runs]),
    ]


def add_up(measures: Sequence[Measure], population: str) -> list[Measure]:
    """Return shares of runs over several worlds together, by name, under one population name."""
    by_name: dict[str, list[Measure]] = defaultdict(list)
    for measure in measures:
        by_name[measure.name].append(measure)
    added = []
    for name, parts in by_name.items():
        runs = sum(part.runs for part in parts)
        happened = round(sum(part.value * part.runs for part in parts))
        low, high = share_interval(happened, runs)
        added.append(Measure(population, 0, AUDIT, name, runs, happened / runs, low, high))
    return added


# Makes a measure of one population, number of rows and method.
_Make = Callable[..., Measure]


def _share(make: _Make, name: str, values: Sequence[bool], claimed: float | None = None) -> Measure:
    """Return the share of runs in which something holds, with its exact interval."""
    low, high = share_interval(sum(values), len(values))
    return make(name, len(values), sum(values) / len(values), low, high, claimed)


def _mean(make: _Make, name: str, values: Sequence[float], claimed: float | None = None) -> Measure:
    """Return the mean over runs with its normal interval; infinite for one run."""
    array = np.array(values, dtype=np.float64)
    error = float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else float("inf")
    half = normal_quantile(CONFIDENCE) * error
    mean = float(array.mean())
    return make(name, len(array), mean, mean - half, mean + half, claimed)


def _median(make: _Make, name: str, values: Sequence[int]) -> Measure:
    """Return the median over runs with the interval of its order statistics."""
    from scipy.stats import binom

    ordered = np.sort(values)
    runs = len(ordered)
    below = int(binom.ppf((1 - CONFIDENCE) / 2, runs, 0.5))
    low = ordered[max(0, below - 1)]
    high = ordered[min(runs - below, runs - 1)]
    return make(name, runs, float(np.median(ordered)), float(low), float(high))


def _of_audit(make: _Make, runs: list[Run]) -> list[Measure]:
    measures = [
        *_of_hits(make, " by score", [run.by_score for run in runs]),
        *_of_hits(make, " by lower bound", [run.by_lower_bound for run in runs]),
        *(
            _mean(make, f"overstated by {name}", [run.overstated[name] for run in runs])
            for name in runs[0].overstated
        ),
        *_shares(make, "explained", [run.explained for run in runs]),
    ]
    if planted := [run.planted for run in runs if run.planted.groups]:
        shares = [coverage.covered / coverage.groups for coverage in planted]
        measures.append(_mean(make, "coverage: planted", shares, CONFIDENCE))
    for kind in runs[0].intervals:
        coverages = [run.intervals[kind] for run in runs if kind in run.intervals]
        each, together, false = _CLAIMS[kind]
        measures.append(
            _mean(
                make,
                f"coverage: {kind}",
                # Where nothing is discovered, no interval is false.
                [c.covered / c.groups if c.groups else 1.0 for c in coverages],
                each,
            )
        )
        measures.append(_share(make, f"all covered: {kind}", [c.all for c in coverages], together))
        if " " not in kind:
            measures.append(
                _share(make, f"false discoveries: {kind}", [c.false for c in coverages], false)
            )
    return measures


def _shares(make: _Make, name: str, values: Sequence[bool | None]) -> list[Measure]:
    known = [value for value in values if value is not None]
    return [_share(make, name, known)] if known else []


def _of_hits(make: _Make, suffix: str, hits: Sequence[Hits | None]) -> list[Measure]:
    known = [hit for hit in hits if hit is not None]
    if not known:
        return []
    return [
        _share(make, f"first{suffix}", [hit.first for hit in known]),
        _share(make, f"among first five{suffix}", [hit.among_first for hit in known]),
        _share(make, f"first inside{suffix}", [hit.inside for hit in known]),
    ]
