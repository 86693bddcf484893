"""Files of testsgd's are known by a signature, not by a word or a name that others use too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testsgd.errors import ConfigurationError
from testsgd.io import check_replaceable, kind_of_file, write_arrays
from testsgd.report.blocks import Document
from testsgd.report.html import render_html
from testsgd.report.markdown import render_markdown
from testsgd.truth import TruthSettings, truth_markdown

NOTES = """## Our audit

**What we found with testsgd 0.1.0**

We ran *testsgd audit* on the bank's rows. The closing line of its report was
*testsgd 0.1.0, 2026-11-22 06:47 UTC. The drawings are in the HTML report.*

Next week: ask the bank.
"""


def of_others(path: Path) -> None:
    """Assert that a file is taken for one that testsgd did not write."""
    before = path.read_bytes()
    assert kind_of_file(path) is None
    with pytest.raises(ConfigurationError):
        check_replaceable(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["report.md", "report.html", "junit.xml"])
def test_notes_about_testsgd_are_not_its_own(name: str, tmp_path: Path) -> None:
    notes = tmp_path / name
    for text in (
        NOTES,
        f"<html><body><p>{NOTES}</p></body></html>",
        '<meta name="generator" content="Jekyll"><p>Written by testsgd users.</p>',
        '<testsuites name="pytest"><testcase name="testsgd audit"/></testsuites>',
        "# testsgd\n",
        "\n*testsgd is a tool.*\n",
    ):
        notes.write_text(text)
        of_others(notes)


@pytest.mark.parametrize("created", ["2026-03-01T09:05:30Z", "some day", None])
@pytest.mark.parametrize("closing", ["", "The drawings are in the HTML report."])
@pytest.mark.parametrize("version", ["0.1.0", "1.0", "2.10.0rc1", "0.2.0.dev3+g1a2b_3"])
def test_reports_are_known(version: str, closing: str, created: str | None, tmp_path: Path) -> None:
    document = Document(
        what="Audit",
        subject="a model",
        headline="It is fair.",
        sentences=(),
        sections=(),
        created=created,
        version=version,
        schema_name="testsgd.audit/2",
        closing=closing,
    )
    for name, text in (
        ("report.md", render_markdown(document)),
        ("report.html", render_html(document)),
    ):
        path = tmp_path / name
        path.write_text(text)
        assert kind_of_file(path) == f"report {path.suffix}"


def test_reports_of_earlier_versions_are_known(tmp_path: Path) -> None:
    # The first report that was published, and one of before times could be left out.
    closings = (
        b"## Audit: a model\n\nText.\n\n*testsgd 0.1.0, 2026-11-21 10:09 UTC. Charts, heat maps "
        b"and all groups are in the HTML report.*\n",
        b"## Audit: a model\n\nText.\n\n*testsgd 0.1.0.*\n",
    )
    page = tmp_path / "report.md"
    for content in closings:
        page.write_bytes(content)
        assert kind_of_file(page) == "report .md"
    page = tmp_path / "report.html"
    page.write_bytes(
        b"<p>Written by testsgd 0.1.0on 2026-11-21 11:45 UTC, from a document of the form "
        b"testsgd.audit/1.</p>"
    )
    assert kind_of_file(page) == "report .html"


def test_tables_of_the_truth_are_known(tmp_path: Path) -> None:
    path = tmp_path / "truth.md"
    path.write_text(truth_markdown([], TruthSettings(), "testsgd bench truth --seed 0", None))
    assert kind_of_file(path) == "report .md"


def test_archives_with_a_member_of_the_same_name_are_not_its_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine.npz"
    numbers = np.arange(3)
    shield = np.frombuffer(b'{"format": "testsgd.shield"}', dtype=np.uint8)
    for arrays in (
        {"header": numbers, "precious": numbers},
        {"header": numbers},
        {"header": numbers, "layer.0": numbers},
        # A shield's header beside something that no shield has.
        {"header": shield, "precious": numbers},
        {"notes": np.array("buy milk")},
        {"notes": np.array("buy milk"), "lo": numbers, "known": numbers, "tree_a": numbers},
        {"notes": np.array('{"version": 1, "about": "me"}')},
    ):
        np.savez(mine, **arrays)
        of_others(mine)
        with pytest.raises(ConfigurationError):
            write_arrays(mine, {"header": shield, "layer.0": numbers})
