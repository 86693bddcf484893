"""Models behind an HTTP endpoint: a real server on this machine answers, or fails to."""

from __future__ import annotations

import datetime
import json
import pickle
import socket
import threading
import time
from pathlib import Path
from typing import Any

import model_server
import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import ConfigurationError, DataError, ModelError, ParameterError, TestSGDError
from testsgd.models import EndpointModel, load_model, load_text_model, posting

ROWS = 400
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "FIRST_PAUSE", 0.01)


def people() -> pd.DataFrame:
    source = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "age": source.integers(18, 80, ROWS),
            "income": source.normal(50, 10, ROWS).round(1),
        }
    )


def grants(row: dict[str, Any]) -> str:
    return "yes" if row["income"] > 50 - 8 * (row["sex"] == "m") else "no"


def decide(frame: pd.DataFrame) -> list[str]:
    return [grants(row) for row in frame.to_dict("records")]


def answer(rows: model_server.Rows, _: int) -> list[str]:
    return [grants(row) for row in rows]


def one_line(error: TestSGDError) -> str:
    text = str(error)
    assert "\n" not in text
    assert error.remedy
    return text


def test_its_answers_are_those_of_the_function() -> None:
    frame = people()
    with model_server.served(answer) as server:
        said = EndpointModel(server.url, batch_rows=150).predict(frame)
    assert said.tolist() == decide(frame)
    assert [len(rows) for rows in server.requests] == [150, 150, 100]
    # A server that makes a data frame of them gets the columns in the order of the rows.
    assert list(server.requests[0][0]) == list(frame.columns)


def test_answers_may_be_under_predictions_and_scores() -> None:
    def score(rows: model_server.Rows, _: int) -> dict[str, Any]:
        return {"predictions": [row["income"] / 100 for row in rows]}

    frame = people()
    with model_server.served(score) as server:
        said = EndpointModel(server.url).predict(frame)
    np.testing.assert_allclose(said, frame["income"] / 100)


def test_cells_are_json() -> None:
    frame = pd.DataFrame(
        {
            "whole": np.array([1, 2], dtype=np.int16),
            "nullable": pd.array([1, pd.NA], dtype="Int64"),
            "decimal": np.array([0.5, np.nan]),
            "truth": [True, False],
            "text": ["ä", None],
            "category": pd.Categorical(["a", None]),
            "time": [pd.Timestamp("2024-05-01 12:30"), pd.NaT],
            "day": [datetime.date(2024, 5, 1), None],
            "mixed": [np.float32(0.5), np.int64(3)],
        }
    )
    with model_server.served(lambda rows, _: ["yes"] * len(rows)) as server:
        EndpointModel(server.url).predict(frame)
    assert server.requests == [
        [
            {
                "whole": 1,
                "nullable": 1,
                "decimal": 0.5,
                "truth": True,
                "text": "ä",
                "category": "a",
                "time": "2024-05-01T12:30:00",
                "day": "2024-05-01",
                "mixed": 0.5,
            },
            {
                "whole": 2,
                "nullable": None,
                "decimal": None,
                "truth": False,
                "text": None,
                "category": None,
                "time": None,
                "day": None,
                "mixed": 3,
            },
        ]
    ]


@pytest.mark.parametrize("cell", [float("inf"), 1j, [1]])
def test_a_cell_that_json_cannot_hold_names_its_column(cell: Any) -> None:
    with pytest.raises(DataError) as caught:
        EndpointModel("http://127.0.0.1:1/").predict(pd.DataFrame({"strange": [cell]}))
    assert "strange" in one_line(caught.value)


def test_headers_are_sent() -> None:
    with model_server.served(answer) as server:
        EndpointModel(server.url, headers={"Authorization": "Bearer secret"}).predict(people())
    assert server.headers[0]["Authorization"] == "Bearer secret"


def test_an_endpoint_that_is_down_is_one_line() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        model = EndpointModel(f"http://127.0.0.1:{unused.getsockname()[1]}/", retries=2)
        with pytest.raises(ModelError) as caught:
            model.predict(people())
    assert "3 tries" in one_line(caught.value)


def test_an_endpoint_that_is_too_slow_is_one_line() -> None:
    over = threading.Event()

    def wait(rows: model_server.Rows, _: int) -> list[str]:
        over.wait(30)
        return answer(rows, 0)

    with model_server.served(wait) as server:
        with pytest.raises(ModelError) as caught:
            EndpointModel(server.url, timeout=0.2, retries=1).predict(people())
        over.set()
    assert "0.2 s" in one_line(caught.value)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        (["yes"], "1 answers for 100 rows"),
        (model_server.Reply(b"<html>\nnot JSON"), "<html>"),
        (model_server.Reply(json.dumps([float("nan")] * 100).encode()), "NaN"),
        (
            model_server.Reply(json.dumps([0.5] * 70 + [float("nan")] * 30).encode()),
            "NaN for row 70 ",
        ),
        (
            model_server.Reply(json.dumps([0.5] * 99 + [-float("inf")]).encode()),
            "-Infinity for row 99 ",
        ),
        (
            model_server.Reply(b'{"predictions": [' + b"0.5, " * 50 + b"NaN" + b", 1" * 49 + b"]}"),
            "row 50 ",
        ),
        (model_server.Reply(b"\xff\xfe"), "JSON"),
        ({"answers": []}, "answers"),
        (["yes"] * 99 + [None], "null"),
        ([["yes"]] * 100, "row 0"),
        (model_server.Reply(b"\nno column 'race'\nmore", 422), "422 (no column 'race')"),
        (model_server.Reply(b"", 302, {"Location": "http://elsewhere/"}), "http://elsewhere/"),
        (model_server.Reply(b"x" * 2**25), f"{2**24:,}"),
    ],
)
def test_nonsense_half_way_is_one_line(reply: Any, named: str) -> None:
    def answer_once(rows: model_server.Rows, before: int) -> Any:
        return answer(rows, 0) if before == 0 else reply

    with model_server.served(answer_once) as server, pytest.raises(ModelError) as caught:
        EndpointModel(server.url, batch_rows=100).predict(people())
    assert named in one_line(caught.value)
    # To ask again would bring the same.
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_trouble_passes(status: int) -> None:
    def answer_third(rows: model_server.Rows, before: int) -> Any:
        return answer(rows, 0) if before >= 2 else model_server.Reply(b"busy", status)

    with model_server.served(answer_third) as server:
        said = EndpointModel(server.url).predict(people())
    assert said.tolist() == decide(people())
    assert len(server.requests) == 3


def test_an_answer_that_broke_off_is_asked_for_again() -> None:
    def answer_second(rows: model_server.Rows, before: int) -> Any:
        body = json.dumps(answer(rows, 0)).encode()
        if before == 0:
            return model_server.Reply(body[:50], 200, {"Content-Length": str(len(body))})
        return answer(rows, 0)

    with model_server.served(answer_second) as server:
        said = EndpointModel(server.url).predict(people())
        assert said.tolist() == decide(people())
        assert len(server.requests) == 2
    with model_server.served(lambda rows, _: answer_second(rows, 0)) as server:
        with pytest.raises(ModelError) as caught:
            EndpointModel(server.url, retries=1).predict(people())
        assert "JSON" not in one_line(caught.value)


def test_a_long_explanation_leaves_room_for_the_advice() -> None:
    reply = model_server.Reply(b"y" * 1500, 400)
    with model_server.served(lambda *_: reply) as server, pytest.raises(ModelError) as caught:
        EndpointModel(server.url).predict(people())
    assert len(one_line(caught.value)) < 400
    assert "y" * 20 in str(caught.value)


@pytest.mark.parametrize("status", [429, 500])
def test_a_trouble_that_lasts_is_one_line(status: int) -> None:
    reply = model_server.Reply(b"busy", status)
    with (
        model_server.served(lambda *_: reply) as server,
        pytest.raises(ModelError) as caught,
    ):
        EndpointModel(server.url, retries=1).predict(people())
    assert f"{status} (busy)" in one_line(caught.value)
    assert len(server.requests) == 2


def test_a_pause_that_is_asked_for_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=60)
    asked = ["7", later.strftime("%a, %d %b %Y %H:%M:%S GMT"), "nonsense"]

    def answer_after(rows: model_server.Rows, before: int) -> Any:
        if before < len(asked):
            return model_server.Reply(b"", 429, {"Retry-After": asked[before]})
        return answer(rows, 0)

    with model_server.served(answer_after) as server:
        EndpointModel(server.url).predict(people())
    assert pauses[0] == 7
    assert 30 < pauses[1] <= 60
    assert 0 < pauses[2] < 1


def test_a_pause_of_a_day_is_an_error() -> None:
    reply = model_server.Reply(b"", 429, {"Retry-After": "86400"})
    with model_server.served(lambda *_: reply) as server, pytest.raises(ModelError) as caught:
        EndpointModel(server.url).predict(people())
    assert "86,400" in one_line(caught.value)


def test_no_more_requests_a_second_than_are_allowed() -> None:
    with model_server.served(answer) as server:
        model = EndpointModel(server.url, batch_rows=100, requests_per_second=20)
        began = time.monotonic()
        model.predict(people())
        took = time.monotonic() - began
    assert len(server.requests) == 4
    assert took >= 3 / 20


def test_kept_answers_are_not_asked_for_again(tmp_path: Path) -> None:
    cache = tmp_path / "kept" / "answers.sqlite"
    frame = people()
    with model_server.served(answer) as server:
        first = EndpointModel(server.url, cache=cache).predict(frame)
        asked = server.rows
        # Another order of the columns asks the same.
        again = EndpointModel(server.url, cache=cache).predict(frame[["income", "sex", "age"]])
        assert server.rows == asked == len(frame.drop_duplicates())
        EndpointModel(f"{server.url}/second", cache=cache).predict(frame)
        assert server.rows == 2 * asked
    assert first.tolist() == again.tolist() == decide(frame)


def test_a_run_that_broke_off_goes_on_where_it_was(tmp_path: Path) -> None:
    def answer_twice(rows: model_server.Rows, before: int) -> Any:
        return model_server.Reply(b"", 400) if before == 2 else answer(rows, 0)

    frame = people()
    with model_server.served(answer_twice) as server:
        model = EndpointModel(server.url, cache=tmp_path / "answers", batch_rows=100)
        with pytest.raises(ModelError):
            model.predict(frame)
        assert model.predict(frame).tolist() == decide(frame)
    refused = len(server.requests[2])
    assert server.rows == len(frame.drop_duplicates()) + refused


def test_a_file_that_keeps_no_answers_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_text("something else, and longer than a header of a data base" * 20, "utf-8")
    for cache in (path, path / "below"):
        with pytest.raises(ConfigurationError) as caught:
            EndpointModel("http://127.0.0.1:1/", cache=cache).predict(people())
        assert str(cache) in one_line(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/score",
        "http://",
        "http:///score",
        "http://host:port/",
        "http://ho st/",
        "http://host/\n",
        "http://[::1/",
        "http://me:secret@host/",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ParameterError) as caught:
        EndpointModel(url)
    assert "secret" not in one_line(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 0},
        {"timeout": "soon"},
        {"retries": -1},
        {"requests_per_second": 0},
        {"batch_rows": 0},
    ],
)
def test_numbers_out_of_their_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        EndpointModel("http://host/", **options)


def test_a_key_in_the_address_is_in_no_report() -> None:
    assert EndpointModel("https://host/score?key=secret").name == "https://host/score"


def test_it_pickles() -> None:
    model = EndpointModel("http://host/score", cache="answers.sqlite")
    assert pickle.loads(pickle.dumps(model)).name == model.name


@pytest.mark.parametrize("labelled", [False, True])
def test_an_audit_of_an_address(labelled: bool) -> None:
    frame = people()
    labels = (pd.Series(decide(frame), name="granted"),) if labelled else ()
    with model_server.served(answer) as server:
        found = testsgd.audit(server.url, frame, *labels, sensitive_features=["sex"], **QUICK)
    expected = testsgd.audit(decide, frame, *labels, sensitive_features=["sex"], **QUICK)
    pd.testing.assert_frame_equal(found.groups, expected.groups)
    assert found.summary.model.name == server.url
    assert found.summary.model.kind == EndpointModel.kind
    assert found.summary.model.fingerprint == expected.summary.model.fingerprint


def test_an_audit_of_an_endpoint_that_is_down_is_one_line() -> None:
    with pytest.raises(ModelError) as caught:
        testsgd.audit("http://127.0.0.1:1/", people(), sensitive_features=["sex"])
    assert "127.0.0.1:1" in one_line(caught.value)


def test_a_described_audit_of_an_endpoint(
    demo_specification: testsgd.DatasetSpecification,
) -> None:
    frame = pd.DataFrame({"income": [10, 70]})

    def rich(rows: model_server.Rows, _: int) -> list[int]:
        return [int(row["income"] > 60) for row in rows]

    with model_server.served(rich) as server:
        model = load_model(f"{server.url}.json", demo_specification).model
        assert model.decisions(frame).tolist() == [False, True]


def test_texts_are_rows_of_one_column() -> None:
    specification = testsgd.TextSpecification.model_validate(
        {
            "dataset": {"name": "comments"},
            "text": {},
            "label": {"column": "toxic", "favourable": "yes", "values": ["no", "yes"]},
        }
    )
    with model_server.served(
        lambda rows, _: ["yes" if row["text"].isupper() else "no" for row in rows]
    ) as server:
        model = load_text_model(server.url, specification).model
        assert model.decisions(["Hello", "HELLO"]).tolist() == [False, True]


def test_means_over_kept_answers_are_refused(tmp_path: Path) -> None:
    model = EndpointModel("http://127.0.0.1:1/", cache=tmp_path / "answers")
    frame = people()
    with pytest.raises(ParameterError):
        testsgd.audit(
            model, frame, decide(frame), sensitive_features=["sex"], nondeterministic=True
        )
    with pytest.raises(ParameterError):
        testsgd.audit(model, None, "demo", nondeterministic=True)


@pytest.mark.parametrize("are_kept", [False, True])
def test_whether_kept_answers_change_is_not_known(tmp_path: Path, are_kept: bool) -> None:
    frame = people()
    with model_server.served(answer) as server:
        model = EndpointModel(server.url, cache=tmp_path / "answers" if are_kept else None)
        summary = testsgd.audit(
            model, frame, decide(frame), sensitive_features=["sex"], **QUICK
        ).summary
    assert summary.model.changing == (None if are_kept else 0)
    assert any("kept" in note for note in summary.data.notes) is are_kept
