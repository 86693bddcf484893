"""Individual discrimination: how often nothing but sensitive features change a decision.

For the people of the table: the share whose decision changes if only sensitive features change, to
any combination of the audit's cells (of a bin its middle, so another age in one's own bin counts,
too).
For inputs in general: how many discriminatory ones a search finds, at random and led by the
gradients of a network, for the same number of queries.

References
----------
Galhotra, Brun and Meliou (2017), Fairness testing, for the definition; Zhang et al. (2020),
White-box fairness testing through adversarial sampling, for the search by gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.baseline import (
    MOST_FINDINGS,
    BaselineFinding,
    BaselineResult,
    Deadline,
    Figure,
    ShippedBaseline,
    Subject,
)
from testsgd.baselines.coding import Points, RowCoding
from testsgd.baselines.combinations import (
    NOTHING_TO_COMBINE,
    cell_values,
    combination_points,
    sensitive_combinations,
)
from testsgd.baselines.input_search import InputCheck, SearchOutcome, guided_search, random_search
from testsgd.models import Model, NetworkModel
from testsgd.sampling import BATCH_ROWS


@dataclass(frozen=True)
class Flips:
    """Whose decision another combination of sensitive values changes."""

    # Whether some combination that was tried changes it; shape (people,).
    changed: NDArray[np.bool_]
    tried: int  # Combinations that were tried.
    queries: int  # Rows the model was asked about.

    @property
    def share(self) -> float:
        """Share of the people whose decision changes."""
        return float(self.changed.mean())


def find_flips(
    model: Model,
    coding: RowCoding,
    points: Points,
    decisions: NDArray[np.bool_],
    indices: NDArray[np.intp],
    values: Points,
    deadline: Deadline,
) -> Flips:
    """Put other values into some features of every person, and see whose decision changes.

    `indices` are the features; each row of `values` is tried, the first whatever the time.
    """
    changed = np.zeros(len(points), dtype=bool)
    tried = queries = 0
    for combination in values:
        if tried and deadline.passed:
            break
        # Who is known to be affected need not be asked about again.
        left = np.flatnonzero(~changed)
        for start in range(0, len(left), BATCH_ROWS):
            rows = left[start : start + BATCH_ROWS]
            varied = points[rows]
            varied[:, indices] = combination
            changed[rows] = model.decisions(coding.frame(varied)) != decisions[rows]
            queries += len(rows)
        tried += 1
    return Flips(changed, tried, queries)


_TOGETHER = "all sensitive features"


class IndividualSearch(ShippedBaseline):
    """People and inputs whose decision depends on their sensitive features.

    It looks at the people, then searches inputs. A finding is a sensitive feature, or all of them,
    with the share of the people whose decision it can change. Every part does at least a little,
    whatever the time.

    Parameters
    ----------
    variants : int
        Most combinations of sensitive values that a person is tried with; if there are more, so
        many of them are drawn at random.
    people : int
        Most people who are looked at; if there are more, so many of them are drawn at random.
    queries : int
        Rows that each of the two searches may ask the model about.

    Examples
    --------
    >>> from testsgd.baselines import subject_of
    >>> from testsgd.data import load_specification, load_table
    >>> from testsgd.models import load_model
    >>> specification = load_specification("demo")
    >>> subject = subject_of(
    ...     load_table(specification), load_model(None, specification).model, theta=0.05
    ... )
    >>> result = IndividualSearch(people=500, queries=5_000).run(subject)
    >>> result.findings[0].text
    'all sensitive features'
    """

    method = "individual"
    title = "Individual discrimination"
    measure = "share of people whose decision changes if nothing but these features change"
    finding = "a person whose decision changes with the sensitive features alone"
    names_groups = False

    def __init__(
        self, *, variants: int = 200, people: int = 50_000, queries: int = 200_000
    ) -> None:
        self._variants = variants
        self._people = people
        self._queries = queries

    def _run(self, subject: Subject, deadline: Deadline) -> BaselineResult:
        generator = np.random.default_rng(subject.seed)
        coding = RowCoding(subject.table)
        combinations = sensitive_combinations(subject.contingency, coding)
        if not len(combinations):
            return self._result(note=NOTHING_TO_COMBINE, available=False)
        variants = combination_points(combinations, coding)
        notes = [combinations.note()]
        if len(variants) > self._variants:
            notes.append(
                f"{self._variants:,} of {len(variants):,} combinations of sensitive values were "
                "drawn at random"
            )
            drawn = generator.choice(len(variants), self._variants, replace=False)
            variants = variants[np.sort(drawn)]

        rows = np.arange(len(subject.table))
        if len(rows) > self._people:
            notes.append(f"{self._people:,} of {len(rows):,} people were drawn at random")
            rows = np.sort(generator.choice(rows, self._people, replace=False))
        flips = _flips_by_feature(subject, coding, rows, variants, deadline)
        together = flips[_TOGETHER]
        if together.tried < len(variants):
            notes.append(
                f"stopped after {deadline.seconds:.0f} s with {together.tried:,} of "
                f"{len(variants):,} combinations"
            )

        check = InputCheck(subject.model, coding, variants)
        at_random = random_search(
            check, coding, queries=self._queries, generator=generator, deadline=deadline
        )
        guided = None
        if isinstance(subject.model, NetworkModel):
            guided = guided_search(
                check,
                coding,
                subject.model,
                queries=self._queries,
                generator=generator,
                deadline=deadline,
            )
        figures = (
            Figure(
                "people whose decision changes",
                together.share,
                f"share of {len(rows):,} people whose decision changes with one of "
                f"{together.tried:,} combinations of sensitive values, all else being equal",
            ),
            _search_figure("random search", at_random, "inputs drawn uniformly from the domain"),
            _search_figure(
                "gradient-guided search",
                guided,
                "people moved along the gradients",
                instead="not applicable: the search needs the gradients of a network of testsgd's "
                f"own, and the model is of another kind: {subject.model.kind}",
            ),
        )
        asked = [flip.queries for flip in flips.values()] + [at_random.queries]
        return self._result(
            findings=_findings(subject, rows, flips),
            figures=figures,
            queries=sum(asked) + (0 if guided is None else guided.queries),
            seconds=deadline.seconds,
            note="; ".join(note for note in notes if note),
        )


def _flips_by_feature(
    subject: Subject,
    coding: RowCoding,
    rows: NDArray[np.intp],
    variants: Points,
    deadline: Deadline,
) -> dict[str, Flips]:
    """Return the people whose decision changes, by all sensitive features and by each alone."""
    points = coding.points(rows)
    decisions = subject.decisions[rows]

    def flips(indices: list[int], values: Points) -> Flips:
        return find_flips(
            subject.model,
            coding,
            points,
            decisions,
            np.array(indices, dtype=np.intp),
            values,
            deadline,
        )

    by_feature = {_TOGETHER: flips([coding.index(axis.feature) for axis in subject.axes], variants)}
    if len(subject.axes) == 1:
        return by_feature
    for axis in subject.axes:
        index = coding.index(axis.feature)
        values = cell_values(axis, coding.feature(index))
        by_feature[f"{axis.feature} alone"] = flips([index], values[~np.isnan(values), None])
    return by_feature


def _findings(
    subject: Subject, rows: NDArray[np.intp], flips: dict[str, Flips]
) -> tuple[BaselineFinding, ...]:
    """List the features by the share of people whose decision they change."""
    all_rows = len(rows) == len(subject.table)
    findings = [
        BaselineFinding(text=name, value=flip.share, rows=flip.changed if all_rows else None)
        for name, flip in flips.items()
        if flip.changed.any()
    ]
    return tuple(sorted(findings, key=lambda finding: -finding.value)[:MOST_FINDINGS])


def _search_figure(
    name: str, outcome: SearchOutcome | None, how: str, *, instead: str = ""
) -> Figure:
    """Return how many discriminatory inputs a search found per 1,000 queries."""
    label = f"{name}: found per 1,000 queries"
    if outcome is None:
        return Figure(label, instead, f"{how}; distinct discriminatory inputs per 1,000 queries")
    early = "" if outcome.finished else "; its time was up"
    return Figure(
        label,
        outcome.per_thousand,
        f"{how}: {outcome.found:,} distinct discriminatory inputs among {outcome.checked:,} "
        f"checked, {outcome.queries:,} queries{early}",
    )
