"""``testsgd report``, ``train`` and ``data``, and the program as a process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import command_line
import jsonschema
import pytest

from testsgd import __version__
from testsgd.cli.main import COMMANDS, load_command
from testsgd.data import catalogue, generate_demo, load_specification

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
Fails = Callable[..., str]

# Few bootstrap samples, behind a guarantee and stability as by default.
QUICK = ("--replicates", "99", "--stability", "5")


@pytest.mark.parametrize("options", [[], ["--fail-above", "0.1"], ["--theta", "0.999"]])
def test_report_renders_a_saved_result_again(
    testsgd: Run, folder: Path, options: list[str]
) -> None:
    first = testsgd("audit", "demo", "--limit", "3000", "--out", "one", *QUICK, *options)
    again = testsgd("report", "one/result.json", "--out", "two", "--format", "html,md,json")
    assert again.code == first.code
    assert again.err == ""
    for name in ("report.html", "report.md", "result.json"):
        assert (folder / "two" / name).read_bytes() == (folder / "one" / name).read_bytes()
    headline = json.loads((folder / "one/result.json").read_text(encoding="utf-8"))["verdict"]
    assert again.out.startswith(headline["headline"])


def test_report_writes_beside_the_result_by_default(testsgd: Run, folder: Path) -> None:
    testsgd("audit", "demo", "--out", "one", "--format", "json", *QUICK)
    finished = testsgd("report", "one/result.json", "--quiet")
    assert (finished.code, finished.out, finished.err) == (0, "", "")
    assert sorted(path.name for path in (folder / "one").iterdir()) == [
        "report.html",
        "report.md",
        "result.json",
    ]


def test_formats_that_a_saved_audit_has_are_named_alone(
    testsgd: Run, fails: Fails, folder: Path
) -> None:
    testsgd("audit", "demo", "--out", "one", "--format", "json", *QUICK)
    message = fails("report", "one/result.json", "--format", "junit")
    assert "junit" in message
    advised = [name for name in ("html", "md", "json", "csv", "parquet") if name in message]
    assert advised == ["html", "md", "json"]
    again = testsgd("report", "one/result.json", "--out", "two", "--format", ",".join(advised))
    assert again.err == ""
    # What is known is not called unknown.
    assert "unknown" not in fails("report", "one/result.json", "--format", "csv")


def test_report_of_something_else(fails: Fails, folder: Path) -> None:
    assert "no such file" in fails("report", "gone.json")
    for name, content in (("a.json", b"{}"), ("b.json", b""), ("c.json", b"\xff\0"), ("d", b"[")):
        (folder / name).write_bytes(content)
        assert name in fails("report", name)


@pytest.mark.parametrize("item", ["csv", "parquet", "pdf"])
def test_report_in_a_format_that_cannot_be(
    testsgd: Run, fails: Fails, folder: Path, item: str
) -> None:
    testsgd("audit", "demo", "--limit", "600", "--out", "one", "--format", "json", *QUICK)
    assert "format" in fails("report", "one/result.json", "--format", f"html,{item}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "no data set 'nonsense'"),
        (["demo", "--epochs", "0"], "epochs"),
        (["demo", "--seed", "-1"], "seed"),
        (["demo", "--seed", "4294967296"], "seed"),
        (["demo", "--data", "gone.csv"], "no such file"),
        (["demo", "--data", "unlabelled.csv"], "label column 'granted' is missing"),
        (["demo", "--data", "few.csv"], "too few"),
    ],
)
def test_a_training_that_cannot_be(
    fails: Fails, folder: Path, arguments: list[str], message: str
) -> None:
    people = generate_demo(rows=40, seed=0)
    people.drop(columns="granted").to_csv(folder / "unlabelled.csv", index=False)
    few = people.sort_values("granted").iloc[[0, 1, -1]]
    few.to_csv(folder / "few.csv", index=False)
    assert message in fails("train", *arguments)


@pytest.mark.tensorflow
def test_a_trained_network_is_audited_by_default(testsgd: Run, folder: Path) -> None:
    pytest.importorskip("tensorflow")
    generate_demo(rows=600, seed=0).to_csv(folder / "rows.csv", index=False)
    trained = testsgd("train", "demo", "--data", "rows.csv", "--epochs", "1")
    assert (trained.code, trained.err) == (0, "")
    assert "Written: models/demo" in trained.out
    card = json.loads((folder / "models/demo/card.json").read_text(encoding="utf-8"))
    assert f"{card['test accuracy']:.2%} on the test rows" in trained.out
    testsgd("audit", "demo", "--out", "out", "--format", "json", *QUICK)
    result = json.loads((folder / "out/result.json").read_text(encoding="utf-8"))
    assert result["model"]["card"]["rows for training"] == "480"


def test_data_list_names_every_data_set(testsgd: Run) -> None:
    finished = testsgd("data", "list")
    assert (finished.code, finished.err) == (0, "")
    for name in catalogue():
        assert name in finished.out


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_data_describe(testsgd: Run, name: str) -> None:
    finished = testsgd("data", "describe", name)
    specification = load_specification(name)
    assert finished.code == 0
    assert f"Favourable label: {specification.label.favourable}" in finished.out
    assert specification.dataset.description in finished.out
    for file in specification.files:
        assert file.name in finished.out
        if file.sha256 is not None:
            assert f"sha256 {file.sha256}" in finished.out
    assert "None" not in finished.out


def test_data_fetch_finds_what_is_there(testsgd: Run, folder: Path) -> None:
    assert "no files to fetch" in testsgd("data", "fetch", "demo").out
    rows = folder / "rows.csv"
    rows.write_text("anything", encoding="utf-8")
    target = Path(os.environ["TESTSGD_DATA_HOME"]) / "mine"
    target.mkdir(parents=True)
    (target / "rows.csv").write_text("anything", encoding="utf-8")
    (folder / "mine.toml").write_text(
        '[dataset]\nname = "mine"\n[[files]]\nname = "rows.csv"\n'
        '[label]\ncolumn = "y"\nfavourable = "1"\n'
        '[features.x]\ntype = "integer"\nrange = [0, 9]\nsensitive = true\n',
        encoding="utf-8",
    )
    assert testsgd("data", "fetch", "mine.toml").out == f"{target / 'rows.csv'}\n"


def test_data_fetch_of_a_file_that_is_another(fails: Fails) -> None:
    target = Path(os.environ["TESTSGD_DATA_HOME"]) / "compas"
    target.mkdir(parents=True)
    (target / load_specification("compas").files[0].name).write_text("other", encoding="utf-8")
    assert "sha256" in fails("data", "fetch", "compas")


def test_data_schema_describes_the_catalogue(testsgd: Run) -> None:
    import tomllib

    schema = json.loads(testsgd("data", "schema").out)
    for path in catalogue().values():
        jsonschema.validate(tomllib.loads(path.read_text(encoding="utf-8")), schema)


def test_version_and_help(testsgd: Run) -> None:
    assert testsgd("--version").out == f"testsgd {__version__}\n"
    shown = testsgd("--help")
    assert shown.code == 0
    for command in ("audit", "train", "report", "data"):
        assert command in shown.out
    # Without any argument the help is shown too, but nothing was done.
    empty = testsgd()
    assert (empty.code, empty.err) == (2, "")
    assert "audit" in empty.out


def _help_texts(command: Any, words: list[str]) -> Iterator[tuple[list[str], str]]:
    """Yield the words of a command, and of those in it, and each of its help texts."""
    for part in (command, *command.params):
        yield words, getattr(part, "help", None) or ""
    for name, inner in getattr(command, "commands", {}).items():
        yield from _help_texts(inner, [*words, name])


def test_help_shows_square_brackets(testsgd: Run) -> None:
    bracketed = [
        (words, found)
        for name in COMMANDS
        for words, text in _help_texts(load_command(name), [name])
        for found in re.findall(r"\[[^\]]*\]", text)
    ]
    for words, found in bracketed:
        shown = re.sub(r"[\s│]", "", testsgd(*words, "--help").out)
        assert "".join(found.split()) in shown


@pytest.mark.parametrize("words", [("audit",), ("monitor", "run"), ()])
def test_commands_are_the_same_in_a_second_call(words: tuple[str, ...], testsgd: Run) -> None:
    first = testsgd(*words, "--help")
    mistaken = testsgd(*words, "--no-such-option")
    assert testsgd(*words, "--help") == first
    assert testsgd(*words, "--no-such-option") == mistaken
    assert (first.code, mistaken.code) == (0, 2)


def test_an_interruption_has_its_own_code(testsgd: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("testsgd.auditing.audit", interrupted)
    finished = testsgd("audit", "demo")
    assert (finished.code, finished.out, finished.err) == (130, "", "testsgd: interrupted\n")


def test_an_internal_error_is_one_line_unless_verbose(
    testsgd: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise AssertionError("broken")

    monkeypatch.setattr("testsgd.auditing.audit", broken)
    finished = testsgd("audit", "demo")
    assert finished.code == 70
    assert finished.err.startswith("testsgd: internal error: AssertionError: broken")
    assert finished.err.count("\n") == 1
    with pytest.raises(AssertionError, match="broken"):
        testsgd("audit", "demo", "--verbose")


def run_process(folder: Path, *arguments: str, **environment: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "testsgd", *arguments],
        capture_output=True,
        cwd=folder,
        env=os.environ | environment,
        check=False,
    )


@pytest.mark.slow
def test_the_package_is_a_program(folder: Path) -> None:
    finished = run_process(folder, "--version")
    assert (finished.returncode, finished.stderr) == (0, b"")
    assert finished.stdout.decode() == f"testsgd {__version__}\n"
    failed = run_process(folder, "audit", "nonsense")
    assert failed.returncode == 2
    assert failed.stderr.count(b"\n") == 1
    gate = run_process(folder, "audit", "demo", *QUICK, "--fail-above", "0.1", "--quiet")
    assert (gate.returncode, gate.stdout, gate.stderr) == (1, b"", b"")


def test_a_terminal_without_quotation_marks_is_no_reason_to_fail(folder: Path) -> None:
    finished = run_process(
        folder, "audit", "demo", *QUICK, PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )
    assert (finished.returncode, finished.stderr) == (0, b"")
    assert b"?yes?" in finished.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_shows_the_first_paragraph_of_each_ones_help(name: str) -> None:
    first = load_command(name).help.split("\n\n")[0]
    assert " ".join(first.split()) == COMMANDS[name]
