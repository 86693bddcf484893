"""The outcome of a synthesis and of a simulation in words, the same in every view."""

from __future__ import annotations

from testsgd.fairness.wording import bound_text
from testsgd.report.formatting import count, percent, plural, seconds, share
from testsgd.shielding.report import wording
from testsgd.shielding.report.summary import ShieldSummary, ShieldVerdict, SimulationSummary, Status
from testsgd.shielding.report.wording import ASSUMPTIONS, cost_text

_INSTEAD = {
    "pass": "in these recommendations passed",
    "closest": "in these the smallest bound that can be kept was kept",
}


def synthesis_verdict(summary: ShieldSummary) -> ShieldVerdict:
    """Describe what the shield keeps, and what it costs; the summary has no verdict so far."""
    requirement, made = summary.requirement, summary.synthesis
    kept = wording.requirement_text(requirement)
    condition, assumption = "whoever comes", []
    if requirement.shield != "finite":
        condition = "as long as its assumption holds"
        assumption = [f"The assumption is that {ASSUMPTIONS[requirement.shield]}."]
    file = ""
    if made.stored_bytes is not None:
        file = f", and its file has {wording.bytes_text(made.stored_bytes)}"
    return ShieldVerdict(
        status="synthesised",
        exit_code=0,
        headline=f"The shield keeps {kept} {wording.looked_at(requirement)}, {condition}.",
        sentences=[
            f"By the distribution that it expects, its changes cost "
            f"{cost_text(made.expected_cost)} in {plural(requirement.horizon, 'decision')}.",
            *assumption,
            f"The synthesis took {seconds(made.seconds)}; it was predicted to need "
            f"{wording.bytes_text(made.predicted_bytes)} of memory{file}.",
        ],
    )


def simulation_verdict(summary: SimulationSummary) -> ShieldVerdict:
    """Describe what the shield did; the exit code is 1 if a guarantee or the gate failed."""
    runs, allowed = summary.settings.runs, summary.settings.fail_above
    status: Status = "guarantee_kept" if summary.guaranteed else "observed"
    if summary.broken:
        status = "guarantee_broken"
    elif allowed is not None and summary.shielded.above > allowed * runs:
        status = "gate_failed"
    told = (
        _gate(summary),
        _guarantee(summary),
        _infeasible(summary),
        _changes(summary),
        _utility(summary),
        _whole_runs(summary),
    )
    return ShieldVerdict(
        status=status,
        exit_code=1 if status in ("guarantee_broken", "gate_failed") else 0,
        headline=_headline(summary),
        sentences=[text for text in told if text],
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


def _gate(summary: SimulationSummary) -> str:
    settings, above = summary.settings, summary.shielded.above
    if settings.fail_above is None:
        return ""
    holds = "holds" if above <= settings.fail_above * settings.runs else "failed"
    return (
        f"The gate {holds}: {percent(above / settings.runs)} of the runs are above the bound with "
        f"the shield, and {share(settings.fail_above)} may be."
    )


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


def _infeasible(summary: SimulationSummary) -> str:
    some = sum(period.infeasible for period in summary.periods)
    if not some or summary.requirement.when_infeasible is None:
        return ""
    periods = plural(summary.settings.runs * len(summary.periods), "period")
    instead = _INSTEAD[summary.requirement.when_infeasible]
    return f"For {count(some)} of {periods} no shield existed after what had happened; {instead}."


def _changes(summary: SimulationSummary) -> str:
    told = (
        f"It changed {cost_text(summary.interventions.mean)} decisions a run, "
        f"{percent(summary.changed)} of all, at a cost of {cost_text(summary.cost.mean)}"
    )
    if summary.expected_cost is None:
        return f"{told}."
    first = "the first" if summary.requirement.shield == "dynamic" else "each"
    when = f" in {first} period" if len(summary.periods) > 1 else ""
    return f"{told}; {cost_text(summary.expected_cost)} is expected{when} by its distribution."


def _utility(summary: SimulationSummary) -> str:
    utility = summary.utility
    if utility is None:
        return ""
    lost = f"{abs(100 * utility.loss.mean):.1f}"
    how = f"{lost} points {'fewer' if utility.loss.mean >= 0 else 'more'} than without it"
    if lost == "0.0":
        how = "the same to a tenth of a point"
    return f"Of the decisions {percent(utility.accuracy_shielded)} were correct, {how}."


def _whole_runs(summary: SimulationSummary) -> str:
    runs, held = summary.settings.runs, summary.periods[-1].assumed
    if held is None or held == runs or len(summary.periods) == 1:
        return ""
    return f"The assumption held in all periods of {percent(held / runs)} of the runs."
