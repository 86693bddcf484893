"""Individual discrimination: people by hand, and both searches on networks made by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from loans_by_hand import (
    GENDERS,
    narrow_network,
    narrow_table,
    network,
    network_subject,
    people,
    subject,
)
from scipy.stats import binom

from testsgd.baselines import BaselineResult, IndividualSearch
from testsgd.baselines.baseline import Deadline
from testsgd.baselines.coding import RowCoding
from testsgd.baselines.input_search import (
    DiscriminatoryInputs,
    InputCheck,
    SearchOutcome,
    guided_search,
    input_gradients,
    random_search,
    step_effects,
)
from testsgd.models import Layer, NetworkModel

CHANGES = "people whose decision changes"
RANDOM = "random search: found per 1,000 queries"
GUIDED = "gradient-guided search: found per 1,000 queries"


def figures(result: BaselineResult) -> dict[str, Any]:
    return {figure.name: figure.value for figure in result.figures}


def values(result: BaselineResult) -> dict[str, float]:
    return {finding.text: finding.value for finding in result.findings}


def test_loans_to_women_only_change_for_everybody():
    result = IndividualSearch(queries=500).run(subject(lambda rows: rows["gender"] == "female"))
    assert figures(result)[CHANGES] == 1.0
    assert values(result) == {"all sensitive features": 1.0, "gender alone": 1.0}
    # Every input is discriminatory, and each check asks about it and its 2 x 2 variants.
    assert figures(result)[RANDOM] == pytest.approx(1000 / 5)


def test_a_model_without_sensitive_features_changes_for_nobody():
    result = IndividualSearch(queries=500).run(subject(lambda rows: rows["income"] >= 2))
    assert figures(result)[CHANGES] == 0.0
    assert figures(result)[RANDOM] == 0.0
    assert result.findings == ()


def test_people_are_those_for_whom_it_matters():
    # Old women are refused whatever they have; all others by income.
    result = IndividualSearch(queries=500).run(
        subject(
            lambda rows: (
                (rows["income"] >= 2) & ~((rows["gender"] == "female") & (rows["age"] > 39))
            )
        )
    )
    frame = people()
    rich = (frame["income"] >= 2).to_numpy()
    assert values(result) == pytest.approx(
        {
            "all sensitive features": rich.mean(),
            "gender alone": (rich & (frame["age"] > 39)).mean(),
            "age alone": (rich & (frame["gender"] == "female")).mean(),
        }
    )
    assert np.array_equal(result.findings[0].rows, rich)


def test_a_model_that_is_no_network_of_ours_says_so():
    result = IndividualSearch(queries=500).run(subject(lambda rows: rows["income"] >= 2))
    assert "not applicable" in figures(result)[GUIDED]


def test_every_question_is_counted():
    asked = []
    before = subject(lambda rows: asked.append(len(rows)) or rows["age"] > rows["income"] * 20)
    asked.clear()
    result = IndividualSearch(queries=500).run(before)
    assert result.queries == sum(asked)


def test_more_people_and_combinations_than_wanted_are_drawn():
    result = IndividualSearch(variants=3, people=50, queries=500).run(
        subject(lambda rows: rows["gender"] == "female")
    )
    assert "3 of 4 combinations" in result.note
    assert "50 of 200 people" in result.note
    assert figures(result)[CHANGES] == 1.0
    assert result.findings[0].rows is None


def test_the_check_agrees_with_asking_one_by_one():
    model = network(0.7)
    before = network_subject(model)
    coding = RowCoding(before.table)
    variants = np.array(list(itertools.product([0, 1], [20, 70])), dtype=float)
    points = coding.points()
    checked = InputCheck(model, coding, variants).check(points)
    frame = before.table.frame
    outcomes = np.stack(
        [
            model.decisions(frame.assign(gender=GENDERS[gender], age=age))
            for gender, age in itertools.product([0, 1], [20, 70])
        ]
    )
    expected = (outcomes != before.decisions).any(axis=0)
    assert 0 < expected.sum() < len(expected)
    assert np.array_equal(checked.discriminatory, expected)
    # Only gender moves the sum, so what lies farthest is the other gender.
    assert np.array_equal(checked.farthest[:, 0], 1 - points[:, 0])


def test_gradients_agree_with_differences():
    before = network_subject(network(0.7))
    model, coding = before.model, RowCoding(before.table)
    inputs = model.encoding.encode(before.table.frame)
    gradients = input_gradients(model, inputs)
    # The network is linear wherever its units are above zero.
    for column in range(inputs.shape[1]):
        moved = inputs.copy()
        moved[:, column] += 0.01
        same = ((model.first_sums(inputs) > 0) == (model.first_sums(moved) > 0)).all(axis=1)
        slopes = (model.output_sums(moved) - model.output_sums(inputs)) / 0.01
        assert slopes[same] == pytest.approx(gradients[same, column], abs=1e-3)
    up, down = step_effects(model, coding, coding.points())
    frame = before.table.frame
    income, debt = coding.index("income"), coding.index("debt")
    home = coding.index("home")
    below = (frame["income"] < 3).to_numpy() & (frame["gender"] == "female").to_numpy()
    assert up[below, income] == pytest.approx(2.0)
    assert up[(frame["debt"] < 0.98).to_numpy(), debt] == pytest.approx(-0.04, abs=1e-5)
    # One home to the next adds 1; from the last, and down from the first, there is no way.
    assert up[(frame["home"] == "own").to_numpy(), home] == pytest.approx(0.0)
    assert down[(frame["home"] == "none").to_numpy(), home] == pytest.approx(0.0)
    assert down[(frame["home"] == "own").to_numpy(), home] == pytest.approx(-1.0)
    assert not up[:, coding.sensitive].any()


def test_gradients_of_a_deep_network_agree_with_differences():
    generator = np.random.default_rng(0)
    widths = [6, 5, 4, 3, 1]
    layers = tuple(
        Layer(
            generator.normal(size=(width, after)).astype(np.float32),
            generator.normal(size=after).astype(np.float32),
            kind,
        )
        for width, after, kind in zip(
            widths, widths[1:], ["relu", "linear", "relu", "sigmoid"], strict=False
        )
    )
    made_up = network(0.0)
    model = NetworkModel(layers, made_up.encoding, sigmoid=made_up.sigmoid, name="deep")

    def last_sum(inputs: np.ndarray) -> np.ndarray:
        for layer in layers:
            inputs = inputs @ layer.weights.astype(float) + layer.bias
            inputs = np.maximum(inputs, 0) if layer.activation == "relu" else inputs
        return inputs[:, 0]

    inputs = generator.normal(size=(40, 6))
    slopes = np.stack(
        [(last_sum(inputs + step) - last_sum(inputs - step)) / 2e-6 for step in 1e-6 * np.eye(6)],
        axis=1,
    )
    assert np.abs(slopes).max() > 1
    assert input_gradients(model, inputs.astype(np.float32)) == pytest.approx(slopes, abs=1e-3)


def search(female: float, seed: int, **options: Any) -> tuple[SearchOutcome, SearchOutcome]:
    model, coding = narrow_network(female), RowCoding(narrow_table())
    check = InputCheck(model, coding, np.array([[0.0], [1.0]]))
    common = {"queries": 3000, "deadline": Deadline(None)} | options
    return (
        random_search(check, coding, generator=np.random.default_rng(seed), **common),
        guided_search(check, coding, model, generator=np.random.default_rng(seed), **common),
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gradients_find_more_than_chance(seed: int):
    # The sum has a standard deviation of 4, so one input in twenty lies in a band of 0.5.
    at_random, guided = search(0.5, seed)
    low, high = binom.ppf([1e-6, 1 - 1e-6], at_random.checked, 0.5 / 4.1 / np.sqrt(2 * np.pi))
    assert low <= at_random.found <= high
    assert guided.found > 2 * at_random.found
    assert guided.found <= guided.checked
    # A check of three rows, and up to two rows' gradients for each.
    assert at_random.queries == 3 * at_random.checked
    assert 2990 < guided.queries <= 3000


def test_neither_search_finds_anything_where_there_is_nothing():
    at_random, guided = search(0.0, 0)
    assert at_random.found == guided.found == 0
    assert at_random.checked > 0
    assert guided.checked > 0


def test_a_search_stops_when_its_time_is_up():
    at_random, guided = search(0.2, 0, queries=10**6, deadline=Deadline(0.0))
    assert at_random.checked > 0
    assert not at_random.finished
    assert guided.checked > 0
    assert not guided.finished


def test_found_inputs_count_once_whatever_their_sensitive_features():
    coding = RowCoding(network_subject(network(0.2)).table)
    points = coding.points()[:2]
    points[1] = points[0]
    points[1, coding.sensitive] = [0, 99]
    found = DiscriminatoryInputs(coding)
    found.add(points)
    found.add(points)
    assert len(found) == 1
