"""What the user of a certification can choose."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.parameters import MOST_JOBS, MOST_SAMPLES, Parameters, parameter


@dataclass(frozen=True, kw_only=True)
class CertificationParameters(Parameters):
    """What the user of a certification can choose.

    Raises
    ------
    ParameterError
        If a value is out of its range.

    Examples
    --------
    >>> CertificationParameters(time_limit=10).samples
    10000
    >>> CertificationParameters(time_limit=-1)
    Traceback (most recent call last):
    ...
    testsgd.errors.ParameterError: time_limit: -1 is not above 0; give seconds such as 60
    """

    time_limit: float | None = parameter(
        60.0,
        "Seconds to search; without a limit (0 on the command line) until everything is decided.",
        above=0,
        example="seconds such as 60",
        flags=("--time-limit", "--time"),
    )
    undecided: float | None = parameter(
        None,
        "Stop as soon as the undecided share is at most this.",
        at_least=0,
        at_most=1,
        example="a share such as 0.05",
    )
    jobs: int | None = parameter(
        None,
        "Processors to work on; by default all.",
        at_least=1,
        at_most=MOST_JOBS,
        example="a number of processors",
    )
    samples: int = parameter(
        10_000,
        "Points drawn from what stays undecided, to estimate how much of it is unfair; 0: none.",
        at_least=0,
        at_most=MOST_SAMPLES,
    )
    confidence: float = parameter(
        0.95,
        "Confidence of that estimate.",
        above=0,
        below=1,
        example="a level such as 0.95",
    )
    counterexamples: int = parameter(10, "Most counterexamples to keep.", at_least=0)
    regions: int = parameter(20, "Most regions to describe.", at_least=0)
    random_state: int = parameter(0, "Same seed, same points drawn.", at_least=0, flags=("--seed",))
    fail_above: float | None = parameter(
        None,
        "The gate on what is unfair: it fails if more than this share is proved unfair; if it is "
        "not proved that no more is, nothing is concluded.",
        at_least=0,
        at_most=1,
        example="a share such as 0.05",
    )
    fail_below: float | None = parameter(
        None,
        "The gate on what is fair: it fails if this share cannot be fair, as too much is proved "
        "unfair; if it is not proved fair, nothing is concluded.",
        at_least=0,
        at_most=1,
        example="a share such as 0.9",
    )

    @property
    def processors(self) -> int:
        """How many processors work on it."""
        # Not for the help of a command.
        import joblib

        return self.jobs or int(joblib.cpu_count())
