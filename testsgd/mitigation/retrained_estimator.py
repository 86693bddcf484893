"""Counter-labelled samples for an estimator of scikit-learn: audit, samples, refits, choice."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from testsgd.auditing import AuditParameters, TableFindings, run_audit, worst_groups
from testsgd.data import (
    DEFAULT_BINS,
    MISSING,
    DatasetSpecification,
    Table,
    as_floats,
    category_text,
    check_table,
    distinct_values,
)
from testsgd.data.categories import MOST_VALUES
from testsgd.data.cells import check_distinct_names
from testsgd.errors import DataError, ParameterError
from testsgd.mitigation.candidate_evaluation import Evaluator
from testsgd.mitigation.data_splits import DataSplit
from testsgd.mitigation.folds import answers, few_rows_left, values_of_one_fold
from testsgd.mitigation.parameters import Kind, MitigationParameters
from testsgd.mitigation.run import RunSetup, search_once
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.search import Candidate
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.mitigation.targets import Target, choose_targets
from testsgd.models import Examples, LoadedModel, PlainRows, PreparedRows, Split, Stage
from testsgd.models.answers import Output
from testsgd.models.refitting.estimators import weight_parameter

# The names that the two labels have in the table.
FAVOURABLE, OTHER = "favourable", "other"


@dataclass(frozen=True)
class Columns:
    """The names and types of the columns of X."""

    # Of X's own, as text; ``x0``, ``x1``, ... in an array.
    names: tuple[str, ...]
    # X's own names; None if it is an array.
    labels: pd.Index[Any] | None
    # The columns' types, or the array's type alone.
    types: tuple[Any, ...]

    @classmethod
    def of(cls, X: Any) -> Columns:
        """Return the names and types of the columns of X."""
        if not isinstance(X, pd.DataFrame):
            return cls(tuple(f"x{index}" for index in range(X.shape[1])), None, (X.dtype,))
        names = tuple(str(label) for label in X.columns)
        check_distinct_names(names, where="X")
        return cls(names, X.columns, tuple(X.dtypes))

    def frame(self, X: Any) -> pd.DataFrame:
        """Return X as a data frame, its columns called as in `names`."""
        if self.labels is None:
            return pd.DataFrame(X, columns=list(self.names)).infer_objects()
        frame: pd.DataFrame = X.set_axis(list(self.names), axis=1)
        return frame.reset_index(drop=True)

    def back(self, frame: pd.DataFrame) -> Any:
        """Return a data frame such as :meth:`frame` gives in the form of X."""
        if self.labels is None:
            return frame.to_numpy(dtype=self.types[0])
        changed = {
            name: frame[name].astype(dtype)
            for name, dtype in zip(self.names, self.types, strict=True)
            if frame[name].dtype != dtype
        }
        return frame.assign(**changed).set_axis(self.labels, axis=1)

    def chosen(self, features: Any) -> tuple[str, ...]:
        """Return the names of some columns, each given by its name or its index."""
        given = [features] if isinstance(features, str | int | np.integer) else features
        if given is None or not len(given):
            raise ParameterError(
                "no sensitive features are named",
                where="sensitive_features",
                remedy="give a list of columns' names or places",
            )
        return tuple(self._one(feature) for feature in given)

    def _one(self, feature: Any) -> str:
        if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
            own = [] if self.labels is None else list(self.labels)
            index = own.index(feature) if feature in own else int(feature)
            if 0 <= index < len(self.names):
                return self.names[index]
        elif isinstance(feature, str) and feature in self.names:
            return feature
        raise ParameterError(
            f"X has no column {feature!r}",
            where="sensitive_features",
            remedy=f"the columns are {', '.join(self.names[:12])}",
        )


def rows_table(
    frame: pd.DataFrame, favourable: NDArray[np.bool_], sensitive: Collection[str]
) -> Table | None:
    """Return rows as a table with a description of their columns, for an audit.

    Numbers range from the lowest to the highest that occurs, and in bins of round limits if they
    are sensitive; but sensitive numbers of which there are only two, and whatever is no number, are
    categories. None if each sensitive feature has one value only.
    """
    varying = {name for name in sensitive if frame[name].nunique(dropna=False) > 1}
    if not varying:
        return None
    label = "label"
    while label in frame:
        label = f"{label}_"
    specification = DatasetSpecification.model_validate(
        {
            "dataset": {"name": "rows"},
            "label": {"column": label, "favourable": FAVOURABLE, "values": [OTHER, FAVOURABLE]},
            "features": {
                str(name): _feature(frame[name], str(name), name in varying) for name in frame
            },
        }
    )
    labels = np.where(favourable, FAVOURABLE, OTHER)
    return check_table(frame.assign(**{label: labels}), specification, source="X")


def _feature(column: pd.Series[Any], name: str, sensitive: bool) -> dict[str, Any]:
    """Return the entry of a column in a description of the data."""
    if pd.api.types.is_any_real_numeric_dtype(column):
        numbers = as_floats(column)
        known = np.unique(numbers[~np.isnan(numbers)])
        if not np.isfinite(known).all():
            raise DataError(
                "there are infinite numbers", where=f"X, column {name!r}", remedy="replace them"
            )
        if len(known) == 0:
            return {"type": "decimal", "range": [0, 1]}
        if len(known) > 2 or (len(known) == 2 and not sensitive):
            return _numeric(known, sensitive)
    _, uniques = distinct_values(column)
    values = list(dict.fromkeys(category_text(value) for value in _in_order(column, uniques)))
    if MISSING in values:
        raise DataError(
            f"the value {MISSING!r} is what missing cells are called",
            where=f"X, column {name!r}",
            remedy="give it another name, or leave those cells empty",
        )
    if sensitive and len(values) > MOST_VALUES:
        raise ParameterError(
            f"the sensitive feature {name!r} has {len(values):,} values",
            where="sensitive_features",
            remedy=f"join values, down to {MOST_VALUES:,} at most",
        )
    return {"type": "categorical", "values": values, "sensitive": sensitive}


def _in_order(column: pd.Series[Any], uniques: list[Any]) -> list[Any]:
    """Return a column's values in the order of its categories, or sorted."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        present = set(column.cat.remove_unused_categories().cat.categories)
        return [value for value in uniques if value in present]
    try:
        return sorted(uniques)
    except TypeError:
        return sorted(uniques, key=category_text)


def _numeric(known: NDArray[np.float64], sensitive: bool) -> dict[str, Any]:
    """Return the entry of a column of numbers; `known` are its at least two, ascending."""
    whole = bool((known % 1 == 0).all())
    low, high = float(known[0]), float(known[-1])
    described: dict[str, Any] = {
        "type": "integer" if whole else "decimal",
        "range": [low, high],
        "sensitive": sensitive,
    }
    if sensitive and not (whole and high - low + 1 <= DEFAULT_BINS):
        described["edges"] = round_edges(low, high)
    return described


def round_edges(low: float, high: float) -> list[float]:
    """Return round limits of at most a dozen bins of equal width that cover a range."""
    # As the decimals that people write, so that three tenths are 0.3.
    first, last = Fraction(str(low)), Fraction(str(high))
    least = (last - first) / DEFAULT_BINS
    power = Fraction(1)
    while power > least:
        power /= 10
    while power * 10 <= least:
        power *= 10
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)
    start, stop = first // step, -(-last // step)
    return [float(index * step) for index in range(start, stop + 1)]


# On fewer validation rows a loss of accuracy could not be told from none.
LEAST_VALIDATION = 30

# Groups before and after whose scores are given.
_LISTED_GROUPS = 5


class EstimatorRows:
    """A fitted classifier of two labels, asked as a model under audit."""

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
        """Return for each row whether it gets the favourable label."""
        answers = self.estimator.predict(self._columns.back(frame))
        return np.asarray(answers == self._favourable, dtype=bool)

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Prepare to decide on variants of `frame` that differ in one column."""
        return PlainRows(self, frame)

    def scores(self, frame: pd.DataFrame) -> NDArray[np.float64] | None:
        """Return the probability of the favourable label, None if the estimator gives none."""
        if not hasattr(self.estimator, "predict_proba"):
            return None
        index = list(self.estimator.classes_).index(self._favourable)
        chances = self.estimator.predict_proba(self._columns.back(frame))
        return np.asarray(chances, dtype=np.float64)[:, index]


class WeighedRows(TableMaterial):
    """Rows with weights; a sample counts as much as the row that it was made from."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Those whose labels an estimator can learn: anchors are for networks."""
        return ("counter", "odds")

    def probabilities(self) -> None:
        """Return None: the validation rows alone judge, as the user chose them."""
        return

    def sample(self, *arguments: Any, **options: Any) -> CounterSamples:
        """Generate samples, each with the weight of its seed."""
        samples: CounterSamples = super().sample(*arguments, **options)
        if self.weights is None:
            return samples
        return replace(samples, weights=self.weights[samples.seeds])


class ClassifierRefitter:
    """Fits clones of a classifier; a sample counts as much as the row that it was made from."""

    def __init__(
        self, estimator: Any, columns: Columns, classes: NDArray[Any], training: Examples
    ) -> None:
        self._estimator = estimator
        self._columns = columns
        self._classes = classes
        self._training = training
        self.takes_weights = weight_parameter(estimator) is not None

    def refit(
        self, extra: Examples | None, *, seed: int, **instead: Any
    ) -> Iterator[Stage[EstimatorRows]]:
        """Fit a clone and yield it as the only stage; its random state is the estimator's own."""
        examples = self._training.instead(**instead)
        if extra is not None:
            examples = examples.join(extra)
        fitted = fit_clone(
            self._estimator,
            self._columns.back(examples.frame),
            self._classes[examples.favourable.astype(np.intp)],
            examples.weights,
        )
        yield Stage(EstimatorRows(fitted, self._columns, self._classes[1]), "fitted")


def fit_clone(estimator: Any, X: Any, y: NDArray[Any], weights: NDArray[np.float64] | None) -> Any:
    """Return a clone of an estimator, fitted with weights if there are any."""
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
    """The group, the candidates and the estimator that samples led to, or why there are none."""

    # Why the estimator is to be fitted without any; empty if it is not.
    reason: str
    # The group, None if nothing was tried.
    target: Target | None = None
    candidates: tuple[Candidate, ...] = ()
    # The best; None if none is allowed and better.
    chosen: Candidate | None = None
    estimator: Any = None
    # The audit of all rows.
    before: TableFindings | None = None


@dataclass(frozen=True)
class Settings:
    """The checked parameters of the classifier."""

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
) -> Attempt:
    """Retrain an estimator with samples that counter its discrimination of one group.

    The group is the one that the parameters name by its rank, or the first of the audit.

    The estimator is not fitted; the last of the classes is the favourable label.
    """
    if len(classes) < 2:
        return Attempt("there is one label only")
    frame = columns.frame(X)
    if weights is not None and (weights == 0).any():
        counted = weights > 0
        frame = frame[counted].reset_index(drop=True)
        favourable, weights = favourable[counted], weights[counted]
    split = split_rows(favourable, settings.validation_share, settings.mitigation.seed)
    if split is None:
        return Attempt(f"{len(favourable)} rows are too few to set some apart for validation")
    table = rows_table(frame, favourable, settings.sensitive)
    if table is None:
        return Attempt("each sensitive feature has one value only")
    first = _first_fit(estimator, columns, classes, frame, favourable, weights, split, settings)
    if isinstance(first, str):
        return Attempt(first)
    split, refitter, original = first
    loaded = LoadedModel(original.model)
    findings = run_audit(loaded, table, settings.audit, own_effects=False)
    if not len(findings.ranking) or not findings.top_score:
        return Attempt("the audit found no group that is treated differently")
    targets = choose_targets(findings, settings.mitigation)
    material = WeighedRows(table, favourable, split, targets, settings.audit)
    material.weights = weights
    evaluator = Evaluator(
        original.model,
        material,
        settings.mitigation.max_accuracy_drop,
        max_balanced_drop=settings.mitigation.max_balanced_drop,
    )
    try:
        result = search_once(
            RunSetup(
                original=loaded,
                refitter=refitter,
                material=material,
                parameters=settings.mitigation,
                evaluator=evaluator,
            )
        )
    except DataError as error:
        return Attempt(error.what)
    nothing_kept = (
        f"no number of samples lowered the score of {targets[0].rule_set.text} and kept the "
        f"accuracy within {settings.mitigation.max_accuracy_drop:g} points"
    )
    return Attempt(
        reason=nothing_kept if result.model is None else "",
        target=targets[0],
        candidates=result.candidates,
        chosen=result.chosen,
        estimator=None if result.model is None else result.model.estimator,
        before=findings,
    )


def _first_fit(
    estimator: Any,
    columns: Columns,
    classes: NDArray[Any],
    frame: pd.DataFrame,
    favourable: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    split: DataSplit,
    settings: Settings,
) -> tuple[DataSplit, ClassifierRefitter, Stage[EstimatorRows]] | str:
    """Return the split to use, and the estimator fitted to its training rows.

    If it raises for validation rows with values that no training row has, these rows are trained
    on instead. A text is the reason why too few rows are left for validation.
    """
    seed = settings.mitigation.seed

    def refitter_of(trained: NDArray[np.intp]) -> ClassifierRefitter:
        training = Examples(
            frame.iloc[trained],
            favourable[trained],
            None if weights is None else weights[trained],
        )
        return ClassifierRefitter(estimator, columns, classes, training)

    refitter = refitter_of(split.parts.train)
    (original,) = refitter.refit(None, seed=seed)
    alone = _values_not_trained_on(frame, split)
    unknown = np.any([np.zeros(len(frame), dtype=bool), *alone.values()], axis=0)
    if not unknown.any() or answers(original.model.decisions, frame[unknown]):
        return split, refitter, original
    left = split.parts.validation[~unknown[split.parts.validation]]
    if len(left) < LEAST_VALIDATION:
        return few_rows_left(list(alone), len(left), len(frame))
    trained = np.sort(np.concatenate([split.parts.train, np.flatnonzero(unknown)]))
    split = replace(split, parts=replace(split.parts, train=trained, validation=left))
    refitter = refitter_of(trained)
    (original,) = refitter.refit(None, seed=seed)
    return split, refitter, original


def _values_not_trained_on(frame: pd.DataFrame, split: DataSplit) -> dict[str, NDArray[np.bool_]]:
    """Return for each column which validation rows have a value that no training row has.

    Columns without such rows, and columns of numbers, are left out.
    """
    validated = np.zeros(len(frame), dtype=bool)
    validated[split.parts.validation] = True
    alone = values_of_one_fold(frame, validated.astype(np.intp))
    unknown = {name: rows & validated for name, rows in alone.items()}
    return {name: rows for name, rows in unknown.items() if rows.any()}


def split_rows(favourable: NDArray[np.bool_], share: float, seed: int) -> DataSplit | None:
    """Return a split that sets some rows apart for validation; None if there are too few."""
    rows = np.arange(len(favourable))
    try:
        train, validation = train_test_split(
            rows, test_size=share, stratify=favourable, random_state=seed
        )
    except ValueError:
        return None
    if len(validation) < LEAST_VALIDATION or len(set(favourable[train].tolist())) < 2:
        return None
    parts = Split(np.sort(train), np.sort(validation), np.zeros(0, dtype=np.intp))
    return DataSplit(parts, f"{share:.0%} of the rows, drawn by chance, for validation")


def worst_group_scores(
    attempted: Attempt, estimator: Any, columns: Columns, favourable: Any, audit: AuditParameters
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the scores of the target and of the worst groups, before and after.

    The worst groups are those with the highest scores before or after; each score is by the name of
    its group.
    """
    before = attempted.before
    target = attempted.target
    if before is None or target is None:
        return {}, {}
    model = LoadedModel(EstimatorRows(estimator, columns, favourable))
    after = run_audit(model, before.table, audit, own_effects=False)
    worst = dict.fromkeys(
        [*worst_groups(before, _LISTED_GROUPS), *worst_groups(after, _LISTED_GROUPS)]
    )
    names = {group: before.rule_set(group).text for group in {target.group: None, **worst}}
    scores_before = {name: float(before.estimates.score[group]) for group, name in names.items()}
    scores_after = {name: float(after.estimates.score[group]) for group, name in names.items()}
    return scores_before, scores_after
