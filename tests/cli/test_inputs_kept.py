"""No command replaces a file that it reads, or writes two things to one, whatever --force says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import certifiable_networks
import command_line
import pytest

from testsgd.data import bundled_folder, generate_demo

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]
Runs = Callable[..., command_line.Finished]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LOANS = "loans-demographic-parity.toml"


def itself(path: Path) -> Path:
    """Return a file's own name."""
    return path


def by_symbolic_link(path: Path) -> Path:
    """Return another name of a file, which points to it."""
    link = path.with_name(f"soft{path.suffix}")
    link.symlink_to(path)
    return link


def by_hard_link(path: Path) -> Path:
    """Return another name of a file, as good as the first."""
    link = path.with_name(f"hard{path.suffix}")
    os.link(path, link)
    return link


@pytest.mark.parametrize("other_name", [itself, by_symbolic_link, by_hard_link])
def test_a_shield_does_not_replace_its_specification(
    other_name: Callable[[Path], Path], folder: Path, fails: Fails
) -> None:
    specification = Path(shutil.copy(EXAMPLES / "shields" / LOANS, folder / "spec.toml"))
    target = other_name(specification)
    before = specification.read_bytes()
    message = fails("shield", "synthesize", specification, "--shield", target, "--force")
    assert target.name in message
    assert specification.read_bytes() == before
    assert target.samefile(specification)


def test_a_monitor_does_not_replace_what_it_reads(folder: Path, fails: Fails) -> None:
    specification = Path(shutil.copy(EXAMPLES / "monitors" / LOANS, folder / "spec.toml"))
    events = folder / "events.jsonl"
    events.write_text('{"kind": "nothing"}\n')
    words = ("monitor", "run", specification, "--events", events, "--force")
    for option in ("--state", "--dead-letters"):
        for read in (specification, events):
            before = read.read_bytes()
            assert read.name in fails(*words, option, read)
            assert read.read_bytes() == before
    fails("monitor", "export", specification, "--out", specification, "--force")


def test_regions_do_not_replace_the_network_or_its_domain(folder: Path, fails: Fails) -> None:
    certifiable_networks.write_lender(folder)
    for network in [path for path in folder.iterdir() if path.suffix != ".toml"]:
        domain = next(folder.glob("*.toml"))
        table = folder / "regions.csv"
        os.link(network, table)
        before = network.read_bytes()
        words = ("certify", network, "--domain", domain, "--out", "mine", "--force")
        assert table.name in fails(*words, "--export-regions", table)
        assert network.read_bytes() == before
        table.unlink()


def test_rows_are_not_replaced_by_samples_or_reports(folder: Path, fails: Fails) -> None:
    # Rows that are called as a report is.
    rows = folder / "result.json"
    generate_demo(rows=300, seed=0).to_json(rows, orient="records", lines=True)
    before = rows.read_bytes()
    words = ("--predictions", "granted", "--sensitive", "gender", "--out", folder)
    fails("audit", rows, *words, "--force")
    assert rows.read_bytes() == before


def test_files_that_a_specification_names_are_inputs(folder: Path, fails: Fails) -> None:
    log = folder / "people.csv"
    log.write_text("my own\n")
    specification = folder / "spec.toml"
    text = (EXAMPLES / "shields" / LOANS).read_text()
    specification.write_text(f'{text}\n[more]\nlog = "people.csv"\n')
    words = ("shield", "synthesize", specification, "--shield", log, "--force")
    assert log.name in fails(*words)
    assert log.read_text() == "my own\n"


def test_a_model_is_not_replaced_by_the_fairer_one(folder: Path, fails: Fails) -> None:
    network = Path(shutil.copytree(bundled_folder("models") / "demo", folder / "demo"))
    model = network / "model.keras"
    before = model.read_bytes()
    words = ("mitigate", "demo", "--model", model, "--model-out", network, "--method", "samples")
    assert model.name in fails(*words, "--force")
    assert model.read_bytes() == before


def test_a_result_is_not_replaced_by_its_reports(folder: Path, testsgd: Runs, fails: Fails) -> None:
    shutil.copytree(bundled_folder("reports") / "bank", folder / "mine")
    result = folder / "mine" / "result.json"
    before = result.read_bytes()
    assert result.name in fails("report", result, "--format", "json", "--force")
    assert result.read_bytes() == before
    assert testsgd("report", result).code == 0


@pytest.mark.parametrize("other_name", [itself, by_symbolic_link, by_hard_link])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_monitor_keeps_its_state_and_its_dead_letters_apart(
    other_name: Callable[[Path], Path], is_there: bool, folder: Path, fails: Fails
) -> None:
    specification = Path(shutil.copy(EXAMPLES / "monitors" / LOANS, folder / "spec.toml"))
    state = folder / "state"
    if is_there:
        state.touch()
    elif other_name is by_hard_link:
        return
    words = ("monitor", "run", specification, "--state", state, "--force")
    message = fails(*words, "--dead-letters", other_name(state))
    assert "--state" in message
    assert "--dead-letters" in message


def test_what_a_monitor_keeps_is_none_of_its_reports(folder: Path, fails: Fails) -> None:
    specification = Path(shutil.copy(EXAMPLES / "monitors" / LOANS, folder / "spec.toml"))
    for option in ("--state", "--dead-letters"):
        for target in ("mine", "mine/result.json", "./mine/../mine/report.html"):
            words = ("monitor", "run", specification, "--out", "mine", option, target)
            assert option in fails(*words)


@pytest.mark.parametrize(
    "words",
    [
        ("certify", "x", "--checkpoint", "a.npz", "--export-regions", "a.npz"),
        ("shield", "synthesize", "x", "--shield", "a", "--out", "a"),
        ("shield", "synthesize", "x", "--shield", "a/report.md", "--out", "a"),
    ],
)
def test_two_things_are_not_written_to_one_file(words: tuple[str, ...], fails: Fails) -> None:
    message = fails(*words)
    for flag in words[2:] if words[0] == "certify" else words[3:]:
        assert not flag.startswith("--") or flag in message


def test_the_standard_input_is_not_replaced(folder: Path) -> None:
    specification = Path(shutil.copy(EXAMPLES / "monitors" / LOANS, folder / "spec.toml"))
    events = folder / "events.jsonl"
    events.write_text('{"group": "female", "decision": 1}\n')
    before = events.read_bytes()
    words = [sys.executable, "-m", "testsgd", "monitor", "run", specification, "--force"]
    with events.open("rb") as given:
        finished = subprocess.run(
            [*words, "--dead-letters", events], stdin=given, capture_output=True, check=False
        )
    assert finished.returncode == 2
    assert events.read_bytes() == before
