"""The parameters of the benchmark with known truth, other than what it runs on."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.parameters import MOST_JOBS, Parameters, parameter


@dataclass(frozen=True, kw_only=True)
class RunParameters(Parameters):
    """The number of runs of the benchmark, and how they are made."""

    runs: int = parameter(
        1_000,
        "Runs up to 10,000 people; above, fewer, so that they take as long. Of worlds, at every "
        "size.",
        at_least=2,
    )
    baseline_runs: int = parameter(
        100, "Runs of other methods, which are made up to 100,000 people; 0: none.", at_least=0
    )
    # Its range is checked by the baselines' own check.
    time_limit: float = parameter(
        10.0, "Seconds for one run of another method, if it can be stopped."
    )
    seed: int = parameter(0, "Same seed, same people.", at_least=0)
    jobs: int = parameter(
        1, "Processors to work on; changes no result.", at_least=1, at_most=MOST_JOBS
    )
