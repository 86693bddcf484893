"""The outcome of a synthesis and of a simulation in words, the same in every view."""

from __future__ import annotations

from testsgd.report.formatting import MINUS, count, percent, plural, seconds, share
from testsgd.shielding.report.summary import (
    BoundSummary,
    PeriodSummary,
    ShieldVerdict,
    SideSummary,
    SimulationSettings,
    SpreadSummary,
    SynthesisSummary,
    UtilitySummary,
)
from testsgd.shielding.report.wording import (
    ASSUMPTIONS,
    bound_text,
    bytes_text,
    cost_text,
    looked_at,
    threshold_text,
)

DONE, FAILED = 0, 1
_INSTEAD = {
    "pass": "in these recommendations passed",
    "closest": "in these the smallest bound that can be kept was kept",
}


def synthesis_verdict(bound: BoundSummary, made: SynthesisSummary) -> ShieldVerdict:
    """Describe what the shield keeps, and what it costs."""
    took = (
        f"The synthesis took {seconds(made.seconds)}; it was predicted to need "
        f"{bytes_text(made.predicted_bytes)} of memory."
    )
    if bound.shield == "finite":
        headline = f"The shield keeps {bound_text(bound)} {looked_at(bound)}, whoever comes."
    else:
        headline = (
            f"The shield keeps {bound_text(bound)} {looked_at(bound)}, as long as its assumption "
            "holds."
        )
    told = [
        f"By the distribution that it expects, its changes cost {cost_text(made.expected_cost)} "
        f"in {plural(bound.horizon, 'decision')}."
    ]
    if bound.shield != "finite":
        told.append(f"The assumption is that {ASSUMPTIONS[bound.shield]}.")
    if made.stored_bytes is not None:
        took = f"{took[:-1]}, and its file has {bytes_text(made.stored_bytes)}."
    return _verdict("synthesised", DONE, headline, [*told, took])


def simulation_verdict(
    bound: BoundSummary,
    settings: SimulationSettings,
    *,
    without: SideSummary,
    shielded: SideSummary,
    interventions: SpreadSummary,
    changed: float,
    cost: SpreadSummary,
    expected_cost: float | None,
    utility: UtilitySummary | None,
    periods: list[PeriodSummary],
    guaranteed: int,
    broken: int,
) -> ShieldVerdict:
    """Describe what the shield did, and whether what it guarantees held.

    `guaranteed`: ends of periods at which the bound is guaranteed; `broken`: those of them that
    were above the threshold. The exit code is 1 if a guaranteed bound did not hold or the gate
    failed.
    """
    status, code = "guarantee_kept", DONE
    if broken:
        status, code = "guarantee_broken", FAILED
    elif settings.max_above is not None and shielded.above > settings.max_above * settings.runs:
        status, code = "gate_failed", FAILED
    elif not guaranteed:
        status = "observed"
    sentences = [
        *_gate(settings, shielded),
        *_guarantee(bound, settings, guaranteed, broken),
        *_infeasible(bound, settings, periods),
        _changes(bound, settings, interventions, changed, cost, expected_cost),
        *_utility(utility),
        *_whole_runs(settings, periods),
    ]
    return _verdict(status, code, _headline(bound, settings, without, shielded), sentences)


def _headline(
    bound: BoundSummary,
    settings: SimulationSettings,
    without: SideSummary,
    shielded: SideSummary,
) -> str:
    runs, threshold = plural(settings.runs, "run"), threshold_text(bound)
    before = percent(without.above / settings.runs)
    after = percent(shielded.above / settings.runs) if shielded.above else "none"
    when = "at the end" if settings.periods == 1 else "at the end of some period"
    return (
        f"With the shield {after} of {runs} exceeded a bias of {threshold} {when}; without it "
        f"{before} did."
    )


def _gate(settings: SimulationSettings, shielded: SideSummary) -> list[str]:
    if settings.max_above is None:
        return []
    kept = shielded.above <= settings.max_above * settings.runs
    return [
        f"The gate {'holds' if kept else 'failed'}: {percent(shielded.above / settings.runs)} of "
        f"the runs are above the threshold with the shield, and {share(settings.max_above)} may be."
    ]


def _guarantee(
    bound: BoundSummary, settings: SimulationSettings, guaranteed: int, broken: int
) -> list[str]:
    ends = settings.runs * settings.periods
    if broken:
        return [
            f"The bound was broken at {plural(broken, 'end')} of a period where it is guaranteed. "
            "This must not happen: please report it."
        ]
    if bound.shield == "finite":
        return ["The bound is guaranteed for every sequence of people, and held in all of them."]
    if not guaranteed:
        return [
            f"The assumption ({ASSUMPTIONS[bound.shield]}) held in no run, so nothing is "
            "guaranteed of what was seen."
        ]
    return [
        f"The assumption ({ASSUMPTIONS[bound.shield]}) had always held at {count(guaranteed)} of "
        f"{plural(ends, 'end')} of periods, and at all of these the bound held, as it must."
    ]


def _infeasible(
    bound: BoundSummary, settings: SimulationSettings, periods: list[PeriodSummary]
) -> list[str]:
    some = sum(period.infeasible for period in periods)
    if not some or bound.when_infeasible is None:
        return []
    return [
        f"For {count(some)} of {plural(settings.runs * settings.periods, 'period')} no shield "
        f"existed after what had happened; {_INSTEAD[bound.when_infeasible]}."
    ]


def _changes(
    bound: BoundSummary,
    settings: SimulationSettings,
    interventions: SpreadSummary,
    changed: float,
    cost: SpreadSummary,
    expected_cost: float | None,
) -> str:
    told = (
        f"It changed {cost_text(interventions.mean)} decisions a run, {percent(changed)} of all, "
        f"at a cost of {cost_text(cost.mean)}"
    )
    if expected_cost is None:
        return f"{told}."
    each = ""
    if settings.periods > 1:
        each = " in the first period" if bound.shield == "dynamic" else " in each period"
    return f"{told}; {cost_text(expected_cost)} is expected{each} by its distribution."


def _utility(utility: UtilitySummary | None) -> list[str]:
    if utility is None:
        return []
    lost = 100 * utility.loss.mean
    how = f"{abs(lost):.1f} points {'fewer' if lost >= 0 else 'more'}"
    if f"{abs(lost):.1f}" == "0.0":
        how = "the same to a tenth of a point"
    return [
        f"Of the decisions {percent(utility.accuracy_shielded)} were correct, {how}"
        f"{'' if how.startswith('the') else ' than without it'}."
    ]


def _whole_runs(settings: SimulationSettings, periods: list[PeriodSummary]) -> list[str]:
    held = periods[-1].assumed
    if held is None or held == settings.runs or settings.periods == 1:
        return []
    return [f"The assumption held in all periods of {percent(held / settings.runs)} of the runs."]


def loss_text(loss: float) -> str:
    """Write a loss of accuracy in points; a gain has a minus.

    >>> loss_text(0.0123), loss_text(-0.004) == MINUS + "0.4", loss_text(-0.0001)
    ('1.2', True, '0.0')
    """
    digits = f"{100 * abs(loss):.1f}"
    return f"{MINUS}{digits}" if loss < 0 and digits != "0.0" else digits


def _verdict(status: str, code: int, headline: str, sentences: list[str]) -> ShieldVerdict:
    return ShieldVerdict.model_validate(
        {"status": status, "exit_code": code, "headline": headline, "sentences": sentences}
    )
