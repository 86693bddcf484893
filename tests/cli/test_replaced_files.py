"""Outputs replace only what testsgd wrote for the same purpose, unless --force says otherwise."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import command_line
import pytest

import testsgd as package
from testsgd.data import bundled_folder, generate_demo
from testsgd.errors import ConfigurationError
from testsgd.io import check_replaceable, kind_of_file
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
