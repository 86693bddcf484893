"""Counter-labelled samples for an estimator of scikit-learn: audit, samples, refits, choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from testsgd.auditing import AuditParameters, TableFindings, run_audit, worst_groups
from testsgd.data import Table
from testsgd.errors import DataError, ParameterError
from testsgd.mitigation.columns import Columns, rows_table
from testsgd.mitigation.judge import Judge
from testsgd.mitigation.material import DataSplit
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.mitigation.run import search_once
from testsgd.mitigation.samples import CounterSamples, Kind
from testsgd.mitigation.search import Candidate
from testsgd.mitigation.table_material import TableMaterial
from testsgd.mitigation.targets import Target, choose_targets
from testsgd.models import (
    Examples,
    LoadedModel,
    PlainRows,
    PreparedRows,
    Split,
    Stage,
)
from testsgd.models.answers import Output
from testsgd.models.refitting.estimators import weight_parameter

# On fewer validation rows a loss of accuracy could not be told from none.
LEAST_VALIDATION = 30

# Groups before and after whose scores are told.
_TOLD = 5


class EstimatorRows:
    """A fitted classifier of two labels, asked as a model under audit.

    Parameters
    ----------
    estimator : classifier
        Fitted to X in the form that `columns` knows.
    columns : Columns
        How X looks.
    favourable : object
        The label whose rate is compared.
    """

    output: Output = "labels"
    threshold: float | None = None
    thread_safe = False

    def __init__(self, estimator: Any, columns: Columns, favourable: Any) -> None:
        self.estimator = estimator
        self._columns = columns
        self._favourable = favourable
        self.name = type(estimator).__name__
        self.kind = f"estimator {self.name}"

    def decisions(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Say for each row whether it gets the favourable label."""
        answers = self.estimator.predict(self._columns.back(frame))
        return np.asarray(answers == self._favourable, dtype=bool)

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Get ready to decide on variants of `frame` that differ in one column."""
        return PlainRows(self, frame)

    def scores(self, frame: pd.DataFrame) -> NDArray[np.float64] | None:
        """Give the probability of the favourable label, None if the estimator gives none."""
        if not hasattr(self.estimator, "predict_proba"):
            return None
        place = list(self.estimator.classes_).index(self._favourable)
        chances = self.estimator.predict_proba(self._columns.back(frame))
        return np.asarray(chances, dtype=np.float64)[:, place]


class WeighedRows(TableMaterial):
    """Rows with weights; a sample counts as much as the row that it was made from."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Those whose labels an estimator can learn: anchors are for networks."""
        return ("counter", "odds")

    def probabilities(self) -> None:
        """Give none: the validation rows alone judge, as the user chose them."""
        return

    def sample(self, *arguments: Any, **options: Any) -> CounterSamples:
        """Generate samples, each with the weight of its seed."""
        samples: CounterSamples = super().sample(*arguments, **options)
        if self.weights is None:
            return samples
        return replace(samples, weights=self.weights[samples.seeds])


class ClassifierRefitter:
    """Fits clones of a classifier; a sample counts as much as the row that it was made from.

    Parameters
    ----------
    estimator : classifier
        Never changed.
    columns : Columns
        How X looks.
    classes : numpy.ndarray
        Both labels, the favourable one last.
    training : Examples
        The training rows.
    """

    goes_on = False

    def __init__(
        self, estimator: Any, columns: Columns, classes: NDArray[Any], training: Examples
    ) -> None:
        self._estimator = estimator
        self._columns = columns
        self._classes = classes
        self._training = training
        self.kind = f"{type(estimator).__name__}, fitted anew"
        self.takes_weights = weight_parameter(estimator) is not None

    def refit(
        self,
        extra: Examples | None,
        *,
        weights: NDArray[np.float64] | None = None,
        labels: NDArray[np.bool_] | None = None,
        seed: int,
    ) -> Iterator[Stage[EstimatorRows]]:
        """Fit a clone, give it as the only stage. Its random state is the estimator's own."""
        examples = self._training.instead(weights=weights, labels=labels)
        if extra is not None:
            examples = examples.join(extra)
        fitted = fit_clone(
            self._estimator,
            self._columns.back(examples.frame),
            self._classes[examples.favourable.astype(np.intp)],
            examples.weights,
        )
        yield Stage(EstimatorRows(fitted, self._columns, self._classes[1]), "fitted")

    def write(self, model: Any, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Do nothing: the classifier keeps its model itself."""
        return []

    def check_writable(self) -> None:
        """Do nothing."""


def fit_clone(estimator: Any, X: Any, y: NDArray[Any], weights: NDArray[np.float64] | None) -> Any:
    """Fit a clone of an estimator.

    Raises
    ------
    ParameterError
        If there are weights, and its ``fit`` takes none.
    """
    fitted = clone(estimator)
    if weights is None:
        return fitted.fit(X, y)
    name = weight_parameter(estimator)
    if name is None:
        raise ParameterError(
            f"{type(estimator).__name__}.fit takes no weights",
            where="sample_weight",
            remedy="leave it out, or give an estimator whose fit takes sample_weight",
        )
    # Where metadata are routed a pipeline takes no weights by the name of its step.
    with config_context(enable_metadata_routing=False):
        return fitted.fit(X, y, **{name: weights})


@dataclass(frozen=True)
class Attempt:
    """What came of the samples.

    Attributes
    ----------
    target : Target
        The group.
    candidates : tuple of Candidate
        What was tried.
    chosen : Candidate or None
        The best; None if none is allowed and better.
    estimator : classifier or None
        Its fitted estimator.
    table : Table
        All rows, as they were audited.
    before : TableFindings
        The audit before.
    """

    target: Target
    candidates: tuple[Candidate, ...]
    chosen: Candidate | None
    estimator: Any
    table: Table
    before: TableFindings


@dataclass(frozen=True)
class Settings:
    """What the user of the classifier chose."""

    sensitive: tuple[str, ...]
    validation_share: float
    audit: AuditParameters
    mitigation: MitigationParameters


def attempt(
    estimator: Any,
    columns: Columns,
    X: Any,
    favourable: NDArray[np.bool_],
    classes: NDArray[Any],
    weights: NDArray[np.float64] | None,
    settings: Settings,
) -> Attempt | str:
    """Counter the discrimination of the group that an estimator treats most differently.

    Parameters
    ----------
    estimator : classifier
        Not fitted.
    columns : Columns
        How X looks.
    X : numpy.ndarray or pandas.DataFrame
        The rows.
    favourable : numpy.ndarray of bool
        Which have the last of the classes.
    classes : numpy.ndarray
        Both labels.
    weights : numpy.ndarray of float64 or None
        How much each row counts.
    settings : Settings
        What the user chose.

    Returns
    -------
    Attempt or str
        If nothing could be tried, the reason.
    """
    frame = columns.frame(X)
    if weights is not None and (weights == 0).any():
        counted = weights > 0
        frame = frame[counted].reset_index(drop=True)
        favourable, weights = favourable[counted], weights[counted]
    seed = settings.mitigation.seed
    split = split_rows(frame, favourable, settings.validation_share, seed)
    if split is None:
        return f"{len(favourable)} rows are too few to set some apart for validation"
    table = rows_table(frame, favourable, settings.sensitive)
    if table is None:
        return "each sensitive feature has one value only"
    parts = split.parts
    training = Examples(
        frame.iloc[parts.train],
        favourable[parts.train],
        None if weights is None else weights[parts.train],
    )
    refitter = ClassifierRefitter(estimator, columns, classes, training)
    (original,) = refitter.refit(None, seed=seed)
    loaded = LoadedModel(original.model)
    findings = run_audit(loaded, table, settings.audit)
    if not len(findings.ranking) or not findings.top_score:
        return "the audit found no group that is treated differently"
    targets = choose_targets(findings, settings.mitigation)
    material = WeighedRows(table, favourable, split, targets, settings.audit)
    material.weights = weights
    judge = Judge(
        original.model,
        material,
        settings.mitigation.max_accuracy_drop,
        max_balanced_drop=settings.mitigation.max_balanced_drop,
    )
    try:
        found = search_once(loaded, refitter, material, settings.mitigation, judge)
    except DataError as error:
        return error.what
    kept = None if found.model is None else found.model.estimator
    return Attempt(targets[0], found.candidates, found.chosen, kept, table, findings)


def split_rows(
    frame: pd.DataFrame, favourable: NDArray[np.bool_], share: float, seed: int
) -> DataSplit | None:
    """Set some rows apart for validation; None if there are too few.

    A category that no training row has would be unknown to the estimator; its rows are trained on.
    """
    rows = np.arange(len(frame))
    try:
        train, validation = train_test_split(
            rows, test_size=share, stratify=favourable, random_state=seed
        )
    except ValueError:
        return None
    known = np.ones(len(validation), dtype=bool)
    for name in frame:
        column = frame[name]
        if not pd.api.types.is_any_real_numeric_dtype(column):
            cells = column.iloc[validation]
            known &= np.asarray(cells.isin(column.iloc[train]) | cells.isna())
    train = np.sort(np.concatenate([train, validation[~known]]))
    validation = np.sort(validation[known])
    if len(validation) < LEAST_VALIDATION or len(set(favourable[train].tolist())) < 2:
        return None
    parts = Split(train, validation, np.zeros(0, dtype=np.intp))
    return DataSplit(parts, f"{share:.0%} of the rows, drawn by chance, for validation")


def told_scores(
    attempted: Attempt, estimator: Any, columns: Columns, favourable: Any, audit: AuditParameters
) -> tuple[dict[str, float], dict[str, float]]:
    """Give the scores before and after of the groups treated most differently before or after."""
    before = attempted.before
    model = LoadedModel(EstimatorRows(estimator, columns, favourable))
    after = run_audit(model, attempted.table, audit)
    groups = dict.fromkeys(
        [attempted.target.group, *worst_groups(before, _TOLD), *worst_groups(after, _TOLD)]
    )
    texts = [before.rule_set(group).text for group in groups]
    scores = (
        [float(found.estimates.score[group]) for group in groups] for found in (before, after)
    )
    first, second = (dict(zip(texts, some, strict=True)) for some in scores)
    return first, second
