"""A classifier whose worst difference in selection rate, or another rate, is lowered."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from testsgd.data.cells import as_pandas
from testsgd.errors import ParameterError
from testsgd.mitigation.blind_estimators import without_columns
from testsgd.mitigation.compared_rates import OBJECTIVES, SELECTION_RATE
from testsgd.mitigation.cross_fitted_play import fit_on_one_thread, majority
from testsgd.mitigation.estimator_inputs import (
    checked_labels,
    checked_rows,
    checked_weights,
    two_class_tags,
    two_classes,
)
from testsgd.mitigation.folds import rows_of
from testsgd.mitigation.frontier import (
    STRENGTHS,
    FrontierPoint,
    Original,
    Search,
    search_strengths,
)
from testsgd.mitigation.retrained_estimator import Columns, fit_clone
from testsgd.models.refitting.estimators import weight_parameter

F = TypeVar("F", bound=Callable[..., Any])


def _estimator_has(name: str) -> Callable[[F], F]:
    """Return a decorator of methods that are there only if the estimator inside has them."""

    def check(self: FairClassifier) -> bool:
        getattr((getattr(self, "estimators_", None) or [self._inside()])[0], name)
        return True

    decorator: Callable[[F], F] = available_if(check)
    return decorator


# To mypy the base classes are of no type: scikit-learn has no annotations.
class FairClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with a smaller worst difference over all groups, in selection rate by default.

    Groups are all short rule sets over the sensitive features, as an audit searches them. ``fit``
    plays rounds: the groups with the largest differences get weights, the estimator is fitted anew
    to labels and weights that count errors and these differences. The models of a few rounds vote.
    How much differences count, and which rounds vote, is chosen by cross-fitting: by decisions on
    rows that the models were not fitted to. It is what lowers the worst difference most among those
    that lose no more accuracy than nine tenths of the budget: on other rows they lose a little more
    than is expected. Then the models are fitted to all rows. If nothing keeps the budget, it warns,
    and the estimator is fitted to all rows as if it stood alone.

    Parameters
    ----------
    estimator : classifier, optional
        Any binary classifier whose ``fit`` takes ``sample_weight``, or a pipeline that ends in one.
        Never changed. None: a logistic regression.
    sensitive_features : list of str or int
        Columns of X, by name or index, that groups are given by. Numbers are put in about ten bins,
        but two numbers only are categories.
    method : {"play"}
        How the difference is lowered.
    objective : str
        Which rate is compared: ``"selection_rate"``; among the rows of the last label the
        ``"true_positive_rate"``, among the others the ``"false_positive_rate"``, or both of them
        as ``"equalized_odds"``; or ``"accuracy"``, the rate of right decisions.
    budget : float
        Most accuracy that may be lost, as a share of the rows by weight: 0.005 is half a point.
    rounds : int
        How many rounds are played with each strength.
    strengths : sequence of float, optional
        What a difference of 1 may cost, in errors of all rows; tried in ascending order, until far
        more than the budget is lost. None: ten from 0.02 to 0.32.
    folds : int
        Parts of the rows in the cross-fitting.
    min_rows : int or float
        Rows that a group has at least, inside and outside; a float is a share of those that the
        rate counts.
    max_rules : int, optional
        Rules that a group has at most. None: what a search of a few seconds allows.
    blind : bool
        True: the estimator does not see the sensitive columns. They are needed in ``fit`` only;
        where rows to predict have them, they are left out. Accuracy that is lost, and differences
        before, are counted against the estimator with these columns: what it loses without them is
        part of the budget. If nothing keeps the budget, what is fitted to all rows is blind too.
    random_state : int, RandomState instance or None
        Of the folds, and of the estimator's random states that are None.
    n_jobs : int, optional
        Fits at the same time, as in scikit-learn. The result does not depend on it.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (2,)
        The labels. The last is the favourable one; for the selection rate and the accuracy
        the other would give the same differences.
    estimators_ : list of classifiers
        Those that vote; an odd number, at most 5.
    frontier_ : list of FrontierPoint
        What each strength costs and brings, on rows that the models were not fitted to.
    chosen_ : FrontierPoint or None
        The one that was chosen; None if the plain estimator was kept. The signs of its differences
        are those of the rate of the last class: a group that gets the first one more often than
        others has a negative one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : numpy.ndarray of str
        Their names, if X is a data frame whose columns are all called by strings.

    Notes
    -----
    The rates are those of the audit: a row counts as one, whatever its weight. The weights of
    groups follow the differences of cross-fitted decisions, so the differences of ``frontier_`` are
    a little smaller than those of new rows; labels of rows that a model decides on play no part.

    References
    ----------
    Kearns, Neel, Roth and Wu, Preventing fairness gerrymandering, ICML 2018.
    Hardt, Price and Srebro, Equality of opportunity in supervised learning, NeurIPS 2016.

    Examples
    --------
    >>> import testsgd
    >>> people = testsgd.generate_demo(rows=3000, seed=0)
    >>> X = people[["age", "income", "debt_ratio"]].assign(male=people["gender"] == "male")
    >>> classifier = FairClassifier(
    ...     LogisticRegression(max_iter=1000),
    ...     sensitive_features=["male", "age"],
    ...     budget=0.02,
    ...     rounds=3,
    ...     random_state=0,
    ... ).fit(X, people["granted"])
    >>> abs(classifier.chosen_.worst_after) < abs(classifier.chosen_.worst_before)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        sensitive_features: Any = None,
        method: str = "play",
        objective: str = SELECTION_RATE,
        budget: float = 0.005,
        rounds: int = 7,
        strengths: Any = None,
        folds: int = 3,
        min_rows: float = 0.05,
        max_rules: int | None = None,
        blind: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.sensitive_features = sensitive_features
        self.method = method
        self.objective = objective
        self.budget = budget
        self.rounds = rounds
        self.strengths = strengths
        self.folds = folds
        self.min_rows = min_rows
        self.max_rules = max_rules
        self.blind = blind
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play, choose the models that vote, and fit them to all rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, features)
            Numbers or texts; missing values and texts if the estimator takes them.
        y : array-like of shape (n,)
            Labels, two different ones.
        sample_weight : array-like of shape (n,), optional
            How much an error counts for each row.

        Returns
        -------
        FairClassifier
            This one.

        Raises
        ------
        ParameterError
            If a parameter is out of its range, X has no such sensitive feature, or the estimator
            takes no weights.
        DataError
            If a sensitive feature holds infinite numbers, or two columns have the same name.
        ValueError
            If X, y or the weights are of the wrong shape or contents, as any estimator raises it.
        """
        X = checked_rows(self, X, reset=True)
        y = checked_labels(X, y)
        weights = checked_weights(X, sample_weight)
        columns = Columns.of(X)
        search = self._search(columns)
        inside = self._inside()
        if weight_parameter(inside) is None:
            raise ParameterError(
                f"{type(inside).__name__}.fit takes no weights",
                where="estimator",
                remedy="give an estimator whose fit takes sample_weight",
            )
        self.classes_ = two_classes(y)
        self._sensitive = np.isin(columns.names, search.sensitive)
        if self.blind and self._sensitive.all():
            raise ParameterError(
                "all columns are sensitive, and none is left for the estimator",
                where="blind",
                remedy="give more columns, or blind=False",
            )
        if weights is not None and not weights.all():
            X, y, weights = rows_of(X, weights > 0), y[weights > 0], weights[weights > 0]
        inside = _seeded(inside, search.seed)
        original = Original(inside, X) if self.blind else None
        if self.blind and isinstance(X, pd.DataFrame):
            inside = without_columns(inside, X, X.columns[self._sensitive].tolist())
        seen = self._seen(X)
        favourable = y == self.classes_[-1]
        self.estimators_: list[Any] = []
        self.frontier_: list[FrontierPoint] = []
        self.chosen_: FrontierPoint | None = None
        reason = "there is one label only"
        if len(self.classes_) == 2:
            frame = columns.frame(X)
            result = search_strengths(
                inside,
                seen,
                frame,
                favourable,
                self.classes_,
                weights,
                search,
                original=original,
            )
            reason = result.reason
            self.frontier_ = list(result.points)
            self.chosen_ = result.chosen
            self.estimators_ = [
                fit_on_one_thread(inside, seen, self.classes_[labels.astype(np.intp)], costs)
                for labels, costs in result.examples
            ]
        if reason:
            kept = "the plain estimator was kept"
            if self.blind:
                kept = f"{kept}, blind"
            warnings.warn(f"{kept}, for {reason}", UserWarning, stacklevel=2)
            self.estimators_ = [fit_clone(inside, seen, y, weights)]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label that most models give each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, features)
            Rows with the columns that ``fit`` was given. If `blind`, the sensitive columns may be
            missing, and play no part.

        Returns
        -------
        numpy.ndarray of shape (n,)
            Labels of ``classes_``.

        Raises
        ------
        ValueError
            If X is of the wrong shape or contents, as any estimator raises it; a
            ``NotFittedError`` before ``fit``.
        """
        check_is_fitted(self)
        votes = self._votes(self._given(X))
        return np.asarray(self.classes_[votes.astype(np.intp)])

    @_estimator_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each label; only if the estimator has this method.

        It is the mean over the models that give a row the label that it gets, so that this label
        is the more probable one.

        Parameters
        ----------
        X : array-like or data frame of shape (n, features)
            As for :meth:`predict`.

        Returns
        -------
        numpy.ndarray of float64, shape (n, 2)
            The columns are in the order of ``classes_``.

        Raises
        ------
        ValueError
            As for :meth:`predict`.
        """
        check_is_fitted(self)
        given = self._given(X)
        decided = self._decisions(given)
        agree = decided == majority(decided)
        chances = np.stack([each.predict_proba(given) for each in self.estimators_])
        return np.asarray((chances * agree[:, :, None]).sum(axis=0) / agree.sum(axis=0)[:, None])

    def __sklearn_tags__(self) -> Any:
        return two_class_tags(super().__sklearn_tags__(), get_tags(self._inside()))

    def _inside(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _decisions(self, given: Any) -> NDArray[np.bool_]:
        """Return whether each model gives each row the last label, shape (models, rows)."""
        return np.stack([each.predict(given) == self.classes_[-1] for each in self.estimators_])

    def _votes(self, given: Any) -> NDArray[np.bool_]:
        votes = majority(self._decisions(given))
        # With one label only it is both the first and the last.
        return votes & (len(self.classes_) == 2)

    def _seen(self, X: Any) -> Any:
        """Return the columns that the estimator sees."""
        if not self.blind:
            return X
        return X.loc[:, ~self._sensitive] if isinstance(X, pd.DataFrame) else X[:, ~self._sensitive]

    def _given(self, X: Any) -> Any:
        """Return the columns that the estimator sees, of rows to predict."""
        if self.blind:
            frame = None if isinstance(X, np.ndarray | list | tuple) else as_pandas(X)
            names = getattr(self, "feature_names_in_", None)
            left = None if names is None else names[~self._sensitive]
            if frame is not None and left is not None and list(frame.columns) == list(left):
                return frame
            array = X if frame is None else frame
            if left is None and np.shape(array)[1:] == (int((~self._sensitive).sum()),):
                return np.asarray(array)
        return self._seen(checked_rows(self, X, reset=False))

    def _search(self, columns: Columns) -> Search:
        _require(
            self.strengths is None or isinstance(self.strengths, Iterable),
            "strengths",
            self.strengths,
            "give several positive numbers, such as (0.05, 0.1, 0.2)",
        )
        strengths = STRENGTHS if self.strengths is None else tuple(self.strengths)
        share = isinstance(self.min_rows, Real) and not isinstance(self.min_rows, Integral)
        _require(self.method == "play", "method", self.method, 'it can be "play"')
        _require(
            isinstance(self.objective, str) and self.objective in OBJECTIVES,
            "objective",
            self.objective,
            f"it can be {', '.join(OBJECTIVES)}",
        )
        _require(
            _number(self.budget) and 0 <= self.budget < 1,
            "budget",
            self.budget,
            "give a share of the rows such as 0.005",
        )
        _require(
            _whole(self.rounds) and self.rounds >= 1,
            "rounds",
            self.rounds,
            "give a whole number, at least 1",
        )
        _require(
            _whole(self.folds) and self.folds >= 2,
            "folds",
            self.folds,
            "give a whole number, at least 2",
        )
        _require(
            len(strengths) > 0 and all(_number(each) and 0 < each < np.inf for each in strengths),
            "strengths",
            strengths,
            "give positive numbers",
        )
        _require(
            _number(self.min_rows) and (0 < self.min_rows < 0.5 if share else self.min_rows >= 1),
            "min_rows",
            self.min_rows,
            "give a whole number, at least 1, or a share below 0.5",
        )
        _require(
            self.max_rules is None or (_whole(self.max_rules) and self.max_rules >= 1),
            "max_rules",
            self.max_rules,
            "give a whole number, at least 1, or None",
        )
        return Search(
            sensitive=columns.chosen(self.sensitive_features),
            budget=float(self.budget),
            strengths=tuple(float(each) for each in strengths),
            rounds=int(self.rounds),
            folds=int(self.folds),
            min_rows=float(self.min_rows) if share else int(self.min_rows),
            max_rules=self.max_rules,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            jobs=self.n_jobs,
            objective=self.objective,
        )


def _number(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


def _whole(given: Any) -> bool:
    return isinstance(given, Integral) and not isinstance(given, bool)


def _require(allowed: bool, where: str, given: Any, remedy: str) -> None:
    if not allowed:
        raise ParameterError(f"{given!r} is not allowed", where=where, remedy=remedy)


def _seeded(estimator: Any, seed: int) -> Any:
    """Return an unfitted estimator whose random states that are None are drawn by a seed."""
    copy = clone(estimator)
    generator = np.random.default_rng(seed)
    states = {
        name: int(generator.integers(2**31 - 1))
        for name, value in sorted(copy.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return copy.set_params(**states) if states else copy
