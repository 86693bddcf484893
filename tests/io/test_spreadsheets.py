"""No cell of a report's table is a formula in a spreadsheet."""

from __future__ import annotations

import io
import tempfile

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import testsgd
from testsgd.io import without_formulas

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(st.lists(TEXTS | st.sampled_from(["=1", "+1", "-1", "@a", "\t=1"]), min_size=1, max_size=5))
def test_no_text_begins_as_a_formula(texts: list[str]) -> None:
    frame = pd.DataFrame({"text": texts, "rate": -1.5})
    before = frame.copy()
    safe = without_formulas(frame)
    for text, cell in zip(texts, safe["text"], strict=True):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
        assert cell in (text, f"'{text}")
    assert (safe["rate"] == -1.5).all()
    pd.testing.assert_frame_equal(frame, before)


def test_the_groups_of_an_audit() -> None:
    people = testsgd.generate_demo(seed=1, rows=600)
    people["=cmd"] = people["gender"]
    result = testsgd.audit_predictions(
        people["granted"], sensitive_features=people[["=cmd", "race"]]
    )
    with tempfile.TemporaryDirectory() as folder:
        [path] = result.write(folder, ["csv"])
        written = pd.read_csv(io.StringIO(path.read_text()))
    texts = written["text"].tolist()
    assert any(text.startswith("'=cmd") for text in texts)
    assert not any(text.startswith("=") for text in texts)
