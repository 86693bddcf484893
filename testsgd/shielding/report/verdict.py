"""The outcome of a synthesis and of a simulation in words, the same in every view."""

from __future__ import annotations

from testsgd.fairness.wording import bound_text
from testsgd.report.formatting import bytes_text, count, percent, plural, seconds, share
from testsgd.shielding.report import wording
from testsgd.shielding.report.summary import ShieldSummary, ShieldVerdict, SimulationSummary, Status
from testsgd.shielding.report.wording import ASSUMPTIONS, cost_text

# What a summary has until its verdict is known, which follows from all else in it.
PENDING = ShieldVerdict(status="gate_failed", exit_code=1, headline="", sentences=[])


def synthesis_verdict(summary: ShieldSummary) -> ShieldVerdict:
    """Return what the shield keeps and what it costs; the summary has no verdict yet."""
    requirement = summary.requirement
    synthesis = summary.synthesis
    kept = wording.requirement_text(requirement)
    condition = "whoever comes"
    assumption = list[str]()
    if requirement.shield != "finite":
        condition = "as long as its assumption holds"
        assumption = [_assumption(summary)]
    took = []
    if synthesis.seconds is not None:
        took.append(f"the synthesis took {seconds(synthesis.seconds)}")
    if synthesis.predicted_bytes is not None:
        memory = bytes_text(synthesis.predicted_bytes)
        took.append(f"it was predicted to need {memory} of memory")
    if synthesis.stored_bytes is not None:
        took.append(f"the shield's file has {bytes_text(synthesis.stored_bytes)}")
    return ShieldVerdict(
        status="synthesised",
        exit_code=0,
        headline=f"The shield keeps {kept} {wording.looked_at(requirement)}, {condition}.",
        sentences=[
            f"By the distribution that it expects, its changes cost "
            f"{cost_text(synthesis.expected_cost)} in {plural(requirement.horizon, 'decision')}.",
            *assumption,
            *([f"{took[0][0].upper()}{'; '.join(took)[1:]}."] if took else []),
        ],
    )


def _assumption(summary: ShieldSummary) -> str:
    """Return the sentence on what a periodic shield assumes, and how likely that is."""
    synthesis = summary.synthesis
    sentence = f"The assumption is that {ASSUMPTIONS[summary.requirement.shield]}"
    if synthesis.least_counted is not None:
        sentence += f": each group is counted at least {plural(synthesis.least_counted, 'time')}"
    if synthesis.assumption_probability is not None:
        probability = wording.probability_text(synthesis.assumption_probability)
        sentence += f". In one period it holds with probability {probability} by the distribution"
    return f"{sentence}."


def without_times(summary: ShieldSummary) -> ShieldSummary:
    """Return a summary of which the times were left out with a verdict that tells none either."""
    return summary.model_copy(update={"verdict": synthesis_verdict(summary)})


def simulation_verdict(summary: SimulationSummary) -> ShieldVerdict:
    """Return what the shield did; the exit code is 1 if a guarantee or the gate failed."""
    runs = summary.settings.runs
    allowed = summary.settings.fail_above
    bound = bound_text(summary.requirement)
    above = summary.shielded.above
    status: Status = "guarantee_kept" if summary.guaranteed else "observed"
    if summary.broken:
        status = "guarantee_broken"
    elif allowed is not None and above > allowed * runs:
        status = "gate_failed"
    when = "at the end" if len(summary.periods) == 1 else "at the end of some period"
    without = percent(summary.unshielded.above / runs)
    shielded = percent(above / runs)
    gate = list[str]()
    if allowed is not None:
        gate.append(
            f"The gate {'holds' if above <= allowed * runs else 'failed'}: {shielded} of the runs "
            f"are above the bound with the shield, and {share(allowed)} may be."
        )
    return ShieldVerdict(
        status=status,
        exit_code=1 if status in ("guarantee_broken", "gate_failed") else 0,
        headline=f"With the shield {shielded if above else 'none'} of {plural(runs, 'run')} "
        f"exceeded a bias of {bound} {when}; without it {without} did.",
        sentences=[*gate, *_guarantee(summary), *_changes(summary)],
    )


def _guarantee(summary: SimulationSummary) -> list[str]:
    """Return sentences on whether the bound held where it is guaranteed, and where it is not."""
    requirement = summary.requirement
    assumption = ASSUMPTIONS.get(requirement.shield)
    periods = summary.settings.runs * len(summary.periods)
    if summary.broken:
        ends = plural(summary.broken, "end")
        text = f"The bound was broken at {ends} of a period where it is guaranteed. This must not "
        text += "happen: please report it."
    elif requirement.shield == "finite":
        text = "The bound is guaranteed for every sequence of people, and held in all of them."
    elif summary.guaranteed:
        ends = f"{count(summary.guaranteed)} of {plural(periods, 'end')} of periods"
        text = f"The assumption ({assumption}) had always held at {ends}, and at all of these the "
        text += "bound held, as it must."
    else:
        text = f"The assumption ({assumption}) held in no run, so nothing is guaranteed of what "
        text += "was seen."
    sentences = [text]
    infeasible = sum(period.infeasible for period in summary.periods)
    if infeasible and requirement.when_infeasible:
        instead = wording.WHEN_INFEASIBLE[requirement.when_infeasible]
        sentences.append(
            f"For {count(infeasible)} of {plural(periods, 'period')} no shield existed after "
            f"what had happened; in these {instead}."
        )
    return sentences


def _changes(summary: SimulationSummary) -> list[str]:
    """Return sentences on what the shield changed, and on correct decisions if these are known."""
    changed = (
        f"It changed {cost_text(summary.interventions.mean)} decisions a run, "
        f"{percent(summary.changed)} of all, at a cost of {cost_text(summary.cost.mean)}"
    )
    if summary.expected_cost is not None:
        first = "the first" if summary.requirement.shield == "dynamic" else "each"
        when = f" in {first} period" if len(summary.periods) > 1 else ""
        expected = cost_text(summary.expected_cost)
        changed += f"; {expected} is expected{when} by its distribution"
    sentences = [f"{changed}."]
    utility = summary.utility
    if utility is not None:
        lost = f"{abs(100 * utility.loss.mean):.1f}"
        how = f"{lost} points {'fewer' if utility.loss.mean >= 0 else 'more'} than without it"
        how = "the same to a tenth of a point" if lost == "0.0" else how
        accuracy = percent(utility.accuracy_shielded)
        sentences.append(f"Of the decisions {accuracy} were correct, {how}.")
    return sentences
