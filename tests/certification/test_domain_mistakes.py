"""Each mistake in a domain is refused in one line that says what, where and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from testsgd.certification.domain import CategoryInput, Domain, IntegerInput, RealInput, find_domain
from testsgd.errors import ParameterError, SpecificationError, TestSGDError

SEX = {"integer": [0, 1]}
PEOPLE: dict[str, Any] = {
    "protected": "sex",
    "inputs": {"age": {"integer": [17, 90]}, "sex": SEX, "race": {"values": ["Black", "White"]}},
}


def message(source: Any, **given: Any) -> str:
    with pytest.raises(TestSGDError) as caught:
        find_domain(source, **given)
    text = str(caught.value)
    assert "\n" not in text
    assert caught.value.remedy
    assert caught.value.where
    return text


def described(**inputs: Any) -> dict[str, Any]:
    return {"protected": "sex", "inputs": {**inputs, "sex": SEX}}


@pytest.mark.parametrize(
    ("part", "seen"),
    [
        ({"integer": [90, 17]}, "[90, 17] is empty"),
        ({"real": [1, 0.5]}, "[1, 0.5] is empty"),
        ({"integer": [0, float("nan")]}, "nan"),
        ({"integer": [0, float("inf")]}, "inf"),
        ({"real": [float("-inf"), 0]}, "-inf"),
        ({"real": [-1.7e308, 1.7e308]}, "inf"),
        ({"integer": [0, 0.5]}, "0.5"),
        ({"integer": [0, 2**53]}, str(2**53)[:15]),
        ({"integer": ["0", 1]}, "'0'"),
        ({"integer": [0]}, "too short"),
        ({"values": []}, "no values"),
        ({"values": ["a", "b", "a"]}, "'a' stands twice"),
        ({"values": ["a", "b"], "columns": [0]}, "2 values"),
        ({"values": ["a", "b"], "columns": [0, 0]}, "(0, 0)"),
        ({"values": ["a", "b"], "columns": [0, 7]}, "column 7"),
        ({"integer": [0, 1], "columns": [0]}, "categories"),
        ({"integer": [0, 1], "real": [0, 1]}, "exactly one"),
        ({}, "exactly one"),
        ([0, 1], "[0, 1]"),
        ({"integr": [0, 1]}, "did you mean 'integer'?"),
    ],
)
def test_inputs(part: Any, seen: str) -> None:
    assert seen in message(described(age=part))


def test_the_line_of_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    path.write_text("protected = 'sex'\n[inputs]\nsex = { integer = [0, 1] }\n\n")
    with path.open("a") as file:
        file.write("[inputs.age]\nintegr = [0, 1]\n")
    assert "line 6: inputs.age.integr: unknown key" in message(path)

    path.write_text("[inputs.age]\ninteger = [9, 1]\n")
    assert "line 1, inputs.age: the range [9, 1] is empty" in message(path)

    path.write_text("[inputs.age]\ninteger = [0, inf]\n")
    assert "line 2" in message(path)

    path.write_text("protectd = 'age'\n[inputs.age]\ninteger = [0, 1]\n")
    assert "did you mean 'protected'?" in message(path)

    path.write_text("[inputs.age]\ninteger = [0, 1]\n[inputs.age]\ninteger = [0, 2]\n")
    assert "not valid TOML" in message(path)


@pytest.mark.parametrize(
    ("bounds", "seen"),
    [
        ({"minimum": [0, 0], "maximum": [1]}, "maximum: has 1"),
        ({"minimum": [0, 2], "maximum": [1, 1]}, "x1: the range [2, 1] is empty"),
        ({"minimum": [0]}, "maximum: this key is missing"),
        ({"minimum": [], "maximum": []}, "minimum: list should have at least 1 item"),
        ({"minimum": [0, None], "maximum": [1, 1]}, "None"),
        ({"minimum": [0, True], "maximum": [1, 1]}, "True"),
        ({"minimum": [0, float("nan")], "maximum": [1, 1]}, "nan"),
        ({"minimum": [0, 10**299], "maximum": [1, float("inf")]}, "two finite numbers"),
        ({"minimum": [0, 0], "maximum": [1, 1], "protected": 2}, "protected: is 2"),
        (
            {"minimum": [0, 0], "maximum": [1, 1], "protected": -1},
            "(seen: -1)",
        ),
        ({"minimum": [0, 0], "maximum": [1, 1], "protected": "x"}, "'x'"),
        ({"minimum": [0, 0], "maximum": [1, 1], "protect": 1}, "did you mean 'protected'?"),
        ({"minimum": [0, 0], "maximum": [1, 1]}, "does not say which inputs are protected"),
    ],
)
def test_bounds(bounds: dict[str, Any], seen: str, tmp_path: Path) -> None:
    path = tmp_path / "bounds.json"
    path.write_text(json.dumps({"AC": bounds}))
    text = message(f"{path}:AC")
    assert seen in text
    assert seen in message(bounds)


def test_sources(tmp_path: Path) -> None:
    path = tmp_path / "bounds.json"
    path.write_text(json.dumps({"AC": {}, "BM": {}}))
    assert "bounds.json:AC" in message(path)
    assert "no domain 'CA'" in message(f"{path}:CA")
    path.write_text("[1, 2")
    assert "no JSON" in message(path)
    path.write_text("[1, 2]")
    assert "no domain 'AC'" in message(f"{path}:AC")
    for missing in ("nowhere.json", "nowhere.json:AC", "nowhere.toml", "nowhere.nnet"):
        assert "no such file" in message(tmp_path / missing)
    (tmp_path / "bad.nnet").write_text("1,2,1,2,\n2,1,\n0,\n1,\n5,\n")
    assert "minimum and maximum" in message(tmp_path / "bad.nnet", protected="0")
    assert "did you mean fairify/adult?" in message("fairify/adlt")
    assert "did you mean census?" in message("cenus")
    assert "data set of texts" in message("imdb")
    assert "not given" in message(None)
    assert "of type int" in message(3)
    assert "there are no inputs" in message({})
    assert "did you mean inputs?" in message({"input": {}})
    assert "there are no inputs" in message({"inputs": {}})


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ({"protected": "rase"}, "did you mean race?"),
        ({"protected": ["sex", "income"]}, "'income' is not among the inputs"),
        ({"protected": "7"}, "'7' is not among the inputs"),
        ({"protected": []}, "no input is protected"),
        ({"protected_values": [0, 2]}, "the value 2"),
        ({"protected_values": [0, 0.5]}, "the value 0.5"),
        ({"protected_values": [0, float("nan")]}, "the value nan"),
        ({"protected_values": ["f", "m"]}, "the value 'f'"),
        ({"protected_values": [0]}, "at least two"),
        ({"protected_values": [0, 0]}, "only one value of the protected attribute 'sex'"),
        ({"protected_values": []}, "no value of the protected attribute 'sex'"),
        ({"protected_values": [0, 1, 0]}, "twice"),
        ({"protected_values": 1}, "1"),
        ({"protected_values": "01"}, "'01'"),
        ({"protected_values": {"race": ["Black"]}}, "'race', which is not protected"),
        ({"protected_values": {"sex": "0"}}, "'0'"),
        ({"protected": "race", "protected_values": ["black", "White"]}, "did you mean Black?"),
        ({"protected": ["sex", "race"], "protected_values": [[0, "Black"], [1]]}, "[1]"),
    ],
)
def test_who_is_compared(given: dict[str, Any], seen: str) -> None:
    assert seen in message(PEOPLE, **given)


def test_too_many_are_compared() -> None:
    assert "20,001 combinations" in message(described(pay={"integer": [0, 20000]}), protected="pay")
    assert "real numbers" in message(described(pay={"real": [0, 1]}), protected="pay")
    assert "only one value of the protected attribute 'pay'" in message(
        described(pay={"integer": [3, 3]}), protected="pay"
    )
    assert "1,010 combinations" in message("census", protected=["age", "race", "gender"])


def test_domains_made_in_python_are_checked_too() -> None:
    inputs = (IntegerInput("age", 0, 9), IntegerInput("sex", 0, 1))
    two = ((0.0,), (1.0,))
    with pytest.raises(SpecificationError, match="two inputs are called 'age'"):
        Domain("twice", (inputs[0], IntegerInput("age", 0, 1)), ("age",), two)
    with pytest.raises(SpecificationError, match="no inputs"):
        Domain("none", (), ("age",), two)
    with pytest.raises(ParameterError, match="'race' is no input"):
        Domain("other", inputs, ("race",), two)
    with pytest.raises(ParameterError, match="value 2 of the protected attribute 'sex'"):
        Domain("outside", inputs, ("sex",), ((0.0,), (2.0,)))
    with pytest.raises(SpecificationError, match="the name of an input is ''"):
        RealInput("", 0.0, 1.0)
    with pytest.raises(SpecificationError, match="'ab'"):
        CategoryInput("race", "ab")  # type: ignore[arg-type]  # the mistake
