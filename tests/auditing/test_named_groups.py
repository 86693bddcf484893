"""An audit of groups that the user names: their rates alone, with a guarantee of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import testsgd
from testsgd.auditing import AuditParameters, run_audit
from testsgd.auditing.named_groups import named_rule_sets
from testsgd.data import Table, check_table, specification_from_mapping
from testsgd.errors import ParameterError
from testsgd.expressions import parse
from testsgd.models import load_model
from testsgd.rules import groups_of_rule_sets, lay_out, named_axes

REGIONS = [f"R{number}" for number in range(20)]
SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "named"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "sex": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
            "region": {"type": "categorical", "values": REGIONS, "sensitive": True},
            "age": {"type": "integer", "range": [0, 99], "sensitive": True},
            "tenure": {"type": "decimal", "range": [0, 10], "sensitive": True},
            "income": {"type": "integer", "range": [0, 100]},
        },
    }
)


def people(rows: int, *, seed: int = 0, missing: float = 0.0) -> pd.DataFrame:
    """Make up rows; a share of each sensitive cell is missing."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": generator.choice(["female", "male"], rows),
            "region": generator.choice(REGIONS, rows),
            "age": generator.integers(0, 100, rows).astype(float),
            "tenure": generator.uniform(0, 10, rows).round(1),
            "income": generator.integers(1, 100, rows),
        }
    )
    for name in SPECIFICATION.sensitive:
        frame.loc[generator.random(rows) < missing, name] = np.nan
    return frame


def decide(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Grant by income, and to young women less often."""
    bar = (
        50
        + 20 * ((frame["sex"] == "female") & (frame["age"] < 37))
        - 15 * (frame["region"] == "R7")
    )
    return np.where(frame["income"] > bar, 0.9, 0.1)


def audited(frame: pd.DataFrame, *groups: str, **options: Any) -> testsgd.AuditResult:
    return testsgd.audit(decide, frame, SPECIFICATION, groups=groups, **options)


def sides(frame: pd.DataFrame, expression: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say who is inside and outside, rows with an unknown number in neither."""
    parsed = parse(expression)
    inside = parsed.mask(frame)
    outside = ~inside
    for name in {"age", "tenure"} & set(parsed.names):
        if "missing" not in expression:
            outside &= frame[name].notna().to_numpy()
    return inside, outside


def favourable_neighbours(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return the share of each row's two neighbours that are granted; income moves by one."""
    moved = [frame.assign(income=frame["income"] + step) for step in (-1, 1)]
    return np.mean([decide(part) > 0.5 for part in moved], axis=0)


GROUPS = (
    "sex = female and 18 <= age < 37",
    "region in {R3, R7, R11}",
    "age >= 37 and region = R7 and sex = male",
    "tenure < 2.5",
    "age <= 36",
    "age > 80 and 2.5 <= tenure < 7",
    "sex in {female, male} and age < 50",
)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_rates_of_rows_and_neighbours_are_those_counted_by_pandas(missing: float) -> None:
    frame = people(3000, missing=missing)
    result = audited(frame, *GROUPS, mode="exact", min_rows=1)
    own = decide(frame) > 0.5
    near = favourable_neighbours(frame)
    assert len(result.summary.groups) == len(GROUPS)
    wanted = {parse(group).mask(frame).sum(): sides(frame, group) for group in GROUPS}
    for group in result.summary.groups:
        inside, outside = wanted[group.n_in]
        assert (group.n_in, group.n_out) == (inside.sum(), outside.sum())
        assert group.rate_in == pytest.approx(own[inside].mean())
        assert group.rate_out == pytest.approx(own[outside].mean())
        assert group.other is not None
        assert group.other.rate_in == pytest.approx(near[inside].mean())
        assert group.other.rate_out == pytest.approx(near[outside].mean())
    assert result.verdict.exit_code == 0


def test_intervals_are_bonferronis_over_the_named_groups_and_plain_for_one() -> None:
    frame = people(3000)
    alone = audited(frame, GROUPS[0])
    several = audited(frame, *GROUPS)
    assert alone.summary.guarantee.groups == 1
    assert alone.summary.guarantee.critical_value == pytest.approx(stats.norm.ppf(0.975))
    assert several.summary.guarantee.kind == "simultaneous"
    assert several.summary.guarantee.method == "bonferroni"
    assert several.summary.guarantee.groups == len(GROUPS)
    assert several.summary.guarantee.critical_value == pytest.approx(
        stats.norm.ppf(1 - 0.05 / len(GROUPS) / 2)
    )
    [first] = alone.summary.groups
    [same] = [group for group in several.summary.groups if group.text == first.text]
    low, high = first.confidence_interval
    wide_low, wide_high = same.confidence_interval
    assert wide_low < low < first.difference < high < wide_high


@pytest.mark.parametrize("guarantee", ["simultaneous", "fdr"])
@pytest.mark.parametrize("groups", [["sex = f"], ["sex = f", "sex = m"]])
def test_a_gate_on_named_groups_goes_by_what_is_certain(groups: list[str], guarantee: str) -> None:
    frame = pd.DataFrame({"sex": ["f"] * 60 + ["m"] * 60})
    said = [1] * 30 + [0] * 30 + [1] * 37 + [0] * 23

    def code(**options: Any) -> int:
        found = testsgd.audit_predictions(
            said, sensitive_features=frame, groups=groups, guarantee=guarantee, **options
        )
        low, high = found.summary.groups[0].confidence_interval
        assert low < 0 < high
        return found.verdict.exit_code

    # The difference is 11.7 points, and may be chance.
    assert code(fail_above=0.1) == 3
    assert code(fail_below_ratio=0.85) == 3
    assert code(fail_above=0.15) == 0
    if guarantee == "simultaneous":
        assert code(fail_above=0.15, strict=True) == 3


@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_drawn_rates_are_the_exact_ones_but_for_chance(sampling: str) -> None:
    frame = people(3000)
    chosen = GROUPS[:3]
    near = favourable_neighbours(frame)
    for seed in range(4):
        table = check_table(frame, SPECIFICATION)
        parameters = AuditParameters(
            groups=chosen, mode="sampled", sampling=sampling, estimand="neighbourhood",
            max_queries=40_000, seed=seed,
        )  # fmt: skip
        found = run_audit(load_model(decide, SPECIFICATION), table, parameters)
        estimates = found.estimates
        assert estimates.decided.all()
        assert found.queries <= 40_000
        for place, group in enumerate(chosen):
            for side, rows in zip(("in", "out"), sides(frame, group), strict=True):
                rate = near[rows].mean()
                samples = getattr(estimates, f"samples_{side}")[place]
                least, most = stats.binom.interval(1 - 1e-7, samples, rate)
                assert samples > parameters.min_samples
                assert least <= getattr(estimates, f"favourable_{side}")[place] <= most


def test_nothing_is_searched_or_claimed_to_be() -> None:
    summary = audited(people(2000), *GROUPS[:2]).summary
    assert (summary.counts.candidates, summary.counts.groups) == (2, 2)
    assert summary.deeper is summary.finer is summary.within is None
    assert not summary.rules
    assert summary.stability_samples == 0
    said = " ".join([summary.verdict.headline, *summary.verdict.sentences])
    assert "no search" in summary.verdict.headline
    assert "were not searched." not in said
    assert "The search was" not in said


def test_a_group_that_does_not_differ_is_said_not_to() -> None:
    # Incomes are the same on both sides.
    half = people(1000).assign(age=60 + np.arange(1000) % 9)
    frame = pd.concat([half.assign(sex="female"), half.assign(sex="male")], ignore_index=True)
    result = audited(frame, "sex = male")
    assert "no statistically significant" in result.verdict.headline
    [group] = result.summary.groups
    assert group.difference == 0
    both = audited(frame, "sex = male", "sex = female")
    assert "significant" in both.verdict.headline


@pytest.mark.parametrize("group", ["age = 4", "age < 99"])
def test_groups_with_few_rows_on_a_side_are_not_judged(group: str) -> None:
    result = audited(people(1000), group)
    assert result.verdict.exit_code == 3
    assert result.verdict.status == "not_enough_evidence"
    [small] = result.summary.undecided
    assert small.n_in == parse(group).mask(people(1000)).sum()
    assert any(small.text in sentence for sentence in result.verdict.sentences)


@pytest.mark.parametrize("metric", ["selection_rate", "true_positive_rate"])
@pytest.mark.parametrize(
    ("group", "rows"),
    [
        ("age < 0", 0),
        ("age > 1000", 0),
        ("region = missing", 0),
        ("sex in {female, male}", 1000),
        ("age > -5", 1000),
    ],
)
def test_groups_of_nobody_or_everybody_are_refused_before_the_model_is_asked(
    group: str, rows: int, metric: Any
) -> None:
    def never(frame: pd.DataFrame) -> Any:
        raise AssertionError("asked")

    frame = people(1000).assign(granted=np.tile(["no", "yes"], 500))
    with pytest.raises(ParameterError) as caught:
        testsgd.audit(never, frame, SPECIFICATION, groups=["sex = male", group], metric=metric)
    message = str(caught.value)
    assert "\n" not in message
    assert group in message
    assert f"{rows:,} of the 1,000 rows" in message


def test_a_group_of_everybody_among_the_chosen_rows_is_refused() -> None:
    frame = people(1000)
    women = int((frame["sex"] == "female").sum())
    with pytest.raises(ParameterError, match=f"{women} of the {women} rows"):
        audited(frame, "sex = female", rows="sex = female")


def test_everybody_whose_number_is_known_is_refused() -> None:
    frame = people(1000, missing=0.1)
    known = int(frame["age"].notna().sum())
    with pytest.raises(ParameterError, match=f"{known} of the 1,000 rows"):
        audited(frame, "age > -5")


@pytest.mark.parametrize("group", ["age > 1000", "age > -5"])
def test_predictions_of_nobody_or_everybody_are_refused(group: str) -> None:
    frame = people(1000)
    granted = (decide(frame) > 0.5).astype(int)
    with pytest.raises(ParameterError, match="of the 1,000 rows"):
        testsgd.audit_predictions(granted, sensitive_features=frame[["age"]], groups=group)


def test_a_gate_concludes_nothing_while_a_named_group_is_not_judged() -> None:
    frame = people(2000)
    assert audited(frame, "sex = male", fail_above=0.9).verdict.exit_code == 0
    assert audited(frame, "sex = male", "age = 4", fail_above=0.9).verdict.exit_code == 3
    young = "sex = female and age < 37"
    assert audited(frame, young, "age = 4", fail_above=0.05).verdict.exit_code == 1


def test_the_same_group_counts_once() -> None:
    result = audited(people(2000), "age < 30 and sex = male", "sex = male and age <= 29")
    assert result.summary.guarantee.groups == len(result.summary.groups) == 1


@pytest.mark.parametrize(
    ("group", "part"),
    [
        ("gender = male", "sensitive features are"),
        ("ages < 3", "'age'"),
        ("sex = femal", "female is near"),
        ("income < 50", "not sensitive"),
        ("sex = male or age < 30", "'or'"),
        ("not sex = male", "'not'"),
        ("sex != male", "'!='"),
        ("sex < 3", "not ordered"),
        ("age < 20 and age >= 30", "no number"),
        ("age in {3, 9}", "no interval"),
        ("age in {3, 4} and age < 9", "one interval"),
        ("tenure <= 3", "tenure < 3"),
        ("tenure = 3", "no interval"),
        ("sex = male and sex = female", "no value"),
        ("age <", "number"),
        ("age < 1e999", "finite"),
    ],
)
def test_mistakes_are_refused_before_the_model_is_asked(group: str, part: str) -> None:
    def never(frame: pd.DataFrame) -> Any:
        raise AssertionError("asked")

    with pytest.raises(ParameterError) as caught:
        testsgd.audit(never, people(300), SPECIFICATION, groups=[group])
    assert part in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"holdout": 0.5}, {"within": "income"}, {"bins": 4}, {"max_features": 2}, {"stability": 9}],
)
def test_what_belongs_to_a_search_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as caught:
        audited(people(300), "sex = male", **options)
    assert next(iter(options)) in str(caught.value)


ages = st.integers(-5, 105)
comparisons = st.one_of(
    st.builds("age {} {}".format, st.sampled_from(["<", "<=", ">", ">="]), ages),
    st.tuples(ages, ages)
    .filter(lambda pair: pair[0] < pair[1])
    .map(lambda pair: f"{pair[0]} <= age < {pair[1]}"),
    st.integers(0, 99).map("age = {}".format),
    st.just("age = missing"),
)
others = st.tuples(
    st.sampled_from(["sex = female", "sex in {male, missing}", ""]),
    st.lists(st.sampled_from(REGIONS), min_size=1, max_size=6).map(
        lambda names: f"region in {{{', '.join(names)}}}"
    )
    | st.just(""),
)


@given(comparisons | st.just(""), others)
@settings(max_examples=150, deadline=None)
def test_a_rule_set_is_its_expression(age: str, rest: tuple[str, str]) -> None:
    text = " and ".join(part for part in (age, *rest) if part)
    if not text:
        return
    frame = people(200, missing=0.1)
    missing = {name: int(frame[name].isna().sum()) for name in frame}
    table = Table(SPECIFICATION, frame, None, missing)
    [rule_set] = rule_sets = named_rule_sets([text], table)
    wanted = parse(text).mask(frame)
    assert np.array_equal(rule_set.matches(table), wanted)
    # The cells of the axes tell the same rows apart.
    axes = named_axes(table, rule_sets)
    groups = groups_of_rule_sets(axes, rule_sets)
    assert groups.rule_set(0) == rule_set
    inside = np.ones(len(frame), dtype=bool)
    for _, subset, rules in groups.by_subset(np.array([0])):
        for axis, rule in zip(subset, rules, strict=True):
            inside &= axes[axis].matrix[rule[0]].astype(bool)[axes[axis].cells(table)]
    assert np.array_equal(inside, wanted)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_sums_by_contraction_are_those_of_members(missing: float) -> None:
    frame = people(500, missing=missing)
    table = check_table(frame, SPECIFICATION)
    rule_sets = named_rule_sets(GROUPS, table)
    axes = named_axes(table, rule_sets)
    contingency = lay_out(table, axes)
    groups = groups_of_rule_sets(axes, rule_sets)
    rows = contingency.tally()[None]
    wanted = [rule_set.matches(table).sum() for rule_set in rule_sets]
    assert groups.over(contingency, rows).sums[0].tolist() == wanted
    assert groups.sums_of(contingency, rows.astype(float))[0].tolist() == wanted
    weights = np.arange(len(groups), dtype=float)[None]
    cells = groups.cell_sums(contingency, weights)
    assert (cells * rows).sum() == pytest.approx((weights * wanted).sum())


def test_predictions_and_models_without_a_description() -> None:
    frame = people(2000)
    granted = (decide(frame) > 0.5).astype(int)
    columns = frame[["sex", "age"]]
    result = testsgd.audit_predictions(granted, sensitive_features=columns, groups="age < 37")
    [group] = result.summary.groups
    assert group.rate_in == pytest.approx(granted[frame["age"] < 37].mean())
    asked = testsgd.audit(
        lambda rows: rows["income"] > 40,
        frame[["sex", "income"]],
        sensitive_features=["sex"],
        groups=["sex = male"],
    )
    assert [item.text for item in asked.summary.groups] == ["sex = male"]
