"""The exponentiated gradient with estimators, networks and models of texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from threshold_refitter import exponentiated_gradient

from testsgd.auditing import measure_groups
from testsgd.data import DatasetSpecification, Table, TextSpecification
from testsgd.errors import ModelError
from testsgd.mitigation.exponentiated_gradient import Mixture
from testsgd.models import LoadedModel, load_model, load_text_model
from testsgd.models.refitting import Examples, refitter_for
from testsgd.rules import IntervalRule, RuleSet, ValueRule

pytestmark = pytest.mark.fairlearn

PLANTED = RuleSet(
    (
        ValueRule("gender", ("female",)),
        ValueRule("race", ("Black",)),
        IntervalRule("age", 40, 60),
    )
)


def training_of(table: Table) -> Examples:
    assert table.labels is not None
    return Examples(table.frame, (table.labels == "yes").to_numpy())


def gap(decisions: NDArray[Any], members: NDArray[np.bool_]) -> float:
    return float(abs(decisions[members].mean() - decisions[~members].mean()))


def error(decisions: NDArray[Any], labels: NDArray[np.bool_]) -> float:
    return float(np.abs(decisions - labels).mean())


def check(mixture: Mixture, before: Any, training: Examples, members: NDArray[np.bool_]) -> None:
    """The group gets the label as often as the rest, at a few points of accuracy at most."""
    first = before.decisions(training.inputs).astype(float)
    after = mixture.probabilities(training.inputs)
    assert gap(first, members) > 0.2
    assert gap(after, members) < 0.05
    assert error(after, training.favourable) < error(first, training.favourable) + 0.04
    assert 2 <= mixture.trainings <= 10


@pytest.mark.slow
def test_the_demos_network(demo_table: Table, demo_model: LoadedModel[Any]) -> None:
    table = demo_table.sample(5_000, seed=0)
    training, members = training_of(table), PLANTED.matches(table)
    refitter = refitter_for(demo_model, table.specification, training, training)
    mixture = exponentiated_gradient(refitter, training, members)
    check(mixture, demo_model.model, training, members)

    # In the neighbourhood too, where the audit looks; the models are measured one by one.
    rates = [
        measure_groups(model, table, [PLANTED], max_queries=200_000, seed=0).difference[0]
        for model in mixture.models
    ]
    expected = mixture.expected([float(rate) for rate in rates])
    assert expected is not None
    assert abs(expected) < 0.08


def numbers(specification: DatasetSpecification, table: Table) -> Table:
    """Give the demo's rows to who takes numbers only; what is in the group stands in them."""
    features = {
        name: feature
        for name, feature in specification.features.items()
        if feature.continuous or name == "gender"
    }
    gender = features["gender"].model_copy(update={"values": ["0", "1"]})
    frame = table.frame[list(features)].assign(gender=PLANTED.matches(table).astype(int))
    narrow = specification.model_copy(update={"features": {**features, "gender": gender}})
    return Table(narrow, frame, table.labels, table.missing)


def test_an_estimator(demo_specification: DatasetSpecification, demo_table: Table) -> None:
    table = numbers(demo_specification, demo_table.sample(4_000, seed=1))
    training = training_of(table)
    members = (table.frame["gender"] == 1).to_numpy()
    estimator = LogisticRegression(max_iter=5_000).fit(table.frame, table.labels)
    loaded = load_model(estimator, table.specification)
    refitter = refitter_for(loaded, table.specification, training, training)
    mixture = exponentiated_gradient(refitter, training, members)
    check(mixture, loaded.model, training, members)


def test_an_estimator_that_takes_no_weights(
    demo_specification: DatasetSpecification, demo_table: Table
) -> None:
    table = numbers(demo_specification, demo_table.sample(500, seed=1))
    training = training_of(table)
    estimator = KNeighborsClassifier().fit(table.frame, table.labels)
    loaded = load_model(estimator, table.specification)
    refitter = refitter_for(loaded, table.specification, training, training)
    with pytest.raises(ModelError, match="KNeighborsClassifier"):
        exponentiated_gradient(refitter, training, (table.frame["gender"] == 1).to_numpy())


def test_texts() -> None:
    generator = np.random.default_rng(0)
    words = np.array([f"word{place}" for place in range(12)])
    members = generator.random(1_500) < 0.3
    used = generator.random((1_500, 12)) < 0.4
    worth = used[:, :6].sum(axis=1) - used[:, 6:].sum(axis=1) - 1.5 * members
    favourable = worth + generator.normal(0, 0.5, 1_500) > 0
    texts = tuple(
        " ".join([*words[row], *(["blue"] if member else [])])
        for row, member in zip(used, members, strict=True)
    )
    specification = TextSpecification.model_validate(
        {
            "dataset": {"name": "made-up"},
            "text": {"column": "text"},
            "label": {"column": "liked", "favourable": "yes", "values": ["no", "yes"]},
        }
    )
    estimator = make_pipeline(CountVectorizer(), LogisticRegression())
    estimator.fit(list(texts), np.where(favourable, "yes", "no"))
    loaded = load_text_model(estimator, specification)
    training = Examples(texts, favourable)
    refitter = refitter_for(loaded, specification, training, training)
    mixture = exponentiated_gradient(refitter, training, members)
    first = loaded.model.decisions(texts).astype(float)
    after = mixture.probabilities(texts)
    assert gap(first, members) > 0.25
    assert gap(after, members) < 0.03
    assert error(after, favourable) < error(first, favourable) + 0.1
