"""A state or journal of an enforcer that was damaged is refused in one line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from testsgd.errors import StateError
from testsgd.generative import Enforcer

SPECIFICATION = {
    "groupings": {
        "gender": {"values": ["female", "male"], "terms": {"female": ["she"], "male": ["he"]}}
    },
    "requirements": [{"grouping": "gender", "beta": 3}],
}


@pytest.mark.parametrize(
    "line", ["{", "[]", "1", "{}", '{"tenant": "", "requirement": 1}', b"\x80"]
)
def test_a_line_that_counts_nothing_is_refused(tmp_path: Path, line: str | bytes) -> None:
    enforcer = Enforcer(SPECIFICATION, state=tmp_path / "state.sqlite")
    enforcer.finish(enforcer.begin("The nurse was tired, so"), "she slept.")
    assert len(list(enforcer.journal())) == 1
    enforcer.close()
    connection = sqlite3.connect(tmp_path / "state.sqlite")
    connection.execute("UPDATE journal SET line = ?", (line,))
    connection.commit()
    connection.close()
    again = Enforcer(SPECIFICATION, state=tmp_path / "state.sqlite")
    with pytest.raises(StateError) as raised:
        list(again.journal())
    again.close()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "changed",
    [
        {"slots": 1},
        {"slots": [1]},
        {"slots": [["a"]]},
        {"slots": [["a", "b", 0, -1, 1]]},
        {"slots": [["a", 0.0, 3, -1, 1]]},
        {"slots": [["a", 0.0, 0, -3, 1]]},
        {"slots": [[1, 0.0, 0, 1, 1]]},
        {"slots": [["a", None, 0, -1, 1]]},
        {"slots": [["a", float("inf"), 0, -1, 1]]},
        {"counts": [1]},
        {"counts": ["1", 0]},
        {"counters": 3},
        {"expired": "many"},
        {"expired_tickets": [[]]},
        {"recent": None},
        {"unknown": 1},
    ],
)
def test_a_damaged_state_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    state = tmp_path / "state.sqlite"
    enforcer = Enforcer(SPECIFICATION, state=state)
    enforcer.begin("The nurse was tired, so")
    (text,) = enforcer.store.read().values()
    enforcer.close()
    for damaged in (json.dumps(json.loads(text) | changed), "[]", "{", "{}"):
        connection = sqlite3.connect(state)
        connection.execute("UPDATE state SET text = ?", (damaged,))
        connection.commit()
        connection.close()
        again = Enforcer(SPECIFICATION, state=state)
        for use in (lambda: list(again.journal()), again.waiting, lambda: again.begin("The nurse")):  # noqa: B023
            with pytest.raises(StateError) as raised:
                use()
            assert "\n" not in str(raised.value)
        again.close()
