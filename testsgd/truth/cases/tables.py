"""Cases of tables: people with the chance that each of them has, and decisions drawn by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing import AuditResult, TableFindings, audit_decisions
from testsgd.rules import RuleSet
from testsgd.truth.cases.frame import TWIN, Audited, Case
from testsgd.truth.catalogue import LIMIT

Floats = NDArray[np.float64]
# Makes people, given how many.
People = Callable[[int, np.random.Generator], pd.DataFrame]
# Returns the chance that each of them gets a yes.
Chance = Callable[[pd.DataFrame], Any]

# The column of the true labels, of people who have some.
LABEL = "label"


@dataclass(frozen=True, kw_only=True)
class TableCase:
    """People, their chances, and the audit of the decisions on them."""

    people: People
    chance: Chance
    rows: int
    sensitive: tuple[str, ...]  # The other columns are features that no rule is about.
    features: Mapping[str, Any] = field(default_factory=dict)  # Parts of the description.
    options: Mapping[str, Any] = field(default_factory=dict)  # Of the audit, the gate apart.
    copies: int = 1  # How often each person is in the table.
    inverted: bool = False  # The file has predictions of the other class.

    def audit(self, generator: np.random.Generator) -> Audited:
        """Draw people and decisions, audit them, and return the true size of what is claimed."""
        frame = self.people(self.rows // self.copies, generator)
        chance = np.broadcast_to(np.asarray(self.chance(frame), dtype=np.float64), len(frame))
        decided = generator.random(len(frame)) < chance
        order = np.repeat(np.arange(len(frame)), self.copies)
        frame = frame.iloc[order].reset_index(drop=True)
        chance = chance[order]
        decided = decided[order]
        labels = frame.pop(LABEL).to_numpy() if LABEL in frame else None
        if self.inverted:
            # Of a hundred people the file is right about 98, and says the opposite of it.
            labels = decided ^ (generator.random(len(decided)) < 0.02)
            decided = ~decided
        others = [name for name in frame.columns if name not in self.sensitive]
        result = audit_decisions(
            decided.astype(int),
            None if labels is None else labels.astype(int),
            sensitive_features=frame[list(self.sensitive)],
            other_features=frame[others] if others else None,
            features=self.features or None,
            # Looking for groups in bootstrap samples changes no verdict.
            **{"fail_above": LIMIT, "stability": 0, "jobs": 1, **self.options},
        )
        return Audited(result, _claims(result, chance, labels))


def with_twin(
    name: str,
    title: str,
    *,
    people: People,
    chance: Chance,
    rows: int,
    sensitive: tuple[str, ...],
    features: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    copies: int = 1,
    inverted: bool = False,
    fair: Chance | float | None = 0.5,
    beyond: bool = True,
    reserve: str = "",
    doubt: str = "",
    first: str = "",
) -> tuple[Case, ...]:
    """Return a case, and its twin in which the chance is another; no twin if that is None.

    Parameters
    ----------
    name, title : str
        What the case is called, and what it is.
    people, chance, rows, sensitive, features, options, copies, inverted
        As for :class:`TableCase`.
    fair : callable or float, optional
        The chances of the twin.
    beyond, reserve, doubt, first
        As for :class:`testsgd.truth.cases.frame.Case`; the twin has none of them.

    Returns
    -------
    tuple of Case
        The case, and its twin if it has one.
    """
    table = TableCase(
        people=people,
        chance=chance,
        rows=rows,
        sensitive=sensitive,
        features=features or {},
        options=options or {},
        copies=copies,
        inverted=inverted,
    )
    planted = Case(
        name=name,
        title=title,
        rows=rows,
        audit=table.audit,
        planted=True,
        beyond=beyond,
        reserve=reserve,
        doubt=doubt,
        first=first,
    )
    if fair is None:
        return (planted,)
    chances = fair if callable(fair) else partial(_all_alike, fair)
    twin = replace(table, chance=chances)
    return planted, Case(
        name=name + TWIN,
        title=f"the people and options of `{name}`, and nothing is planted",
        rows=rows,
        audit=twin.audit,
        planted=False,
        beyond=False,
    )


def _all_alike(share: float, frame: pd.DataFrame) -> Floats:
    return np.full(len(frame), share)


def _claims(result: AuditResult, chance: Floats, labels: NDArray[Any] | None) -> list[float]:
    """Return the true size of each difference that a headline claims, in the claimed direction."""
    findings = result.findings
    summary = result.summary
    assert isinstance(findings, TableFindings)
    every = np.ones(len(chance), dtype=bool)
    claims = []
    if (first := findings.first) is not None:
        low, high = (
            float(limit[0])
            for limit in findings.guarantee.confidence_intervals(
                findings.estimates, np.array([first])
            )
        )
        if low > 0 or high < 0:
            inside = findings.rule_set(first)
            claims.append(_true_size(findings, inside, every, chance, sign=low))
    if summary.within is not None and summary.within.first is not None:
        assert findings.slices is not None
        best = findings.slices.found[0]
        part = _members(findings, best.slice)
        group = findings.rule_set(best.group)
        claims.append(_true_size(findings, group, part, chance, sign=best.rates.difference))
    further = [] if findings.deeper is None else [(findings.deeper.rule_set, findings.deeper.rates)]
    if findings.finer is not None and findings.finer.first is not None:
        further.append((findings.finer.first.rule_set, findings.finer.first.rates))
    claims += [
        _true_size(findings, rule_set, every, chance, sign=rates.difference)
        for rule_set, rates in further
        if rates.lower_bound > 0
    ]
    for rate in () if claims else findings.error_rates:
        # A headline is about them only if no selection rates differ.
        if labels is None or (place := rate.first) is None or not rate.guarantee.largest_bound > 0:
            continue
        counted = labels.astype(bool) == (rate.metric == "true_positive_rate")
        group = findings.rule_set(int(rate.groups[place]))
        size = float(rate.estimates.rate_in[place] - rate.estimates.rate_out[place])
        claims.append(_true_size(findings, group, counted, chance, sign=size))
    return claims


def _members(findings: TableFindings, group: RuleSet) -> NDArray[np.bool_]:
    return np.asarray(group.matches(findings.table), dtype=bool)


def _true_size(
    findings: TableFindings,
    group: RuleSet,
    among: NDArray[np.bool_],
    chance: Floats,
    *,
    sign: float,
) -> float:
    """Return the true difference of chances among a mask of people, negative if wrong way."""
    inside = _members(findings, group)
    outside = group.complement(findings.table)
    true = chance[inside & among].mean() - chance[outside & among].mean()
    return float(true if sign > 0 else -true)
