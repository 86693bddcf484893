"""Measure the generative room beside its aims, and write the part of docs/benchmarks.md about it.

``python -m benchmarks.generative_cases`` runs all cases, keeps what they gave in
benchmarks/generative_results.json and fills in the page; ``--only CASE,CASE`` runs some and takes
the others as they are kept. ``--quick`` runs all of them on little, and writes nothing.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.generative_schedules import (
    Disobeyed,
    Obedient,
    Requests,
    obedient_decided,
    obedient_simulated,
    one_rare_value,
    promised,
    promised_overlapping,
    requests_beside_least,
    skewed_cases,
    small_cases,
)
from benchmarks.generative_serving import SECONDS, WARM, Served, serving
from benchmarks.generative_speed import KINDS, STATES, Assessed, Requested, assessed, requested
from benchmarks.marked_page import Marks, fill_marked, percent, table
from benchmarks.measure import machine

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
RESULTS = Path(__file__).resolve().parent / "generative_results.json"
MARKS: Marks = (
    "<!-- generative: python -m benchmarks.generative_cases -->",
    "<!-- generative ends -->",
)

Row = list[str]

_MIB = 2**20
_AIM_ABOVE_LEAST = 0.03

TEXT = (
    "What is asked of the room for generative models, beside what was measured. Written by "
    "`python -m benchmarks.generative_cases`; each table says when, and how busy the machine was."
)
HEADINGS: dict[str, Row] = {
    "obedient": [
        "rule", "vectors of betas", "with a plan", "outputs", "deadlines missed", "asked for",
        "time", "one decision",
    ],
    "requests": [
        "rule", "cases", "above the least: median", "mean", "worst", "cases within 3%", "aim",
    ],
    "disobedient": ["what", "derived", "measured", "95% interval", "missed", "deadlines", "fits"],
    "assessment": ["columns", "outputs", "groupings", "time", "peak memory", "of it before"],
    "enforcer": ["state", "requests", "begin and finish: median", "99%"],
    "serving": [
        "what", "processor for a request", "p50", "p99", "processor added", "p50 added",
        "p99 added",
    ],
}  # fmt: skip
TEXTS = {
    "obedient": (
        "A model that gives what it is asked for: random betas from CG to 2 CG + 2, CG from 2 to "
        "8, and models of which some hardly know all values (Dirichlet, 0.3 each). Aim: no "
        "deadline missed in a million outputs. The time of a decision is without the making of "
        "plans, which the whole time has."
    ),
    "requests": (
        "How many more outputs are asked for than the least possible share (dynamic programming "
        "over all counters with the exact shares), in random cases with CG of 2 to 4, betas from "
        "CG to 8 and any shares (Dirichlet, 1 each). Exact: from the stationary distribution of "
        "the counters. Only the row of learned shares is drawn, 300,000 outputs from a start "
        "without knowledge, beside known shares on the same values. The default is ready for "
        "outputs that serve no value, as those of requests that overlap may; its least share is "
        "that of all rules which let the model choose only where that would be safe. Aim: within "
        "3%."
    ),
    "disobedient": (
        "A model that gives one time in ten another value than it was asked for. For one rare "
        "value that is asked for s times before its deadline, (1 - q)^s of the deadlines are "
        "missed, with q the probability that one of the tries obeys. In the other rows 0.01 is "
        "promised at most: one request after the other, betas from the smallest that can be "
        "promised, models as above; and with requests that overlap, (1 - q)^m at most."
    ),
    "assessment": (
        "`assess_generative` on a data frame, groupings of 2 to 8 values, a requirement each and "
        "all pairs. Median of five processes. Aims: 2 s and 500 MB (477 MiB)."
    ),
    "enforcer": "One request after the other, one requirement, without a model and without HTTP.",
    "serving": (
        "A model that answers at once, asked 200 times a second for 10 s on loopback, alone and "
        "with the server before it; processor time is that of the server's process. Medians of "
        "three runs. The client, the model and the server share the machine's processors. Aims: "
        "1 ms of processor and 5 ms of p99 added. What the libraries take that serve and ask "
        "(uvicorn, aiohttp), if a request is only passed on, stands beside it."
    ),
}


def obedient(*, quick: bool) -> list[Row]:
    """Count missed deadlines of a model that obeys."""
    cases = skewed_cases(10 if quick else 100, sizes=range(2, 9))
    return [
        _obedient_row(obedient_decided(cases, 100 if quick else 10_000)),
        _obedient_row(obedient_simulated(cases, 1_000 if quick else 1_000_000)),
    ]


def _obedient_row(found: Obedient) -> Row:
    return [
        found.rule,
        f"{found.vectors}",
        f"{found.planned}",
        f"{found.outputs:,}",
        f"{found.missed:,} of {found.deadlines:,}",
        percent(found.asked / found.outputs),
        f"{found.seconds:.1f} s",
        f"{1e6 * found.per_decision:.2f} µs",
    ]


def requests(*, quick: bool) -> list[Row]:
    """Compare rules with the least possible share of requests."""
    found = list(
        requests_beside_least(small_cases(3 if quick else 60), 1_000 if quick else 300_000)
    )
    rules: dict[str, Callable[[Requests], float]] = {
        "as shipped, shares known": lambda one: one.shipped / one.least,
        "as shipped, shares learned on the way (drawn)": lambda one: one.learned / one.least,
        "`choose` only, without plans": lambda one: one.choosing / one.least,
        "earliest deadline": lambda one: one.earliest / one.least,
        "ready for requests that overlap (default)": lambda one: (
            one.overlapping / one.least_overlapping
        ),
        "the same, beside the least for requests that do not": lambda one: (
            one.overlapping / one.least
        ),
    }
    return [_requests_row(name, [of(one) - 1 for one in found]) for name, of in rules.items()]


def _requests_row(name: str, above: list[float]) -> Row:
    within = sum(one <= _AIM_ABOVE_LEAST for one in above)
    return [
        name,
        f"{len(above)}",
        percent(statistics.median(above), digits=2),
        percent(statistics.mean(above), digits=2),
        percent(max(above), digits=2),
        f"{within}",
        "reached" if within == len(above) else "missed",
    ]


def disobedient(*, quick: bool) -> list[Row]:
    """Compare missed deadlines with the derivation."""
    exact = one_rare_value(10_000 if quick else 1_000_000)
    limits = promised(2 if quick else 30, 10_000 if quick else 300_000)
    overlapping = promised_overlapping(2_000 if quick else 200_000)
    return [_disobeyed_row(one) for one in [*exact, *limits, *overlapping]]


def _disobeyed_row(found: Disobeyed) -> Row:
    if found.is_exact:
        fits = found.low <= found.derived <= found.high
    else:
        fits = found.low <= found.derived
    return [
        found.what,
        f"{'' if found.is_exact else 'at most '}{percent(found.derived, digits=4)}",
        percent(found.share, digits=4),
        f"{percent(found.low, digits=4)} to {percent(found.high, digits=4)}",
        f"{found.missed:,}",
        f"{found.deadlines:,}",
        "yes" if fits else "no",
    ]


def assessment(*, quick: bool) -> list[Row]:
    """Assess a million outputs."""
    outputs, processes = (10_000, 1) if quick else (1_000_000, 5)
    return [_assessed_row(assessed(kind, outputs, processes=processes)) for kind in KINDS]


def _assessed_row(found: Assessed) -> Row:
    return [
        KINDS[found.kind],
        f"{found.outputs:,}",
        "6",
        f"{found.seconds:.2f} s",
        f"{found.peak / _MIB:.0f} MiB",
        f"{found.before / _MIB:.0f} MiB",
    ]


def enforcer(*, quick: bool) -> list[Row]:
    """Time requests of an enforcer."""
    return [_requested_row(requested(state, 20 if quick else 2_000)) for state in STATES]


def _requested_row(found: Requested) -> Row:
    return [
        STATES[found.state],
        f"{found.requests:,}",
        f"{1e6 * found.median:.0f} µs",
        f"{1e6 * found.late:.0f} µs",
    ]


def served(*, quick: bool) -> list[Row]:
    """Measure what the server adds to a request."""
    seconds, warm, repetitions = (0.1, 1, 1) if quick else (SECONDS, WARM, 3)
    runs = [list(serving(seconds=seconds, warm=warm)) for _ in range(repetitions)]
    middle = [_median(list(same)) for same in zip(*runs, strict=True)]
    return [_served_row(one, middle[0]) for one in middle]


def _median(runs: list[Served]) -> Served:
    return Served(
        what=runs[0].what,
        processor=statistics.median(run.processor for run in runs),
        middle=statistics.median(run.middle for run in runs),
        late=statistics.median(run.late for run in runs),
    )


def _served_row(found: Served, alone: Served) -> Row:
    times = [f"{one:.2f} ms" for one in (found.processor, found.middle, found.late)]
    if found is alone:
        return [found.what, *times, "", "", ""]
    added = (
        found.processor,  # All of it: the model's processor time is another process's.
        found.middle - alone.middle,
        found.late - alone.late,
    )
    return [found.what, *times, *(f"{one:.2f} ms" for one in added)]


CASES: dict[str, Callable[..., list[Row]]] = {
    "obedient": obedient,
    "requests": requests,
    "disobedient": disobedient,
    "assessment": assessment,
    "enforcer": enforcer,
    "serving": served,
}


def kept() -> str:
    """Return what the page has now between the marks."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    return rest.partition(MARKS[1])[0].strip()


def page_part(results: dict[str, dict[str, Any]]) -> str:
    """Write the tables of the cases that there are results of."""
    parts = []
    for case in CASES:
        if case not in results:
            continue
        found = results[case]
        load = f"load average {found['load'][0]:.1f} before and {found['load'][1]:.1f} after"
        when = f"Measured on {found['day']}: {found['machine']}, {load}."
        parts += [f"{TEXTS[case]} {when}", table(HEADINGS[case], found["rows"])]
    return "\n\n".join(parts)


def _measured(case: str, *, quick: bool) -> dict[str, Any]:
    print(f"{case} ...", flush=True)
    before = os.getloadavg()[0]
    rows = CASES[case](quick=quick)
    print(table(HEADINGS[case], rows), flush=True)
    return {
        "day": str(date.today()),
        "machine": machine(),
        "load": [round(before, 2), round(os.getloadavg()[0], 2)],
        "rows": rows,
    }


def main() -> None:
    """Run some cases or all, and write what they gave unless it was a quick run."""
    match sys.argv[1:]:
        case []:
            names = list(CASES)
        case ["--quick"]:
            for name in CASES:
                _measured(name, quick=True)
            return
        case ["--only", listed] if set(listed.split(",")) <= set(CASES):
            names = listed.split(",")
        case _:
            sys.exit(__doc__)
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    for name in names:
        results[name] = _measured(name, quick=False)
        RESULTS.write_text(
            json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        fill_marked(PAGE, {MARKS: page_part(results)})
    print(f"Written: {PAGE}")


if __name__ == "__main__":
    main()
