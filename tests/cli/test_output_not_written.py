"""Output that is read no further, and disks that are full: never the code of a failed gate."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import certifiable_networks
import forked_commands
import pytest
from forked_commands import Commands, Order

from testsgd import synthesize_shield
from testsgd.errors import ConfigurationError
from testsgd.io import loads_toml, moved_together, replacing_any_file, write_text
from testsgd.report.exporters import EXPORTERS, Exporter, export

# The fixtures of this area.
commands = forked_commands.commands

WORDS = [sys.executable, "-m", "testsgd"]


@pytest.mark.parametrize("command", [["--help"], ["init", "people.csv", "--label", "granted"]])
def test_output_that_is_not_read_gives_no_verdict(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sex,age,granted\nf,31,yes\nm,44,no\n" * 50)
    reading, writing = os.pipe()
    os.close(reading)
    finished = subprocess.run(
        [*WORDS, *command], stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, check=False
    )
    os.close(writing)
    assert finished.returncode == 141
    assert finished.stderr == b""


def test_alerts_that_are_not_read_give_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(
        '[[properties]]\nproperty = "demographic_parity"\nbound = 0.1\nrule = "estimate"\n'
    )
    events = b'{"group": "a", "decision": 1}\n{"group": "b", "decision": 0}\n'
    words = [*WORDS, "monitor", "run", "spec.toml", "--state", "state.json"]
    reading, writing = os.pipe()
    os.close(reading)
    finished = subprocess.run(words, input=events, stdout=writing, cwd=tmp_path, check=False)
    os.close(writing)
    assert finished.returncode == 141
    # What was counted is kept, and the alert is in it.
    read = subprocess.run(words, input=b"", stdout=subprocess.PIPE, cwd=tmp_path, check=False)
    assert read.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_output_onto_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        finished = subprocess.run(
            [*WORDS, "--help"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1


def closed(*numbers: int) -> Callable[[], None]:
    """Return what closes standard streams of a child process."""

    def close() -> None:
        for number in numbers:
            os.close(number)

    return close


@pytest.mark.parametrize("numbers", [(1,), (2,), (0, 1, 2)])
def test_closed_streams_change_no_verdict(numbers: tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sex,granted\n" + "f,0\nm,1\n" * 200)
    words = ["audit", "people.csv", "--predictions", "granted", "--sensitive", "sex"]
    words += ["--favorable", "1", "--out", "mine", "--replicates", "99", "--stability", "0"]

    def code(*more: str) -> tuple[int, bytes]:
        finished = subprocess.run(
            [*WORDS, *words, *more],
            capture_output=True,
            cwd=tmp_path,
            preexec_fn=closed(*numbers),
            check=False,
        )
        # Nothing that was printed is in a file, or in the other stream.
        assert finished.stdout == b"" or 1 not in numbers
        return finished.returncode, finished.stderr

    assert code() == (0, b"")
    files = sorted((tmp_path / "mine").iterdir())
    assert [file.name for file in files] == ["report.html", "report.md", "result.json"]
    json.loads(files[2].read_bytes())
    assert code("--fail-above", "0.1") == (1, b"")
    refused, message = code("--fail-above", "many")
    assert refused == 2
    assert len(message.splitlines()) == (0 if 2 in numbers else 1)


@pytest.mark.slow
def test_a_report_that_does_not_fit_leaves_none_of_its_files(
    tmp_path: Path, commands: Commands
) -> None:
    folder = tmp_path / "report"
    words = ["audit", "demo", "--out", str(folder), "--quiet"]
    finished = commands(Order(words, str(tmp_path), file_bytes=50_000))
    assert finished.code == 2
    assert len(finished.err.splitlines()) == 1
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_one_line_without_warnings(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sex,granted\n" + "f,0\nm,1\n" * 200)
    words = ["audit", "people.csv", "--predictions", "granted", "--sensitive", "sex"]
    # A process of its own: what it imports may warn of a full disk, too.
    finished = subprocess.run(
        [sys.executable, "-B", "-m", "testsgd", *words, "--favorable", "1", "--out", "mine"],
        capture_output=True,
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if "COV_CORE" not in key},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        check=False,
    )
    assert finished.returncode == 2
    assert len(finished.stderr.splitlines()) == 1


def test_a_monitor_writes_its_state_and_its_reports_or_neither(
    tmp_path: Path, commands: Commands
) -> None:
    (tmp_path / "spec.toml").write_text(
        '[[properties]]\nproperty = "demographic_parity"\nbound = 0.5\nrule = "estimate"\n'
    )
    events = b"".join(b'{"group": "%c", "decision": 1}\n' % group for group in b"ab" * 20)
    (tmp_path / "events").write_bytes(events)
    words = ["monitor", "run", "spec.toml", "--state", "state.json", "--out", "mine"]

    def run(size: int) -> tuple[int, list[str]]:
        finished = commands(Order(words, str(tmp_path), stdin="events", file_bytes=size))
        return finished.code, finished.err.splitlines()

    # The state has room, the report has not.
    code, lines = run(20_000)
    assert (code, len(lines)) == (2, 1)
    assert not (tmp_path / "state.json").exists()
    assert list((tmp_path / "mine").iterdir()) == []
    # All events are counted, once.
    assert run(10_000_000)[0] == 0
    assert (tmp_path / "state.json").stat().st_size < 20_000
    assert (tmp_path / "mine" / "report.html").stat().st_size > 20_000
    result = json.loads((tmp_path / "mine" / "result.json").read_bytes())
    assert (result["stream"]["events"], result["stream"]["resumed"]) == (40, False)


SHIELD = """name = "loans"
[fairness]
property = "demographic_parity"
bound = "1/4"
[groups]
names = ["a", "b"]
[horizon]
length = 4
"""
WATCHED = '[[properties]]\nproperty = "demographic_parity"\nbound = 0.5\nrule = "estimate"\n'


RECOMMENDED = b'{"group": "a", "recommendation": 1}\n'
DECIDED = b'{"group": "a", "decision": 1}\n'
MONITOR = ("monitor", "run", "spec.toml", "--state", "state")


@pytest.mark.parametrize(
    ("words", "event", "name"),
    [
        (("shield", "run", "loans.npz", "--journal", "lines"), RECOMMENDED, "lines"),
        ((*MONITOR, "--dead-letters", "lines"), DECIDED, "lines"),
        (MONITOR, DECIDED, "state"),
    ],
)
def test_a_file_that_nothing_fitted_in_is_gone_again(
    words: tuple[str, ...], event: bytes, name: str, tmp_path: Path, commands: Commands
) -> None:
    if words[0] == "shield":
        synthesize_shield(loads_toml(SHIELD)).save(tmp_path / "loans.npz")
    (tmp_path / "spec.toml").write_text(WATCHED)
    (tmp_path / "event").write_bytes(event)
    before = sorted(tmp_path.iterdir())

    def run(size: int) -> tuple[int, int]:
        order = Order(list(words), str(tmp_path), stdin="event", file_bytes=size)
        finished = commands(order)
        return finished.code, len(finished.err.splitlines())

    assert run(20) == (2, 1)
    assert sorted(tmp_path.iterdir()) == before
    # What was there before stays, byte for byte, and be it empty.
    if name == "lines":
        (tmp_path / name).touch()
        assert run(20) == (2, 1)
        assert (tmp_path / name).read_bytes() == b""
    assert run(10_000_000)[0] != 2
    content = (tmp_path / name).read_bytes()
    assert run(20) == (2, 1)
    assert (tmp_path / name).read_bytes() == content


def test_a_state_that_nothing_fitted_in_is_gone_again(tmp_path: Path, commands: Commands) -> None:
    for package in ("starlette", "uvicorn", "httpx"):
        pytest.importorskip(package)
    spec = Path(__file__).parents[2] / "examples" / "generative" / "people.toml"
    state = tmp_path / "states" / "state"
    words = ["generative", "serve", "--spec", str(spec), "--state", str(state)]
    words += ["--upstream", "http://127.0.0.1:9/v1", "--port", "0"]

    def code() -> int:
        finished = commands(Order(words, str(tmp_path), file_bytes=20))
        assert len(finished.err.splitlines()) == 1
        return finished.code

    assert code() == 2
    assert list(state.parent.iterdir()) == []
    state.touch()
    assert code() == 2
    assert state.read_bytes() == b""


def full(result: Any, target: Path) -> None:
    target.write_text("a part")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))


def test_all_of_a_result_is_written_or_nothing(tmp_path: Path) -> None:
    words = Exporter("words.txt", text=lambda result: f"about {result}")
    (tmp_path / "words.txt").write_text("of before")
    exporters = {"txt": words, "full": Exporter("full.bin", write=full)}
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        export(1, tmp_path, ["txt", "full"], exporters)
    assert [file.name for file in tmp_path.iterdir()] == ["words.txt"]
    assert (tmp_path / "words.txt").read_text() == "of before"
    # A file of an unknown kind may be of any program.
    with pytest.raises(ConfigurationError, match="its own"):
        export(1, tmp_path, ["txt"], exporters)
    with replacing_any_file():
        written = export(1, tmp_path, ["txt"], exporters)
    assert written == [tmp_path / "words.txt"]
    assert written[0].read_text() == "about 1"


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    html = Exporter("report.html", text=str)
    with pytest.raises(ConfigurationError) as refused:
        export(1, tmp_path, ["html"], {**EXPORTERS, "html": html})
    assert refused.value.where == str(tmp_path / "report.html")


def test_regions_are_written_with_the_reports_or_not(tmp_path: Path, commands: Commands) -> None:
    network = certifiable_networks.write_lender(tmp_path)
    table = tmp_path / "regions.csv"
    table.write_text("proof,share,proved_fair,proved_unfair\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    words = ["certify", str(network), "--out", "mine", "--export-regions", "regions.csv"]
    words += ["--domain", str(next(tmp_path.glob("*.toml")))]

    def code(size: int) -> int:
        finished = commands(Order(words, str(tmp_path), file_bytes=size))
        assert finished.code == 0 or len(finished.err.splitlines()) == 1
        return finished.code

    assert code(8_192) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) in (before, sorted([*before, "mine"]))
    assert list(tmp_path.glob("mine/*")) == []
    assert table.read_text() == "proof,share,proved_fair,proved_unfair\n"
    assert code(2**30) == 0
    assert len(table.read_text().splitlines()) > 1
    assert len(list(tmp_path.glob("mine/*"))) == 3


def test_what_is_moved_together_is_there_at_the_end_or_not(tmp_path: Path) -> None:
    table, journal, reports = tmp_path / "a.csv", tmp_path / "journal", tmp_path / "reports"
    words = Exporter("words.txt", text=str)

    def write_all(*, is_full: bool) -> None:
        with moved_together(table, reports, None):
            write_text(table, "a,b\n")
            # What is not named does not wait.
            write_text(journal, "begun")
            assert journal.exists()
            export("said", reports, ["txt"], {"txt": words})
            assert not table.exists()
            assert not (reports / words.file).exists()
            if is_full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with replacing_any_file():
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            write_all(is_full=True)
        assert list(reports.iterdir()) == []
        assert sorted(tmp_path.iterdir()) == [journal, reports]
        write_all(is_full=False)
    assert sorted(tmp_path.iterdir()) == [table, journal, reports]
    assert [file.read_text() for file in reports.iterdir()] == ["said"]


def test_a_place_that_is_taken_leaves_all_as_it_was(tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"

    def write_both() -> None:
        with moved_together(first, second):
            write_text(first, "a,b\n")
            write_text(second, "c,d\n")
            second.write_text("of somebody else")

    with pytest.raises(ConfigurationError):
        write_both()
    assert list(tmp_path.iterdir()) == [second]
    assert second.read_text() == "of somebody else"
