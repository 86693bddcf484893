"""One call is an audit: every way to say which data, which description, which parameters."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import testsgd
from testsgd.data import bundled_folder, generate_demo, load_specification
from testsgd.errors import DataError, ModelError, ParameterError, SpecificationError

PEOPLE = generate_demo(rows=1200, seed=3)

# Few bootstrap samples, behind a guarantee and stability as by default.
QUICK: dict[str, Any] = {"replicates": 99, "stability": 5}
MAPPING: dict[str, Any] = {
    "dataset": {"name": "people"},
    "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
        "income": {"type": "integer", "range": [0, 300]},
    },
}


def rich(frame: pd.DataFrame) -> list[str]:
    return ["yes" if income > 40 else "no" for income in frame["income"]]


def test_a_description_may_be_a_name_a_path_an_object_or_a_mapping(tmp_path: Path) -> None:
    copied = tmp_path / "mine.toml"
    shutil.copy(bundled_folder("datasets") / "demo.toml", copied)
    specification = load_specification("demo")
    mapping = specification.model_dump(exclude_none=True)
    results = [
        testsgd.audit("demo", PEOPLE, given, **QUICK)
        for given in ("demo", copied, str(copied), specification, mapping)
    ]
    for result in results:
        assert result.summary.groups == results[0].summary.groups
        assert result.summary.data.title == "Loan applications (generated)"


def test_data_may_be_a_frame_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    from_frame = testsgd.audit(rich, PEOPLE, MAPPING, **QUICK)
    for data in (path, str(path)):
        from_file = testsgd.audit(rich, data, MAPPING, **QUICK)
        assert from_file.summary.groups == from_frame.summary.groups
        assert from_file.summary.data.source == str(path)
        assert from_file.summary.data.fingerprint == from_frame.summary.data.fingerprint


def test_without_data_the_data_sets_own_rows_are_audited() -> None:
    own = testsgd.audit(None, None, "demo", seed=7, **QUICK)
    given = testsgd.audit(None, generate_demo(seed=7), "demo", seed=7, **QUICK)
    assert own.summary.groups == given.summary.groups
    assert own.summary.data.source == "generated, seed 7"


def test_a_description_without_files_needs_data() -> None:
    with pytest.raises(ParameterError, match="names no files"):
        testsgd.audit(rich, None, MAPPING)


def test_the_other_label_turns_every_difference_round() -> None:
    yes = testsgd.audit(None, PEOPLE, "demo", **QUICK)
    no = testsgd.audit(None, PEOPLE, "demo", favourable="no", **QUICK)
    assert no.summary.data.label.favourable == "no"
    assert no.summary.overall_rate == pytest.approx(1 - yes.summary.overall_rate)
    turned = no.groups.set_index("text")["difference"]
    for text, difference in yes.groups.set_index("text")["difference"].items():
        assert turned[text] == pytest.approx(-difference)


def test_a_named_label_lets_a_model_have_more_than_two() -> None:
    def three(frame: pd.DataFrame) -> list[str]:
        return ["rich" if i > 60 else "middling" if i > 30 else "poor" for i in frame["income"]]

    unlabelled = PEOPLE.drop(columns="granted")
    # None of them is the description's favourable label.
    with pytest.raises(ModelError, match="'middling'"):
        testsgd.audit(three, unlabelled, MAPPING)
    result = testsgd.audit(three, unlabelled, MAPPING, favourable="rich")
    income = PEOPLE["income"]
    assert result.summary.overall_rate == pytest.approx((income > 60).mean())
    near = testsgd.audit(three, unlabelled, MAPPING, favourable="rich", estimand="neighbourhood")
    # Each income has two neighbours, so the rate is a mean over both.
    expected = ((income - 1 > 60).mean() + (income + 1 > 60).mean()) / 2
    assert near.summary.overall_rate == pytest.approx(expected)


def test_the_threshold_is_applied_to_scores() -> None:
    people = PEOPLE.assign(income=PEOPLE["income"].clip(10, 290))

    def score(frame: pd.DataFrame) -> pd.Series:
        return frame["income"] / 300

    result = testsgd.audit(score, people, MAPPING, threshold=0.2)
    assert result.summary.overall_rate == pytest.approx((people["income"] > 60).mean())
    near = testsgd.audit(score, people, MAPPING, threshold=0.2, estimand="neighbourhood")
    expected = ((people["income"] - 1 > 60).mean() + (people["income"] + 1 > 60).mean()) / 2
    assert near.summary.overall_rate == pytest.approx(expected)
    assert result.summary.model.threshold == 0.2
    network = testsgd.audit(None, PEOPLE, "demo", threshold=0.9, **QUICK)
    assert network.summary.model.threshold == 0.9
    usual = testsgd.audit(None, PEOPLE, "demo", **QUICK)
    assert network.summary.overall_rate < usual.summary.overall_rate


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    testsgd.audit(None, PEOPLE, "demo", **QUICK, progress=lambda *state: told.append(state))
    assert told
    assert all(0 <= done <= total for _, done, total in told)
    last = {phase: (done, total) for phase, done, total in told}
    assert all(done == total for done, total in last.values())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tetha": 0.1}, ParameterError, "no parameter 'tetha'.*theta"),
        ({"theta": 2}, ParameterError, "theta: 2"),
        ({"threshold": 3}, ParameterError, "threshold: 3"),
        ({"spec": {}}, SpecificationError, "missing"),
        ({"spec": "no such set"}, ParameterError, "no data set 'no such set'"),
        ({"spec": "missing.toml"}, SpecificationError, "no such file"),
        ({"data": "missing.csv"}, DataError, "no such file"),
        ({"data": [1, 2, 3]}, DataError, "a list, not a data frame"),
        ({"data": PEOPLE.drop(columns="income")}, DataError, "'income' is missing"),
        ({"data": PEOPLE.iloc[:0]}, DataError, "no rows"),
        ({"model": 3}, ModelError, "a int is no model"),
        ({"favourable": "perhaps"}, DataError, "'perhaps' does not occur"),
    ],
)
def test_what_is_wrong_is_named(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    arguments = {"model": rich, "data": PEOPLE, "spec": MAPPING} | options
    with pytest.raises(error, match=message):
        testsgd.audit(**arguments)
