"""``testsgd audit`` on texts: the same command, options of its own, and every mistake one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import command_line
import pytest
from comment_texts import DESCRIPTION, comments, write_files

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., command_line.Finished]
Fails = Callable[..., str]


@pytest.fixture
def spec(folder: Path) -> Path:
    sys.modules.pop("forum", None)
    return write_files(folder)


@pytest.fixture
def audit(testsgd: Run, spec: Path) -> Run:
    def run(*options: str | Path) -> command_line.Finished:
        return testsgd("audit", spec, "--data", "comments.csv", "--model", "forum:judge", *options)

    return run


def result(folder: Path) -> dict:
    return json.loads((folder / "reports" / "comments" / "result.json").read_text())


def test_a_text_model_is_audited_and_reported(audit: Run, folder: Path) -> None:
    finished = audit()
    assert (finished.code, finished.err) == (0, "")
    assert "“catholic” and “old”" in finished.out
    assert "texts" in finished.out
    assert "rows" not in finished.out
    files = {path.name for path in (folder / "reports" / "comments").iterdir()}
    assert files == {"report.html", "report.md", "result.json"}
    found = result(folder)
    assert found["schema"] == "testsgd.audit/2"
    assert found["data"]["kind"] == "texts"
    assert found["mode"] == "exact"
    assert found["groups"][0]["text"] == "“catholic” and “old”"
    assert found["groups"][0]["counterfactual"]["difference"] > 0.5


def test_the_saved_result_renders_the_same_report(audit: Run, testsgd: Run, folder: Path) -> None:
    audit()
    first = (folder / "reports" / "comments" / "report.html").read_text()
    saved = folder / "reports" / "comments" / "result.json"
    assert testsgd("report", saved, "--out", "again").code == 0
    assert (folder / "again" / "report.html").read_text() == first


def test_texts_are_shown_only_if_asked_for(audit: Run, folder: Path) -> None:
    audit()
    report = folder / "reports" / "comments"
    for name in ("report.html", "report.md", "result.json"):
        assert "wrote this" not in (report / name).read_text()
    audit("--snippets", "3")
    assert "wrote this" in (report / "report.html").read_text()


def test_a_sample_of_the_texts_can_be_audited(audit: Run, folder: Path) -> None:
    assert audit("--limit", "60", "--min-rows", "5", "--quiet").code == 0
    found = result(folder)
    assert found["data"]["rows"] == 60
    assert any("a sample of 60 of the 200 texts" in note for note in found["data"]["notes"])


def test_own_terms_take_the_place_of_the_papers(audit: Run, testsgd: Run, folder: Path) -> None:
    assert testsgd("data", "terms", "--terms", "terms.toml").code == 0
    assert testsgd("data", "terms").out.strip() == (folder / "terms.toml").read_text().strip()
    (folder / "mine.toml").write_text(
        '[terms]\nname = "mine"\n[categories.time]\nlate = {}\nearly = {}\n', encoding="utf-8"
    )
    assert audit("--terms", "mine.toml", "--min-rows", "5").code == 0
    found = result(folder)
    assert found["terms"]["name"] == "mine"
    assert {group["text"] for group in found["groups"]} == {"“late”", "“early”"}


def test_the_descriptions_theta_is_taken_where_none_is_given(
    testsgd: Run, spec: Path, folder: Path
) -> None:
    spec.write_text(DESCRIPTION.replace("[paper]", "[audit]\ntheta = 0.3\nwhy = 'x'"))
    base = ("audit", spec, "--data", "comments.csv", "--model", "forum:judge", "--quiet")
    assert testsgd(*base).code == 0
    assert result(folder)["parameters"]["theta"] == 0.3
    assert testsgd(*base, "--theta", "0.1").code == 0
    assert result(folder)["parameters"]["theta"] == 0.1


def test_the_gate_and_the_evidence_have_the_same_exit_codes(audit: Run) -> None:
    assert audit("--fail-above", "0.9").code == 0
    assert audit("--fail-above", "0.1").code == 1
    assert audit("--theta", "0.9").code == 3


def test_sampling_modes_and_all_formats(audit: Run, folder: Path) -> None:
    assert audit("--mode", "sampled", "--min-samples", "100", "--format", "json,csv,md").code == 0
    assert result(folder)["mode"] == "sampled"
    finished = audit(
        "--mode", "sampled", "--sampling", "independent", "--min-samples", "100", "--theta", "0.3"
    )
    assert finished.code == 0
    assert result(folder)["groups"][0]["counterfactual"] is None


def test_data_commands_know_texts(testsgd: Run, spec: Path) -> None:
    listed = testsgd("data", "list").out
    for name in ("imdb", "tweets", "wiki", "census"):
        assert name in listed
    described = testsgd("data", "describe", spec).out
    assert "african american" in described
    assert testsgd("data", "describe", "tweets").code == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--terms", "none.toml"], "there is no such file"),
        (["--limit", "0"], "limit"),
        (["--snippets", "-1"], "snippets"),
        (["--max-queries", "1"], "max_queries"),
        (["--mode", "exact", "--max-queries", "20"], "an exact audit takes up to"),
        (["--model", "forum:shout"], "the model raised RuntimeError: out of order"),
        (["--model", "census"], "census"),
        (["--model", "forum:nothing"], "has no 'nothing'"),
    ],
)
def test_a_mistake_is_one_line(fails: Fails, spec: Path, options: list[str], expected: str) -> None:
    base = ["audit", str(spec), "--data", "comments.csv"]
    if "--model" not in options:
        base += ["--model", "forum:judge"]
    assert expected in fails(*base, *options)


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ("[terms]\nname = 'x'\n[categories.a]\n", "a"),
        ("[terms]\nname = 'x'\n[categories.a]\nold = {}\n[categories.b]\nold = {}\n", "old"),
        ("[terms]\nname = 'x'\n[categories.a]\nold = ['older']\nolder = {}\n", "older"),
        ("[terms]\nname = 'x'\n[categories.a]\n'!' = {}\n", "!"),
        ("[terms\n", "not valid TOML"),
        ("[terms]\nname = 'x'\n", "categories"),
    ],
)
def test_a_mistake_in_the_terms_is_one_line(
    fails: Fails, spec: Path, folder: Path, terms: str, expected: str
) -> None:
    (folder / "mine.toml").write_text(terms, encoding="utf-8")
    message = fails(
        "audit", spec, "--data", "comments.csv", "--model", "forum:judge", "--terms", "mine.toml"
    )
    assert "mine.toml" in message
    assert expected in message


def test_terms_are_for_texts(fails: Fails, spec: Path) -> None:
    assert "sensitive terms are for texts" in fails("audit", "demo", "--terms", "mine.toml")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"comment,verdict\n", "no rows"),
        (b"words,verdict\nhello,fine\n", "the column 'comment' is missing"),
        (b"comment,verdict\nhello,fine\nol\xe9,rude\n", "utf-8"),
        (b"comment,verdict\nhello,nice\nold,rude\n", "'nice'"),
    ],
)
def test_a_mistake_in_the_texts_is_one_line(
    fails: Fails, spec: Path, folder: Path, content: bytes, expected: str
) -> None:
    (folder / "comments.csv").write_bytes(content)
    message = fails("audit", spec, "--data", "comments.csv", "--model", "forum:judge")
    assert expected.lower() in message.lower()


@pytest.mark.slow
def test_empty_texts_and_texts_of_a_megabyte_are_audited(audit: Run, folder: Path) -> None:
    # Each mention is replaced for each term, which is what takes time; the megabyte is read anyway.
    remark = f"an old catholic {'x' * 143} "
    texts = ["", *comments(150), remark * 6_500]
    assert len(texts[-1]) > 1_000_000
    lines = "".join(
        f'"{text}",{"rude" if place % 2 else "fine"}\n' for place, text in enumerate(texts)
    )
    (folder / "comments.csv").write_text("comment,verdict\n" + lines, encoding="utf-8")
    finished = audit()
    assert finished.code == 0
    assert len((folder / "reports" / "comments" / "report.html").read_text()) < 2_000_000


def test_texts_without_any_term_leave_nothing_to_judge(audit: Run, folder: Path) -> None:
    (folder / "comments.csv").write_text(
        "comment,verdict\n" + "a stupid remark,rude\nnice,fine\n" * 20, encoding="utf-8"
    )
    finished = audit()
    assert finished.code == 3
    assert "Not enough evidence" in finished.out


def test_groups_can_be_ranked_by_what_the_terms_change_themselves(
    audit: Run, fails: Fails, spec: Path, folder: Path
) -> None:
    finished = audit("--rank-by", "counterfactual", "--fail-above", "0.9")
    assert finished.code == 0
    found = result(folder)
    assert found["parameters"]["rank_by"] == "counterfactual"
    own = [abs(group["counterfactual"]["difference"]) for group in found["groups"]]
    assert own == sorted(own, reverse=True)
    assert "in the same texts" in found["verdict"]["headline"]
    assert f"{own[0]:.3f}" in found["verdict"]["sentences"][0]
    ends = [group["counterfactual"]["confidence_interval"] for group in found["groups"]]
    sure = max(max(low, -high, 0.0) for low, high in ends)
    for gate, code in ((own[0] - 0.001, 3), (sure + 0.001, 3), (sure - 0.001, 1)):
        assert audit("--rank-by", "counterfactual", "--fail-above", f"{gate}").code == code
    least = ("--fail-above", f"{own[0] - 0.001}", "--guarantee", "per-group")
    assert audit("--rank-by", "counterfactual", *least).code == 1
    base = ("audit", spec, "--data", "comments.csv", "--model", "forum:judge")
    message = fails(*base, "--rank-by", "counterfactual", "--sampling", "independent")
    assert "compares nothing in pairs" in message
    assert "rank_by" in fails(*base, "--rank-by", "size")
