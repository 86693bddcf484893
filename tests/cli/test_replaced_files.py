"""Outputs replace only what testsgd wrote for the same purpose, unless --force says otherwise."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import model_server
import pytest

import testsgd as package
from testsgd.cli import console
from testsgd.data import bundled_folder, generate_demo
from testsgd.errors import ConfigurationError
from testsgd.io import check_replaceable, files_together, kind_of_file
from testsgd.mitigation.journal import Journal

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]
Runs = Callable[..., command_line.Finished]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHIELD = EXAMPLES / "shields" / "loans-demographic-parity.toml"


@pytest.fixture
def people(folder: Path) -> Path:
    path = folder / "people.csv"
    generate_demo(rows=300, seed=0).to_csv(path, index=False)
    return path


WORDS = ("--predictions", "granted", "--sensitive", "gender", "--out", "mine")


@pytest.mark.parametrize("name", ["report.html", "report.md", "result.json"])
def test_files_of_others_are_not_replaced(
    name: str, people: Path, folder: Path, testsgd: Runs, fails: Fails
) -> None:
    theirs = folder / "mine" / name
    theirs.parent.mkdir()
    theirs.write_text('{"mine": "notes of my own"}')
    assert str(theirs.relative_to(folder)) in fails("audit", people, *WORDS)
    assert theirs.read_text() == '{"mine": "notes of my own"}'
    assert testsgd("audit", people, *WORDS, "--force").code == 0
    assert "testsgd" in theirs.read_text()
    # From now on it is one of testsgd's, and force is over.
    assert testsgd("audit", people, *WORDS).code == 0


def test_results_of_another_kind_are_not_replaced(
    people: Path, folder: Path, testsgd: Runs, fails: Fails
) -> None:
    assert testsgd("audit", "demo", "--out", "mine").code == 0
    before = (folder / "mine" / "result.json").read_bytes()
    assert "testsgd.audit" in fails("audit", people, *WORDS, "--metrics", "selection_rate")
    assert (folder / "mine" / "result.json").read_bytes() == before
    assert testsgd("audit", "demo", "--out", "mine").code == 0
    assert testsgd("report", "mine/result.json").code == 0


def test_force_replaces_results_of_another_kind_as_its_help_says(
    people: Path, folder: Path, testsgd: Runs, fails: Fails
) -> None:
    assert testsgd("audit", "demo", "--out", "mine").code == 0
    of_metrics = ("audit", people, *WORDS, "--metrics", "selection_rate")
    refused = fails(*of_metrics)
    assert "--force" in refused
    helped = " ".join(testsgd("audit", "--help").out.replace("│", " ").split())
    for said in (refused, helped):
        assert "of another kind" in said
    assert testsgd(*of_metrics, "--force").code == 0
    assert kind_of_file(folder / "mine" / "result.json") == "testsgd.metrics"


def test_another_audit_of_the_same_data_takes_the_place_of_one(
    people: Path, folder: Path, testsgd: Runs
) -> None:
    metrics = ("--metrics", "selection_rate")
    mine = folder / "mine"
    assert testsgd("audit", people, *WORDS, "--format", "html,md,json,csv").code == 0
    assert testsgd("audit", people, *WORDS, *metrics, "--format", "json").code == 0
    # No view of the audit before is left beside the new result.
    assert [path.name for path in mine.iterdir()] == ["result.json"]
    assert kind_of_file(mine / "result.json") == "testsgd.metrics"
    assert testsgd("audit", people, *WORDS, *metrics).code == 0
    assert testsgd("audit", people, *WORDS, *metrics).code == 0
    (mine / "notes.md").write_text("mine")
    assert testsgd("audit", people, *WORDS, "--format", "html").code == 0
    assert {path.name for path in mine.iterdir()} == {"report.html", "notes.md"}


def test_another_audit_of_the_same_data_replaces_no_file_of_others(
    people: Path, folder: Path, testsgd: Runs, fails: Fails
) -> None:
    assert testsgd("audit", people, *WORDS, "--format", "json").code == 0
    theirs = folder / "mine" / "report.html"
    theirs.write_text("notes of my own")
    fails("audit", people, *WORDS, "--metrics", "selection_rate")
    assert theirs.read_text() == "notes of my own"
    assert kind_of_file(folder / "mine" / "result.json") == "testsgd.audit"


def test_results_from_python_take_the_place_of_one_as_the_command_does(tmp_path: Path) -> None:
    people = generate_demo(rows=300, seed=0)
    given: dict[str, Any] = {"sensitive_features": people[["gender"]]}
    rate = package.audit_predictions(people["granted"], name="people", **given)
    metrics = package.audit_metrics(people["granted"], name="people", **given)
    others = package.audit_metrics(people["granted"], name="others", **given)
    rate.write(tmp_path)
    metrics.write(tmp_path, ["json"])
    assert kind_of_file(tmp_path / "result.json") == "testsgd.metrics"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    rate.write(tmp_path)
    assert kind_of_file(tmp_path / "result.json") == "testsgd.audit"
    with pytest.raises(ConfigurationError):
        others.write(tmp_path)


OF_MITIGATION = '{"schema": "testsgd.mitigation/2"}'
RATE, METRICS = (), ("--metrics", "selection_rate")


def answer(rows: list[dict[str, Any]], before: int) -> list[str]:
    return ["yes" if row["income"] > 30 else "no" for row in rows]


@pytest.mark.parametrize("out", ["mine", None])
@pytest.mark.parametrize("of", [RATE, METRICS], ids=["rate", "metrics"])
@pytest.mark.parametrize("there", ["mitigation", "other data"])
def test_a_model_is_asked_nothing_where_its_audit_could_not_be_written(
    there: str, of: tuple[str, ...], out: str | None, people: Path, folder: Path, fails: Fails
) -> None:
    present = folder / (out or "reports/people") / "result.json"
    present.parent.mkdir(parents=True)
    others = package.audit_predictions if of else package.audit_metrics
    data = generate_demo(rows=300, seed=0)
    if there == "mitigation":
        present.write_text(OF_MITIGATION)
    else:
        others(data["granted"], sensitive_features=data[["gender"]]).write(present.parent)
    before = present.read_bytes()
    into = () if out is None else ("--out", out)
    with model_server.served(answer) as server:
        words = ("audit", people, "--model", server.url, "--sensitive", "gender", *of, *into)
        line = fails(*words, "--label", "granted")
        assert server.requests == []
    assert "result.json" in line
    assert present.read_bytes() == before


@pytest.mark.parametrize("of", [RATE, METRICS], ids=["rate", "metrics"])
@pytest.mark.parametrize("first", [RATE, METRICS], ids=["rate", "metrics"])
@pytest.mark.parametrize("other", [False, True], ids=["same data", "other data"])
def test_what_is_refused_before_an_audit_is_what_would_be_refused_after_it(
    other: bool,
    first: tuple[str, ...],
    of: tuple[str, ...],
    people: Path,
    folder: Path,
    testsgd: Runs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = shutil.copy(people, folder / "others.csv") if other else people
    assert testsgd("audit", people, *WORDS, *first).code == 0
    early = testsgd("audit", name, *WORDS, *of)
    assert early.code == (2 if other and first != of else 0)
    monkeypatch.setattr(console, "check_reports_writable", lambda *_, **__: None)
    if early.code == 0:
        # As it was.
        shutil.rmtree(folder / "mine")
        assert testsgd("audit", people, *WORDS, *first).code == 0
    late = testsgd("audit", name, *WORDS, *of)
    assert (late.code, late.err) == (early.code, early.err)


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "demo"),
        ("audit", "demo", *METRICS),
        ("audit", "people.csv", *WORDS[:4], "--counts", "income"),
        ("compare", "people.csv"),
        ("certify", "demo"),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_no_command_replaces_the_result_of_another_and_says_so_first(
    words: tuple[str, ...], folder: Path, people: Path, fails: Fails
) -> None:
    present = folder / "mine" / "result.json"
    present.parent.mkdir()
    present.write_text(OF_MITIGATION)
    assert "testsgd.mitigation" in fails(*words, "--out", "mine")
    assert present.read_text() == OF_MITIGATION


def test_a_specification_is_not_replaced_by_its_shield(folder: Path, fails: Fails) -> None:
    specification = Path(shutil.copy(SHIELD, folder / "loans.toml"))
    before = specification.read_bytes()
    fails("shield", "synthesize", specification, "--shield", specification)
    fails("monitor", "run", EXAMPLES / "monitors" / SHIELD.name, "--state", specification)
    assert specification.read_bytes() == before


@pytest.mark.parametrize("name", ["state", "state.txt", "state.csv", "state.html", "state.json"])
def test_a_state_is_known_whatever_its_name(
    name: str, folder: Path, testsgd: Runs, fails: Fails
) -> None:
    monitor = EXAMPLES / "monitors" / SHIELD.name
    events = folder / "events.jsonl"
    events.write_text('{"group": "female", "decision": 1}\n{"group": "male", "decision": 0}\n')
    words = ("monitor", "run", monitor, "--events", events, "--state", name)
    assert testsgd(*words).code == testsgd(*words).code == 3
    state = folder / name
    before = state.read_bytes()
    assert json.loads(before)["state"]["book"] != {}
    # What goes on is not replaced by files that have no kind, such as an exported text.
    fails("monitor", "export", EXAMPLES / "monitors" / "loans-by-estimate.toml", "--out", name)
    assert state.read_bytes() == before
    # A text of others that only speaks of a state is not testsgd's.
    theirs = folder / f"theirs-{name}".removesuffix(".json").replace(".html", ".txt")
    theirs.write_text(f"my notes: {before.decode()}")
    assert kind_of_file(theirs) is None


def test_journals_go_on_whatever_their_names(folder: Path) -> None:
    path = folder / "mitigation"
    for name in ("first", "second"):
        journal = Journal(path, {"work": 1}, resume=True)
        journal.keep(name, [1])
    assert Journal(path, {"work": 1}, resume=True).names == ("first", "second")
    saved = folder / "loans.npz"
    package.synthesize_shield(SHIELD).save(saved)
    for step in (0, 1):
        with package.load_shield(saved, journal=folder / "decisions") as shield:
            assert shield.step == step
            shield.decide("female", 1)


def test_a_network_of_others_is_not_replaced(folder: Path, people: Path, fails: Fails) -> None:
    theirs = folder / "models" / "model.keras"
    theirs.parent.mkdir()
    theirs.write_bytes(b"PK a network of mine")
    fails("mitigate", "demo", "--method", "samples", "--model-out", theirs.parent)
    fails("mitigate", "demo", "--method", "samples", "--export", people)


def test_kinds(tmp_path: Path) -> None:
    for name in ("model.keras", "card.json", "preprocessing.json"):
        assert kind_of_file(bundled_folder("models") / "demo" / name) is not None
    network = Path(shutil.copytree(bundled_folder("models") / "demo", tmp_path / "demo"))
    replaced = network / "model.keras"
    replaced.write_bytes(b"PK")
    assert kind_of_file(replaced) is None
    (network / "card.json").unlink()
    # A training that was interrupted before it wrote the card.
    assert kind_of_file(replaced) is not None
    (network / "preprocessing.json").unlink()
    assert kind_of_file(replaced) is None
    shield = tmp_path / "loans.npz"
    package.synthesize_shield(SHIELD).save(shield)
    assert kind_of_file(shield) == "shield"
    for content in ("", "[1]", "{", '{"a": 1}', "a,b\n1,2\n"):
        for ending in (".csv", ".json", ".html", ".md", ".npz", ".toml", ""):
            theirs = tmp_path / f"theirs{ending}"
            theirs.write_text(content)
            kind = kind_of_file(theirs)
            assert kind is None or kind == "JSON a"
            if kind is None and content:
                with pytest.raises(ConfigurationError):
                    check_replaceable(theirs)


def test_a_result_names_its_kind(tmp_path: Path) -> None:
    for path in sorted(bundled_folder("reports").glob("*/result.json")):
        assert kind_of_file(path) == json.loads(path.read_text())["schema"].split("/")[0]
        assert kind_of_file(path.with_name("report.html")) == "report .html"
        assert kind_of_file(path.with_name("report.md")) == "report .md"


MINE = ["mine\n", '{"mine": 1}', '{"data set": "mine", "versions": "pandas 2"}']


@pytest.mark.parametrize("content", MINE)
@pytest.mark.parametrize("name", ["card.json", "preprocessing.json", "vocabulary.txt"])
@pytest.mark.parametrize("has_model", [False, True])
def test_what_stands_beside_a_model_is_known_by_what_it_holds(
    name: str, content: str, has_model: bool, folder: Path, fails: Fails
) -> None:
    target = folder / "tm6"
    if has_model:
        shutil.copytree(bundled_folder("models") / "demo", target)
    target.mkdir(exist_ok=True)
    theirs = target / name
    theirs.write_text(content)
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    said = fails("train", "demo", "--epochs", "1", "--limit", "300", "--out", target)
    # Without a card of testsgd's the model is not known, and it comes first.
    assert name in said or (has_model and name == "card.json" and "model.keras" in said)
    # Not even by the files of the command itself, which wait for being moved.
    with pytest.raises(ConfigurationError), files_together(target) as staging:
        shutil.copytree(bundled_folder("models") / "imdb", staging, dirs_exist_ok=True)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before


@pytest.mark.parametrize("name", ["demo", "imdb"])
def test_a_whole_model_is_replaced_by_another(name: str, tmp_path: Path) -> None:
    target = Path(shutil.copytree(bundled_folder("models") / name, tmp_path / "model"))
    for other in ("imdb", "demo"):
        with files_together(target, last="card.json") as staging:
            shutil.copytree(bundled_folder("models") / other, staging, dirs_exist_ok=True)
        card = bundled_folder("models") / other / "card.json"
        assert (target / "card.json").read_bytes() == card.read_bytes()


@pytest.mark.parametrize("method", ["thresholds", "play", "samples"])
@pytest.mark.parametrize("content", MINE)
@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_a_journal_of_others_stays(
    method: str, content: str, resume: list[str], folder: Path, fails: Fails
) -> None:
    theirs = folder / "mine" / "journal.json"
    theirs.parent.mkdir()
    theirs.write_text(content)
    words = ("mitigate", "demo", "--method", method, "--limit", "400", "--out", "mine")
    assert "journal.json" in fails(*words, "--model-out", "model", *resume)
    assert theirs.read_text() == content


def test_a_journal_of_others_is_not_removed_by_force(folder: Path, testsgd: Runs) -> None:
    theirs = folder / "mine" / "journal.json"
    theirs.parent.mkdir()
    theirs.write_text("mine\n")
    words = ("mitigate", "demo", "--method", "thresholds", "--limit", "600", "--out", "mine")
    assert testsgd(*words, "--model-out", "model", "--force").code in {0, 1, 3}
    # This method has no journal that would replace it.
    assert theirs.read_text() == "mine\n"
