"""The page of results: which case fills which table."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import generative_cases, min_rows
from benchmarks.certification import AT_ITS_TIME, LONGER, SMALL
from benchmarks.divexplorer_speed import CELLS, RULES
from benchmarks.monitor_stream import BESIDE_SQLITE, LONG
from benchmarks.shield_memory import MEMORY
from benchmarks.shield_synthesis import DECIDING, SYNTHESIS

Rows = list[list[str]]


def render(run: Callable[[str], Rows]) -> str:
    """Write the page, running each case when its table comes."""
    parts = [
        "# Benchmarks",
        # The days and the machines are known when all cases are.
        "Made by `make bench` (that is `python -m benchmarks`) on {days}; do not edit by hand.",
        "{machines}",
        "Each case runs in a process of its own, with the model and the data loaded. Times are "
        "medians of several runs with the fastest and the slowest in brackets; ratios are between "
        "runs of the same process, taken in turn. Memory is the peak of the process.",
        "## Exact Census audit against a forward pass",
        "The exact audit asks the network about 651,220 perturbed rows (32,561 people, 10 features "
        "that are not sensitive, two directions). The physical limit is one forward pass over "
        "them. The audit can be faster than one in a single batch, because rows that differ in "
        "one feature share the first layer's sums, and a move out of the domain is the row itself.",
        _table(["what", "time", "compared"], run("census")),
        "## Crime, up to three of ten sensitive features",
        "Target: 15 s and 2 GB.",
        _table(
            ["candidate rule sets", "frequent", "groups", "time", "peak memory", "above the start"],
            run("crime"),
        ),
        "## Many rows",
        "Synthetic rows with 5 sensitive features and 20 others, and a cheap model "
        "(a comparison). Target: at 10 million rows less than 1.5 GB above the data, "
        "and time linear in the rows.",
        _table(
            [
                "rows",
                "mode",
                "model queries",
                "time",
                "per million rows",
                "data",
                "memory above the data",
            ],
            [
                *run("rows-sampled-1"),
                *run("rows-sampled-10"),
                *run("rows-exact-1"),
                *run("rows-exact-10"),
            ],
        ),
        "## Every data set, exact, beside the paper",
        "The paper's times and numbers of rule sets are those of TestSGD, Table 5, on the authors' "
        "machine (one Intel Core at 3.10 GHz, two GPUs), so the ratio is between machines, "
        "algorithms and models at once.",
        _table(
            [
                "data set",
                "rows",
                "candidates",
                "frequent",
                "groups",
                "time",
                "paper: rule sets",
                "paper: time",
                "ratio",
            ],
            run("sets"),
        ),
        "## Guarantees",
        "The whole audit, in turn with each kind of guarantee. Per group is the paper's, and the "
        "audits of all other sections are such; all groups at once takes a bootstrap of 1,000 "
        "samples (target on census: 30 s); stability looks for the first groups in 200 bootstrap "
        "samples. The quantile stands in the place of 1.96 for one group; the groups that differ "
        "are those whose interval, for all groups at once, leaves out no difference.",
        _table(
            [
                "data set",
                "groups",
                "per group",
                "all at once",
                "false discovery rate",
                "per group, and stability",
                "held-out half",
                "quantile",
                "differ",
            ],
            run("guarantees"),
        ),
        "Crime, with 19 million candidate rule sets, takes as many bootstrap samples as are made "
        "in about 1.5 billion sums, but at least 99.",
        _table(
            ["groups", "samples", "audit", "of it guarantee", "quantile", "memory above the start"],
            run("guarantee-crime"),
        ),
        "## Which groups are judged",
        min_rows.TEXT,
        min_rows.MARKS[0],
        min_rows.kept(),
        min_rows.MARKS[1],
        "## Beside DivExplorer",
        "The same decisions for both, the same sensitive features, at least 5% of the rows, at "
        "most three rules; the model is asked by neither. First on the same groups, combinations "
        "of single values and bins, which is all that DivExplorer looks for; beside them our "
        "search of all intervals and sets of values. Target: 20 x as many groups a second.",
        _table(CELLS, run("divexplorer-cells")),
        "Then on the audit's groups: every interval and every set of values is an item to "
        "DivExplorer, which also lists combinations of items of one feature.",
        _table(RULES, run("divexplorer-rules")),
        "## Starting",
        "Whole processes. Target: `testsgd --help` under a second.",
        _table(["command", "time"], run("starting")),
        "## Training",
        "Without reading the rows; loading TensorFlow is in the first time. Target: 2 minutes "
        "each. The paper's accuracies are those of TestSGD, Table 3.",
        _table(["data set", "time", "test accuracy", "paper's accuracy"], run("training")),
        "## Mitigation",
        "`make retrain-NAME`, on two processors that had other work to do: three runs, all kinds "
        "and numbers of samples, every stage judged on the rows that are not held out, of small "
        "tables by repeated cross-validation; then the full audits of all three models, and the "
        "other methods. Read from the results in `reports/`, not measured by `make bench`. "
        "Targets: retraining within 3 minutes for a table, 30 for the reviews; cross-validation "
        "comes on top, and crime is beyond it.",
        _table(
            [
                "data set",
                "trained on",
                "candidates",
                "cross-validation",
                "retraining",
                "audits after",
                "other methods",
            ],
            run("mitigation"),
        ),
        "## Texts: all frequent rule sets of the reviews",
        "50,000 reviews and the trained convolutional LSTM network, on two processors. Targets: "
        "within 10 minutes at an error margin of 0.05, with at most a third of the queries of the "
        "paper's algorithm at that margin, which is run to the letter here, for all rule sets. "
        "The paper took 69,125 s for 876 rule sets, on another machine with another network.",
        _table(
            [
                "theta",
                "rule sets",
                "what",
                "largest margin",
                "model queries",
                "of the paper's",
                "time",
                "memory above the texts and the network",
            ],
            [*run("reviews-5"), *run("reviews-2")],
        ),
        "## Texts: beside the model",
        "The reviews again, one process, one run.",
        _table(["step", "time", "how many"], run("text-parts")),
        "## Texts: the network's forward pass",
        "4,000 reviews drawn at random, sorted by length, on two processors. The same weights.",
        _table(["what", "time", "texts a second", "compared"], run("text-network")),
        "## Texts: training",
        "On two processors, without reading the texts; loading TensorFlow is in the first time. "
        "Targets: the reviews within 10 minutes and 86%, the tweets 93%. Wiki is trained on the "
        "test sets and templates at hand, not on the paper's 100,000 comments.",
        _table(["data set", "time", "test accuracy", "paper's accuracy"], run("text-training")),
        "## Certification: beside FairQuant",
        "Seventeen published networks (Fairify's, and three for compas) on their published "
        "domains. Each is given the time that FairQuant's C program takes for it (`gcc -O3`, "
        "OpenBLAS, one thread; the network read before), here on one processor and on two, in a "
        "process of its own with the network read and the package imported before; the time of "
        "the whole call stands beside it. Shares are percents of the domain: proved fair, proved "
        "unfair, and the rest. Median of three runs by the undecided share. The program stops at "
        "a depth, so more time would not change its shares. Targets: at least as much proved on "
        "all networks, undecided at most a third on 12 of the 17. The command is `FAIRIFY=folder "
        "FAIRQUANT=path/to/network_test python -m benchmarks --only certification-anchor`.",
        _table(AT_ITS_TIME, run("certification-anchor")),
        "## Certification: 10 and 60 seconds",
        "One run of 60 seconds each, on two processors, and what it had proved after 10. The "
        "published domain of the bank lists the inputs in another order than the networks take "
        "them, and is for comparison only; the corrected one is what the networks were made for. "
        "Memory is the peak of the process. Target: 2 GB.",
        _table(LONGER, run("certification-longer")),
        "## Certification: small domains",
        "The 624 people of compas, one processor, median of three runs by time. The last network "
        "has 10 hidden layers of 1,000 units with random weights. Target for it: 2 s.",
        _table(SMALL, run("certification-small")),
        "## Shields: synthesis",
        "Threshold 0.1, all probabilities one half, cost 1, an empty group has the rate 0. The "
        "paper's C++ program (built with `-O2`, on the same kind of machine) stores all decisions "
        "and compares in float32, hence other costs than the exact ones here. Machine code is "
        "loaded before (0.3 to 0.5 s once a process); memory is the most that a synthesis adds to "
        "the process. Targets: demographic parity 0.15 s and 40 MB at T = 100, 2.5 s and 400 MB at "
        "T = 300, under 8 GB in minutes at T = 1,000; equal opportunity 0.5 s and 100 MB at T = "
        "75, 1.5 s and 250 MB at T = 100.",
        _table(SYNTHESIS, run("shield-synthesis")),
        "## Shields: memory",
        "What `testsgd shield synthesize` says before it begins, beside the peak of its process, "
        "program and reports included. A bound of 1/4, all probabilities one half. The machine has "
        "two cores of an AMD EPYC and 24 GB. Target: said within a quarter of the peak. The "
        "command is `python -m benchmarks --only shield-memory`.",
        _table(MEMORY, run("shield-memory")),
        "## Shields: decisions",
        "`decide` in Python, 100,000 calls, and the median of those that end a horizon. Its report "
        "is made when it is read. Target: 10 µs.",
        _table(DECIDING, run("shield-deciding")),
        "Over HTTP, another process on the same machine, one request after the other. Target: 2 ms "
        "for 99%.",
        _table(["what", "median", "99%", "slowest"], run("shield-serving")),
        "## Monitors",
        "After each event the bias is judged, by the monitor and by a query over all rows so far "
        "in SQLite (in memory, one table, no index); means of ten scenarios, in turn. They say the "
        "same after every event.",
        _table(BESIDE_SQLITE, run("monitor-sqlite")),
        "A process each, the events drawn in portions. The limit is to find a group's counters and "
        "to add to two of them, in Python. Memory is what the stream added: ids that are "
        "remembered, and people whose label is not known yet.",
        _table(LONG, run("monitor-long")),
        "## Generative models",
        generative_cases.TEXT,
        generative_cases.MARKS[0],
        generative_cases.kept(),
        generative_cases.MARKS[1],
    ]
    return "\n\n".join(parts) + "\n"


def _table(heading: list[str], rows: Rows) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
