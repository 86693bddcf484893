"""A journal of an enforcer whose lines were damaged is refused in one line."""

from __future__ import annotations

import sqlite3
from pathlib import Path

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
