"""The outcome of a synthesis and of a simulation in words, the same in every view."""

from __future__ import annotations

from typing import Literal

from testsgd.fairness.wording import bound_text
from testsgd.report.formatting import MINUS, count, percent, plural, seconds, share
from testsgd.shielding.report.summary import (
    ShieldSummary,
    ShieldVerdict,
    SimulationSummary,
    UtilitySummary,
)
from testsgd.shielding.report.wording import (
    ASSUMPTIONS,
    bytes_text,
    cost_text,
    looked_at,
    requirement_text,
)

DONE: Literal[0] = 0
FAILED: Literal[1] = 1
_INSTEAD = {
    "pass": "in these recommendations passed",
    "closest": "in these the smallest bound that can be kept was kept",
}


def synthesis_verdict(summary: ShieldSummary) -> ShieldVerdict:
    """Describe what the shield keeps, and what it costs; the summary has no verdict so far."""
    requirement, made = summary.requirement, summary.synthesis
    condition, assumption = "whoever comes", []
    if requirement.shield != "finite":
        condition = "as long as its assumption holds"
        assumption = [f"The assumption is that {ASSUMPTIONS[requirement.shield]}."]
    file = ""
    if made.stored_bytes is not None:
        file = f", and its file has {bytes_text(made.stored_bytes)}"
    return ShieldVerdict(
        status="synthesised",
        exit_code=DONE,
        headline=(
            f"The shield keeps {requirement_text(requirement)} {looked_at(requirement)}, "
            f"{condition}."
        ),
        sentences=[
            f"By the distribution that it expects, its changes cost "
            f"{cost_text(made.expected_cost)} in {plural(requirement.horizon, 'decision')}.",
            *assumption,
            f"The synthesis took {seconds(made.seconds)}; it was predicted to need "
            f"{bytes_text(made.predicted_bytes)} of memory{file}.",
        ],
    )


def simulation_verdict(summary: SimulationSummary) -> ShieldVerdict:
    """Describe what the shield did, and whether what it guarantees held.

    The summary has no verdict so far. The exit code is 1 if a guaranteed bound did not hold or the
    gate failed.
    """
    runs, allowed = summary.settings.runs, summary.settings.fail_above
    status: Literal["guarantee_kept", "guarantee_broken", "gate_failed", "observed"]
    status = "guarantee_kept" if summary.guaranteed else "observed"
    if summary.broken:
        status = "guarantee_broken"
    elif allowed is not None and summary.shielded.above > allowed * runs:
        status = "gate_failed"
    return ShieldVerdict(
        status=status,
        exit_code=FAILED if status in ("guarantee_broken", "gate_failed") else DONE,
        headline=_headline(summary),
        sentences=[
            *_gate(summary),
            _guarantee(summary),
            *_infeasible(summary),
            _changes(summary),
            *_utility(summary.utility),
            *_whole_runs(summary),
        ],
    )


def _headline(summary: SimulationSummary) -> str:
    settings, shielded = summary.settings, summary.shielded
    before = percent(summary.unshielded.above / settings.runs)
    after = percent(shielded.above / settings.runs) if shielded.above else "none"
    when = "at the end" if len(summary.periods) == 1 else "at the end of some period"
    return (
        f"With the shield {after} of {plural(settings.runs, 'run')} exceeded a bias of "
        f"{bound_text(summary.requirement)} {when}; without it {before} did."
    )


def _gate(summary: SimulationSummary) -> list[str]:
    runs, allowed, above = (
        summary.settings.runs,
        summary.settings.fail_above,
        summary.shielded.above,
    )
    if allowed is None:
        return []
    return [
        f"The gate {'holds' if above <= allowed * runs else 'failed'}: {percent(above / runs)} of "
        f"the runs are above the bound with the shield, and {share(allowed)} may be."
    ]


def _guarantee(summary: SimulationSummary) -> str:
    requirement, settings = summary.requirement, summary.settings
    if summary.broken:
        return (
            f"The bound was broken at {plural(summary.broken, 'end')} of a period where it is "
            "guaranteed. This must not happen: please report it."
        )
    if requirement.shield == "finite":
        return "The bound is guaranteed for every sequence of people, and held in all of them."
    assumption = f"The assumption ({ASSUMPTIONS[requirement.shield]})"
    if not summary.guaranteed:
        return f"{assumption} held in no run, so nothing is guaranteed of what was seen."
    ends = plural(settings.runs * len(summary.periods), "end")
    return (
        f"{assumption} had always held at {count(summary.guaranteed)} of {ends} of periods, and at "
        "all of these the bound held, as it must."
    )


def _infeasible(summary: SimulationSummary) -> list[str]:
    some, runs = sum(period.infeasible for period in summary.periods), summary.settings.runs
    if not some or summary.requirement.when_infeasible is None:
        return []
    return [
        f"For {count(some)} of {plural(runs * len(summary.periods), 'period')} no shield "
        f"existed after what had happened; {_INSTEAD[summary.requirement.when_infeasible]}."
    ]


def _changes(summary: SimulationSummary) -> str:
    told = (
        f"It changed {cost_text(summary.interventions.mean)} decisions a run, "
        f"{percent(summary.changed)} of all, at a cost of {cost_text(summary.cost.mean)}"
    )
    if summary.expected_cost is None:
        return f"{told}."
    each = ""
    if len(summary.periods) > 1:
        each = (
            " in the first period" if summary.requirement.shield == "dynamic" else " in each period"
        )
    return f"{told}; {cost_text(summary.expected_cost)} is expected{each} by its distribution."


def _utility(utility: UtilitySummary | None) -> list[str]:
    if utility is None:
        return []
    lost = f"{abs(100 * utility.loss.mean):.1f}"
    how = f"{lost} points {'fewer' if utility.loss.mean >= 0 else 'more'} than without it"
    if lost == "0.0":
        how = "the same to a tenth of a point"
    return [f"Of the decisions {percent(utility.accuracy_shielded)} were correct, {how}."]


def _whole_runs(summary: SimulationSummary) -> list[str]:
    runs, held = summary.settings.runs, summary.periods[-1].assumed
    if held is None or held == runs or len(summary.periods) == 1:
        return []
    return [f"The assumption held in all periods of {percent(held / runs)} of the runs."]


def loss_text(loss: float) -> str:
    """Write a loss of accuracy in points; a gain has a minus.

    >>> loss_text(0.0123), loss_text(-0.004) == MINUS + "0.4", loss_text(-0.0001)
    ('1.2', True, '0.0')
    """
    digits = f"{100 * abs(loss):.1f}"
    return f"{MINUS}{digits}" if loss < 0 and digits != "0.0" else digits
