"""What a case is, and whether the verdict on one sample of its people is right.

A case has a size and the options of an audit. It is judged by what its reader sees: the headline
and the exit code.

- A false all-clear: the gate passes (exit code 0), though a group is beyond its limit, or something
  is planted and the headline claims no difference; without a word about what was not looked at.
- A reserve: the same, but the verdict says what it did not look at, which is where the planted
  difference is; or a claim in the wrong direction that the verdict itself doubts.
- A false alarm: the headline claims a difference that is not there, or of others than those it is
  about; or the gate fails, though no group is beyond its limit.
- Not enough evidence (exit code 3) is none of them.

Each case has a twin with the same people and options in which nothing is planted.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from testsgd.auditing import AuditResult
from testsgd.monitoring import MonitorResult
from testsgd.truth.catalogue import NOTHING

_FAILED, _PASSED = 1, 0


@dataclass(frozen=True)
class Audited:
    """Result of one audit, or of a monitor, with the true size of what it claims."""

    result: AuditResult | MonitorResult
    # The true size of each difference that the headline claims, negative in the other direction.
    claims: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Case:
    """World of one size, with an audit of it."""

    name: str  # What it is called in a command.
    title: str  # What it is, in words.
    rows: int  # How many people or texts.
    audit: Callable[[np.random.Generator], Audited]  # Draws them, and audits them.
    planted: bool  # Whether some of them are treated differently.
    beyond: bool  # Whether that is more than the gate's limit allows.
    reserve: str = ""  # A pattern: what a verdict says that names the gap in its search.
    doubt: str = ""  # A pattern: what a verdict says that doubts the direction of its claims.
    first: str = ""  # A pattern: what a headline names that claims the right difference.


@dataclass(frozen=True, kw_only=True)
class CaseRun:
    """Outcome of auditing one sample of a case."""

    world: str  # Which case.
    rows: int  # How many people or texts.
    number: int  # Which run.
    planted: bool  # Whether an all-clear can be false.
    all_clear: bool  # The verdict is a false all-clear.
    alarm: bool  # The verdict is a false alarm.
    reserved: bool  # It would be one of them if the verdict did not name the gap.
    undecided: bool  # The gate finds not enough evidence.


def judge_case(case: Case, number: int, *, seed: int) -> CaseRun:
    """Draw a sample of a case, audit it, and return which errors the verdict makes.

    Parameters
    ----------
    case : Case
        What is drawn and audited.
    number : int
        Which run.
    seed : int
        Same number and seed, same run; a case and its twin get the same random numbers.

    Returns
    -------
    CaseRun
    """
    own = zlib.crc32(case.name.removesuffix(TWIN).encode())
    audited = case.audit(np.random.default_rng([seed, number, own]))
    verdict = audited.result.verdict
    code = verdict.exit_code
    misses = (case.planted and not audited.claims) or case.beyond
    all_clear = misses and code == _PASSED
    wrong_claim = any(true < NOTHING for true in audited.claims)
    if audited.claims and case.first:
        wrong_claim = wrong_claim or not re.search(case.first, verdict.headline)
    alarm = wrong_claim or (not case.beyond and code == _FAILED)
    words = " ".join([verdict.headline, *verdict.sentences])
    gap_named = bool(case.reserve) and re.search(case.reserve, words) is not None
    doubted = bool(case.doubt) and re.search(case.doubt, words) is not None
    return CaseRun(
        world=case.name,
        rows=case.rows,
        number=number,
        planted=case.planted,
        all_clear=all_clear and not gap_named,
        alarm=alarm and not doubted,
        reserved=(all_clear and gap_named) or (alarm and doubted),
        undecided=verdict.status == "not_enough_evidence",
    )


# Behind the name of a case: its twin in which nothing is planted.
TWIN = "-null"
