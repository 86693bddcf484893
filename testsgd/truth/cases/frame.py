"""What a case is, and whether the verdict on one sample of its people is right.

A case has a size and the options of an audit. It is judged by what its reader sees: the headline
and the exit code.

- A false all-clear: something is planted, and the headline claims no difference or the gate at the
  limit passes (exit code 0), without a word about what was not looked at.
- A reserve: the same, but the verdict says what it did not look at, which is where the planted
  difference is.
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
from testsgd.truth.catalogue import NOTHING

_NOT_ENOUGH_EVIDENCE, _FAILED, _PASSED = 3, 1, 0


@dataclass(frozen=True)
class Audited:
    """An audit of one sample of the people of a case."""

    result: AuditResult
    # The true size of each difference that the headline claims, negative in the other direction.
    claims: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A world of one size, and an audit of it."""

    name: str  # What it is called in a command.
    title: str  # What it is, in words.
    rows: int  # How many people or texts.
    audit: Callable[[np.random.Generator], Audited]  # Draws them, and audits them.
    planted: bool  # Whether some of them are treated differently.
    beyond: bool  # Whether that is more than the gate's limit allows.
    reserve: str = ""  # A pattern: what a verdict says that names the gap in its search.
    first: str = ""  # A pattern: what a headline names that claims the right difference.


@dataclass(frozen=True, kw_only=True)
class CaseRun:
    """What came of auditing one sample of the people of a case."""

    world: str  # Which case.
    rows: int  # How many people or texts.
    number: int  # Which run.
    planted: bool  # Whether an all-clear can be false.
    all_clear: bool
    alarm: bool
    reserved: bool  # It would be one of them if the verdict did not name the gap.
    undecided: bool


def judge_case(case: Case, number: int, *, seed: int) -> CaseRun:
    """Draw the people of a case, audit them, and judge the verdict.

    Same number and seed, same run.
    """
    own = zlib.crc32(case.name.removesuffix(TWIN).encode())
    audited = case.audit(np.random.default_rng([seed, number, own]))
    verdict = audited.result.verdict
    code = verdict.exit_code
    nothing_claimed = not audited.claims and code != _NOT_ENOUGH_EVIDENCE
    all_clear = (case.planted and nothing_claimed) or (case.beyond and code == _PASSED)
    wrong_claim = any(true < NOTHING for true in audited.claims)
    if audited.claims and case.first:
        wrong_claim = wrong_claim or not re.search(case.first, verdict.headline)
    alarm = wrong_claim or (not case.beyond and code == _FAILED)
    words = " ".join([verdict.headline, *verdict.sentences])
    named = bool(case.reserve) and re.search(case.reserve, words) is not None
    return CaseRun(
        world=case.name,
        rows=case.rows,
        number=number,
        planted=case.planted,
        all_clear=all_clear and not named,
        alarm=alarm and not named,
        reserved=(all_clear or alarm) and named,
        undecided=code == _NOT_ENOUGH_EVIDENCE,
    )


# Behind the name of a case: its twin in which nothing is planted.
TWIN = "-null"
