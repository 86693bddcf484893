"""The classifier keeps scikit-learn's conventions: its own checks of estimators."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from testsgd.mitigation.classifier import CounterSampleClassifier

# A logistic regression that converges on whatever the checks come up with.
LEARNER = LogisticRegression(max_iter=10_000)


# Where a check's rows are too few to set some apart, the estimator stands alone and says so.
@pytest.mark.filterwarnings("ignore:the estimator was fitted without samples")
@parametrize_with_checks(
    [
        CounterSampleClassifier(LEARNER, sensitive_features=[0]),
        CounterSampleClassifier(
            DecisionTreeClassifier(random_state=0),
            sensitive_features=[0],
            fewest_samples=5,
            validation_share=0.4,
            steps=2,
        ),
    ]
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
