"""DivExplorer and our lattice on the same groups, in turn in the same process.

Run it with ``python -m benchmarks.divexplorer_speed [NAME ...]``; it needs the extra `divexplorer`
and the real data sets, takes some minutes, and prints two tables in Markdown.

Both are given the same decisions of the shipped network, which nobody is timed for, and list the
combinations of at most three items of different features that enough rows have, with their rates.
That both give the same groups the same counts is checked first.

In the first table an item is a value or a bin, as DivExplorer has it: the lattice is restricted to
rules of single cells. Beside it stands the audit's own search, over intervals of bins and sets of
values. In the second table DivExplorer finds the audit's groups too: every rule is an item. It then
also lists combinations of rules over one feature, which the audit does not know; they are counted
in "itemsets" and not in "groups".

DivExplorer starts from a data frame that holds the items. Our time has the binning of the rows in
it, the folding of combinations that select the same rows and, in the first table, the descriptions
of the groups as text. DivExplorer's own interface has no longest itemset, so its FP-growth, the
only one of its algorithms that knows such a limit, is called directly; the interface's time, which
also finds longer itemsets, is given in the first table.
"""

from __future__ import annotations

import statistics
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.measure import Times, machine, side_by_side
from benchmarks.single_cells import SingleCells, single_cells
from testsgd.baselines import Subject, subject_of
from testsgd.baselines.divexplorer import items_frame
from testsgd.data import load_specification, load_table
from testsgd.models import load_model
from testsgd.rules import Axis, FrequentRuleSets, lay_out, mine, rule_set_sums
from testsgd.rules.contingency import decode, feature_subsets

DATA_SETS = ("census", "crime", "compas")
THETA = 0.05
LONGEST = 3
RUNS = 15

# DivExplorer takes minutes for the rules of crime's ten features, one at a time.
FEATURES_OF_CRIME = 3

CELLS = [
    "Data set", "Rows", "Groups of single cells", "DivExplorer", "its interface",
    "Our lattice", "Groups per second", "Ratio", "Groups of the audit", "Our lattice",
    "Groups per second", "Ratio",
]  # fmt: skip
RULES = [
    "Data set", "Rules", "Groups of the audit", "Itemsets", "DivExplorer", "Our lattice",
    "Groups per second", "Ratio",
]  # fmt: skip


def our_groups(subject: Subject, axes: tuple[Axis, ...]) -> FrequentRuleSets:
    """List the frequent groups with their rows and favourable rows, from the table's rows."""
    contingency = lay_out(subject.table, axes)
    quantities = np.vstack(
        [contingency.tally(), contingency.tally(subject.decisions.astype(np.int64))]
    )
    return mine(contingency, quantities, min_count=subject.min_count, max_features=LONGEST)


def our_list(subject: Subject, axes: tuple[Axis, ...]) -> pd.DataFrame:
    """Give the groups as a data frame of descriptions, sizes and rates."""
    groups = our_groups(subject, axes)
    rows, favourable = groups.sums
    return pd.DataFrame(
        {
            "group": groups.texts(np.arange(len(groups))),
            "rows": rows,
            "divergence": favourable / rows - subject.decisions.mean(),
        }
    )


def items_of_rules(subject: Subject) -> pd.DataFrame:
    """Give a 0/1 column a rule of the audit."""
    contingency = subject.contingency
    columns = {}
    for place, axis in enumerate(subject.axes):
        cells = contingency.coordinates[contingency.cell_of_row, place]
        for rule, inside in enumerate(axis.matrix.astype(bool)):
            columns[f"{place}={rule}"] = inside[cells]
    return pd.DataFrame(columns)


def their_list(items: pd.DataFrame, subject: Subject) -> pd.DataFrame:
    """List itemsets with DivExplorer's FP-growth, as its interface calls it, but for their length.

    The interface's last step, divergences and tests of significance, is left out.
    """
    from divexplorer.utils_FPgrowth import fpgrowth_cm

    outcomes = pd.DataFrame({"positive": subject.decisions, "negative": ~subject.decisions})
    itemsets: pd.DataFrame = fpgrowth_cm(
        items,
        outcomes.astype(int),
        min_support=(subject.min_count - 0.5) / len(items),
        max_len=LONGEST,
        columns_accumulate=list(outcomes.columns),
    )
    return itemsets


def their_list_of_cells(frame: pd.DataFrame, subject: Subject) -> pd.DataFrame:
    """List itemsets of single cells; to write the items as 0/1 columns is a step of its own."""
    from divexplorer.divexplorer import get_df_one_hot_encoding

    return their_list(get_df_one_hot_encoding(frame.drop(columns="favourable")), subject)


def their_interface(frame: pd.DataFrame, subject: Subject) -> pd.DataFrame:
    """Call DivExplorer as its users do: itemsets of any length."""
    from divexplorer import DivergenceExplorer

    patterns: pd.DataFrame = DivergenceExplorer(frame).get_pattern_divergence(
        min_support=(subject.min_count - 0.5) / len(frame), boolean_outcomes=["favourable"]
    )
    return patterns


def check_same(
    subject: Subject, axes: tuple[Axis, ...], itemsets: pd.DataFrame, *, only: bool
) -> None:
    """Check that our groups are among their itemsets with the same counts; `only`: and no other."""
    theirs = {
        frozenset(itemset): (int(positive + negative), int(positive))
        for itemset, positive, negative in zip(
            itemsets["itemset"], itemsets["positive"], itemsets["negative"], strict=True
        )
    }
    contingency = lay_out(subject.table, axes)
    quantities = np.vstack(
        [contingency.tally(), contingency.tally(subject.decisions.astype(np.int64))]
    )
    subsets = feature_subsets(axes, LONGEST)
    ours: dict[frozenset[str], tuple[int, int]] = {}
    for block in rule_set_sums(contingency, quantities, LONGEST):
        counts, favourable = block.sums
        kept = np.flatnonzero(counts >= subject.min_count)
        subset = subsets[block.subset]
        rules = decode(axes, subset, block.first + kept.astype(np.int64))
        for place, column in enumerate(kept):
            items = frozenset(
                f"{axis}={_item(axes[axis], int(rule[place]))}"
                for axis, rule in zip(subset, rules, strict=True)
            )
            ours[items] = (int(counts[column]), int(favourable[column]))
    assert all(theirs.get(items) == counts for items, counts in ours.items()), "other counts"
    assert len(ours) >= our_groups(subject, axes).frequent
    assert not only or len(ours) == len(theirs), "they list other groups"


def _item(axis: Axis, rule: int) -> int:
    return axis.chosen[rule] if isinstance(axis, SingleCells) else rule


def subject_for(name: str, features: int | None = None) -> Subject:
    """Load a data set and its network, and ask the network about every row."""
    specification = load_specification(name)
    table = load_table(specification)
    model = load_model(None, specification)
    subject = subject_of(table, model.model, theta=THETA, max_features=LONGEST)
    if features is None:
        return subject
    return replace(subject, contingency=lay_out(table, subject.axes[:features]))


def measure_cells(name: str, runs: int = RUNS) -> list[str]:
    """Compare on single cells; give a row of the first table."""
    subject = subject_for(name)
    frame = items_frame(subject)
    itemsets = their_list_of_cells(frame, subject)
    check_same(subject, single_cells(subject.axes), itemsets, only=True)
    times = side_by_side(
        runs,
        theirs=lambda: their_list_of_cells(frame, subject),
        interface=lambda: their_interface(frame, subject),
        ours=lambda: our_list(subject, single_cells(subject.axes)),
    )
    full = side_by_side(
        3 if name == "crime" else runs,
        theirs=lambda: their_list_of_cells(frame, subject),
        ours=lambda: our_groups(subject, subject.axes),
    )
    groups, audit = len(itemsets), our_groups(subject, subject.axes).frequent
    return [
        name,
        f"{len(frame):,}",
        f"{groups:,}",
        _seconds(times["theirs"]),
        _seconds(times["interface"]),
        _seconds(times["ours"]),
        _speeds(groups, times),
        _ratios(times, 1.0),
        f"{audit:,}",
        _seconds(full["ours"]),
        f"{audit / full['ours'].median:,.0f}",
        _ratios(full, audit / groups),
    ]


def measure_rules(name: str, runs: int = 3) -> list[str]:
    """Compare on the audit's groups; give a row of the second table."""
    features = FEATURES_OF_CRIME if name == "crime" else None
    subject = subject_for(name, features)
    items = items_of_rules(subject)
    itemsets = their_list(items, subject)
    check_same(subject, subject.axes, itemsets, only=False)
    times = side_by_side(
        runs,
        theirs=lambda: their_list(items, subject),
        ours=lambda: our_groups(subject, subject.axes),
    )
    groups = our_groups(subject, subject.axes).frequent
    return [
        name if features is None else f"{name}, its first {features} sensitive features",
        f"{items.shape[1]:,}",
        f"{groups:,}",
        f"{len(itemsets):,}",
        _seconds(times["theirs"]),
        _seconds(times["ours"]),
        _speeds(groups, times),
        _ratios(times, 1.0),
    ]


def divexplorer_cells() -> list[list[str]]:
    """Give the first table's rows."""
    with _quiet():
        return [measure_cells(name) for name in DATA_SETS]


def divexplorer_rules() -> list[list[str]]:
    """Give the second table's rows."""
    with _quiet():
        return [measure_rules(name) for name in DATA_SETS]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep back warnings of pandas about how DivExplorer calls it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=pd.errors.Pandas4Warning, module="divexplorer")
        yield


def _seconds(times: Times) -> str:
    median = times.median
    return f"{median:.2f} s" if median >= 1 else f"{1000 * median:,.1f} ms"


def _speeds(groups: int, times: dict[str, Times]) -> str:
    theirs, ours = (groups / times[who].median for who in ("theirs", "ours"))
    return f"{theirs:,.0f} and {ours:,.0f}"


def _ratios(times: dict[str, Times], factor: float) -> str:
    """Give how many times as many groups a second we list: the median of the paired runs."""
    pairs = zip(times["theirs"].seconds, times["ours"].seconds, strict=True)
    ratios = [factor * theirs / ours for theirs, ours in pairs]
    return f"{statistics.median(ratios):,.0f} x ({min(ratios):,.0f} to {max(ratios):,.0f})"


def main() -> None:
    """Print the tables."""
    print(machine())
    names = sys.argv[1:] or DATA_SETS
    with _quiet():
        for headings, measure in ((CELLS, measure_cells), (RULES, measure_rules)):
            print(f"\n| {' | '.join(headings)} |")
            print(f"| {' | '.join('---' for _ in headings)} |")
            for name in names:
                print(f"| {' | '.join(measure(name))} |", flush=True)


if __name__ == "__main__":
    main()
