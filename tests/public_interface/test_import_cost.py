"""What is imported when: nothing heavy to be imported or to show help, each extra only if used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loaded_modules import BLOCK, EXTRAS, RUN, loaded_by, run, run_all

from testsgd.cli.main import COMMANDS

# What is loaded does not depend on the number of rows.
FEW = ("--limit", "400")

ESTIMATOR = """
import testsgd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

people = testsgd.generate_demo(rows=1200, seed=4)
words = ["gender", "race", "housing", "purpose"]
encode = make_column_transformer((OneHotEncoder(), words), remainder=StandardScaler())
model = make_pipeline(encode, LogisticRegression())
model.fit(people.drop(columns="granted"), people["granted"])
"""

MONITOR = """
[[properties]]
property = "demographic_parity"
bound = 0.25
"""

PEOPLE = """
prompts = ["A nurse said"]
[groupings.gender]
values = ["female", "male"]
terms = { female = ["she"], male = ["he"] }
[[requirements]]
grouping = "gender"
beta = 3
"""

SHIELD = """
[fairness]
property = "demographic_parity"
bound = 0.25
[groups]
names = ["a", "b"]
[horizon]
length = 10
"""

RETRAIN = f"""
import json
{ESTIMATOR}
result = testsgd.mitigate(model, people, "demo", runs=1, steps=1, max_accuracy_drop=9)
print(json.dumps([item.status for item in result.summary.comparisons]))
"""


def test_importing_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    assert loaded_by("import testsgd; testsgd.__version__; dir(testsgd)", tmp_path) == []


def test_the_calls_import_no_scikit_learn(tmp_path: Path) -> None:
    program = "import testsgd; [getattr(testsgd, name) for name in dir(testsgd) if name.islower()]"
    loaded = loaded_by(program, tmp_path)
    assert not set(loaded) & {"sklearn", "scipy", *EXTRAS} - {"pyarrow"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    assert loaded_by(RUN.format(arguments=arguments), tmp_path) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_imports_nothing_heavy(command: str, tmp_path: Path) -> None:
    # Some versions of typer import pydantic themselves to look at a command's options.
    loaded = loaded_by(RUN.format(arguments=[command, "--help"]), tmp_path)
    assert set(loaded) <= {"pydantic"}


@pytest.mark.slow
def test_an_audit_of_a_network_imports_no_tensorflow(tmp_path: Path) -> None:
    loaded = loaded_by(RUN.format(arguments=["audit", "demo", *FEW]), tmp_path)
    # pandas itself imports pyarrow where it is installed.
    assert not set(loaded) & {"tensorflow", "keras", "skops", "fairlearn"}
    assert (tmp_path / "reports" / "demo" / "report.html").is_file()


@pytest.mark.slow
def test_without_any_extra_an_audit_works(tmp_path: Path) -> None:
    program = BLOCK.format(blocked=EXTRAS)
    arguments = ["audit", "demo", *FEW, "--format", "html,md,json,csv", "--quiet"]
    finished = run(program + RUN.format(arguments=arguments) + "sys.exit(code)", tmp_path)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")
    assert len(list((tmp_path / "reports" / "demo").iterdir())) == 4


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["audit", "demo", "--format", "html,parquet"], "parquet"),
        (["train", "demo"], "tensorflow"),
        (["mitigate", "demo", "--method", "samples", "--export", "samples.parquet"], "parquet"),
    ],
)
def test_a_missing_extra_is_named_with_its_install_line(
    arguments: list[str], extra: str, tmp_path: Path
) -> None:
    program = BLOCK.format(blocked=EXTRAS)
    finished = run(program + RUN.format(arguments=arguments) + "sys.exit(code)", tmp_path)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.count("\n") == 1
    assert f"pip install 'testsgd[{extra}]'" in finished.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_without_any_extra_a_shield_decides_and_only_serving_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SHIELD, encoding="utf-8")
    commands = {
        ("synthesize", "spec.toml", "--quiet"): 0,
        ("run", "spec.npz"): 0,
        ("simulate", "spec.npz", "--runs", "9", "--quiet"): 0,
        ("serve", "spec.npz", "--port", "0"): 2,
    }
    lines = [("shield", *arguments) for arguments in commands]
    ended = run_all(BLOCK.format(blocked=EXTRAS), lines, tmp_path)
    for (code, out, err), expected in zip(ended, commands.values(), strict=True):
        assert (code, out) == (expected, ""), err
    *_, (_, _, refusal) = ended
    assert refusal.count("\n") == 1
    assert "pip install 'testsgd[serve]'" in refusal


def test_without_any_extra_a_monitor_watches(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(MONITOR, encoding="utf-8")
    (tmp_path / "e.csv").write_text("group,decision\na,1\nb,0\n", encoding="utf-8")
    arguments = ["monitor", "run", "spec.toml", "--events", "e.csv", "--out", "r", "--quiet"]
    program = BLOCK.format(blocked=EXTRAS) + RUN.format(arguments=arguments) + "sys.exit(code)"
    finished = run(program, tmp_path)
    assert (finished.returncode, finished.stdout, finished.stderr) == (3, "", "")
    assert len(list((tmp_path / "r").iterdir())) == 3


def test_without_any_extra_outputs_are_assessed_and_only_asking_is_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / "people.toml").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "o.csv").write_text("output\nshe slept\nhe slept\n", encoding="utf-8")
    block = BLOCK.format(blocked=EXTRAS)
    begun = 'import testsgd; print(testsgd.Enforcer("people.toml").begin("A nurse").prompt)'
    assert run(block + begun, tmp_path).stdout == "A nurse\n"
    assess = ("generative", "assess", "o.csv", "--spec", "people.toml", "--out", "r", "--quiet")
    refused = {
        ("ask", "--upstream", "http://127.0.0.1:1/v1"): "serve",
        ("serve", "--upstream", "http://127.0.0.1:1/v1"): "serve",
        ("journal", "--state", "redis://127.0.0.1:1"): "redis",
        ("journal", "--state", "postgresql://127.0.0.1:1/x"): "postgresql",
    }
    lines = [("generative", name, "--spec", "people.toml", *more) for name, *more in refused]
    assessed, *refusals = run_all(block, [assess, *lines], tmp_path)
    assert assessed == (3, "", "")
    assert len(list((tmp_path / "r").iterdir())) == 3
    for (code, out, err), extra in zip(refusals, refused.values(), strict=True):
        assert (code, out) == (2, ""), err
        assert err.count("\n") == 1
        assert f"pip install 'testsgd[{extra}]'" in err


@pytest.mark.slow
def test_without_any_extra_an_estimator_is_retrained(tmp_path: Path) -> None:
    finished = run(BLOCK.format(blocked=EXTRAS) + RETRAIN, tmp_path)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert json.loads(finished.stdout) == ["done", "done", "not_installed"]


@pytest.mark.slow
def test_without_skops_the_command_says_so_before_all_the_work(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(ESTIMATOR, encoding="utf-8")
    arguments = ["mitigate", "demo", "--method", "samples", "--model", "mine:model"]
    program = BLOCK.format(blocked=["skops"]) + RUN.format(arguments=arguments) + "sys.exit(code)"
    finished = run(program, tmp_path)
    assert finished.returncode == 2
    assert finished.stderr.count("\n") == 1
    assert "pip install 'testsgd[skops]'" in finished.stderr
    assert not (tmp_path / "reports").exists()


def test_an_audit_of_rows_loads_what_it_needs(tmp_path: Path) -> None:
    """At most 180 modules of the package, none of another capability, and none of texts.

    What is loaded names texts: that there are descriptions of them, and a part of the document.
    """
    program = RUN.format(arguments=["audit", "demo", *FEW, "--out", "r", "--quiet"]) + (
        "import sys; print(*(name for name in sys.modules if name.startswith('testsgd')))"
    )
    finished = run(program, tmp_path)
    assert finished.returncode == 0, finished.stderr
    loaded = finished.stdout.split()
    assert len(loaded) <= 180
    of_texts = {name for name in loaded if ".text" in name or "text_" in name or "term" in name}
    assert of_texts == {
        "testsgd.data.text",
        "testsgd.data.text.schema",
        "testsgd.auditing.report.term_summary",
    }
    others = (
        "certification",
        "mitigation",
        "comparison",
        "generative",
        "shielding",
        "monitoring",
        "truth",
    )
    assert [name for name in loaded if name.split(".")[1:2] and name.split(".")[1] in others] == []
