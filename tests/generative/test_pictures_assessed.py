"""Pictures among outputs: functions read them, reports show the first of them."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from portrait_modules import portraits

import testsgd
from testsgd import GenerativeResult
from testsgd.cli.main import _run
from testsgd.errors import DataError, ParameterError, TestSGDError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
PEOPLE: dict[str, Any] = {
    "groupings": {"sex": {"values": ["female", "male"]}},
    "requirements": [{"grouping": "sex", "beta": 4}],
}
LIMIT = 64 * 1024
READ_BY_FUNCTION = """
[groupings.sex]
values = ["female", "male"]
classify = "pictures_read_here:sex"
[[requirements]]
grouping = "sex"
beta = 3
"""
READER = """
def sex(picture):
    assert isinstance(picture, bytes), picture
    return {b"f": "female", b"m": "male"}.get(picture[8:9])
"""


def png(letter: str, *, size: int = 0, number: int = 0) -> bytes:
    """Bytes that begin as a PNG file; the ninth says what it shows."""
    data = SIGNATURE + letter.encode() + number.to_bytes(2, "big")
    return data + bytes(max(0, size - len(data)))


def sex(picture: Any) -> str | None:
    assert isinstance(picture, bytes)
    return {b"f": "female", b"m": "male"}.get(picture[8:9])


def decoded(result: GenerativeResult) -> list[list[bytes]]:
    return [
        [base64.b64decode(picture.data) for picture in sequence.pictures]
        for sequence in result.summary.sequences
    ]


def test_pictures_are_kept_only_when_asked_for() -> None:
    outputs = [png(letter) for letter in "fmfm"]
    result = testsgd.assess_generative(outputs, PEOPLE, classify={"sex": sex})
    assert decoded(result) == [[]]
    assert "<img" not in result.to_html()


def test_the_first_24_related_outputs_are_kept_in_their_order() -> None:
    letters = "fm-" * 20  # Every third output is unrelated.
    outputs = [png(letter, number=place) for place, letter in enumerate(letters)]
    result = testsgd.assess_generative(outputs, PEOPLE, classify={"sex": sex}, pictures=True)
    related = [picture for picture in outputs if sex(picture)]
    assert decoded(result) == [related[:24]]
    labels = [picture.label for picture in result.summary.sequences[0].pictures]
    assert labels == [sex(picture) for picture in related[:24]]


def test_pictures_of_labelled_outputs_are_bytes_or_files(tmp_path: Path) -> None:
    files = [tmp_path / f"{place}.png" for place in range(2)]
    for place, path in enumerate(files):
        path.write_bytes(png("f", number=place))
    pictures = [files[0], str(files[1]), png("m", number=7), None]
    labelled = {"sex": ["female", "female", "male", "male"], "asked": [None, None, "male", None]}
    result = testsgd.assess_generative(labelled, PEOPLE, pictures=pictures)
    kept = [files[0].read_bytes(), files[1].read_bytes(), png("m", number=7)]
    assert decoded(result) == [kept]
    asked = [picture.asked for picture in result.summary.sequences[0].pictures]
    assert asked == [False, False, True]


def test_each_requirement_shows_the_outputs_that_it_is_about() -> None:
    specification = {
        "groupings": {
            "sex": {"values": ["female", "male"]},
            "job": {"values": ["nurse", "pilot"], "reads": "prompt"},
        },
        "requirements": [{"grouping": "sex", "each": "job", "beta": 4}],
    }
    rows = [
        {"prompt": f"a {job}", "output": png(letter, number=place)}
        for place, (job, letter) in enumerate([("nurse", "f"), ("pilot", "m"), ("nurse", "m")])
    ]
    result = testsgd.assess_generative(rows, specification, classify={"sex": sex}, pictures=True)
    assert decoded(result) == [[rows[0]["output"], rows[2]["output"]], [rows[1]["output"]]]


def test_neutral_prompts_alone_show_no_pictures_again() -> None:
    rows = [{"prompt": prompt, "output": png("f")} for prompt in ("a male nurse", "a nurse")]
    result = testsgd.assess_generative(rows, PEOPLE, classify={"sex": sex}, pictures=True)
    assert [sequence.scope for sequence in result.summary.sequences] == ["all", "neutral"]
    assert [len(pictures) for pictures in decoded(result)] == [2, 0]


def test_an_earlier_result_is_shown_above_with_its_pictures(tmp_path: Path) -> None:
    before = testsgd.assess_generative(
        [png("m", number=place) for place in range(5)],
        PEOPLE,
        classify={"sex": sex},
        pictures=True,
    )
    now = testsgd.assess_generative(
        [png(letter, number=100) for letter in "fm"],
        PEOPLE,
        classify={"sex": sex},
        pictures=True,
        before=before,
    )
    page = now.to_html()
    earlier, later = (base64.b64encode(png("m", number=one)).decode() for one in (0, 100))
    assert page.index("Before") < page.index(earlier) < page.index("Now") < page.index(later)
    assert page.count("<img") == 7
    assert "7 pictures" in now.to_markdown()
    now.write(tmp_path)
    assert GenerativeResult.from_json(tmp_path / "result.json").to_html() == page


def test_a_picture_of_64_kb_is_kept_and_a_larger_one_refused() -> None:
    labels = {"sex": ["female", "male"]}
    result = testsgd.assess_generative(
        labels, PEOPLE, pictures=[png("f", size=LIMIT), png("m", size=100)]
    )
    assert len(decoded(result)[0]) == 2
    with pytest.raises(DataError) as caught:
        testsgd.assess_generative(labels, PEOPLE, pictures=[png("f"), png("m", size=LIMIT + 1)])
    assert "picture 2" in str(caught.value)
    assert "thumbnails" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_reports_stay_below_3_mb() -> None:
    values = ["a", "b"]
    names = [f"g{number}" for number in range(4)]
    specification = {"groupings": {name: {"values": values} for name in names}}
    labels = {name: ["a", "b"] * 20 for name in names}
    pictures = [png("f", size=LIMIT)] * 40
    before = testsgd.assess_generative(labels, specification, pictures=pictures)
    now = testsgd.assess_generative(labels, specification, pictures=pictures, before=before)
    assert all(one.pictures for one in now.summary.sequences)
    assert len(now.to_html().encode()) < 3_000_000
    assert len(now.to_json().encode()) < 3_000_000


@pytest.mark.parametrize(
    ("pictures", "error"),
    [
        ([png("f")], ParameterError),
        ([png("f")] * 3, ParameterError),
        ("portrait.png", ParameterError),
        (png("f"), ParameterError),
        (7, ParameterError),
        (False, ParameterError),
        ([png("f"), 7], ParameterError),
        ([png("f"), b"GIF89a"], DataError),
        ([png("f"), b""], DataError),
        ([png("f"), "missing.png"], DataError),
        (True, DataError),
    ],
)
def test_what_is_no_list_of_pictures_is_refused(pictures: Any, error: type[TestSGDError]) -> None:
    with pytest.raises(error) as caught:
        testsgd.assess_generative({"sex": ["female", "male"]}, PEOPLE, pictures=pictures)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("data", ['"><script>', "AAAA", "iVBORw0KGgo", ""])
def test_a_result_whose_pictures_were_changed_is_refused(tmp_path: Path, data: str) -> None:
    result = testsgd.assess_generative({"sex": ["female"]}, PEOPLE, pictures=[png("f")])
    document = json.loads(result.to_json())
    document["sequences"][0]["pictures"][0]["data"] = data
    (tmp_path / "result.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(TestSGDError):
        GenerativeResult.from_json(tmp_path / "result.json")


Write = Callable[..., Path]


@pytest.fixture
def write_log(tmp_path: Path) -> Write:
    """Write a log whose outputs are names of pictures beside it, and the pictures."""

    def write(names: list[str], letters: str, *, size: int = 0) -> Path:
        folder = tmp_path / "made"
        folder.mkdir(exist_ok=True)
        for number, (name, letter) in enumerate(zip(names, letters, strict=True)):
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(png(letter, size=size, number=number))
        rows = [json.dumps({"output": name}) for name in names]
        log = folder / "outputs.jsonl"
        log.write_text("\n".join(rows), encoding="utf-8")
        return log

    return write


def test_a_function_gets_the_picture_that_a_log_names(write_log: Write, tmp_path: Path) -> None:
    names = ["1.png", "below/2.PNG", str(tmp_path / "3.png"), "with blanks.png"]
    log = write_log(names, "fmfm")
    result = testsgd.assess_generative(log, PEOPLE, classify={"sex": sex}, pictures=True)
    assert [value.count for value in result.summary.sequences[0].values] == [2, 2]
    assert decoded(result) == [[png(one, number=place) for place, one in enumerate("fmfm")]]


def test_a_folder_with_its_log_and_pictures_can_be_moved(write_log: Write, tmp_path: Path) -> None:
    log = write_log(["1.png"], "f")
    log.write_text(json.dumps({"output": "/nowhere/at/all/1.png"}), encoding="utf-8")
    moved = log.parent.rename(tmp_path / "moved") / log.name
    result = testsgd.assess_generative(moved, PEOPLE, classify={"sex": sex})
    assert result.summary.sequences[0].values[0].count == 1


def test_words_are_never_read_from_the_name_of_a_picture(write_log: Write) -> None:
    log = write_log(["female.png"], "m")
    assert testsgd.assess_generative(log, PEOPLE).summary.sequences[0].related == 0


def test_a_sentence_that_ends_in_a_name_is_a_text(tmp_path: Path) -> None:
    log = tmp_path / "outputs.jsonl"
    log.write_text(json.dumps({"output": "A male nurse: nurse.png"}), encoding="utf-8")
    assert testsgd.assess_generative(log, PEOPLE).summary.sequences[0].values[1].count == 1


@pytest.mark.parametrize("name", ["a" * 300 + ".png", "\0.png", "/nowhere/a portrait.png"])
def test_a_name_of_no_file_is_refused(tmp_path: Path, name: str) -> None:
    log = tmp_path / "outputs.jsonl"
    log.write_text(json.dumps({"output": name}), encoding="utf-8")
    with pytest.raises(DataError, match="picture"):
        testsgd.assess_generative(log, PEOPLE, classify={"sex": sex})


def test_outputs_of_known_values_need_no_pictures(tmp_path: Path) -> None:
    log = tmp_path / "outputs.jsonl"
    log.write_text(json.dumps({"output": "gone.png", "sex": "male"}), encoding="utf-8")
    assert testsgd.assess_generative(log, PEOPLE).summary.sequences[0].related == 1


def test_a_prompt_and_a_picture_are_not_read_together(write_log: Write) -> None:
    log = write_log(["1.png"], "f")
    log.write_text(json.dumps({"prompt": "a nurse", "output": "1.png"}), encoding="utf-8")
    both = {"groupings": {"sex": {"values": ["female", "male"], "reads": "both"}}}
    with pytest.raises(DataError, match="together"):
        testsgd.assess_generative(log, both, classify={"sex": sex})


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Run the command in a folder with a specification whose function reads pictures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "people.toml").write_text(READ_BY_FUNCTION, encoding="utf-8")
    (tmp_path / "pictures_read_here.py").write_text(READER, encoding="utf-8")

    def run(*arguments: str) -> tuple[int, str]:
        code = _run(["generative", "assess", *arguments, "--spec", "people.toml"])
        return code, capsys.readouterr().err

    return run


def test_the_command_shows_pictures_when_asked(
    command: Callable[..., tuple[int, str]], write_log: Write, tmp_path: Path
) -> None:
    log = write_log([f"{number}.png" for number in range(6)], "fmfmfm")
    assert command(str(log), "--pictures", "--out", "with") == (0, "")
    assert command(str(log), "--out", "without") == (0, "")
    pages = [(tmp_path / name / "report.html").read_text() for name in ("with", "without")]
    assert [page.count("<img") for page in pages] == [6, 0]


@pytest.mark.parametrize("change", ["missing", "large", "other"])
def test_pictures_that_cannot_be_shown_are_one_line(
    command: Callable[..., tuple[int, str]], write_log: Write, change: str
) -> None:
    log = write_log(["1.png", "2.png"], "fm", size=LIMIT + 1 if change == "large" else 0)
    if change == "missing":
        (log.parent / "2.png").unlink()
    if change == "other":
        (log.parent / "2.png").write_bytes(b"GIF89a")
    code, err = command(str(log), "--pictures")
    assert code == 2
    assert ".png" in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.serve
def test_pictures_that_a_model_is_asked_for_are_read_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("httpx")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    reader = """
def sex(picture):
    assert picture.startswith(bytes([137]) + b"PNG")
    return len(picture) % 2 + 1
"""
    (tmp_path / "lengths_read_here.py").write_text(reader, encoding="utf-8")
    specification = READ_BY_FUNCTION.replace("pictures_read_here", "lengths_read_here")
    upstream = '[upstream]\nendpoint = "images"\nparameters = { size = "64x64" }\n'
    prompts = 'prompts = ["a portrait of a nurse"]\n'
    (tmp_path / "people.toml").write_text(prompts + specification + upstream, encoding="utf-8")
    generator = portraits("generator").Generator(random_state=0)
    with portraits("server").PortraitServer(generator) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            options = ["--spec", "people.toml", "--upstream", server.address, "-n", "5"]
            code = _run(["generative", "ask", *options, "--out", "made", "--pictures", "--quiet"])
        finally:
            server.shutdown()
            thread.join()
    assert code in (0, 1, 3)
    made = tmp_path.joinpath("made").rename(tmp_path / "moved")
    rows = [json.loads(line) for line in (made / "outputs.jsonl").read_text().splitlines()]
    pictures = [(made / row["output"]).read_bytes() for row in rows]
    page = (made / "report.html").read_text(encoding="utf-8")
    assert page.count("<img") == 5
    assert all(base64.b64encode(picture).decode() in page for picture in pictures)
