"""Alerts about hiring, fair or not by construction (Figure 4 of the paper).

Everybody is a trial of its own: a man or a woman with equal chances, and accepted with the chance
that the system gives to the group. The paper shows one stream of each kind; this counts many.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.monitoring import Monitor, MonitorSpecification

Row = dict[str, Any]
Event = dict[str, Any]

GROUPS = ("women", "men")
# Chances of women and of men. The third system is as unfair as the bound allows.
SYSTEMS = {"fair": (0.5, 0.5), "unfair": (0.2, 0.5), "at the bound": (0.4, 0.5)}
RULES = ("estimate with prior", "estimate", "evidence")
QUANTILES = (0.5, 0.95)
STRENGTH = 24
_AT_ONCE = 50


@dataclass(frozen=True)
class Hiring:
    """How much is simulated.

    Attributes
    ----------
    streams : int
        Of each system.
    people : int
        In a stream.
    seed : int
    jobs : int
        Processes.
    """

    streams: int = 2000
    people: int = 500
    seed: int = 0
    jobs: int = 1


def specified(rule: str) -> MonitorSpecification:
    """Specify demographic parity by one of the rules."""
    return MonitorSpecification.from_dict(
        {
            "name": f"hiring by {rule}",
            "groups": {"names": list(GROUPS)},
            "estimate": {
                "prior": "1/2",
                "strength": STRENGTH if rule == "estimate with prior" else 0,
            },
            "properties": [
                {
                    "property": "demographic_parity",
                    "bound": "1/10",
                    "rule": rule.partition(" ")[0],
                }
            ],
        }
    )


def applicants(system: str, stream: int, size: Hiring) -> list[Event]:
    """Draw a stream; it does not depend on how many others there are."""
    random = np.random.default_rng([size.seed, list(SYSTEMS).index(system), stream])
    groups = random.integers(0, 2, size.people)
    accepted = random.random(size.people) < np.array(SYSTEMS[system])[groups]
    return [
        {"group": GROUPS[group], "decision": int(one)}
        for group, one in zip(groups.tolist(), accepted.tolist(), strict=True)
    ]


def hiring(size: Hiring) -> list[Row]:
    """Count alerts; a row a system and rule.

    Returns
    -------
    list of dict
        ``ever`` is the share of streams with an alert, ``at_end`` of those in alert at the end,
        ``in_alert`` the share of all events after which there is an alert, and ``first`` after how
        many people the first one comes in the quantiles of streams (None: in fewer of them).
    """
    rows = []
    with ProcessPoolExecutor(size.jobs) as pool:
        for system in SYSTEMS:
            for rule in RULES:
                parts = pool.map(_count, *zip(*_portions(system, rule, size), strict=True))
                rows.append(_row(system, rule, np.concatenate(list(parts)), size))
                print(f"  hiring, {system}, {rule}: {rows[-1]['ever']:.3f}", flush=True)
    return rows


def one_stream(system: str, size: Hiring) -> Row:
    """Give the estimates with the prior over the first stream, as the paper shows them."""
    monitor = Monitor(specified("estimate with prior"))
    curve: Row = {"system": system, "groups": list(GROUPS), "rates": [[], []], "bias": []}
    first = None
    for place, event in enumerate(applicants(system, 0, size), start=1):
        alerts = monitor.observe(event)
        if alerts and first is None:
            first = place
        comparison = monitor.status().comparisons[0]
        for rates, group in zip(curve["rates"], comparison.groups, strict=True):
            rates.append(None if group.estimate is None else round(float(group.estimate), 4))
        curve["bias"].append(round(float(comparison.estimate), 4))
    return curve | {"first_alert": first}


def _portions(system: str, rule: str, size: Hiring) -> Iterator[tuple[str, str, range, Hiring]]:
    for begin in range(0, size.streams, _AT_ONCE):
        yield system, rule, range(begin, min(begin + _AT_ONCE, size.streams)), size


def _count(system: str, rule: str, streams: range, size: Hiring) -> NDArray[np.float64]:
    """Give of each stream: when the first alert came, whether one stands, events in alert."""
    specification = specified(rule)
    found = np.empty((len(streams), 3))
    for place, stream in enumerate(streams):
        monitor = Monitor(specification)
        first, standing, events = np.inf, False, 0
        for people, event in enumerate(applicants(system, stream, size), start=1):
            for alert in monitor.observe(event):
                standing = alert.kind == "raised"
                first = min(first, people)
            events += standing
        found[place] = first, standing, events
    return found


def _row(system: str, rule: str, found: NDArray[np.float64], size: Hiring) -> Row:
    first = np.quantile(found[:, 0], QUANTILES, method="inverted_cdf")
    return {
        "system": system,
        "rule": rule,
        "streams": len(found),
        "people": size.people,
        "with_alert": int(np.isfinite(found[:, 0]).sum()),
        "ever": float(np.isfinite(found[:, 0]).mean()),
        "at_end": float(found[:, 1].mean()),
        "in_alert": float(found[:, 2].mean() / size.people),
        "first": [int(value) if np.isfinite(value) else None for value in first],
    }
