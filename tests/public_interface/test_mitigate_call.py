"""One call is a mitigation: what it may be given, and what it says is true of the models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from loan_regression import PEOPLE, QUICK, fitted
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

import testsgd
from testsgd import AuditResult, MitigationResult
from testsgd.errors import (
    DataError,
    ModelError,
    ParameterError,
    ResultError,
    TooFewDataError,
)
from testsgd.mitigation import cross_validation, table_splits
from testsgd.mitigation.report.summary import TargetSummary

FEATURES = PEOPLE.drop(columns="granted")

# Few bootstrap samples: a mitigation takes none of what follows from them.
FEW: dict[str, Any] = {"replicates": 99, "stability": 5}


@pytest.fixture(scope="module", autouse=True)
def small_steps() -> Iterator[None]:
    """Cross-validate once, and soften labels by a few trees: both have tests of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_validation, "REPEATS", 1)
        patch.setattr(table_splits, "FOLDS", 2)
        patch.setattr(table_splits, "_STEPS", 20)
        yield


@pytest.fixture(scope="module")
def model() -> Any:
    return fitted()


@pytest.fixture(scope="module")
def result(model: Any) -> MitigationResult:
    return testsgd.mitigate(model, PEOPLE, "demo", **QUICK)


@dataclass(frozen=True)
class Repeated:
    """The same mitigation again, of a model and of people that nobody else has."""

    model: Any
    people: pd.DataFrame
    scores: np.ndarray  # What the model said of everybody before.
    result: MitigationResult
    told: list[tuple[str, int, int]]  # What was told of its progress.


@pytest.fixture(scope="module")
def repeated() -> Repeated:
    model, people = fitted(), PEOPLE.copy()
    scores, told = model.predict_proba(FEATURES), list[tuple[str, int, int]]()
    result = testsgd.mitigate(
        model, people, "demo", **QUICK, progress=lambda *state: told.append(state)
    )
    return Repeated(model=model, people=people, scores=scores, result=result, told=told)


@pytest.fixture(scope="module")
def audit(model: Any) -> AuditResult:
    """Audit all rows with all groups that are told apart."""
    return testsgd.audit(model, PEOPLE, "demo", top=100_000, **FEW)


def lasting(result: MitigationResult) -> dict[str, Any]:
    """Give a result without what changes from one time to the next."""
    document: dict[str, Any] = json.loads(result.to_json())
    for run in document["runs"]:
        del run["seconds"]
    del document["created"], document["seconds"]
    return document


def members(target: TargetSummary, people: pd.DataFrame) -> np.ndarray:
    """Say who is in a group, from the rules as the document has them."""
    inside = np.ones(len(people), dtype=bool)
    for rule in target.rules:
        column = people[rule.feature]
        if rule.values is not None:
            inside &= column.astype(str).isin(rule.values).to_numpy()
        if rule.low is not None:
            inside &= (column >= rule.low).to_numpy()
        if rule.high is not None:
            inside &= (column < rule.high).to_numpy()
    return inside


@pytest.mark.slow
def test_the_audit_may_be_a_result_or_a_file_or_made_anew(
    model: Any, audit: AuditResult, result: MitigationResult, tmp_path: Path
) -> None:
    path = audit.write(tmp_path, ["json"])[0]
    first, *others = (
        testsgd.mitigate(model, PEOPLE, "demo", audit=given, **QUICK)
        for given in (audit, path, str(path))
    )
    assert all(lasting(other) == lasting(first) for other in others)
    (target,) = first.summary.targets
    assert audit.summary.groups[target.rank - 1].text == target.text
    # That audit was of all rows; without it only those that are not held out are looked at.
    assert not first.summary.split.unseen
    assert "was of all rows" in " ".join(first.verdict.sentences)
    assert result.summary.split.unseen


@pytest.mark.slow
def test_the_target_is_found_without_the_held_out_rows(
    model: Any, result: MitigationResult
) -> None:
    outcome = result.outcome
    assert outcome is not None
    parts = outcome.material.split.parts
    seen = PEOPLE.iloc[np.sort(parts.seen)]
    audit = testsgd.audit(model, seen, "demo", top=100_000, **FEW)
    (target,) = result.summary.targets
    assert audit.summary.groups[target.rank - 1].text == target.text
    # It is the first of which thirty are held out on both sides.
    held_out = PEOPLE.iloc[parts.test]
    for group in audit.summary.groups[: target.rank]:
        inside = members(group, held_out).sum()
        enough = bool(min(inside, len(held_out) - inside) >= 30)
        assert enough is (group.rank == target.rank)
    # So what the held-out rows say changes nothing before the end.
    turned = PEOPLE.copy()
    column = turned.columns.get_loc("granted")
    turned.iloc[parts.test, column] = held_out["granted"].map({"yes": "no", "no": "yes"})
    again = testsgd.mitigate(model, turned, "demo", **QUICK)
    other = again.outcome
    assert other is not None
    if np.array_equal(other.material.split.parts.test, parts.test):
        assert again.summary.targets[0].text == target.text
        assert again.summary.candidates == result.summary.candidates


@pytest.mark.slow
def test_the_audits_own_parameters_are_taken_over(model: Any) -> None:
    audit = testsgd.audit(model, PEOPLE, "demo", theta=0.2, max_features=1, favourable="no", **FEW)
    found = testsgd.mitigate(model, PEOPLE, "demo", audit=audit, group=1, **QUICK).summary
    assert found.targets[0].text == audit.summary.groups[0].text
    assert found.all_rows.groups == audit.summary.counts.groups
    assert found.data.label.favourable == "no"
    same = testsgd.mitigate(
        model, PEOPLE, "demo", theta=0.2, max_features=1, favourable="no", **QUICK
    ).summary
    assert same.all_rows.groups == found.all_rows.groups
    assert same.data.label.favourable == "no"


@pytest.mark.slow
def test_audits_work_out_no_more_than_is_reported(model: Any) -> None:
    outcome = testsgd.mitigate(model, PEOPLE, "demo", rank_by="score", **QUICK).outcome
    assert outcome is not None
    # The whole audit of the same rows names the same groups, in the same order.
    whole = testsgd.audit(model, PEOPLE, "demo", rank_by="score", **FEW)
    assert whole.summary.guarantee is not None
    assert whole.summary.guarantee.kind == "simultaneous"
    texts = [outcome.before.rule_set(group).text for group in outcome.before.ranking[:100]]
    assert texts == [group.text for group in whole.summary.groups]
    for change in (outcome.everywhere, outcome.held_out):
        for found in (change.before, change.after):
            chosen = found.parameters
            assert (chosen.guarantee, chosen.stability, found.stability) == ("per-group", 0, {})


@pytest.mark.slow
def test_nothing_that_was_given_is_changed(repeated: Repeated) -> None:
    pd.testing.assert_frame_equal(repeated.people, PEOPLE)
    np.testing.assert_array_equal(repeated.model.predict_proba(FEATURES), repeated.scores)


def test_the_figures_are_true_of_both_models(model: Any, result: MitigationResult) -> None:
    summary, outcome = result.summary, result.outcome
    assert outcome is not None
    parts = outcome.material.split.parts
    sizes = [len(places) for places in (parts.train, parts.validation, parts.test)]
    split = summary.split
    assert sizes == [split.training, split.validation, split.held_out]
    assert sorted(np.concatenate([parts.train, parts.validation, parts.test])) == list(
        range(len(PEOPLE))
    )

    held_out = PEOPLE.iloc[parts.test]
    asked = held_out.drop(columns="granted")
    # The given model may have learnt the held-out rows: fitted without them it is not flattered.
    known = PEOPLE.iloc[parts.train]
    fair = clone(model).fit(known.drop(columns="granted"), known["granted"])
    before = (fair.predict(asked) == held_out["granted"]).mean()
    new = outcome.model.model.decisions(asked)
    after = (new == (held_out["granted"] == "yes")).mean()
    assert summary.accuracy_before == pytest.approx(before)
    assert summary.accuracy_after.mean == pytest.approx(after)
    assert summary.accuracy_drop.mean == pytest.approx(100 * (before - after))
    (target,) = summary.targets
    inside = members(target, held_out)
    assert target.held_out_after.n_in == inside.sum()
    assert target.held_out_after.n_out == (~inside).sum()


def test_the_chosen_candidate_is_the_best_that_is_allowed(result: MitigationResult) -> None:
    summary = result.summary
    allowed = [item for item in summary.candidates if item.accuracy_drop <= 5 + 1e-9]
    assert [item for item in summary.candidates if item.allowed] == allowed
    (chosen,) = [item for item in summary.candidates if item.chosen]
    assert chosen.scores[0] == min(item.scores[0] for item in allowed)


def test_samples_are_in_the_group_and_carry_the_label_that_counters(
    model: Any, result: MitigationResult
) -> None:
    (target,) = result.summary.targets
    samples = result.samples
    features = samples[FEATURES.columns]
    inside = members(target, features)
    assert (inside == (samples["side"] == "group")).all()
    helped = {"less": "yes", "more": "no"}[target.direction]
    other = {"yes": "no", "no": "yes"}[helped]
    assert (samples["granted"] == samples["side"].map({"group": helped, "rest": other})).all()
    by_model = model.predict(features)
    kept = samples["why"].str.startswith("kept").to_numpy()
    assert (by_model[kept] == samples["granted"][kept]).all()
    assert (by_model[~kept] != samples["granted"][~kept]).all()
    seeds = PEOPLE.iloc[samples["seed_row"]].reset_index(drop=True)
    for name in ("gender", "race", "age"):
        assert (features[name].to_numpy() == seeds[name].to_numpy()).all()


def test_samples_alone_for_any_model(model: Any, result: MitigationResult) -> None:
    def black_box(frame: pd.DataFrame) -> Any:
        return model.predict(frame)

    samples = testsgd.counter_samples(black_box, PEOPLE, "demo", count=40)
    (target,) = result.summary.targets
    for side, some in samples.groupby("side"):
        own = result.samples[result.samples["side"] == side].head(40)
        assert len(some) == len(own) == 40
        pd.testing.assert_frame_equal(
            some.drop(columns="why").reset_index(drop=True),
            own.drop(columns="why").reset_index(drop=True),
        )
    audit = testsgd.audit(black_box, PEOPLE, "demo", top=100_000, **FEW)
    (rank,) = [group.rank for group in audit.summary.groups if group.text == target.text]
    again = testsgd.counter_samples(black_box, PEOPLE, "demo", count=40, audit=audit, group=rank)
    assert set(again["group"]) == {target.text}


@pytest.mark.slow
def test_the_other_label_turns_every_difference_round(model: Any, audit: AuditResult) -> None:
    turned_round = testsgd.audit(model, PEOPLE, "demo", favourable="no", **FEW)
    first, other = (
        testsgd.mitigate(model, PEOPLE, "demo", audit=given, group=1, **QUICK)
        for given in (audit, turned_round)
    )
    (target,), (turned,) = first.summary.targets, other.summary.targets
    assert turned.text == target.text
    assert {turned.direction, target.direction} == {"less", "more"}
    assert turned.before.difference == pytest.approx(-target.before.difference)


def test_the_written_model_is_told_true(result: MitigationResult, model: Any) -> None:
    """Every figure that the verdict goes by, made again from decisions and labels."""
    summary, outcome = result.summary, result.outcome
    assert outcome is not None
    written = summary.written
    assert written is not None
    parts = outcome.material.split.parts
    known = PEOPLE.iloc[parts.train]
    fair = clone(model).fit(known.drop(columns="granted"), known["granted"])
    for part, places in (
        (written.training, outcome.material.trained),
        (written.validation, parts.validation),
        (written.held_out, parts.test),
    ):
        rows = PEOPLE.iloc[places]
        labels = (rows["granted"] == "yes").to_numpy()
        asked = rows.drop(columns="granted")
        old, new = fair.predict(asked) == "yes", outcome.model.model.decisions(asked)
        change = part.accuracy
        assert (change.before, change.after) == (
            pytest.approx((old == labels).mean()),
            pytest.approx((new == labels).mean()),
        )
        mended, broken = ((new == labels) & (old != labels)), ((new != labels) & (old == labels))
        assert change.change == pytest.approx((mended.sum() - broken.sum()) / len(rows))
        assert change.confidence_interval is not None
        assert change.confidence_interval[0] <= change.change <= change.confidence_interval[1]
        assert part.p_value == pytest.approx(
            binomtest(int(mended.sum()), int(mended.sum() + broken.sum()) or 1).pvalue
            if (mended | broken).any()
            else 1.0
        )
        assert part.balanced.after == pytest.approx(balanced_accuracy_score(labels, new))
        assert part.constant == pytest.approx(labels.mean())
    (target,), (one,) = summary.targets, written.targets
    rows = PEOPLE.iloc[parts.test]
    asked, labels = rows.drop(columns="granted"), (rows["granted"] == "yes").to_numpy()
    old, new = model.predict(asked) == "yes", outcome.model.model.decisions(asked)
    inside = members(target, rows)
    for side, who in ((one.group, inside), (one.complement, ~inside)):
        assert side.rows == who.sum()
        assert (side.selected.before, side.selected.after) == (
            pytest.approx(old[who].mean()),
            pytest.approx(new[who].mean()),
        )
        assert side.gained == (new & ~old)[who].sum()
        assert side.lost == (old & ~new)[who].sum()
        assert side.true_positive_rate.after == pytest.approx(new[who & labels].mean())
        assert side.false_positive_rate.before == pytest.approx(old[who & ~labels].mean())
    difference = new[inside].mean() - new[~inside].mean()
    assert one.observed_after.difference == pytest.approx(difference)
    # The change of the mean is the mean of the changes of each row's neighbourhood.
    assert one.neighbourhood.change == pytest.approx(
        one.neighbourhood_after.difference - one.neighbourhood_before.difference
    )
    assert target.held_out_after == one.observed_after


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result_and_another_another(
    model: Any, result: MitigationResult, repeated: Repeated
) -> None:
    assert lasting(repeated.result) == lasting(result)
    other = testsgd.mitigate(model, PEOPLE, "demo", **QUICK, seed=1)
    assert not other.samples.equals(result.samples)


@pytest.mark.slow
def test_runs_have_seeds_of_their_own(model: Any) -> None:
    found = testsgd.mitigate(model, PEOPLE, "demo", **QUICK | {"runs": 3}).summary
    assert [run.run for run in found.runs] == [1, 2, 3]
    assert len({run.seed for run in found.runs}) == 3
    reached = [run.accuracy for run in found.runs]
    assert found.accuracy_after.mean == pytest.approx(np.mean(reached))
    assert (found.accuracy_after.lowest, found.accuracy_after.highest) == (
        min(reached),
        max(reached),
    )


@pytest.mark.slow
def test_progress_is_told(repeated: Repeated) -> None:
    told = repeated.told
    assert all(0 <= done <= total for _, done, total in told)
    last = {phase: (done, total) for phase, done, total in told}
    assert "retraining" in last
    assert all(done == total for done, total in last.values()), last


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"gruop": 1}, ParameterError, "no parameter 'gruop'.*group"),
        ({"group": 1, "all_above": 0.1}, ParameterError, "give one of the two"),
        ({"group": 10**6}, ParameterError, "there is no group of rank 1000000"),
        ({"group": 1.5}, ParameterError, "group: 1.5 is not a whole number"),
        ({"runs": True}, ParameterError, "runs: True is not a whole number"),
        ({"compare": ["all", "magic"]}, ParameterError, "compare"),
        ({"audit": "gone.json"}, ResultError, "no such file"),
        ({"data": FEATURES}, DataError, "label column 'granted' is missing"),
        ({"data": PEOPLE[PEOPLE["granted"] == "yes"]}, DataError, "'no' does not occur"),
        ({"data": PEOPLE.iloc[:100]}, TooFewDataError, "give more rows"),
        ({"data": PEOPLE.iloc[:100], "min_rows": 70}, TooFewDataError, "lower the min_rows"),
        ({"data": PEOPLE.iloc[:6]}, DataError, "too few|does not occur"),
        ({"model": lambda frame: ["yes"] * len(frame)}, ModelError, "cannot be refitted"),
        ({"model": 3}, ModelError, "a int is no model"),
        ({"terms": "mine.toml"}, ParameterError, "sensitive terms are for texts"),
        ({"holdout": 0.5}, ParameterError, r"holdout: the audit holds out 0\.5 of the data"),
    ],
)
def test_what_is_wrong_is_named(
    model: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    arguments = {"model": model, "data": PEOPLE, "spec": "demo"} | QUICK | options
    with pytest.raises(error, match=message):
        testsgd.mitigate(**arguments)


def test_an_audit_of_something_else_is_named(model: Any, audit: AuditResult) -> None:
    with pytest.raises(ModelError, match="the audit is of another model"):
        testsgd.mitigate(fitted(C=1e-3), PEOPLE, "demo", audit=audit, **QUICK)
    with pytest.raises(DataError, match="the audit is of other data"):
        testsgd.mitigate(model, PEOPLE.iloc[1:], "demo", audit=audit, **QUICK)
    half = testsgd.audit(model, PEOPLE, "demo", holdout=0.5, **FEW)
    with pytest.raises(ParameterError, match="needs the groups of all of them; give an audit"):
        testsgd.mitigate(model, PEOPLE, "demo", audit=half, **QUICK)
    with pytest.raises(ParameterError, match=r"theta: 0\.1 is given, but the saved audit"):
        testsgd.mitigate(model, PEOPLE, "demo", audit=audit, theta=0.1, **QUICK)


def test_a_model_that_treats_all_alike_has_nothing_to_counter() -> None:
    from sklearn.dummy import DummyClassifier

    alike = DummyClassifier(strategy="constant", constant="yes")
    alike.fit(FEATURES, PEOPLE["granted"])
    with pytest.raises(ParameterError, match="there is nothing to counter"):
        testsgd.mitigate(alike, PEOPLE, "demo", **QUICK)


@pytest.mark.parametrize("call", [testsgd.mitigate, testsgd.counter_samples, testsgd.compare])
def test_labels_in_the_place_of_a_description_are_refused(call: Any, model: Any) -> None:
    for labels in (PEOPLE["granted"], PEOPLE["granted"].to_numpy(), list(PEOPLE["granted"])):
        with pytest.raises(ParameterError, match="label"):
            call(model, FEATURES, labels)


def test_a_frontier_without_sensitive_features_shows_how_to_name_them(model: Any) -> None:
    with pytest.raises(ParameterError, match="sensitive_features=") as raised:
        testsgd.fair_frontier(model, FEATURES, PEOPLE["granted"])
    assert all(name in str(raised.value) for name in FEATURES)
