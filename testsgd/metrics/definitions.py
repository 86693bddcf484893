"""Metrics of predictions: each is a ratio of two sums over the rows, a numerator and a denominator.

A row adds to both what the metric says of its prediction and its true label. So the metric of every
group follows from sums over the cells of the sensitive features, and all metrics are treated alike:
shares such as a selection rate, means of scores, and means of any numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.data import Outcome
from testsgd.errors import ParameterError
from testsgd.fairness import NAMED_PROPERTIES, FairnessProperty

Floats = NDArray[np.float64]
# Numbers whose difference is a smaller part of their size differ by rounding.
ROUNDING = 1e-12
# What a metric is about: decisions for or against, scores between 0 and 1, or any numbers.
PredictionKind = Literal["decisions", "scores", "numbers"]
# A share of rows, a mean of numbers between 0 and 1, or a mean of any numbers.
Scale = Literal["share", "mean share", "number"]
# Zero: the nearer to 0, the better.
Better = Literal["higher", "lower", "zero", "neither"]
# From predictions and true labels (n,) to what each row adds, numerator and denominator (n,); one
# number stands for the same of every row.
Masses = Callable[[Any, Any], tuple[Any, Any]]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric of predictions: what each row adds to its numerator and to its denominator.

    Its value for a group is the sum of the numerators of the group's rows, divided by the sum of
    their denominators. ``masses`` gives both for every row, from predictions and true labels.

    Examples
    --------
    >>> decisions, labels = np.array([True, False, True]), np.array([True, True, False])
    >>> numerator, denominator = METRICS["true_positive_rate"].masses(decisions, labels)
    >>> numerator.tolist(), denominator.tolist()
    ([1.0, 0.0, 0.0], [1.0, 1.0, 0.0])
    """

    name: str
    title: str
    kind: PredictionKind | None  # What it is about; None for a function of the user's.
    scale: Scale
    needs_labels: bool
    better: Better
    masses: Masses
    # Whether it compares the classes themselves, which may be more than two.
    of_classes: bool = False

    @property
    def is_share(self) -> bool:
        """Whether its values lie between 0 and 1."""
        return self.scale != "number"


def _property_masses(fairness: FairnessProperty) -> Masses:
    """Return the masses that decisions add to the counters of a fairness property."""
    numerator = np.array(fairness.numerator, dtype=np.float64)
    denominator = np.array(fairness.denominator, dtype=np.float64)

    def masses(decisions: Any, labels: Any) -> tuple[Floats, Floats]:
        decided = np.asarray(decisions).astype(np.intp)
        true = np.zeros_like(decided) if labels is None else np.asarray(labels).astype(np.intp)
        return numerator[decided, true], denominator[decided, true]

    return masses


# Metrics of scores and numbers are of arrays, and of expressions that an engine works out.
def _mean(values: Any, _: Any) -> tuple[Any, Any]:
    return values, 1.0


def _excess(values: Any, truth: Any) -> Any:
    """Return predictions less the truth (n,), 0 where they differ by rounding only."""
    excess = values - truth
    if isinstance(excess, np.ndarray):
        scale = np.maximum(np.abs(values), np.abs(truth))
        known = scale[np.isfinite(scale)]
        # A prediction for a truth of 0 is rounded as others are.
        typical = np.median(known) if len(known) else 0.0
        return np.where(np.abs(excess) < ROUNDING * np.maximum(scale, typical), 0.0, excess)
    import narwhals as nw

    scale = values.abs() + truth.abs()
    # Of infinite numbers and NaN no engine has a smaller one here, so that they stay.
    return nw.when(excess.abs() < ROUNDING * scale).then(nw.lit(0.0)).otherwise(excess)


def _mean_excess(values: Any, truth: Any) -> tuple[Any, Any]:
    return _excess(values, truth), 1.0


def _mean_absolute_error(values: Any, truth: Any) -> tuple[Any, Any]:
    excess = _excess(values, truth)
    # An expression has it as a method only.
    return (np.abs(excess) if isinstance(excess, np.ndarray) else excess.abs()), 1.0


def _of_decisions(
    fairness: FairnessProperty, *, name: str, better: Better, of_classes: bool = False
) -> Metric:
    return Metric(
        name=name,
        title=name.replace("_", " ").capitalize(),
        kind="decisions",
        scale="share",
        needs_labels=fairness.labelled,
        better=better,
        masses=_property_masses(fairness),
        of_classes=of_classes,
    )


_PRECISION = FairnessProperty("precision", "difference", ((0, 0), (0, 1)), ((0, 0), (1, 1)))
_ACCURACY = FairnessProperty("accuracy", "difference", ((1, 0), (0, 1)), ((1, 1), (1, 1)))

_KNOWN = (
    _of_decisions(NAMED_PROPERTIES["demographic_parity"], name="selection_rate", better="higher"),
    _of_decisions(
        NAMED_PROPERTIES["equal_opportunity"], name="true_positive_rate", better="higher"
    ),
    _of_decisions(
        NAMED_PROPERTIES["predictive_equality"], name="false_positive_rate", better="lower"
    ),
    _of_decisions(_PRECISION, name="precision", better="higher"),
    _of_decisions(_ACCURACY, name="accuracy", better="higher", of_classes=True),
    Metric(
        name="mean_score",
        title="Mean score",
        kind="scores",
        scale="mean share",
        needs_labels=False,
        better="higher",
        masses=_mean,
    ),
    Metric(
        name="calibration_error",
        title="Calibration error",
        kind="scores",
        scale="number",
        needs_labels=True,
        better="zero",
        masses=_mean_excess,
    ),
    Metric(
        name="mean",
        title="Mean prediction",
        kind="numbers",
        scale="number",
        needs_labels=False,
        better="neither",
        masses=_mean,
    ),
    Metric(
        name="mean_error",
        title="Mean error",
        kind="numbers",
        scale="number",
        needs_labels=True,
        better="zero",
        masses=_mean_excess,
    ),
    Metric(
        name="mean_absolute_error",
        title="Mean absolute error",
        kind="numbers",
        scale="number",
        needs_labels=True,
        better="lower",
        masses=_mean_absolute_error,
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _KNOWN})
"""The metrics by their names."""

JOINT_METRICS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"equalized_odds": ("true_positive_rate", "false_positive_rate")}
)
"""Names that stand for several metrics, of whose differences the larger counts."""

# What is compared where nothing is asked for, without true labels and with them.
_DEFAULTS: Mapping[PredictionKind, tuple[tuple[str, ...], tuple[str, ...]]] = MappingProxyType(
    {
        "decisions": (
            ("selection_rate",),
            ("selection_rate", "true_positive_rate", "false_positive_rate"),
        ),
        "scores": (
            ("selection_rate", "mean_score"),
            ("selection_rate", "true_positive_rate", "false_positive_rate", "calibration_error"),
        ),
        "numbers": (("mean",), ("mean", "mean_error")),
    }
)


def default_metrics(
    kind: PredictionKind, *, labelled: bool, threshold: float | None = None
) -> tuple[str, ...]:
    """Return the names of the metrics that are compared where none is asked for.

    Of numbers with a threshold the share above it is one of them.

    Examples
    --------
    >>> default_metrics("numbers", labelled=True)
    ('mean', 'mean_error')
    """
    without, with_labels = _DEFAULTS[kind]
    names = with_labels if labelled else without
    return (*names, "selection_rate") if kind == "numbers" and threshold is not None else names


def for_outcome(metric: Metric, outcome: Outcome | None) -> Metric:
    """Return a metric of a label that is a benefit, a harm or neither for people.

    Of a harm fewer is better. Whether it is then better to be found out where it is true, as the
    true-positive rate counts it, is not said.

    Examples
    --------
    >>> for_outcome(METRICS["selection_rate"], "harm").better
    'lower'
    """
    if outcome is None:
        return metric
    by_outcome: dict[Outcome, Better] = {
        "benefit": "higher",
        "harm": "lower",
        "neither": "neither",
    }
    if metric.name in ("selection_rate", "mean_score", "mean"):
        return replace(metric, better=by_outcome[outcome])
    if metric.name == "true_positive_rate" and outcome != "benefit":
        return replace(metric, better="neither")
    return metric


def resolve_metrics(wanted: Iterable[str | Masses] | str | Masses) -> tuple[Metric, ...]:
    """Return the metrics that a user names, those that a joint name stands for one by one.

    Parameters
    ----------
    wanted : str, callable, or a sequence of these
        Names, which a text may list with commas; or functions from predictions and true labels to
        what each row adds to numerator and denominator.

    Returns
    -------
    tuple of Metric

    Raises
    ------
    ParameterError
        If a name is unknown, or nothing is named.

    Examples
    --------
    >>> [metric.name for metric in resolve_metrics("accuracy,equalized_odds")]
    ['accuracy', 'true_positive_rate', 'false_positive_rate']
    """
    if isinstance(wanted, str):
        wanted = [name.strip() for name in wanted.split(",") if name.strip()]
    listed: Sequence[str | Masses] = [wanted] if callable(wanted) else list(wanted)
    metrics: dict[str, Metric] = {}
    for item in listed:
        for metric in _resolved(item):
            metrics.setdefault(metric.name, metric)
    if not metrics:
        raise ParameterError(
            "no metric is named", where="metrics", remedy=f"name some of {_known_names()}"
        )
    return tuple(metrics.values())


def asks_for_numbers(wanted: Iterable[str | Masses] | str | Masses | None) -> bool:
    """Return whether one of the metrics that a user names is of numbers.

    Examples
    --------
    >>> asks_for_numbers("mean_error"), asks_for_numbers("accuracy"), asks_for_numbers(None)
    (True, False, False)
    """
    return wanted is not None and any(item.kind == "numbers" for item in resolve_metrics(wanted))


def needs_favourable(wanted: Iterable[str | Masses] | str | Masses | None) -> bool:
    """Return whether a metric is about a favourable class, not only about the classes themselves.

    Examples
    --------
    >>> needs_favourable("accuracy"), needs_favourable(["accuracy", "precision"])
    (False, True)
    """
    return wanted is None or not all(item.of_classes for item in resolve_metrics(wanted))


def _resolved(item: str | Masses) -> tuple[Metric, ...]:
    if callable(item):
        return (_of_function(item),)
    if not isinstance(item, str) or item not in {*METRICS, *JOINT_METRICS}:
        raise ParameterError(
            f"{item!r} is no metric",
            where="metrics",
            remedy=f"name some of {_known_names()}, or give a function of predictions and labels",
            metric=item,
        )
    return tuple(METRICS[name] for name in JOINT_METRICS.get(item, (item,)))


def _known_names() -> str:
    return ", ".join([*METRICS, *JOINT_METRICS])


def _of_function(function: Masses) -> Metric:
    name = getattr(function, "__name__", type(function).__name__)
    return Metric(
        name=name,
        title=name.replace("_", " ").capitalize(),
        kind=None,
        scale="number",
        needs_labels=False,
        better="neither",
        masses=function,
    )
