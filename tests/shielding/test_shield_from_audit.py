"""What an audit found is guaranteed by shields that put the same people into the same groups."""

from __future__ import annotations

import json
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing import AuditResult
from testsgd.cli.main import _run
from testsgd.data import load_specification, load_table
from testsgd.errors import ParameterError, ResultError, SpecificationError
from testsgd.shielding import ShieldSpecification, shield_of_groups, shields_from_audit

SENSITIVE = ["gender", "race", "age"]
# Of ten people, of two groups in turn.
RECOMMENDED = [1, 0, 0, 0, 1, 0, 1, 0, 1, 1]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Return people of whom some have no age, with a decision and a true label."""
    frame = testsgd.generate_demo(seed=1)
    frame["age"] = frame["age"].astype("Float64").mask(np.arange(len(frame)) % 17 == 0)
    frame["decided"] = np.where(frame["income"] > 50, "yes", "no")
    return frame


def audit(people: pd.DataFrame, **options: Any) -> AuditResult:
    return testsgd.audit_predictions(
        people["decided"],
        people["granted"],
        sensitive_features=people[SENSITIVE],
        replicates=99,
        **options,
    )


def mask_of(rules: list[Any], people: pd.DataFrame) -> pd.Series[bool]:
    """Return by pandas who is in a group of an audit."""
    inside = pd.Series(True, index=people.index)
    for rule in rules:
        column = people[rule.feature]
        if rule.values is not None:
            inside &= column.fillna("missing").isin(rule.values)
            continue
        if rule.low is not None:
            inside &= column.ge(rule.low).fillna(False).astype(bool)
        if rule.high is not None:
            inside &= column.lt(rule.high).fillna(False).astype(bool)
    return inside


def groups_of(text: str, people: pd.DataFrame) -> pd.Series[str]:
    """Return in which group the shield has each person."""
    specification = ShieldSpecification.parse(text)
    fields = specification.groups.fields
    rows = people[list(fields)].astype(object)
    rows = rows.where(rows.notna(), None)
    names = [specification.group_of(row) for row in rows.to_dict("records")]
    return pd.Series(names, index=people.index)


def table_of(text: str) -> dict[tuple[str, int], float]:
    rows = tomllib.loads(text)["inputs"]["table"]
    return {(row["group"], row["recommendation"]): row["probability"] for row in rows}


def check(text: str, rules: list[Any], counted: pd.DataFrame, people: pd.DataFrame) -> None:
    """Check the groups and the probabilities of a specification against the people themselves."""
    inside = mask_of(rules, people)
    numbers = [rule.feature for rule in rules if rule.values is None]
    known = people[numbers].notna().all(axis=1)
    first, second = ShieldSpecification.parse(text).groups.names
    wanted = pd.Series("(no group)", index=people.index)
    wanted[known & ~inside] = second
    wanted[inside] = first
    # Who was not audited is in no group.
    wanted[~people.index.isin(counted.index)] = "(no group)"
    found = groups_of(text, people)
    pd.testing.assert_series_equal(found, wanted)
    both = counted[wanted[counted.index] != "(no group)"]
    shares = pd.crosstab(wanted[both.index], both["decided"] == "yes", normalize="all")
    for (name, recommendation), probability in table_of(text).items():
        assert probability == pytest.approx(shares.loc[name, bool(recommendation)], abs=2e-6)


def test_from_the_demo_to_a_shield_that_keeps_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = testsgd.audit(None, None, "demo", replicates=99)
    Path("result.json").write_text(result.to_json())
    distinct = [group for group in result.summary.groups if group.distinct]
    options = ["--groups", "2", "--horizon", "40", "--bound", "1/8"]
    assert _run(["shield", "init", "--from", "result.json", *options]) == 0
    written = [Path(f"shields/group-{place}.toml") for place in (1, 2)]
    assert sorted(Path("shields").iterdir()) == written
    assert _run(["shield", "synthesize", str(written[0]), "--quiet"]) == 0

    table = load_table(load_specification("demo"), seed=0).frame
    for path, group in zip(written, distinct, strict=False):
        counts = groups_of(path.read_text(), table).value_counts()
        inside = int(mask_of(group.rules, table).sum())
        assert counts.tolist() == sorted([inside, len(table) - inside], reverse=True)

    shield = testsgd.load_shield("group-1.npz")
    drawn = table.sample(40, random_state=3)
    decisions = [
        shield.decide({name: row[name] for name in shield.specification.groups.fields}, index % 2)
        for index, row in enumerate(drawn.to_dict("records"))
    ]
    inside = mask_of(distinct[0].rules, drawn).to_numpy()
    assert inside.any()
    rates = [np.array(decisions)[side].mean() for side in (inside, ~inside)]
    assert abs(rates[0] - rates[1]) <= 0.125
    capsys.readouterr()


@pytest.mark.parametrize("rows", [None, "age >= 40", "gender = male or race = Black"])
def test_the_same_people_and_how_often_they_come(people: pd.DataFrame, rows: str | None) -> None:
    chosen = {
        None: people,
        "age >= 40": people[people["age"].ge(40).fillna(False)],
        "gender = male or race = Black": people[
            (people["gender"] == "male") | (people["race"] == "Black")
        ],
    }[rows]
    result = audit(people, rows=rows)
    distinct = [group for group in result.summary.groups if group.distinct]
    texts = shields_from_audit(result.to_json(), groups=2)
    assert len(texts) == min(2, len(distinct))
    for text, group in zip(texts, distinct, strict=False):
        check(text, group.rules, chosen, people)
        comments = [line for line in text.splitlines() if line.startswith("#")]
        assert rows is None or any(rows in line for line in comments)


@pytest.mark.parametrize(
    ("metric", "label", "fairness"),
    [
        ("true_positive_rate", "yes", "equal_opportunity"),
        ("false_positive_rate", "no", "predictive_equality"),
    ],
)
@pytest.mark.parametrize("several", [False, True])
def test_rates_of_those_with_one_label(
    people: pd.DataFrame, metric: str, label: str, fairness: str, several: bool
) -> None:
    if several:
        result: Any = testsgd.audit_predictions(
            people["decided"] == "yes",
            people["granted"] == "yes",
            sensitive_features=people[SENSITIVE],
            metrics=["accuracy", metric],
            replicates=99,
        )
        groups = result.summary.metrics[1].groups
    else:
        result = audit(people, metric=metric)
        groups = result.summary.groups
    first = next(group for group in groups if group.distinct)
    text = shields_from_audit(result.to_json(), groups=1, horizon=10)[0]
    specification = ShieldSpecification.parse(text)
    assert specification.fairness.property == fairness
    inside = mask_of(first.rules, people)
    known = people["age"].notna()
    assert any(rule.feature == "age" and rule.values is None for rule in first.rules)
    counted = people[(people["granted"] == label) & known]
    shares = pd.crosstab(inside[counted.index], counted["decided"] == "yes", normalize="all")
    names = dict(zip(specification.groups.names, (True, False), strict=True))
    for (name, recommendation), probability in table_of(text).items():
        wanted = shares.loc[names[name], bool(recommendation)]
        assert probability == pytest.approx(wanted, abs=2e-6)
    labels = {row["label_probability"] for row in tomllib.loads(text)["inputs"]["table"]}
    assert labels == {float(label == "yes")}
    shield = testsgd.synthesize_shield(specification)
    for index, decision in enumerate(RECOMMENDED):
        shield.decide(specification.groups.names[index % 2], decision)
        shield.observe(index % 3 % 2)
    assert shield.bias is None or shield.bias <= specification.bound


@pytest.mark.parametrize("reference", ["overall", "best"])
def test_groups_compared_with_others_have_their_complement(
    people: pd.DataFrame, reference: str
) -> None:
    known = people.dropna()
    result = testsgd.audit_predictions(
        known["decided"] == "yes",
        sensitive_features=known[SENSITIVE],
        metrics="selection_rate",
        reference=reference,
        replicates=99,
    )
    first = next(group for group in result.summary.metrics[0].groups if group.distinct)
    check(shields_from_audit(result.to_json(), groups=1)[0], first.rules, known, known)


def test_named_groups_in_the_order_given(people: pd.DataFrame) -> None:
    named = ["age < 30 and gender = female", "race = Black", "age <= 24"]
    result = audit(people, groups=named)
    age = people["age"].fillna(99)
    wanted = [(age < 30) & (people["gender"] == "female"), people["race"] == "Black", age < 25]
    texts = shields_from_audit(result.to_json())
    assert len(texts) == len(wanted)
    for text, inside in zip(texts, wanted, strict=True):
        first = ShieldSpecification.parse(text).groups.names[0]
        assert ((groups_of(text, people) == first) == inside).all()
    assert (
        shields_from_audit(result.to_json(), groups=1)[0].split("name =")[1:]
        == (texts[0].split("name =")[1:])
    )


def test_a_metric_that_no_shield_guarantees(people: pd.DataFrame) -> None:
    with pytest.raises(ParameterError) as refused:
        shields_from_audit(audit(people, metric="precision").to_json())
    assert "precision" in str(refused.value)


@pytest.fixture
def saved(people: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("result.json")
    path.write_text(audit(people, groups=["race = Black", "gender = female"]).to_json())
    return path


def of_texts(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "data": {**document["data"], "kind": "texts"}}


def without_groups(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "groups": []}


def of_another_kind(document: dict[str, Any]) -> dict[str, Any]:
    watched = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    monitored: dict[str, Any] = json.loads(
        testsgd.monitor(watched, [{"group": "a", "decision": 1}]).to_json()
    )
    return monitored


def of_no_kind(document: dict[str, Any]) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize("changed", [of_texts, without_groups, of_another_kind, of_no_kind])
def test_results_without_groups_of_rows(
    changed: Any, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.write_text(json.dumps(changed(json.loads(saved.read_text()))))
    with pytest.raises((ParameterError, ResultError)):
        shields_from_audit(saved)
    assert _run(["shield", "init", "--from", str(saved)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not Path("shields").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--groups", "0"],
        ["--horizon", "0"],
        ["--bound", "2"],
        ["--bound", "a tenth"],
        ["--bound", '0.1"\nx = 1'],
        ["--bound", "-0.1"],
    ],
)
def test_options_that_no_shield_has(
    options: list[str], saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["shield", "init", "--from", str(saved), *options]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not Path("shields").exists()


def test_written_twice_says_that_it_may_have_been_changed(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["shield", "init", "--from", str(saved)]) == 0
    capsys.readouterr()

    assert _run(["shield", "init", "--from", str(saved)]) == 2
    told = capsys.readouterr().err
    assert "there is such a file already, which may have been changed by hand" in told
    assert "--force" in told
    assert _run(["shield", "init", "--from", str(saved), "--force"]) == 0


def test_a_field_that_an_event_has_itself(people: pd.DataFrame) -> None:
    renamed = people[SENSITIVE].rename(columns={"race": "group"})
    result = testsgd.audit_predictions(
        people["decided"], sensitive_features=renamed, groups=["group = Black"], replicates=99
    )
    with pytest.raises(SpecificationError) as refused:
        shields_from_audit(result.to_json())
    assert "'group'" in str(refused.value)


@pytest.mark.parametrize("room", ["shield", "monitor"])
def test_files_that_are_there_are_kept(
    room: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [room, "init", "--from", str(saved), "--out", "kept", "--groups", "2"]
    (Path("kept")).mkdir()
    second = Path("kept/group-2.toml")
    second.write_text("name = 'by hand'")
    assert _run(words) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert second.read_text() == "name = 'by hand'"
    assert list(Path("kept").iterdir()) == [second]
    assert _run([*words, "--force", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert len(list(Path("kept").iterdir())) == 2
    assert "by" in tomllib.loads(second.read_text())["groups"] or room == "monitor"


def test_the_command_says_how_many_there_are(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["shield", "init", "--from", str(saved), "--groups", "99"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    number = len(list(Path("shields").iterdir()))
    assert {"99", str(number)} <= set(re.findall(r"\d+", last.split(".toml")[1]))


KEPT = """\
name = "own"
[fairness]
property = "demographic_parity"
bound = 0.2
[horizon]
length = 8
"""
OWN_GROUPS = '[groups]\nnames = ["north", "south"]\nunknown = "pass"\n'
OWN_LOG = '[inputs]\nlog = "log.csv"\n[inputs.columns]\ngroup = "office"\n'


@pytest.mark.parametrize("own", ["", OWN_GROUPS, OWN_GROUPS + OWN_LOG])
def test_the_groups_of_an_audit_stand_in_place_of_the_specified(
    own: str, saved: Path, people: pd.DataFrame
) -> None:
    folder = Path("specified")
    folder.mkdir()
    log = people[SENSITIVE].assign(
        office="north", recommendation=(people["decided"] == "yes").astype(int)
    )
    log.to_csv(folder / "log.csv", index=False)
    (folder / "own.toml").write_text(KEPT + own)
    words = ["shield", "synthesize", str(folder / "own.toml"), "--groups", str(saved), "--quiet"]
    assert _run([*words, "--length", "6"]) == 0
    loaded = testsgd.load_shield("own.npz").specification
    written = ShieldSpecification.parse(shields_from_audit(saved, groups=1)[0])
    assert loaded.groups.by == written.groups.by
    assert loaded.groups.unknown == ("pass" if own else "refuse")
    assert (loaded.horizon.length, loaded.bound, loaded.name) == (6, Fraction(1, 5), "own")
    document = tomllib.loads(KEPT + own)
    assert shield_of_groups(document, saved).groups == loaded.groups
    if own:
        read = ShieldSpecification.read(folder / "own.toml")
        of_object = shield_of_groups(read, saved)
        assert of_object.groups == loaded.groups
        assert of_object.input_distribution().groups == loaded.groups.names


def test_a_shield_of_both_groups_decides_by_fields(saved: Path) -> None:
    Path("own.toml").write_text(KEPT)
    shield = testsgd.synthesize_shield(shield_of_groups("own.toml", saved))
    for place in range(8):
        shield.decide({"race": ["Black", "White"][place % 2]}, place // 2 % 2)
    assert shield.bias is not None
    assert shield.bias <= Fraction(1, 5)


@pytest.mark.parametrize(
    ("added", "changed"),
    [
        ('[[inputs.table]]\ngroup = "north"\nrecommendation = 1\nprobability = 1.0\n', dict),
        ("[horizons]\n", dict),
        ("", without_groups),
        ("", of_another_kind),
        ("", of_no_kind),
        ("", of_texts),
    ],
)
def test_groups_that_contradict_are_one_line(
    added: str, changed: Any, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.write_text(json.dumps(changed(json.loads(saved.read_text()))))
    Path("own.toml").write_text(KEPT + OWN_GROUPS + added)
    assert _run(["shield", "synthesize", "own.toml", "--groups", str(saved)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not Path("own.npz").exists()
