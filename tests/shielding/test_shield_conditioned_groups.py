"""A shield whose groups are by expressions decides as one whose groups were found by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.errors import DataError, ParameterError, SpecificationError, UnknownGroupError
from testsgd.serving import answer
from testsgd.shielding import Shield, ShieldSpecification, load_shield, synthesize_shield

GROUPS = [
    {"name": "young women", "when": "sex = female and age < 25"},
    {"name": "others", "when": "not (sex = female and age < 25) and age != missing"},
]
TEXT = """
[fairness]
property = "demographic_parity"
bound = "1/4"

[[groups]]
name = "young women"
when = "sex = female and age < 25"

[[groups]]
name = "others"
when = "not (sex = female and age < 25) and age != missing"

[horizon]
length = 12
"""


def specified(groups: Any, **tables: Any) -> dict[str, Any]:
    return {
        "fairness": {"property": "demographic_parity", "bound": "1/4"},
        "groups": groups,
        "horizon": {"length": 12},
        **tables,
    }


def by_names() -> Shield:
    return synthesize_shield(specified({"names": ["young women", "others"]}))


def people(rows: int) -> pd.DataFrame:
    generator = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "sex": generator.choice(["female", "male"], rows),
            "age": generator.integers(18, 32, rows),
            "recommendation": generator.integers(0, 2, rows),
        }
    )


def groups_by_pandas(frame: pd.DataFrame) -> list[str]:
    young = (frame.sex == "female") & (frame.age < 25)
    return ["young women" if one else "others" for one in young]


def test_decisions_are_those_of_the_groups_by_hand() -> None:
    frame = people(12)
    shield, plain, served = synthesize_shield(specified(GROUPS)), by_names(), by_names()
    asked = synthesize_shield(specified({"by": GROUPS}))
    for person, group in zip(
        frame.astype(object).to_dict("records"), groups_by_pandas(frame), strict=True
    ):
        wanted = plain.decide(group, person["recommendation"])
        fields = {"sex": person["sex"], "age": person["age"]}
        assert shield.decide(fields, person["recommendation"]) == wanted
        reply = answer(asked, {**fields, "recommendation": person["recommendation"]})
        by_group = answer(served, {"group": group, "recommendation": person["recommendation"]})
        assert reply == by_group
    assert shield.counts == plain.counts == asked.counts
    assert set(groups_by_pandas(frame)) == {"young women", "others"}


def test_a_log_is_read_by_the_expressions(tmp_path: Path) -> None:
    frame = people(200)
    frame.to_csv(tmp_path / "fields.csv", index=False)
    frame.assign(group=groups_by_pandas(frame)).to_csv(tmp_path / "named.csv", index=False)
    by_fields = ShieldSpecification.from_dict(
        specified(GROUPS, inputs={"log": str(tmp_path / "fields.csv")})
    )
    named = ShieldSpecification.from_dict(
        specified({"names": ["young women", "others"]}, inputs={"log": str(tmp_path / "named.csv")})
    )
    assert by_fields.input_distribution().to_dict() == named.input_distribution().to_dict()


def test_written_read_and_replayed(tmp_path: Path) -> None:
    specification = ShieldSpecification.parse(TEXT)
    assert specification == ShieldSpecification.from_dict(specified(GROUPS))
    assert ShieldSpecification.from_dict(specification.to_dict()) == specification
    assert specification.with_changes(length=8).groups == specification.groups
    synthesize_shield(specification).save(tmp_path / "shield.npz")
    journal = tmp_path / "journal"
    with load_shield(tmp_path / "shield.npz", journal=journal) as first:
        first.decide({"sex": "female", "age": 20}, 1)
    assert json.loads(journal.read_text().splitlines()[-1])["group"] == "young women"
    with load_shield(tmp_path / "shield.npz", journal=journal) as again:
        assert again.counts == first.counts


def test_who_is_in_no_group_is_refused_or_passed() -> None:
    nobody = {"sex": "male", "age": None}
    with pytest.raises(UnknownGroupError):
        synthesize_shield(specified(GROUPS)).decide(nobody, 1)
    passing = synthesize_shield(specified({"by": GROUPS, "unknown": "pass"}))
    assert passing.decide(nobody, 1) == 1
    assert passing.unknown == 1
    assert sum(map(sum, passing.counts)) == 0


@pytest.mark.parametrize(
    "event",
    [
        {"sex": "female", "recommendation": 1},
        {"sex": "female", "age": 20, "group": "others", "recommendation": 1},
        {"sex": "female", "age": 20, "income": 3, "recommendation": 1},
        {"sex": "female", "age": "young", "recommendation": 1},
    ],
)
def test_events_that_do_not_say_who_it_is(event: dict[str, Any]) -> None:
    shield = synthesize_shield(specified(GROUPS))
    with pytest.raises(ParameterError):
        answer(shield, event)
    assert shield.step == 0


def test_fields_need_expressions() -> None:
    with pytest.raises(ParameterError):
        by_names().decide({"sex": "female", "age": 20}, 1)


@pytest.mark.parametrize(
    "groups",
    [
        [],
        GROUPS[:1],
        [GROUPS[0], GROUPS[0]],
        [GROUPS[0], {"name": "others", "when": "age >"}],
        [GROUPS[0], {"name": "(no group)", "when": "age > 3"}],
        [GROUPS[0], {"name": "others", "when": "recommendation = 1"}],
        {"names": ["a", "b"], "by": GROUPS},
    ],
)
def test_mistakes_in_groups(groups: Any) -> None:
    with pytest.raises(SpecificationError) as caught:
        ShieldSpecification.from_dict(specified(groups))
    assert "groups" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("second", "log"),
    [
        ("agee >= 25", "sex,age,recommendation\nfemale,20,1\nmale,30,0\n"),
        ("age > 90", "sex,age,recommendation\nfemale,20,1\n"),
        ("age >= 18", "sex,age,recommendation\nfemale,20,1\nfemale,21,0\n"),
        ("age >= 25", "sex,age,recommendation\nfemale,20,1\nmale,30,0\nmale,20,0\n"),
        ("age >= 25", "sex,age,recommendation\nfemale,old,1\nmale,30,0\n"),
    ],
)
def test_logs_that_do_not_fit_the_expressions(tmp_path: Path, second: str, log: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(log, encoding="utf-8")
    groups = [GROUPS[0], {"name": "others", "when": second}]
    with pytest.raises(DataError):
        ShieldSpecification.from_dict(specified(groups)).read_log(path)


def test_a_saved_shield_with_names_of_columns_is_loaded(tmp_path: Path) -> None:
    log = "sex,age,advice\n" + "female,20,1\nmale,30,0\nmale,20,1\n" * 3
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    inputs = {"log": str(tmp_path / "log.csv"), "columns": {"recommendation": "advice"}}
    wanted = ShieldSpecification.from_dict(specified(GROUPS, inputs=inputs))
    synthesize_shield(wanted).save(tmp_path / "saved.npz")
    assert load_shield(tmp_path / "saved.npz").specification.groups == wanted.groups


def test_a_column_of_groups_beside_expressions_is_refused() -> None:
    inputs = {"log": "log.csv", "columns": {"group": "sex"}}
    with pytest.raises(SpecificationError):
        ShieldSpecification.from_dict(specified(GROUPS, inputs=inputs))


def test_an_infinite_number_of_a_person_is_refused() -> None:
    shield = synthesize_shield({
        "fairness": {"property": "demographic_parity", "bound": "1/4"},
        "groups": GROUPS,
        "horizon": {"length": 8},
    })  # fmt: skip
    person = {"sex": "female", "recommendation": 1}
    with pytest.raises(ParameterError, match="age"):
        answer(shield, person | json.loads('{"age": 1e400}'))
    assert answer(shield, person | {"age": 20})["group"] == "young women"


def test_a_field_that_no_group_is_about_is_refused() -> None:
    document = {
        "fairness": {"property": "demographic_parity", "bound": "1/4"},
        "groups": GROUPS,
        "horizon": {"length": 8},
    }
    shield = synthesize_shield(document)
    with pytest.raises(ParameterError, match="agee"):
        shield.decide({"sex": "female", "age": 20, "agee": 1}, 1)
    assert shield.decide({"sex": "female", "age": 20}, 1) == 1
