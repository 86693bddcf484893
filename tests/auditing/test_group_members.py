"""Who is in a group: the same people of a table as the audit counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest

import testsgd
from testsgd import AuditResult
from testsgd.data import as_pandas
from testsgd.errors import DataError, ParameterError

ROWS = 600


def people(seed: int = 0, **dtypes: Any) -> pd.DataFrame:
    """Return people of whom some values are missing."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": random.choice(["f", "m", None], ROWS, p=[0.5, 0.4, 0.1]),
            "code": random.choice([1, 2, 3], ROWS),
            "age": random.integers(18, 80, ROWS).astype(float),
            "score": np.round(random.random(ROWS), 1),
        }
    )
    frame.loc[random.random(ROWS) < 0.1, "age"] = np.nan
    return frame.astype(dtypes)


FEATURES: dict[str, Any] = {
    "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
    "code": {"type": "categorical", "values": ["1", "2", "3"], "sensitive": True},
    "age": {"type": "integer", "range": [0, 100], "edges": [0, 30, 50, 100], "sensitive": True},
    "score": {"type": "decimal", "range": [0, 1], "edges": [0, 0.3, 0.7, 1], "sensitive": True},
}
DESCRIPTION: dict[str, Any] = {
    "dataset": {"name": "people"},
    "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
    "features": FEATURES,
}


def grant(frame: pd.DataFrame) -> Any:
    frame = frame.assign(
        **{name: frame[name].to_numpy(float, na_value=np.nan) for name in ("age", "score")}
    )
    return np.where((frame["age"] > 40) ^ (frame["score"] > 0.3), "yes", "no")


def audited(frame: pd.DataFrame, **options: Any) -> AuditResult:
    return testsgd.audit(grant, frame, DESCRIPTION, min_rows=20, replicates=50, top=60, **options)


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audited(people())


@pytest.mark.parametrize(
    ("seed", "dtypes"),
    [
        (1, {"sex": "category", "code": "category", "age": "float32", "score": "float32"}),
        (2, {"sex": "string", "code": "Int64", "age": "Int64", "score": "Float64"}),
        (3, {"sex": object, "code": "float64"}),
        (4, {"code": str, "score": "float32"}),
    ],
)
def test_the_people_of_each_group_are_those_that_the_audit_counted(
    seed: int, dtypes: dict[str, Any]
) -> None:
    frame = people(seed, **dtypes)
    frame.index = pd.Index(np.arange(ROWS) % 7)
    result = audited(frame)
    findings: Any = result.findings
    kinds = set()
    for group in result.summary.groups:
        mask = group.mask(frame)
        rule_set = findings.rule_set(int(findings.ranking[group.rank - 1]))
        assert mask.dtype == bool
        assert (mask == rule_set.matches(findings.table)).all()
        assert (mask == result.mask(group.rank, frame)).all()
        assert mask.sum() == group.n_in
        kinds |= {"missing" in (rule.values or []) for rule in group.rules}
    assert kinds == {True, False}


def test_a_polars_table_has_the_same_people(result: AuditResult) -> None:
    frame = people()
    other = polars.DataFrame(
        {name: [None if pd.isna(cell) else cell for cell in frame[name]] for name in frame}
    )
    assert as_pandas(other) is not None
    for group in result.summary.groups:
        assert (group.mask(other) == group.mask(frame)).all()
        assert other.filter(group.mask(other)).height == group.n_in


def test_rare_values_together_are_known_to_the_result() -> None:
    random = np.random.default_rng(3)
    towns = [f"town {number}" for number in range(40)]
    shares = np.array([0.4, 0.3, *[0.3 / 38] * 38])
    frame = pd.DataFrame({"town": random.choice(towns, 2000, p=shares)})
    rare = ~frame["town"].isin(towns[:2]).to_numpy()
    decided = np.where(rare, "no", random.choice(["no", "yes"], 2000))
    result = testsgd.audit_predictions(decided, sensitive_features=frame)
    assert isinstance(result, AuditResult)
    for group in result.summary.groups:
        assert result.mask(group.rank, frame).sum() == group.n_in
    assert any((result.mask(group.rank, frame) == rare).all() for group in result.summary.groups)


def test_other_rows_can_be_asked_about(result: AuditResult) -> None:
    others = pd.DataFrame({"sex": ["f", "x", None], "code": [1, 9, 2], "age": [30.0, 29.9, None]})
    others["score"] = 0.5
    for group in result.summary.groups:
        alone = [group.mask(others.iloc[[row]]).item() for row in range(3)]
        assert group.mask(others).tolist() == alone
    assert group.mask(others.iloc[:0]).shape == (0,)


def test_what_cannot_be_looked_up_is_an_error(result: AuditResult) -> None:
    about = {rule.feature: group for group in result.summary.groups for rule in group.rules}
    with pytest.raises(DataError):
        about["sex"].mask(people().drop(columns="sex"))
    with pytest.raises(DataError):
        about["sex"].mask([1, 2, 3])
    numeric = next(
        group
        for group in result.summary.groups
        if any(rule.feature == "score" for rule in group.rules)
    )
    with pytest.raises(DataError):
        numeric.mask(people().assign(score="high"))
    wrong: tuple[Any, ...] = (0, -1, 10**9, "1", 1.5)
    for rank in wrong:
        with pytest.raises(ParameterError):
            result.mask(rank, people())


def test_the_table_of_groups_has_a_column_for_each_feature(result: AuditResult) -> None:
    frame = result.to_frame()
    groups = result.groups
    assert list(frame.columns[:6]) == ["rank", "text", *FEATURES]
    shared = [name for name in frame if name in groups and name not in FEATURES]
    assert {"n_in", "rate_in", "rate_out", "difference", "ci_low", "ci_high"} < set(shared)
    pd.testing.assert_frame_equal(frame[shared], groups[shared])
    for group in result.summary.groups:
        row = frame[frame["rank"] == group.rank].iloc[0]
        described = {rule.feature: rule for rule in group.rules}
        for feature in FEATURES:
            if feature not in described:
                assert row[feature] is None
            elif described[feature].values is None:
                assert row[feature] == described[feature].text
            else:
                assert row[feature] == tuple(described[feature].values)


def test_base_rates_are_those_of_the_file() -> None:
    frame = people()
    frame["granted"] = np.where(frame["code"] == 2, "yes", "no")
    result = audited(frame)
    table = result.to_frame().set_index("rank")
    for group in result.summary.groups:
        mask = group.mask(frame)
        inside = (frame["granted"][mask] == "yes").mean()
        assert table.loc[group.rank, "base_rate_in"] == pytest.approx(inside)
    read_back = AuditResult.from_json(result.to_json()).to_frame()
    assert list(read_back.columns) == list(result.to_frame().columns)
    assert read_back["base_rate_in"].notna().all()
    assert read_back["sex"].tolist() == table.loc[read_back["rank"], "sex"].tolist()


def test_a_feature_may_be_called_as_a_column_is() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"rank": random.choice(["a", "b"], 500)})
    decided = np.where(random.random(500) < 0.5, "yes", "no")
    result = testsgd.audit_predictions(decided, sensitive_features=frame)
    assert isinstance(result, AuditResult)
    table = result.to_frame()
    assert table["rank"].tolist() == list(range(1, len(table) + 1))
    assert set(table["rank (feature)"]) <= {("a",), ("b",)}


def test_rates_by_feature_are_counted(result: AuditResult) -> None:
    rates = result.by_feature()
    assert set(rates["feature"]) == set(FEATURES)
    frame = people()
    granted = grant(frame) == "yes"
    by_sex = rates[rates["feature"] == "sex"].set_index("value")
    for value in ("f", "m"):
        mask = (frame["sex"] == value).to_numpy()
        assert by_sex.loc[value, "n"] == mask.sum()
        assert by_sex.loc[value, "rate"] == pytest.approx(granted[mask].mean(), abs=1e-4)
        assert by_sex.loc[value, "ci_low"] < granted[mask].mean() < by_sex.loc[value, "ci_high"]
    assert rates["base_rate"].isna().all()
