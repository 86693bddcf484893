"""What an audit found is watched by monitors that put the same people into the same groups."""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing import AuditResult
from testsgd.cli.main import _run
from testsgd.data import load_specification, load_table
from testsgd.errors import EventError, ParameterError, ResultError
from testsgd.expressions import parse
from testsgd.fairness.audited_groups import conditions_of
from testsgd.monitoring import MonitorSpecification, monitor_of_groups, monitors_from_audit
from testsgd.report.summaries import RuleSummary


@pytest.fixture(scope="module")
def audited() -> AuditResult:
    return testsgd.audit(None, None, "demo", estimand="observed")


def test_a_group_has_the_people_that_the_audit_counted(audited: AuditResult) -> None:
    table = load_table(load_specification("demo"), seed=0)
    events = table.frame.assign(decision=["yes", "no"] * (len(table) // 2))
    distinct = [group for group in audited.summary.groups if group.distinct]
    texts = monitors_from_audit(audited.to_json(), groups=2)
    assert len(texts) == min(2, len(distinct))
    for text, group in zip(texts, distinct, strict=False):
        result = testsgd.monitor(MonitorSpecification.parse(text), events)
        (comparison,) = result.summary.comparisons
        counted = [one.denominator for one in comparison.groups]
        assert counted == [group.n_in, group.n_out]


def test_a_simulation_has_the_people_and_the_rates_that_the_audit_counted(
    audited: AuditResult,
) -> None:
    first = next(group for group in audited.summary.groups if group.distinct)
    text = monitors_from_audit(audited.to_json(), groups=1)[0]
    summary = testsgd.simulate_monitor(MonitorSpecification.parse(text), runs=1, days=1).summary
    of_all = first.n_in / (first.n_in + first.n_out)
    by_rate = sorted([(first.rate_in, of_all), (first.rate_out, 1 - of_all)])
    assert summary.shares == pytest.approx([share for _, share in by_rate], abs=1e-6)
    assert summary.rate == pytest.approx((first.rate_in + first.rate_out) / 2, abs=1e-6)
    found = abs(first.rate_in - first.rate_out)
    assert any(one.bias == pytest.approx(found, abs=5e-4) for one in summary.alarms)
    share = f"{100 * of_all:.1f}".removesuffix(".0")
    assert f"{share}%" in summary.verdict.headline


@pytest.mark.parametrize(
    ("metric", "fairness", "label"),
    [
        ("selection_rate", "demographic_parity", None),
        ("true_positive_rate", "equal_opportunity", "yes"),
        ("false_positive_rate", "predictive_equality", "no"),
    ],
)
def test_the_property_is_that_of_the_metric(metric: str, fairness: str, label: str | None) -> None:
    people = testsgd.generate_demo(seed=1)
    people["decision"] = ["yes" if income > 50 else "no" for income in people["income"]]
    people["label"] = people["granted"]
    audited = testsgd.audit_predictions(
        people["decision"],
        people["label"],
        sensitive_features=people[["gender", "age"]],
        metrics=["accuracy", metric],
        replicates=99,
    )
    specification = MonitorSpecification.parse(monitors_from_audit(audited.to_json())[0])
    assert [one.property for one in specification.properties] == [fairness]
    fields = ["decision", "gender", "age", *(() if label is None else ["label"])]
    result = testsgd.monitor(specification, people[fields])
    (comparison,) = result.summary.comparisons
    inside = parse(tomllib.loads(monitors_from_audit(audited.to_json())[0])["groups"][0]["when"])
    counted = people if label is None else people[people["label"] == label]
    favourable = counted["decision"] == "yes"
    mask = inside.mask(counted)
    for group, members in zip(comparison.groups, (mask, ~mask), strict=True):
        assert group.denominator == members.sum()
        assert group.numerator == favourable[members].sum()


def test_a_metric_that_no_monitor_watches_is_refused() -> None:
    people = testsgd.generate_demo(seed=1)
    audited = testsgd.audit_predictions(
        people["income"] > 50,
        people["granted"] == "yes",
        sensitive_features=people[["gender"]],
        metrics=["accuracy"],
        replicates=99,
    )
    with pytest.raises(ParameterError) as error:
        monitors_from_audit(audited.to_json())
    assert "accuracy" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("rows", ["age >= 40", "gender = male or age < 30"])
def test_rows_outside_of_an_audit_are_in_no_group(rows: str) -> None:
    table = load_table(load_specification("demo"), seed=0)
    chosen = testsgd.audit(None, None, "demo", estimand="observed", rows=rows)
    first = next(group for group in chosen.summary.groups if group.distinct)
    text = monitors_from_audit(chosen.to_json())[0]
    events = table.frame.assign(decision=["yes", "no"] * (len(table) // 2))
    result = testsgd.monitor(MonitorSpecification.parse(text), events)
    (comparison,) = result.summary.comparisons
    assert [one.denominator for one in comparison.groups] == [first.n_in, first.n_out]
    assert first.n_in + first.n_out == int(parse(rows).mask(table.frame).sum()) < len(table)
    assert any(rows in line for line in text.splitlines() if line.startswith("#"))


def test_rows_of_an_audit_of_metrics_are_kept() -> None:
    people = testsgd.generate_demo(seed=1)
    audited = testsgd.audit_predictions(
        people["income"] > 50,
        sensitive_features=people[["gender", "age"]],
        metrics="selection_rate",
        rows="age >= 40",
    )
    text = monitors_from_audit(audited.to_json())[0]
    result = testsgd.monitor(MonitorSpecification.parse(text), people.assign(decision=1))
    (comparison,) = result.summary.comparisons
    assert sum(one.denominator for one in comparison.groups) == int((people["age"] >= 40).sum())


@pytest.fixture(scope="module")
def named() -> AuditResult:
    """Return an audit of groups, named otherwise than reports do, one of which has too few rows."""
    return testsgd.audit(
        None,
        None,
        "demo",
        estimand="observed",
        groups=[
            "race in {Asian, Black} and gender = female",
            "age >= 76 and race = Asian and gender = female",
            "age <= 29",
            "age <= 28",
            "age in {40, 41}",
            "gender = female",
            "age < 29 and gender = female",
        ],
    )


NAMED = [
    "race in {Asian, Black} and gender = female",
    "age < 30",
    "age < 29",
    "40 <= age < 42",
    "gender = female",
    "gender = female and age < 29",
]


def _watched(texts: tuple[str, ...]) -> list[list[bool]]:
    """Return who of the demo is in the first group of each specification."""
    frame = load_table(load_specification("demo"), seed=0).frame
    groups = [tomllib.loads(text)["groups"][0]["when"] for text in texts]
    return [parse(when).mask(frame).tolist() for when in groups]


def test_named_groups_are_watched_in_the_order_given(named: AuditResult) -> None:
    frame = load_table(load_specification("demo"), seed=0).frame
    wanted = [parse(text).mask(frame).tolist() for text in NAMED]
    assert not any(group.distinct for group in named.summary.groups)
    assert _watched(monitors_from_audit(named.to_json())) == wanted
    assert _watched(monitors_from_audit(named.to_json(), groups=2)) == wanted[:2]


def test_together_they_keep_the_confidence(audited: AuditResult) -> None:
    texts = monitors_from_audit(audited.to_json(), groups=2)
    errors = [1 - MonitorSpecification.parse(text).evidence.confidence for text in texts]
    assert 0.0499 < sum(errors) < 0.05 + 1e-9


@pytest.mark.parametrize(
    ("rules", "inside", "outside", "neither"),
    [
        (
            [RuleSummary(feature="in come", low=1.1, high=None, text="")],
            [{"in come": 1.1}, {"in come": 2}],
            [{"in come": 1}],
            [{"in come": None}, {}],
        ),
        (
            [RuleSummary(feature="job", values=["<=50K", "a, b", "not"], text="")],
            [{"job": "<=50K"}, {"job": "a, b"}, {"job": "not"}],
            [{"job": "a"}, {"job": None}],
            [],
        ),
        (
            [
                RuleSummary(feature="age", values=["missing"], text=""),
                RuleSummary(feature="code", values=["1", "True"], text=""),
            ],
            [{"age": None, "code": 1}, {"age": None, "code": True}],
            [{"age": 3, "code": 1}, {"age": None, "code": 2}],
            [],
        ),
    ],
)
def test_rules_of_all_kinds_have_a_complement(
    rules: list[RuleSummary],
    inside: list[dict[str, Any]],
    outside: list[dict[str, Any]],
    neither: list[dict[str, Any]],
) -> None:
    first, second = map(parse, conditions_of(rules))
    for events, wanted in ((inside, (1, 0)), (outside, (0, 1)), (neither, (0, 0))):
        for event in events:
            assert (first.holds(event), second.holds(event)) == wanted


def test_what_is_no_audit_of_rows_is_refused(audited: AuditResult, tmp_path: Path) -> None:
    watched = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    monitored = testsgd.monitor(watched, [{"group": "a", "decision": 1}])
    with pytest.raises(ParameterError):
        monitors_from_audit(monitored.to_json())
    with pytest.raises(ParameterError):
        monitors_from_audit(audited.to_json(), groups=0)
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(ResultError):
        monitors_from_audit(tmp_path / "result.json")


def test_the_command_says_how_many_there_are(
    audited: AuditResult,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "result.json").write_text(audited.to_json())
    number = len([group for group in audited.summary.groups if group.distinct])

    def printed(groups: int, out: str) -> list[str]:
        words = ["monitor", "init", "--from", "result.json", "--groups", str(groups), "--out", out]
        assert _run(words) == 0
        return capsys.readouterr().out.splitlines()

    fewer = printed(99, "fewer")
    assert len(fewer) == len(list(Path("fewer").iterdir())) == number
    assert {"99", str(number)} <= set(re.findall(r"\d+", fewer[-1].split(".toml")[1]))
    enough = printed(number, "enough")
    assert enough[-1].endswith(".toml")


GRADES = pd.DataFrame({"sex": ["f", "m"] * 300, "grade": list("abcacb") * 100})
# A description of them, for audits that need one.
DESCRIPTION = {
    "dataset": {"name": "grades"},
    "label": {"column": "grade", "favourable": ["a", "b"], "values": ["a", "b", "c"]},
    "features": {"sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True}},
}


def _audit_of_a_model() -> Any:
    def model(rows: pd.DataFrame) -> Any:
        return GRADES.loc[rows.index, "grade"].to_numpy()

    return testsgd.audit_model_by_metrics(
        model, GRADES[["sex"]], GRADES["grade"], sensitive_features=["sex"], favourable=["b", "a"]
    )


SCORES = (GRADES["grade"] != "c") * 0.5 + 0.25
AUDITS_OF_GRADES = {
    "predictions": lambda: testsgd.audit_predictions(
        GRADES["grade"], sensitive_features=GRADES[["sex"]], favourable="a,b"
    ),
    "metrics": lambda: testsgd.audit_metrics(
        GRADES["grade"], sensitive_features=GRADES[["sex"]], favourable=["a", "b"]
    ),
    "metrics of scores": lambda: testsgd.audit_metrics(
        SCORES,
        GRADES["grade"],
        sensitive_features=GRADES[["sex"]],
        favourable=["a", "b"],
        metrics="true_positive_rate",
    ),
    "a model's metrics": _audit_of_a_model,
    "a description": lambda: testsgd.audit(
        lambda rows: np.where(rows["sex"] == "f", "a", "c"),
        GRADES,
        DESCRIPTION,
        estimand="observed",
    ),
}


AUDITS_OF_CLASSES = {
    name: audit for name, audit in AUDITS_OF_GRADES.items() if name != "metrics of scores"
}


@pytest.mark.parametrize("audit", AUDITS_OF_GRADES.values(), ids=AUDITS_OF_GRADES)
def test_each_of_several_favourable_labels_is_a_favourable_decision(audit: Any) -> None:
    result = audit()
    assert sorted(result.summary.data.label.together) == ["a", "b"]
    (text,) = monitors_from_audit(result.to_json(), groups=1)
    of_scores = isinstance(tomllib.loads(text)["events"]["decision"], dict)
    events = GRADES.assign(decision=SCORES if of_scores else GRADES["grade"])
    if "label" in tomllib.loads(text)["events"]:
        events["label"] = "a"
    monitored = testsgd.monitor(MonitorSpecification.parse(text), events)
    (comparison,) = monitored.summary.comparisons
    counted = sorted((one.numerator, one.denominator) for one in comparison.groups)
    favoured = (GRADES["grade"] != "c").groupby(GRADES["sex"]).sum()
    assert counted == sorted((count, 300) for count in favoured)


def test_a_label_that_is_called_missing_is_no_missing_decision() -> None:
    grades = GRADES.replace({"grade": {"a": "missing"}})
    audit = testsgd.audit_predictions(
        grades["grade"], sensitive_features=grades[["sex"]], favourable=["missing", "b"]
    )
    (text,) = monitors_from_audit(audit.to_json(), groups=1)
    events = grades.rename(columns={"grade": "decision"})
    (comparison,) = testsgd.monitor(MonitorSpecification.parse(text), events).summary.comparisons
    assert sum(one.denominator for one in comparison.groups) == len(grades)
    favoured = grades["grade"].isin(["missing", "b"]).sum()
    assert sum(one.numerator for one in comparison.groups) == favoured


@pytest.mark.parametrize("audit", AUDITS_OF_CLASSES.values(), ids=AUDITS_OF_CLASSES)
def test_a_value_that_the_audit_does_not_know_is_no_unfavourable_decision(audit: Any) -> None:
    (text,) = monitors_from_audit(audit().to_json(), groups=1)
    for unknown in ("A", "granted", 1):
        events = GRADES.assign(decision=unknown, label="a")
        with contextlib.suppress(EventError):
            assert testsgd.monitor(MonitorSpecification.parse(text), events).exit_code == 3


@pytest.mark.parametrize("values", [["yes", "no"], [1, 0], [True, False], ["2", "1.5"]])
def test_values_are_known_as_text_as_number_and_as_boolean(
    values: list[Any], tmp_path: Path
) -> None:
    said = pd.Series([*values, *values, values[0], values[1]] * 100)
    sexes = pd.DataFrame({"sex": ["f", "m", "f"] * 200})
    audit = testsgd.audit_predictions(said, sensitive_features=sexes, favourable=values[0])
    (text,) = monitors_from_audit(audit.to_json(), groups=1)
    specification = MonitorSpecification.parse(text)
    events = sexes.assign(decision=said)
    events.to_csv(tmp_path / "events.csv", index=False)
    counted = []
    for source in (events, events.astype(str), tmp_path / "events.csv"):
        (comparison,) = testsgd.monitor(specification, source).summary.comparisons
        counted.append(sum(one.numerator for one in comparison.groups))
    assert counted == [300, 300, 300]


@pytest.mark.parametrize("metric", ["true_positive_rate", "false_positive_rate"])
def test_a_simulation_of_labelled_people_has_the_shares_of_all(metric: str) -> None:
    people = testsgd.generate_demo(seed=1)
    # Of the women far fewer have the true label yes.
    label = np.where((people["gender"] == "female") & (people["age"] > 25), "no", people["granted"])
    decided = np.where(np.arange(len(people)) % 3 == 0, "yes", people["granted"])
    decided = np.where(np.arange(len(people)) % 5 == 0, "no", decided)
    audited = testsgd.audit_predictions(
        decided,
        label,
        sensitive_features=people[["gender"]],
        metrics=[metric],
        favourable="yes",
    )
    (text,) = monitors_from_audit(audited.to_json())
    simulation = tomllib.loads(text)["simulation"]
    first = audited.summary.metrics[0].groups[0]
    assert first.counted < first.rows == (people["gender"] == first.rules[0].values[0]).sum()
    share = first.rows / len(people)
    assert simulation["shares"] == pytest.approx([share, 1 - share], abs=1e-6)


def test_scores_are_cut_where_the_audit_cut_them_and_ratios_stay_ratios() -> None:
    source = np.random.default_rng(6)
    people = pd.DataFrame({"sex": source.choice(["f", "m"], 2000)})
    scores = np.clip(source.normal(0.5, 0.2, 2000) - 0.1 * (people["sex"] == "f"), 0, 1).round(3)
    audit = testsgd.audit_metrics(
        scores, sensitive_features=people, threshold=0.45, rule="four-fifths"
    )
    (text,) = monitors_from_audit(audit.to_json(), groups=1)
    events = people.assign(decision=scores)
    result = testsgd.monitor(MonitorSpecification.parse(text), events)
    (comparison,) = result.summary.comparisons
    assert comparison.property == "disparate_impact"
    rates = sorted(group.numerator / group.denominator for group in comparison.groups)
    favourable = scores > 0.45
    counted = sorted(favourable[people["sex"] == sex].mean() for sex in ("f", "m"))
    assert rates == pytest.approx(counted)
    assert tomllib.loads(text)["properties"][0]["bound"] == pytest.approx(0.2)
    # A label in place of the score is no number.
    with pytest.raises(EventError):
        testsgd.monitor(MonitorSpecification.parse(text), people.assign(decision="yes"))


WITHOUT_GROUPS = '[[properties]]\nproperty = "demographic_parity"\nbound = 0.1\n'
WITH_GROUPS = f"""\
name = "own"

[events]
decision = "granted"
favourable = ["yes"]
unfavourable = ["no"]
group = "office"

[groups]
names = ["north", "south"]
unknown = "refuse"

{WITHOUT_GROUPS}"""


@pytest.fixture
def with_result(audited: AuditResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to work in with a result, a specification with groups, one without, rows."""
    monkeypatch.chdir(tmp_path)
    Path("result.json").write_text(audited.to_json())
    Path("with.toml").write_text(WITH_GROUPS)
    Path("without.toml").write_text(WITHOUT_GROUPS)
    frame = load_table(load_specification("demo"), seed=0).frame
    said = ["yes", "no"] * (len(frame) // 2)
    frame.assign(granted=said, decision=[int(one == "yes") for one in said]).to_csv(
        "events.csv", index=False
    )
    return tmp_path


@pytest.mark.parametrize("name", ["with.toml", "without.toml"])
def test_the_groups_of_an_audit_stand_in_place_of_the_specified(
    name: str, audited: AuditResult, with_result: Path
) -> None:
    first = next(group for group in audited.summary.groups if group.distinct)
    words = ["monitor", "run", name, "--events", "events.csv", "--groups", "result.json"]
    assert _run([*words, "--out", "watched", "--quiet"]) in (0, 1, 3)
    summary = json.loads(Path("watched/result.json").read_text())
    (comparison,) = summary["comparisons"]
    counted = [one["denominator"] for one in comparison["groups"]]
    assert counted == [first.n_in, first.n_out]
    written = MonitorSpecification.parse(monitors_from_audit("result.json", groups=1)[0])
    for source in (name, MonitorSpecification.read(name), tomllib.loads(Path(name).read_text())):
        watched = monitor_of_groups(source, "result.json")
        assert watched.groups.by == written.groups.by
        assert watched.events.favourable == MonitorSpecification.read(name).events.favourable


def test_people_in_neither_group_are_treated_as_specified(with_result: Path) -> None:
    assert monitor_of_groups("with.toml", "result.json").groups.unknown == "refuse"
    assert monitor_of_groups("without.toml", "result.json").groups.unknown == "pass"


@pytest.mark.parametrize(
    ("source", "added"),
    [
        ("absent.json", ""),
        ("with.toml", ""),
        ("watched.json", ""),
        ("empty.json", ""),
        ("result.json", "[estimate.groups.north]\nprior = 0.5\n"),
        ("result.json", "[[properties]]\nproperty = 'none such'\nbound = 0.1\n"),
    ],
)
def test_groups_that_contradict_are_one_line(
    source: str, added: str, with_result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(Path("result.json").read_text())
    Path("empty.json").write_text(json.dumps({**document, "groups": []}))
    watched = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    monitored = testsgd.monitor(watched, [{"group": "a", "decision": 1}])
    Path("watched.json").write_text(monitored.to_json())
    Path("with.toml").write_text(WITH_GROUPS + added)
    words = ["monitor", "run", "with.toml", "--events", "events.csv", "--groups", source]
    assert _run(words) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_fields_of_groups_that_no_event_has_are_one_line(
    with_result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("events.jsonl").write_text('{"office": "north", "decision": 1}\n' * 3)
    Path("few.csv").write_text("office,decision\nnorth,1\n")
    for events in ("events.jsonl", "few.csv"):
        words = ["monitor", "run", "without.toml", "--events", events, "--groups", "result.json"]
        assert _run(words) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("left_out", [["gender"], ["gender", "age"]])
def test_a_table_with_ids_that_lacks_a_field_of_the_groups_is_one_line(
    left_out: list[str], with_result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(Path("result.json").read_text())
    rules = [
        {"feature": "gender", "values": ["female"], "low": None, "high": None, "text": "female"},
        {"feature": "age", "values": None, "low": None, "high": 30.0, "text": "age < 30"},
    ]
    group = {**document["groups"][0], "rules": rules}
    Path("two.json").write_text(json.dumps({**document, "groups": [group]}))
    events = pd.read_csv("events.csv")
    events.insert(0, "id", range(len(events)))
    events.drop(columns=left_out).to_csv("renamed.csv", index=False)
    words = ["monitor", "run", "without.toml", "--events", "renamed.csv", "--groups", "two.json"]
    assert _run(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "'gender'" in line


CHANGED_RULES: dict[str, list[dict[str, Any]]] = {
    "contradicting": [
        {"feature": "gender", "values": ["female"], "text": "a"},
        {"feature": "gender", "values": ["male"], "text": "b"},
    ],
    "none": [],
    "no value": [{"feature": "gender", "values": [], "text": "a"}],
}


@pytest.mark.parametrize("changed", CHANGED_RULES)
@pytest.mark.parametrize("command", ["run", "init"])
def test_a_result_with_wrong_groups_is_named_itself(
    changed: str, command: str, with_result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(Path("result.json").read_text())
    for group in document["groups"]:
        group["rules"] = [{"low": None, "high": None, **one} for one in CHANGED_RULES[changed]]
    Path("changed.json").write_text(json.dumps(document))
    words = {
        "run": ["run", "with.toml", "--events", "events.csv", "--groups", "changed.json"],
        "init": ["init", "--from", "changed.json"],
    }
    assert _run(["monitor", *words[command]]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "changed.json" in line
    assert "with.toml" not in line


def test_the_rows_of_the_audit_are_said_with_its_groups(
    with_result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "age >= 40"
    chosen = testsgd.audit(None, None, "demo", estimand="observed", rows=rows)
    Path("chosen.json").write_text(chosen.to_json())
    watched = monitor_of_groups("without.toml", "chosen.json")
    assert all(rows in group.when for group in watched.groups.by or ())
    assert rows in (watched.groups.names or ())[1]
    words = ["monitor", "run", "without.toml", "--events", "events.csv", "--groups", "chosen.json"]
    assert _run(words) in (0, 1, 3)
    assert any(rows in line for line in capsys.readouterr().err.splitlines()[:1])
