"""Mitigation as a step of training code: a classifier of scikit-learn around another one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from testsgd.auditing import AuditParameters
from testsgd.errors import ParameterError
from testsgd.mitigation.data_splits import comparison_parameters
from testsgd.mitigation.estimator_inputs import (
    checked_labels,
    checked_rows,
    checked_weights,
    two_class_tags,
    two_classes,
)
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.mitigation.retrained_estimator import (
    Columns,
    Settings,
    attempt,
    fit_clone,
    worst_group_scores,
)

F = TypeVar("F", bound=Callable[..., Any])

# Rows to ask the estimator about in an audit, at most; more are drawn from.
_MOST_QUERIES = 1_000_000


def _estimator_has(name: str) -> Callable[[F], F]:
    """Return a decorator of methods that are there only if the estimator inside has them."""

    def check(self: CounterSampleClassifier) -> bool:
        getattr(getattr(self, "estimator_", None) or self._inside(), name)
        return True

    decorator: Callable[[F], F] = available_if(check)
    return decorator


# To mypy the base classes are of no type: scikit-learn has no annotations.
class CounterSampleClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier fitted with samples that counter its discrimination of a group.

    ``fit`` sets some rows apart for validation, fits the estimator to the others, audits it, and
    takes the group with the highest score. It generates neighbours of rows with labels by which the
    group's difference would be less: first those to which the estimator gives that label itself,
    then others drawn by the chance that it does. It fits the estimator anew with more and more of
    them, and keeps the one of the lowest score among those that lose no more accuracy on the
    validation rows than allowed. If there is none, or nothing to counter, it warns, and the
    estimator is fitted to all rows as if it stood alone.

    Parameters
    ----------
    estimator : classifier, optional
        Any binary classifier, such as a pipeline that encodes categories and ends in a classifier;
        its ``fit`` must take ``sample_weight`` if that of this one is given it. Never changed.
        None: a logistic regression.
    sensitive_features : list of str or int
        Columns of X, by name or index. Groups are given by these, and samples keep them as they
        are. Numbers are put in about ten bins, but two numbers only are categories.
    group : int, optional
        Rank of the group in the audit; None: the first.
    theta : float
        Smallest share of the rows that a group must have.
    max_accuracy_drop : float
        Most percentage points of accuracy that may be lost on the validation rows, by weight.
    validation_share : float
        Share of the rows that is set apart. With fewer than 30 validation rows nothing is tried.
    steps : int
        How many numbers of samples are tried, growing geometrically. Then the largest number is
        tried with heavier samples, if the estimator's ``fit`` takes weights.
    fewest_samples : int
        Samples added in the first step.
    largest_share : float
        Samples added in the last step, as a share of the training rows.
    random_state : int, RandomState instance or None
        Of the split, the draws and the samples. The estimator's own is set there.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (2,)
        The labels. The rate of the last is compared; for two labels the score is the same.
    estimator_ : classifier
        The estimator that was kept.
    group_ : str or None
        The group, None if nothing was tried.
    samples_added_ : int
        Samples in the training of the estimator that was kept.
    accuracy_drop_ : float
        Percentage points of accuracy that they cost on the validation rows.
    scores_before_, scores_after_ : dict of str to float
        For the group, and for the groups with the highest scores before or after, the score of the
        estimator without samples and of the one that was kept, on all rows.
    candidates_ : tuple of Candidate
        What was tried.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : numpy.ndarray of str
        Their names, if X is a data frame whose columns are all called by strings.

    Notes
    -----
    The rates are those of the audit: a row counts as one, whatever its weight. A sample has the
    weight of the row that it was made from, or, where heavier ones are tried, a multiple of it.

    References
    ----------
    Zhang et al., TestSGD, RQ3.

    Examples
    --------
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> import testsgd
    >>> people = testsgd.generate_demo(rows=3000, seed=0)
    >>> encode = make_column_transformer(
    ...     (OneHotEncoder(), ["gender", "race", "housing", "purpose"]),
    ...     remainder=StandardScaler(),
    ... )
    >>> classifier = CounterSampleClassifier(
    ...     make_pipeline(encode, LogisticRegression()),
    ...     sensitive_features=["gender", "race", "age"],
    ...     random_state=0,
    ... )
    >>> classifier = classifier.fit(people.drop(columns="granted"), people["granted"])
    >>> group = classifier.group_
    >>> classifier.scores_after_[group] < classifier.scores_before_[group]
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        sensitive_features: Any = None,
        group: int | None = None,
        theta: float = 0.05,
        max_accuracy_drop: float = 0.5,
        validation_share: float = 0.2,
        steps: int = 4,
        fewest_samples: int = 50,
        largest_share: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.sensitive_features = sensitive_features
        self.group = group
        self.theta = theta
        self.max_accuracy_drop = max_accuracy_drop
        self.validation_share = validation_share
        self.steps = steps
        self.fewest_samples = fewest_samples
        self.largest_share = largest_share
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator, without and with samples, and keep the best.

        Parameters
        ----------
        X : array-like or data frame of shape (n, features)
            Numbers or texts; missing values and texts if the estimator takes them.
        y : array-like of shape (n,)
            Labels, two different ones.
        sample_weight : array-like of shape (n,), optional
            How much each row counts: in the estimator's ``fit`` and in the validation.

        Returns
        -------
        CounterSampleClassifier
            This one.

        Raises
        ------
        ParameterError
            If a parameter is out of its range, X has no such sensitive feature, the audit no group
            of that rank, or the estimator takes no weights.
        ValueError
            If X, y or the weights are of the wrong shape or contents, as any estimator raises it.
        """
        X = checked_rows(self, X, reset=True)
        y = checked_labels(X, y)
        weights = checked_weights(X, sample_weight)
        columns = Columns.of(X)
        settings = self._settings(columns)
        self.classes_ = two_classes(y)
        inside = self._inside()
        attempted = attempt(
            estimator=inside,
            columns=columns,
            X=X,
            favourable=y == self.classes_[-1],
            classes=self.classes_,
            weights=weights,
            settings=settings,
        )
        if attempted.reason:
            warnings.warn(
                f"the estimator was fitted without samples, for {attempted.reason}",
                UserWarning,
                stacklevel=2,
            )
        chosen = attempted.chosen
        self.samples_added_ = 0 if chosen is None else chosen.samples
        self.accuracy_drop_ = 0.0 if chosen is None else chosen.accuracy_drop
        self.estimator_ = (
            fit_clone(inside, X, y, weights) if chosen is None else attempted.estimator
        )
        self.group_ = None if attempted.target is None else attempted.target.rule_set.text
        self.candidates_ = attempted.candidates
        self.scores_before_, self.scores_after_ = worst_group_scores(
            attempted, self.estimator_, columns, self.classes_[-1], settings.audit
        )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, features)
            Rows with the columns that ``fit`` was given.

        Returns
        -------
        numpy.ndarray of shape (n,)
            What the estimator that was kept predicts.

        Raises
        ------
        ValueError
            If X is of the wrong shape or contents, as any estimator raises it; a
            ``NotFittedError`` before ``fit``.
        """
        check_is_fitted(self)
        labels: NDArray[Any] = self.estimator_.predict(checked_rows(self, X, reset=False))
        return labels

    @_estimator_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each label; only if the estimator has this method.

        Parameters
        ----------
        X : array-like or data frame of shape (n, features)
            Rows with the columns that ``fit`` was given.

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
        chances: NDArray[np.float64] = self.estimator_.predict_proba(
            checked_rows(self, X, reset=False)
        )
        return chances

    @_estimator_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the estimator's confidence scores; only if the estimator has this method.

        Parameters
        ----------
        X : array-like or data frame of shape (n, features)
            Rows with the columns that ``fit`` was given.

        Returns
        -------
        numpy.ndarray of float64, shape (n,)
            The larger, the more surely a row gets the last label of ``classes_``.

        Raises
        ------
        ValueError
            As for :meth:`predict`.
        """
        check_is_fitted(self)
        scores: NDArray[np.float64] = self.estimator_.decision_function(
            checked_rows(self, X, reset=False)
        )
        return scores

    def __sklearn_tags__(self) -> Any:
        return two_class_tags(super().__sklearn_tags__(), get_tags(self._inside()))

    def _inside(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _settings(self, columns: Columns) -> Settings:
        share = self.validation_share
        if not isinstance(share, Real) or not 0 < share < 1:
            raise ParameterError(
                f"{share!r} is not between 0 and 1",
                where="validation_share",
                remedy="give a share such as 0.2",
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Settings(
            sensitive=columns.chosen(self.sensitive_features),
            validation_share=float(share),
            audit=comparison_parameters(
                AuditParameters(theta=self.theta, seed=seed, max_queries=_MOST_QUERIES, jobs=1)
            ),
            mitigation=MitigationParameters(
                group=self.group,
                max_accuracy_drop=self.max_accuracy_drop,
                steps=self.steps,
                fewest_samples=self.fewest_samples,
                largest_share=self.largest_share,
                seed=seed,
            ),
        )
