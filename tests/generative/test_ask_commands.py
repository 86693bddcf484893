"""Commands that ask a model over HTTP: a real server on loopback, the command line in process."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx")
from openai_upstream import Upstream, upstream

from testsgd.cli.main import _run

pytestmark = pytest.mark.serve
Run = Callable[..., tuple[int, str, str]]
TOML = """
prompts = ["A nurse said", "A pilot said"]
[groupings.gender]
values = ["female", "male"]
terms = { female = ["she"], male = ["he"] }
[[requirements]]
grouping = "gender"
beta = 3
[upstream]
endpoint = "completions"
timeout = 5
parameters = { temperature = 0.5 }
[neutrality]
samples = 4
error = 0.5
"""


@pytest.fixture
def model() -> Iterator[Upstream]:
    with upstream() as running:
        yield running


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(TOML, encoding="utf-8")

    def run(name: str, *arguments: str) -> tuple[int, str, str]:
        code = _run(["generative", name, "--spec", "people.toml", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def logged() -> list[dict[str, Any]]:
    lines = Path("outputs/outputs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_model_is_asked_each_prompt_in_turn_and_assessed(command: Run, model: Upstream) -> None:
    code, shown, _ = command("ask", "--upstream", model.url, "-n", "6", "--seed", "10")
    assert code == 1
    assert "male" in shown
    assert [body["seed"] for body in model.bodies] == list(range(10, 16))
    assert {body["temperature"] for body in model.bodies} == {0.5}
    assert [row["prompt"] for row in logged()] == ["A nurse said", "A pilot said"] * 3
    result = json.loads(Path("outputs/result.json").read_text(encoding="utf-8"))
    assert result["outputs"] == 6


def test_asking_goes_on_where_it_was_ended(command: Run, model: Upstream) -> None:
    command("ask", "--upstream", model.url, "-n", "3")
    command("ask", "--upstream", model.url, "-n", "5")
    assert len(model.bodies) == 5
    assert [body["seed"] for body in model.bodies] == list(range(5))
    command("ask", "--upstream", model.url, "-n", "5")
    assert len(model.bodies) == 5


def test_outputs_to_other_prompts_are_left_alone(command: Run, model: Upstream) -> None:
    command("ask", "--upstream", model.url, "-n", "2")
    before = Path("outputs/outputs.jsonl").read_bytes()
    Path("people.toml").write_text(TOML.replace("A nurse", "A cook"), encoding="utf-8")
    code, _, error = command("ask", "--upstream", model.url, "-n", "4")
    assert code == 2
    assert len(error.splitlines()) == 1
    assert Path("outputs/outputs.jsonl").read_bytes() == before


@pytest.mark.parametrize("name", ["ask", "calibrate", "neutral"])
def test_a_model_that_does_not_answer_is_one_line(command: Run, model: Upstream, name: str) -> None:
    model.fails = True
    code, _, error = command(name, "--upstream", model.url)
    assert code == 2
    assert len(error.splitlines()) == 1
    code, _, error = command(name, "--upstream", "http://127.0.0.1:1/v1")
    assert code == 2
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [("ask", "-n", "6"), ("calibrate", "-n", "2"), ("neutral",)],
    ids=lambda words: words[0],
)
def test_a_model_is_asked_again_after_a_passing_trouble(
    command: Run, model: Upstream, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("testsgd.generative.upstream.FIRST_PAUSE", 0.01)
    code, _, _ = command(*words, "--upstream", model.url)
    shutil.rmtree("outputs", ignore_errors=True)
    asked = list(model.prompts)
    model.prompts.clear()
    model.failures_to_come += [503, 429, 500]
    assert command(*words, "--upstream", model.url)[0] == code
    assert model.prompts == [asked[0]] * 3 + asked
    shutil.rmtree("outputs", ignore_errors=True)
    model.failures_to_come += [500] * 9
    code, _, error = command(*words, "--upstream", model.url)
    assert code == 2
    assert "500" in error


def test_a_calibration_counts_and_is_written(command: Run, model: Upstream) -> None:
    code, shown, _ = command(
        "calibrate",
        *("--upstream", model.url, "-n", "4", "--confirm", "6", "--out", "calibration.json"),
    )
    assert code == 0
    found = json.loads(Path("calibration.json").read_text(encoding="utf-8"))
    assert found["way"] in shown
    # The model obeys a sentence, and writes of women otherwise.
    assert {(one["value"], one["obeyed"]) for one in found["counts"]} == {
        ("female", 4),
        ("male", 4),
    }
    assert {one["obeyed"] for one in found["confirmed"]} == {6}


def test_unknown_ways_are_refused(command: Run, model: Upstream) -> None:
    code, _, error = command("calibrate", "--upstream", model.url, "--ways", "shouting")
    assert code == 2
    assert "shouting" in error
    assert not model.bodies


def test_prompts_to_which_all_outputs_agree_are_biased(command: Run, model: Upstream) -> None:
    code, shown, _ = command("neutral", "--upstream", model.url)
    assert code == 1
    assert shown.count("biased") == 2


def of_pictures() -> None:
    text = TOML.replace('endpoint = "completions"', 'endpoint = "images"')
    text = text.replace('terms = { female = ["she"], male = ["he"] }', 'classify = "builtins:len"')
    Path("people.toml").write_text(text, encoding="utf-8")


def test_pictures_are_kept_beside_the_log(command: Run, model: Upstream) -> None:
    of_pictures()
    code, _, error = command("ask", "--upstream", model.url, "-n", "2")
    # What came is no value of the grouping: the classifier of this test counts bytes.
    assert code == 2
    assert len(error.splitlines()) == 1
    names = [row["output"] for row in logged()]
    assert [Path("outputs", name).read_bytes() for name in names] == [b"she slept"] * 2


@pytest.mark.parametrize("linked", [False, True])
def test_pictures_of_others_are_not_replaced(command: Run, model: Upstream, linked: bool) -> None:
    of_pictures()
    Path("outputs").mkdir()
    theirs = Path("theirs.txt") if linked else Path("outputs/output-00002.png")
    theirs.write_text("mine", encoding="utf-8")
    if linked:
        Path("outputs/output-00002.png").symlink_to(theirs.absolute())
    code, _, error = command("ask", "--upstream", model.url, "-n", "2")
    assert (code, len(error.splitlines())) == (2, 1)
    assert "output-00002.png" in error
    # Said before the model was asked for anything.
    assert model.bodies == []
    assert theirs.read_text(encoding="utf-8") == "mine"
    command("ask", "--upstream", model.url, "-n", "2", "--force")
    assert Path("outputs/output-00002.png").read_bytes() == b"she slept"
    # A link is replaced, and not written through.
    assert (theirs.read_bytes() == b"mine") == linked


def test_a_picture_that_did_not_get_to_its_place_is_asked_for_again(
    command: Run, model: Upstream
) -> None:
    of_pictures()
    command("ask", "--upstream", model.url, "-n", "2")
    log = Path("outputs/outputs.jsonl").read_bytes()
    Path("outputs/output-00002.png").unlink()
    command("ask", "--upstream", model.url, "-n", "3")
    assert [body["seed"] for body in model.bodies] == [0, 1, 1, 2]
    assert Path("outputs/output-00002.png").read_bytes() == b"she slept"
    assert Path("outputs/outputs.jsonl").read_bytes().startswith(log)
    assert len(logged()) == 3


def test_a_full_disk_leaves_no_half_picture(
    command: Run, model: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_pictures()
    usual = Path.write_bytes

    def no_room(path: Path, content: bytes) -> int:
        if path.suffix == ".png":
            usual(path, content[:2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return usual(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", no_room)
        code, _, error = command("ask", "--upstream", model.url, "-n", "2")
    assert (code, len(error.splitlines())) == (2, 1)
    assert str(Path("outputs/output-00001.png")) in error
    assert list(Path("outputs").iterdir()) == []
    command("ask", "--upstream", model.url, "-n", "2")
    assert len(logged()) == 2


def test_a_log_of_others_stays_as_it_is(command: Run, model: Upstream) -> None:
    theirs = Path("outputs/outputs.jsonl")
    theirs.parent.mkdir()
    theirs.write_text("mine, without a line end", encoding="utf-8")
    assert command("ask", "--upstream", model.url, "-n", "2")[0] == 2
    assert theirs.read_text(encoding="utf-8") == "mine, without a line end"
