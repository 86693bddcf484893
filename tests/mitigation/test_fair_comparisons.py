"""Other methods learn from the same softened labels: second methods, and the linear program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from threshold_refitter import LIMIT_PAIRS, Decider, ThresholdRefitter, applicants

from testsgd.mitigation.alternatives import reweighed, split_costs
from testsgd.mitigation.exponentiated_gradient import exponentiated_gradients
from testsgd.models.refitting import Examples

PEOPLE = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 9)), min_size=3, max_size=40).filter(
    lambda people: len({group for group, _ in people}) > 1
)


def reweighing_weights(
    members: NDArray[np.bool_] | NDArray[np.integer[Any]], favourable: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Give each example the weight P(group) P(label) / P(group, label), as published."""
    names, group = np.unique(members, return_inverse=True)
    combination = 2 * group + np.asarray(favourable, dtype=np.intp)
    counts = np.bincount(combination, minlength=2 * len(names)).reshape(-1, 2)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(group)
    weights: NDArray[np.float64] = (expected / np.maximum(counts, 1)).ravel()[combination]
    # Where a combination does not occur nobody gets its share, and the sum falls short.
    weights *= len(weights) / weights.sum()
    return weights


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=60))
def test_labels_as_they_are_are_reweighed_as_published(people: list[tuple[bool, bool]]) -> None:
    members, labels = np.array(people, dtype=bool).T
    if members.all() or not members.any():
        return
    weights, targets = reweighed(members, labels.astype(float))
    assert weights == pytest.approx(reweighing_weights(members, labels))
    assert targets.tolist() == labels.tolist()


@given(PEOPLE)
def test_a_softened_label_is_so_many_people_of_either_label(people: list[tuple[int, int]]) -> None:
    """A chance of three tenths is three people with the label and seven without it."""
    groups = np.array([group for group, _ in people])
    tenths = np.array([tenth for _, tenth in people])
    weights, targets = reweighed(groups, tenths / 10)
    many = np.repeat(groups, 10)
    labels = np.concatenate([np.arange(10) < tenth for tenth in tenths])
    by_person = reweighing_weights(many, labels).reshape(-1, 10)
    assert weights == pytest.approx(by_person.sum(axis=1) / 10)
    with_label = np.where(labels.reshape(-1, 10), by_person, 0).sum(axis=1)
    assert targets == pytest.approx(with_label / by_person.sum(axis=1))


@given(PEOPLE)
def test_reweighed_groups_have_the_label_alike(people: list[tuple[int, int]]) -> None:
    groups = np.array([group for group, _ in people])
    chances = np.array([tenth for _, tenth in people]) / 10
    weights, targets = reweighed(groups, chances)
    rates = [
        np.average(targets[groups == one], weights=weights[groups == one]) for one in set(groups)
    ]
    assert rates == pytest.approx([chances.mean()] * len(rates))
    nothing, same = reweighed(groups, chances, strength=0)
    assert nothing == pytest.approx(np.ones(len(groups)))
    assert same == pytest.approx(chances)


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0.01, 0.99)), min_size=4, max_size=40),
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.floats(0.01, 100),
)
def test_costs_are_split_as_they_were_put_together(
    people: list[tuple[bool, float]], inside: float, outside: float, factor: float
) -> None:
    members = np.array([member for member, _ in people])
    chances = np.array([chance for _, chance in people])
    spread = sum(np.ptp(chances[side]) for side in (members, ~members) if side.any())
    if spread < 1e-3:
        return
    asked = np.where(members, inside, outside)
    favour, against = split_costs(factor * (2 * chances - 1 + asked), chances, members)
    assert favour == pytest.approx(chances + np.maximum(asked, 0), abs=1e-6)
    assert against == pytest.approx(1 - chances + np.maximum(-asked, 0), abs=1e-6)


def test_what_belongs_to_neither_side_is_a_side_of_its_own() -> None:
    generator = np.random.default_rng(3)
    sides, chances = generator.integers(0, 3, 60), generator.uniform(0.05, 0.95, 60)
    asked = np.array([0.7, -0.4, 1.5])[sides]
    costs = 5 * (2 * chances - 1 + asked)
    favour, against = split_costs(costs, chances, sides == 0, others=sides == 1)
    assert favour == pytest.approx(chances + np.maximum(asked, 0), abs=1e-6)
    assert against == pytest.approx(1 - chances + np.maximum(-asked, 0), abs=1e-6)
    # With only two sides the costs cannot be told apart.
    wrong, _ = split_costs(costs, chances, sides == 0)
    assert np.abs(wrong - favour).max() > 0.01


class SoftRefitter(ThresholdRefitter):
    """The decider of the least cost by signed costs, which is all that it is told."""

    def refit(self, extra: Any, **given: Any) -> Iterator[Any]:
        return super().refit(extra, **given)


@pytest.mark.fairlearn
@pytest.mark.parametrize("seed", range(3))
def test_the_error_is_what_the_chances_expect(seed: int) -> None:
    hard, members = applicants(600, seed)
    merit = hard.inputs["merit"].to_numpy()
    chances = 1 / (1 + np.exp(-(merit - np.where(members, 4.5, 2.0)) / 0.6))
    # Labels that say nothing: only the chances can be learnt.
    noise = np.random.default_rng(seed).random(600) < 0.5
    training = Examples(hard.inputs, noise, targets=chances)
    bounds = (0.2, 0.1, 0.02)
    mixtures = exponentiated_gradients(
        SoftRefitter(training), training, members, bounds=bounds, max_rounds=12
    )
    decisions = np.array([Decider(pair).decisions(training.inputs) for pair in LIMIT_PAIRS])
    errors = np.where(decisions, 1 - chances, chances).mean(axis=1)
    overall = decisions.mean(axis=1)
    gaps = [decisions[:, side].mean(axis=1) - overall for side in (members, ~members)]
    rows = np.array([sign * gap for gap in gaps for sign in (1, -1)])
    for bound, mixture in zip(bounds, mixtures, strict=True):
        best = linprog(
            errors, A_ub=rows, b_ub=np.full(4, bound), A_eq=np.ones((1, len(errors))), b_eq=[1.0]
        ).fun
        decided = mixture.probabilities(training.inputs)
        assert abs(decided[members].mean() - decided.mean()) <= bound + 1e-6
        assert np.mean(decided * (1 - chances) + (1 - decided) * chances) <= best + 0.015
    assert mixtures[-1].trainings <= 12
