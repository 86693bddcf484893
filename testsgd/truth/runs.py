"""One run of the benchmark: people are drawn and audited in every way, beside the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.auditing.false_discovery import false_discovery
from testsgd.auditing.guarantee import assured_size, per_group
from testsgd.auditing.parameters import MarginKind, SamplingScheme
from testsgd.data import Table
from testsgd.models import LoadedModel, Model
from testsgd.scoring import distinct_groups
from testsgd.truth.hits import FIRST, Hits, find_hits
from testsgd.truth.populations import Population
from testsgd.truth.rates import truth_of

Floats = NDArray[np.float64]

THETA = 0.05
CONFIDENCE = 0.95
HOLDOUT = 0.5

# Differences are computed from the cells in floats.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Coverage:
    """How many intervals of one audit hold what they should.

    Attributes
    ----------
    groups : int
        Intervals looked at.
    covered : int
        Those that hold the truth.
    false : bool
        One of them leaves out "no difference", or has it on its other side, where that is true.
    """

    groups: int
    covered: int
    false: bool

    @property
    def all(self) -> bool:
        """True if every interval holds the truth."""
        return self.covered == self.groups


@dataclass(frozen=True, kw_only=True)
class Run:
    """What came of auditing one sample of people.

    Attributes
    ----------
    population : str
        Whose people.
    rows, number : int
        How many, and which run.
    by_score, by_assured : Hits or None
        Whether the planted groups come first; None if nothing is planted. Groups whose interval
        holds "no difference" are no findings by assured size.
    overstated : float
        Score of the first group minus its true size.
    planted : Coverage
        The intervals of the planted groups alone, each for itself.
    intervals : dict of str to Coverage
        For each kind of interval: ``per-group``, ``simultaneous``, ``holdout``, ``fdr`` (of the
        discovered groups) and the sampling margins.
    """

    population: str
    rows: int
    number: int
    by_score: Hits | None
    by_assured: Hits | None
    overstated: float
    planted: Coverage
    intervals: dict[str, Coverage]

    def to_json(self) -> dict[str, Any]:
        """Give the run as JSON-able data."""
        return asdict(self)


def audit_once(
    population: Population, rows: int, number: int, *, seed: int, sampled: bool = True
) -> Run:
    """Draw people, audit them in every way, and compare with the truth.

    Parameters
    ----------
    population : Population
        Whose people.
    rows : int
        How many.
    number, seed : int
        Same number and seed, same run.
    sampled : bool
        Audit by sampling too.

    Returns
    -------
    Run
    """
    table = population.table(rows, seed=seed, run=number)
    model = population.model()
    parameters = AuditParameters(
        theta=THETA,
        confidence=CONFIDENCE,
        max_features=population.max_features,
        # Enough for every size.
        max_queries=1_000_000_000,
        mode="exact",
        guarantee="simultaneous",
        stability=0,
        seed=number,
        jobs=1,
    )
    exact = run_audit(model, table, parameters)
    # The same groups and rates with another promise: what an audit that asks for it gives.
    each = replace(exact, guarantee=per_group(exact.estimates, CONFIDENCE))
    false_limited = false_discovery(exact.estimates, CONFIDENCE)
    discovering = replace(exact, guarantee=false_limited)
    audits = {
        "per-group": each,
        "simultaneous": exact,
        "holdout": run_audit(model, table, replace(parameters, holdout=HOLDOUT)),
    }
    intervals = {
        kind: _coverage(audit, population, np.arange(len(audit.rule_sets)))
        for kind, audit in audits.items()
    }
    intervals["fdr"] = _coverage(discovering, population, false_limited.discoveries)
    if sampled:
        intervals |= _sampled(model, table, exact, parameters)
    wanted = planted_groups(exact, population)
    return Run(
        population=population.name,
        rows=rows,
        number=number,
        by_score=_hits(exact, exact.distinct[:FIRST], population),
        by_assured=_hits(exact, _most_assured(exact), population),
        overstated=_overstated(exact, population),
        planted=_coverage(each, population, wanted),
        intervals=intervals,
    )


def planted_groups(found: TableFindings, population: Population) -> NDArray[np.intp]:
    """Give the places of the planted groups among those of an audit, if they are frequent."""
    texts = {group.text for group in population.planted}
    everything = found.group_texts(np.arange(len(found.rule_sets)))
    return np.flatnonzero([text in texts for text in everything])


def _coverage(found: TableFindings, population: Population, groups: NDArray[np.intp]) -> Coverage:
    """Compare the intervals of some groups with their true differences."""
    low, high = found.intervals(groups)
    true = truth_of(population, "neighbourhood").differences(found.rule_sets)[groups]
    known = ~np.isnan(low)
    covered = (low <= true + _ROUNDING) & (true - _ROUNDING <= high)
    nothing = np.abs(true) < _ROUNDING
    return Coverage(
        groups=int(known.sum()),
        covered=int((covered & known).sum()),
        false=bool((known & nothing & ~covered).any()),
    )


def _most_assured(found: TableFindings) -> Sequence[int]:
    """Give the first distinct groups by assured size."""
    assured = assured_size(*found.intervals(np.arange(len(found.rule_sets))))
    order = np.lexsort((-found.estimates.score, -assured))
    return distinct_groups(
        order[assured[order] > 0],
        found.overlaps(),
        overlap=found.parameters.overlap,
        limit=FIRST,
        block=found.block,
    )


def _hits(found: TableFindings, groups: Sequence[int], population: Population) -> Hits | None:
    if not population.planted:
        return None
    people = found.contingency.tally()
    # The planted groups' limits are limits of cells, so a cell is inside or outside as a whole.
    planted = [
        found.contingency.tally(group.matches(found.table).astype(np.int64)) > 0
        for group in population.planted
    ]
    members = found.rule_sets.members(np.array(groups, dtype=np.intp), found.contingency)
    return find_hits([(group,) for group in members], planted, people)


def _overstated(found: TableFindings, population: Population) -> float:
    if not found.distinct:
        return 0.0
    first = found.distinct[0]
    true = truth_of(population, "neighbourhood").differences(found.rule_sets)[first]
    return float(found.estimates.score[first] - abs(true))


def _sampled(
    model: LoadedModel[Model], table: Table, exact: TableFindings, parameters: AuditParameters
) -> dict[str, Coverage]:
    """Audit by sampling; see how often the margin holds the difference that the rows really have.

    Independent sampling is tried on groups of one feature, for it asks thousands of times for each.
    """
    coverages = {}
    schemes: tuple[tuple[SamplingScheme, int], ...] = (
        ("pooled", parameters.max_features),
        ("independent", 1),
    )
    kinds: tuple[MarginKind, ...] = ("wald", "anytime")
    for sampling, most in schemes:
        for interval in kinds:
            found = run_audit(
                model,
                table,
                replace(
                    parameters,
                    mode="sampled",
                    sampling=sampling,
                    interval=interval,
                    guarantee="per-group",
                    max_features=most,
                ),
            )
            coverages[f"{sampling} {interval}"] = _margin_coverage(found, exact)
    return coverages


def _margin_coverage(found: TableFindings, exact: TableFindings) -> Coverage:
    # Both audits find the same rule sets in the same rows, independent ones the first of them.
    places = {
        key: group
        for group, key in enumerate(
            zip(exact.rule_sets.subset.tolist(), exact.rule_sets.place.tolist(), strict=True)
        )
    }
    keys = zip(found.rule_sets.subset.tolist(), found.rule_sets.place.tolist(), strict=True)
    same = np.array([places[key] for key in keys], dtype=np.intp)
    estimates = found.estimates
    deviation = np.abs(estimates.difference - exact.estimates.difference[same])
    covered = deviation <= estimates.margin + _ROUNDING
    decided = estimates.decided
    return Coverage(int(decided.sum()), int((covered & decided).sum()), false=False)
