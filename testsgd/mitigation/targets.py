"""The groups whose discrimination is to be countered, chosen from an audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from testsgd.auditing import Findings
from testsgd.errors import ParameterError, TooFewDataError
from testsgd.mitigation.parameters import LEAST_HELD_OUT, MitigationParameters, Side
from testsgd.rules import RuleSet

# The place of a category, and of a term of it; None: whichever terms the texts have.
Subject = tuple[int, int | None]


@dataclass(frozen=True)
class Target:
    """A group of an audit whose discrimination is to be countered."""

    rank: int  # Its place in the audit's ranking, from 1.
    group: int  # Its index among the audit's groups.
    rule_set: RuleSet  # Who is in it.
    # Whether the model gives it less of the favourable label than everybody else, or more.
    direction: Literal["less", "more"]
    score: float  # Its score in the audit.

    @property
    def text(self) -> str:
        """Who is in the group, in words."""
        return self.rule_set.text


@dataclass(frozen=True, kw_only=True)
class ControlTarget:
    """A control effect that is to be countered."""

    category: int  # The place of the category.
    term: int | None  # The place of the term; None: whichever terms the texts have.
    category_name: str
    term_name: str | None
    effect: float  # Of the original model, on texts that are not held out.
    lower_bound: float  # Of its size; the bounds of all control effects hold at once.
    # False: the samples of the whole category stand for the term too.
    sampled: bool

    @property
    def text(self) -> str:
        """What is compared, in words."""
        return subject_text(self.category_name, self.term_name)

    @property
    def subject(self) -> Subject:
        """The places of category and term."""
        return self.category, self.term

    def counter_label(self, side: Side) -> bool:
        """Return whether samples of a side that counter the effect are favourable."""
        return (self.effect < 0) == (side == "group")


def subject_text(category: str, term: str | None) -> str:
    """Write what is compared with neutral words."""
    who = f"any term of {category}" if term is None else f"“{term}”"
    return f"{who} against a neutral word"


def choose_targets(
    findings: Findings,
    parameters: MitigationParameters,
    *,
    enough: Callable[[RuleSet], bool] | None = None,
    alone: bool = True,
) -> tuple[Target, ...]:
    """Return the targets for the groups that the user asked for, by rank.

    `enough` returns whether there are enough held-out rows on both sides of a group for a verdict.
    If the user asked for no group, the target is the first group with enough. If the groups are not
    `alone`, because control effects are countered too, their score may be 0.

    Raises
    ------
    ParameterError
        If there is no such rank, no score above `all_above`, or no difference to counter.
    TooFewDataError
        If the audit could judge no group, or none has enough held-out rows and none is asked for.
    """
    if not len(findings.ranking):
        raise _none_judged(findings)
    asked = parameters.group is not None or parameters.all_above is not None
    if not asked and enough is not None:
        chosen = [_first(findings, enough)]
    elif parameters.rank is not None:
        ranked = len(findings.ranking)
        if parameters.rank > ranked:
            raise ParameterError(
                f"there is no group of rank {parameters.rank}; the audit ranked {ranked:,}",
                where="group",
                remedy="choose a rank of the audit's report",
                rank=parameters.rank,
                ranked=ranked,
            )
        chosen = [(parameters.rank, int(findings.ranking[parameters.rank - 1]))]
    else:
        ranks = {int(group): rank for rank, group in enumerate(findings.ranking, start=1)}
        scores = findings.estimates.score
        chosen = [
            (ranks[group], group)
            for group in findings.distinct
            if scores[group] > (parameters.all_above or 0.0)
        ]
        if not chosen:
            raise ParameterError(
                f"no group's score is above {parameters.all_above}",
                where="all_above",
                remedy="there is nothing to do, or give a smaller score",
            )
    estimates = findings.estimates
    targets = tuple(
        Target(
            rank=rank,
            group=group,
            rule_set=findings.rule_set(group),
            direction="less" if estimates.difference[group] < 0 else "more",
            score=float(estimates.score[group]),
        )
        for rank, group in chosen
    )
    for target in targets:
        if target.score == 0 and (alone or asked):
            raise ParameterError(
                f"the score of group {target.rank} ({target.rule_set.text}) is 0",
                where="group",
                remedy="there is nothing to counter; choose another group",
            )
    return targets


def _first(findings: Findings, enough: Callable[[RuleSet], bool]) -> tuple[int, int]:
    """Return the rank and the index of the first group with enough held-out rows."""
    for rank, group in enumerate(findings.ranking.tolist(), start=1):
        if enough(findings.rule_set(group)):
            return rank, group
    raise TooFewDataError(
        f"of {len(findings.ranking):,} groups none has at least {LEAST_HELD_OUT} held-out "
        f"{findings.kind} on both sides, so a new model could not be judged",
        remedy=f"give more {findings.kind}; or name a group, and the result will not be judged",
    )


def _none_judged(findings: Findings) -> TooFewDataError:
    """Return the error that an audit has no groups to choose from, because the data are too few."""
    kind = findings.kind
    least = findings.parameters.fewest_rows(findings.rows)
    # Groups of texts need as many in which their terms are, and none without.
    both = kind == "rows" and findings.parameters.fewest_outside(findings.rows) == least
    sides = " inside and outside" if both else ""
    few = f"of {findings.rows:,} audited {kind} no group has at least {least:,}{sides}"
    if len(findings.rule_sets):
        few = f"none of {len(findings.rule_sets):,} groups has {kind} on both sides to compare"
    remedy = f"give more {kind}"
    if findings.parameters.theta is not None or findings.parameters.min_rows is not None:
        remedy = f"{remedy}, or lower the min_rows or theta of the audit"
    return TooFewDataError(
        f"{few}, so there is nothing to counter",
        remedy=remedy,
        least=least,
        audited=findings.rows,
    )
