"""``testsgd generative assess``: what it prints and writes, and how it refuses bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from testsgd.cli.main import _run

SPECIFICATION = """
name = "nurses"
prompts = ["The {occupation} was tired, so"]
[groupings.gender]
values = ["female", "male"]
[groupings.gender.terms]
female = ["she", "woman"]
male = ["he", "man"]
[groupings.occupation]
values = ["nurse", "engineer"]
reads = "prompt"
[[requirements]]
grouping = "gender"
when = { occupation = "nurse" }
beta = 2
"""
Run = Callable[..., tuple[int, str, str]]


def log(pronouns: str) -> str:
    rows = [
        {"prompt": "The nurse was tired, so", "output": f" {pronoun} slept."}
        for pronoun in pronouns.split()
    ]
    rows.append({"prompt": "The engineer was tired, so", "output": " he slept."})
    return "".join(f"{json.dumps(row)}\n" for row in rows)


FAIR, UNFAIR, SHORT = log("she he she he"), log("she she she she"), log("she he")


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run the command in a folder with a specification and some logs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fair.toml").write_text(SPECIFICATION, encoding="utf-8")
    for name, text in (("fair", FAIR), ("unfair", UNFAIR), ("short", SHORT)):
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")

    def run(*arguments: str) -> tuple[int, str, str]:
        code = _run(["generative", "assess", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize(("name", "expected"), [("fair", 0), ("unfair", 1), ("short", 3)])
def test_the_exit_code_is_the_outcome(command: Run, name: str, expected: int) -> None:
    code, out, err = command(f"{name}.jsonl", "--spec", "fair.toml")
    assert code == expected
    assert out.strip()
    assert not err


def test_reports_are_written_where_they_are_wanted(command: Run, tmp_path: Path) -> None:
    code, out, _ = command("unfair.jsonl", "--spec", "fair.toml", "--out", "made")
    assert code == 1
    written = {path.name for path in (tmp_path / "made").iterdir()}
    assert written == {"report.html", "report.md", "result.json"}
    document = json.loads((tmp_path / "made" / "result.json").read_text(encoding="utf-8"))
    assert document["schema"] == "testsgd.generative/1"
    assert document["verdict"]["exit_code"] == 1
    assert document["sequences"][0]["related"] == 4
    assert "result.json" in out


def test_nothing_is_written_or_printed_that_is_not_wanted(command: Run, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    code, out, err = command("unfair.jsonl", "--spec", "fair.toml", "--quiet")
    assert (code, out, err) == (1, "", "")
    assert set(tmp_path.iterdir()) == before
    command("fair.jsonl", "--spec", "fair.toml", "--out", "made", "--format", "json")
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["result.json"]


def test_an_earlier_result_is_shown_beside_this_one(command: Run, tmp_path: Path) -> None:
    command("unfair.jsonl", "--spec", "fair.toml", "--out", "before")
    code, _, _ = command(
        "fair.jsonl", "--spec", "fair.toml", "--before", "before/result.json", "--out", "after"
    )
    assert code == 0
    earlier = json.loads((tmp_path / "before" / "result.json").read_text(encoding="utf-8"))
    document = json.loads((tmp_path / "after" / "result.json").read_text(encoding="utf-8"))
    assert document["before"] == earlier["sequences"]
    assert document["sequences"] != earlier["sequences"]
    page = (tmp_path / "after" / "report.html").read_text(encoding="utf-8")
    assert "Longest wait before" in page


BAD = [
    ("none.jsonl", SPECIFICATION, (), "none.jsonl"),
    ("fair.toml", SPECIFICATION, (), "fair.toml"),
    ("bad.jsonl", SPECIFICATION, (), "line 2"),
    ("wrong.csv", SPECIFICATION, (), "output 2, gender"),
    ("texts.csv", SPECIFICATION, (), "'prompt'"),
    ("fair.jsonl", SPECIFICATION + "betta = 2", (), "line 16"),
    ("fair.jsonl", "groupings = ", (), "fair.toml"),
    ("fair.jsonl", SPECIFICATION, ("--format", "pdf"), "pdf"),
    ("fair.jsonl", SPECIFICATION, ("--before", "none.json"), "none.json"),
    ("fair.jsonl", SPECIFICATION, ("--before", "fair.jsonl"), "fair.jsonl"),
    ("fair.jsonl", SPECIFICATION, ("--out", "fair.toml"), "fair.toml"),
    (
        "fair.jsonl",
        SPECIFICATION.replace("[[requirements]]", '[groupings.x]\nvalues = ["a", "b"]\n'
                              'classify = "nowhere:f"\n[[requirements]]'),
        (),
        "nowhere:f",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("outputs", "specification", "options", "place"), BAD)
def test_bad_input_is_one_line_and_exit_code_2(
    command: Run,
    tmp_path: Path,
    outputs: str,
    specification: str,
    options: tuple[str, ...],
    place: str,
) -> None:
    (tmp_path / "fair.toml").write_text(specification, encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text('{"gender": "male"}\n{', encoding="utf-8")
    (tmp_path / "wrong.csv").write_text("gender,occupation\nmale,nurse\nmole,nurse\n")
    (tmp_path / "texts.csv").write_text("output\nshe slept\n")
    code, out, err = command(outputs, "--spec", "fair.toml", *options)
    assert code == 2
    assert not out
    assert place in " ".join(err.split())
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("arguments", [(), ("fair.jsonl",), ("fair.jsonl", "--spec")])
def test_what_is_missing_on_the_command_line(command: Run, arguments: tuple[str, ...]) -> None:
    code, _, err = command(*arguments)
    assert code == 2
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("empty.jsonl", ""),
        ("empty.jsonl", "\n\n"),
        ("empty.json", "[]"),
        ("empty.csv", "prompt,output\n"),
        ("empty.tsv", "prompt\toutput\n"),
    ],
)
def test_without_outputs_there_is_not_enough_evidence(
    command: Run, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    code, out, err = command(name, "--spec", "fair.toml", "--out", "made")
    assert (code, err) == (3, "")
    verdict = json.loads((tmp_path / "made" / "result.json").read_text(encoding="utf-8"))["verdict"]
    assert verdict["exit_code"] == 3
    assert verdict["sentences"] == []
    assert verdict["headline"] in out
