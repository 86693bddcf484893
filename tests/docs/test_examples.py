"""The examples run as they are, and what the docs show of them is what runs."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from shown_commands import run_here

import testsgd
from testsgd.data import PLANTED_GROUP

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAGES = sorted((ROOT / "docs").rglob("*.md"))

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not installed")

_TITLED_BLOCK = re.compile(
    r'^```\w+ title="examples/([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL
)
_TEXT_BLOCK = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONSOLE_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(
    command: list[str], folder: Path, *, expected_code: int = 0
) -> subprocess.CompletedProcess[str]:
    # Other tests run beside: threads that wait for each other would take minutes.
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    finished = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=one_thread
    )
    assert finished.returncode == expected_code, finished.stderr
    # But for the lines of progress, which a slow machine may see.
    assert [line for line in finished.stderr.splitlines() if not line.endswith("so far")] == []
    return finished


def run_example(
    name: str, *arguments: str, folder: Path, expected_code: int = 0
) -> subprocess.CompletedProcess[str]:
    # A newcomer should not see a warning either.
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    return run(command, folder, expected_code=expected_code)


@pytest.mark.slow
def test_auditing_a_model_finds_the_planted_group_and_its_result_reads_back(tmp_path: Path) -> None:
    shown = run_example("01_audit_your_model.py", folder=tmp_path).stdout
    # The planted group in words.
    assert shown.startswith("Women of 40 to 59 with race Black ")

    folder = tmp_path / "reports" / "my-model"
    shown = run_example("04_read_result.py", str(folder / "result.json"), folder=tmp_path).stdout
    assert PLANTED_GROUP in shown or "omen of 40 to 59 with race Black" in shown
    assert "on 10,000 rows of Loan applications" in shown
    rendered_again = (folder / "again" / "report.html").read_text(encoding="utf-8")
    assert rendered_again == (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_own_data_give_the_same_on_the_command_line(tmp_path: Path) -> None:
    shown = run_example("02_own_data.py", folder=tmp_path).stdout
    assert "hose under 30" in shown
    in_python = json.loads((tmp_path / "reports/loans/result.json").read_text(encoding="utf-8"))

    # The command line finds the model's module in the working folder.
    (tmp_path / "loan_model.py").write_bytes((EXAMPLES / "loan_model.py").read_bytes())
    command = ["audit", str(EXAMPLES / "loans.toml"), "--data", "loans.csv"]
    command += ["--model", "loan_model:score", "--out", "again", "--quiet"]
    run([sys.executable, "-m", "testsgd", *command], tmp_path)
    by_command = json.loads((tmp_path / "again/result.json").read_text(encoding="utf-8"))

    # Whether somebody is under 30 is what that model looks at; 30 is an edge of the bins.
    assert by_command["groups"][0]["text"] in {"age < 30", "age >= 30"}
    for key in ("data", "model", "parameters", "groups", "verdict"):
        assert by_command[key] == in_python[key], key


@pytest.mark.slow
def test_texts_give_the_same_on_the_command_line_and_as_shown(tmp_path: Path) -> None:
    shown = run_example("05_audit_texts.py", folder=tmp_path).stdout
    in_python = json.loads((tmp_path / "reports/comments/result.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "texts.md").read_text(encoding="utf-8")
    (block,) = _TEXT_BLOCK.findall(page)
    assert block in shown

    (tmp_path / "comment_filter.py").write_bytes((EXAMPLES / "comment_filter.py").read_bytes())
    command = ["audit", str(EXAMPLES / "comments.toml"), "--data", "comments.csv"]
    command += ["--model", "comment_filter:score", "--out", "again", "--quiet"]
    run([sys.executable, "-m", "testsgd", *command], tmp_path)
    by_command = json.loads((tmp_path / "again/result.json").read_text(encoding="utf-8"))
    for key in ("data", "model", "parameters", "groups", "terms", "verdict"):
        assert by_command[key] == in_python[key], key

    # The filter minds two terms together; origins only stand in comments that are rude more often.
    first = by_command["groups"][0]
    assert {rule["values"][0] for rule in first["rules"]} == {"woman", "old"}
    of_origin = [
        group["counterfactual"]
        for group in by_command["groups"]
        if [rule["feature"] for rule in group["rules"]] == ["origin"]
    ]
    assert of_origin
    assert all(found["difference"] == 0 for found in of_origin)


@pytest.mark.slow
def test_a_classifier_in_a_pipeline_counters_the_planted_group(tmp_path: Path) -> None:
    shown = run_example("07_mitigate_in_a_pipeline.py", folder=tmp_path).stdout
    assert shown.startswith(f"Group: {PLANTED_GROUP}\n")
    before, after = (float(score) for score in re.findall(r"score (0\.\d+)", shown))
    assert after < before
    first, second = (float(share) for share in re.findall(r"accuracy ([\d.]+)%", shown))
    assert second > first - 1.5


@pytest.mark.slow
def test_a_shield_keeps_its_bound_over_a_restart(tmp_path: Path) -> None:
    shown = run_example("08_shield.py", folder=tmp_path).stdout
    found = re.search(r"^bias ([\d.]+), (\d+) of 100 recommendations changed$", shown, re.MULTILINE)
    assert found is not None
    assert float(found[1]) <= 0.1
    assert int(found[2]) > 0
    # A line for the shield itself, and one a decision; those of the first half were not made twice.
    assert len((tmp_path / "loans.journal").read_text(encoding="utf-8").splitlines()) == 101


@pytest.mark.slow
def test_mitigating_lessens_the_planted_discrimination_and_says_so(tmp_path: Path) -> None:
    shown = run_example("06_mitigate.py", folder=tmp_path).stdout.splitlines()
    written = (tmp_path / "reports/my-model-mitigated/result.json").read_text(encoding="utf-8")
    result = json.loads(written)
    assert shown[0] == result["verdict"]["headline"]
    (target,) = result["targets"]
    # Found on the rows that are not held out, in which its two decades differ by chance.
    assert target["text"].startswith(PLANTED_GROUP.rpartition(" ")[0])
    assert target["after"]["score"] < target["before"]["score"]
    assert any(line.split() and line.split()[0] == "female" for line in shown)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "code", "status"), [(0.2, 1, "failed"), (0.5, 0, "passed")])
def test_gate_leaves_with_its_code(limit: float, code: int, status: str, tmp_path: Path) -> None:
    finished = run_example("03_gate.py", str(limit), folder=tmp_path, expected_code=code)
    assert finished.stdout.startswith(f"gate_{status}: ")


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_examples_are_short(script: Path) -> None:
    assert len(script.read_text(encoding="utf-8").splitlines()) < 60


def test_pages_show_examples_as_they_are() -> None:
    shown = 0
    for page in PAGES:
        for name, block in _TITLED_BLOCK.findall(page.read_text(encoding="utf-8")):
            expected = (EXAMPLES / name).read_text(encoding="utf-8")
            assert block == expected, f"{page.name} shows another {name}"
            shown += 1
    assert shown > 0


def documented_commands() -> list[str]:
    commands = []
    for page in PAGES:
        for block in _CONSOLE_BLOCK.findall(page.read_text(encoding="utf-8")):
            lines = block.replace("\\\n", " ").splitlines()
            commands += [line[2:] for line in lines if line.startswith("$ testsgd ")]
    return sorted(set(commands))


@pytest.mark.parametrize("command", documented_commands())
def test_documented_commands_exist(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ask each command for its help: the names of commands are checked, nothing is run."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    words = shlex.split(command)[1:]
    names = words[: 2 if words[0] in {"data", "generative", "monitor", "shield"} else 1]
    code, printed = run_here([*names, "--help"], tmp_path)
    assert code == 0, printed
    for option in (word for word in words if word.startswith("--")):
        assert option in printed


def test_public_names_have_a_page() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES if page.parent.name == "api")
    for name in testsgd.__all__:
        if not name.startswith("__"):
            assert name in pages


def test_the_recipe_of_pytorch_runs_where_it_is_installed() -> None:
    """The page marks it as not to run, as PyTorch is too large for everyone to install."""
    pytest.importorskip("torch")
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    first, _, further = page.partition("## A PyTorch module")
    recipe = further.partition("\n## ")[0].replace("  # doctest: +SKIP", "")
    assert "torch.nn" in recipe
    # What it begins with stands in the recipes before it.
    test = doctest.DocTestParser().get_doctest(first + recipe, {}, "recipes.md", None, 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False).failed == 0
    test.globs["folder"].cleanup()
