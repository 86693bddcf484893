"""``testsgd certify``: what it asks for, what it prints and writes, and its exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import certifiable_networks
import command_line
import pytest

from testsgd.certification.outcome import (
    Certification,
    Moment,
    Remainder,
    Shares,
)
from testsgd.certification.parameters import CertificationParameters

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., command_line.Finished]

UNFAIR = certifiable_networks.unfair_points() / certifiable_networks.POINTS


@pytest.fixture
def lender(folder: Path) -> Path:
    """The lender and its ranges, in the working folder."""
    return certifiable_networks.write_lender(folder)


@dataclass
class Search:
    """A search that takes no time: what it was asked for, and what it gives."""

    shares: Shares
    network: Any = None
    domain: Any = None
    parameters: Any = None
    checkpoint: Any = None

    def __call__(
        self,
        network: Any,
        domain: Any,
        parameters: CertificationParameters,
        *,
        progress: Callable[[Moment], None] | None = None,
        checkpoint: Path | None = None,
        should_stop: Callable[[], bool] | None = None,
        export_regions: Path | None = None,
    ) -> Certification:
        self.network, self.domain, self.parameters = network, domain, parameters
        self.checkpoint = checkpoint
        return Certification(
            network=network,
            domain=domain,
            parameters=parameters,
            shares=self.shares,
            stopped="time",
            method="bounded",
            points=domain.points,
            boxes=800,
            open_boxes=31,
            seconds=1.5,
            moments=(Moment(1.5, 800, self.shares),),
            remainder=Remainder(1000, 100, (0.08, 0.12), 0.95, 0.028, (0.0264, 0.0296)),
            counterexamples=(),
            regions=(),
            within_rounding=0,
        )


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Search:
    made_up = Search(Shares(0.9, 0.02, 0.08))
    monkeypatch.setattr("testsgd.certification.run.certify_network", made_up)
    return made_up


def document(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def test_a_tiny_domain_from_start_to_end(testsgd: Run, lender: Path, folder: Path) -> None:
    finished = testsgd("certify", lender.name, "--domain", "ranges.toml", "--verbose")

    assert (finished.code, finished.err) == (0, "")
    written = folder / "reports" / "lender-certified"
    assert sorted(path.name for path in written.iterdir()) == [
        "report.html",
        "report.md",
        "result.json",
    ]
    found = document(written)
    assert found["schema"] == "testsgd.certify/2"
    assert found["proved"]["falsified"] == pytest.approx(UNFAIR, abs=1e-12)
    assert found["proved"]["certified"] == pytest.approx(1 - UNFAIR, abs=1e-12)
    assert found["domain"]["protected"] == ["woman"]
    assert found["verdict"]["headline"] in finished.out
    assert "An example: " in finished.out
    assert f"Written: {Path('reports/lender-certified/report.html')}" in finished.out


def test_everything_that_is_asked_for_reaches_the_search(
    testsgd: Run, lender: Path, search: Search, folder: Path
) -> None:
    options = ["--protected", "woman", "--protected", "debts", "--compare", "debts=0,9"]
    options += ["--time", "5", "--undecided", "0.05", "--jobs", "2", "--samples", "50"]
    options += ["--confidence", "0.9", "--seed", "3", "--checkpoint", "kept/state"]
    options += ["--out", "here", "--format", "json", "--quiet"]
    finished = testsgd("certify", lender.name, "--domain", "ranges.toml", *options)

    assert (finished.code, finished.out, finished.err) == (0, "", "")
    assert search.parameters == CertificationParameters(
        time_limit=5, undecided=0.05, jobs=2, samples=50, confidence=0.9, random_state=3
    )
    assert search.checkpoint == Path("kept/state")
    assert search.domain.protected == ("woman", "debts")
    assert set(search.domain.protected_values) == {(0, 0), (0, 9), (1, 0), (1, 9)}
    assert [path.name for path in (folder / "here").iterdir()] == ["result.json"]


@pytest.mark.parametrize("options", [["--protected", "debts, woman"], ["--protected=debts,woman"]])
def test_protected_inputs_with_commas(
    testsgd: Run, lender: Path, search: Search, options: list[str]
) -> None:
    testsgd("certify", lender.name, "--domain", "ranges.toml", *options)
    assert search.domain.protected == ("debts", "woman")
    assert len(search.domain.protected_values) == 20


def test_without_a_limit_of_time(testsgd: Run, lender: Path, search: Search) -> None:
    testsgd("certify", lender.name, "--domain", "ranges.toml", "--time", "0")
    assert search.parameters.time_limit is None


def test_a_network_of_the_catalogue_knows_its_domain(testsgd: Run, search: Search) -> None:
    finished = testsgd("certify", "demo", "--protected", "race", "--compare", "White,Black")

    assert finished.code == 0
    assert search.domain.name == "demo"
    values = search.domain.protected_values
    assert [search.domain.describe_value("race", *one) for one in values] == [
        "race = White",
        "race = Black",
    ]
    assert search.network.file_sha256 is not None
    assert "reports/demo-certified" in finished.out


def test_shares_weighted_by_the_data(testsgd: Run, search: Search, folder: Path) -> None:
    options = ["--protected", "race", "--weight", "data"]
    assert testsgd("certify", "demo", *options, "--out", "here").code == 0
    assert document(folder / "here")["domain"]["weight"] == "data"
    names = {item.name for item in search.domain.inputs} - {"race"}
    assert names <= set(search.domain.marginals)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-above", "0.01"], 1),
        (["--fail-above", "0.05"], 3),
        (["--fail-above", "0.2"], 0),
        (["--fail-below", "0.99"], 1),
        (["--fail-below", "0.95"], 3),
        (["--fail-below", "0.9"], 0),
        (["--fail-below", "0.9", "--fail-above", "0.01"], 1),
    ],
)
def test_the_gate_goes_by_what_is_proved(
    testsgd: Run, lender: Path, search: Search, options: list[str], code: int
) -> None:
    arguments = ["certify", lender.name, "--domain", "ranges.toml", *options]
    assert testsgd(*arguments).code == code
    assert testsgd("report", "reports/lender-certified/result.json").code == code


def test_a_saved_certification_is_rendered_again(testsgd: Run, lender: Path, folder: Path) -> None:
    testsgd("certify", lender.name, "--domain", "ranges.toml", "--out", "here", "--format", "json")
    finished = testsgd("report", folder / "here" / "result.json")

    assert finished.code == 0
    assert (folder / "here" / "report.html").is_file()
    assert (folder / "here" / "report.md").is_file()


def test_the_ranges_of_an_nnet_file_are_its_domain(testsgd: Run, lender: Path) -> None:
    finished = testsgd("certify", lender.name, "--protected", "2", "--out", "here")
    assert finished.code == 0, finished


def test_without_numba_it_is_named(
    testsgd: Run, lender: Path, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("certify", lender.name, "--domain", "ranges.toml")
    monkeypatch.setattr("testsgd.cli.certify.find_spec", lambda name: None)
    assert "pip install numba" in testsgd(*arguments).out
    monkeypatch.setattr("testsgd.cli.certify.find_spec", lambda name: object())
    assert "numba" not in testsgd(*arguments).out


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("content", [b"what nobody should delete", b"PK\x03\x04", b""])
def test_nobody_is_told_to_delete_a_file_that_is_no_checkpoint(
    content: bytes, resume: bool, lender: Path, fails: Any
) -> None:
    (lender.parent / "notes.txt").write_bytes(content)
    command = ["certify", lender.name, "--domain", "ranges.toml", "--checkpoint", "notes.txt"]
    message = fails(*command, *(["--resume"] if resume else []))
    assert "notes.txt" in message
    assert not re.search("delete|remove", message)
    assert (lender.parent / "notes.txt").read_bytes() == content


def test_a_checkpoint_that_is_there_is_not_written_over(
    testsgd: Run, lender: Path, search: Search, folder: Path
) -> None:
    (folder / "kept").write_bytes(b"hours of work")
    command = ["certify", lender.name, "--domain", "ranges.toml", "--checkpoint", "kept"]
    finished = testsgd(*command)
    assert (finished.code, search.parameters) == (2, None)
    assert testsgd(*command, "--resume").code == 0
    assert search.checkpoint == Path("kept")
    assert testsgd(*command[:-2], "--resume").code == 2


def test_all_boxes_are_exported_and_counterexamples_counted(
    testsgd: Run, folder: Path, lender: Path
) -> None:
    finished = testsgd(
        "certify", "lender.nnet", "--domain", "ranges.toml", "--export-regions", "all.csv"
    )
    assert finished.code == 0
    assert "Written: all.csv" in finished.out
    header, *lines = (folder / "all.csv").read_text(encoding="utf-8").splitlines()
    assert "income from" in header
    falsified = [line for line in lines if line.startswith("falsified,")]
    assert sum(float(line.split(",")[1]) for line in falsified) == pytest.approx(UNFAIR)
    assert f"{certifiable_networks.unfair_points()} found, 10 kept" in finished.out
    document = json.loads((folder / "reports/lender-certified/result.json").read_text("utf-8"))
    assert document["counterexamples_found"] == certifiable_networks.unfair_points()
