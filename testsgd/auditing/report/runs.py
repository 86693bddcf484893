"""How runs of a sampled audit with several seeds stand in the document and in the report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from testsgd.auditing.findings import Findings
from testsgd.auditing.repeated_runs import FOLLOWED, SeedRuns
from testsgd.report.blocks import Block, Paragraph
from testsgd.report.formatting import NOTHING, count, plural, series, signed
from testsgd.report.listing import Listed, listing
from testsgd.report.summaries import Count, Difference, Part, Positive, RuleSummary, brief_group

_TEXT_LIMIT = 160
# Of more runs a table has the mean and the ends only.
_EACH_SHOWN = 5


class RunRange(Part):
    """A figure over the runs in which it is known."""

    mean: float = Field(description="mean")
    lowest: float = Field(description="smallest")
    highest: float = Field(description="largest")


class GroupOverRuns(Part):
    """One of the first distinct groups of the audit, followed over the runs."""

    text: str = Field(description="the rules as people write them")
    rules: list[RuleSummary] = Field(description="the rules; all hold")
    differences: list[Difference | None] = Field(
        description="its difference in each run, for texts that are ranked by it the "
        "counterfactual effect; null where a side has no samples"
    )
    difference: RunRange | None = Field(description="that over the runs; null if none has it")
    score: RunRange | None = Field(description="its size over the runs")
    ranks: list[Positive | None] = Field(description="its rank in each run; null where it has none")
    found: Count | None = Field(
        description="in how many runs it, or a near copy, is among the first ten distinct groups; "
        "null for groups that were named, as none were looked for"
    )


class RunsSummary(Part):
    """What runs with several seeds say of the first distinct groups of the audit."""

    seeds: list[Count] = Field(description="the seed of each run; the first is the audit's own")
    model_queries: list[Count] = Field(
        description="rows or texts that the model was asked about in each run"
    )
    groups: list[GroupOverRuns] = Field(
        description="the first distinct groups of the audit by rank, at most ten"
    )


def runs_summary(findings: Findings, seeded: SeedRuns | None) -> RunsSummary | None:
    """Return what the runs say of the groups of an audit; None if there was one run."""
    if seeded is None:
        return None
    runs = seeded.runs
    groups = []
    for place, group in enumerate(seeded.groups.tolist()):
        rule_set = findings.rule_set(group)
        differences = [_known(float(run.differences[place])) for run in runs]
        known = [value for value in differences if value is not None]
        found = [bool(run.found[place]) for run in runs if run.found is not None]
        groups.append(
            GroupOverRuns(
                text=rule_set.text,
                rules=[RuleSummary.model_validate(rule.to_json()) for rule in rule_set.rules],
                differences=differences,
                difference=_over(known),
                score=_over([abs(value) for value in known]),
                ranks=[int(run.ranks[place]) or None for run in runs],
                found=sum(found) if found else None,
            )
        )
    return RunsSummary(
        seeds=[run.seed for run in runs],
        model_queries=[run.queries for run in runs],
        groups=groups,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _over(values: Sequence[float]) -> RunRange | None:
    if not values:
        return None
    return RunRange(mean=float(np.mean(values)), lowest=min(values), highest=max(values))


def runs_sentence(runs: RunsSummary, figure: str) -> str:
    """Write how far the first group's `figure`, such as its difference, depends on the seed."""
    times = f"Over {plural(len(runs.seeds), 'run')}, with seeds {_ends(runs.seeds)},"
    first = runs.groups[0] if runs.groups else None
    if first is None or first.difference is None:
        return f"{times} there is no group to compare: none could be decided."
    spread = first.difference
    low, high = signed(spread.lowest), signed(spread.highest)
    reach = f"{low} points in each"
    if low != high:
        reach = f"{low} to {high} points, {signed(spread.mean)} on average"
    found = ""
    if first.found is not None:
        found = f"; it is found in {count(first.found)} of {count(len(runs.seeds))}"
    return f"{times} the {figure} of {brief_group(first, _TEXT_LIMIT)} is {reach}{found}."


def mean_text(group: GroupOverRuns) -> str:
    """Write the mean over the runs in points, without unit."""
    return NOTHING if group.difference is None else signed(group.difference.mean)


def reach_text(group: GroupOverRuns) -> str:
    """Write from where to where the runs reach, in points, without unit."""
    spread = group.difference
    return NOTHING if spread is None else f"{signed(spread.lowest)} to {signed(spread.highest)}"


def found_text(group: GroupOverRuns) -> str:
    """Write in how many of all runs a group is found."""
    if group.found is None:
        return NOTHING
    return f"{count(group.found)} of {count(len(group.differences))}"


def ranks_text(group: GroupOverRuns) -> str:
    """Write from where to where the ranks of a group reach."""
    ranks = [rank for rank in group.ranks if rank is not None]
    return _ends(ranks) if ranks else NOTHING


def _ends(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def runs_blocks(runs: RunsSummary | None, figure: str) -> tuple[Block, ...]:
    """Lay the runs out for the report; nothing if there was one."""
    if runs is None:
        return ()
    queries = series([count(queries) for queries in runs.model_queries])
    searched = any(group.found is not None for group in runs.groups)
    about = (
        f"{runs_sentence(runs, figure)} Each run drew anew from the same data, with {queries} "
        f"model queries. The verdict and all other figures are of seed {runs.seeds[0]}."
    )
    if searched:
        about += (
            f" Found means that the group, or a near copy, is among the first {FOLLOWED} distinct "
            "groups of a run."
        )
    columns: list[Listed[GroupOverRuns]] = [
        Listed("Group", lambda group: group.text, "name"),
        Listed("Mean, points", mean_text, "strong"),
        Listed("Lowest to highest", reach_text),
        Listed(
            "In each run",
            lambda group: ", ".join(signed(value) for value in group.differences),
            shown=len(runs.seeds) <= _EACH_SHOWN,
        ),
        Listed("Found in", found_text, shown=searched),
        Listed("Ranks", ranks_text),
    ]
    paragraph = Paragraph(about)
    if not runs.groups:
        return (paragraph,)
    return (paragraph, listing("Groups over the runs", runs.groups, columns))
