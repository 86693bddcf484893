"""Every mistake in data, description or options is one line, exit code 2, and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import command_line
import pandas as pd
import pytest

from testsgd.data import bundled_folder, generate_demo

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]
Runs = Callable[..., command_line.Finished]

PEOPLE = generate_demo(rows=60, seed=0)
DEMO = (bundled_folder("datasets") / "demo.toml").read_text(encoding="utf-8")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[pd.DataFrame], Path]:
    def write_rows(frame: pd.DataFrame) -> Path:
        path = tmp_path / "rows.csv"
        frame.to_csv(path, index=False)
        return path

    return write_rows


@pytest.fixture
def describe(tmp_path: Path) -> Callable[[str], Path]:
    def write_description(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_description


def test_an_unknown_data_set(fails: Fails) -> None:
    assert "no data set 'censsus'" in fails("audit", "censsus")


def test_a_missing_column(fails: Fails, write: Callable[[pd.DataFrame], Path]) -> None:
    message = fails("audit", "demo", "--data", write(PEOPLE.drop(columns="income")))
    assert "the column 'income' is missing" in message


def test_a_wrong_type(fails: Fails, write: Callable[[pd.DataFrame], Path]) -> None:
    rows = PEOPLE.astype({"age": object})
    rows.loc[3, "age"] = "forty"
    message = fails("audit", "demo", "--data", write(rows))
    assert "row 3" in message
    assert "'forty'" in message


def test_an_undeclared_value(fails: Fails, write: Callable[[pd.DataFrame], Path]) -> None:
    message = fails("audit", "demo", "--data", write(PEOPLE.assign(housing="tent")))
    assert "'tent'" in message


def test_an_undeclared_label(fails: Fails, write: Callable[[pd.DataFrame], Path]) -> None:
    rows = PEOPLE.copy()
    rows.loc[0, "granted"] = "maybe"
    assert "'maybe'" in fails("audit", "demo", "--data", write(rows))


def test_a_declared_label_that_does_not_occur(
    fails: Fails, write: Callable[[pd.DataFrame], Path]
) -> None:
    message = fails("audit", "demo", "--data", write(PEOPLE[PEOPLE["granted"] == "yes"]))
    assert "the declared label 'no' does not occur" in message


def test_a_favourable_label_that_does_not_occur(
    fails: Fails, write: Callable[[pd.DataFrame], Path]
) -> None:
    message = fails("audit", "demo", "--data", write(PEOPLE[PEOPLE["granted"] == "no"]))
    assert "the favourable label 'yes' does not occur" in message
    assert "'perhaps' does not occur" in fails("audit", "demo", "--favorable", "perhaps")
    assert "'perhaps' does not occur" in fails("audit", "demo", "--favourable", "perhaps")


def test_a_sensitive_feature_of_one_value(
    fails: Fails, write: Callable[[pd.DataFrame], Path]
) -> None:
    message = fails("audit", "demo", "--data", write(PEOPLE[PEOPLE["gender"] == "female"]))
    assert "'gender'" in message
    assert "one value only" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "empty"),
        (b"gender,race,age\n", "no rows"),
        (bytes(range(256)) * 20, "not utf-8 text"),
        (b"gender,race\nfemale\n\0\0\0", "not utf-8 text"),
        (b"gender,race\nfemale,White,3,4\n", "cannot be told apart"),
    ],
)
def test_a_file_that_holds_no_rows(
    fails: Fails, tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    found = fails("audit", "demo", "--data", path)
    assert message in found
    assert str(path) in found


def test_a_file_that_is_not_there(fails: Fails, tmp_path: Path) -> None:
    assert "no such file" in fails("audit", "demo", "--data", tmp_path / "gone.csv")
    assert "no such file" in fails("audit", tmp_path / "gone.toml")
    assert "cannot be read" in fails("audit", "demo", "--data", tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DEMO + "\n[surprise]\nkey = 1\n", "surprise: unknown key"),
        (DEMO.replace("sensitive = true", "sensitve = true"), "sensitve: unknown key"),
        (DEMO.replace('favourable = "yes"', 'favourable = "perhaps"'), "perhaps"),
        (DEMO.replace("[label]", "[label"), "not valid TOML"),
        ("", "this key is missing"),
    ],
)
def test_a_description_that_is_wrong(
    fails: Fails, describe: Callable[[str], Path], text: str, message: str
) -> None:
    found = fails("audit", describe(text))
    assert message in found
    assert "mine.toml" in found


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--theta", "0", "theta: 0.0 is not between 0 and 1"),
        ("--theta", "1", "theta"),
        ("--theta", "-0.5", "theta"),
        ("--theta", "nan", "theta"),
        ("--theta", "small", "small|number"),
        ("--error-margin", "2", "error_margin"),
        ("--confidence", "95", "confidence"),
        ("--min-samples", "0", "min_samples"),
        ("--min-samples", "1.5", "1.5|integer"),
        ("--mode", "fast", "mode"),
        ("--sampling", "some", "sampling"),
        ("--max-queries", "0", "max_queries"),
        ("--max-features", "0", "max_features"),
        ("--bins", "1", "bins"),
        ("--top", "0", "top"),
        ("--seed", "-1", "seed"),
        ("--jobs", "0", "jobs"),
        ("--threshold", "1.5", "threshold"),
        ("--fail-above", "2", "fail_above"),
        ("--format", "pdf", "the format 'pdf' is unknown"),
        ("--format", "html;md", "unknown"),
        ("--model", "nonsense", "there is no model 'nonsense'"),
        ("--model", "gone.keras", "no such file"),
    ],
)
def test_an_option_out_of_range(fails: Fails, option: str, value: str, message: str) -> None:
    found = fails("audit", "demo", option, value)
    assert any(part in found for part in message.split("|"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit"],
        ["audit", "demo", "--nonsense"],
        ["audit", "demo", "another"],
        ["audit", "demo", "--theta"],
        ["audit", "demo", "--seed", "many"],
        ["report"],
        ["train"],
        ["mitigate", "demo", "--nonsense"],
    ],
)
def test_mistakes_of_usage_point_to_the_help_of_the_command(
    fails: Fails, arguments: list[str]
) -> None:
    assert fails(*arguments).endswith(f"; see testsgd {arguments[0]} --help\n")


def test_comparison_asked_for_sensitive_features_points_to_a_description(fails: Fails) -> None:
    told = fails("compare", "people.csv", "--model", "m", "--sensitive", "sex")

    assert "--sensitive" in told
    assert "testsgd init people.csv" in told


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["nonsense"], "testsgd"),
        (["--nonsense"], "testsgd"),
        (["data", "nonsense"], "testsgd data"),
        (["data", "describe"], "testsgd data describe"),
        (["shield", "run", "--nonsense"], "testsgd shield run"),
        (["shield", "simulate", "x.npz", "--runs"], "testsgd shield simulate"),
    ],
)
def test_mistakes_of_usage_point_to_the_help_that_lists_what_there_is(
    fails: Fails, testsgd: Runs, arguments: list[str], command: str
) -> None:
    assert fails(*arguments).endswith(f"; see {command} --help\n")
    assert testsgd(*command.split()[1:], "--help").code == 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--guarantee", "certain", "'certain' is not known; choose one of per-group, simultaneous"),
        ("--guarantee", "", "guarantee: '' is not known"),
        ("--interval", "exact", "'exact' is not known; choose one of auto, anytime, wald"),
        ("--replicates", "18", "18 is not between 19 and"),
        ("--holdout", "2", "2.0 is not between 0 and 1"),
        ("--holdout", "nan", "nan is no finite number"),
        ("--holdout", "0.00001", "leaves one part without rows"),
        ("--holdout", "half", "Invalid value for '--holdout'"),
        ("--stability", "-1", "-1 is not between 0 and"),
        ("--condition-on", "incom", "there is no feature 'incom'; choose among income, "),
        ("--condition-on", "income,gender", "'gender' is sensitive"),
        ("--condition-on", "granted", "'granted' is the label"),
        ("--condition-on", ",", "no feature is named"),
        ("--condition-on", "", "no feature is named"),
    ],
)
def test_options_of_trust_out_of_their_range(
    fails: Fails, option: str, value: str, message: str
) -> None:
    assert message in fails("audit", "demo", option, value)


def test_features_to_be_alike_in_take_answers_for_every_row(fails: Fails) -> None:
    message = fails("audit", "demo", "--condition-on", "income", "--mode", "sampled")
    assert "needs an answer for every row" in message


def test_an_exact_audit_beyond_the_budget(fails: Fails) -> None:
    message = fails("audit", "demo", "--mode", "exact", "--max-queries", "1000")
    assert "--max-queries 301000, or --mode sampled" in message


def test_files_that_are_nowhere(fails: Fails, monkeypatch: pytest.MonkeyPatch) -> None:
    # No network is a usual state of affairs.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    message = fails("audit", "compas")
    assert "sha256" in message
    assert "put it into" in message
