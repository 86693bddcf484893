"""What a model of classes is asked for: its decisions or classes, its scores, or both of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.metrics.definitions import Floats, resolve_metrics
from testsgd.metrics.shared_steps import Wanted
from testsgd.models import PROBE_ROWS, CheckedFunction, Model, check_reading
from testsgd.progress import Counter
from testsgd.sampling import BATCH_ROWS


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What a model answered about n rows, and about how many it was asked for that."""

    predictions: pd.Series[Any]  # Decisions or classes, or scores that a threshold cuts; (n,).
    scores: Floats | None  # Its scores, where the predictions are none; shape (n,).
    queries: int

    @property
    def are_scores(self) -> bool:
        """Whether the predictions are scores."""
        return pd.api.types.is_float_dtype(self.predictions.dtype)


def answered(
    model: Model,
    table: Table,
    counter: Counter,
    *,
    metrics: Wanted | None,
    threshold: float | None,
    classes: bool,
) -> Answered:
    """Return a model's decisions, as the favourable class and all others, and its scores.

    These are asked for if a metric is of scores, and `classes` in place of decisions if they are to
    be compared themselves. A model that has classes decides by itself, and its scores only if there
    is a `threshold`: it need not predict what is more likely than not.
    """
    favourable = table.specification.label.favourable
    with_scores = threshold is not None or asks_for_scores(metrics)
    queries = 0
    if isinstance(model, CheckedFunction) and (with_scores or classes):
        # Whether it returns scores itself is known from a decision on.
        tried = table.frame.iloc[: PROBE_ROWS if with_scores and table.labels is not None else 1]
        check_reading(model, model.decisions(tried), table.labels, table.specification.label)
        queries += len(tried)
    decides = threshold is None and model.output == "labels" and _asks_for_others(metrics)
    parts = []
    scored = []
    for start in range(0, len(table), BATCH_ROWS):
        part = table.frame.iloc[start : start + BATCH_ROWS]
        with counter.asking(len(part)):
            parts.append(_of_part(model, part, scores=with_scores and not decides, classes=classes))
            queries += len(part)
            if with_scores and decides and isinstance(model, CheckedFunction):
                scores = model.scores(part)
                if scores is not None:
                    scored.append(scores)
                    queries += len(part)
    answers = pd.Series(np.concatenate(parts))
    if asks_for_scores(metrics) and not scored and not pd.api.types.is_float_dtype(answers.dtype):
        raise _no_probabilities(metrics, model)
    if not pd.api.types.is_float_dtype(answers.dtype):
        is_bool = pd.api.types.is_bool_dtype(answers.dtype)
        favourable_ones = [favourable, *table.specification.label.together]
        decided = answers if is_bool else answers.isin(favourable_ones)
        check_reading(model, decided.to_numpy(dtype=bool), table.labels, table.specification.label)
    if pd.api.types.is_bool_dtype(answers.dtype):
        answers = answers.map({True: favourable, False: f"not {favourable}"})
        # They may all be alike.
        both = sorted([favourable, f"not {favourable}"])
        answers = answers.astype(pd.CategoricalDtype(both))
    return Answered(
        predictions=answers,
        scores=np.concatenate(scored) if scored else None,
        queries=queries,
    )


def asks_for_scores(metrics: Wanted | None) -> bool:
    """Return whether a metric is of scores.

    Examples
    --------
    >>> asks_for_scores("mean_score"), asks_for_scores("accuracy"), asks_for_scores(None)
    (True, False, False)
    """
    return metrics is not None and any(item.kind == "scores" for item in resolve_metrics(metrics))


def _asks_for_others(metrics: Wanted | None) -> bool:
    """Return whether a metric is not of scores, or none is named."""
    return metrics is None or any(item.kind != "scores" for item in resolve_metrics(metrics))


def _no_probabilities(metrics: Wanted | None, model: Model) -> ParameterError:
    """Return the error of a metric of scores for a model that gives classes alone."""
    assert metrics is not None
    name = next(item.name for item in resolve_metrics(metrics) if item.kind == "scores")
    return ParameterError(
        f"the metric {name} is of scores, and the model {model.name!r} gives classes without "
        "probabilities",
        where="metrics",
        remedy=f"leave {name} out, or give a model, its file or a function that gives the "
        "probability of the favourable label",
        metric=name,
    )


def _of_part(model: Model, part: pd.DataFrame, *, scores: bool, classes: bool) -> NDArray[Any]:
    """Return a model's scores, classes or decisions of some rows, as they are asked for."""
    answers: NDArray[Any] | None = None
    if isinstance(model, CheckedFunction):
        if scores:
            answers = model.scores(part)
        if answers is None and classes:
            answers = model.labels(part)
    return model.decisions(part) if answers is None else answers
