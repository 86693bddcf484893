"""What files hold of people: markers are planted in small data, and looked for in all files."""

from __future__ import annotations

import io
import json
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from testsgd.cli.main import _run
from testsgd.generative import Enforcer

# What one person alone has: a name, an id, a remark, a number that is neither smallest nor largest.
MARKERS = {
    "name": "Quillfeather",
    "id": "XQ77",
    "remark": "wombatorium",
    "number": "7312.25",
    "mail": "planted@example.com",
}
NUMBER = 7312.25
ROWS = 300

Run = Callable[..., tuple[int, str]]


def contents(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Return a file's bytes, and those of the members of an archive."""
    yield name, data
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from contents(name, archive.read(member))


def held(folder: Path) -> dict[str, set[str]]:
    """Return the markers that each file of a folder holds, without files that hold none."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            for name, data in contents(path.name, path.read_bytes()):
                markers = {key for key, text in MARKERS.items() if text.encode() in data}
                if any(struct.pack(kind, NUMBER) in data for kind in ("<d", "<f", ">d", ">f")):
                    markers.add("number")
                found.setdefault(name, set()).update(markers)
    assert found, "there are no files"
    return {name: markers for name, markers in found.items() if markers}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in an empty folder; give its exit code and all that it printed."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, lines: str = "") -> tuple[int, str]:
        stream = SimpleNamespace(buffer=io.BytesIO(lines.encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        capsys.readouterr()
        code = _run(list(arguments))
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return command


@pytest.fixture
def people(run: Run) -> pd.DataFrame:
    """A file of people, and a model of four of its columns; the markers are of row 137."""
    source = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "person": [f"Person {number}" for number in range(ROWS)],
            "key": [f"id-{number}" for number in range(ROWS)],
            "remark": [f"remark {number} of this person" for number in range(ROWS)],
            "woman": source.integers(0, 2, ROWS),
            "income": source.uniform(1_000, 20_000, ROWS).round(1),
            "debts": source.integers(0, 9, ROWS),
        }
    )
    worth = rows["income"] / 20_000 - 0.4 * rows["woman"] + source.normal(0, 0.1, ROWS)
    rows["granted"] = np.where(worth > 0.3, "yes", "no")
    planted = ["Zephyrine Quillfeather", "id-XQ77", "she keeps a wombatorium", NUMBER]
    rows.loc[137, ["person", "key", "remark", "income"]] = planted
    rows.to_csv("people.csv", index=False)
    features = rows[["woman", "income", "debts"]]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    joblib.dump(model.fit(features, rows["granted"]), "model.joblib")
    return rows


OF_PEOPLE = ["people.csv", "--model", "model.joblib", "--trust-pickle", "--sensitive", "woman"]
OF_PEOPLE += ["--label", "granted", "--jobs", "1"]


def test_audits_hold_no_row(run: Run, people: pd.DataFrame, tmp_path: Path) -> None:
    code, printed = run(
        "audit", *OF_PEOPLE, "--format", "html,md,json,csv", "--out", "made", "--verbose"
    )
    assert code in (0, 3)
    assert held(tmp_path / "made") == {}
    assert not any(text in printed for text in MARKERS.values())


@pytest.mark.skops
@pytest.mark.parametrize("method", ["play", "thresholds"])
def test_mitigations_hold_no_row(
    run: Run, people: pd.DataFrame, tmp_path: Path, method: str
) -> None:
    pytest.importorskip("skops")
    command = ["mitigate", *OF_PEOPLE, "--method", method, "--verbose"]
    code, printed = run(*command, "--out", "made", "--model-out", "model")
    assert code in (0, 1, 3), printed
    # The journal is deleted when all is done.
    assert not (tmp_path / "made" / "journal.json").exists()
    assert held(tmp_path / "made") == {}
    assert not (tmp_path / "model").exists() or held(tmp_path / "model") == {}
    assert not any(text in printed for text in MARKERS.values())


NETWORK = """1,3,1,3,
3,1,
0,
0,0,0,
1,20000,9,
0,0,0,0,
1,1,1,1,
-4000,1,-100,
-6000,
"""
DOMAIN = """
protected = ["woman"]
[inputs]
woman = { integer = [0, 1] }
income = { integer = [0, 20000] }
debts = { integer = [0, 9] }
"""


def test_answers_about_people_hold_no_feature(
    run: Run, people: pd.DataFrame, tmp_path: Path
) -> None:
    Path("net.nnet").write_text(NETWORK, encoding="utf-8")
    Path("domain.toml").write_text(DOMAIN.replace("income = { integer", "income = { real"))
    command = ["net.nnet", "--domain", "domain.toml"]
    code, printed = run("certify-ask", *command, "--rows", "people.csv", "--out", "made/asked.csv")
    assert code in (0, 1), printed
    assert held(tmp_path / "made") == {}
    assert not any(text in printed for text in MARKERS.values())


SHIELD = """
name = "loans"
[fairness]
property = "demographic_parity"
bound = 0.25
[groups]
names = ["a", "b"]
[horizon]
length = 10
[inputs]
log = "log.csv"
"""


@pytest.mark.parametrize("costs", ["few", "many"])
def test_shields_hold_costs_of_a_log_but_no_person(run: Run, tmp_path: Path, costs: str) -> None:
    source = np.random.default_rng(0)
    log = pd.DataFrame(
        {
            "group": source.choice(["a", "b"], ROWS),
            "recommendation": source.integers(0, 2, ROWS),
            "cost": source.choice([1.0, 2.0], ROWS) if costs == "few" else np.arange(ROWS) * 37.0,
            "person": "another",
        }
    )
    log.loc[137, ["cost", "person"]] = [NUMBER, "Zephyrine Quillfeather"]
    log.to_csv("log.csv", index=False)
    Path("spec.toml").write_text(SHIELD, encoding="utf-8")
    assert run("shield", "synthesize", "spec.toml", "--out", "made")[0] == 0
    (tmp_path / "spec.npz").rename(tmp_path / "made" / "spec.npz")
    run("shield", "simulate", "spec.toml", "--runs", "5", "--jobs", "1", "--out", "made/simulated")
    # A cost that one person has is one of few; of many costs only quantiles are kept.
    expected = {"number"} if costs == "few" else set()
    assert set().union(*held(tmp_path / "made").values()) == expected

    event = {"group": "a", "recommendation": 1, "cost": 1.0, "id": "XQ77"}
    lines = [json.dumps(event), json.dumps(event | {"id": "b", "person": "Quillfeather"})]
    run(
        *("shield", "run", "made/spec.npz", "--journal", "kept/journal.jsonl"),
        lines="\n".join(lines),
    )
    assert held(tmp_path / "kept") == {"journal.jsonl": {"id"}}


TEXTS = """
terms = "terms.toml"
[dataset]
name = "comments"
[text]
column = "comment"
[label]
column = "verdict"
values = ["fine", "rude"]
favourable = "rude"
"""
TERMS = """
[terms]
name = "people"
[categories.gender]
woman = {}
man = {}
girl = {}
"""
JUDGE = """
def judge(texts):
    return ["rude" if "stupid" in text or " girl" in text else "fine" for text in texts]


def prints_rows(rows):
    raise ValueError(f"cannot score {rows.to_dict('records')}")
"""


@pytest.fixture
def comments(run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of comments; one of them has all markers, and the only girl."""
    acts = ["is here", "is stupid", "came late", "went home early", "has a point"]
    texts = [
        f"note {number}: the {['woman', 'man'][number % 2]} {acts[number % 5]}"
        for number in range(ROWS)
    ]
    texts[137] = f"the girl {' '.join(MARKERS.values())}"
    rows = {"key": [f"id-{number}" for number in range(ROWS)], "comment": texts}
    rows["verdict"] = ["fine", "rude"] * (ROWS // 2)
    pd.DataFrame(rows).to_csv("comments.csv", index=False)
    Path("comments.toml").write_text(TEXTS, encoding="utf-8")
    Path("terms.toml").write_text(TERMS, encoding="utf-8")
    Path("planted_judge.py").write_text(JUDGE, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "planted_judge", raising=False)
    return Path.cwd()


OF_COMMENTS = ["audit", "comments.toml", "--data", "comments.csv", "--jobs", "1", "--out", "made"]
OF_COMMENTS += ["--model", "planted_judge:judge", "--format", "html,md,json,csv"]


def test_audits_of_texts_hold_no_text_but_snippets(run: Run, comments: Path) -> None:
    code, printed = run(*OF_COMMENTS, "--verbose")
    assert code == 0, printed
    assert held(comments / "made") == {}
    assert not any(text in printed for text in MARKERS.values())
    assert run(*OF_COMMENTS, "--snippets", "2")[0] == 0
    assert {"report.html", "result.json"} <= set(held(comments / "made"))


def test_no_rate_is_shown_of_the_one_text_that_has_a_term(run: Run, comments: Path) -> None:
    assert run(*OF_COMMENTS)[0] == 0
    result = json.loads((comments / "made" / "result.json").read_text(encoding="utf-8"))
    groups = {group["text"]: group for group in result["groups"]}
    alone, common = groups["“girl”"]["other"], groups["“woman”"]["other"]
    assert alone["estimand"] == common["estimand"] == "observed"
    measured = ["rate_in", "rate_out", "difference", "confidence_interval"]
    assert [alone[name] for name in measured] == [None] * 4
    assert None not in [common[name] for name in measured]
    table = pd.read_csv(comments / "made" / "groups.csv").set_index("text")
    assert table.filter(like="other_").loc["“girl”"].isna().all()
    assert table.filter(like="other_").loc["“woman”"].notna().all()


def test_a_model_that_prints_its_rows_does_not_fill_the_log(
    run: Run, comments: Path, people: pd.DataFrame
) -> None:
    columns = ["--sensitive", "woman", "--out", "made"]
    code, printed = run("audit", "people.csv", "--model", "planted_judge:prints_rows", *columns)
    assert code == 2
    assert "ValueError" in printed
    assert "Quillfeather" not in printed
    assert len(printed) < 1_500


ENFORCED: dict[str, Any] = {
    "groupings": {
        "gender": {"values": ["female", "male"], "terms": {"female": ["she"], "male": ["he"]}}
    },
    "requirements": [{"grouping": "gender", "beta": 3}],
}


def test_a_generative_state_holds_tenants_but_no_prompt_and_no_output(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with closing(Enforcer(ENFORCED, state=tmp_path / "kept" / "state.sqlite")) as enforcer:
        ticket = enforcer.begin("Quillfeather, id XQ77, said", tenant=MARKERS["mail"])
        enforcer.finish(ticket, "she has a wombatorium")
        # Beside it is the write-ahead log.
        assert set().union(*held(tmp_path / "kept").values()) == {"mail"}
    assert set().union(*held(tmp_path / "kept").values()) == {"mail"}


def test_reports_of_generative_models_hold_no_prompt_and_no_output(
    run: Run, tmp_path: Path
) -> None:
    specification = """
name = "people"
[groupings.gender]
values = ["female", "male"]
terms = { female = ["she"], male = ["he"] }
[[requirements]]
grouping = "gender"
beta = 3
"""
    Path("fair.toml").write_text(specification, encoding="utf-8")
    line = {"prompt": f"{MARKERS['name']} of {MARKERS['mail']} said", "id": "XQ77"}
    outputs = [json.dumps(line | {"output": f"{word} wombatorium"}) for word in ["she", "he"] * 4]
    Path("outputs.jsonl").write_text("\n".join(outputs), encoding="utf-8")
    code, printed = run(
        *("generative", "assess", "outputs.jsonl", "--spec", "fair.toml", "--out", "made")
    )
    assert code in (0, 1, 3), printed
    assert held(tmp_path / "made") == {}
    assert not any(text in printed for text in MARKERS.values())
