"""What the penalty on all groups costs and brings to the committed networks, on held-out rows.

``python -m benchmarks.penalty`` trains each network on with twelve strengths, from five seeds,
and prints a table in Markdown. The strength is the one with the smallest worst difference on the
rows that are not held out, among those that lose at most the budget there. The loss is counted in
three ways: by the labels of the validation rows; by the cross-fitted probabilities of all rows that
are not held out, which are many more, and of which none was learnt by heart; by the mean of both.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from benchmarks.marked_page import table
from testsgd.data import Table
from testsgd.mitigation.compared_rates import SELECTION_RATE, ComparedRates
from testsgd.mitigation.inputs import mitigation_inputs
from testsgd.mitigation.penalised_networks import STRENGTHS, penalised_models
from testsgd.models import refitter_for
from testsgd.rules import lay_out, sensitive_axes

SEEDS = 5
NAMES = ("census", "compas", "law", "bank", "crime")
BUDGET = 0.005
CHOSEN_BY = ("validation labels", "probabilities", "both")
# Groups of more rules are sought in held-out rows only, where the training's would take too long.
MOST_RULES = {"crime": 2}
HEADING = [
    "data set", "chosen by", "accuracy", "lost", "balanced accuracy lost", "worst of all groups",
    "worst after", "share left", "seconds",
]  # fmt: skip

Bools = NDArray[np.bool_]


def rates_of(rows: Table, favourable: Bools, max_rules: int | None = None) -> ComparedRates:
    """Find all groups with 5% of some rows inside and outside."""
    return ComparedRates.of(
        SELECTION_RATE,
        lay_out(rows, sensitive_axes(rows)),
        favourable,
        np.ones(len(rows), dtype=bool),
        min_rows=0.05,
        max_rules=max_rules,
    )


def worst(rates: ComparedRates, decisions: Bools) -> float:
    """Return the largest difference in selection rate, in points."""
    return 100 * float(np.abs(rates.differences(decisions)).max())


def balanced(decisions: Bools, labels: Bools) -> float:
    """Return the mean of the shares of right decisions of both labels."""
    return float((decisions[labels].mean() + (~decisions)[~labels].mean()) / 2)


def measured(name: str, seeds: int) -> dict[str, list[list[float]]]:
    """Train a network on from some seeds, choose a strength, measure on the held-out rows."""
    inputs = mitigation_inputs(None, None, name)
    material, original = inputs.material, inputs.loaded.model
    parts = material.split.parts
    rows: Callable[[Any], Table] = material.table.take  # type: ignore[attr-defined]
    started = time.perf_counter()
    probabilities = material.probabilities()
    assert probabilities is not None
    examples = replace(material.examples(material.trained), targets=probabilities[material.trained])
    refitter = refitter_for(
        inputs.loaded, material.specification, examples, material.examples(material.validation)
    )
    most = MOST_RULES.get(name)
    favourable = material.favourable
    training = rates_of(rows(material.trained), favourable[material.trained], most)
    prepared = time.perf_counter() - started
    seen = np.union1d(material.trained, material.validation)
    chances, labels = probabilities[seen], favourable[parts.test]
    seen_rates = rates_of(rows(seen), favourable[seen], most)
    held_out_rates = rates_of(rows(parts.test), labels)
    before = {
        "seen": material.decisions(original, seen),
        "validation": material.accuracy(original, material.validation),
        "test": material.decisions(original, parts.test),
    }
    accuracy = float((before["test"] == labels).mean())
    worst_before = worst(held_out_rates, before["test"])
    found: dict[str, list[list[float]]] = {how: [] for how in CHOSEN_BY}
    for seed in range(seeds):
        started = time.perf_counter()
        models = [
            each.model
            for each in penalised_models(refitter, training, strengths=STRENGTHS, seed=seed)
        ]
        seconds = prepared + time.perf_counter() - started
        decisions = [material.decisions(model, seen) for model in models]
        left = np.array([worst(seen_rates, each) for each in decisions])
        drops = {
            "validation labels": np.array(
                [
                    before["validation"] - material.accuracy(model, material.validation)
                    for model in models
                ]
            ),
            # A changed decision is right by one probability less the other.
            "probabilities": np.array(
                [
                    ((before["seen"].astype(float) - each) * (2 * chances - 1)).mean()
                    for each in decisions
                ]
            ),
        }
        drops["both"] = (drops["validation labels"] + drops["probabilities"]) / 2
        for how, dropped in drops.items():
            allowed = np.flatnonzero(dropped <= BUDGET)
            chosen = original
            if len(allowed) and left[allowed].min() < worst(seen_rates, before["seen"]):
                chosen = models[allowed[np.argmin(left[allowed])]]
            after = material.decisions(chosen, parts.test)
            worst_after = worst(held_out_rates, after)
            found[how].append([
                100 * accuracy,
                100 * (accuracy - float((after == labels).mean())),
                100 * (balanced(before["test"], labels) - balanced(after, labels)),
                worst_before,
                worst_after,
                100 * worst_after / worst_before,
                seconds,
            ])  # fmt: skip
            print(name, seed, how, *(f"{number:.2f}" for number in found[how][-1]), flush=True)
    return found


def mean_text(numbers: Any) -> str:
    """Write a mean and its 95% interval over the seeds."""
    if len(numbers) < 2:
        return f"{np.mean(numbers):.2f}"
    half = student.ppf(0.975, len(numbers) - 1) * np.std(numbers, ddof=1) / len(numbers) ** 0.5
    return f"{np.mean(numbers):.2f} ± {half:.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    given = parser.parse_args()
    lines = []
    for name in given.names:
        for how, numbers in measured(name, given.seeds).items():
            columns = np.array(numbers).T
            texts = [mean_text(each) for each in columns[1:3]]
            ends = [mean_text(each) for each in columns[4:6]]
            lines.append([
                name, how, f"{columns[0, 0]:.2f}", *texts, f"{columns[3, 0]:.2f}", *ends,
                f"{columns[6].mean():.0f}",
            ])  # fmt: skip
    print(table(HEADING, lines))


if __name__ == "__main__":
    main()
